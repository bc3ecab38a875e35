"""core__voices, core__answers, core__condemned_answers, core__feedback: one voice per person (F3), weights (F4, F5), contested
and condemned answers (F8)."""

import zlib
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dagster_project.engines import queries
from tests.sql.harness import AS_OF, run_sql


def feedback(folder: Path, *rows: dict[str, Any], flagged: Sequence[dict[str, Any]] = ()) -> pl.DataFrame:
    """core__feedback as the pipeline makes it, from rows of core__feedback_keys and what `responses` shows."""
    keys = [{"response_key": zlib.crc32(row.get("response_id", "r1").encode())} | row for row in rows]
    made: dict[str, Any] = {
        "core__feedback_keys": keys,
        "core__flagged_responses": list(flagged),
        "core__distilled_answers": [],
    }
    for table in (
        "core__voices",
        "core__answers",
        "core__condemned_answers",
        "core__feedback",
    ):
        inputs = {name: made[name] for name in queries.query(table).inputs}
        result = run_sql(folder / table, table, inputs)
        made[table] = result.to_dicts()
    return result


def ago(**span: float) -> Any:
    return AS_OF - timedelta(**span)


CORRECTION = {"effective_type": "correction", "sentiment": None}
PREFERENCE = {"effective_type": "preference", "sentiment": None}
REPLACED = {"correction_length": 250, "what_was_wrong_length": 71, "correction_type": "full_replacement"}
GOLDEN: list[tuple[str, dict[str, Any], float]] = [
    # (what, columns, weight at age 0): seed 0's samples and examples, by its own algorithm
    ("rating sample", {}, 0.60),
    ("correction sample (addition)", CORRECTION | {"correction_length": 119, "what_was_wrong_length": 55}, 0.90),
    ("preference sample", PREFERENCE | {"comparison_basis_length": 27}, 0.70),
    ("example 1", {}, 0.60),
    ("example 2", CORRECTION | REPLACED, 0.95),
    ("example 3", PREFERENCE | {"comparison_basis_length": 67}, 0.75),
]


@pytest.mark.parametrize(("what", "columns", "weight"), GOLDEN, ids=[g[0] for g in GOLDEN])
def test_golden_weights(tmp_path: Path, what: str, columns: dict[str, Any], weight: float) -> None:
    """F4: the documents' samples at age 0."""
    row = feedback(tmp_path, {"occurred_at": ago(microseconds=1), **columns}).row(0, named=True)
    assert row["quality_weight"] == weight


def test_weight_decays_to_half_and_keeps_its_parts(tmp_path: Path) -> None:
    """F4: half-life 30 days on the decaying half; a thumbs-down on an overconfident, escalated answer."""
    row = feedback(
        tmp_path,
        {
            "occurred_at": ago(days=30),
            "sentiment": "negative",
            "rating": -1,
            "response_confidence": 0.9,
            "is_escalated": True,
        },
    ).row(0, named=True)
    assert row["weight_parts"]["temporal_factor"] == 0.75
    assert row["weight_parts"]["overconfidence_bonus"] == 0.1
    assert row["weight_parts"]["escalation_bonus"] == 0.05
    assert row["quality_weight"] == 0.6 * 0.75 + 0.15
    assert (row["tier"], row["base_tier"]) == ("standard", "high")


def test_overconfidence_looks_at_the_rating_of_any_type(tmp_path: Path) -> None:
    """F4: a flag with rating -1 gets the bonus too; confidence must be over 0.8."""
    row = {
        "effective_type": "flag",
        "sentiment": None,
        "flag_type": "other",
        "rating": -1,
        "occurred_at": ago(microseconds=1),
    }
    weights = feedback(
        tmp_path,
        {"feedback_id": "a", "response_confidence": 0.81, "voice_key": 1, **row},
        {"feedback_id": "b", "response_confidence": 0.8, "voice_key": 2, **row},
    )["quality_weight"].to_list()
    assert weights == [0.6, 0.5]


