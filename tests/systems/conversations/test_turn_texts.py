"""Where a turn's text comes from (sources.md, conversations): columns, transcripts, turn folders, topic; and whose it is."""

import contextlib
import json
import os
import socket
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dagster_project.systems.conversations import turn_folders
from dagster_project.systems.conversations.turn_folders import FILES
from dagster_project.systems.conversations.turn_texts import TurnTexts
from tests.conftest import change
from tests.systems.conversations.turn_database import Row, add, at, derive, iso, source, transcript, turn_folder, write

DAY = "20260120"
NEXT_DAY = "20260121"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a database and what lies beside it are."""
    place = tmp_path / "home" / "sources"
    place.mkdir(parents=True)
    return place


Twins = tuple[tuple[int, str], ...]


def beside(folder: Path, *rows: Row, shared: tuple[int, ...] = (), twins: Twins = ()) -> list[Row]:
    """What lies beside a database for some rows of it."""
    schema = {
        "turn_number": pl.Int64,
        "user_id": pl.String,
        "session_id": pl.String,
        "timestamp": pl.Float64,
        "doc_path": pl.String,
    }
    plain = {"turn_number": 1, "user_id": "ann", "session_id": "s", "timestamp": at(), "doc_path": None}
    return (
        TurnTexts(folder, shared, twins).beside(pl.DataFrame([plain | row for row in rows], schema=schema)).to_dicts()
    )


def queries(
    folder: Path, *rows: Row, shared: tuple[int, ...] = (), twins: Twins = ()
) -> list[tuple[str | None, str | None]]:
    """Per row what its transcript and what its folder says was asked."""
    return [(row["transcript_query"], row["folder_query"]) for row in beside(folder, *rows, shared=shared, twins=twins)]


def line(number: int = 1, query: str = "from the transcript", session: str | None = "s", **more: Any) -> Row:
    return {"timestamp": at(), "turn_number": number, "session_id": session, "query": query, **more}


# --- the order of places -------------------------------------------------------------------------------------------------


def test_the_column_comes_before_the_transcript_the_folder_and_the_topic(folder: Path) -> None:
    """sources.md: in this order; a query of its own does not keep a response from coming from the folder."""
    home = folder.parent
    rows: list[Row] = [
        {"turn_number": 1, "topic": "topic 1", "query": "column 1", "response": "answer 1"},
        {"turn_number": 2, "topic": "topic 2", "query": ""},
        {"turn_number": 3, "topic": "topic 3"},
        {"turn_number": 4, "topic": "topic 4"},
        {"turn_number": 5, "topic": ""},
        {"turn_number": 6, "query": "column 6"},
    ]
    write(source(home), [{"timestamp": at(), **row} for row in rows])
    transcript(folder, DAY, line(1, "transcript 1"), line(2, "transcript 2"))
    for number in (1, 2, 3, 6):
        turn_folder(folder, f"turn_{number:06}", f"folder {number}", f"said {number}", {"session_id": "s"})
    raw = derive(home).raw
    found = {
        key: tuple(row[name] for name in ("query", "query_source", "response", "response_source"))
        for key, row in raw.items()
    }
    assert found == {
        "ann/1": ("column 1", "column", "answer 1", "column"),
        "ann/2": ("transcript 2", "transcript", "said 2", "folder"),
        "ann/3": ("folder 3", "folder", "said 3", "folder"),
        "ann/4": ("topic 4", "topic", None, None),
        "ann/5": (None, None, None, None),
        "ann/6": ("column 6", "column", "said 6", "folder"),
    }


def test_the_older_table_has_the_same_places(folder: Path) -> None:
    """sources.md: `turn_index` without columns of texts; its users are unknown, its times are texts."""
    home = folder.parent
    rows: list[Row] = [
        {"created_at": iso(at()), "topic": "topic 1", "doc_path": "elsewhere/turn_000077/context.md"},
        {"created_at": "2026-01-20 12:00:00", "topic": "topic 2"},
        {"created_at": at(), "topic": "topic 3"},
    ]
    write(source(home), older=rows, texts=False)
    turn_folder(folder, "elsewhere/turn_000077", "folder 1", "said 1")
    transcript(folder, DAY, line(2, "transcript 2"))
    assert derive(home).queries == {
        "conversations.db:turn_index/1": ("folder 1", "folder"),
        "conversations.db:turn_index/2": ("transcript 2", "transcript"),
        "conversations.db:turn_index/3": ("topic 3", "topic"),
    }


def test_texts_lie_beside_their_own_database(tmp_path: Path) -> None:
    """sources.md: several files, each with its own folder."""
    home = tmp_path / "home"
    first, second = tmp_path / "a" / "turns.db", tmp_path / "b" / "turns.db"
    for path, user in ((first, "ann"), (second, "bob")):
        write(path, [{"user_id": user, "timestamp": at()}], texts=False)
        transcript(path.parent, DAY, line(1, f"asked by {user}"))
    found = derive(home, environ={"GRISTMILL_CONVERSATIONS": f"{first}:{second}"})
    assert found.queries == {"ann/1": ("asked by ann", "transcript"), "bob/1": ("asked by bob", "transcript")}


# --- context.md and response.md ----------------------------------------------------------------------------------------------

CONTEXTS = {
    "seed 1": ("# T\n\n## 0. User Query\n\nwhy?\n\n## 1. Plan\nno", "why?"),
    "to the end": ("## 0. User Query\nwhy?", "why?"),
    "several lines, and headings of the user's own": (
        "## 0. User Query\na\n\n### b\n## c\n\n## 2. Context\nno",
        "a\n\n### b\n## c",
    ),
    "CRLF": ("## 0. User Query\r\n\r\nwhy?\r\n\r\n## 1. Plan\r\n", "why?"),
    "a byte order mark": ("\ufeff## 0. User Query\nwhy?", "why?"),
    "words behind the title": ("## 0. User Query (resolved)\nwhy?\n## 1. P", "why?"),
    "without a full stop": ("##0 User Query\nwhy?", "why?"),
    "nothing in it": ("## 0. User Query\n\n  \n## 1. Plan\nno", None),
    "only the title": ("## 0. User Query", None),
    "no such section": ("## 1. Plan\nwhy?", None),
    "another level": ("### 0. User Query\nwhy?", None),
    "in the middle of a line": ("see ## 0. User Query\nwhy?", None),
    "empty": ("", None),
}


@pytest.mark.parametrize(("context", "query"), CONTEXTS.values(), ids=list(CONTEXTS))
def test_the_users_query_is_a_section_of_the_context(folder: Path, context: str, query: str | None) -> None:
    """sources.md: section "## 0. User Query", up to the next numbered one."""
    (turn_folder(folder, "turn_000001") / "context.md").write_bytes(context.encode())
    assert queries(folder, {}) == [(None, query)]


def test_broken_files_are_named_and_the_others_read(folder: Path) -> None:
    """G5: bad UTF-8 or a NUL is no text; a blank answer is none; the row stays."""
    turn_folder(folder, "turn_000001", "one", b"caf\xe9", "{not json")
    turn_folder(folder, "turn_000002", "t\0wo", "\n\n", "[1, 2]")
    turn_folder(folder, "turn_000003", None, "three\n")
    (folder / "turn_000003" / "context.md").mkdir()
    rows = beside(folder, {}, {"turn_number": 2}, {"turn_number": 3}, {"turn_number": 4})
    assert [(row["folder_query"], row["folder_response"], row["folder_repairs"]) for row in rows] == [
        ("one", None, ["bad_text:response.md", "bad_json:metadata.json"]),
        (None, None, ["bad_text:context.md", "bad_json:metadata.json"]),
        (None, "three", ["not_a_file:context.md"]),
        (None, None, []),
    ]


# --- metadata.json ---------------------------------------------------------------------------------------------------------

SECONDS = 1_768_910_400.25
NESTED = {
    "status": "rejected",
    "confidence": 0.9,
    "detected_in_turn": "turn_000002",
    "correction_type": "explicit_correction",
}
METADATA: dict[str, tuple[Any, Row]] = {
    "float": ({"timestamp": SECONDS}, {"timestamp": SECONDS}),
    "int": ({"timestamp": 1_768_910_400}, {"timestamp": 1_768_910_400.0}),
    "ISO with Z": ({"timestamp": "2026-01-20T12:00:00.25Z"}, {"timestamp": SECONDS}),
    "ISO naive": ({"timestamp": "2026-01-20T12:00:00.250000"}, {"timestamp": SECONDS}),
    "ISO with an offset": ({"timestamp": "2026-01-20T13:00:00.250+01:00"}, {"timestamp": SECONDS}),
    "milliseconds": ({"timestamp": 1_768_910_400_250}, {"timestamp": SECONDS}),
    "a number as text": ({"timestamp": "1768910400.25"}, {"timestamp": SECONDS}),
    "no time": ({"timestamp": "yesterday"}, {}),
    "a time that is none": ({"timestamp": True, "quality_score": False}, {}),
    "nested": (
        {"user_feedback": NESTED, "validation_outcome": "APPROVE", "quality_score": 0.85},
        {
            "source_correction_type": "explicit_correction",
            "user_feedback_status": "rejected",
            "feedback_confidence": 0.9,
            "rejection_detected_in": "turn_000002",
            "validation_outcome": "APPROVE",
            "quality_score": 0.85,
        },
    ),
    "flat": (
        {"user_feedback_status": "accepted", "feedback_confidence": 1, "rejection_detected_in": 7},
        {"user_feedback_status": "accepted", "feedback_confidence": 1.0, "rejection_detected_in": "7"},
    ),
    "nested before flat": (
        {"user_feedback": {"status": "rejected"}, "user_feedback_status": "neutral", "feedback_confidence": 0.5},
        {"user_feedback_status": "rejected", "feedback_confidence": 0.5},
    ),
    "nested but empty": (
        {"user_feedback": {"status": ""}, "user_feedback_status": "neutral"},
        {"user_feedback_status": "neutral"},
    ),
    "feedback that is no object": ({"user_feedback": "rejected", "user_feedback_status": None}, {}),
    "absent": ({"session_id": "s", "turn_id": "turn_000001"}, {}),
    "a number no float can hold": (f'{{"quality_score": 1{"0" * 400}}}', {}),
    "a byte order mark": ('\ufeff{"quality_score": 0.5}', {"quality_score": 0.5}),
}


@pytest.mark.parametrize(("metadata", "said"), METADATA.values(), ids=list(METADATA))
def test_metadata_in_all_its_shapes(folder: Path, metadata: Any, said: Row) -> None:
    """sources.md: times as float, int or ISO text (naive = UTC), feedback nested, flat or absent; G1: milliseconds."""
    turn_folder(folder, "turn_000001", metadata=metadata)
    (row,) = beside(folder, {})
    told = {name.removeprefix("metadata_"): value for name, value in row.items() if name.startswith("metadata_")}
    assert {name: value for name, value in told.items() if value is not None} == said
    assert row["folder_repairs"] == []


@pytest.mark.parametrize(
    ("metadata", "repair"),
    [
        ("{", "bad_json"),
        ("[]", "bad_json"),
        ('"text"', "bad_json"),
        ("", "bad_json"),
        ("[" * 100_000, "bad_json"),
        ('{"session_id": "\\ud800"}', "bad_text"),
        ('{"validation_outcome": "AP\\u0000PROVE", "session_id": "s"}', "bad_text"),
    ],
)
def test_metadata_that_cannot_be_read_is_named(folder: Path, metadata: str, repair: str) -> None:
    """The turn keeps its other texts."""
    turn_folder(folder, "turn_000001", "why?", metadata=metadata)
    (row,) = beside(folder, {})
    assert (row["folder_query"], row["metadata_validation_outcome"]) == ("why?", None)
    assert row["folder_repairs"] == [f"{repair}:metadata.json"]


def test_the_table_wins_over_the_metadata(folder: Path) -> None:
    """sources.md: its time and everything else it has; what it does not have is filled; what is no fraction is dropped."""
    home = folder.parent
    own = {
        "quality_score": 0.2,
        "validation_outcome": "FAIL",
        "user_feedback_status": "neutral",
        "feedback_confidence": 0.1,
    }
    write(source(home), [{"timestamp": at(), **own}, {"timestamp": at()}, {"timestamp": at()}])
    said = {"timestamp": at(days=3), "quality_score": 0.9, "validation_outcome": "APPROVE", "user_feedback": NESTED}
    turn_folder(folder, "turn_000001", metadata=said)
    turn_folder(folder, "turn_000002", metadata=said)
    turn_folder(folder, "turn_000003", metadata={"quality_score": 85, "feedback_confidence": -1, "timestamp": "x"})
    raw = derive(home).raw
    names = (
        "timestamp",
        "quality_score",
        "validation_outcome",
        "user_feedback_status",
        "feedback_confidence",
        "repairs",
    )
    assert [tuple(raw[f"ann/{n}"][name] for name in names) for n in (1, 2, 3)] == [
        (at(), 0.2, "FAIL", "neutral", 0.1, []),
        (at(), 0.9, "APPROVE", "rejected", 0.9, []),
        (at(), None, None, None, None, ["quality_score:out_of_range", "feedback_confidence:out_of_range"]),
    ]


# --- turns dated by their metadata ------------------------------------------------------------------------------------------


def days(home: Path, **choice: Any) -> dict[str, str]:
    return {key: str(row["event_date"]) for key, row in derive(home, **choice).raw.items()}


def test_a_turn_without_a_time_is_dated_by_its_metadata(folder: Path) -> None:
    """sources.md; G6 for those nothing dates; NULL and '' alike; the older table too."""
    home = folder.parent
    write(
        source(home),
        [
            {"timestamp": at(), "turn_number": 1},
            {"timestamp": None, "turn_number": 2},
            {"timestamp": "", "turn_number": 3},
            {"timestamp": None, "turn_number": 4},
            {"timestamp": "soon", "turn_number": 5},
            {"timestamp": -1, "turn_number": 6},
        ],
        [{"created_at": None, "turn_number": 7}, {"created_at": "", "turn_number": 8}],
    )
    for number in (1, 2, 3, 5, 6, 7, 8):
        turn_folder(folder, f"turn_{number:06}", f"query {number}", metadata={"timestamp": at(days=1)})
    found = derive(home)
    assert {key: (str(row["event_date"]), row["repairs"], row["query"]) for key, row in found.raw.items()} == {
        "ann/1": ("2026-01-20", [], "query 1"),
        "ann/2": ("2026-01-21", ["timestamp:metadata"], "query 2"),
        "ann/3": ("2026-01-21", ["timestamp:metadata"], "query 3"),
        "conversations.db:turn_index/7": ("2026-01-21", ["timestamp:metadata"], "query 7"),
        "conversations.db:turn_index/8": ("2026-01-21", ["timestamp:metadata"], "query 8"),
    }
    assert found.reasons == [
        ("ann/4", ["missing:timestamp"]),
        ("ann/5", ["wrong_type:timestamp"]),
        ("ann/6", ["out_of_range:timestamp"]),
    ]
    assert [row["event_date"] for row in found.tables["quarantine__rows"]] == [None] * 3


def test_a_date_from_metadata_follows_it(folder: Path) -> None:
    """G7: in runs that read only what changed: it comes, changes, moves within its day, vanishes and comes again."""
    home = folder.parent
    write(source(home), [{"timestamp": at()}, {"timestamp": None}])
    assert days(home) == {"ann/1": "2026-01-20"}
    turn_folder(folder, "turn_000002", metadata={"timestamp": at(days=1)})
    assert days(home) == {"ann/1": "2026-01-20", "ann/2": "2026-01-21"}
    turn_folder(folder, "turn_000002", metadata={"timestamp": at(days=2), "user_feedback_status": "accepted"})
    assert days(home) == {"ann/1": "2026-01-20", "ann/2": "2026-01-22"}
    turn_folder(folder, "turn_000002", metadata={"timestamp": at(days=2, hours=1)})
    found = derive(home).raw["ann/2"]
    assert (found["timestamp"], found["user_feedback_status"]) == (at(days=2, hours=1), None)
    (folder / "turn_000002" / "metadata.json").unlink()
    found = derive(home)
    assert list(found.raw) == ["ann/1"]
    assert found.reasons == [("ann/2", ["missing:timestamp"])]
    turn_folder(folder, "turn_000002", metadata={"timestamp": at()})
    found = derive(home)
    assert {key: str(row["event_date"]) for key, row in found.raw.items()} == {
        "ann/1": "2026-01-20",
        "ann/2": "2026-01-20",
    }
    assert found.reasons == []


def test_edits_of_a_turn_dated_by_metadata_are_noticed(folder: Path) -> None:
    """G7: quality_score is edited in place; such a row is in no day of the table's own."""
    home = folder.parent
    write(source(home), [{"timestamp": None, "quality_score": 0.9}])
    turn_folder(folder, "turn_000001", metadata={"timestamp": at()})
    assert derive(home).raw["ann/1"]["quality_score"] == 0.9
    change(source(home), "update turns set quality_score = 0.1")
    assert derive(home).raw["ann/1"]["quality_score"] == 0.1
    change(source(home), f"update turns set timestamp = {at(days=1)}")
    assert days(home) == {"ann/1": "2026-01-21"}


