"""When a release is made, how it is called, which are kept (T5): whole runs on the small home of `test_releases`."""

import json
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest

from dagster_project.errors import GristmillError
from dagster_project.lake.lake import Lake
from dagster_project.lake.releases import ReleaseName, excluded_files, named, record_files, releases
from dagster_project.run.mill_run import MillRun
from dagster_project.training.kept_releases import pin, pinned_releases
from tests.conftest import catalog, change, complaint, content, copy_home, gristmill, main_source, run
from tests.training.test_releases import RELEASE, records, small_home

NEVER = {"GRISTMILL_RELEASE_EVERY": "never"}


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy to be changed; a source that has just been edited counts as settled."""
    monkeypatch.setattr("dagster_project.databases.sqlite_file.TICK_SECONDS", -1.0)
    return copy_home(small_home(tmp_path_factory), tmp_path / "home")


def names(home: Path) -> list[str]:
    return [str(name) for name in releases(home)]


def partitions(home: Path, table: str) -> list[str]:
    return sorted(catalog(home)["tables"].get(table, {}))


def put_release(home: Path, name: str) -> None:
    folder = home / "exports" / name
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text("{}")


def is_due(home: Path, every: str, as_of: str, release: bool = False, is_past: bool = False) -> bool:
    """What `MillRun.makes_release` says, of a run as far as it looks at it."""
    at = pl.Series([as_of]).str.to_datetime(time_zone="UTC")[0]
    asked = SimpleNamespace(
        config=SimpleNamespace(release_every=every),
        choice=SimpleNamespace(release=release),
        as_of=at,
        is_in_the_past=is_past,
        lake=SimpleNamespace(home=home),
    )
    return cast(Any, MillRun.makes_release).func(asked)


def is_quick(home: Path, settings: dict[str, str]) -> bool:
    """Whether a run has nothing to do; the one before it may have had to find that out."""
    before = content(home / "exports")
    run(home, env=settings)
    return "nothing has changed since" in run(home, env=settings).stdout and content(home / "exports") == before


# --- names -------------------------------------------------------------------------------------------------------


def test_names_are_days_with_numbers() -> None:
    assert ReleaseName.parsed("20260131") == ReleaseName(date(2026, 1, 31))
    assert ReleaseName.parsed("20260131.12") == ReleaseName(date(2026, 1, 31), 12)
    wrong = ("20260231", "20260131.0", "20260131.x", "2026013", "20260131.2.tmp", "")
    assert [ReleaseName.parsed(name) for name in wrong] == [None] * len(wrong)
    assert str(ReleaseName(date(2026, 1, 31)).next.next) == "20260131.3"


def test_releases_are_in_order_of_day_and_number(tmp_path: Path) -> None:
    """The tenth comes after the second; what has no manifest is none."""
    for name in ("20260131.10", "20260131.2", "20260131", "20260201", "20251231"):
        put_release(tmp_path, name)
    (tmp_path / "exports" / "20260202").mkdir()
    assert names(tmp_path) == ["20251231", "20260131", "20260131.2", "20260131.10", "20260201"]
    with pytest.raises(GristmillError, match=r"no release '20260202' .*: there are 20251231, 20260131, "):
        named(tmp_path, "20260202")


# --- when --------------------------------------------------------------------------------------------------------


def test_weekly_is_once_after_a_week(tmp_path: Path) -> None:
    """T5: unless a release stands whose last day is in the ISO week before as_of's. 2026-02-02 is a Monday."""
    put_release(tmp_path, "20260124")  # a Saturday, in the week from the 19th
    assert [is_due(tmp_path, "week", f"2026-01-{day}") for day in (25, 26, 31)] == [True, False, False]
    assert [is_due(tmp_path, "week", f"2026-02-0{day}") for day in (1, 2, 8)] == [False, True, True]
    put_release(tmp_path, "20260201.2")
    assert [is_due(tmp_path, "week", f"2026-02-0{day}") for day in (1, 2, 8, 9)] == [False, False, False, True]


