"""What is worked out for each feedback row: voters and voices (F3), comments (F7), vocabularies (G8), ids (G9), contexts."""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest

from dagster_project.contracts.columns import DOMAINS
from dagster_project.contracts.source_table import POLARS_TYPES
from dagster_project.intake.quarantine import split
from dagster_project.systems.feedback.columns import CORRECTION_TYPES, FEEDBACK_TYPES, FLAG_TYPES
from dagster_project.systems.feedback.keys import feedback_keys
from dagster_project.systems.feedback.schema import ENTRIES as SCHEMA
from dagster_project.systems.feedback.source import ENTRIES, canonical

MOMENT = 1_768_000_000.25
RATING: dict[str, Any] = dict.fromkeys(ENTRIES.columns) | {
    "feedback_id": "f1",
    "response_id": "r1",
    "session_id": "s1",
    "user_id": "u1",
    "timestamp": MOMENT,
    "feedback_type": "rating",
    "rating": 1,
    "original_query": "How?",
    "original_response": "So.",
    "domain": "code",
}
CORRECTION = RATING | {"feedback_type": "correction", "rating": None, "correction": "Like this."}
PREFERENCE = RATING | {"feedback_type": "preference", "rating": None, "preferred_response": "Better."}
FLAG = RATING | {"feedback_type": "flag", "rating": None, "flag_type": "harmful"}
EMPTY = ["", " ", "\t\n", "\u00a0\u2003", None]


def entries(*rows: Mapping[str, Any], scale: str = "thumbs") -> pl.DataFrame:
    """Rows as they come from the source, after the row rules; none of them may be refused."""
    schema = {name: POLARS_TYPES[kind] for name, kind in ENTRIES.columns.items()}
    raw = pl.DataFrame(list(rows), schema=schema).with_columns(pl.lit([], dtype=pl.List(pl.String)).alias("problems"))
    kept, refused = split(canonical(raw, scale), SCHEMA)
    assert refused["reasons"].to_list() == []
    return kept


def reasons(row: Mapping[str, Any], scale: str = "thumbs") -> list[str]:
    """Why a row is refused."""
    schema = {name: POLARS_TYPES[kind] for name, kind in ENTRIES.columns.items()}
    raw = pl.DataFrame([row], schema=schema).with_columns(pl.lit([], dtype=pl.List(pl.String)).alias("problems"))
    _, refused = split(canonical(raw, scale), SCHEMA)
    return refused["reasons"][0].to_list() if refused.height else []


def keys(*rows: Mapping[str, Any], scale: str = "thumbs") -> list[dict[str, Any]]:
    return feedback_keys(entries(*rows, scale=scale), "gristmill").rows(named=True)


def key(row: Mapping[str, Any], scale: str = "thumbs") -> dict[str, Any]:
    return keys(row, scale=scale)[0]


def test_a_plain_row() -> None:
    """F2, F3: everything that is said of a thumbs-up, but for the hashes."""
    found = key(RATING | {"escalated_to_claude": 1, "processed": 1, "quality_weight": 0.25, "response_confidence": 0.5})
    hashes = ("response_key", "voice_key", "thread_key", "answer_key", "answer_hash", "loose_hash")
    assert all(isinstance(found.pop(name), int) for name in hashes)
    assert found == {
        "feedback_id": "f1",
        "response_id": "r1",
        "session_id": "s1",
        "user_id": "u1",
        "voter_id": "user:u1",
        "occurred_at": datetime(2026, 1, 9, 23, 6, 40, 250_000, UTC),
        "event_date": datetime(2026, 1, 9).date(),
        "feedback_type": "rating",
        "effective_type": "rating",
        "sentiment": "positive",
        "comment": None,
        "rating": 1,
        "rating_scale": "thumbs",
        "correction_type": None,
        "flag_type": None,
        "domain": "code",
        "error_type": None,
        "response_confidence": 0.5,
        "is_escalated": True,
        "is_processed": True,
        "source_quality_weight": 0.25,
        "what_was_wrong_length": None,
        "correction_length": None,
        "comparison_basis_length": None,
        "has_query": True,
        "has_answer": True,
        "prompt_key": hashlib.sha256(b"how?").hexdigest()[:16],
        "split": "validation",
        "correction_hash": None,
        "preferred_hash": None,
        "record_hash": None,
        "is_fragment": None,
        "is_respaced": None,
        "is_unseen_attempt": False,
    }


