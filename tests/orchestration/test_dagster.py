"""Gristmill as Dagster sees it: the graph, the conventions, the schedules, the sensor, and the jobs through real resources."""

import html
import time
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest
import yaml

from dagster_project.contracts import TABLES
from dagster_project.definitions import defs
from dagster_project.orchestration.days import BY_DAY
from dagster_project.orchestration.tables import range_tags
from dagster_project.registry import SYSTEMS
from tests.conftest import ask, catalog, change, main_source

ROOT = Path(__file__).parents[2]
ENTRIES = "raw_feedback__entries"
DAY_SQL = "cast(timestamp / 86400 as integer)"
# --- the graph ---------------------------------------------------------------------------------------------------


def test_asset_graph() -> None:
    """Every table with a contract is an asset of its layer's group, and nothing else is but the sources and what publishes."""
    graph = defs.resolve_asset_graph()
    groups: dict[str, list[str]] = {}
    for key in sorted(graph.get_all_asset_keys()):
        groups.setdefault(graph.get(key).group_name or "", []).append(key.to_user_string())
    expected = {"sources": sorted(f"source_{name}" for name in SYSTEMS), "serving": ["warehouse"]}
    for table in sorted(TABLES):
        expected.setdefault(table.split("_")[0], []).append(table)
    assert groups == expected


def test_external_assets_are_the_sources() -> None:
    external = {key.to_user_string() for key in defs.resolve_asset_graph().external_asset_keys}
    assert external == {f"source_{name}" for name in SYSTEMS}


def test_everything_leads_to_the_warehouse() -> None:
    """What publishes comes last: nothing that is made can fail after it."""
    graph = defs.resolve_asset_graph()
    upstream = graph.get_ancestor_asset_keys(dg.AssetKey("warehouse"))
    assert upstream | {dg.AssetKey("warehouse")} == graph.get_all_asset_keys()


def test_every_table_is_an_asset_that_tells_about_itself() -> None:
    graph = defs.resolve_asset_graph()
    made = {key.to_user_string() for key in graph.materializable_asset_keys}
    assert made == {*TABLES, "warehouse"}
    for table, contract in TABLES.items():
        node = graph.get(dg.AssetKey(table))
        assert html.unescape(str(node.description)) == contract.description
        assert "parquet" in node.kinds
        assert node.kinds & {"polars", "duckdb"}
        columns = node.metadata["dagster/column_schema"].columns
        assert [column.name for column in columns] == list(contract.columns)
        described = [html.unescape(str(column.description)) for column in columns]
        assert described == [contract.meanings[name].description for name in contract.columns]
        assert not any("<" in text for text in (str(node.description), *(str(c.description) for c in columns)))
        assert [column.constraints.nullable for column in columns] == list(contract.columns.values())
        assert (node.partitions_def is not None) == (table in BY_DAY)
        assert node.owners == ["team:data-engineering"]
        assert contract.is_by_day or table not in BY_DAY


def test_checks_that_block() -> None:
    """A failed sum or claim must keep `warehouse` from publishing; drift, a context that is no conversation and a broken line of the log
    only tell."""
    graph = defs.resolve_asset_graph()
    blocking = {key: graph.get(key).blocking for key in graph.asset_check_keys}
    assert blocking
    assert {key.name for key, blocks in blocking.items() if not blocks} == {
        "no_drift",
        "contexts_are_read",
        "no_frozen_day_shrank",
        "log_is_readable",
    }


# --- conventions -------------------------------------------------------------------------------------------------


def test_one_name_everywhere() -> None:
    for layer in ("core", "metric", "train"):
        for path in (ROOT / "sql" / layer).glob("*.sql"):
            assert path.stem in TABLES, path
            assert path.stem.startswith(f"{layer}__"), path
    folders = {path.name for path in (ROOT / "sql").iterdir() if path.is_dir()}
    assert folders == {"core", "metric", "train", "checks", "release", "serving", "examples"}
    for path in (ROOT / "sql" / "checks").glob("*.sql"):
        table = path.stem.rpartition("__")[0]
        assert table in TABLES, path