def test_a_turn_without_a_time_finds_its_transcript_by_its_metadata(folder: Path) -> None:
    """What a row gets does not depend on what is read beside it."""
    turn_folder(folder, "turn_000001", metadata={"timestamp": at(days=3)})
    transcript(folder, DAY, line(1, "another time"))
    transcript(folder, "20260123", line(1, "its own", timestamp=at(days=3)))
    timeless: Row = {"timestamp": None}
    assert queries(folder, timeless) == [("its own", None)]
    assert queries(folder, timeless, {"turn_number": 2}) == [("its own", None), (None, None)]


# --- transcripts -----------------------------------------------------------------------------------------------------------


def test_of_several_lines_about_a_turn_the_nearest_counts_then_the_last(folder: Path) -> None:
    """Lines that name the session come before those that do not; a line without a time comes last."""
    transcript(
        folder,
        DAY,
        line(1, "early", timestamp=at(minutes=-5)),
        line(1, "near", timestamp=iso(at(minutes=1))),
        line(1, "sessionless", None),
        line(1, "timeless", timestamp=None),
        line(2, "first", timestamp=at()),
        line(2, "last", timestamp=at()),
        line(3, "no session", ""),
        line(4, "timeless", timestamp="?"),
        line(5, "another session", "t"),
    )
    found = queries(folder, *({"turn_number": number} for number in range(1, 6)))
    assert [query for query, _ in found] == ["near", "last", "no session", "timeless", None]