# --- F3 --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("user", "session", "voter"),
    [
        ("u1", "s1", "user:u1"),
        ("u1", "default", "user:u1"),
        (None, "s1", "session:s1"),
        ("", "s1", "session:s1"),
        ("default", "s1", "session:s1"),
        ("default", "default", "row:f1"),
        (None, "default", "row:f1"),
        ("Default", "s1", "user:Default"),
        (" ", "s1", "user: "),
    ],
)
def test_voters(user: str | None, session: str, voter: str) -> None:
    """F3, G9: the person, else the session, else nobody but this row; '' and 'default' are unknown."""
    found = key(RATING | {"user_id": user, "session_id": session})
    assert found["voter_id"] == voter
    assert found["user_id"] == (None if user in (None, "", "default") else user)
    assert found["session_id"] == (None if session == "default" else session)


SAME_VOICE = [
    ("two ratings", RATING, RATING | {"rating": -1}),
    ("a rating and a comment", RATING, CORRECTION | {"rating": -1, "correction": "no good"}),
    ("two comments", CORRECTION | {"rating": -1}, CORRECTION | {"rating": 1, "correction": "nice"}),
    ("a rating with other content", RATING, RATING | {"flag_details": "x", "correction": "y"}),
    ("another query", RATING, RATING | {"original_query": "Why?"}),
    ("the same correction later", CORRECTION, CORRECTION | {"timestamp": MOMENT + 9}),
    ("the same flag in another domain", FLAG, FLAG | {"domain": "factual"}),
    ("a type spelt otherwise", FLAG, FLAG | {"feedback_type": " Flag "}),
    ("the same user, another session", RATING, RATING | {"session_id": "s2"}),
]
OTHER_VOICE = [
    ("another response", RATING, RATING | {"response_id": "r2"}),
    ("another user", RATING, RATING | {"user_id": "u2"}),
    ("a user and a session of one name", RATING, RATING | {"user_id": None, "session_id": "u1"}),
    ("a rating and a correction", RATING, CORRECTION),
    ("a rating and a flag", RATING, FLAG),
    *[
        (f"another {column}", CORRECTION, CORRECTION | {column: value})
        for column, value in (
            ("correction", "Like this"),
            ("correction", "Like this. "),
            ("correction_type", "addition"),
            ("what_was_wrong", "all"),
            ("what_was_wrong", ""),
            ("comparison_basis", "b"),
            ("flag_type", "f"),
            ("flag_details", "d"),
            ("preferred_response", "p"),
        )
    ],
    ("a rating on a flag", FLAG, FLAG | {"rating": -1}),
    ("another preferred answer", PREFERENCE, PREFERENCE | {"preferred_response": "Best."}),
    ("a flag and a preference", FLAG | {"preferred_response": "Better."}, PREFERENCE | {"flag_type": "harmful"}),
    (
        "two unknown voters",
        RATING | {"user_id": None, "session_id": "default"},
        RATING | {"user_id": None, "session_id": "default", "feedback_id": "f2"},
    ),
]


@pytest.mark.parametrize(("one", "other"), [case[1:] for case in SAME_VOICE], ids=[case[0] for case in SAME_VOICE])
def test_one_voice(one: dict[str, Any], other: dict[str, Any]) -> None:
    """F3: all ratings of a voter on a response are one voice, and so are other rows of equal raw content."""
    first, second = keys(one, {"feedback_id": "f2"} | other)
    assert first["voice_key"] == second["voice_key"]