def test_every_claim_is_checked() -> None:
    """A file in sql/checks that no asset runs claims nothing."""
    checks = {f"{key.asset_key.to_user_string()}__{key.name}" for key in defs.resolve_asset_graph().asset_check_keys}
    assert {path.stem for path in (ROOT / "sql" / "checks").glob("*.sql")} <= checks


def test_workspace_and_dg_name_the_same_module() -> None:
    workspace = yaml.safe_load((ROOT / "workspace.yaml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["dg"]["project"]
    assert workspace == {"load_from": [{"python_module": project["code_location_target_module"]}]}
    assert project["code_location_target_module"] == "dagster_project.definitions"


# --- schedules ---------------------------------------------------------------------------------------------------


def test_schedules() -> None:
    schedules = {schedule.name: schedule for schedule in defs.schedules or []}
    assert set(schedules) == {"daily_refresh", "weekly_reconciliation"}
    daily, weekly = schedules["daily_refresh"], schedules["weekly_reconciliation"]
    assert isinstance(daily, dg.ScheduleDefinition)
    assert isinstance(weekly, dg.ScheduleDefinition)
    assert (daily.cron_schedule, daily.job_name, daily.execution_timezone) == ("30 1 * * *", "refresh", "UTC")
    assert (weekly.cron_schedule, weekly.job_name, weekly.execution_timezone) == ("0 3 * * 0", "refresh", "UTC")
    (request,) = weekly.evaluate_tick(dg.build_schedule_context()).run_requests or []
    assert request.run_config == {"resources": {"mill": {"config": {"full": True}}}}


# --- sensor and jobs ---------------------------------------------------------------------------------------------


@pytest.fixture
def configured(published: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A home after one run, to which the environment points, as in a deployment."""
    monkeypatch.setenv("GRISTMILL_HOME", str(published))
    monkeypatch.delenv("GRISTMILL_CONFIG", raising=False)
    sources = sorted((published / "sources").glob("feedback*.db"), key=lambda path: len(path.name))
    monkeypatch.setenv("GRISTMILL_FEEDBACK", ":".join(map(str, sources)))
    monkeypatch.chdir(tmp_path)
    return published


def requests() -> list[dg.RunRequest]:
    with dg.DagsterInstance.ephemeral() as instance:
        context = dg.build_sensor_context(instance=instance, definitions=defs)
        return list(defs.resolve_sensor_def("changed_days").evaluate_tick(context).run_requests or [])


def busy_days(home: Path, number: int) -> list[date]:
    """Neighbouring days with ratings on each."""
    sql = f"select distinct {DAY_SQL} from feedback where typeof(timestamp) = 'real' and rating = 1 order by 1 desc"
    numbers = [row[0] for row in ask(main_source(home), sql) if 20_469 < row[0] < 20_484][5 : 5 + number]
    assert numbers == list(range(numbers[0], numbers[0] - number, -1))
    return sorted(date.fromordinal(date(1970, 1, 1).toordinal() + day) for day in numbers)


def turn_ratings(home: Path, day: date, back: bool = False) -> None:
    number = day.toordinal() - date(1970, 1, 1).toordinal()
    rating = 1 if back else -1
    change(
        main_source(home), f"update feedback set rating = {rating} where rating = {-rating} and {DAY_SQL} = {number}"
    )


def unlike(home: Path, earlier: dict) -> set[str]:
    """Days of the raw table whose files were made anew since."""
    now, before = (stored["tables"]["raw_feedback__entries"] for stored in (catalog(home), earlier))
    return {partition.removeprefix("event_date=") for partition in now if now[partition] != before.get(partition)}


@pytest.mark.slow
def test_sensor(configured: Path) -> None:
    """Asks for nothing, for the day that changed, and for neighbouring days in one run."""
    assert requests() == []
    days = busy_days(configured, 3)
    turn_ratings(configured, days[0])
    (request,) = requests()
    assert request.partition_key == str(days[0])
    assert requests()[0].run_key == request.run_key
    change(
        main_source(configured), f"update feedback set processed = 1 where {DAY_SQL} = {days[0].toordinal() - 719163}"
    )
    assert requests()[0].partition_key == str(days[0])
    assert requests()[0].run_key != request.run_key
    for day in days[1:]:
        turn_ratings(configured, day)
    (request,) = requests()
    assert request.partition_key is None
    assert range_tags(days[0], days[-1]).items() <= request.tags.items()


@pytest.mark.slow
def test_the_sensor_asks_again_after_a_failed_run(configured: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run key is used once, whatever became of its run: a failed run's days must be asked for under another."""
    (day,) = busy_days(configured, 1)
    turn_ratings(configured, day)
    with dg.DagsterInstance.ephemeral() as instance:
        context = dg.build_sensor_context(instance=instance, definitions=defs)

        def tick() -> Any:
            return defs.resolve_sensor_def("changed_days").evaluate_tick(context)

        (first,) = tick().run_requests or []
        job = defs.resolve_job_def("refresh_days")
        (configured / "exports").rename(configured / "aside")
        (configured / "exports").write_text("in the way", encoding="utf-8")  # so that the run fails
        tags = dict(first.tags)
        assert not job.execute_in_process(
            instance=instance, partition_key=first.partition_key, tags=tags, raise_on_error=False
        ).success
        assert not tick().run_requests  # not at once
        assert "the next try is 300 seconds after" in str(tick().skip_message)
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + 301)
        (second,) = tick().run_requests or []
        assert second.run_key != first.run_key
        assert second.partition_key == first.partition_key
        monkeypatch.undo()
        monkeypatch.setenv("GRISTMILL_HOME", str(configured))
        (configured / "exports").unlink()
        (configured / "aside").rename(configured / "exports")
        assert job.execute_in_process(
            instance=instance, partition_key=second.partition_key, tags=dict(second.tags)
        ).success
        assert not tick().run_requests


@pytest.mark.slow
def test_jobs(configured: Path) -> None:
    """One day asked for, then a range as the sensor asks for it, then whatever changed; each is one run and reads just that."""
    before = catalog(configured)
    first, *others = days = busy_days(configured, 4)
    for day in days:
        turn_ratings(configured, day)
    with dg.DagsterInstance.ephemeral() as instance:
        by_day = defs.resolve_job_def("refresh_days")
        result = by_day.execute_in_process(instance=instance, partition_key=str(first))
        assert {event.partition for event in result.asset_materializations_for_node(ENTRIES)} == {str(first)}
        held = {*before["tables"][ENTRIES]} - {"event_date=__HIVE_DEFAULT_PARTITION__"}
        known = instance.get_materialized_partitions(dg.AssetKey(ENTRIES))
        assert known == {partition.removeprefix("event_date=") for partition in held}  # told of once it had published
        assert unlike(configured, before) == {str(first)}

        (request,) = requests()
        assert range_tags(others[0], others[-1]).items() <= request.tags.items()
        result = by_day.execute_in_process(instance=instance, tags=dict(request.tags))
        assert {event.partition for event in result.asset_materializations_for_node(ENTRIES)} == {*map(str, others)}
        assert unlike(configured, before) == {str(day) for day in days}
        files = (configured / "lake" / "raw_feedback__entries" / f"event_date={days[2]}").glob("*.parquet")
        assert 1 not in pl.read_parquet(list(files), hive_partitioning=False)["rating"].to_list()
        assert requests() == []

        before = catalog(configured)
        turn_ratings(configured, days[1], back=True)
        result = defs.resolve_job_def("refresh").execute_in_process(instance=instance)
        assert unlike(configured, before) == {str(days[1])}
        assert catalog(configured)["publication"] == before["publication"] + 1
        (published,) = result.asset_materializations_for_node("warehouse")
        assert published.metadata["changed"].value is True
        assert instance.get_runs_count() == 3
    assert requests() == []