def test_lines_of_the_days_around_count_and_no_others(folder: Path) -> None:
    """A file is named by the writer's own day. Rows of other days read together make no difference."""
    transcript(folder, "20260119", line(1, "the day before"))
    transcript(folder, NEXT_DAY, line(2, "the day after"))
    transcript(folder, "20260122", line(3, "too late"), line(4, "its day"))
    transcript(folder, "20269999", line(5, "no day"))
    rows: list[Row] = [{"turn_number": number} for number in range(1, 6)]
    rows[3] |= {"timestamp": at(days=2)}
    expected = ["the day before", "the day after", None, "its day", None]
    assert [query for query, _ in queries(folder, *rows)] == expected
    assert [queries(folder, row)[0][0] for row in rows] == expected


def test_unreadable_lines_are_counted_and_the_others_read(folder: Path) -> None:
    """G5: bad bytes, NULs, no JSON, no object, no number; blank lines are nothing."""
    home = folder.parent
    write(source(home), [{"timestamp": at()}, {"timestamp": at()}, {"timestamp": at(days=1)}], texts=False)
    transcript(
        folder,
        DAY,
        line(1, "one"),
        b'{"turn_number": 2, "query": "caf\xe9"}',
        '{"turn_number": 2, "query": "a\\u0000b"}',
        '{"turn_number": 2, "query": "half',
        "[2]",
        '"text"',
        '{"query": "whose?"}',
        "",
        "  ",
        line(2, "two"),
    )
    transcript(folder, NEXT_DAY, "\ufeff" + json.dumps(line(3, "three")), "broken")
    found = derive(home)
    assert found.queries == {f"ann/{n}": (text, "transcript") for n, text in ((1, "one"), (2, "two"), (3, "three"))}
    assert found.accounts["raw_conversations__turns"].unknown_words == {"transcripts=unreadable line": 7}


