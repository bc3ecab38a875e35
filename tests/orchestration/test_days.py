"""Days as partitions: where they begin, how earlier ones are asked for, which ones Dagster is shown, and versions of data."""

import json
import shutil
import subprocess
import sys
from datetime import UTC, date, datetime
from pathlib import Path

import dagster as dg
import pytest

from dagster_project import definitions
from dagster_project.config.settings import PREFIX
from dagster_project.definitions import defs
from dagster_project.lake.lake import CATALOG, Catalog, StoredFile
from dagster_project.orchestration import at_load
from dagster_project.orchestration.days import CAUGHT_UP, data_version, report_held_days, report_published_days
from dagster_project.orchestration.history import history, kept_open_if_it_can
from tests.conftest import catalog, copy_home, environment, made_once, run
from tests.orchestration.first_day import BEGIN, write_lake
from tests.systems.feedback.feedback_rows import add_feedback

ENTRIES, KEYS = dg.AssetKey("raw_feedback__entries"), dg.AssetKey("core__feedback_keys")
TODAY = date(2026, 11, 18)
OLDER, FIRST, SECOND, NEW = date(2024, 6, 1), date(2026, 1, 10), date(2026, 1, 11), date(2026, 1, 13)


# --- where they begin ----------------------------------------------------------------------------------------------


def test_partitions_begin_at_the_first_day_the_lake_holds(tmp_path: Path) -> None:
    home = write_lake(tmp_path / "home", "2026-01-12", "2025-11-03", "2026-01-10")
    assert at_load.first_day(home, TODAY) == date(2025, 11, 3)
    assert str(definitions.DAILY.start.date()) == BEGIN  # of the lake that was there when definitions were loaded


@pytest.mark.parametrize("broken", [None, "", "[]", "{", '{"format": 1}', '{"format": 2, "tables": {"x": 1}}'])
def test_without_a_lake_they_begin_last_year(tmp_path: Path, broken: str | None) -> None:
    if broken is not None:
        (tmp_path / "lake").mkdir()
        (tmp_path / "lake" / CATALOG).write_text(broken, encoding="utf-8")
    assert at_load.first_day(tmp_path, TODAY) == date(2025, 1, 1)
    assert at_load.first_day(None, TODAY) == date(2025, 1, 1)