def test_the_latest_rating_counts_and_the_earliest_of_equal_others(tmp_path: Path) -> None:
    """F3: ties on time go to the larger id among ratings, to the smaller among others."""
    other = {"effective_type": "flag", "sentiment": None, "flag_type": "other", "voice_key": 2}
    rows = feedback(
        tmp_path,
        {"feedback_id": "a", "occurred_at": ago(hours=2)},
        {"feedback_id": "b", "occurred_at": ago(hours=1)},
        {"feedback_id": "c", "occurred_at": ago(hours=1), "sentiment": "negative", "rating": -1},
        {"feedback_id": "d", "occurred_at": ago(hours=1), **other},
        {"feedback_id": "e", "occurred_at": ago(hours=1), **other},
    )
    assert rows.select("feedback_id", "status", "status_ref").rows() == [
        ("a", "superseded", "c"),
        ("b", "superseded", "c"),
        ("c", "active", None),
        ("d", "active", None),
        ("e", "duplicate", "d"),
    ]


def test_rows_at_or_after_as_of_are_not_there(tmp_path: Path) -> None:
    """G2: before as_of; a later vote does not supersede."""
    rows = feedback(
        tmp_path, {"feedback_id": "a", "occurred_at": ago(hours=1)}, {"feedback_id": "b", "occurred_at": AS_OF}
    )
    assert rows.select("feedback_id", "status").rows() == [("a", "active")]


CONTESTED = [
    # (other rows on the same answer, is the thumbs-up contested)
    ([], False),
    ([{"sentiment": "negative"}], True),
    ([{"sentiment": "negative"}, {"sentiment": "positive"}], False),
    ([{"sentiment": "neutral"}], False),
    ([{"effective_type": "flag", "sentiment": None, "flag_type": "incorrect"}], True),
    ([{"effective_type": "flag", "sentiment": None, "flag_type": "unhelpful"}], False),
    ([{"effective_type": "correction", "sentiment": None}], True),
    ([{"effective_type": "preference", "sentiment": None}], False),
]


@pytest.mark.parametrize(("others", "expected"), CONTESTED)
def test_contested(tmp_path: Path, others: list[dict[str, Any]], expected: bool) -> None:
    """F8: a thumbs-up needs more ups than downs, and nobody who flagged or corrected the answer."""
    rows = [
        {
            "feedback_id": f"z{n}",
            "response_id": f"r{n + 2}",
            "voter_id": f"user:v{n}",
            "voice_key": n + 2,
            "occurred_at": ago(hours=1),
            **other,
        }
        for n, other in enumerate(others)
    ]
    first = feedback(tmp_path, {"feedback_id": "a", "occurred_at": ago(hours=1)}, *rows).row(0, named=True)
    assert first["is_contested"] is expected


NO_TEXTS = {"has_query": False, "has_answer": False, "thread_key": None, "answer_key": None, "answer_hash": None}
FLAG = {"effective_type": "flag", "sentiment": None}
WITHOUT_TEXTS = [
    # (what somebody else says of the same response without a text, is the thumbs-up contested)
    ({**FLAG, "flag_type": "harmful"}, True),
    ({**FLAG, "flag_type": "incorrect"}, True),
    ({**FLAG, "flag_type": "off_topic"}, False),
    ({"effective_type": "correction", "sentiment": None}, True),
    ({"effective_type": "preference", "sentiment": None}, False),
    ({"sentiment": "negative", "rating": -1}, True),
    ({"sentiment": "positive"}, False),
]


@pytest.mark.parametrize(("other", "expected"), WITHOUT_TEXTS)
def test_what_the_api_says_of_a_response_counts_without_its_texts(
    tmp_path: Path, other: dict[str, Any], expected: bool
) -> None:
    """F8: a rating is judged by the rows that share its response_id, with or without texts of their own."""
    other = {
        "feedback_id": "b",
        "voter_id": "user:u2",
        "voice_key": 2,
        "occurred_at": ago(hours=1),
        **NO_TEXTS,
        **other,
    }
    rows = feedback(tmp_path, {"feedback_id": "a", "occurred_at": ago(hours=1)}, other)
    assert rows.row(0, named=True)["is_contested"] is expected


def test_empty_texts_are_nobody_elses(tmp_path: Path) -> None:
    """F1: a complaint without texts says nothing of another response without texts."""
    up = {"feedback_id": "a", "response_id": "r1", "occurred_at": ago(hours=1), **NO_TEXTS}
    other = {
        "feedback_id": "b",
        "response_id": "r2",
        "voter_id": "user:u2",
        "voice_key": 2,
        "occurred_at": ago(hours=1),
    }
    complaint = {**other, **NO_TEXTS, "sentiment": "negative", "rating": -1}
    assert feedback(tmp_path, up, complaint)["is_contested"].to_list() == [False, False]


