"""G14: a Dagster run of a part of the graph brings everything along, or fails; it never publishes half, nor reports what it drops."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest

from dagster_project import config
from dagster_project.definitions import defs
from dagster_project.errors import GristmillError
from dagster_project.orchestration import tables as publish
from dagster_project.orchestration.history import history
from dagster_project.orchestration.parts_of_runs import BROUGHT_ALONG_TAG
from dagster_project.orchestration.publication import publish as make_visible
from dagster_project.orchestration.tables import range_tags
from dagster_project.registry import open_run
from dagster_project.run.made import Made
from dagster_project.run.run_log import runs
from tests.conftest import catalog, copy_home, environment, gristmill, made_once, published_content, run
from tests.systems.feedback.feedback_rows import add_feedback

pytestmark = pytest.mark.slow
ENTRIES = "raw_feedback__entries"
FIRST, SECOND, THIRD, NEW = (date(2026, 1, day) for day in (10, 11, 12, 13))


def source(home: Path) -> Path:
    return home / "sources" / "feedback.db"


@pytest.fixture(scope="session")
def few_rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with four rows of feedback on three days, after one run. Not to be changed."""
    with made_once(tmp_path_factory, "few_rows") as (home, is_new):
        if is_new:
            add_feedback(source(home), *({"day": day} for day in (FIRST, FIRST, SECOND, THIRD)))
            run(home)
        return home