@pytest.mark.parametrize(("one", "other"), [case[1:] for case in OTHER_VOICE], ids=[case[0] for case in OTHER_VOICE])
def test_another_voice(one: dict[str, Any], other: dict[str, Any]) -> None:
    """F3: another voter, response, type or raw content is another voice."""
    first, second = keys(one, other)
    assert first["voice_key"] != second["voice_key"]


def test_the_same_rows_in_another_order_have_the_same_keys() -> None:
    """G2: keys depend on the row alone, not on its neighbours."""
    rows = [row | {"feedback_id": f"f{n}"} for n, row in enumerate((RATING, CORRECTION, PREFERENCE, FLAG))]
    together = keys(*rows)
    assert [key(row) for row in rows] == together
    assert keys(*reversed(rows)) == together[::-1]


# --- F2, F7 ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scale", "rating", "sentiment"),
    [
        ("thumbs", 1, "positive"),
        ("thumbs", -1, "negative"),
        ("five", 1, "negative"),
        ("five", 2, "negative"),
        ("five", 3, "neutral"),
        ("five", 4, "positive"),
        ("five", 5, "positive"),
    ],
)
def test_sentiment(scale: str, rating: int, sentiment: str) -> None:
    """F2: by the configured scale, and only for ratings."""
    assert key(RATING | {"rating": rating}, scale)["sentiment"] == sentiment
    assert key(FLAG | {"rating": rating}, scale)["sentiment"] is None
    with_type = CORRECTION | {"rating": rating, "correction_type": "addition"}
    assert key(with_type, scale)["sentiment"] is None


@pytest.mark.parametrize(
    ("scale", "rating"),
    [("thumbs", 0), ("thumbs", 2), ("thumbs", -2), ("thumbs", 5), ("five", 0), ("five", 6), ("five", -1)],
)
def test_ratings_outside_the_scale(scale: str, rating: int) -> None:
    """F2: on a row of any type."""
    for row in (RATING, CORRECTION, PREFERENCE, FLAG):
        assert reasons(row | {"rating": rating}, scale) == ["out_of_range:rating"]


LONG = "c" * 81
COMMENTS = [
    # scale, rating, text, sentiment of the comment or None for a correction
    ("thumbs", -1, "bad", "negative"),
    ("thumbs", -1, LONG, "negative"),
    ("thumbs", -1, "two\nlines", "negative"),
    ("thumbs", 1, "good", "positive"),
    ("thumbs", 1, "c" * 80, "positive"),
    ("thumbs", 1, "ß" * 80, "positive"),
    ("thumbs", 1, "🌾" * 80, "positive"),
    ("thumbs", 1, LONG, None),
    ("thumbs", 1, "two\nlines", None),
    ("thumbs", 1, "two\r\nlines", None),
    ("thumbs", 1, "two\rlines", None),
    ("thumbs", None, "good", None),
    ("five", 1, LONG, "negative"),
    ("five", 2, "bad", "negative"),
    ("five", 3, "so so", None),
    ("five", 4, "good", "positive"),
    ("five", 5, "c" * 80, "positive"),
    ("five", 5, LONG, None),
    ("five", 4, "two\nlines", None),
    ("five", None, "good", None),
]


@pytest.mark.parametrize(("scale", "rating", "text", "sentiment"), COMMENTS)
def test_comments(scale: str, rating: int | None, text: str, sentiment: str | None) -> None:
    """F7: a bare remark is a rating with a comment; any other correction without a type is one of unknown type."""
    found = key(CORRECTION | {"rating": rating, "correction": text}, scale)
    assert found["feedback_type"] == "correction"
    assert found["effective_type"] == ("correction" if sentiment is None else "rating")
    assert found["sentiment"] == sentiment
    assert found["comment"] == (None if sentiment is None else text)
    assert found["correction_type"] is None
    assert found["correction_length"] == (len(text) if sentiment is None else None)
    assert (found["error_type"] is None) is (sentiment is not None)
    assert (found["record_hash"] is None) is (sentiment is not None)


