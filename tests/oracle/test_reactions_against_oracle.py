"""Reactions against the oracle on dirty databases: every refusal, every row, every figure and the report compared (R1-R4)."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from dagster_project import config
from dagster_project.engines import queries
from dagster_project.lake.lake import Lake, published
from dagster_project.systems.reactions.lookups import Period, conversations_in_period
from tests.oracle import reactions_cases as cases
from tests.oracle import reactions_oracle as oracle
from tests.oracle.seeds import seeds
from tests.systems.reactions.reaction_database import CHECK, Derived, derive, source

WHERE = {"GRISTMILL_TENANT": "ACME", "GRISTMILL_PROJECT": "Support"}
FIELDS = ("id", "conversation_id", "turn_id", "origin", "reaction", "confidence", "occurred_at", "ttl_days", "rn")
JUDGED = ("user_id", "is_active", "inactive_reason", "is_orphan", "rn", "origin", "reaction", "occurred_at")


def by_number(derived: Derived, table: str) -> dict[int, dict[str, Any]]:
    return {int(row["reaction_id"].split("/")[-1]): row for row in derived.tables[table]}


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(2, 21, 57))
def test_every_answer(seed: int, tmp_path: Path) -> None:
    home = tmp_path / "home"
    cases.write(source(home), seed)
    derived = derive(home, cases.AS_OF, WHERE)
    expected = oracle.judge(source(home), cases.AS_OF, "ACME", "Support")

    assert derived.accounts["raw_reactions__reactions"].read == expected.read
    refused = {row["source_rowid"]: sorted(row["reasons"]) for row in derived.tables["quarantine__rows"]}
    assert {rowid: refused.get(rowid) for rowid in expected.refused} == expected.refused
    raw = by_number(derived, "raw_reactions__reactions")
    kept = {row["id"]: row for row in expected.kept.values()}
    assert {n: {f: row[f] for f in FIELDS} for n, row in raw.items()} == {
        n: {f: row[f] for f in FIELDS} for n, row in kept.items()
    }
    assert {n: row["reaction_text"] for n, row in raw.items()} == {n: row["text"] for n, row in kept.items()}
    judged = {row["id"]: {f: row[f] for f in JUDGED} for row in expected.reactions.values()}
    assert {n: {f: row[f] for f in JUDGED} for n, row in by_number(derived, "core__reactions").items()} == judged
    daily = {row["event_date"]: row for row in derived.tables["metric__reaction_daily"]}
    assert {day: {f: row[f] for f in expected.daily.get(day, row)} for day, row in daily.items()} == expected.daily
    active = [row for row in expected.reactions.values() if row["is_active"]]
    assert len(derived.tables["core__signals"]) == len(active)
    assert queries.fetch(Lake(home), CHECK, {}).is_empty()

    lake = published(config.load(home=home, environ={}).home)
    for first, last in ((date(2026, 1, 20), date(2026, 1, 31)), (date(2025, 12, 1), date(2026, 1, 22))):
        whole = oracle.report(expected.reactions, first, last, "ACME", "Support")
        assert conversations_in_period(lake, Period(first, last), limit=100) == whole
        pages, cursor = [], None
        while not pages or cursor:
            page = conversations_in_period(lake, Period(first, last), limit=2, cursor=cursor)
            pages += page["items"]
            cursor = page["next_cursor"]
        assert pages == whole["items"]


# --- the oracle on rows whose answers can be told by hand ----------------------------------------------------------------


def row(number: int, **values: Any) -> dict[str, Any]:
    plain = {
        "id": number,
        "user_id": "u",
        "conversation_id": "c",
        "turn_id": "t",
        "origin": "user",
        "reaction": "ok",
        "confidence": 1.0,
        "text": "x",
        "occurred_at": datetime(2026, 1, 20, tzinfo=UTC),
        "ttl_days": None,
        "rn": None,
    }
    return plain | values


def test_the_oracle_itself() -> None:
    rows = [
        row(1),
        row(2, reaction=None),
        row(3, user_id="v"),
        row(4, origin="machine", confidence=0.7),
        row(5, origin="machine", confidence=0.9),
        row(6, origin="machine", confidence=0.6),
        row(7, origin=None, ttl_days=1),
    ]
    judged = oracle.counted({r["id"]: r for r in rows}, {("c", "t")}, cases.AS_OF)
    why = [r["inactive_reason"] for r in judged.values()]
    assert why == ["superseded", "cleared", None, None, "copy", "low_confidence", "expired"]
    figures = oracle.figures([r for r in judged.values() if r["inactive_reason"] in (None, "expired")])
    assert (figures["reaction_count"], figures["user_count"], figures["machine_count"], figures["unknown_count"]) == (
        3,
        1,
        1,
        1,
    )
