"""The conversations demo: the same for the same seed, exact in number, in every shape, with every hazard it promises."""

import json
import re
import shutil
import sqlite3
import tomllib
from collections import Counter, defaultdict
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dagster_project.demo.conversations.files import FOLDER_HAZARDS
from dagster_project.demo.conversations.hazards import DAMAGE
from dagster_project.demo.conversations.rows import COLUMNS
from dagster_project.demo.conversations.sources import OLDER_HAZARDS, write_turns
from dagster_project.demo.conversations.texts import DIALOGUES, SUBJECTS, load_scenes
from dagster_project.demo.feedback.sources import write_feedback

Rows = list[tuple[Any, ...]]
Demo = tuple[Path, dict[str, int]]
START, END = datetime(2025, 11, 3, tzinfo=UTC).timestamp(), datetime(2026, 2, 1, tzinfo=UTC).timestamp()
SENSES = (
    "request",
    "topic_change",
    "follow_up",
    "thanks",
    "accept",
    "no_that_is_all",
    "answer_to_question",
    "no_problem",
    "reference",
    "greeting",
    "explicit",
    "rephrased",
    "abandonment",
)
NATURAL = (
    "timeout",
    "across_midnight",
    "session_reused",
    "unknown_user",
    "unknown_session",
    "common_session",
    "topic_cut",
    "stored_rejection",
    "wrong_stored_rejection",
    "pause_of_exactly_30_minutes",
    "transcript_not_json",
    "in_column",
    "in_transcript",
    "in_folder",
    "in_topic",
    "plain_folders",
    "folders_elsewhere",
)
TURNS_COLUMNS = (
    "turn_number",
    "user_id",
    "session_id",
    "timestamp",
    "topic",
    "intent",
    "keywords",
    "validation_outcome",
    "strategy_summary",
    "quality_score",
    "user_feedback_status",
    "feedback_confidence",
    "rejection_detected_in",
    "goals_json",
    "query",
    "response",
)
OLDER_COLUMNS = (
    "id",
    "turn_number",
    "session_id",
    "topic",
    "intent",
    "validation_outcome",
    "strategy_summary",
    "quality_score",
    "user_feedback_status",
    "rejection_detected_in",
    "created_at",
    "keywords",
    "doc_path",
)
IN_RANGE = f"typeof(timestamp) = 'real' and timestamp >= {START} and timestamp < {END}"


def query(path: Path, sql: str) -> Rows:
    with closing(sqlite3.connect(path)) as database:
        database.text_factory = lambda raw: raw.decode(errors="surrogateescape")
        return database.execute(sql).fetchall()


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def transcript(folder: Path) -> list[dict[str, Any]]:
    lines = [line for path in sorted(folder.glob("transcripts/*.jsonl")) for line in path.read_text().splitlines()]
    return [record for record in map(parsed, lines) if record is not None]


def folder_paths(folder: Path) -> list[Path]:
    return sorted(path.parent for path in folder.rglob("context.md"))


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    folder = tmp_path_factory.mktemp("demo")
    return folder, write_turns(folder, 2500, seed=1)


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, dict[str, int]]:
    home = tmp_path_factory.mktemp("rated")
    write_feedback(home / "feedback.db", 4000, seed=3)
    return (
        home / "turns",
        home / "feedback.db",
        write_turns(home / "turns", 2000, seed=3, feedback=home / "feedback.db"),
    )


def test_same_arguments_same_bytes(tmp_path: Path, rated: tuple[Path, Path, dict[str, int]]) -> None:
    folder, feedback, counts = rated
    assert write_turns(tmp_path, 2000, seed=3, feedback=feedback) == counts
    assert content(tmp_path) == content(folder)
    with pytest.raises(FileExistsError):
        write_turns(tmp_path, 300, seed=8)
    assert content(tmp_path) == content(folder)


