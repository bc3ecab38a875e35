"""AI sessions through whole runs: what is refused, what is restated and why, what freezes, what the archive keeps (S1-S4, S7)."""

import json
import shutil
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from dagster_project.lake.lake import Lake
from tests.accounts import went
from tests.conftest import change, complaint, content, gristmill, published_content
from tests.systems.sessions.session_database import AS_OF, add, at, feedback, mill, reasons, rows, session, write

SESSIONS = ("raw_sessions__sessions", "raw_sessions__feedback")

pytestmark = pytest.mark.slow
DAY = date(2026, 1, 20)
OLD = -80  # days after START: 92 days before as_of
DAILY = (
    "select date, total_sessions, positive_ratings, negative_ratings, no_feedback_count, is_frozen "
    "from feedback_metrics_daily order by all"
)
LOG = 'select date, "column", old_value, new_value, why from restatements order by entry'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


# --- what comes in -----------------------------------------------------------------------------------------------


def test_what_is_refused(home: Path) -> None:
    path = write(
        home,
        {
            "ai_sessions": [
                session("s1"),
                session("no tenant", tenant_id=None),
                session("no user", user_id=""),
                session("no time", started_at=None),
                session("odd time", started_at="noon"),
                session("too old", started_at="1999-12-31T23:59:59"),
                session("no array", context_document_ids="{a}"),
                session("an object", context_document_ids='{"a": 1}'),
                session("tokens", context_token_count="many"),
                session("nothing", context_document_ids=""),
            ],
            "session_feedback": [
                feedback("f1", "s1", rating=" Positive\t", review_verdict="APPROVED"),
                feedback("unknown", "s1", rating="good"),
                feedback("none", "s1", rating=None),
                feedback("verdict", "s1", review_verdict="fine"),
                feedback("lost", "nowhere"),
                feedback("theirs", "s1", tenant_id="t2"),
                feedback("on a refused one", "no user"),
                feedback("theirs on a refused one", "no user", tenant_id="t2"),
                feedback("categories", "s1", error_categories="hallucination"),
                feedback("never", "s1", submitted_at=None),
            ],
        },
    )
    mill(home)
    assert reasons(home) == {
        "no tenant": ["missing:tenant_id"],
        "no user": ["missing:user_id"],
        "no time": ["missing:started_at"],
        "odd time": ["wrong_type:started_at"],
        "too old": ["out_of_range:started_at"],
        "no array": ["bad_json:context_document_ids"],
        "an object": ["bad_json:context_document_ids"],
        "tokens": ["wrong_type:context_token_count"],
        "unknown": ["unknown:rating"],
        "none": ["missing:rating"],
        "verdict": ["unknown:review_verdict"],
        "lost": ["orphan:session_id"],
        "theirs": ["mismatch:tenant_id"],
        "theirs on a refused one": ["mismatch:tenant_id"],
        "categories": ["bad_json:error_categories"],
        "never": ["missing:submitted_at"],
    }
    assert went(home, *SESSIONS) == (20, 4, 16, 0, 0)
    assert rows(home, "select session_id, rating, verdict from core__sessions order by 1") == [
        ("nothing", None, None),
        ("s1", "positive", "approved"),
    ]
    # mended at the source, they leave quarantine
    change(path, "update ai_sessions set user_id = 'u9', tenant_id = 't2' where id = 'no user'")
    mill(home)
    assert reasons(home)["on a refused one"] == ["mismatch:tenant_id"]
    assert not {"no user", "theirs on a refused one"} & set(reasons(home))


def test_either_spelling_of_columns(home: Path) -> None:
    path = write(
        home,
        {
            "ai_sessions": [session("s1", context_document_ids=["d2", "d1", "d2"])],
            "session_feedback": [feedback("f1", "s1", submitted_by="r1")],
        },
    )
    change(
        path,
        "alter table ai_sessions rename column context_document_ids to context_node_ids",
        "alter table session_feedback rename column submitted_by to submitted_by_id",
    )
    mill(home)
    assert rows(home, "select document_ids, submitted_by from core__sessions") == [(["d1", "d2"], "r1")]
    assert rows(home, "select context_document_ids from raw_sessions__sessions") == [(["d2", "d1", "d2"],)]


@pytest.mark.parametrize("table", ["ai_sessions", "session_feedback"])
def test_a_missing_table_is_one_line(home: Path, table: str) -> None:
    write(home, {}, without=[table])
    assert f"has no table '{table}'" in complaint(gristmill(home, "run"))