@pytest.fixture
def home(few_rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, to which the environment points, as in a deployment."""
    monkeypatch.setenv("GRISTMILL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return copy_home(few_rows, tmp_path / "home")


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as found:
        yield found


def everything() -> dg.JobDefinition:
    return defs.resolve_implicit_global_asset_job_def()


def part(
    instance: dg.DagsterInstance, *assets: str, day: date | None = None, tags: Mapping[str, str] | None = None
) -> dg.ExecuteInProcessResult:
    """What the UI starts when somebody chooses these assets and this day."""
    keys = [dg.AssetKey(asset) for asset in assets]
    return everything().execute_in_process(
        instance=instance,
        asset_selection=keys,
        partition_key=str(day) if day else None,
        tags=tags,
        raise_on_error=False,
    )


def as_by_command(home: Path, elsewhere: Path) -> dict[str, bytes]:
    """What `gristmill run` publishes for the same sources on a home of its own; publications are numbered alike."""
    expected = copy_home(home, elsewhere / "home")
    run(expected)
    return comparable(expected)


def comparable(home: Path) -> dict[str, bytes]:
    """All bytes but for those that name the home's place."""
    return {
        name: data for name, data in published_content(home).items() if not name.endswith((".home", "warehouse.duckdb"))
    }


def stats(home: Path) -> dict[str, Any]:
    return json.loads(gristmill(home, "stats", "--json").stdout)


def days_in_the_lake(home: Path) -> set[str]:
    return {partition.removeprefix("event_date=") for partition in catalog(home)["tables"][ENTRIES]}


def test_one_table_on_a_fresh_home(fresh_home: Path, instance: dg.DagsterInstance, few_rows: Path) -> None:
    result = part(instance, "raw_feedback__responses")
    assert result.success
    assert comparable(fresh_home) == comparable(few_rows)
    outer, whole = sorted(instance.get_runs(), key=lambda found: BROUGHT_ALONG_TAG in found.tags)
    assert (whole.job_name, whole.tags[BROUGHT_ALONG_TAG]) == ("refresh", outer.run_id)
    assert instance.get_materialized_partitions(dg.AssetKey(ENTRIES)) == {str(FIRST), str(SECOND), str(THIRD)}
    (entry,) = runs(fresh_home)
    assert (entry["run"], entry["started_by"], entry["outcome"]) == (outer.run_id, "Dagster", "published")


@pytest.fixture
def fresh_home(home: Path) -> Path:
    for path in home.iterdir():
        if path.name != "sources":
            subprocess.run(["rm", "-r", str(path)], check=True)
    return home


def test_the_last_tables_after_new_rows(home: Path, instance: dg.DagsterInstance, tmp_path: Path) -> None:
    """`--select "metric__feedback_stats,warehouse"`: not the new as_of with the old rows."""
    add_feedback(source(home), *({"day": NEW} for _ in range(7)))
    (tmp_path / "other").mkdir()
    expected = as_by_command(home, tmp_path / "other")
    assert part(instance, "metric__feedback_stats", "warehouse").success
    assert stats(home)["recent_24h"] == 7
    assert comparable(home) == expected


def refresh() -> dg.JobDefinition:
    return defs.resolve_job_def("refresh")


def test_from_the_failure_on(fresh_home: Path, few_rows: Path, tmp_path: Path) -> None:
    """After a failed first run, the failed step and what follows would publish a lake without what came before."""
    broken = fresh_home / "sources" / "distillation.db"
    broken.write_bytes(b"no database at all")
    with history(tmp_path / "dagster") as instance:
        job = dg.reconstructable(refresh)
        first = dg.execute_job(job, instance)
        assert not first.success
        assert "distillation.db" in runs(fresh_home)[-1]["reason"]
        assert not (fresh_home / "lake").exists()
        broken.unlink()
        again = dg.execute_job(
            job, instance, reexecution_options=dg.ReexecutionOptions.from_failure(first.run_id, instance)
        )
        assert again.success
    assert comparable(fresh_home) == comparable(few_rows)
    assert [entry["outcome"] for entry in runs(fresh_home)] == ["failed", "published"]


def test_one_day_of_one_table(fresh_home: Path, instance: dg.DagsterInstance, few_rows: Path) -> None:
    """On a fresh home all days are brought along; later the day itself is read again, and days that are new."""
    assert part(instance, ENTRIES, "core__feedback_keys", day=SECOND).success
    assert comparable(fresh_home) == comparable(few_rows)
    assert instance.get_materialized_partitions(dg.AssetKey(ENTRIES)) == {str(FIRST), str(SECOND), str(THIRD)}
    add_feedback(source(fresh_home), {"day": FIRST, "rating": -1}, {"day": SECOND, "rating": -1}, {"day": NEW})
    assert part(instance, ENTRIES, "core__feedback_keys", day=SECOND).success
    assert days_in_the_lake(fresh_home) == {str(FIRST), str(SECOND), str(THIRD), str(NEW)}
    assert stats(fresh_home)["sentiment"]["negative"] == 1  # the edited FIRST was not asked for
    assert stats(fresh_home)["recent_24h"] == 1
    assert catalog(fresh_home)["as_of"] == "2026-01-14T00:00:00+00:00"


def test_a_range_of_days(home: Path, instance: dg.DagsterInstance) -> None:
    add_feedback(source(home), *({"day": day, "rating": -1} for day in (FIRST, SECOND, THIRD)))
    assert part(instance, ENTRIES, "core__feedback_keys", tags=range_tags(FIRST, SECOND)).success
    assert stats(home)["sentiment"]["negative"] == 2
    assert catalog(home)["publication"] == 2


def test_a_failed_check_fails_the_part_too(
    home: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is published; the reason names the table, the claim and the first rows, for every step of the part."""
    add_feedback(source(home), {"day": NEW})
    before = published_content(home)

    def offending(*_: Any) -> pl.DataFrame:
        return pl.DataFrame({"feedback_id": [f"f{number}" for number in range(9)]})

    monkeypatch.setattr(publish.queries, "fetch", offending)
    result = part(instance, "metric__feedback_stats", "core__safety_queue")
    assert not result.success
    said = [str(event.event_specific_data) for event in result.all_events if event.is_step_failure]
    reason = runs(home)[-1]["reason"]
    assert '9 rows, first {"feedback_id": "f0"}; {"feedback_id": "f1"}; {"feedback_id": "f2"}' in reason
    assert reason.endswith("nothing was published")
    assert len(said) == 2
    assert all(reason.split(" ")[0] in told for told in said)
    assert published_content(home) == before
    assert instance.get_runs_count(dg.RunsFilter(statuses=[dg.DagsterRunStatus.SUCCESS])) == 0


def test_a_run_that_left_a_table_behind_does_not_publish(home: Path) -> None:
    """Whatever made it so: what publishes looks for itself."""
    add_feedback(source(home), {"day": NEW})
    before = published_content(home)
    with open_run(config.load(home=home, environ={})) as mill:
        mill.made = {"core__answers": Made("core__answers")}
        with pytest.raises(GristmillError, match=r"and \d+ more did not take part in this run.*`gristmill run`"):
            make_visible(mill)
    assert published_content(home) == before


def test_two_parts_at_once_by_dagsters_own_command(fresh_home: Path, few_rows: Path) -> None:
    """One waits for the other; both succeed, and together they publish once."""
    command = [
        str(Path(sys.executable).with_name("dagster")),
        "asset",
        "materialize",
        "-m",
        "dagster_project.definitions",
    ]
    processes = [
        subprocess.Popen(
            [*command, "--select", chosen],
            cwd=fresh_home.parent,
            env=environment(GRISTMILL_HOME=str(fresh_home)),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for chosen in ("raw_feedback__responses", "metric__feedback_stats,warehouse")
    ]
    for process in processes:
        assert "RUN_SUCCESS" in process.communicate()[1]
        assert process.returncode == 0
    assert comparable(fresh_home) == comparable(few_rows)
    assert sorted(entry["outcome"] for entry in runs(fresh_home)) == ["nothing_new", "published"]
