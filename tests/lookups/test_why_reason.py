"""`gristmill why` tells of a candidate the one reason that the release tells (T1)."""

from pathlib import Path

from dagster_project import config as configuration
from dagster_project.engines import reading
from dagster_project.engines.stored_tables import store, store_query
from dagster_project.lake.lake import Lake
from dagster_project.lookups.questions import why
from tests.sql.harness import AS_OF, PARAMS, frame


def test_a_rival_comes_before_a_late_reason(tmp_path: Path) -> None:
    """Outvoted, in conflict: settled before weight. A duplicate is told only of what would have left (F13, T2)."""
    found = {"format": "preference", "source": "feedback_preference", "early_reason": None, "tier": "standard"}
    candidates = [
        {**found, "id": "lost", "late_reason": "low_weight"},
        {**found, "id": "light", "late_reason": "low_weight"},
        {**found, "id": "again"},
        {**found, "id": "flag", "early_reason": "flag"},
        {**found, "id": "leaves"},
    ]
    rivals = [
        {"id": "lost", "reason": "outvoted", "duplicate_of": "leaves"},
        {"id": "again", "reason": "duplicate", "duplicate_of": "leaves"},
    ]
    lake = Lake(tmp_path)
    store(lake, "core__feedback_candidates", [frame("core__feedback_candidates", candidates)])
    store(lake, "core__candidate_rivals", [frame("core__candidate_rivals", rivals)])
    lake.catalog.as_of = AS_OF.isoformat()
    partition = f"release_date={PARAMS['release_date']}"
    store_query(lake, "train__excluded", PARAMS, memory_limit_mb=512, partition=partition)
    excluded = dict(reading.columns(lake, "train__excluded", "id", "reason").iter_rows())
    assert excluded == {"lost": "outvoted", "light": "low_weight", "again": "duplicate", "flag": "flag"}
    lake.commit([])
    config = configuration.load(home=tmp_path, environ={})
    for row in candidates:
        (example,) = why(config, row["id"])["examples"]
        assert example["reason"] == excluded.get(row["id"])
