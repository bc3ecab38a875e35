"""core__distillation_sources (D2) and core__distillation: what users say (M1), who may leave (D6, D8) and as what (D7)."""

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.sql.harness import AS_OF, run_one_after_another, run_sql

YESTERDAY = AS_OF - timedelta(hours=1)
DAY = date(2026, 1, 31)
UNIFIED, NORMAL, LEGACY, THOUGHTS, PAIRS = (
    f"raw_distillation__{table}"
    for table in ("distillation_examples", "examples", "raw_interactions", "chain_of_thought", "preference_pairs")
)

# --- which rows are one example (D2) ----------------------------------------------------------------------------------


def stored(id: str, response: int, hours: float = 1, **columns: Any) -> dict[str, Any]:
    """A raw row by its keys; its prompt is p1 and its response is number `response`."""
    at = AS_OF - timedelta(hours=hours)
    row = {"id": id, "prompt_key": "p1", "interaction_key": response, "occurred_at": at, "event_date": at.date()}
    return row | columns


def interaction(id: str, response: int, thought: str = "none", **columns: Any) -> dict[str, Any]:
    return stored(id, response, **columns) | {"thought_id": thought}


def sources(folder: Path, **rows: list[dict[str, Any]]) -> list[tuple[str, int, str, str]]:
    found = run_sql(
        folder, "core__distillation_sources", {f"raw_distillation__{name}": some for name, some in rows.items()}
    )
    return found.select("example_id", "place", "table", "source_id").rows()


def test_the_younger_generation_wins(tmp_path: Path) -> None:
    """D2: distillation_examples, examples, raw_interactions, its chain of thought, a chain of thought alone."""
    rows = sources(
        tmp_path,
        distillation_examples=[stored("a", 1)],
        examples=[stored("b", 1)],
        raw_interactions=[interaction("c", 1, "thought")],
        chain_of_thought=[stored("thought", 77), stored("alone", 1)],
    )
    assert rows == [
        ("a", 1, "distillation_examples", "a"),
        ("a", 2, "examples", "b"),
        ("a", 3, "raw_interactions", "c"),
        ("a", 4, "chain_of_thought", "thought"),
        ("a", 5, "chain_of_thought", "alone"),
    ]


@pytest.mark.parametrize("table", ["examples", "raw_interactions", "chain_of_thought"])
def test_only_the_newest_generation_has_a_bare_id(tmp_path: Path, table: str) -> None:
    """D2: example_id is the winner's id, with `<table>:` before it."""
    row = stored("7", 1) | ({"thought_id": "none"} if table == "raw_interactions" else {})
    assert sources(tmp_path, **{table: [row]}) == [(f"{table}:7", 1, table, "7")]


def test_prompt_and_response_must_both_agree(tmp_path: Path) -> None:
    """D2: they merge on (prompt_key, normalise(response))."""
    rows = sources(tmp_path, examples=[stored("a", 1), stored("b", 2), stored("c", 1, prompt_key="p2")])
    assert [row[0] for row in rows] == ["examples:a", "examples:b", "examples:c"]


def test_within_a_generation_the_newest_wins_then_the_smallest_id(tmp_path: Path) -> None:
    rows = sources(tmp_path, examples=[stored("old", 1, 9), stored("z", 1, 2), stored("y", 1, 2), stored("mid", 1, 5)])
    assert [row[3] for row in rows] == ["y", "z", "mid", "old"]
    assert {row[0] for row in rows} == {"examples:y"}


def test_a_thought_goes_with_every_interaction_its_id_was_made_from(tmp_path: Path) -> None:
    """sources.md: the id hashes the prompt and the first 100 characters, which two responses may share."""
    rows = sources(
        tmp_path,
        raw_interactions=[interaction("a", 1, "t"), interaction("b", 2, "t"), interaction("c", 3)],
        chain_of_thought=[stored("t", 9)],
    )
    assert rows == [
        ("raw_interactions:a", 1, "raw_interactions", "a"),
        ("raw_interactions:a", 2, "chain_of_thought", "t"),
        ("raw_interactions:b", 1, "raw_interactions", "b"),
        ("raw_interactions:b", 2, "chain_of_thought", "t"),
        ("raw_interactions:c", 1, "raw_interactions", "c"),
    ]


