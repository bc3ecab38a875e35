"""The demo sources: the same for the same seed, exact in number, varied in text, and with every hazard they promise."""

import json
import re
import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from dagster_project.demo.feedback import batches, hazards
from dagster_project.demo.feedback.exchanges import Demand
from dagster_project.demo.feedback.sources import write_feedback, write_feedback_files
from dagster_project.demo.texts import fill, load_library

TABLES = ("feedback", "feedback_aggregates", "feedback_sessions", "responses")
BEHAVIOUR = (
    "polluted_rating",
    "comment_as_correction",
    "default_session",
    "default_user",
    "double_click",
    "changed_mind",
    "contested",
    "second_thought",
    "late_arrival",
    "stale_weight",
)
START, END = datetime(2025, 11, 3, tzinfo=UTC).timestamp(), datetime(2026, 2, 1, tzinfo=UTC).timestamp()


def query(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as database:
        database.text_factory = lambda raw: raw.decode(errors="surrogateescape")
        return database.execute(sql).fetchall()


def content(path: Path) -> list[list[tuple[Any, ...]]]:
    return [query(path, f"select rowid, * from {table} order by rowid") for table in TABLES]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, int]]:
    path = tmp_path_factory.mktemp("demo") / "feedback.db"
    return path, write_feedback(path, 3000, seed=1)


def test_same_seed_same_rows(tmp_path: Path, demo: tuple[Path, dict[str, int]]) -> None:
    again = tmp_path / "again.db"
    assert write_feedback(again, 3000, seed=1) == demo[1]
    assert content(again) == content(demo[0])


def test_other_seed_other_rows(tmp_path: Path) -> None:
    for seed in (1, 2):
        write_feedback(tmp_path / f"{seed}.db", 200, seed)
    ids = [{row[0] for row in query(tmp_path / f"{seed}.db", "select feedback_id from feedback")} for seed in (1, 2)]
    assert not ids[0] & ids[1]


@pytest.mark.parametrize("rows", [0, 1, 2, 299, 300, 1001])
@pytest.mark.parametrize("clean", [True, False])
def test_row_count_is_exact(tmp_path: Path, rows: int, clean: bool) -> None:
    path = tmp_path / "feedback.db"
    counts = write_feedback(path, rows, seed=5, hazards=not clean)
    assert counts["rows"] == rows
    assert query(path, "select count(*), count(distinct feedback_id) from feedback") == [(rows, rows)]


def test_a_second_process_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    demand = Demand(rows=400, seed=3, days=7, last_day=date(2026, 1, 31), hazards=True, text_bytes=None)
    alone = list(batches.make_batches(demand, two_files=True))
    monkeypatch.setattr(batches, "FEWEST_ROWS_FOR_A_PROCESS", 1)
    assert list(batches.make_batches_beside(demand, two_files=True)) == alone


def test_a_failing_second_process_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no batches today")

    monkeypatch.setattr(batches, "FEWEST_ROWS_FOR_A_PROCESS", 1)
    monkeypatch.setattr(batches, "make_batches", fail)
    demand = Demand(rows=400, seed=3, days=7, last_day=date(2026, 1, 31), hazards=True, text_bytes=None)
    with pytest.raises(RuntimeError, match="ended early"):
        list(batches.make_batches_beside(demand, two_files=True))


def test_every_hazard_is_planted(demo: tuple[Path, dict[str, int]]) -> None:
    missing = {*hazards.DAMAGE, hazards.ORPHAN, *BEHAVIOUR} - {name for name, count in demo[1].items() if count}
    assert not missing


def test_hazards_are_where_the_counts_say(demo: tuple[Path, dict[str, int]]) -> None:
    path, counts = demo
    checks = {
        "typeof(rating) = 'text'": counts["text_rating"],
        "typeof(rating) = 'real'": counts["fraction_rating"],
        "typeof(timestamp) = 'text'": counts["text_timestamp"] + counts["iso_timestamp"],
        "typeof(original_response) = 'blob'": counts["blob_text"],
        "typeof(original_query) = 'blob'": counts["blob_utf8_text"],
        "instr(cast(original_query as blob), x'e0') > 0 and typeof(original_query) = 'text'": counts["invalid_utf8"],
        "instr(cast(original_response as blob), x'00') > 0 and typeof(original_response) = 'text'": counts["nul_byte"],
        "response_confidence = 9e999": counts["infinite_confidence"],
        "response_confidence = 1.7": counts["confidence_above_one"],
        "typeof(timestamp) = 'real' and timestamp between 1e11 and 1e14": counts["millisecond_timestamp"],
        "rating = 5": counts["rating_five"],
        "session_id = 'default'": counts["default_session"],
        "response_id not in (select response_id from responses)": None,
    }
    for condition, expected in checks.items():
        [(found,)] = query(path, f"select count(*) from feedback where {condition}")
        assert found == expected if expected is not None else found >= counts["orphan"], condition


