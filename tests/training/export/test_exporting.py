"""What leaves in an export, what does not, and the folder it is written to."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dagster_project.errors import GristmillError, Misused
from dagster_project.lake.lake import Lake
from dagster_project.training.export import release_rows
from dagster_project.training.export.asked import Asked
from dagster_project.training.export.exporting import export_release
from dagster_project.training.export.release_rows import ReleaseRows
from tests.training.export.release_of_tests import NAME, home_with, identity, record

WEIGHTS = {"a": 0.9, "b": 0.3, "c": 0.3, "d": 0.3, "e": 0.6, "f": 0.6}
FORMAT = "preference"


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """Three heavy and three light training records, two of augmentation, one of each other split."""
    tiers = {0.9: "premium", 0.6: "standard", 0.3: "low"}
    records = [record(FORMAT, name, quality_weight=weight, tier=tiers[weight]) for name, weight in WEIGHTS.items()]
    records += [record(FORMAT, name, split="augmentation", quality_weight=0.3, tier="low") for name in ("g", "h")]
    records += [record(FORMAT, split, split=split) for split in ("validation", "test")]
    return home_with(tmp_path, FORMAT, records)


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n")[:-1]]


def exported(lake: Lake, out: Path, target: str = "trl", **options: Any) -> list[dict[str, Any]]:
    export_release(lake, Asked(FORMAT, target, **options), out)
    return lines(out / "train.jsonl")


def names(rows: list[dict[str, Any]]) -> Counter[str]:
    known = {identity(name): name for name in (*WEIGHTS, "g", "h", "validation", "test")}
    return Counter(known[row["id"]] for row in rows)


def content(folder: Path) -> Mapping[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_weights_are_of_mean_one_in_each_file(lake: Lake, tmp_path: Path) -> None:
    rows = exported(lake, tmp_path / "out")
    assert {row["id"]: row["weight"] for row in rows} == {identity(n): w / 0.5 for n, w in WEIGHTS.items()}
    assert [row["weight"] for row in lines(tmp_path / "out/test.jsonl")] == [1.0]


def test_rows_are_in_order_of_their_ids(lake: Lake, tmp_path: Path) -> None:
    ids = [row["id"] for row in exported(lake, tmp_path / "out")]
    assert ids == sorted(ids)


def test_augmentation_joins_the_training_file(lake: Lake, tmp_path: Path) -> None:
    rows = exported(lake, tmp_path / "out", augmentation=True)
    assert names(rows) == Counter([*WEIGHTS, "g", "h"])
    assert abs(sum(row["weight"] for row in rows) / len(rows) - 1) < 1e-6


def test_min_tier_is_counted_and_told(lake: Lake, tmp_path: Path) -> None:
    rows = exported(lake, tmp_path / "out", min_tier="standard")
    assert names(rows) == Counter("aef")
    assert {row["weight"] for row in rows} == {1.285714, 0.857143}
    about = json.loads((tmp_path / "out/export.json").read_text())
    assert about["counts"]["train"]["below_tier"] == 3
    assert lines(tmp_path / "out/left_out.jsonl") == sorted(
        ({"id": identity(name), "split": "train", "reason": "below_tier"} for name in "bcd"), key=lambda row: row["id"]
    )


def test_drawn_by_weight(lake: Lake, tmp_path: Path) -> None:
    """As many records as before, heavy ones more often; no weight, in no file; evaluation is not drawn."""
    rows = exported(lake, tmp_path / "out", resample=True)
    assert len(rows) == len(WEIGHTS)
    drawn = names(rows)
    assert all(abs(drawn[name] - weight / 0.5) < 1 for name, weight in WEIGHTS.items())
    assert {*rows[0]} == {"id", "prompt", "chosen", "rejected"}
    assert len(lines(tmp_path / "out/validation.jsonl")) == 1


def test_copies_do_not_stand_side_by_side(tmp_path: Path) -> None:
    """Trainers that do not shuffle would see one record five times in a row."""
    heavy = [record(FORMAT, number, quality_weight=1.0) for number in range(4)]
    light = [record(FORMAT, number, quality_weight=0.0) for number in range(4, 40)]
    rows = exported(home_with(tmp_path, FORMAT, heavy + light), tmp_path / "out", resample=True)
    ids = [row["id"] for row in rows]
    assert Counter(ids) == {identity(number): 10 for number in range(4)}
    assert sum(one == other for one, other in pairwise(ids)) < 20


def test_the_same_bytes_again(lake: Lake, tmp_path: Path) -> None:
    plain, drawn, all_of_it = (
        Asked(FORMAT, "trl"),
        Asked(FORMAT, "axolotl", resample=True),
        Asked(FORMAT, "parquet", augmentation=True),
    )
    for asked in (plain, drawn, all_of_it):
        for out in ("one", "other"):
            export_release(lake, asked, tmp_path / asked.target / out)
        assert content(tmp_path / asked.target / "one") == content(tmp_path / asked.target / "other")


def test_export_json_tells_what_is_there(lake: Lake, tmp_path: Path) -> None:
    exported(lake, tmp_path / "out", max_tokens=1000, tokenizer="chars")
    about = json.loads((tmp_path / "out/export.json").read_text())
    assert about["release"] == NAME
    assert about["options"] == {
        "resample": False,
        "min_tier": None,
        "augmentation": False,
        "max_tokens": 1000,
        "tokenizer": {"name": "chars"},
    }
    for name, entry in about["files"].items():
        data = (tmp_path / "out" / name).read_bytes()
        assert entry["sha256"] == hashlib.sha256(data).hexdigest()
        assert (entry["bytes"], entry["rows"]) == (len(data), data.count(b"\n"))
    assert {path.name for path in (tmp_path / "out").iterdir()} == {*about["files"], *about["beside"], "export.json"}


@pytest.mark.parametrize("target", ["trl", "parquet"])
def test_too_long_is_cut_then_dropped_and_counted(tmp_path: Path, target: str) -> None:
    before = [("user", "x" * 40), ("assistant", "y" * 40), ("user", "Of what?"), ("assistant", "Of Rome.")]
    fits, long = record(FORMAT, "fits", before), record(FORMAT, "long", before[:2], chosen="z" * 400)
    lake = home_with(tmp_path, FORMAT, [fits, long])
    asked = Asked(FORMAT, target, max_tokens=20, tokenizer="chars")
    counts = export_release(lake, asked, tmp_path / "out").about["counts"]["train"]
    assert {key: n for key, n in counts.items() if n} == {"read": 2, "cut_records": 1, "cut_turns": 2, "too_long": 1}
    if target == "trl":
        ((row),) = lines(tmp_path / "out/train.jsonl")
        said = row["prompt"]
    else:
        said = pl.read_parquet(tmp_path / "out/train.parquet")["messages"][0].to_list()
    assert [turn["content"] for turn in said] == ["Of what?", "Of Rome.", "Question fits?"]
    assert lines(tmp_path / "out/left_out.jsonl") == [{"id": identity("long"), "split": "train", "reason": "too_long"}]


def test_batches_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files are the same however many rows are in memory at once."""
    records = [record(FORMAT, number, quality_weight=number % 7 / 10) for number in range(50)]
    lake = home_with(tmp_path, FORMAT, records)
    for resample in (False, True):
        exported(lake, tmp_path / f"whole {resample}", resample=resample)
    batches = ReleaseRows.batches

    def small(rows: ReleaseRows, split: str, columns: Any = None) -> Any:
        return (batch[start : start + 7] for batch in batches(rows, split, columns) for start in range(0, 50, 7))

    monkeypatch.setattr(release_rows.ReleaseRows, "batches", small)
    for resample in (False, True):
        exported(lake, tmp_path / f"parts {resample}", resample=resample)
        assert content(tmp_path / f"parts {resample}") == content(tmp_path / f"whole {resample}")