def test_a_thought_is_listed_once_though_two_copies_of_its_interaction_lead_to_it(tmp_path: Path) -> None:
    rows = sources(
        tmp_path,
        raw_interactions=[interaction("a", 1, "t"), interaction("b", 1, "t", hours=2)],
        chain_of_thought=[stored("t", 1)],
    )
    assert [(row[1], row[3]) for row in rows] == [(1, "a"), (2, "b"), (3, "t")]


def test_pairs_of_the_teacher_merge_with_nothing(tmp_path: Path) -> None:
    """D2: both sides are the teacher's, so they are examples of their own, also two that say the same."""
    found = run_sql(
        tmp_path, "core__distillation_sources", {UNIFIED: [stored("a", 1)], PAIRS: [stored("a", 1), stored("b", 1)]}
    )
    assert found.select("example_id", "place", "origin").rows() == [
        ("a", 1, "distillation_examples"),
        ("preference_pairs:a", 1, "synthetic_pair"),
        ("preference_pairs:b", 1, "synthetic_pair"),
    ]


def test_what_is_not_before_as_of_is_not_there(tmp_path: Path) -> None:
    """G2: a thought whose interaction is still to come stands alone; a younger winner that is to come does not win yet."""
    late = {"occurred_at": AS_OF, "event_date": date(2026, 2, 1)}
    rows = sources(
        tmp_path,
        distillation_examples=[stored("a", 1) | late],
        examples=[stored("b", 1), stored("late", 1) | late],
        raw_interactions=[interaction("c", 2, "t") | late],
        chain_of_thought=[stored("t", 3), stored("late", 3) | late],
        preference_pairs=[stored("late", 1) | late],
    )
    assert rows == [("chain_of_thought:t", 1, "chain_of_thought", "t"), ("examples:b", 1, "examples", "b")]


def test_an_example_belongs_to_its_winners_day(tmp_path: Path) -> None:
    found = run_sql(
        tmp_path, "core__distillation_sources", {UNIFIED: [stored("a", 1, hours=50)], NORMAL: [stored("b", 1, hours=2)]}
    )
    assert found.select("source_id", "event_date", "example_date").rows() == [
        ("a", date(2026, 1, 29), date(2026, 1, 29)),
        ("b", DAY, date(2026, 1, 29)),
    ]


STORED = st.tuples(
    st.sampled_from([UNIFIED, NORMAL, LEGACY, THOUGHTS, PAIRS]),
    st.integers(1, 3),
    st.integers(-1, 3),
    st.integers(0, 2),
)


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(STORED, max_size=12), order=st.randoms(use_true_random=False))
def test_laws_of_merging(tmp_path_factory: pytest.TempPathFactory, rows: list[Any], order: Any) -> None:
    """Every row before as_of is behind an example; an example has one winner; the order of the input does not matter."""

    def tables(chosen: list[tuple[int, Any]]) -> dict[str, list[dict[str, Any]]]:
        found: dict[str, list[dict[str, Any]]] = {}
        for number, (table, response, hours, thought) in chosen:
            row = stored(f"t{number % 3}" if table == THOUGHTS else f"r{number}", response, hours)
            if table == LEGACY:
                row["thought_id"] = f"t{thought}"
            if row["id"] not in {known["id"] for known in found.setdefault(table, [])}:
                found[table].append(row)
        return found

    numbered = list(enumerate(rows))
    inputs = tables(numbered)
    one = run_sql(tmp_path_factory.mktemp("one"), "core__distillation_sources", inputs)
    mixed = {table: order.sample(some, len(some)) for table, some in inputs.items()}
    assert one.equals(run_sql(tmp_path_factory.mktemp("other"), "core__distillation_sources", mixed))
    listed = {(f"raw_distillation__{table}", id) for table, id in one.select("table", "source_id").iter_rows()}
    assert listed == {(table, r["id"]) for table, some in inputs.items() for r in some if r["occurred_at"] < AS_OF}
    places = one.group_by("example_id").agg(pl.col("place").sort(), pl.col("example_date").n_unique())
    assert all(row["place"] == list(range(1, len(row["place"]) + 1)) for row in places.iter_rows(named=True))
    assert set(places["example_date"]) <= {1}