def test_unreadable_lines_are_those_of_all_transcripts_whatever_was_read(folder: Path) -> None:
    """The drift check after a run that read one day is the one of a run that read all."""
    home = folder.parent
    write(source(home), [{"timestamp": at()}, {"timestamp": at(days=8)}], texts=False)
    transcript(folder, DAY, "broken", "broken too")
    transcript(folder, "20260128", "broken")

    def lines(**choice: Any) -> int:
        return derive(home, **choice).accounts["raw_conversations__turns"].unknown_words["transcripts=unreadable line"]

    assert lines() == 3
    add(source(home), {"turn_number": 3, "timestamp": at(days=8)})
    assert lines() == lines(full=True) == 3
    transcript(folder, "20260128", line(2, "mended"))
    assert lines() == 2
    (folder / "transcripts" / f"{DAY}.jsonl").unlink()
    assert derive(home).accounts["raw_conversations__turns"].unknown_words == {}


def test_a_transcript_that_is_no_file_is_one_unreadable_line(folder: Path) -> None:
    home = folder.parent
    write(source(home), [{"timestamp": at(), "topic": "t"}], texts=False)
    (folder / "transcripts" / f"{DAY}.jsonl").mkdir(parents=True)
    found = derive(home)
    assert found.queries == {"ann/1": ("t", "topic")}
    assert found.accounts["raw_conversations__turns"].unknown_words == {"transcripts=unreadable line": 1}


