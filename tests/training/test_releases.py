"""Releases of a small hand-made source: the same bytes every time (G2), written once (T5), split by prompt (T3), strict (T4)."""

import hashlib
import json
import sqlite3
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from dagster_project.demo.feedback import sources as demo
from tests.conftest import change, content, copy_home, made_once, main_source, run
from tests.tables import table

pytestmark = pytest.mark.slow

SCHEMA = Path(demo.__file__).with_name("tables.sql").read_text(encoding="utf-8").split(";")[0]
FIRST_DAY = datetime(2026, 1, 8, tzinfo=UTC).timestamp()
RELEASE, AS_OF = "20260112", datetime(2026, 1, 13, tzinfo=UTC)
THUMBS = 40
PLAIN: dict[str, Any] = {
    "session_id": "s1",
    "feedback_type": "rating",
    "rating": 1,
    "domain": "code",
    "processed": 0,
    "quality_weight": 0.5,
    "created_at": 0.0,
}
LONG = "A much better answer, " * 6
# Day, then what differs from PLAIN. Every format, every way out of it.
SPECIAL: list[tuple[int, dict[str, Any]]] = [
    (
        0,
        {
            "feedback_id": "corr",
            "feedback_type": "correction",
            "rating": None,
            "correction": LONG,
            "correction_type": "full_replacement",
            "what_was_wrong": "Incomplete",
            "original_query": "Capital of France?",
            "original_response": "Lyon.",
        },
    ),
    (
        1,
        {
            "feedback_id": "part",
            "feedback_type": "correction",
            "rating": None,
            "correction": "Add one.",
            "correction_type": "addition",
            "what_was_wrong": "Off by one",
            "original_query": "Count them",
            "original_response": "Three.",
            "quality_weight": 0.25,
            "conversation_context": 'They said \u2028 "hi"\n',
        },
    ),
    (
        1,
        {
            "feedback_id": "pref",
            "feedback_type": "preference",
            "rating": None,
            "preferred_response": "Quick sort.",
            "original_query": "Sort a list",
            "original_response": "Bubble sort.",
        },
    ),
    (2, {"feedback_id": "up", "original_query": "Boil an egg", "original_response": "Seven minutes."}),
    (2, {"feedback_id": "down", "rating": -1, "original_query": "BOIL an  egg", "original_response": "One hour."}),
    (3, {"feedback_id": "alone", "rating": -1, "original_query": "Peel an onion", "original_response": "No."}),
    (
        3,
        {
            "feedback_id": "flag",
            "feedback_type": "flag",
            "rating": None,
            "flag_type": "harmful",
            "original_query": "Question 1?",
            "original_response": "Another answer",
        },
    ),
    (4, {"feedback_id": "copy", "original_query": "boil an egg", "original_response": "Seven minutes.\r\n"}),
    (4, {"feedback_id": "blank", "original_query": " ", "original_response": "Nothing asked."}),
    (4, {"feedback_id": "odd", "rating": 7, "original_query": "Scale?", "original_response": "Seven."}),
]


def rows() -> list[dict[str, Any]]:
    """Every row has a response and a user of its own."""
    thumbs = [
        (
            number % 5,
            {
                "feedback_id": f"t{number:02}",
                "original_query": f"Question {number}?",
                "original_response": f"Answer {number}: café 🌾",
                "rating": 1 if number % 4 else -1,
            },
        )
        for number in range(THUMBS)
    ]
    return [
        PLAIN
        | {"timestamp": FIRST_DAY + day * 86_400 + 60 * place, "response_id": f"r{place}", "user_id": f"u{place}"}
        | row
        for place, (day, row) in enumerate([*SPECIAL, *thumbs])
    ]


def make_source(path: Path) -> None:
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as database:
        database.executescript(SCHEMA)
        for row in rows():
            marks = ", ".join(f":{name}" for name in row)
            database.execute(f"insert into feedback ({', '.join(row)}) values ({marks})", row)
        database.commit()