# --- what users say of the teacher's answer (M1) ----------------------------------------------------------------------

UP, DOWN = {"sentiment": "positive"}, {"sentiment": "negative"}
FIX = {"effective_type": "correction", "sentiment": None}
HARMFUL, INCORRECT, UNHELPFUL = (
    {"effective_type": "flag", "sentiment": None, "flag_type": kind} for kind in ("harmful", "incorrect", "unhelpful")
)
BETTER = {"effective_type": "preference", "sentiment": None}
# How a row may be linked to the example: by its id; by session and question; by question alone. Its answer is number 5, the
# attempt number 6, and 7 is what neither of them said.
BY_ID = {"response_id": "{id}", "prompt_key": "other", "session_id": "other", "answer_hash": 7}
IN_SESSION = {"session_id": "s-{id}", "answer_hash": 7, "is_escalated": True}
IN_SESSION_SAME = {"session_id": "s-{id}", "answer_hash": 5}
SAME_ANSWER = {"session_id": "other", "answer_hash": 5, "is_escalated": True}
ATTEMPT = {"answer_hash": 6}
VALIDATED, CONTRADICTED = "validated", "contradicted"
SAYINGS: list[tuple[str, list[dict[str, Any]], tuple[str | None, int]]] = [
    # (what, feedback rows, the verdict and how many rows it is from)
    ("nothing said", [], (None, 0)),
    ("up", [BY_ID | UP], (VALIDATED, 1)),
    ("down", [BY_ID | DOWN], (CONTRADICTED, 1)),
    ("as many up as down", [BY_ID | UP, BY_ID | DOWN], (None, 2)),
    ("more up than down", [BY_ID | UP, BY_ID | UP, BY_ID | DOWN], (VALIDATED, 3)),
    ("more down than up", [BY_ID | UP, BY_ID | DOWN, BY_ID | DOWN], (CONTRADICTED, 3)),
    ("a correction outweighs all thumbs", [BY_ID | UP, BY_ID | UP, BY_ID | FIX], (CONTRADICTED, 3)),
    ("so does the flag harmful", [BY_ID | UP, BY_ID | UP, BY_ID | HARMFUL], (CONTRADICTED, 3)),
    ("so does the flag incorrect", [BY_ID | UP, BY_ID | UP, BY_ID | INCORRECT], (CONTRADICTED, 3)),
    ("another flag says nothing", [BY_ID | UNHELPFUL], (None, 1)),
    ("nor does a preference", [BY_ID | BETTER, BY_ID | UP], (VALIDATED, 2)),
    ("a neutral rating", [BY_ID | {"sentiment": "neutral"}], (None, 1)),
    (
        "what does not count",
        [BY_ID | DOWN | {"status": "superseded"}, BY_ID | DOWN | {"status": "duplicate"}],
        (None, 0),
    ),
    ("in the session, escalated", [IN_SESSION | DOWN], (CONTRADICTED, 1)),
    ("in the session, same answer", [IN_SESSION_SAME | DOWN], (CONTRADICTED, 1)),
    ("in the session, neither", [IN_SESSION | DOWN | {"is_escalated": False}], (None, 0)),
    ("in the session, another question", [IN_SESSION | DOWN | {"prompt_key": "other"}], (None, 0)),
    ("anywhere, escalated and same answer", [SAME_ANSWER | DOWN], (CONTRADICTED, 1)),
    ("anywhere, same answer only", [SAME_ANSWER | DOWN | {"is_escalated": False}], (None, 0)),
    ("anywhere, escalated only", [SAME_ANSWER | DOWN | {"answer_hash": 7}], (None, 0)),
    ("anywhere, another question", [SAME_ANSWER | DOWN | {"prompt_key": "other"}], (None, 0)),
    ("no known session", [SAME_ANSWER | DOWN | {"session_id": None}], (CONTRADICTED, 1)),
    ("its id comes first", [BY_ID | UP, IN_SESSION | FIX, SAME_ANSWER | DOWN], (VALIDATED, 1)),
    ("its id comes first though it says nothing", [BY_ID | UNHELPFUL, IN_SESSION | FIX], (None, 1)),
    ("then the session", [IN_SESSION | UP, SAME_ANSWER | DOWN, SAME_ANSWER | DOWN], (VALIDATED, 1)),
    ("what does not count opens no way", [BY_ID | UP | {"status": "superseded"}, IN_SESSION | DOWN], (CONTRADICTED, 1)),
    ("the attempt by id", [BY_ID | DOWN | ATTEMPT], (None, 0)),
    ("the attempt in the session", [IN_SESSION | FIX | ATTEMPT], (None, 0)),
    ("the attempt opens no way", [BY_ID | DOWN | ATTEMPT, IN_SESSION | UP], (VALIDATED, 1)),
]