def test_times_far_away_find_nothing_and_break_nothing(folder: Path) -> None:
    """G1: a row whose time is none is refused later; here it has no day."""
    transcript(folder, DAY, line(1))
    for seconds in (1e14, -1e14, 9e18, -1.0, 0.0, 4e9, float("inf"), float("nan")):
        assert queries(folder, {"timestamp": seconds}) == [(None, None)]


# --- whose text is it? -------------------------------------------------------------------------------------------------------


def two(**bob: Any) -> tuple[Row, Row]:
    """Turn 1 of two users."""
    return {"user_id": "ann", "session_id": "a"}, {"user_id": "bob", "session_id": "b", **bob}


def test_a_users_own_folder_comes_before_one_anyone_may_use(folder: Path) -> None:
    """sources.md: turn numbers are unique per user."""
    turn_folder(folder, "users/ann/turns/turn_000001", "ann asks")
    turn_folder(folder, "bob/turn_000001", "bob asks")
    turn_folder(folder, "turns/turn_000001", "someone asks")
    assert queries(folder, *two(), {"user_id": "cat"}) == [
        (None, "ann asks"),
        (None, "bob asks"),
        (None, "someone asks"),
    ]
    assert queries(folder, *two(), {"user_id": "cat"}, shared=(1,))[2] == (None, None)