def test_other_seed_other_turns(tmp_path: Path, demo: Demo) -> None:
    write_turns(tmp_path, 2500, seed=2)
    ids = [
        {row[0] for row in query(folder / "conversations.db", "select session_id from turns")}
        for folder in (tmp_path, demo[0])
    ]
    assert ids[0] & ids[1] <= {"", "default", "main", "work"}


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(turns=st.integers(0, 700), seed=st.integers(0, 10_000), is_bench=st.booleans())
def test_as_many_rows_as_wanted(tmp_path: Path, turns: int, seed: int, is_bench: bool) -> None:
    folder = tmp_path / f"{turns} {seed} {is_bench}"
    shutil.rmtree(folder, ignore_errors=True)
    counts = write_turns(folder, turns, seed, is_bench=is_bench)
    assert query(folder / "conversations.db", "select count(*) from turns") == [(turns,)]
    assert counts["rows"] == turns
    longest = query(
        folder / "conversations.db", "select count(*) n from turns group by user_id, session_id order by n desc"
    )
    assert not longest or longest[0][0] < 60, "what is left over must not end up in one session"


def test_the_tables_have_the_documented_columns(demo: Demo) -> None:
    columns = [row[1] for row in query(demo[0] / "conversations.db", "pragma table_info(turns)")]
    assert tuple(columns) == COLUMNS == TURNS_COLUMNS
    older = [row[1] for row in query(demo[0] / "conversations_fallback.db", "pragma table_info(turn_index)")]
    assert tuple(older) == OLDER_COLUMNS


def test_every_hazard_is_planted(demo: Demo) -> None:
    promised = {
        *DAMAGE,
        *FOLDER_HAZARDS.values(),
        *OLDER_HAZARDS.values(),
        *NATURAL,
        *(f"said_{sense}" for sense in SENSES),
    }
    assert not promised - {name for name, count in demo[1].items() if count}


def test_hazards_are_where_the_counts_say(demo: Demo) -> None:
    folder, counts = demo
    conditions = {
        "typeof(timestamp) = 'text'": counts["text_timestamp"],
        "timestamp is null": counts["null_timestamp"] + counts["timestamp_in_metadata"],
        "timestamp = 0": counts["zero_timestamp"],
        "timestamp = -86400.5": counts["negative_timestamp"],
        "timestamp = 32503680000": counts["year_3000_timestamp"],
        "timestamp = 9e999": counts["infinite_timestamp"],
        "typeof(timestamp) = 'real' and timestamp between 1e11 and 1e14": counts["millisecond_timestamp"],
        "typeof(timestamp) = 'real' and timestamp between 3786912000 and 3786998400": counts["future_timestamp"],
        "typeof(turn_number) = 'real'": counts["fraction_turn_number"],
        "typeof(turn_number) = 'text'": counts["text_turn_number"],
        "turn_number is null": counts["null_turn_number"],
        "typeof(topic) = 'blob'": counts["blob_topic"] + counts["blob_utf8_topic"],
        "typeof(topic) = 'blob' and hex(topic) like 'FFFE%'": counts["blob_topic"],
        "typeof(query) = 'text' and instr(cast(query as blob), x'e03a') > 0": counts["invalid_utf8_query"],
        "typeof(query) = 'blob'": 0,
        "typeof(response) = 'text' and instr(cast(response as blob), x'00') > 0": counts["nul_byte_response"],
        "typeof(quality_score) = 'text'": counts["text_quality"],
        "quality_score = 9e999": counts["infinite_quality"],
        "validation_outcome = 'MAYBE'": counts["unknown_outcome"],
        "validation_outcome = ' Approve '": counts["odd_case_outcome"],
        "user_feedback_status = 'liked'": counts["unknown_status"],
        "user_feedback_status = ' Neutral '": counts["odd_case_status"],
        "keywords <> '' and not json_valid(keywords)": counts["keywords_not_json"],
        "keywords like '{%'": counts["keywords_object"],
        "goals_json <> '' and not json_valid(goals_json)": counts["goals_not_json"],
        "coalesce(user_id, '') in ('', 'default')": counts["unknown_user"],
        "session_id in ('', 'default')": counts["unknown_session"],
        "session_id in ('main', 'work')": counts["common_session"],
        "query is not null": counts["in_column"],
    }
    for condition, count in conditions.items():
        found = query(folder / "conversations.db", f"select count(*) from turns where {condition}")[0][0]
        assert found == count, condition


