"""`gristmill diff`: few records in two releases, and the exact reasons why each came, went or changed."""

import json
import shutil
import sqlite3
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dagster_project.columns.masking_kinds import KINDS
from dagster_project.contracts import TABLES
from dagster_project.contracts.columns import REASONS
from dagster_project.engines.stored_tables import write
from dagster_project.errors import GristmillError
from dagster_project.lake.lake import Lake
from dagster_project.lake.releases import ReleaseName
from dagster_project.lookups import release_diff
from dagster_project.lookups.reason_words import SAID
from dagster_project.lookups.release_diff_text import lines, page_of
from tests.conftest import change, copy_home, gristmill, main_source, run

A, B = ReleaseName(date(2026, 1, 24)), ReleaseName(date(2026, 1, 31))
PAIR = {
    "prompt": "Which?",
    "chosen": "This",
    "rejected": "That",
    "source": "feedback_preference",
    "prompt_key": "0" * 16,
    "split": "train",
    "quality_weight": 0.5,
    "base_weight": 0.6,
    "tier": "standard",
    "domain": "code",
}
FEEDBACK: dict[str, Any] = {"status": "active", "status_ref": None, "occurred_at": datetime(2026, 1, 20, tzinfo=UTC)}


def pair(key: str, row: str | None = None, **more: Any) -> dict[str, Any]:
    """A record that says `key`, of the row of that name unless of another."""
    return PAIR | {"content_id": key, "id": f"id-{row or key}", "origin_ids": [row or key]} | more


def out(row: str, reason: str, of: str | None = None, weight: float = 0.5, detail: str | None = None) -> dict[str, Any]:
    kind = {"format": "preference", "source": "feedback_preference", "prompt_key": "0" * 16}
    return {
        "id": f"id-{row}",
        "reason": reason,
        "duplicate_of": of,
        "detail": detail,
        "quality_weight": weight,
        "origin_ids": [row],
        **kind,
    }