def test_a_folder_of_another_session_is_someone_elses(folder: Path) -> None:
    """Whether or not the number is known to be shared; 'default' and '' name no session (G9)."""
    turn_folder(folder, "turn_000001", "ann asks", metadata={"session_id": "a"})
    turn_folder(folder, "turn_000002", "anyone asks", metadata={"session_id": "default"})
    for shared in ((), (1,)):
        assert queries(folder, *two(), shared=shared) == [(None, "ann asks"), (None, None)]
    assert queries(folder, {"turn_number": 2}) == [(None, "anyone asks")]
    assert queries(folder, {"turn_number": 2}, shared=(2,)) == [(None, None)]
    assert queries(folder, {"session_id": None}, shared=(1,)) == [(None, None)]


def test_a_path_of_another_machine_does_not_make_a_folder_ones_own(folder: Path) -> None:
    """The last part of a path is no more than the turn's number."""
    turn_folder(folder, "turn_000001", "ann asks", metadata={"session_id": "a"})
    turn_folder(folder, "turn_000002", "whoever asks")
    foreign = {"doc_path": "/mnt/disk/users/bob/turn_000001"}
    assert queries(folder, *two(**foreign)) == [(None, "ann asks"), (None, None)]
    row = {"turn_number": 2, "doc_path": "/mnt/disk/users/bob/turn_000002/response.md"}
    assert queries(folder, row) == [(None, "whoever asks")]
    assert queries(folder, row, shared=(2,)) == [(None, None)]


def test_a_shared_number_needs_a_line_of_ones_own_session_or_time(folder: Path) -> None:
    """Several users, one number: a line goes to the turn it can only be about."""
    transcript(
        folder,
        DAY,
        line(1, "ann asks", "a"),
        line(2, "no session", None),
        line(3, "both in one session", timestamp=at()),
        line(4, "no session and no time", None, timestamp=None),
    )
    assert queries(folder, *two(), shared=(1,)) == [("ann asks", None), (None, None)]
    near, far = {"timestamp": at(minutes=1 / 60)}, {"timestamp": at(minutes=1)}
    for number, twins in ((2, ()), (3, ((3, "s"),))):
        asked = [{"turn_number": number, **time} for time in (near, far)]
        assert [query is not None for query, _ in queries(folder, *asked, shared=(number,), twins=twins)] == [
            True,
            False,
        ]
        assert [query is not None for query, _ in queries(folder, *asked)] == [True, True]
    assert queries(folder, {"turn_number": 4}, shared=(4,)) == [(None, None)]
    assert queries(folder, {"turn_number": 4}) == [("no session and no time", None)]


@pytest.mark.parametrize("session", ["", "default", None])
def test_unknown_sessions_are_the_same_nobody(folder: Path, session: str | None) -> None:
    """G9: in the table and in the transcript."""
    transcript(folder, DAY, line(1, "asked", "default"), line(2, "asked", ""))
    assert queries(folder, {"session_id": session}, {"turn_number": 2, "session_id": session}) == [("asked", None)] * 2


def test_users_with_the_same_numbers_through_the_whole_intake(folder: Path) -> None:
    """The shared numbers are found in the table itself, with transcripts alone as well."""
    home = folder.parent
    users = ("ann", "bob")
    write(
        source(home),
        [{"user_id": u, "session_id": "", "turn_number": 1, "timestamp": at(hours=n)} for n, u in enumerate(users)],
    )
    transcript(folder, DAY, line(1, "ann asks", None, timestamp=at()))
    assert derive(home).queries == {"ann/1": ("ann asks", "transcript"), "bob/1": (None, None)}
    turn_folder(folder, "turn_000001", "who asks?", metadata={})
    turn_folder(folder, "users/bob/turns/turn_000001", "bob asks")
    assert derive(home).queries == {"ann/1": ("ann asks", "transcript"), "bob/1": ("bob asks", "folder")}


# --- named folders -----------------------------------------------------------------------------------------------------------

NAMED = {
    "relative": ("x/turn_000009", "inside"),
    "a file in it": ("x/turn_000009/context.md", "inside"),
    "with a dot": ("./x/turn_000009/", "inside"),
    "backslashes": ("x\\turn_000009", "inside"),
    "absolute, below ours": ("{folder}/x/turn_000009", "inside"),
    "absolute, of another machine": ("/srv/panda/x/turn_000009", "inside"),
    "Windows": ("C:\\panda\\x\\turn_000009\\response.md", "inside"),
    "relative to a folder above": ("sources/x/turn_000009", "inside"),
    "dots that lead out": ("../outside/turn_000009", None),
    "dots in the middle": ("x/../../outside/turn_000009", None),
    "dots that stay inside": ("x/../x/turn_000009", None),
    "absolute, outside": ("{outside}/turn_000009", None),
    "absolute with dots": ("{folder}/../outside/turn_000009", None),
    "not there": ("x/turn_000010", None),
    "no folder of a turn": ("x", None),
    "empty parts": ("/", None),
    "a text": ("see the wiki", None),
}