def test_damaged_files_are_as_many_as_counted(demo: Demo) -> None:
    folder, counts = demo
    lines = [line for path in folder.glob("transcripts/*.jsonl") for line in path.read_text().splitlines()]
    assert [parsed(line) for line in lines].count(None) == counts["transcript_not_json"]
    problems: Counter[str] = Counter()
    for path in folder_paths(folder):
        metadata, response = path / "metadata.json", path / "response.md"
        if not metadata.exists():
            problems["folder_without_metadata"] += 1
        elif parsed(metadata.read_text()) is None:
            problems["metadata_not_json"] += 1
        if not response.exists():
            problems["folder_without_response"] += 1
        elif "\ufffd" in response.read_text(errors="replace"):
            problems["response_file_invalid_utf8"] += 1
    assert problems == {name: counts[name] for name in problems}
    assert len(problems) == 4


def test_every_day_has_turns_and_the_newest_is_the_same_as_feedbacks(demo: Demo) -> None:
    days = query(
        demo[0] / "conversations.db", f"select distinct date(timestamp, 'unixepoch') from turns where {IN_RANGE}"
    )
    assert len(days) == 90
    assert max(days) == ("2026-01-31",)
    assert min(days) == ("2025-11-03",)
    dates = {path.stem for path in (demo[0] / "transcripts").iterdir()}
    assert 80 <= len(dates) <= 90
    assert all(date(2025, 11, 3) <= datetime.strptime(day, "%Y%m%d").date() <= date(2026, 1, 31) for day in dates)


def test_users_share_turn_numbers_and_count_their_own(demo: Demo) -> None:
    rows = query(
        demo[0] / "conversations.db", "select user_id, turn_number from turns where typeof(turn_number) = 'integer'"
    )
    users: dict[str | None, set[int]] = defaultdict(set)
    unknown: list[int] = []
    for user, number in rows:
        if user in (None, "", "default"):
            unknown.append(number)
        else:
            users[user].add(number)
    assert 8 <= len(users) <= 20
    assert sum(5 in numbers for numbers in users.values()) >= 8
    assert len(unknown) == len(set(unknown)), "nobody's turns have only their number as a key"
    for numbers in users.values():
        assert min(numbers) <= 3
        assert len(numbers) >= max(numbers) - 10, "only damaged numbers are missing"


def test_a_transcript_line_belongs_to_one_turn(demo: Demo) -> None:
    folder = demo[0]
    turns: dict[tuple[Any, Any], Rows] = defaultdict(list)
    for row in query(folder / "conversations.db", "select turn_number, session_id, topic, query, timestamp from turns"):
        turns[row[0], row[1]].append(row)
    older = query(
        folder / "conversations_fallback.db", "select turn_number, session_id, topic, null, null from turn_index"
    )
    for row in older:
        turns[row[0], row[1]].append(row)
    records = transcript(folder)
    assert len(records) > 600
    for record in records:
        assert set(record) == {"timestamp", "turn_number", "session_id", "query", "turn_dir"}
        (turn,) = turns.get((record["turn_number"], record["session_id"]), [()])
        if turn:
            assert turn[2] == record["query"][:200]
            assert turn[3] is None
    assert sum((record["turn_number"], record["session_id"]) not in turns for record in records) <= 1, (
        "one lost its number"
    )