def told_by_users(folder: Path, examples: list[Any], feedback: list[Any]) -> dict[str, Any]:
    """The examples, with the table that says which feedback is about which."""
    inputs = {"core__distilled_answers": examples, "core__feedback": feedback}
    return run_one_after_another(folder, ("core__example_feedback", "core__distillation"), inputs)


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str | None, int]]:
    """Every saying about an example of its own, in one run."""
    examples, feedback = [], []
    for number, (what, rows, _) in enumerate(SAYINGS):
        id = f"e{number}"
        keys = {"prompt_key": f"p-{id}", "session_id": f"s-{id}"}
        examples.append(
            {"example_id": f"{what}", "source_id": id, "answer_hash": 5, "attempt_hash": 6, "has_attempt": True} | keys
        )
        for place, row in enumerate(rows):
            said = {name: value.format(id=id) if isinstance(value, str) else value for name, value in row.items()}
            feedback.append({"feedback_id": f"{id}-{place}", "prompt_key": f"p-{id}"} | said)
    rows = told_by_users(tmp_path_factory.mktemp("m1"), examples, feedback)["core__distillation"]
    return {row["example_id"]: (row["feedback_verdict"], row["feedback_count"]) for row in rows}


@pytest.mark.parametrize(("what", "verdict"), [(what, verdict) for what, _, verdict in SAYINGS])
def test_what_users_say(verdicts: dict[str, Any], what: str, verdict: tuple[str | None, int]) -> None:
    """M1: the first of three ways that finds any feedback about the teacher's answer."""
    assert verdicts[what] == verdict


def test_an_unknown_session_links_nothing(tmp_path: Path) -> None:
    """G9: null is no session, on both sides."""
    example = {"session_id": None, "answer_hash": 5}
    said = {"session_id": None, "answer_hash": 7, "is_escalated": True, **DOWN}
    (found,) = told_by_users(tmp_path, [example], [said])["core__distillation"]
    assert found["feedback_verdict"] is None


def test_feedback_on_an_answer_that_is_also_the_attempt_counts(tmp_path: Path) -> None:
    """M1: where SAM said the same as the teacher, it is about the teacher's answer too."""
    example = {"answer_hash": 5, "attempt_hash": 5, "has_attempt": True, "source_id": "e1"}
    said = {"response_id": "e1", "answer_hash": 5, **DOWN}
    (found,) = told_by_users(tmp_path, [example], [said])["core__distillation"]
    assert found["feedback_verdict"] == CONTRADICTED