def test_who_asks_for_a_release_gets_one(tmp_path: Path) -> None:
    """Every run where nothing else is said, `gristmill release` always, and a run in the past, which is for nothing else (G2)."""
    assert is_due(tmp_path, "run", "2026-02-01")
    assert not is_due(tmp_path, "never", "2026-02-01")
    assert is_due(tmp_path, "never", "2026-02-01", release=True)
    assert is_due(tmp_path, "never", "2026-02-01", is_past=True)


@pytest.mark.slow
def test_never_brings_up_everything_but_a_release(home: Path) -> None:
    """Candidates and metrics follow the sources, what stands stays, nothing new stays true; `gristmill release` makes one."""
    before = content(home / "exports")
    tables = {table: partitions(home, table) for table in catalog(home)["tables"] if table.startswith("train__")}
    change(main_source(home), "update feedback set rating = -1, processed = 1 where feedback_id = 't02'")
    done = run(home, env=NEVER)
    assert "release    none was made (release_every = never), the newest is" in done.stdout
    assert content(home / "exports") == before
    assert {table: partitions(home, table) for table in tables} == tables
    assert catalog(home)["release"] == {"name": RELEASE, "date": "2026-01-12", "is_behind": True}
    told = json.loads(gristmill(home, "why", "t02", "--json").stdout)
    assert {(one["format"], one["reason"], one.get("file")) for one in told["examples"]} == {
        ("instruction", "negative_rating", None),
        ("unpaired", None, str(home / "exports" / RELEASE / f"unpaired_{RELEASE}.jsonl")),
    }
    told = json.loads(gristmill(home, "status", "--json").stdout)
    assert (told["release"], told["release_is_behind"], told["wrong"]) == (RELEASE, True, [])
    assert is_quick(home, NEVER)

    assert gristmill(home, "release", env=NEVER).returncode == 0
    assert names(home) == [RELEASE, f"{RELEASE}.2"]
    assert catalog(home)["release"] == {"name": f"{RELEASE}.2", "date": "2026-01-12"}
    told = json.loads(gristmill(home, "why", "t02", "--json").stdout)
    assert [one["reason"] for one in told["examples"] if one["format"] == "instruction"] == ["negative_rating"]
    assert is_quick(home, NEVER)
    assert "nothing has changed" not in run(home).stdout  # other settings are something new, the release is the same
    assert names(home) == [RELEASE, f"{RELEASE}.2"]


@pytest.mark.slow
def test_a_home_without_a_release(home: Path, tmp_path: Path) -> None:
    """Nothing is there to name, and nothing fails."""
    new = tmp_path / "new"
    main_source(new).parent.mkdir(parents=True)
    main_source(new).write_bytes(main_source(home).read_bytes())
    assert "there is none yet: `gristmill release`" in run(new, env=NEVER).stdout
    assert (names(new), catalog(new)["release"]) == ([], {})
    told = json.loads(gristmill(new, "why", "t02", "--json").stdout)
    assert [(one["reason"], "file" in one) for one in told["examples"]] == [(None, False)] * 2
    assert "there is no release to write back" in complaint(gristmill(new, "writeback"))


# --- several of one day ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_lake_holds_every_release_of_a_day(home: Path) -> None:
    """T5: the newest where a day's release lies, the earlier ones beside it; each record says which it belongs to."""
    lake = Lake(home)
    held = {
        split: file.read_bytes() for split, file in record_files(lake, "train__correction", releases(home)[0]).items()
    }
    change(main_source(home), "update feedback set original_response = 'Nizza' where feedback_id = 'corr'")
    run(home, "--full")
    lake, (first, second) = Lake(home), releases(home)
    kept = record_files(lake, "train__correction", first)
    assert {split: file.read_bytes() for split, file in kept.items()} == held
    for name in (first, second):
        for form in ("instruction", "correction", "preference", "unpaired"):
            files = record_files(lake, f"train__{form}", name)
            rows = pl.read_parquet(list(files.values()), hive_partitioning=False)
            written = [
                one for file, found in records(home / "exports" / str(name)).items() for one in found if form in file
            ]
            assert sorted(rows["id"]) == sorted(one["id"] for one in written)
            assert rows["release"].unique().to_list() == [str(name)]
        told = json.loads((home / "exports" / str(name) / "manifest.json").read_text())["excluded"]
        (file,) = excluded_files(lake, name)
        assert pl.read_parquet(file).height == sum(sum(reasons.values()) for reasons in told.values())
    assert [path.parent.name for path in excluded_files(lake, first)] == [f"release={RELEASE}"]


