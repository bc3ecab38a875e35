"""The pipeline against the oracle: random databases of turns, every answer compared (semantics G, C and N)."""

import os
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import run
from tests.oracle import conversations_oracle as oracle
from tests.oracle.conversations_database import Conversations
from tests.oracle.seeds import seeds
from tests.tables import rows

ROUNDING = 1.000001e-6  # two right ways to round may differ in the last of six decimals
TURN = {
    # ours -> the oracle's name
    "user_id": "user",
    "session_id": "session",
    "turn_number": "turn_number",
    "occurred_at": "at",
    "reason": "reason",
    "feedback_status": "feedback_status",
    "feedback_confidence": "feedback_confidence_",
    "nominal_confidence": "nominal_confidence",
    "confidence_low": "confidence_low",
    "correction_type": "correction_type",
    "user_said": "user_said",
    "planner_note": "planner_note",
    "similarity": "similarity",
    "source_status": "source_status",
    "is_disputed": "is_disputed",
    "satisfaction_score": "satisfaction_score",
    "ranking_score": "ranking_score",
    "is_reusable": "is_reusable",
    "consecutive_rejections": "consecutive_rejections",
    "query_source": "query_source",
    "response_source": "response_source",
}


def differences(found: dict[str, dict[str, Any]], expected: dict[str, dict[str, Any]]) -> list[str]:
    """Where two tables differ, in words."""
    told = [f"only ours: {key}" for key in sorted(found.keys() - expected.keys())]
    told += [f"only the oracle's: {key}" for key in sorted(expected.keys() - found.keys())]
    for key in sorted(found.keys() & expected.keys()):
        for name, value in expected[key].items():
            ours = found[key][name]
            is_number = isinstance(value, Fraction | float) and isinstance(ours, float)
            if not (abs(ours - value) <= ROUNDING if is_number else ours == value):
                told.append(f"{key} {name}: {ours!r}, the oracle says {value!r}")
    return told


def compare(home: Path, files: list[Path], as_of: datetime | None) -> oracle.Verdict:
    expected = oracle.judge(files, as_of)
    turns = {row["turn_key"]: row for row in rows(home, "core__turns")}
    wanted = {key: {ours: row[theirs] for ours, theirs in TURN.items()} for key, row in expected.turns.items()}
    for key, row in expected.turns.items():
        after = row["after"]
        wanted[key] |= {
            "detected_at": after and after["at"],
            "detected_in_turn": after and f"turn_{after['turn_number']:06}",
        }
    told = differences(turns, wanted)
    daily = {str(row["event_date"]): row for row in rows(home, "metric__turn_daily")}
    told += differences(daily, expected.daily)
    signals = {row["signal_id"]: row for row in rows(home, "core__signals")}
    told += differences(signals, expected.signals)
    machine = {
        row["message_turn_key"]: {"target": (row["target_turn_key"], row["kind"])}
        for row in rows(home, "core__machine_signals")
        if row["message_turn_key"] not in expected.pointing
    }
    told += differences(machine, {key: {"target": pair} for key, pair in expected.machine.items()})
    refused = [row for row in rows(home, "quarantine__rows") if row["system"] == "conversations"]
    if len(refused) != expected.refused:
        told.append(f"{len(refused)} rows refused, the oracle refuses {expected.refused}")
    assert not told, "\n".join(told)
    return expected


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(0, 1, 2))
def test_random_conversations(seed: int, tmp_path: Path) -> None:
    """Every turn, day and signal of a database made by rule."""
    made = Conversations(seed)
    files = made.write(tmp_path / "files")
    home = tmp_path / "home"
    home.mkdir()
    chosen = ["--as-of", made.as_of.isoformat()] if made.as_of else []
    run(home, *chosen, env={"GRISTMILL_CONVERSATIONS": os.pathsep.join(map(str, files))})
    compare(home, files, made.as_of)


def test_the_oracle_on_a_case_by_hand(tmp_path: Path) -> None:
    """What it must say of seed 1's own example: the oracle is tested too."""
    from tests.systems.conversations.turn_database import RIGHT, at, write  # noqa: PLC0415

    path = write(
        tmp_path / "turns.db",
        [
            {"query": "laptops under $1000", "validation_outcome": "APPROVE", "quality_score": 0.85, "timestamp": at()},
            {"query": "That's wrong", "validation_outcome": "REVISE", "timestamp": at(minutes=30)},
            {"query": RIGHT, "timestamp": at(minutes=61)},
        ],
    )
    found = oracle.judge([path])
    told = [(row["feedback_status"], row["reason"], row["satisfaction_score"]) for row in found.turns.values()]
    assert told[0][0] == "rejected" and told[0][2] == -1
    assert told[1:] == [("neutral", "session_end", Fraction(3, 10)), ("neutral", "session_end", None)]
    assert found.turns["ann/1"]["ranking_score"] == pytest.approx(0.11)
    assert found.daily[str(date(2026, 1, 20))]["mean_satisfaction"] == Fraction(-7, 20)
    assert found.machine == {"ann/2": ("ann/1", "rejected")}
