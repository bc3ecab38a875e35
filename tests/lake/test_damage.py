"""Files of a home that were cut short, removed or changed: made again from what they came from, or told, never published on."""

import json
import shutil
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from dagster_project.lake.damage import Damage, is_whole, set_aside, wrong_files
from dagster_project.lake.lake import Lake
from tests.conftest import catalog, complaint, content, gristmill, run
from tests.lake.test_lake import commit, stage_first


def cut(file: Path, by: int = 100) -> None:
    data = file.read_bytes()
    file.unlink()  # the snapshot has the same file: a disk tears both, a careless hand one
    file.write_bytes(data[:-by])


def flip(file: Path) -> None:
    """Another byte in the middle, the same size."""
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)


def tables(home: Path) -> dict[str, bytes]:
    return {name: data for name, data in content(home / "lake").items() if name != "catalog.json"}


def test_sizes_tell(tmp_path: Path) -> None:
    commit(stage_first(tmp_path))
    lake = Lake(tmp_path)
    assert wrong_files(lake.folder, lake.published.tables) == []
    cut(lake.path("table", "a"), 1)
    lake.path("table", "c").unlink()
    assert wrong_files(lake.folder, lake.published.tables) == [("table", "a"), ("table", "c")]
    assert not is_whole(lake)


def test_what_is_damaged_is_forgotten_with_all_that_calls_it_up_to_date(tmp_path: Path) -> None:
    commit(stage_first(tmp_path))
    lake = Lake(tmp_path)
    for each in (lake.catalog, lake.published):
        each.inputs = {"derived": "hash"}
        each.sources = {"table": {"rules": "", "files": {}}, "dated": {"rules": "", "days": {"2026-01-01": {}}}}
    cut(lake.path("table", "b"))
    damage = set_aside(lake, is_full=False)
    assert damage.files == [("table", "b")]
    assert list(lake.partitions("table")) == list(lake.published.tables["table"]) == ["a", "c"]
    assert lake.catalog.inputs == {}
    assert list(lake.catalog.sources) == ["dated"]


def test_a_full_run_trusts_no_kept_result(tmp_path: Path) -> None:
    commit(stage_first(tmp_path))
    lake = Lake(tmp_path)
    lake.catalog.inputs = {"derived": "hash"}
    assert set_aside(lake, is_full=False).files == []
    assert lake.catalog.inputs == {"derived": "hash"}
    set_aside(lake, is_full=True)
    assert lake.catalog.inputs == {}


def test_the_days_of_damaged_files() -> None:
    files = [
        ("raw_feedback__entries", "event_date=2026-01-30"),
        ("quarantine__rows", "raw_feedback__entries/event_date=2026-01-29"),
        ("quarantine__rows", "raw_feedback__entries/event_date=__HIVE_DEFAULT_PARTITION__"),
        ("core__feedback", ""),
    ]
    assert Damage(files).days == {date(2026, 1, 30), date(2026, 1, 29)}


DAMAGED = (
    "core__answers/part-0.parquet",
    "core__feedback_keys/event_date=2026-01-22/part-0.parquet",
    "raw_feedback__entries/event_date=2026-01-21/part-0.parquet",
    "raw_distillation__examples/{day}/part-0.parquet",
    "metric__feedback_daily/part-0.parquet",
    "quarantine__rows/raw_feedback__entries/{refused}/part-0.parquet",
    "train__instruction/release_date=2026-01-31/split=train/part-0.parquet",
)


def named(home: Path, name: str) -> Path:
    stored: dict[str, Any] = catalog(home)["tables"]
    day = min(stored["raw_distillation__examples"])
    refused = min(
        p.split("/")[1] for p in stored["quarantine__rows"] if p.startswith("raw_feedback__entries/event_date=2")
    )
    return home / "lake" / name.format(day=day, refused=refused)


@pytest.mark.slow
def test_a_run_makes_damaged_files_again(published: Path) -> None:
    """Whatever days it was asked for; the same bytes as before, said in one line, and the next run has nothing to do."""
    before = tables(published)
    for number, name in enumerate(DAMAGED):
        file = named(published, name)
        cut(file) if number % 2 else file.unlink()
    done = run(published, "--from", "2026-01-30", "--to", "2026-01-30")
    (line,) = [line for line in done.stdout.splitlines() if "made again: " in line]
    assert f"and {len(DAMAGED) - 3} more" in line
    assert tables(published) == before
    assert catalog(published)["publication"] == 2
    assert "made again" not in run(published).stdout
    assert catalog(published)["publication"] == 2


@pytest.mark.slow
def test_a_run_into_the_past_does_not_publish_around_damage(published: Path) -> None:
    named(published, DAMAGED[0]).unlink()
    before = content(published, ["lock", "runs"])
    assert "comes first" in complaint(gristmill(published, "run", "--as-of", "2026-01-25"))
    assert content(published, ["lock", "runs"]) == before


@pytest.mark.slow
def test_a_full_run_finds_other_bytes_of_the_same_size(published: Path) -> None:
    before = tables(published)
    for name in DAMAGED[:3]:
        flip(named(published, name))
    run(published, "--full")
    assert tables(published) == before


@pytest.mark.slow
def test_a_release_is_written_once(published: Path) -> None:
    """T5: one that was changed is told and left alone; a folder that is gone is made again."""
    release = published / "exports" / "20260131"
    changed = release / "instruction_20260131.jsonl"
    flip(changed)
    torn = changed.read_bytes()
    assert "20260131" not in "".join(line for line in run(published).stdout.splitlines() if "no longer" in line)
    (told,) = [line for line in run(published, "--full").stdout.splitlines() if "no longer" in line]
    assert changed.name in told
    assert changed.read_bytes() == torn
    assert json.loads((published / "exports" / "20260131.2" / "manifest.json").read_text(encoding="utf-8"))["files"]
    shutil.rmtree(published / "exports" / "20260131.2")
    cut(changed)
    (told,) = [line for line in run(published).stdout.splitlines() if "no longer" in line]
    assert changed.name in told
    assert changed.read_bytes() == torn[:-100]
    shutil.rmtree(release.parent)
    done = run(published)
    assert "no longer" not in done.stdout
    assert changed.exists()


@pytest.mark.slow
def test_a_snapshot_somebody_removed_is_taken_again(published: Path) -> None:
    shutil.rmtree(published / "snapshots" / "1")
    run(published)
    count = gristmill(published, "query", "select count(*) as n from raw_feedback__entries", "--format", "json")
    assert json.loads(count.stdout) == [{"n": Lake(published).rows("raw_feedback__entries")}]