@pytest.mark.parametrize("kind", EMPTY)
@pytest.mark.parametrize("wrong", EMPTY)
def test_blank_type_and_explanation_make_a_comment(kind: str | None, wrong: str | None) -> None:
    """F7: empty after trimming, both of them."""
    found = key(CORRECTION | {"rating": -1, "correction_type": kind, "what_was_wrong": wrong})
    assert (found["effective_type"], found["comment"]) == ("rating", "Like this.")


@pytest.mark.parametrize("said", [{"correction_type": "addition"}, {"correction_type": "?"}, {"what_was_wrong": "."}])
def test_type_or_explanation_makes_a_correction(said: dict[str, str]) -> None:
    """F7: whoever says what was wrong, or of what kind the correction is, corrects."""
    for rating in (1, -1):
        found = key(CORRECTION | {"rating": rating} | said)
        assert (found["effective_type"], found["comment"], found["sentiment"]) == ("correction", None, None)


def test_only_corrections_are_comments() -> None:
    """F7: a rated preference or flag stays what it is."""
    for row in (PREFERENCE, FLAG):
        found = key(row | {"rating": -1, "correction": "bad"})
        assert (found["effective_type"], found["comment"]) == (row["feedback_type"], None)


# --- G8, G9 ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spelling", ["{}", " {}", "{}\n", "\u00a0{}\u2003"])
@pytest.mark.parametrize("upper", [False, True])
def test_vocabularies_are_trimmed_and_lower_case(spelling: str, upper: bool) -> None:
    """G8: every word of every vocabulary."""

    def spelt(word: str) -> str:
        return spelling.format(word.upper() if upper else word)

    complete = {"rating": 1, "correction": "c", "preferred_response": "p", "flag_type": "other", "what_was_wrong": "w"}
    types = keys(*(RATING | complete | {"feedback_type": spelt(word)} for word in FEEDBACK_TYPES))
    assert [row["feedback_type"] for row in types] == list(FEEDBACK_TYPES)
    corrections = keys(*(CORRECTION | {"correction_type": spelt(word)} for word in CORRECTION_TYPES))
    assert [row["correction_type"] for row in corrections] == list(CORRECTION_TYPES)
    flags = keys(*(FLAG | {"flag_type": spelt(word)} for word in FLAG_TYPES))
    assert [row["flag_type"] for row in flags] == list(FLAG_TYPES)
    domains = keys(*(RATING | {"domain": spelt(word)} for word in DOMAINS))
    assert [row["domain"] for row in domains] == list(DOMAINS)


def test_unknown_words_of_open_vocabularies() -> None:
    """G8: domain to general, correction_type to null, flag_type to other."""
    assert [key(RATING | {"domain": word})["domain"] for word in ("cooking", "", None)] == ["general"] * 3
    assert key(CORRECTION | {"correction_type": "rewrite"})["correction_type"] is None
    assert key(CORRECTION | {"correction_type": "rewrite"})["effective_type"] == "correction"
    assert key(FLAG | {"flag_type": "spam"})["flag_type"] == "other"
    assert key(RATING | {"flag_type": "spam"})["flag_type"] is None
    assert key(RATING | {"correction_type": "addition"})["correction_type"] is None


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("thumb", "unknown:feedback_type"),
        (" ", "unknown:feedback_type"),
        ("", "missing:feedback_type"),
        (None, "missing:feedback_type"),
    ],
)
def test_feedback_type_is_closed(kind: str | None, reason: str) -> None:
    """G8, F1: any other word is refused; an empty one is missing."""
    assert reasons(RATING | {"feedback_type": kind}) == [reason]