def filled(table: str, rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Rows of a table of which only some columns matter here."""
    schema = TABLES[table].polars_schema
    empty = {"String": "", "Boolean": False, "Int64": 0, "Float64": 0.5, "Date": date(2026, 1, 20)}
    plain = {name: empty.get(str(kind)) for name, kind in schema.items() if not TABLES[table].columns[name]}
    return pl.DataFrame(
        [{name: (plain | row).get(name) for name in schema} for row in rows], schema=schema, strict=False
    )


def put(
    lake: Lake,
    name: ReleaseName,
    records: list[dict[str, Any]],
    excluded: list[dict[str, Any]],
    mask: tuple[str, ...] = KINDS,
) -> None:
    """A release as a run leaves it."""
    own = {"release": str(name), "release_date": name.day}
    for split in {record["split"] for record in records}:
        some = [record | own for record in records if record["split"] == split]
        rows = filled("train__preference", some)
        write(lake, "train__preference", rows, f"{name.partition}/split={split}")
    write(lake, "train__excluded", filled("train__excluded", [one | own for one in excluded]), name.partition)
    folder = lake.home / "exports" / str(name)
    folder.mkdir(parents=True)
    as_of = datetime.combine(name.day + timedelta(days=1), time(), UTC)
    told = {
        "as_of": as_of.isoformat(),
        "exported": {"format": {"preference": len(records)}},
        "masked": dict.fromkeys(mask, 0),
    }
    (folder / "manifest.json").write_text(json.dumps(told))


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    found = Lake(tmp_path / "home")
    later = {"occurred_at": datetime(2026, 1, 28, tzinfo=UTC)}
    rows = {
        "new": later,
        "mind": later,
        "old-mind": {"status": "superseded", "status_ref": "mind"},
        "late": {},
        "gone-mind": {"status": "superseded", "status_ref": "flag"},
        "echo": {"status": "duplicate", "status_ref": "new"},
        **{name: {} for name in "same freed edited lost light double near weighed aged moved heir heavy".split()},
    }
    feedback = [FEEDBACK | {"feedback_id": name} | more for name, more in rows.items()]
    write(found, "core__feedback", filled("core__feedback", feedback), "")
    refused = [
        {"system": "feedback", "table": "entries", "key": "bad", "reasons": ["missing:rating", "unknown:domain"]}
    ]
    write(found, "quarantine__rows", filled("quarantine__rows", refused), "")
    put(
        found,
        A,
        [
            pair("same"),
            pair("edited-before", "edited"),
            *(
                pair(name)
                for name in ("gone-mind", "echo", "lost", "light", "double", "near", "vanished", "bad", "weighed")
            ),
            pair("aged"),
            pair("moved", split="test"),
            pair("heirloom", "heir"),
            pair("old-partner", source="feedback_rating_pair", origin_ids=["same", "late"]),
        ],
        [out("freed", "duplicate", "id-lost")],
    )
    put(
        found,
        B,
        [
            pair("same", quality_weight=0.4, tier="low"),
            pair("edited-after", "edited"),
            *(pair(name) for name in ("new", "mind", "late", "freed")),
            pair("weighed", base_weight=0.65, domain="general"),
            pair("aged", split="augmentation", tier="low"),
            pair("moved"),
            pair("heirloom", "heavy", base_weight=0.9),
            pair("new-partner", source="feedback_rating_pair", origin_ids=["same", "new"]),
        ],
        [
            out("lost", "outvoted", "id-new"),
            out("light", "low_weight", weight=0.29),
            out("double", "contested"),
            out("near", "near_duplicate", "id-same"),
            out("heir", "duplicate", "id-heavy"),
        ],
    )
    return found


def told(rows: pl.DataFrame) -> dict[str, tuple[str, str | None, str]]:
    return {row["content_id"]: (row["why"], row["of"], row["because"]) for row in rows.iter_rows(named=True)}


def test_why_records_came(lake: Lake) -> None:
    assert told(release_diff.diff(lake, A, B).came) == {
        "new": ("new_feedback", None, "new feedback"),
        "mind": ("changed_mind", "old-mind", "changed mind: takes the place of old-mind"),
        "new-partner": ("new_feedback", None, "new feedback"),
        "late": ("late_feedback", None, "feedback from before that was read since, or counts as another candidate now"),
        "freed": ("no_longer_duplicate", "id-lost", "no longer a duplicate of id-lost"),
        "edited-after": ("text_changed", "edited-before", "what it says changed at the source; it was edited-before"),
    }


def test_why_records_went(lake: Lake) -> None:
    assert told(release_diff.diff(lake, A, B).went) == {
        "edited-before": ("text_changed", "edited-after", "what it says changed at the source; it is edited-after now"),
        "gone-mind": ("changed_mind", "flag", "changed mind: superseded by flag"),
        "echo": ("repeated_row", "new", "its row repeats new"),
        "lost": ("outvoted", "id-new", "outvoted, by id-new"),
        "light": ("low_weight", None, "too light: 0.5 -> 0.29"),
        "double": ("contested", None, "contested"),
        "near": ("near_duplicate", "id-same", "a near duplicate of id-same"),
        "old-partner": (
            "other_partner",
            "id-new-partner",
            "what was rated down stands beside another answer now, in id-new-partner",
        ),
        "vanished": ("row_vanished", None, "its row vanished at the source"),
        "bad": ("refused", "missing:rating, unknown:domain", "its row is refused now: missing:rating, unknown:domain"),
    }


def test_what_changed(lake: Lake) -> None:
    """A weight that only decayed is no change; of several the first is the word."""
    found = release_diff.diff(lake, A, B)
    assert told(found.changed) == {
        "weighed": ("base_weight", None, "weight at age 0 0.6 -> 0.65; domain code -> general"),
        "aged": ("became_low_tier", None, "became tier low; moved train -> augmentation"),
        "moved": ("split", None, "moved test -> train"),
        "heirloom": (
            "another_row",
            "id-heavy",
            "id-heavy says it now: id-heir is a duplicate of id-heavy; weight at age 0 0.6 -> 0.9",
        ),
    }
    assert found.same == 1


LATE_REASONS = [
    out("twin", "near_duplicate", "id-same"),
    out("copy", "duplicate", "id-same"),
    out("tested", "contaminated", detail="gsm8k:17"),
    out("capped", "recipe", detail="max_per_user"),
    out("known", "leak"),
    out("tokens", "control_tokens"),
]


def test_why_records_left_for_what_a_release_settles(tmp_path: Path) -> None:
    """With the survivor, the evaluation set's item, the recipe's rule (T1), and the same for records that may leave again."""
    lake = Lake(tmp_path / "home")
    names = ["twin", "copy", "tested", "capped", "known", "tokens"]
    feedback = [FEEDBACK | {"feedback_id": name} for name in [*names, "same"]]
    write(lake, "core__feedback", filled("core__feedback", feedback), "")
    write(lake, "quarantine__rows", filled("quarantine__rows", []), "")
    put(lake, A, [pair("same"), *map(pair, names)], [])
    put(lake, B, [pair("same")], LATE_REASONS)
    assert told(release_diff.diff(lake, A, B).went) == {
        "twin": ("near_duplicate", "id-same", "a near duplicate of id-same"),
        "copy": ("duplicate", "id-same", "a duplicate of id-same"),
        "tested": ("contaminated", "gsm8k:17", "contaminated by the item gsm8k:17"),
        "capped": ("recipe", "max_per_user", "left out by the recipe's rule max_per_user"),
        "known": ("leak", None, "a leak: meant for evaluation and known to training"),
        "tokens": ("control_tokens", None, "with control tokens"),
    }
    assert told(release_diff.diff(lake, B, A).came) == {
        "twin": ("no_longer_near_duplicate", "id-same", "no longer a near duplicate of id-same"),
        "copy": ("no_longer_duplicate", "id-same", "no longer a duplicate of id-same"),
        "tested": ("no_longer_contaminated", "gsm8k:17", "no longer contaminated by the item gsm8k:17"),
        "capped": ("no_longer_recipe", "max_per_user", "no longer left out by the recipe's rule max_per_user"),
        "known": ("no_longer_leak", None, "no longer a leak: meant for evaluation and known to training"),
        "tokens": ("no_longer_control_tokens", None, "no longer with control tokens"),
    }


def test_every_reason_has_words() -> None:
    assert set(REASONS) <= SAID.keys()


def test_masking_that_was_changed(tmp_path: Path) -> None:
    """`mask` says what records show; they say the same (T8). What is written like a placeholder in both is no change."""
    lake = Lake(tmp_path / "home")
    write(lake, "core__feedback", filled("core__feedback", [FEEDBACK | {"feedback_id": n} for n in "abcd"]), "")
    write(lake, "quarantine__rows", filled("quarantine__rows", []), "")
    masked = {"prompt": "Who is <EMAIL_1> of <IBAN_1>?", "rejected": "<EMAIL_1> or <EMAIL_2>, <PHONE_1>"}
    shown = {"prompt": "Who is a@b.example of <IBAN_1>?", "rejected": "a@b.example or c@b.example, <PHONE_1>"}
    literal = pair("b", prompt="What is <EMAIL_1>?")
    later = {"prompt": "Call <PHONE_1>", "context": "I am d@b.example"}
    put(lake, A, [pair("a", **masked), literal, pair("c", context="user: <EMAIL_1>"), pair("d", prompt="Call me")], [])
    put(
        lake,
        B,
        [pair("a", **shown), literal, pair("c", context="user: x@b.example", split="test"), pair("d", **later)],
        [],
        mask=tuple(kind for kind in KINDS if kind != "email"),
    )
    assert told(release_diff.diff(lake, A, B).changed) == {
        "a": ("masking", None, "email masked 3 -> 0"),
        "c": ("masking", None, "email masked 1 -> 0; moved train -> test"),
    }
    assert told(release_diff.diff(lake, B, A).changed)["a"] == ("masking", None, "email masked 0 -> 3")
    path = lake.home / "exports" / str(B) / "manifest.json"
    path.write_text((lake.home / "exports" / str(A) / "manifest.json").read_text().replace("2026-01-25", "2026-02-01"))
    assert told(release_diff.diff(lake, A, B).changed) == {"c": ("split", None, "moved train -> test")}


def test_the_mix(lake: Lake) -> None:
    mix = release_diff.diff(lake, A, B).mix
    assert mix.filter(pl.col("by") == "split").rows() == [
        ("split", "augmentation", 0, 1, 0.0, 9.1),
        ("split", "test", 1, 0, 6.7, 0.0),
        ("split", "train", 14, 10, 93.3, 90.9),
    ]
    assert mix.filter(pl.col("by") == "language").rows() == [("language", None, 15, 11, 100.0, 100.0)]


def test_backwards(lake: Lake) -> None:
    """What was not given yet as of the older one."""
    went = told(release_diff.diff(lake, B, A).went)
    assert went["new"] == ("not_given_yet", None, "not given yet at that time")


def test_a_person_reads_it(lake: Lake) -> None:
    found = release_diff.diff(lake, A, B)
    text = list(lines(found))
    assert text[0] == "Release 20260131 compared with 20260124"
    assert "  came              6" in text and "  went             10" in text and "  changed           4" in text
    assert "                    1  test -> train" in text
    html = page_of(lake, found)
    assert "http" not in html.replace("http-equiv", "") and "<script" not in html
    assert html.count("Which?") == 6 + 10 + 4


def test_which_two(lake: Lake) -> None:
    assert release_diff.chosen(lake, None, None) == (A, B)
    assert release_diff.chosen(lake, "20260131", "20260124") == (B, A)
    with pytest.raises(GristmillError, match="name two releases"):
        release_diff.chosen(lake, "20260131", None)
    with pytest.raises(GristmillError, match="no release '20260101'"):
        release_diff.chosen(lake, "20260131", "20260101")
    shutil.rmtree(lake.home / "exports" / "20260131")
    with pytest.raises(GristmillError, match="nothing to compare"):
        release_diff.chosen(lake, None, None)


def test_records_the_lake_has_not(lake: Lake) -> None:
    """Of a home whose lake was moved away only the files under exports tell of a release."""
    lake.drop("train__preference", f"{A.partition}/split=test")
    with pytest.raises(GristmillError, match="lake does not hold the records of release 20260124"):
        release_diff.diff(lake, A, B)


@pytest.mark.slow
def test_two_releases_of_a_home(published_home: Path, tmp_path: Path) -> None:
    """Whole runs: a day's second release, whose every difference is what the owner did."""
    home = copy_home(published_home, tmp_path / "home")
    source = main_source(home)
    with sqlite3.connect(source) as database:
        (one,) = database.execute(
            "select feedback_id from feedback where feedback_type = 'preference' and timestamp < 2e9"
            " order by timestamp desc limit 1"
        ).fetchone()
    change(source, f"delete from feedback where feedback_id = '{one}'")
    run(home, "--full")
    page = tmp_path / "page.html"
    done = gristmill(home, "diff", "--json", "--page", str(page))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["a"] + ".2" == found["b"]
    assert found["counts"]["changed"] == len(found["changed"])
    assert {tuple(record["origin_ids"]) for record in found["went"]} <= {(one,)}
    assert {record["why"] for record in found["went"]} <= {"row_vanished"}
    assert page.stat().st_mode & 0o777 == 0o600
    assert gristmill(home, "diff").returncode == 0