@pytest.mark.parametrize(("said", "query"), NAMED.values(), ids=list(NAMED))
@pytest.mark.parametrize("column", ["doc_path", "turn_dir"])
def test_a_named_folder_is_found_below_ours_and_nowhere_else(
    folder: Path, said: str, query: str | None, column: str
) -> None:
    """Absolute, relative, with `..`: nothing outside the database's folder is ever read."""
    outside = folder.parent / "outside"
    turn_folder(outside, "turn_000009", "outside")
    turn_folder(folder, "x/turn_000009", "inside")
    named = said.format(folder=folder, outside=outside)
    if column == "turn_dir":
        transcript(folder, DAY, line(1, "", turn_dir=named))
    assert queries(folder, {"doc_path": named} if column == "doc_path" else {}) == [(None, query)]


def test_the_transcripts_folder_comes_before_the_rows(folder: Path) -> None:
    """Both name one; the turn's number would find a third."""
    for name in ("x/turn_000001", "y/turn_000001", "turn_000001"):
        turn_folder(folder, name, name)
    assert queries(folder, {}) == [(None, "turn_000001")]
    assert queries(folder, {"doc_path": "y/turn_000001"}) == [(None, "y/turn_000001")]
    transcript(folder, DAY, line(1, "asked", turn_dir="x/turn_000001"))
    assert queries(folder, {"doc_path": "y/turn_000001"}) == [("asked", "x/turn_000001")]


# --- later changes -------------------------------------------------------------------------------------------------------------


def test_texts_that_change_later_are_read_again(folder: Path) -> None:
    """G7, long before as_of's last days: transcripts and folders that come, change or vanish."""
    home = folder.parent
    write(
        source(home),
        [{"timestamp": at(), "topic": "one"}, {"timestamp": at(minutes=1), "topic": "two"}],
        [{"created_at": at(), "turn_number": 500, "doc_path": "x/turn_009000", "session_id": "old"}],
        texts=False,
    )

    def texts() -> list[str | None]:
        return [row["query"] for row in derive(home).raw.values()]

    assert texts() == [None, "one", "two"]
    turn_folder(folder, "turn_000001", "from the folder")
    turn_folder(folder, "x/turn_009000", "named")
    assert texts() == ["named", "from the folder", "two"]
    turn_folder(folder, "x/turn_009000", "named anew")
    path = transcript(folder, DAY, line(1, "transcribed"), line(2, "transcribed too"))
    assert texts() == ["named anew", "transcribed", "transcribed too"]
    transcript(folder, DAY, line(1, "transcribed anew"))
    assert texts() == ["named anew", "transcribed anew", "two"]
    path.unlink()
    (folder / "turn_000001" / "context.md").unlink()
    assert texts() == ["named anew", "one", "two"]


def test_a_range_of_days_leaves_the_others_to_the_next_run(folder: Path) -> None:
    """G7: --from/--to read only what was asked for; a transcript that changed is not forgotten."""
    home = folder.parent
    write(source(home), [{"timestamp": at()}, {"timestamp": at(days=5)}], texts=False)
    derive(home)
    transcript(folder, DAY, line(1, "one"))
    later = derive(home, days=(date(2026, 1, 25), date(2026, 1, 25)))
    assert later.queries["ann/1"] == (None, None)
    assert derive(home).queries["ann/1"] == ("one", "transcript")


# --- texts that are nobody else's ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("session", ["s", "default"])
def test_one_line_and_one_folder_are_about_one_turn(folder: Path, session: str) -> None:
    """Two users with the same numbers in the same (or an unknown) session: only the time tells whose a text is."""
    home = folder.parent
    rows: list[Row] = [
        {"user_id": user, "session_id": session, "turn_number": number, "timestamp": at(minutes=minute), "topic": "own"}
        for user, number, minute in (("ann", 1, 0), ("ann", 2, 1), ("bob", 1, 2), ("bob", 2, 3))
    ]
    write(source(home), rows)
    transcript(folder, DAY, line(1, "ann asks", session), line(2, "ann goes on", session, timestamp=at(minutes=1)))
    for user, number, minute in (("ann", 1, 0), ("bob", 2, 3)):
        metadata = {"session_id": session, "timestamp": at(minutes=minute)}
        turn_folder(folder, f"turn_{number:06}", f"{user} in a folder", f"said to {user}", metadata)
    assert derive(home).queries == {
        "ann/1": ("ann asks", "transcript"),
        "ann/2": ("ann goes on", "transcript"),
        "bob/1": ("own", "topic"),
        "bob/2": ("bob in a folder", "folder"),
    }