def test_the_way_it_was_found(tmp_path: Path) -> None:
    """M1: each row once, by the first way that finds any; an example may be named by either of its ids."""
    examples = [
        {
            "example_id": f"examples:{id}",
            "source_id": id,
            "prompt_key": f"p-{id}",
            "session_id": f"s-{id}",
            "answer_hash": 5,
        }
        for id in ("a", "b", "c")
    ]
    feedback = [
        {"feedback_id": "f1", **BY_ID, "response_id": "a"},
        {"feedback_id": "f2", **BY_ID, "response_id": "examples:a"},
        {"feedback_id": "f3", **SAME_ANSWER, "prompt_key": "p-a"},
        {"feedback_id": "f4", **IN_SESSION, "prompt_key": "p-b", "session_id": "s-b"},
        {"feedback_id": "f5", **SAME_ANSWER, "prompt_key": "p-c"},
    ]
    found = told_by_users(tmp_path, examples, feedback)["core__example_feedback"]
    assert [tuple(row.values()) for row in found] == [
        ("examples:a", "f1", "response"),
        ("examples:a", "f2", "response"),
        ("examples:b", "f4", "session and question"),
        ("examples:c", "f5", "question and answer"),
    ]


# --- who may leave (D6, D8) -------------------------------------------------------------------------------------------

PAIR = {"origin": "synthetic_pair", "has_attempt": True, "answer_hash": 5, "attempt_hash": 6, "quality_score": 0.4}
SOURCE_READY = {"is_source_ready": True}
READY = [
    # (what the example is, our reviewers' verdict, (review_status, is_own_review, is_ready, quality_weight))
    ({}, None, ("pending", False, True, 0.8)),
    ({"quality_score": 0.7}, None, ("pending", False, True, 0.7)),
    ({"quality_score": 0.69}, None, ("pending", False, False, 0.69)),
    ({"quality_flags": ["repetition"]}, None, ("pending", False, False, 0.8)),
    ({"quality_flags": ["incomplete"]}, None, ("pending", False, False, 0.8)),
    ({"quality_flags": ["too_short", "refusal"]}, None, ("pending", False, False, 0.8)),
    ({"quality_flags": ["too_short", "uncertain"]}, None, ("pending", False, True, 0.8)),
    ({"source_review": 1, "quality_score": 0.2, "quality_flags": ["refusal"]}, None, ("approved", False, True, 0.7)),
    ({"source_review": 1}, None, ("approved", False, True, 0.8)),
    ({"source_review": -1}, None, ("rejected", False, False, 0.8)),
    (SOURCE_READY | {"quality_score": 0.2}, None, ("pending", False, True, 0.2)),
    (SOURCE_READY | {"quality_flags": ["repetition", "incomplete", "refusal"]}, None, ("pending", False, True, 0.8)),
    (SOURCE_READY | {"source_review": -1}, None, ("rejected", False, False, 0.8)),
    (SOURCE_READY | {"source_review": 1, "quality_score": 0.2}, None, ("approved", False, True, 0.7)),
    (SOURCE_READY, "rejected", ("rejected", True, False, 0.8)),
    (SOURCE_READY, "disputed", ("pending", False, False, 0.8)),
    ({"quality_score": 0.2}, "approved", ("approved", True, True, 0.7)),
    ({}, "rejected", ("rejected", True, False, 0.8)),
    ({}, "disputed", ("pending", False, False, 0.8)),
    ({"source_review": 1}, "rejected", ("rejected", True, False, 0.8)),
    ({"source_review": 1}, "disputed", ("pending", False, False, 0.8)),
    ({"source_review": -1}, "approved", ("approved", True, True, 0.8)),
    (PAIR, None, ("pending", False, True, 0.4)),
    (PAIR | {"attempt_hash": 5}, None, ("pending", False, False, 0.4)),
    (PAIR | {"attempt_hash": None, "has_attempt": False}, None, ("pending", False, True, 0.4)),
    (PAIR | {"attempt_hash": None, "has_attempt": False, "has_answer": False}, None, ("pending", False, False, 0.4)),
    (PAIR, "rejected", ("rejected", True, False, 0.4)),
    (PAIR, "disputed", ("pending", False, False, 0.4)),
]