def test_the_latest_of_a_voters_ratings_over_several_responses(tmp_path: Path) -> None:
    """F8: of one voter's ratings on an answer the latest, also where it was given to several responses."""
    rows = [
        {"feedback_id": "first", "response_id": "r1", "voice_key": 1, "occurred_at": ago(hours=3)},
        {
            "feedback_id": "later",
            "response_id": "r2",
            "voice_key": 2,
            "occurred_at": ago(hours=2),
            "sentiment": "negative",
            "rating": -1,
        },
        {
            "feedback_id": "other",
            "response_id": "r3",
            "voice_key": 3,
            "occurred_at": ago(hours=1),
            "voter_id": "user:u2",
        },
    ]
    found = dict(feedback(tmp_path, *rows).select("feedback_id", "is_contested").iter_rows())
    assert found == {"first": True, "later": True, "other": True}  # one up, one down


HARMFUL = {
    **FLAG,
    "flag_type": "harmful",
    "feedback_id": "flag",
    "voter_id": "user:u9",
    "voice_key": 9,
    "occurred_at": ago(hours=1),
}
CONDEMNED = [
    # (rows beside a thumbs-up of answer 1 on response r1, what `responses` shows, is the thumbs-up contested)
    ("flagged itself", [{**HARMFUL, "response_id": "r1"}], [], True),
    ("another response that shows it", [{**HARMFUL, "response_id": "r2"}], [], True),
    ("another response, without texts", [{**HARMFUL, **NO_TEXTS, "response_id": "r2"}], [], False),
    ("shown by `responses`", [{**HARMFUL, **NO_TEXTS, "response_id": "r2"}], [(1, 1)], True),
    ("another answer shown", [{**HARMFUL, **NO_TEXTS, "response_id": "r2"}], [(1, 2)], False),
    ("another prompt shown", [{**HARMFUL, **NO_TEXTS, "response_id": "r2"}], [(2, 1)], False),
    (
        "shown by a row that was superseded",
        [
            {**HARMFUL, **NO_TEXTS, "response_id": "r2"},
            {
                "feedback_id": "old",
                "response_id": "r2",
                "voter_id": "user:u3",
                "voice_key": 3,
                "occurred_at": ago(hours=3),
            },
            {
                "feedback_id": "new",
                "response_id": "r2",
                "voter_id": "user:u3",
                "voice_key": 3,
                "occurred_at": ago(hours=2),
                "answer_key": 8,
                "answer_hash": 8,
            },
        ],
        [],
        True,
    ),
    ("not before as_of", [{**HARMFUL, "response_id": "r1", "occurred_at": AS_OF}], [], False),
]


@pytest.mark.parametrize(("rows", "shown", "expected"), [case[1:] for case in CONDEMNED], ids=[c[0] for c in CONDEMNED])
def test_condemned(tmp_path: Path, rows: list[dict[str, Any]], shown: list[tuple[int, int]], expected: bool) -> None:
    """F8: harmful goes by the answer; every answer that any row, or `responses`, shows for the flagged response."""
    flagged = [{"response_id": "r2", "thread_key": thread, "answer_hash": answer} for thread, answer in shown]
    found = feedback(tmp_path, {"feedback_id": "up", "occurred_at": ago(hours=1)}, *rows, flagged=flagged)
    assert found.filter(feedback_id="up").row(0, named=True)["is_contested"] is expected


CROWD = st.lists(
    st.fixed_dictionaries(
        {
            "kind": st.sampled_from(["up", "up", "down", "neutral", "incorrect", "correction"]),
            "voter_id": st.sampled_from(["user:u1", "user:u2", "user:u3", "user:u4"]),
            "response_id": st.sampled_from(["r1", "r2", "r3"]),
            "answer_key": st.sampled_from([None, 1, 2, 3]),
            "age": st.integers(0, 3),
        }
    ),
    min_size=2,
    max_size=14,
)
SENTIMENTS = {"up": "positive", "down": "negative", "neutral": "neutral"}


def judged(rows: Sequence[dict[str, Any]]) -> dict[str, bool]:
    """F8 as it is written, row by row."""
    found = {}
    for row in rows:
        if row["sentiment"] not in ("positive", "negative"):
            continue
        around = [
            other
            for other in rows
            if other["response_id"] == row["response_id"]
            or (row["answer_key"] is not None and other["answer_key"] == row["answer_key"])
        ]
        latest = {
            r["voter_id"]: r["sentiment"] for r in sorted(around, key=in_order) if r["effective_type"] == "rating"
        }
        votes = Counter(latest.values())
        is_spoiled = any(r["effective_type"] == "correction" or r["flag_type"] == "incorrect" for r in around)
        if row["sentiment"] == "positive":
            found[row["feedback_id"]] = is_spoiled or votes["positive"] <= votes["negative"]
        else:
            found[row["feedback_id"]] = votes["negative"] <= votes["positive"]
    return found