def test_links_are_not_followed(folder: Path) -> None:
    """They may lead out of the database's folder."""
    home, elsewhere = folder.parent, folder.parent / "elsewhere"
    turn_folder(elsewhere, "turn_000001", "secret", "secret", {"session_id": "s"})
    (folder / "turn_000001").symlink_to(elsewhere / "turn_000001")
    turn_folder(folder, "turn_000002", "open", None, {"session_id": "s"})
    (folder / "turn_000002" / "response.md").symlink_to(elsewhere / "turn_000001" / "response.md")
    transcript(elsewhere, DAY, line(3, "secret"))
    (folder / "transcripts").symlink_to(elsewhere / "transcripts")
    write(source(home), [{"turn_number": number, "timestamp": at(), "topic": "own"} for number in (1, 2, 3)])
    found = derive(home)
    assert {key: query for key, (query, _) in found.queries.items()} == {
        "ann/1": "own",
        "ann/2": "open",
        "ann/3": "own",
    }
    assert found.raw["ann/2"]["response"] is None
    assert found.raw["ann/2"]["repairs"] == ["link:response.md"]


@pytest.mark.parametrize("kind", ["pipe", "socket", "folder"])
def test_what_is_no_plain_file_is_not_opened_and_said(folder: Path, kind: str) -> None:
    """A pipe would keep the run waiting for ever."""
    home = folder.parent
    write(source(home), [{"turn_number": 1, "timestamp": at(), "topic": "own"}], texts=False)
    turn_folder(folder, "turn_000001")
    paths = [folder / "turn_000001" / name for name in FILES] + [folder / "transcripts" / f"{DAY}.jsonl"]
    with contextlib.ExitStack() as stack:
        for path in paths:
            path.parent.mkdir(exist_ok=True)
            path.unlink(missing_ok=True)
            if kind == "pipe":
                os.mkfifo(path)
            elif kind == "folder":
                path.mkdir()
            else:
                place = stack.enter_context(socket.socket(socket.AF_UNIX))
                with contextlib.chdir(path.parent):  # the name of a socket must be short
                    place.bind(path.name)
        found = derive(home)
    assert found.queries == {"ann/1": ("own", "topic")}
    assert found.raw["ann/1"]["repairs"] == [f"not_a_file:{name}" for name in FILES]
    assert found.accounts["raw_conversations__turns"].unknown_words == {"transcripts=unreadable line": 1}


def test_a_text_of_enormous_length_is_left_out_and_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_folders, "MOST_BYTES", 200)
    home = folder.parent
    write(source(home), [{"turn_number": 1, "timestamp": at(), "topic": "own"}])
    turn_folder(folder, "turn_000001", "short", "é" * 100, {})
    assert derive(home).raw["ann/1"]["response"] == "é" * 100
    (folder / "turn_000001" / "response.md").write_text("x" + "é" * 100, encoding="utf-8")
    turn = derive(home).raw["ann/1"]
    assert (turn["query"], turn["response"], turn["repairs"]) == ("short", None, ["too_long:response.md"])


def test_a_number_that_comes_to_be_shared_takes_away_what_was_taken_for_granted(folder: Path) -> None:
    """G2: the same sources give the same tables, whatever was there before."""
    home = folder.parent
    write(source(home), [{"turn_number": 1, "timestamp": at(), "topic": "own"}])
    turn_folder(folder, "turn_000001", "whoever asks")
    assert derive(home).queries == {"ann/1": ("whoever asks", "folder")}
    add(source(home), {"user_id": "bob", "turn_number": 1, "timestamp": at(days=8), "topic": "other"})
    assert derive(home).queries == {"ann/1": ("own", "topic"), "bob/1": ("other", "topic")}


@pytest.mark.parametrize(
    ("stored", "ours"),
    [
        ("explicit_correction", "explicit"),
        ("Rephrased_Query", "rephrased"),
        ("abandoned", "abandonment"),
        ("other", None),
    ],
)
def test_the_sources_own_correction_type_is_mapped_onto_ours(folder: Path, stored: str, ours: str | None) -> None:
    """C3: kept beside the detected one; only metadata.json has it (seed 1)."""
    write(source(folder.parent), [{"turn_number": 1, "timestamp": at(), "query": "asked"}])
    feedback = {"status": "rejected", "correction_type": stored, "confidence": 0.9}
    turn_folder(folder, "turn_000001", metadata={"session_id": "s", "user_feedback": feedback})
    turn = derive(folder.parent).turns["ann/1"]
    assert (turn["source_status"], turn["source_correction_type"], turn["correction_type"]) == ("rejected", ours, None)
