"""Which reactions count, and what they add up to: a few rows for every sentence of R1-R4 and of N."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sql.harness import AS_OF, run_one_after_another, run_sql, without_intervals

RAW, LOGS, CORE = "raw_reactions__reactions", "raw_reactions__turn_logs", "core__reactions"
Row = dict[str, Any]


def raw(number: int, **values: Any) -> Row:
    """A user's ok two days before as_of; a machine's is sure and says something, unless told otherwise."""
    plain: Row = {
        "reaction_id": f"{number:03}",
        "id": number,
        "conversation_id": "c",
        "turn_id": "t",
        "user_id": "u",
        "origin": "user",
        "reaction": "ok",
        "confidence": 1.0,
        "reaction_text": "fine",
        "has_text": True,
        "occurred_at": AS_OF - timedelta(days=2),
    }
    return plain | values


def machine(number: int, **values: Any) -> Row:
    return raw(number, **{"origin": "machine", "confidence": 0.9, **values})


def judged(folder: Path, rows: list[Row], logs: list[Row] | None = None) -> dict[int, Row]:
    found = run_sql(folder, CORE, {RAW: rows, LOGS: logs or []})
    return {int(row["reaction_id"]): row for row in found.rows(named=True)}


def why(folder: Path, *rows: Row) -> list[str | None]:
    """Why each of the rows does not count, in the order of ids."""
    found = judged(folder, list(rows))
    assert all(row["is_active"] == (row["inactive_reason"] is None) for row in found.values())
    return [found[row["id"]]["inactive_reason"] for row in sorted(rows, key=lambda row: row["id"])]


# --- R1: users -----------------------------------------------------------------------------------------------------------


def test_a_users_latest_row_by_id_is_active(tmp_path: Path) -> None:
    assert why(tmp_path, raw(1), raw(3), raw(2)) == ["superseded", "superseded", None]


def test_arrival_decides_and_ts_only_dates(tmp_path: Path) -> None:
    rows = [raw(1, occurred_at=AS_OF - timedelta(days=1)), raw(2, occurred_at=AS_OF - timedelta(days=9))]
    assert why(tmp_path, *rows) == ["superseded", None]


def test_ids_are_numbers(tmp_path: Path) -> None:
    """10 came after 9, whatever their texts say."""
    assert why(tmp_path, raw(9, reaction_id="9"), raw(10, reaction_id="10")) == ["superseded", None]


@pytest.mark.parametrize("other", ["user_id", "conversation_id", "turn_id", "tenant", "project"])
def test_one_voice_is_a_user_on_a_turn_of_a_conversation(tmp_path: Path, other: str) -> None:
    assert why(tmp_path, raw(1), raw(2, **{other: "other"})) == [None, None]


@pytest.mark.parametrize("unknown", [None, "", "default"])
def test_unknown_users_are_one(tmp_path: Path, unknown: str | None) -> None:
    found = judged(tmp_path, [raw(1, user_id=unknown), raw(2, user_id=None)])
    assert [row["user_id"] for row in found.values()] == [None, None]
    assert [row["inactive_reason"] for row in found.values()] == ["superseded", None]


def test_a_users_null_clears(tmp_path: Path) -> None:
    assert why(tmp_path, raw(1), raw(2, reaction=None)) == ["superseded", "cleared"]


def test_a_user_may_react_again_after_clearing(tmp_path: Path) -> None:
    assert why(tmp_path, raw(1), raw(2, reaction=None), raw(3, reaction="not_ok")) == ["superseded", "superseded", None]


def test_a_user_needs_neither_text_nor_confidence(tmp_path: Path) -> None:
    assert why(tmp_path, raw(1, reaction_text=None, has_text=False, confidence=0.1)) == [None]


def test_a_machine_never_supersedes_a_user_nor_a_user_a_machine(tmp_path: Path) -> None:
    assert why(tmp_path, machine(1), raw(2), machine(3, reaction="not_ok")) == [None, None, None]


# --- R1: machines --------------------------------------------------------------------------------------------------------


def test_machine_rows_are_additive(tmp_path: Path) -> None:
    assert why(tmp_path, machine(1), machine(2, reaction="not_ok"), machine(3, reaction=None)) == [None, None, None]


@pytest.mark.parametrize(
    ("confidence", "reason"), [(0.7, None), (0.699999, "low_confidence"), (None, "low_confidence")]
)
def test_the_gate_is_at_070(tmp_path: Path, confidence: float | None, reason: str | None) -> None:
    assert why(tmp_path, machine(1, confidence=confidence)) == [reason]


def test_a_machine_must_say_something(tmp_path: Path) -> None:
    assert why(tmp_path, machine(1, has_text=False), machine(2, has_text=False, confidence=0.1)) == [
        "no_text",
        "low_confidence",
    ]


def test_exact_copies_count_once_the_first_by_id(tmp_path: Path) -> None:
    assert why(tmp_path, machine(2), machine(1, user_id="other"), machine(3)) == [None, "copy", "copy"]


@pytest.mark.parametrize(
    "other",
    [
        {"conversation_id": "d"},
        {"turn_id": "s"},
        {"reaction_text": "fine "},
        {"reaction": None},
        {"occurred_at": AS_OF - timedelta(days=2, microseconds=1)},
        {"tenant": "x"},
    ],
    ids=str,
)
def test_what_differs_is_no_copy(tmp_path: Path, other: Row) -> None:
    assert why(tmp_path, machine(1), machine(2, **other)) == [None, None]


def test_what_the_gate_refuses_copies_nothing(tmp_path: Path) -> None:
    """The first by id among those that pass it."""
    assert why(tmp_path, machine(1, confidence=0.5), machine(2), machine(3, confidence=0.8)) == [
        "low_confidence",
        None,
        "copy",
    ]


# --- R1: expiry ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ttl", "reason"), [(None, None), (2, None), (1, "expired"), (0, "expired"), (-1, "expired"), (10**15, None)]
)
def test_expiry(tmp_path: Path, ttl: int | None, reason: str | None) -> None:
    """ts + ttl_days < as_of: on the very instant it still counts."""
    assert why(tmp_path, raw(1, ttl_days=ttl)) == [reason]


def test_expiry_is_judged_last_and_revives_nothing(tmp_path: Path) -> None:
    assert why(tmp_path, raw(1), raw(2, ttl_days=1)) == ["superseded", "expired"]
    assert why(tmp_path / "clear", raw(1), raw(2, reaction=None, ttl_days=1)) == ["superseded", "cleared"]
    assert why(tmp_path / "copy", machine(1, ttl_days=1), machine(2)) == ["expired", "copy"]
    assert why(tmp_path / "gate", machine(1, ttl_days=1, confidence=0.1)) == ["low_confidence"]


def test_an_unknown_origin_is_additive_and_has_no_gate(tmp_path: Path) -> None:
    rows = [
        raw(1, origin=None, confidence=None, has_text=False),
        raw(2, origin=None),
        raw(3, origin=None, reaction=None),
    ]
    assert why(tmp_path, *rows, raw(4, origin=None, ttl_days=0)) == [None, None, None, "expired"]


# --- G2, R4 --------------------------------------------------------------------------------------------------------------


def test_only_rows_before_as_of(tmp_path: Path) -> None:
    """A future-dated row does not exist yet, so it supersedes nothing."""
    rows = [raw(1), raw(2, occurred_at=AS_OF), raw(3, occurred_at=datetime(2090, 1, 1, tzinfo=UTC))]
    assert {number: row["is_active"] for number, row in judged(tmp_path, rows).items()} == {1: True}


def test_orphans_are_marked_and_count(tmp_path: Path) -> None:
    logs = [
        {"turn_log_id": "1", "conversation_id": "c", "turn_id": "t"},
        {"turn_log_id": "2", "conversation_id": "c", "turn_id": "t"},
    ]
    rows = [raw(1), raw(2, turn_id="s"), raw(3, conversation_id="d"), raw(4, tenant="x")]
    found = judged(tmp_path, rows, logs)
    assert [row["is_orphan"] for row in found.values()] == [False, True, True, True]
    assert all(row["is_active"] for row in found.values())


def test_a_turn_log_of_the_same_tenant(tmp_path: Path) -> None:
    logs = [{"turn_log_id": "1", "conversation_id": "c", "turn_id": "t", "tenant": "x", "project": "p"}]
    found = judged(tmp_path, [raw(1, tenant="x", project="p"), raw(2, tenant="x", project="q")], logs)
    assert [row["is_orphan"] for row in found.values()] == [False, True]


@pytest.mark.slow
@given(st.permutations([raw(1), raw(2, reaction=None), raw(3), machine(4), machine(5), machine(6, confidence=0.1)]))
def test_the_order_of_rows_does_not_matter(tmp_path_factory: pytest.TempPathFactory, rows: list[Row]) -> None:
    assert why(tmp_path_factory.mktemp("order"), *rows) == [
        "superseded",
        "superseded",
        None,
        None,
        "copy",
        "low_confidence",
    ]


# --- R2, R3: the daily metric --------------------------------------------------------------------------------------------


def core(number: int, **values: Any) -> Row:
    plain: Row = {
        "reaction_id": str(number),
        "origin": "user",
        "reaction": "ok",
        "confidence": 1.0,
        "is_active": True,
        "is_orphan": False,
        "event_date": date(2026, 1, 30),
        "occurred_at": AS_OF - timedelta(days=1),
        "conversation_id": "c",
        "turn_id": "t",
        "user_id": "u",
    }
    row = plain | values
    return row | {"is_active": row.get("inactive_reason") is None}


def test_a_day(tmp_path: Path) -> None:
    rows = [
        core(1),
        core(2, reaction="not_ok"),
        core(3, reaction="neutral"),
        core(4, inactive_reason="expired", is_orphan=True),
        core(5, origin="machine"),
        core(6, origin="machine", reaction=None),
        core(7, origin=None, reaction=None),
        core(8, inactive_reason="superseded"),
        core(9, inactive_reason="cleared", reaction=None),
        core(10, origin="machine", inactive_reason="low_confidence"),
        core(11, origin="machine", inactive_reason="copy"),
    ]
    (day,) = run_sql(tmp_path, "metric__reaction_daily", {CORE: rows}).rows(named=True)
    told = without_intervals(day)
    assert {name: value for name, value in told.items() if not name.startswith(("machine_", "unknown_"))} == {
        "event_date": date(2026, 1, 30),
        "reaction_count": 7,
        "ok_count": 3,
        "not_ok_count": 1,
        "neutral_count": 3,
        "user_count": 4,
        "user_ok_count": 2,
        "user_not_ok_count": 1,
        "user_neutral_count": 1,
        "satisfaction_rate": 0.428571,
        "user_satisfaction_rate": 0.5,
        "decided_count": 4,
        "user_decided_count": 3,
        "ok_rate": 0.75,
        "user_ok_rate": 0.666667,
        "orphan_count": 1,
        "expired_count": 1,
    }
    assert (day["machine_count"], day["machine_ok_count"], day["machine_neutral_count"]) == (2, 1, 1)
    assert (day["machine_satisfaction_rate"], day["machine_ok_rate"]) == (0.5, 1.0)
    assert (day["unknown_count"], day["unknown_satisfaction_rate"], day["unknown_ok_rate"]) == (1, 0.0, None)


def test_rates_are_null_without_any(tmp_path: Path) -> None:
    (day,) = run_sql(tmp_path, "metric__reaction_daily", {CORE: [core(1, reaction="neutral")]}).rows(named=True)
    assert (day["satisfaction_rate"], day["ok_rate"]) == (0.0, None)
    assert (day["machine_satisfaction_rate"], day["machine_ok_rate"]) == (None, None)


def test_the_check_finds_what_does_not_add_up(tmp_path: Path) -> None:
    rows = [core(1), core(2, reaction="not_ok")]
    (day,) = run_sql(tmp_path / "made", "metric__reaction_daily", {CORE: rows}).rows(named=True)
    claim = "metric__reaction_daily__adds_up"
    assert run_sql(tmp_path / "good", claim, {CORE: rows, "metric__reaction_daily": [day]}).is_empty()
    for n, wrong in enumerate(({"ok_count": 2}, {"user_count": 1}, {"reaction_count": 3}, {"machine_count": 1})):
        found = run_sql(tmp_path / str(n), claim, {CORE: rows, "metric__reaction_daily": [day | wrong]})
        assert found["event_date"].to_list() == [date(2026, 1, 30)]
    assert run_sql(tmp_path / "gone", claim, {CORE: rows}).height == 1


# --- N, and the detector's calibration -----------------------------------------------------------------------------------


def test_signals(tmp_path: Path) -> None:
    rows = [
        core(1),
        core(2, reaction="not_ok"),
        core(3, reaction="neutral"),
        core(4, origin="machine", confidence=0.8),
        core(5, origin="machine", reaction=None, confidence=0.7),
        core(6, origin=None, confidence=None),
        core(7, inactive_reason="expired"),
    ]
    found = run_sql(tmp_path, "core__signals", {CORE: rows})
    assert found.select("signal_id", "kind", "polarity", "is_explicit", "confidence", "weight").rows() == [
        ("reactions:1", "ok", "positive", True, 1.0, 1.0),
        ("reactions:2", "not_ok", "negative", True, 1.0, 1.0),
        ("reactions:3", "neutral", "neutral", True, 1.0, 1.0),
        ("reactions:4", "ok", "positive", False, 0.8, 0.8),
        ("reactions:5", "neutral", "neutral", False, 0.7, 0.7),
        ("reactions:6", "ok", "positive", True, 1.0, 1.0),
    ]
    assert found.select("system", "subject_id", "session_id", "user_id").unique().rows() == [
        ("reactions", "t", "c", "u")
    ]


def test_calibration_beside_reactions(tmp_path: Path) -> None:
    turn = {"turn_id": "t", "session_id": "c", "feedback_confidence": 0.9, "correction_type": None}
    turns = [
        {**turn, "turn_key": "u/1", "user_id": "u", "feedback_status": "accepted"},
        {**turn, "turn_key": "v/1", "user_id": "v", "feedback_status": "rejected"},
        {**turn, "turn_key": "u/2", "user_id": "u", "turn_id": "s", "feedback_status": "neutral"},
    ]
    rows = [
        core(1),
        core(2, user_id="v"),
        core(3, turn_id="s"),
        core(4, conversation_id="d"),
        core(5, origin="machine"),
        core(6, reaction="neutral"),
        core(7, inactive_reason="expired"),
    ]
    names = ("core__turn_pairs", "core__turns")
    told = [turn | {"detected_at": AS_OF} for turn in turns]
    known = [{name: value for name, value in turn.items() if name != "correction_type"} for turn in turns]
    inputs = dict(zip(names, (known, told), strict=True)) | {CORE: rows}
    steps = ("core__answer_refs", "core__signals", "core__judged_turns", "metric__detector_calibration")
    found = pl.DataFrame(run_one_after_another(tmp_path, steps, inputs)[steps[-1]])
    assert found.select("compared_with", "confidence_decile", "judged_count", "right_count").rows() == [
        ("reactions", 9, 2, 1)
    ]
    assert found.schema["right_share"] == pl.Float64
