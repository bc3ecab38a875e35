"""Rule F10: what a write-back tells the source, once, and that no output depends on whether it took place."""

import re
from pathlib import Path
from typing import Any

import pytest
from polars.testing import assert_frame_equal

from tests.conftest import ask, change, complaint, content, copy_home, gristmill, main_source, run
from tests.tables import table
from tests.training.test_releases import AS_OF, RELEASE, difference, manifest, records, rows, small_home

pytestmark = pytest.mark.slow

WRITTEN = "feedback_id, processed, training_format, quality_weight, processed_at"
OTHERS = "rowid, feedback_id, timestamp, rating, correction, original_query, original_response, domain, created_at"
ORDER = ("correction", "preference", "instruction", "unpaired")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_home(tmp_path_factory)


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    return copy_home(made, tmp_path / "home")


def write_back(home: Path, *arguments: str) -> list[str]:
    done = gristmill(home, "writeback", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def source_rows(home: Path, columns: str = WRITTEN) -> dict[str, tuple[Any, ...]]:
    found = ask(main_source(home), f"select feedback_id, {columns} from feedback order by rowid")
    return {row[0]: row[1:] for row in found}


def expected_rows(home: Path, leave_alone: tuple[str, ...] = ()) -> dict[str, tuple[Any, ...]]:
    """The four columns as F10 wants them, from the release's own files."""
    release = home / "exports" / RELEASE
    formats = {name: entry["format"] for name, entry in manifest(release)["files"].items()}
    found: dict[str, list[tuple[int, float]]] = {}
    for name, file in records(release).items():
        for record in file:
            for key in record["origin_ids"]:
                found.setdefault(key, []).append((ORDER.index(formats[name]), record["quality_weight"]))
    expected = {}
    for row in rows():
        key = row["feedback_id"]
        expected[key] = (key, 0, None, row["quality_weight"], None)
        if key in found and key not in leave_alone:
            place, weight = min(found[key])
            expected[key] = (key, 1, ORDER[place], weight, AS_OF.timestamp())
    return expected


def test_what_is_written(home: Path) -> None:
    """F10: processed, the first of correction, preference, instruction, unpaired, its weight, and the release's as_of."""
    others = source_rows(home, OTHERS)
    output = write_back(home)
    written = source_rows(home)
    assert written == expected_rows(home)
    formats = {key: row[2] for key, row in written.items() if not key.startswith("t") and row[1]}
    assert formats == {
        "corr": "correction",
        "part": "correction",
        "pref": "preference",
        "copy": "preference",
        "down": "preference",
        "alone": "unpaired",
    }
    assert (written["t00"][2], written["t02"][2]) == ("unpaired", "instruction")
    assert [written[key][1] for key in ("up", "flag", "blank", "odd")] == [0, 0, 0, 0]
    assert source_rows(home, OTHERS) == others
    count = sum(row[1] for row in written.values())
    assert output == [f"release {RELEASE}: wrote {count} rows, 0 already written, 0 left alone"]


def test_a_second_time_nothing_happens(home: Path) -> None:
    """F10: the ledger knows what was written; neither the source nor the home changes."""
    (first,) = write_back(home)
    count = int(re.findall(r"wrote (\d+) rows", first)[0])
    before, in_home = source_rows(home), content(home, ["runs", "lock"])
    assert write_back(home, "--release", RELEASE) == [
        f"release {RELEASE}: wrote 0 rows, {count} already written, 0 left alone"
    ]
    assert source_rows(home) == before
    assert difference(in_home, content(home, ["runs", "lock"])) == ([], [], [])


def test_a_row_changed_since_is_left_alone(home: Path) -> None:
    """F10: it is reported and stays as its owner made it; so does one that is gone. All others are written."""
    change(
        main_source(home),
        "update feedback set what_was_wrong = 'Incomplete!' where feedback_id = 'corr'",
        "update feedback set quality_weight = 0.75 where feedback_id = 'pref'",
        "delete from feedback where feedback_id = 'alone'",
    )
    output = write_back(home)
    assert output[:-1] == [f"left alone, changed since it was read: {key}" for key in ("corr", "pref", "alone")]
    expected = expected_rows(home, leave_alone=("corr", "pref"))
    del expected["alone"]
    expected["pref"] = ("pref", 0, None, 0.75, None)
    assert source_rows(home) == expected
    count = sum(row[1] for row in expected.values())
    assert output[-1] == f"release {RELEASE}: wrote {count} rows, 0 already written, 3 left alone"


def test_no_output_depends_on_it(home: Path) -> None:
    """F10, G2: what we wrote is marked and never read back as the source's; a run after it gives the same bytes."""
    derived = [folder.name for folder in (home / "lake").iterdir() if not folder.name.startswith("raw_")]
    raw = ["catalog.json", *(folder.name for folder in (home / "lake").iterdir() if folder.name.startswith("raw_"))]
    exports, lake = content(home / "exports"), content(home / "lake", raw)
    weighed = {name: table(home, name) for name in ("core__feedback", "core__feedback_candidates", "core__signals")}
    assert all(found.height for found in weighed.values())
    write_back(home)
    run(home)
    assert difference(exports, content(home / "exports")) == ([], [], [])
    assert difference(lake, content(home / "lake", raw)) == ([], [], [])
    assert {"core__answers", "core__feedback_keys", "train__correction"} <= set(derived)
    for name, found in weighed.items():
        assert_frame_equal(table(home, name), found)
    keys = table(home, "core__feedback_keys")
    weights = dict(keys.select("feedback_id", "source_quality_weight").iter_rows())
    assert weights == {row["feedback_id"]: row["quality_weight"] for row in rows() if row["feedback_id"] != "odd"}
    assert weights["part"] == 0.25
    assert not keys["is_processed"].any()
    entries = table(home, "raw_feedback__entries")
    marked = dict(entries.select("feedback_id", "is_written_back").iter_rows())
    written = {key: bool(row[1]) for key, row in source_rows(home).items() if key != "odd"}
    assert marked == written and any(written.values())
    assert write_back(home)[-1].startswith(f"release {RELEASE}: wrote 0 rows")


def test_a_release_that_is_not_there(home: Path) -> None:
    """One line, and the source is as it was."""
    before = source_rows(home)
    assert "'20260101'" in complaint(gristmill(home, "writeback", "--release", "20260101"))
    assert source_rows(home) == before