def loaded(folder: Path, **env: str) -> list[str]:
    """Where partitions begin and whom tables belong to, in a process that loads the definitions anew."""
    code = (
        "from dagster_project.definitions import DAILY, defs; import dagster as dg; "
        "print(DAILY.start.date(), *defs.resolve_asset_graph().get(dg.AssetKey('core__voices')).owners)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment(**env), capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.slow
def test_definitions_load_whatever_is_configured(tmp_path: Path) -> None:
    """A broken configuration is told by a run, not by a UI that does not come up."""
    default = [f"{datetime.now(UTC).year - 1}-01-01", "team:data-engineering"]
    home = str(write_lake(tmp_path / "home", "2026-01-10"))
    assert loaded(tmp_path, GRISTMILL_HOME=home, GRISTMILL_OWNER="ann@example.org") == ["2026-01-10", "ann@example.org"]
    assert loaded(tmp_path, GRISTMILL_HOME=home, GRISTMILL_OWNER="nobody in particular") == ["2026-01-10", default[1]]
    assert loaded(tmp_path, **{f"{PREFIX}HOMME": home}) == default
    (tmp_path / "gristmill.toml").write_text("no toml", encoding="utf-8")
    assert loaded(tmp_path, GRISTMILL_HOME=home) == default


# --- days before that ----------------------------------------------------------------------------------------------


def source(home: Path) -> Path:
    return home / "sources" / "feedback.db"


@pytest.fixture(scope="session")
def two_days(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with two days of feedback, after one run. Not to be changed."""
    with made_once(tmp_path_factory, "two_days") as (home, is_new):
        if is_new:
            add_feedback(source(home), *({"day": day} for day in (FIRST, SECOND)))
            run(home)
        return home


@pytest.fixture
def home(two_days: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, to which the environment points, as in a deployment."""
    monkeypatch.setenv("GRISTMILL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return copy_home(two_days, tmp_path / "home")


@pytest.mark.slow
def test_an_older_day_is_asked_for_by_config_and_shown_after_the_next_load(home: Path) -> None:
    add_feedback(source(home), {"day": OLDER}, {"day": NEW})
    with dg.DagsterInstance.ephemeral() as instance:
        context = dg.build_sensor_context(instance=instance, definitions=defs)
        earlier, known = defs.resolve_sensor_def("changed_days").evaluate_tick(context).run_requests or []
        assert known.partition_key == str(NEW)
        assert earlier.partition_key is None
        assert earlier.run_config == {"resources": {"mill": {"config": {"days": f"{OLDER}..{OLDER}"}}}}

        job = defs.resolve_job_def("refresh_days")
        assert job.execute_in_process(
            instance=instance, run_config=earlier.run_config, tags=dict(earlier.tags), raise_on_error=False
        ).success
        assert f"event_date={OLDER}" in catalog(home)["tables"]["raw_feedback__entries"]
        assert str(OLDER) in instance.get_materialized_partitions(ENTRIES)
        assert at_load.first_day(home, TODAY) == OLDER
        tick = defs.resolve_sensor_def("changed_days").evaluate_tick(context)
        assert not [asked for asked in tick.run_requests or [] if asked.run_config]


# --- what Dagster is shown -----------------------------------------------------------------------------------------


def held(*days: str, version: int = 1) -> Catalog:
    return Catalog(tables={ENTRIES.to_user_string(): {f"event_date={day}": StoredFile(5, 9, version) for day in days}})


def test_days_the_history_lacks_are_told_once() -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        assert report_held_days(instance, held("2026-01-10", "2026-01-11")) == 2
        assert report_held_days(instance, held("2026-01-10", "2026-01-11", "2026-01-12", version=3)) == 1
        assert instance.get_materialized_partitions(ENTRIES) == {"2026-01-10", "2026-01-11", "2026-01-12"}
        (record, *_) = instance.fetch_materializations(ENTRIES, limit=1).records
        told = record.asset_materialization
        assert told
        assert (told.partition, told.description, record.run_id) == ("2026-01-12", CAUGHT_UP, "")
        assert {name: value.value for name, value in told.metadata.items()} == {
            "dagster/row_count": 5,
            "publication": 3,
        }


def test_a_history_in_files_is_as_before_afterwards(tmp_path: Path) -> None:
    """Whether we opened it, and keep it open, or somebody else did."""
    with history(tmp_path / "ours") as ours, dg.DagsterInstance.local_temp(str(tmp_path)) as other:
        for instance in (ours, other):
            kept = {*vars(instance.event_log_storage)}
            assert report_held_days(instance, held("2026-01-10")) == 1
            assert {*vars(instance.event_log_storage)} == kept
            assert instance.get_materialized_partitions(ENTRIES) == {"2026-01-10"}
    with dg.DagsterInstance.ephemeral() as instance, kept_open_if_it_can(object()):
        assert report_held_days(instance, held("2026-01-10")) == 1


def test_no_lake_or_a_broken_one_keeps_nobody_from_the_ui(tmp_path: Path) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        report_published_days(instance, tmp_path)
        (tmp_path / "lake").mkdir()
        (tmp_path / "lake" / CATALOG).write_text("{", encoding="utf-8")
        report_published_days(instance, tmp_path)
        assert instance.get_materialized_partitions(ENTRIES) == set()


@pytest.mark.slow
def test_every_day_of_the_lake_is_shown_after_a_run_without_its_history(home: Path) -> None:
    shutil.rmtree(home / "runs" / "dagster")
    add_feedback(source(home), {"day": NEW})
    run(home)
    with history(home) as instance:
        for key in (ENTRIES, KEYS):
            assert instance.get_materialized_partitions(key) == {str(FIRST), str(SECOND), str(NEW)}


# --- versions of data ----------------------------------------------------------------------------------------------


def test_a_version_is_that_of_the_files() -> None:
    one = {"event_date=2026-01-10": StoredFile(1, 10, 1), "event_date=2026-01-11": StoredFile(1, 10, 2)}
    assert data_version(one) == data_version(dict(reversed(one.items())))
    others = [
        {**one, "event_date=2026-01-11": StoredFile(1, 10, 3)},
        {**one, "event_date=2026-01-11": StoredFile(2, 11, 2)},  # of a run that failed, and then another
        {"event_date=2026-01-10": StoredFile(1, 10, 1)},
        {},
    ]
    assert len({data_version(files).value for files in (one, *others)}) == 5


def versions(result: dg.ExecuteInProcessResult) -> dict[tuple[str, str | None], str]:
    """Of all that a run told Dagster of, by table and day."""
    told = [event.materialization for event in result.get_asset_materialization_events()]
    return {(it.asset_key.to_user_string(), it.partition): (it.tags or {})["dagster/data_version"] for it in told}


@pytest.mark.slow
def test_the_same_data_has_the_same_version(home: Path) -> None:
    """And what did not change keeps its own when something else does."""
    job = defs.resolve_job_def("refresh")
    with dg.DagsterInstance.ephemeral() as instance:
        first, second = (versions(job.execute_in_process(instance=instance)) for _ in range(2))
        whole = {key: version for key, version in first.items() if key[1] is None}
        assert {key: second[key] for key in whole} == whole
        add_feedback(source(home), {"day": NEW})
        third = versions(job.execute_in_process(instance=instance))
        changed = {table for (table, day), version in third.items() if day is None and version != whole[table, None]}
        assert {"raw_feedback__entries", "core__feedback_keys", "core__feedback", "warehouse"} <= changed
        assert not changed & {"raw_feedback__responses", "core__reactions", "core__settlements"}

        by_day = defs.resolve_job_def("refresh_days")
        one = versions(by_day.execute_in_process(instance=instance, partition_key=str(SECOND)))
        entries = ENTRIES.to_user_string()
        stored = Catalog.read(home / "lake" / CATALOG).tables[entries]
        day = f"event_date={SECOND}"
        assert one[entries, str(SECOND)] == data_version({day: stored[day]}).value


# --- order that is no edge -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_sources_are_let_go_of_before_anything_is_made(home: Path) -> None:
    """Without an edge for it: nothing but the warehouse is made of the rows that were refused."""
    graph = defs.resolve_asset_graph()
    refused = dg.AssetKey("quarantine__rows")
    assert graph.get(refused).child_keys == {dg.AssetKey("warehouse")}
    with dg.DagsterInstance.ephemeral() as instance:
        result = defs.resolve_job_def("refresh").execute_in_process(instance=instance)
    steps = [str(event.step_key) for event in result.all_events if event.is_step_start]
    at = steps.index("quarantine__rows")
    assert all(step.startswith("raw_") for step in steps[:at])
    assert not any(step.startswith("raw_") for step in steps[at:])


@pytest.mark.slow
def test_after_a_failure_nothing_else_is_made(home: Path) -> None:
    (home / "sources" / "distillation.db").write_bytes(b"no database at all")
    with dg.DagsterInstance.ephemeral() as instance:
        result = defs.resolve_job_def("refresh").execute_in_process(instance=instance, raise_on_error=False)
    failed = {
        str(event.step_key): str(event.event_specific_data) for event in result.all_events if event.is_step_failure
    }
    others = {step: said for step, said in failed.items() if "has failed already" in said}
    assert len(others) == len(failed) - 1
    made = {str(event.step_key) for event in result.all_events if event.is_step_success}
    assert all(step.startswith("raw_") for step in made)
    assert json.loads((home / "lake" / CATALOG).read_text(encoding="utf-8"))["publication"] == 1