def test_folders_come_in_every_shape_and_can_be_told_apart(demo: Demo) -> None:
    folder = demo[0]
    rows = query(folder / "conversations.db", "select user_id, turn_number, session_id, topic, response from turns")
    by_user = {(row[0], row[1]): row for row in rows}
    older = {
        row[2]: row
        for row in query(
            folder / "conversations_fallback.db", "select turn_number, session_id, doc_path, topic from turn_index"
        )
    }
    by_session = {(row[2], row[1]): row for row in rows}
    shapes: set[tuple[str, str]] = set()
    paths = folder_paths(folder)
    assert 60 <= len(paths) <= 150
    for path in paths:
        context = (path / "context.md").read_text()
        found = re.search(r"^## 0\. User Query\n\n(.*?)\n\n## 1\.", context, re.DOTALL | re.MULTILINE)
        assert found
        asked = found[1]
        number = int(path.name.removeprefix("turn_"))
        name = str(path.relative_to(folder))
        metadata: Any = parsed((path / "metadata.json").read_text()) if (path / "metadata.json").exists() else None
        if name in older:
            topic = older[name][3]
            assert metadata["session_id"] == older[name][1]
        elif name.startswith("users/"):
            topic, response = by_user[name.split("/")[1], number][3:]
            assert response is None
        else:
            topic, response = by_session[metadata["session_id"], number][3:]
            assert response is None
        assert asked[:200] == topic
        if metadata is not None:
            instant = metadata["timestamp"]
            zone = "Z" if str(instant).endswith("Z") else "naive"
            kind = zone if isinstance(instant, str) else type(instant).__name__
            place = (
                "nested" if "user_feedback" in metadata else "flat" if "user_feedback_status" in metadata else "absent"
            )
            shapes.add((kind, place))
    assert shapes == {
        (kind, place) for kind in ("float", "int", "Z", "naive") for place in ("nested", "flat", "absent")
    }


def test_rejected_metadata_says_what_the_user_said(demo: Demo) -> None:
    nested = [parsed(path.read_text()) for path in demo[0].rglob("metadata.json")]
    said = [data["user_feedback"] for data in nested if data and "user_said" in data.get("user_feedback", {})]
    assert said
    assert all(
        set(each) == {"status", "detected_at", "detected_in_turn", "correction_type", "confidence", "user_said"}
        for each in said
    )


def test_the_older_file(demo: Demo) -> None:
    rows = query(
        demo[0] / "conversations_fallback.db",
        "select created_at, keywords, doc_path, turn_number, session_id from turn_index",
    )
    assert 300 <= len(rows) == demo[1]["rows_fallback"]
    kinds = Counter(
        "epoch" if isinstance(row[0], float | int) else "Z" if str(row[0]).endswith("Z") else "naive" for row in rows
    )
    assert min(kinds["epoch"], kinds["Z"], kinds["naive"]) > 90
    assert not any(row[1].startswith("[") for row in rows)
    assert any("," in row[1] for row in rows)
    numbers = [row[3] for row in rows if row[3] is not None]
    assert len(set(numbers)) == len(numbers) == len(rows) - 1
    assert sum((demo[0] / row[2] / "context.md").exists() for row in rows) >= 25
    ids = {row[0] for row in query(demo[0] / "conversations.db", "select session_id from turns")}
    assert {row[4] for row in rows} & ids <= {"", "default"}


def test_sessions_pause_and_come_back(demo: Demo) -> None:
    rows = query(
        demo[0] / "conversations.db",
        "select coalesce(user_id, ''), session_id, timestamp - lag(timestamp) over (partition by user_id, session_id order by"
        f" timestamp, turn_number), timestamp from turns where session_id like 'sess%' and {IN_RANGE}",
    )
    gaps = [row[2] for row in rows if row[2] is not None]
    assert sum(gap > 86_400 for gap in gaps) >= 10
    assert sum(1800 < gap < 20_000 for gap in gaps) >= 20
    assert 1800.0 in gaps
    assert sum(row[2] is not None and row[2] < 1800 and row[3] % 86_400 < row[2] for row in rows) >= 5, (
        "across midnight"
    )