def test_optional_tables_may_be_missing(home: Path) -> None:
    tables = {"ai_sessions": [session("s1")], "session_feedback": [feedback("f1", "s1")]}
    write(home, tables, without=["context_nodes", "session_outputs"])
    mill(home)
    assert rows(home, DAILY) == [(DAY, 1, 1, 0, 0, False)]


def test_feedback_before_its_session(home: Path) -> None:
    """An orphan belongs to its session once that arrives, and is one again when it vanishes."""
    path = write(home, {"session_feedback": [feedback("f1", "s1", days=-5)]})
    mill(home)
    assert reasons(home) == {"f1": ["orphan:session_id"]}
    add(path, "ai_sessions", session("s1", days=-6))
    mill(home)
    assert reasons(home) == {}
    assert rows(home, "select rating from core__sessions") == [("positive",)]
    change(path, "delete from ai_sessions")
    mill(home)
    assert reasons(home) == {"f1": ["orphan:session_id"]}
    assert rows(home, "select count(*) from core__sessions") == [(0,)]


def test_edit_distances(home: Path) -> None:
    """S4: the stored one, else computed; one out of range is nothing, and the average takes sessions with feedback only."""
    texts = [{"session_id": f"s{n}", "original": "hello world", "revised": "hello brave world"} for n in range(1, 5)]
    path = write(
        home,
        {
            "ai_sessions": [session(f"s{n}") for n in range(1, 6)],
            "session_feedback": [
                feedback("f1", "s1", edit_distance=10),
                feedback("f2", "s2"),
                feedback("f3", "s3", edit_distance=101),
                feedback("f5", "s5"),
            ],
            "session_outputs": texts,
        },
    )
    mill(home)
    found = "select session_id, edit_distance_pct from core__sessions order by 1"
    assert rows(home, found) == [("s1", 10), ("s2", 35), ("s3", None), ("s4", 35), ("s5", None)]
    assert rows(home, "select session_id, edit_distance_mark from core__sessions where edit_distance_mark <> ''") == [
        ("s3", "out_of_range")
    ]
    assert rows(home, "select average_edit_distance from feedback_metrics_daily") == [(22.5,)]
    assert rows(home, "select id, repairs from raw_sessions__feedback where len(repairs) > 0") == [
        ("f3", ["edit_distance:out_of_range"])
    ]
    change(path, "update session_outputs set revised = original || '!' where session_id = 's2'")
    mill(home)
    assert rows(home, found)[1] == ("s2", 8)
    assert {why for *_, why in rows(home, LOG)} == {"changed_session"}