def small_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source above after one run, made once. Not to be changed."""
    with made_once(tmp_path_factory, "small_home") as (home, is_new):
        if is_new:
            make_source(main_source(home))
            run(home)
        return home


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_home(tmp_path_factory)


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    """A copy to be changed."""
    return copy_home(made, tmp_path / "home")


def refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")


def records(release: Path) -> dict[str, list[dict[str, Any]]]:
    """Every record of a release by file, read strictly."""
    return {
        path.name: [
            json.loads(line, parse_constant=refuse)
            for line in path.read_bytes().decode("utf-8").removesuffix("\n").split("\n")
        ]
        for path in sorted(release.glob("*.jsonl"))
    }


def manifest(release: Path) -> dict[str, Any]:
    return json.loads((release / "manifest.json").read_text(encoding="utf-8"))


def difference(before: dict[str, bytes], after: dict[str, bytes]) -> tuple[list[str], list[str], list[str]]:
    """Files added, removed and changed."""
    common = before.keys() & after.keys()
    return (
        sorted(after.keys() - before.keys()),
        sorted(before.keys() - after.keys()),
        sorted(name for name in common if before[name] != after[name]),
    )


# --- G2, T5: the same bytes ------------------------------------------------------------------------------------------


def test_two_homes_have_the_same_bytes(made: Path, tmp_path: Path) -> None:
    """G2: same sources, same configuration, same as_of: the same lake and the same exports, wherever they are."""
    other = tmp_path / "another place" / "mill"
    make_source(main_source(other))
    run(other)
    assert difference(content(made / "exports"), content(other / "exports")) == ([], [], [])
    lakes = [content(home / "lake", ["catalog.json"]) for home in (made, other)]
    assert difference(*lakes) == ([], [], [])
    assert len(lakes[0]) > 20


def test_a_second_run_changes_no_byte(home: Path) -> None:
    """G2, T5: nothing is new, so nothing is written but the log of runs."""
    before = content(home, ["runs", "lock"])
    run(home)
    assert difference(before, content(home, ["runs", "lock"])) == ([], [], [])


def test_other_content_for_the_same_day_is_a_second_release(home: Path) -> None:
    """T5, G7: an edit of equal length is found by --full; the first release stays as it was written."""
    before = content(home / "exports" / RELEASE)
    change(main_source(home), "update feedback set original_response = 'Nizza' where feedback_id = 'corr'")
    run(home, "--full")
    assert sorted(path.name for path in (home / "exports").iterdir()) == [RELEASE, f"{RELEASE}.2"]
    assert content(home / "exports" / RELEASE) == before
    first, second = (records(home / "exports" / name) for name in (RELEASE, f"{RELEASE}.2"))
    assert first.keys() == second.keys()
    changed = [new for name in first for old, new in zip(first[name], second[name], strict=True) if old != new]
    assert sorted(record["source"] for record in changed) == ["feedback_correction", "feedback_correction_pair"]
    assert all(record["origin_ids"] == ["corr"] for record in changed)


def test_a_run_in_the_past_writes_its_release_only(home: Path) -> None:
    """G2: an older as_of adds a release of the rows before it, and touches nothing else."""
    before = content(home, ["runs", "lock"])
    run(home, "--as-of", "2026-01-11")
    added, removed, changed = difference(before, content(home, ["runs", "lock"]))
    assert (removed, changed) == ([], ["lake/catalog.json"])
    assert [
        name for name in added if not name.startswith("exports/20260110/") and "release_date=2026-01-10/" not in name
    ] == []
    release = home / "exports" / "20260110"
    assert manifest(release)["as_of"] == "2026-01-11T00:00:00+00:00"
    days = {row["feedback_id"]: row["timestamp"] for row in rows()}
    origins = {key for file in records(release).values() for record in file for key in record["origin_ids"]}
    assert "t02" in origins and "up" in origins
    assert max(days[key] for key in origins) < datetime(2026, 1, 11, tzinfo=UTC).timestamp()
    assert {"t03", "t04", "alone"}.isdisjoint(origins)


# --- T1, T3, T4: what is in a release --------------------------------------------------------------------------------


def test_what_leaves_in_which_format(made: Path) -> None:
    """T1, F6: every candidate of the special rows, exported or with its reason."""
    exported = Counter(
        (record["source"], *record["origin_ids"])
        for file in records(made / "exports" / RELEASE).values()
        for record in file
        if not record["origin_ids"][0].startswith("t")
    )
    assert exported == Counter(
        {
            ("feedback_correction", "corr"): 1,
            ("feedback_correction_pair", "corr"): 1,
            ("feedback_correction", "part"): 1,
            ("feedback_preference", "pref"): 1,
            ("feedback_positive", "copy"): 1,
            ("feedback_rating", "copy"): 1,
            ("feedback_rating", "down"): 1,
            ("feedback_rating", "alone"): 1,
            ("feedback_rating_pair", "down", "copy"): 1,
        }
    )
    excluded = table(made, "train__excluded").select("origin_ids", "format", "reason").rows()
    assert sorted(row for row in excluded if not row[0][0].startswith("t")) == [
        (["alone"], "instruction", "negative_rating"),
        (["blank"], "instruction", "missing_text"),
        (["blank"], "unpaired", "missing_text"),
        (["down"], "instruction", "negative_rating"),
        (["flag"], "instruction", "flag"),
        (["up"], "instruction", "duplicate"),
        (["up"], "unpaired", "duplicate"),
    ]


def test_no_prompt_is_in_two_splits(made: Path) -> None:
    """T3: over all formats; a correction's prompt is the user's query. A prompt alone has the split of its hash; "Question 1?" and
    "Question 10?" are alike, and where they meet train wins."""
    release = made / "exports" / RELEASE
    files = manifest(release)["files"]
    splits: dict[str, set[str]] = {}
    for name, found in records(release).items():
        for record in found:
            field = {"instruction": "instruction", "correction": "input"}.get(files[name]["format"], "prompt")
            splits.setdefault(" ".join(record[field].lower().split()), set()).add(files[name]["split"])
    assert {len(found) for found in splits.values()} == {1}
    own = {prompt: own_split(prompt) for prompt in splits}
    alone = [prompt for prompt in splits if not prompt.startswith("question")]
    assert [splits[prompt] for prompt in alone] == [{own[prompt]} for prompt in alone]
    moved = [prompt for prompt, found in splits.items() if found != {own[prompt]}]
    assert {*moved} == {prompt for prompt in splits if prompt not in alone and own[prompt] != "train"}
    assert all(splits[prompt] == {"train"} for prompt in moved)
    assert manifest(release)["moved"] == len(moved) > 0


def own_split(prompt: str) -> str:
    key = hashlib.sha256(prompt.encode()).hexdigest()[:16]
    point = int(hashlib.sha256(f"gristmill:{key}".encode()).hexdigest()[:8], 16) / 2**32
    return "train" if point < 0.90 else "validation" if point < 0.95 else "test"


def test_the_manifest_is_right(made: Path) -> None:
    """T4, G3: hashes, rows and bytes of every file; candidates = exported + excluded for every format."""
    release = made / "exports" / RELEASE
    told, found = manifest(release), records(release)
    assert (told["release_date"], told["as_of"]) == ("2026-01-12", AS_OF.isoformat())
    assert set(told["files"]) == set(found)
    for name, entry in told["files"].items():
        data = (release / name).read_bytes()
        suffix = "" if entry["split"] == "train" else f".{entry['split']}"
        assert name == f"{entry['format']}_{RELEASE}{suffix}.jsonl"
        assert (entry["sha256"], entry["bytes"]) == (hashlib.sha256(data).hexdigest(), len(data))
        assert entry["rows"] == len(found[name]) > 0
    exported = Counter(dict.fromkeys(told["exported"]["format"], 0))
    for name, entry in told["files"].items():
        exported[entry["format"]] += len(found[name])
    assert told["exported"]["format"] == dict(sorted(exported.items()))
    for by in ("source", "tier", "domain"):
        assert told["exported"][by] == dict(sorted(Counter(r[by] for file in found.values() for r in file).items()))
    candidates = Counter(
        format for kind in ("feedback", "distillation") for format in table(made, f"core__{kind}_candidates")["format"]
    )
    excluded = {format: sum(reasons.values()) for format, reasons in told["excluded"].items()}
    assert candidates == {format: exported[format] + excluded.get(format, 0) for format in candidates}
    assert candidates.keys() == {"instruction", "correction", "preference", "unpaired"}


def test_files_are_strict_and_in_order(made: Path) -> None:
    """T4: UTF-8, one line a record, the same keys in every record of a file, ascending ids that are there once."""
    for name, found in records(made / "exports" / RELEASE).items():
        text = (made / "exports" / RELEASE / name).read_bytes().decode("utf-8")
        assert text.endswith("}\n") and text.count("\n") == len(found)
        assert {tuple(record) for record in found} == {tuple(found[0])}
        ids = [record["id"] for record in found]
        assert ids == sorted(set(ids))
        assert all(record["quality_weight"] == round(record["quality_weight"], 6) for record in found)
    everything = [record for file in records(made / "exports" / RELEASE).values() for record in file]
    (with_context,) = [record for record in everything if record["context"] is not None]
    assert (with_context["origin_ids"], with_context["context"]) == (["part"], 'They said \u2028 "hi"\n')


def test_the_card_lists_every_file(made: Path) -> None:
    """What a loader reads: the YAML in front of the card names every file under its format and split."""
    release = made / "exports" / RELEASE
    card = (release / "README.md").read_text(encoding="utf-8")
    start, header, body = card.split("---\n", 2)
    listed = {
        (entry["path"], config["config_name"], entry["split"])
        for config in yaml.safe_load(header)["configs"]
        for entry in config["data_files"]
    }
    files = manifest(release)["files"]
    assert start == ""
    assert listed == {(name, entry["format"], entry["split"]) for name, entry in files.items()}
    assert {name for name, _, _ in listed} == {path.name for path in release.glob("*.jsonl")}
    told = json.loads((release / "dataset_info.json").read_text(encoding="utf-8"))
    of_records = {name for name, entry in files.items() if not name.startswith("anonymized") and entry["rows"]}
    assert {entry["file_name"] for entry in told.values()} == of_records
    assert all(f"| {name} | {entry['split']} | {entry['rows']} |" in body for name, entry in files.items())