def test_wrong_types_come_in_two_bursts(demo: tuple[Path, dict[str, int]]) -> None:
    rows = query(
        demo[0],
        "select rowid from feedback where typeof(rating) not in ('integer', 'null') or typeof(timestamp) <> 'real'"
        " or typeof(original_query) <> 'text' or typeof(original_response) <> 'text' order by rowid",
    )
    gaps = sorted(later[0] - earlier[0] for earlier, later in pairwise(rows))
    assert gaps[-1] > 500
    assert all(gap < 30 for gap in gaps[:-1])


def test_clean_rows_lie_within_the_days(tmp_path: Path) -> None:
    path = tmp_path / "feedback.db"
    write_feedback(path, 2000, seed=4, hazards=False)
    times = [row[0] for row in query(path, "select timestamp from feedback order by rowid")]
    assert min(times) >= START
    assert max(times) < END
    assert times == sorted(times)
    assert len({int(time // 86_400) for time in times}) == 90
    assert query(path, "select count(*) from feedback where feedback_type <> 'rating' and rating is not null") == [(0,)]


def test_aggregates_are_what_the_trigger_leaves(demo: tuple[Path, dict[str, int]], tmp_path: Path) -> None:
    replay = tmp_path / "replay.db"
    columns = (
        "response_id, thumbs_up_count, thumbs_down_count, correction_count, preference_count, flag_count,"
        " first_feedback_at, last_feedback_at"
    )
    with closing(sqlite3.connect(replay)) as database:
        database.executescript(Path(batches.__file__).with_name("tables.sql").read_text(encoding="utf-8"))
        database.execute("attach ? as source", [str(demo[0])])
        database.execute("insert into feedback select * from source.feedback order by rowid")
        database.commit()
    select = f"select {columns} from feedback_aggregates order by response_id"
    assert query(replay, select) == query(demo[0], select)


def test_two_files_share_some_rows(tmp_path: Path) -> None:
    counts = write_feedback_files(tmp_path, 3000, seed=2)
    main, fallback = (
        {row[0]: row[1:] for row in query(tmp_path / name, "select feedback_id, * from feedback")}
        for name in (batches.MAIN, batches.FALLBACK)
    )
    shared = main.keys() & fallback.keys()
    assert len(main.keys() | fallback.keys()) == 3000
    assert (len(main), len(fallback)) == (counts["rows_main"], counts["rows_fallback"])
    assert 30 <= len(fallback) <= 90
    exported = slice(21, 25)  # processed, training_format, quality_weight, processed_at
    differing = [key for key in shared if [*main[key]][: exported.start] != [*fallback[key]][: exported.start]]
    assert len(differing) == counts["conflicting_copy"] > 0
    assert len(shared) - len(differing) == counts["copy"] > 0
    assert all(main[key][exported] != fallback[key][exported] for key in shared)


def test_questions_vary() -> None:
    for name, domain in load_library().domains.items():
        questions = [question.bare for case in domain.cases for question in case.questions]
        assert len(set(questions)) >= 100, name
        assert len(set(questions)) == len(questions), name


def test_few_questions_repeat_but_some_do(demo: tuple[Path, dict[str, int]]) -> None:
    asked = [row[0] for row in query(demo[0], "select query from responses")]
    assert 0.85 < len(set(asked)) / len(asked) < 0.97
    [(pairs,)] = query(
        demo[0],
        "select count(*) from (select query from responses group by query having count(distinct response) > 1)",
    )
    assert pairs >= 20


def test_no_slot_is_left_open(demo: tuple[Path, dict[str, int]]) -> None:
    columns = "correction, what_was_wrong, preferred_response, comparison_basis, flag_details, original_query"
    texts = [
        text
        for row in query(demo[0], f"select {columns}, original_response, conversation_context from feedback")
        for text in row
        if isinstance(text, str)
    ]
    assert len(texts) > 6000
    said = [turn["content"] for text in texts if text.startswith("[{") for turn in json.loads(text)]
    said += [text for text in texts if not text.startswith("[{")]
    assert not [text for text in said if re.search(r"[{}]", text)]
    with pytest.raises(KeyError):
        fill("The capital of {county}", {"country": "Chile"})
    with pytest.raises(ValueError, match="stray bracket"):
        fill("{country", {"country": "Chile"})


def test_text_bytes_sets_the_mean_and_keeps_texts_distinct(tmp_path: Path) -> None:
    path = tmp_path / "feedback.db"
    write_feedback(path, 3000, seed=6, text_bytes=2000)
    [(mean, distinct, responses)] = query(
        path,
        "select avg(length(original_query) + length(original_response) + length(ifnull(correction, ''))"
        " + length(ifnull(preferred_response, ''))), count(distinct original_response), count(distinct response_id)"
        " from feedback",
    )
    assert 1850 < mean < 2050
    assert distinct / responses > 0.95
