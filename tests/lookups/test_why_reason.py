"""`gristmill why` tells of a candidate the one reason that the release tells (T1)."""

from pathlib import Path

from dagster_project import config as configuration
from dagster_project.engines import reading
from dagster_project.engines.stored_tables import store, store_query
from dagster_project.lake.lake import Lake
from dagster_project.lookups import why_text
from dagster_project.lookups.questions import why
from tests.sql.harness import AS_OF, PARAMS, frame

# What a reason names beside itself.
NAMED = {
    "lost": "outvoted of leaves",
    "known": "contaminated: exam:7",
    "picked": "recipe: min_chars",
    "again": "duplicate of leaves",
    "near": "near_duplicate of leaves",
}


def test_a_rival_comes_before_a_late_reason(tmp_path: Path) -> None:
    """Outvoted, in conflict: settled before what speaks against the record itself, and that before what a release settles."""
    found = {"format": "preference", "source": "feedback_preference", "early_reason": None, "tier": "standard"}
    candidates = [
        {**found, "id": "lost", "late_reason": "tie"},
        {**found, "id": "tied", "late_reason": "tie"},
        *({**found, "id": name} for name in ("light", "known", "picked", "again", "near", "told")),
        {**found, "id": "flag", "early_reason": "flag"},
        {**found, "id": "leaves"},
    ]
    rivals = [
        {"id": "lost", "reason": "outvoted", "duplicate_of": "leaves"},
    ]
    contenders = [
        {"id": "light", "reason": "low_weight"},
        {"id": "known", "reason": "contaminated", "detail": "exam:7"},
        *({"id": name, "split": "test"} for name in ("picked", "again", "near", "told", "leaves")),
    ]
    settled = {
        "core__recipe_exclusions": [{"id": "picked", "detail": "min_chars"}],
        "core__duplicates": [{"id": "again", "duplicate_of": "leaves"}],
        "core__near_duplicates": [{"id": "near", "duplicate_of": "leaves"}],
        "core__leaks": [{"id": "told"}],
        "core__contenders": [{"format": "preference", **row} for row in contenders],
    }
    lake = Lake(tmp_path)
    store(lake, "core__feedback_candidates", [frame("core__feedback_candidates", candidates)])
    store(lake, "core__candidate_rivals", [frame("core__candidate_rivals", rivals)])
    for name, rows in settled.items():
        store(lake, name, [frame(name, rows)])
    lake.catalog.as_of = AS_OF.isoformat()
    partition = f"release_date={PARAMS['release_date']}"
    store_query(lake, "train__excluded", PARAMS, memory_limit_mb=512, partition=partition)
    excluded = dict(reading.columns(lake, "train__excluded", "id", "reason").iter_rows())
    assert excluded == {
        "lost": "outvoted",
        "tied": "tie",
        "flag": "flag",
        "light": "low_weight",
        "known": "contaminated",
        "picked": "recipe",
        "again": "duplicate",
        "near": "near_duplicate",
        "told": "leak",
    }
    lake.commit([])
    config = configuration.load(home=tmp_path, environ={})
    for row in candidates:
        (example,) = why(config, row["id"])["examples"]
        assert example["reason"] == excluded.get(row["id"])
        said = why_text.tell(why(config, row["id"]))
        assert NAMED.get(row["id"], "") in said
