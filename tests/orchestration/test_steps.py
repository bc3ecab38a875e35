"""One shape for a step (G3, G14): whether SQL or Python makes a table, stopping, retries, claims and reports are the same."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest

from dagster_project import config
from dagster_project.databases.sqlite_file import SourceLocked
from dagster_project.orchestration import sql_tables, steps, tables
from dagster_project.registry import open_run
from dagster_project.run.made import Claim, Made, Outcome
from dagster_project.run.mill_run import MillRun
from dagster_project.run.stop import STOP
from tests.systems.feedback.feedback_rows import add_feedback

SETTLED, VOICES = "core__settlements", "core__voices"  # one that Python makes, one that SQL makes
BLOCKS = Claim("is_right", "every row is <right>")
TELLS = Claim("is_nice", "every row is nice", blocks=False)


@pytest.fixture
def mill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MillRun]:
    """A run on a small home whose steps are just those a test declares."""
    monkeypatch.setattr(steps, "ALL_STEPS", [])
    monkeypatch.setattr(steps, "TABLES_OF", {})
    monkeypatch.setattr(steps, "LOCKED_WAIT_SECONDS", 0)
    add_feedback(tmp_path / "sources" / "feedback.db", {})
    with open_run(config.load(home=tmp_path, environ={})) as run:
        run.wanted = {SETTLED, VOICES}
        yield run


def declared(kind: str, monkeypatch: pytest.MonkeyPatch, make: Any, claims: list[Claim]) -> dg.AssetsDefinition:
    """A step of either kind that does as `make` does."""
    if kind == "python":
        return tables.python_table(SETTLED, lambda run: make(run, SETTLED), inputs=[], claims=claims)
    monkeypatch.setattr(tables, "make_sql_table", make)
    monkeypatch.setattr(tables, "claims_of", lambda table: {f"{table}__{claim.name}": claim for claim in claims})
    return tables.sql_table(VOICES)


def materialise(step: dg.AssetsDefinition, mill: MillRun) -> dg.ExecuteInProcessResult:
    mill.wanted = {spec.key.to_user_string() for spec in step.specs}
    last = steps.step(
        "warehouse",
        [dg.AssetSpec("warehouse", deps=[*mill.wanted])],
        lambda run: [Made("warehouse")],
    )
    return dg.materialize([step, last], resources={"mill": mill}, raise_on_error=False)


kinds = pytest.mark.parametrize("kind", ["python", "sql"])


@kinds
def test_a_claim_that_fails_keeps_the_run_from_publishing(
    kind: str, mill: MillRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """G3: what publishes does not run; the record names the claim and the first rows that break it."""

    def make(run: MillRun, table: str) -> list[Made]:
        offending = pl.DataFrame({"row": ["a", "b", "c"]})
        return [Made(table, outcomes=(Outcome.of_rows(BLOCKS, offending), Outcome(TELLS, holds=True)))]

    result = materialise(declared(kind, monkeypatch, make, [BLOCKS, TELLS]), mill)
    assert not result.success
    assert "warehouse" not in mill.made
    assert [(claim, check.holds) for (_, claim), check in mill.record.checks.items()] == [
        ("is_right", False),
        ("is_nice", True),
    ]
    (check,) = mill.record.failed_checks
    assert (check.claim, check.blocks, check.offending_rows, check.first[0]) == ("is_right", True, 3, {"row": "a"})
    assert "is_right does not hold (every row is <right>): 3 rows" in (mill.record.failed_check or "")


@kinds
def test_a_claim_that_only_tells_does_not(kind: str, mill: MillRun, monkeypatch: pytest.MonkeyPatch) -> None:
    def make(run: MillRun, table: str) -> list[Made]:
        return [Made(table, told={"why": "so"}, outcomes=(Outcome(TELLS, holds=False, found={"odd": 2}),))]

    result = materialise(declared(kind, monkeypatch, make, [TELLS]), mill)
    assert result.success
    assert "warehouse" in mill.made
    assert [(check.claim, check.blocks, check.found) for check in mill.record.failed_checks] == [
        ("is_nice", False, {"odd": 2})
    ]
    (evaluated,) = result.get_asset_check_evaluations()
    assert (evaluated.passed, evaluated.severity) == (False, dg.AssetCheckSeverity.WARN)
    told = result.get_asset_materialization_events()[0].materialization.metadata
    assert (told["why"].value, told["unchanged"].value) == ("so", False)


@kinds
def test_a_locked_source_is_tried_again(kind: str, mill: MillRun, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[str] = []

    def make(run: MillRun, table: str) -> list[Made]:
        tries.append(table)
        if len(tries) <= steps.LOCKED_RETRIES:
            raise SourceLocked("database is locked")
        return [Made(table)]

    assert materialise(declared(kind, monkeypatch, make, []), mill).success
    assert len(tries) == steps.LOCKED_RETRIES + 1


@kinds
def test_a_source_that_stays_locked_is_the_reason(kind: str, mill: MillRun, monkeypatch: pytest.MonkeyPatch) -> None:
    def make(run: MillRun, table: str) -> list[Made]:
        raise SourceLocked("database is locked")

    assert not materialise(declared(kind, monkeypatch, make, []), mill).success
    assert (mill.record.outcome, mill.record.reason) == ("failed", "database is locked")


@kinds
def test_a_stop_comes_before_the_next_table(kind: str, mill: MillRun, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr(STOP, "received", signal.SIGTERM)
    assert not materialise(declared(kind, monkeypatch, lambda run, table: made.append(table), []), mill).success
    assert (made, mill.record.outcome) == ([], "stopped")


def test_both_kinds_of_makers_give_the_same(mill: MillRun) -> None:
    """A query's claims are declared by its checks, and hold without a look where nothing was made again."""
    table = VOICES
    assert [claim.name for claim in sql_tables.claims_of(table).values()] == ["one_voice_per_person"]
    first, second = (sql_tables.make_sql_table(mill, table)[0] for _ in range(2))
    assert (first.is_current, second.is_current) == (False, True)
    assert [outcome.holds for made in (first, second) for outcome in made.outcomes] == [True, True]