@pytest.mark.parametrize(
    ("row", "column"),
    [(RATING, "rating"), (CORRECTION, "correction"), (PREFERENCE, "preferred_response"), (FLAG, "flag_type")],
)
def test_what_each_type_needs(row: dict[str, Any], column: str) -> None:
    """F1: the type's own column, not blank."""
    for blank in [None] if column == "rating" else EMPTY:
        assert reasons(row | {column: blank}) == [f"missing:{column}"]
    assert reasons(row) == []


# --- contexts and texts ----------------------------------------------------------------------------------------------


def test_contexts() -> None:
    """F6: null and empty are one context, and contexts are compared as prompts (G10)."""
    threads = [key(RATING | {"conversation_context": text})["thread_key"] for text in EMPTY]
    assert len(set(threads)) == 1
    spellings = ("Earlier: hello", " earlier:\nHELLO ", "Earlier: bye")
    one, same, other = (key(RATING | {"conversation_context": text}) for text in spellings)
    assert one["thread_key"] == same["thread_key"] != threads[0]
    assert one["answer_key"] == same["answer_key"] != other["answer_key"]
    assert one["thread_key"] != other["thread_key"]
    assert one["prompt_key"] == other["prompt_key"] and one["split"] == other["split"]


def test_prompts_and_answers() -> None:
    """G10: prompts regardless of case and space; answers regardless of line ends and the space around them."""
    one, same, other = keys(
        RATING | {"original_query": "How  TO?", "original_response": "a\r\nb "},
        RATING | {"original_query": " how to?", "original_response": "a\nb"},
        RATING | {"original_query": "how to?", "original_response": "A\nb"},
    )
    assert (one["prompt_key"], one["answer_key"]) == (same["prompt_key"], same["answer_key"])
    assert one["thread_key"] == other["thread_key"]
    assert one["answer_key"] != other["answer_key"]


def test_sides_of_a_pair_are_compared_as_answers() -> None:
    """T1 (no_contrast): a correction or preferred answer that says the same has the hash of the answer."""
    corrected, preferred = keys(
        CORRECTION | {"correction": " So.\r\n", "what_was_wrong": "all"}, PREFERENCE | {"preferred_response": "So."}
    )
    assert corrected["correction_hash"] == corrected["answer_hash"] == preferred["preferred_hash"]
    assert key(CORRECTION)["correction_hash"] != corrected["answer_hash"]


@pytest.mark.parametrize("blank", EMPTY[:-1])
def test_blank_texts_are_valid_but_marked(blank: str) -> None:
    """F1: an empty query or answer counts in metrics, not in training."""
    found = key(RATING | {"original_query": blank, "original_response": blank})
    assert (found["has_query"], found["has_answer"]) == (False, False)


def test_lengths_count_code_points() -> None:
    """F4: of the columns of the row's own effective type."""
    said = {"what_was_wrong": "ü🌾", "correction": "é" * 3, "comparison_basis": "ß" * 4}
    names = ("what_was_wrong_length", "correction_length", "comparison_basis_length")
    rows = keys(CORRECTION | said, PREFERENCE | said, RATING | said)
    assert [tuple(row[name] for name in names) for row in rows] == [(2, 3, None), (None, None, 4), (None, None, None)]


def test_what_a_correction_record_says() -> None:
    """T2: equal where answer, explanation (with its full stop) and correction are; null for other rows."""
    base = CORRECTION | {"what_was_wrong": "Too long"}
    same = [base | {"what_was_wrong": " Too long. "}, base | {"correction": "Like this.\n"}]
    other = [
        base | {"what_was_wrong": "Too long!"},
        base | {"correction": "Like that."},
        base | {"original_response": "No."},
    ]
    expected = key(base)["record_hash"]
    assert [key(row)["record_hash"] for row in same] == [expected] * 2
    assert expected not in [key(row)["record_hash"] for row in other]