@pytest.mark.slow
def test_a_renamed_file_has_the_bytes_of_one_written_so(home: Path, tmp_path: Path) -> None:
    """G2: that the number was not known when the rows were written does not show."""
    other = copy_home(home, tmp_path / "other")
    edit = "update feedback set original_response = 'Nizza' where feedback_id = 'corr'"
    for one in (home, other):
        change(main_source(one), edit)
    for path in (other / "exports" / RELEASE).glob("*"):
        path.unlink()
    (other / "exports" / RELEASE).rmdir()
    put_release(other, f"{RELEASE}.2")  # with other records: what comes is the third
    for one in (home, other):
        run(one, "--full")
    change(main_source(home), "update feedback set original_response = 'Lyon' where feedback_id = 'corr'")
    run(home, "--full")
    change(main_source(home), edit)
    change(main_source(home), "delete from feedback where feedback_id = 't09'")
    change(main_source(other), "delete from feedback where feedback_id = 't09'")
    run(home, "--full")
    run(other, "--full")
    assert (names(home)[-1], names(other)[-1]) == (f"{RELEASE}.4", f"{RELEASE}.4")
    files = [record_files(Lake(one), "train__unpaired", releases(one)[-1]) for one in (home, other)]
    assert {split: file.read_bytes() for split, file in files[0].items()} == {
        split: file.read_bytes() for split, file in files[1].items()
    }


# --- how many ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_oldest_go_unless_pinned_or_written_back(home: Path) -> None:
    """T5: with their partitions; the newest stays whatever happens."""
    for day in (9, 10, 11):
        run(home, "--as-of", f"2026-01-{day + 1:02}")
    pin(home, ReleaseName(date(2026, 1, 9)))
    assert gristmill(home, "writeback", "--release", "20260110").returncode == 0
    run(home, env={"GRISTMILL_KEEP_RELEASES": "1"})
    assert names(home) == ["20260109", "20260110", RELEASE]
    days = [f"2026-01-{day}" for day in ("09", "10", "12")]
    assert partitions(home, "train__excluded") == [f"release_date={day}" for day in days]
    held = {part.split("/")[0] for part in partitions(home, "train__instruction")}
    assert held == {f"release_date={day}" for day in days}
    assert is_quick(home, {"GRISTMILL_KEEP_RELEASES": "1"})
    assert not [path for path in (home / "exports").iterdir() if not path.name.isdigit()]


@pytest.mark.slow
def test_a_pin_is_durable(home: Path) -> None:
    done = gristmill(home, "release", "--pin")
    assert done.returncode == 0, done.stderr
    assert f"pinned release {RELEASE}" in done.stdout
    assert names(home) == [RELEASE]  # the same records are not made twice
    assert (home / "state" / "pinned_releases.json").read_text() == f'["{RELEASE}"]\n'
    change(main_source(home), "delete from feedback where feedback_id = 't09'")
    for _ in range(2):
        run(home, "--full", env={"GRISTMILL_KEEP_RELEASES": "1"})
    assert names(home) == [RELEASE, f"{RELEASE}.2"]
    assert pinned_releases(home) == [ReleaseName(date(2026, 1, 12))]


def test_a_broken_pin_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "pinned_releases.json").write_text("{")
    with pytest.raises(GristmillError, match="must be a JSON list of releases"):
        pinned_releases(tmp_path)