def test_outputs_too_long_to_compare(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S4's cap: null, marked where a user sees it, left out of means; a stored distance is no output's business."""
    monkeypatch.setattr("dagster_project.columns.edit_distance.LONGEST_PRODUCT", 120)
    path = write(
        home,
        {
            "ai_sessions": [session(f"s{n}") for n in range(1, 4)],
            "session_feedback": [feedback("f1", "s1"), feedback("f2", "s2"), feedback("f3", "s3", edit_distance=10)],
            "session_outputs": [
                {"session_id": "s1", "original": "hello world", "revised": "hello brave world"},
                {"session_id": "s2", "original": "hello", "revised": "hello!"},
                {"session_id": "s3", "original": "hello world", "revised": "hello brave world"},
            ],
        },
    )
    mill(home)
    found = "select session_id, edit_distance_pct, edit_distance_mark from core__sessions order by 1"
    marked = (
        "select session_id from raw_sessions__outputs where list_contains(repairs, 'output_edit_distance_pct:too_long')"
    )
    assert rows(home, found) == [("s1", None, "too_long"), ("s2", 17, None), ("s3", 10, None)]
    assert rows(home, f"{marked} order by 1") == [("s1",), ("s3",)]
    assert rows(home, "select average_edit_distance from feedback_metrics_daily") == [(13.5,)]
    change(path, "update session_outputs set revised = 'hello brave' where session_id in ('s1', 's3')")
    monkeypatch.setattr("dagster_project.columns.edit_distance.LONGEST_PRODUCT", 121)
    mill(home)
    assert rows(home, found)[0] == ("s1", 53, None)
    assert rows(home, marked) == []


# --- restatements ------------------------------------------------------------------------------------------------


def test_late_feedback_restates_its_day(home: Path) -> None:
    path = write(home, {"ai_sessions": [session("s1"), session("s2")], "session_feedback": [feedback("f1", "s1")]})
    mill(home, datetime(2026, 1, 22, tzinfo=UTC))
    assert rows(home, DAILY) == [(DAY, 2, 1, 0, 1, False)]
    assert rows(home, LOG) == []
    add(path, "session_feedback", feedback("f2", "s2", days=5, rating="negative", error_categories=["hallucination"]))
    mill(home)
    assert rows(home, DAILY) == [(DAY, 2, 1, 1, 0, False)]
    late = [
        (DAY, "error_category_counts", "{}", '{"hallucination":1}', "late_feedback"),
        (DAY, "negative_ratings", "0", "1", "late_feedback"),
        (DAY, "no_feedback_count", "1", "0", "late_feedback"),
    ]
    assert rows(home, LOG) == late
    log = home / "state" / "session_restatements.jsonl"
    first = log.read_bytes()
    assert [json.loads(line)["column"] for line in first.decode().splitlines()] == [column for _, column, *_ in late]
    before = published_content(home)
    mill(home)
    assert published_content(home) == before
    # only grows
    change(
        path,
        "update session_feedback set rating = 'SKIPPED' where id = 'f1'",
        "delete from session_feedback where id = 'f2'",
    )
    mill(home)
    assert log.read_bytes().startswith(first)
    assert {(column, why) for _, column, _, _, why in rows(home, LOG)[3:]} == {
        ("error_category_counts", "changed_feedback+vanished_feedback"),
        ("negative_ratings", "changed_feedback+vanished_feedback"),
        ("no_feedback_count", "changed_feedback+vanished_feedback"),
        ("positive_ratings", "changed_feedback+vanished_feedback"),
        ("skipped_ratings", "changed_feedback+vanished_feedback"),
    }


def test_sessions_that_come_and_go(home: Path) -> None:
    path = write(home, {"ai_sessions": [session("s1"), session("s3", days=1)]})
    mill(home)
    add(path, "ai_sessions", session("s2"))
    mill(home)
    assert rows(home, LOG) == [
        (DAY, "no_feedback_count", "1", "2", "new_session"),
        (DAY, "total_sessions", "1", "2", "new_session"),
    ]
    change(path, "delete from ai_sessions where id = 's3'")
    mill(home)
    gone = [
        (day, column, old)
        for day, column, old, new, why in rows(home, LOG)[2:]
        if new is None and why == "vanished_session"
    ]
    assert (date(2026, 1, 21), "total_sessions", "1") in gone
    assert rows(home, DAILY) == [(DAY, 2, 0, 0, 2, False)]


def test_a_day_that_goes_on_is_not_restated(home: Path) -> None:
    write(home, {"ai_sessions": [session("s1"), session("s2", days=0.25)]})
    mill(home, at(0.1))
    mill(home, AS_OF)
    assert rows(home, DAILY) == [(DAY, 2, 0, 0, 2, False)]
    assert rows(home, LOG) == []


# --- frozen days -------------------------------------------------------------------------------------------------


def frozen_home(home: Path) -> Path:
    """Two sessions on a frozen day, one on the day that freezes next, one later."""
    return write(
        home,
        {
            "ai_sessions": [session("old1", OLD), session("old2", OLD), session("next", -77), session("new", 0)],
            "session_feedback": [feedback("f1", "old1", OLD)],
        },
    )


def test_what_freezes(home: Path) -> None:
    """A day is frozen once it is 90 days before as_of."""
    frozen_home(home)
    mill(home)
    assert [(str(day), is_frozen) for day, *_, is_frozen in rows(home, DAILY)] == [
        ("2025-11-01", True),
        ("2025-11-04", False),
        ("2026-01-20", False),
    ]
    assert rows(home, "select session_id from archive__sessions order by 1") == [("old1",), ("old2",)]
    mill(home, AS_OF + timedelta(days=1) - timedelta(seconds=1))
    assert [is_frozen for *_, is_frozen in rows(home, DAILY)] == [True, False, False]
    mill(home, AS_OF + timedelta(days=1))
    assert [is_frozen for *_, is_frozen in rows(home, DAILY)] == [True, True, False]
    assert rows(home, LOG) == []
    before = published_content(home)
    mill(home, AS_OF + timedelta(days=1))
    assert published_content(home) == before


def test_the_archive_outlives_the_source(home: Path) -> None:
    """Retention deletes old sessions and what hangs on them: nothing changes here but what was read."""
    path = frozen_home(home)
    add(path, "session_outputs", {"session_id": "old2", "original": "abcd", "revised": "abxd"})
    mill(home)
    before = {
        table: rows(home, f"select * from {table} order by all")
        for table in ("core__sessions", "feedback_metrics_daily")
    }
    lake = content(home / "lake" / "core__sessions")
    change(
        path,
        "delete from ai_sessions where id like 'old%'",
        "delete from session_feedback",
        "delete from session_outputs",
    )
    mill(home)
    assert {table: rows(home, f"select * from {table} order by all") for table in before} == before
    assert content(home / "lake" / "core__sessions") == lake
    assert rows(home, "select session_id from core__retired_sessions order by 1") == [("old1",), ("old2",)]
    assert rows(home, LOG) == []
    # late feedback on an archived session belongs to it
    add(
        path,
        "session_feedback",
        feedback("f9", "old2", 3, rating="negative"),
        feedback("f10", "old1", 3, tenant_id="t2"),
    )
    mill(home)
    assert reasons(home) == {"f10": ["mismatch:tenant_id"]}
    assert rows(home, DAILY)[0] == (date(2025, 11, 1), 2, 1, 1, 0, True)
    assert {why for *_, why in rows(home, LOG)} == {"late_feedback"}
    assert rows(home, "select edit_distance_pct from core__sessions where session_id = 'old2'") == [(40,)]
    # and it stays when that is deleted, too
    change(path, "delete from session_feedback")
    mill(home)
    assert rows(home, DAILY)[0] == (date(2025, 11, 1), 2, 1, 1, 0, True)


def test_a_lake_that_is_lost_comes_back_from_the_state(home: Path) -> None:
    path = frozen_home(home)
    mill(home)
    change(path, "delete from ai_sessions where id like 'old%'", "delete from session_feedback")
    mill(home)
    daily = rows(home, DAILY)
    for name in ("lake", "snapshots", "exports"):
        shutil.rmtree(home / name)
    (home / "warehouse.duckdb").unlink()
    state = content(home / "state")
    mill(home)
    assert rows(home, DAILY) == daily
    assert content(home / "state") == state


def test_fewer_sessions_on_a_frozen_day_are_refused(home: Path) -> None:
    path = frozen_home(home)
    mill(home)
    frozen = rows(home, DAILY)[0]
    change(path, "update ai_sessions set workspace_id = 'w2' where id = 'old2'")
    mill(home)
    found = rows(
        home,
        "select workspace_id, total_sessions, is_frozen from feedback_metrics_daily where date < '2025-11-02' order by 1",
    )
    assert found == [("w1", 2, True), ("w2", 1, True)]
    assert rows(home, DAILY)[1] == frozen
    refused = [entry for entry in rows(home, LOG) if entry[-1] == "refused"]
    assert refused == [
        (date(2025, 11, 1), "no_feedback_count", "1", "0", "refused"),
        (date(2025, 11, 1), "total_sessions", "2", "1", "refused"),
    ]
    before = published_content(home)
    mill(home)
    assert published_content(home) == before
    # more sessions are welcome
    change(path, "update ai_sessions set workspace_id = 'w1' where id = 'old2'")
    add(path, "ai_sessions", session("old3", OLD))
    mill(home)
    assert rows(home, DAILY)[0] == (date(2025, 11, 1), 1, 0, 0, 1, True) or rows(home, DAILY)[0][1] == 3


def test_an_older_as_of_touches_nothing(home: Path) -> None:
    path = frozen_home(home)
    mill(home)
    add(path, "session_feedback", feedback("f9", "old2", 3))
    before = {name: content(home / name) for name in ("state", "lake")}
    mill(home, AS_OF - timedelta(days=20))
    assert content(home / "state") == before["state"]
    tables = {
        name: data for name, data in content(home / "lake").items() if not name.startswith(("train__", "catalog"))
    }
    assert tables == {
        name: data for name, data in before["lake"].items() if not name.startswith(("train__", "catalog"))
    }


def test_the_same_home_twice(tmp_path: Path) -> None:
    for name in ("one", "two"):
        frozen_home(tmp_path / name)
        mill(tmp_path / name)
    one, two = (content(tmp_path / name / "state") for name in ("one", "two"))
    assert one == two and len(one) > 1
    assert content(tmp_path / "one" / "lake") == content(tmp_path / "two" / "lake")


def test_a_run_that_is_stopped_leaves_the_state(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the state is written unless the run publishes."""
    path = frozen_home(home)
    mill(home)
    before = content(home / "state")
    add(path, "session_feedback", feedback("f9", "old2", 3))
    with monkeypatch.context() as patch:
        patch.setattr(Lake, "commit", lambda *_, **__: (_ for _ in ()).throw(OSError("killed")))
        assert gristmill(home, "run", "--as-of", AS_OF.isoformat()).returncode == 1
    assert content(home / "state") == before
    with monkeypatch.context() as patch:  # the journal is written, nothing is moved yet
        patch.setattr(Lake, "finish_commit", lambda _: (_ for _ in ()).throw(OSError("killed")))
        assert gristmill(home, "run", "--as-of", AS_OF.isoformat()).returncode == 1
    assert content(home / "state") == before
    mill(home)
    assert {why for *_, why in rows(home, LOG)} == {"late_feedback"}
    assert len((home / "state" / "session_restatements.jsonl").read_text().splitlines()) == len(rows(home, LOG))


# --- sampling ----------------------------------------------------------------------------------------------------


def place(name: str) -> float:
    return int(sha256(name.encode()).hexdigest()[:8], 16) / 2**32


def test_sampling(home: Path) -> None:
    """S7: by hash of the session's id, nested; every row is accounted for and counts stay as counted."""
    names = [f"s{n}" for n in range(60)]
    write(
        home,
        {
            "ai_sessions": [session(name) for name in names],
            "session_feedback": [feedback(f"f{name}", name) for name in names] + [feedback("lost", "nowhere")],
            "session_outputs": [{"session_id": name, "original": "a", "revised": "b"} for name in names],
        },
    )
    mill(home, AS_OF, sample_rate="0.3")
    sample = {name for name in names if place(name) < 0.3}
    lost = place("nowhere") < 0.3
    assert {name for (name,) in rows(home, "select session_id from core__sessions")} == sample
    left_out = 2 * (60 - len(sample)) + (not lost)
    quarantined = 1 if lost else 0
    assert went(home, *SESSIONS) == (121, 2 * len(sample), quarantined, 0, left_out)
    assert rows(
        home,
        "select total_sessions, sample_rate, total_sessions_estimate, positive_ratings_estimate from feedback_metrics_daily",
    ) == [(len(sample), 0.3, round(len(sample) / 0.3, 6), round(len(sample) / 0.3, 6))]
    assert rows(home, "select count(*) from raw_sessions__outputs") == [(len(sample),)]
    mill(home, AS_OF, sample_rate="0.5")
    larger = {name for (name,) in rows(home, "select session_id from core__sessions")}
    assert sample < larger == {name for name in names if place(name) < 0.5}
    assert {why for *_, why in rows(home, LOG)} == {"sample_rate"}
    mill(home)
    assert rows(home, "select total_sessions from feedback_metrics_daily") == [(60,)]
    assert "must be above 0" in complaint(gristmill(home, "run", env={"GRISTMILL_SAMPLE_RATE": "0"}))


def test_a_smaller_sample_does_not_empty_the_archive(home: Path) -> None:
    write(home, {"ai_sessions": [session(f"s{n}", OLD) for n in range(30)]})
    mill(home)
    archived = rows(home, "select session_id from archive__sessions order by 1")
    mill(home, AS_OF, sample_rate="0.1")
    assert rows(home, "select session_id from archive__sessions order by 1") == archived
    assert rows(home, "select total_sessions, sample_rate from feedback_metrics_daily") == [(30, 1.0)]
    assert "refused" in {why for *_, why in rows(home, LOG)}


def test_two_files(home: Path) -> None:
    """United by key: equal rows are one, of others the later counts."""
    tables = {
        "ai_sessions": [session("s1", context_document_ids=["d1"]), session("s2", context_document_ids=["d1"])],
        "session_feedback": [feedback("f1", "s1", error_categories=["other"]), feedback("f2", "s2")],
        "session_outputs": [{"session_id": "s1", "original": "ab", "revised": "ac"}],
    }
    path = write(home, tables)
    second = shutil.copyfile(path, path.with_name("sessions_fallback.db"))
    change(
        second,
        "update ai_sessions set context_document_ids = '[\"d2\"]' where id = 's2'",
        "update session_feedback set error_categories = '[\"hallucination\"]' where id = 'f1'",
    )
    mill(home)
    assert went(home, *SESSIONS) == (8, 4, 2, 2, 0)
    assert reasons(home) == {"f1": ["conflict:id"], "s2": ["conflict:id"]}
    assert rows(
        home, "select session_id, document_ids, error_categories, edit_distance_pct from core__sessions order by 1"
    ) == [
        ("s1", ["d1"], ["hallucination"], 67),
        ("s2", ["d2"], [], None),
    ]
    assert rows(home, "select count(*) from raw_sessions__outputs") == [(1,)]
