"""The demo source of AI sessions: the same seed the same rows, everything in it that the pipeline has to cope with."""

from pathlib import Path

import pytest

from dagster_project.demo.sessions.sources import FEEDBACK_HAZARDS, SESSION_HAZARDS, write_sessions
from tests.conftest import ask
from tests.systems.sessions.session_database import mill, reasons, rows, source

SESSIONS = 3_000


def test_the_same_seed_gives_the_same_rows(tmp_path: Path) -> None:
    databases = []
    for name, seed in (("one", 1), ("same", 1), ("other", 2)):
        write_sessions(tmp_path / name, 400, seed)
        databases.append((tmp_path / name / "sessions.db").read_bytes())
    assert databases[0] == databases[1] != databases[2]


@pytest.mark.slow
def test_a_run_on_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    planted = write_sessions(home / "sources", SESSIONS, 1)
    told = {"rows", "feedback", "late_feedback"}
    assert set(planted) - told == {*SESSION_HAZARDS, *FEEDBACK_HAZARDS, "orphan", "other_tenant"}
    assert ask(source(home), "select count(*) from ai_sessions") == [(SESSIONS,)]
    mill(home, None)
    kinds = {reason.split(":")[0] for why in reasons(home).values() for reason in why}
    assert kinds == {"missing", "out_of_range", "wrong_type", "bad_json", "unknown", "orphan", "mismatch"}
    (facts,) = rows(
        home,
        """select count(distinct tenant_id) >= 7, count(distinct workspace_id) >= 10, count(slice_id) < count(*),
            count(*) filter (where submitted_at > started_at + interval 30 day) > 5, count(edit_distance_pct) > 500
        from core__sessions""",
    )
    assert all(facts)
    (frozen,) = rows(home, "select count(*) filter (where is_frozen), count(*) from feedback_metrics_daily")
    assert 0 < frozen[0] < frozen[1]
    assert rows(home, "select count(*) > 0 from metric__session_baseline where has_baseline") == [(True,)]
    assert rows(home, "select count(*) > 50 from metric__context_effectiveness where effectiveness is not null") == [
        (True,)
    ]