def in_order(row: dict[str, Any]) -> tuple[Any, str]:
    return row["occurred_at"], row["feedback_id"]


def as_rows(crowd: Sequence[dict[str, Any]], place: int) -> list[dict[str, Any]]:
    """What some people say, as rows that have nothing to do with another place's."""
    rows = []
    for number, said in enumerate(crowd):
        kind, answer = said["kind"], said["answer_key"]
        is_rating, voter = kind in SENTIMENTS, f"{said['voter_id']}-{place}"
        rows.append(
            {
                "feedback_id": f"f{place}-{number:02}",
                "response_id": f"{said['response_id']}-{place}",
                "voter_id": voter,
                "answer_key": answer and 10 * place + answer,
                "answer_hash": answer,
                "thread_key": place,
                "effective_type": "rating" if is_rating else "flag" if kind == "incorrect" else kind,
                "sentiment": SENTIMENTS.get(kind),
                "flag_type": kind if kind == "incorrect" else None,
                # a voter's ratings on a response are one voice (F3), anything else is one of its own
                "voice_key": 1000 * place + (int(said["voter_id"][-1]) if is_rating else 100 + number),
                "occurred_at": ago(hours=1 + said["age"]),
            }
        )
    return rows


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(crowds=st.lists(CROWD, min_size=30, max_size=40))
def test_a_rating_is_judged_by_its_own_two_relations(
    tmp_path_factory: pytest.TempPathFactory, crowds: list[list[dict[str, Any]]]
) -> None:
    """F8: each row once, not chains, one voter's latest; whatever overlaps. Many small crowds at once."""
    places = [as_rows(crowd, place) for place, crowd in enumerate(crowds, start=1)]
    found = feedback(tmp_path_factory.mktemp("crowds"), *(row for rows in places for row in rows))
    active = set(found.filter(status="active")["feedback_id"])
    expected: dict[str, bool] = {}
    for rows in places:
        expected |= judged([row for row in rows if row["feedback_id"] in active])
    assert dict(found.drop_nulls("is_contested").select("feedback_id", "is_contested").iter_rows()) == expected


ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "effective_type": st.sampled_from(["rating", "correction", "preference", "flag"]),
            "voice_key": st.integers(1, 3),
            "response_id": st.sampled_from(["r1", "r2"]),
            "answer_key": st.integers(1, 2),
            "age": st.integers(0, 400),
            "rating": st.sampled_from([-1, 1]),
            "response_confidence": st.one_of(st.none(), st.floats(0, 1)),
            "what_was_wrong_length": st.one_of(st.none(), st.integers(0, 200)),
            "is_escalated": st.booleans(),
        }
    ),
    min_size=1,
    max_size=12,
)


@pytest.mark.slow
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS)
def test_laws(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]) -> None:
    """Weights in [0, 1]; one counting row per voice; the order of the input does not matter."""
    keys = []
    for number, values in enumerate(rows):
        columns = {name: value for name, value in values.items() if name != "age"}
        columns["voice_key"] += 10 * len(values["effective_type"])  # the type is part of a voice
        sentiment = {1: "positive", -1: "negative"}[values["rating"]] if values["effective_type"] == "rating" else None
        keys.append(
            {
                **columns,
                "feedback_id": f"f{number:02}",
                "sentiment": sentiment,
                "flag_type": "other",
                "occurred_at": ago(hours=1 + values["age"]),
            }
        )
    one = feedback(tmp_path_factory.mktemp("one"), *keys)
    other = feedback(tmp_path_factory.mktemp("other"), *reversed(keys))
    assert one.equals(other)
    assert one["quality_weight"].is_between(0, 1).all()
    voices = pl.DataFrame(keys).select("feedback_id", "voice_key").join(one, on="feedback_id")
    ratings = voices.with_columns((pl.col("effective_type") == "rating").alias("is_rating"))
    active = ratings.filter(pl.col("status") == "active").group_by("response_id", "voice_key").len()
    assert active["len"].max() == 1
    assert active.height == ratings.select("response_id", "voice_key").n_unique()
