"""A whole run in this process without Dagster's engine: every step of the graph in its order, checks that block included.

A run through Dagster takes seconds before it makes anything; a history is half a dozen runs. So the steps' own functions are
called with a context that only takes note. `test_direct_run.py` holds that the outcome is that of `gristmill run`, byte for byte.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from typing import Any

import dagster as dg
import pytest

from dagster_project import definitions
from dagster_project.config import Config
from dagster_project.intake.stage import Choice
from dagster_project.orchestration import parts_of_runs, steps
from dagster_project.registry import open_run
from dagster_project.run.mill_run import MillRun


class CheckFailed(Exception):
    """A check that blocks did not pass: nothing may be published."""


class Ended(Exception):
    """The run was ended on purpose before it published."""


@cache
def steps_in_order() -> list[dg.AssetsDefinition]:
    """Every step after all it depends on, as Dagster sees it."""
    graph = definitions.defs.resolve_asset_graph()
    step_of = {key: step for step in parts_of_runs.ALL_STEPS for key in step.keys}
    return list(dict.fromkeys(step_of[key] for key in graph.toposorted_asset_keys if key in step_of))


@cache
def history() -> dg.DagsterInstance:
    """Dagster's history, of which no run asks anything that could be seen in a home."""
    return dg.DagsterInstance.ephemeral()


# How many rows a run holds at once decides nothing it makes: whole days together, or a few rows of a day that is called large.
ROWS_AT_ONCE = {"intake.day_buffer.GROUP_ROWS": 9, "intake.day_buffer.LARGE_DAY_ROWS": 12}
ROWS_AT_ONCE |= {"intake.day_buffer.PIECE_ROWS": 5, "intake.large_days.PIECE_ROWS": 5}


@contextmanager
def small_batches(few_rows_at_once: bool) -> Iterator[None]:
    """A batch of typed rows comes before every read: of small tables that is most of the work. And rules for many rows hold."""
    with pytest.MonkeyPatch.context() as patch:
        for name, rows in ROWS_AT_ONCE.items() if few_rows_at_once else ():
            patch.setattr(f"dagster_project.{name}", rows)
        # of so few rows a run touches most: what is kept by key is made again for the touched ones all the same
        patch.setattr("dagster_project.engines.touched_rows.MOST_TOUCHED", 1)
        for name in ("BATCH_ROWS", "SCAN_BATCH_ROWS"):
            patch.setattr(f"dagster_project.databases.sqlite.{name}", 64)
        patch.setattr(steps, "is_part_of_a_run", lambda context, mill: False)
        yield


def run_directly(
    config: Config, choice: Choice, ends_before: int | None = None, few_rows_at_once: bool = False, **more: Any
) -> MillRun:
    """One run to its end, as `gristmill run` would make it; or to the step with this number, where it is `Ended`."""
    with small_batches(few_rows_at_once), open_run(config, choice, started_by="test", **more) as mill:
        for number, step in enumerate(steps_in_order()):
            if number == ends_before:
                raise Ended
            _take(step, mill)
    return mill


def _take(step: dg.AssetsDefinition, mill: MillRun) -> None:
    context = SimpleNamespace(
        retry_number=0,
        has_partition_key=False,
        has_partition_key_range=False,
        op_def=SimpleNamespace(name=step.op.name),
        instance=history(),
        log_event=lambda event: None,
    )
    function: Any = step.op.compute_fn
    for result in function.decorated_fn(context, mill):
        for check in result.check_results or ():
            if not check.passed and check.severity == dg.AssetCheckSeverity.ERROR:
                raise CheckFailed(f"{check.asset_key} {check.check_name}: {check.metadata}")