def judged(folder: Path, cases: list[Any], **params: Any) -> list[dict[str, Any]]:
    """One example per case, with our reviewers' verdict on it."""
    examples = [{"example_id": f"{number:02}", **case[0]} for number, case in enumerate(cases)]
    reviews = [
        {"example_id": f"{number:02}", "review_verdict": case[1]} for number, case in enumerate(cases) if case[1]
    ]
    inputs = {"core__distilled_answers": examples, "core__reviews": reviews}
    return run_sql(folder, "core__distillation", inputs, **params).to_dicts()


def told(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("review_status", "is_own_review", "is_ready", "quality_weight"))


def test_who_may_leave(tmp_path: Path) -> None:
    """D6: our own review, then the source's, its training_ready, then score and flags; D7: an approved example weighs at least 0.7."""
    assert [told(row) for row in judged(tmp_path, READY)] == [expected for _, _, expected in READY]


def test_only_what_a_person_approved_leaves_when_the_automatic_is_off(tmp_path: Path) -> None:
    """D6: configurable; can be switched off. A pair of the teacher's is ready by its sides (D2)."""
    cases = [({}, None), ({"source_review": 1}, None), ({}, "approved"), (PAIR, None), (SOURCE_READY, None)]
    expected = [False, True, True, True, True]
    assert [row["is_ready"] for row in judged(tmp_path / "1", cases, auto_ready=False)] == expected
    assert [row["is_ready"] for row in judged(tmp_path / "2", cases, ready_score=0.81)] == expected


# --- as what (D7) -----------------------------------------------------------------------------------------------------

TRIED = {"has_attempt": True, "attempt_hash": 6, "is_hardly_changed": False}
CHAIN = {"step_count": 2, "reasoning_type": "chain_of_thought"}
FORMATS = [
    ({}, "instruction"),
    (CHAIN, "cot"),
    (CHAIN | {"reasoning_type": "multi_step"}, "cot"),
    (CHAIN | {"step_count": 1}, "instruction"),
    (CHAIN | {"reasoning_type": "tool_use"}, "instruction"),
    (CHAIN | {"reasoning_type": None}, "instruction"),
    ({"error_count": 1} | TRIED, "correction"),
    ({"error_count": 1} | TRIED | CHAIN, "correction"),
    ({"error_count": 1}, "instruction"),
    ({"error_count": 1} | CHAIN, "cot"),
    ({"error_count": 1} | TRIED | {"is_hardly_changed": True}, "instruction"),
    ({"error_count": 1} | TRIED | {"is_right_attempt": True}, "instruction"),
    ({"source_training_format": "correction"} | TRIED | {"is_right_attempt": True}, "instruction"),
    ({"source_training_format": "preference"} | TRIED | {"is_right_attempt": True}, "preference"),
    ({"error_count": 1} | TRIED | {"quality_flags": ["refusal"]} | CHAIN, "cot"),
    ({"source_training_format": "instruction", "error_count": 1} | TRIED | CHAIN, "instruction"),
    ({"source_training_format": "cot"}, "cot"),
    ({"source_training_format": "correction"} | TRIED, "correction"),
    ({"source_training_format": "correction"}, "instruction"),
    ({"source_training_format": "preference", "error_count": 1} | TRIED, "preference"),
    ({"source_training_format": "preference"} | CHAIN, "cot"),
    ({"source_training_format": "preference", "error_count": 1} | TRIED | {"is_hardly_changed": True}, "instruction"),
    ({"source_training_format": "correction_analysis"} | CHAIN, "cot"),
    (PAIR | {"is_hardly_changed": True, "source_training_format": "cot"}, "preference"),
]


def test_primary_format(tmp_path: Path) -> None:
    """D7: the stored one, else correction, cot, instruction; what it cannot fill falls back to cot, else instruction."""
    rows = judged(tmp_path, [(example, None) for example, _ in FORMATS])
    assert [row["training_format"] for row in rows] == [format for _, format in FORMATS]