def test_vocabularies_are_believable(demo: Demo) -> None:
    path = demo[0] / "conversations.db"
    outcomes = dict(query(path, "select validation_outcome, count(*) from turns group by 1"))
    assert outcomes["APPROVE"] > 1500
    assert all(outcomes[name] > 10 for name in ("REVISE", "RETRY", "FAIL", ""))
    statuses = dict(query(path, "select user_feedback_status, count(*) from turns group by 1"))
    rejected = query(path, "select count(*) from turns where rejection_detected_in is not null")[0][0]
    assert rejected == demo[1]["stored_rejection"] + demo[1]["wrong_stored_rejection"]
    assert min(statuses[""], statuses["neutral"]) > 800
    assert query(
        path, "select count(*) from turns where user_feedback_status = 'rejected' and rejection_detected_in is null"
    ) == [(0,)]
    assert query(path, "select max(length(topic)) from turns where typeof(topic) = 'text'") == [(200,)]
    assert 100 < query(path, "select count(*) from turns where quality_score is null")[0][0] < 500
    assert 100 < query(path, "select count(*) from turns where intent = ''")[0][0] < 500
    rejections = sum(demo[1][f"said_{sense}"] for sense in ("explicit", "rephrased", "abandonment"))
    assert 0.08 < rejections / 2500 < 0.25


def test_texts_do_not_look_canned(demo: Demo) -> None:
    """Before any slot is filled, and after."""
    common = tomllib.loads((DIALOGUES / "common.toml").read_text())
    said = {
        text
        for name in ("declines", "thanks", "praise", "rejections", "abandonments", "greetings")
        for text in common[name]
    }
    told = {text for name in ("goodbyes", "welcomes", "confirmations", "restarts", "evasions") for text in common[name]}
    for subject in SUBJECTS:
        for scene in tomllib.loads((DIALOGUES / f"{subject}.toml").read_text())["scene"]:
            said.update(scene["requests"] + scene["rephrasings"] + scene["accepts"] + scene["references"])
            said.update(text for miss in scene["miss"] for text in miss["corrections"])
            said.update(follow["ask"] for follow in scene["follow"])
            told.update(scene["answers"], (miss["answer"] for miss in scene["miss"]))
            told.update(follow["answer"] for follow in scene["follow"])
    assert len(said) >= 450
    assert len(told) >= 180
    found = query(demo[0] / "conversations.db", "select count(distinct topic), count(distinct response) from turns")[0]
    assert found[0] > 1300
    assert found[1] > 900
    assert all(scene.questions and scene.openers for scene in load_scenes())


def test_rated_turns_stand_in_both_sources(rated: tuple[Path, Path, dict[str, int]]) -> None:
    folder, feedback, counts = rated
    assert 190 <= counts["rated"] == counts["next_agrees"] + counts["next_disagrees"] <= 200
    assert counts["next_agrees"] > 8 * counts["next_disagrees"] > 0
    ratings = {
        row[0]: row[1:]
        for row in query(
            feedback,
            "select session_id || original_query, user_id, original_response, timestamp, rating from feedback"
            " where feedback_type = 'rating'",
        )
    }
    turns = query(
        folder / "conversations.db",
        f"select session_id || query, user_id, response, timestamp, session_id, turn_number from turns where {IN_RANGE}",
    )
    followed = {(row[4], row[1], row[5]): row for row in turns}
    matched: Counter[int] = Counter()
    for key, user, response, asked_at, session_id, number in turns:
        if key in ratings:
            rated_by, rated_response, rated_at, rating = ratings[key]
            assert (user, response) == (rated_by, rated_response)
            assert 0 < rated_at - asked_at < 60
            assert 0 < followed[session_id, user, number + 1][3] - rated_at < 120
            matched[rating] += 1
    assert sum(matched.values()) == counts["rated"]
    assert min(matched[1], matched[-1]) >= 30


def test_the_benchmark_has_text_in_columns_and_no_files(tmp_path: Path) -> None:
    write_turns(tmp_path, 20_000, seed=1, is_bench=True)
    assert set(content(tmp_path)) == {"conversations.db"}
    assert query(
        tmp_path / "conversations.db", "select count(*) from turns where query is null or response is null"
    ) == [(0,)]
    assert query(tmp_path / "conversations.db", "select count(distinct query) > 8000 from turns") == [(1,)]