def test_an_export_is_replaced_whole(lake: Lake, tmp_path: Path) -> None:
    exported(lake, tmp_path / "out", min_tier="standard")
    exported(lake, tmp_path / "out", target="llamafactory")
    about = json.loads((tmp_path / "out/export.json").read_text())
    assert {path.name for path in (tmp_path / "out").iterdir()} == {*about["files"], *about["beside"], "export.json"}
    assert not list(tmp_path.glob(".out*"))


def test_nothing_of_anybody_elses_is_overwritten(lake: Lake, tmp_path: Path) -> None:
    exported(lake, tmp_path / "out")
    (tmp_path / "out" / "adapter.bin").write_text("mine")
    before = content(tmp_path / "out")
    with pytest.raises(GristmillError, match=r"holds adapter\.bin, which no export wrote"):
        exported(lake, tmp_path / "out")
    assert content(tmp_path / "out") == before
    (tmp_path / "file").write_text("mine")
    with pytest.raises(GristmillError, match="is no folder"):
        exported(lake, tmp_path / "file")
    (tmp_path / "empty").mkdir()
    assert exported(lake, tmp_path / "empty")


def test_what_fails_leaves_nothing(lake: Lake, tmp_path: Path) -> None:
    with pytest.raises(GristmillError, match=r"no training record is left of 6: 6 are longer than 1 tokens"):
        exported(lake, tmp_path / "new" / "out", max_tokens=1, tokenizer="chars")
    assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.parametrize(
    ("format", "options", "words"),
    [
        ("feedback", {}, "FORMAT must be one of instruction, cot, correction, preference, unpaired"),
        (FORMAT, {"min_tier": "gold"}, "--min-tier must be one of premium, high, standard, low, very_low"),
        (FORMAT, {"max_tokens": 10}, "--max-tokens and --tokenizer go together"),
        (FORMAT, {"tokenizer": "chars"}, "--max-tokens and --tokenizer go together"),
        (FORMAT, {"max_tokens": 0, "tokenizer": "chars"}, "--max-tokens must be at least 1"),
    ],
)
def test_what_cannot_be_meant(format: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(Misused, match=words):
        Asked(format, "trl", **options)


def test_which_release(lake: Lake) -> None:
    for wanted in (None, NAME, "2026-01-31"):
        assert ReleaseRows.of(lake, FORMAT, wanted).release == NAME
    with pytest.raises(GristmillError, match=rf"there is no release 20250101 in .*; there are: {NAME}"):
        ReleaseRows.of(lake, FORMAT, "20250101")
    with pytest.raises(Misused, match="--release is a name such as 20260131"):
        ReleaseRows.of(lake, FORMAT, "newest")
    with pytest.raises(GristmillError, match=rf"release {NAME} has no record of the format cot"):
        ReleaseRows.of(lake, "cot")


def test_a_release_that_was_replaced(tmp_path: Path) -> None:
    lake = home_with(tmp_path, FORMAT, [record(FORMAT)], name=f"{NAME}.2")
    assert ReleaseRows.of(lake, FORMAT, "2026-01-31").release == f"{NAME}.2"
    assert ReleaseRows.of(lake, FORMAT, f"{NAME}.2").release == f"{NAME}.2"
    with pytest.raises(GristmillError, match=rf"release {NAME} is not in the lake any more, {NAME}\.2 took its place"):
        ReleaseRows.of(lake, FORMAT, NAME)


def test_a_release_of_an_earlier_version(tmp_path: Path) -> None:
    told = record(FORMAT)
    del told["messages"]
    lake = home_with(tmp_path, FORMAT, [told])
    with pytest.raises(
        GristmillError, match=r"without `messages`: make it again with `gristmill run --as-of 2026-02-01`"
    ):
        ReleaseRows.of(lake, FORMAT)
