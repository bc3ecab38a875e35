"""What becomes of distilled examples: candidates (T1, D7), rivals over both systems (T2, M2), the queue (D8), daily figures."""

from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.sql.harness import AS_OF, run_sql, without_intervals
from tests.sql.training import judge

# The teacher's answer is number 5, SAM's attempt number 6.
TRIED = {"answer_hash": 5, "has_attempt": True, "attempt_hash": 6, "is_hardly_changed": False}
PAIR = {**TRIED, "origin": "synthetic_pair", "training_format": "preference", "quality_weight": 0.5}
APPROVED = {"review_status": "approved", "is_own_review": True}
CONTRADICTED = {"feedback_verdict": "contradicted"}


def apart(folder: Path, examples: Sequence[dict[str, Any]]) -> list[dict[str, str | None]]:
    """Format of every candidate of an example -> its reason, for examples that have nothing to do with each other."""
    rows = [{"example_id": f"e{number}", "thread_key": number, **example} for number, example in enumerate(examples)]
    outcome = judge(folder, examples=rows)
    return [{format: reason for (format, _, id), reason in outcome.items() if id == row["example_id"]} for row in rows]


# --- candidates (T1, D7) ----------------------------------------------------------------------------------------------


def test_what_an_example_is_a_candidate_for(tmp_path: Path) -> None:
    """T1: its primary format, and a pair if there is an attempt; D7 names the sources."""
    examples = [
        {"example_id": "plain", "thread_key": 1},
        {"example_id": "chain", "thread_key": 2, "training_format": "cot"},
        {"example_id": "tried", "thread_key": 3, **TRIED},
        {"example_id": "fixed", "thread_key": 4, "training_format": "correction", **TRIED},
        {"example_id": "better", "thread_key": 5, "training_format": "preference", **TRIED},
        {"example_id": "pair", "thread_key": 6, **PAIR},
    ]
    assert judge(tmp_path, examples=examples, synthetic_pairs=True) == {
        ("instruction", "distillation_instruction", "plain"): None,
        ("cot", "distillation_cot", "chain"): None,
        ("instruction", "distillation_instruction", "tried"): None,
        ("preference", "distillation_preference", "tried"): None,
        ("correction", "distillation_correction", "fixed"): None,
        ("preference", "distillation_preference", "fixed"): None,
        ("preference", "distillation_preference", "better"): None,
        ("preference", "synthetic_pair", "pair"): None,
    }


EVERYTHING_WRONG = {
    "is_failed": True,
    "review_status": "rejected",
    "is_ready": False,
    "has_answer": False,
    "quality_weight": 0.1,
    "quality_flags": ["refusal"],
    "is_hardly_changed": True,
    "is_unseen_attempt": True,
    "answer_hash": 6,
    **CONTRADICTED,
}
# In this order: when a reason is mended, the next one shows.
MENDED: list[tuple[str, dict[str, Any]]] = [
    ("failed", {"is_failed": False}),
    ("rejected", {"review_status": "pending"}),
    ("not_ready", {"is_ready": True}),
    ("contradicted", {"feedback_verdict": None}),
    ("missing_text", {"has_answer": True}),
    ("refusal", {"quality_flags": []}),
    ("no_contrast", {"answer_hash": 5}),
    ("tie", {"is_hardly_changed": False}),
    ("unseen_attempt", {"is_unseen_attempt": False}),
    ("low_weight", {"quality_weight": 0.3}),
]


def test_one_reason_the_first_that_applies(tmp_path: Path) -> None:
    """T1, on the pair of an example with everything against it."""
    examples = [{"training_format": "preference", **TRIED, **EVERYTHING_WRONG}]
    for _, mended in MENDED:
        examples.append(examples[-1] | mended)
    reasons = [reason for found in apart(tmp_path, examples) for reason in found.values()]
    assert reasons == [*(reason for reason, _ in MENDED), None]


ALONE: list[tuple[dict[str, Any], dict[str, str | None]]] = [
    # (the example, the reason of each of its candidates)
    ({"has_query": False}, {"instruction": "missing_text"}),
    ({"quality_weight": 0.299999}, {"instruction": "low_weight"}),
    (CONTRADICTED, {"instruction": "contradicted"}),
    (CONTRADICTED | {"review_status": "approved"}, {"instruction": "contradicted"}),
    (CONTRADICTED | APPROVED, {"instruction": None}),
    ({"feedback_verdict": "validated"}, {"instruction": None}),
    (TRIED | {"quality_flags": ["refusal"], **APPROVED}, {"instruction": "refusal", "preference": "refusal"}),
    (TRIED | {"is_hardly_changed": True}, {"instruction": None, "preference": "tie"}),
    (TRIED, {"instruction": None, "preference": None}),
    (TRIED | {"is_unseen_attempt": True}, {"instruction": "unseen_attempt", "preference": "unseen_attempt"}),
    (
        TRIED | {"is_unseen_attempt": True, "training_format": "cot"},
        {"cot": "unseen_attempt", "preference": "unseen_attempt"},
    ),
    (
        TRIED | {"is_unseen_attempt": True, "training_format": "correction"},
        {"correction": None, "preference": "unseen_attempt"},
    ),
    (TRIED | {"attempt_hash": 5}, {"instruction": None, "preference": "no_contrast"}),
    (TRIED | {"training_format": "cot", "is_failed": True}, {"cot": "failed", "preference": "failed"}),
    (PAIR, {"preference": "recipe"}),
    (PAIR | {"quality_weight": 0.2}, {"preference": "low_weight"}),
    (PAIR | {"is_ready": False, "attempt_hash": 5}, {"preference": "not_ready"}),
    (PAIR | {"is_hardly_changed": True}, {"preference": "recipe"}),
    (PAIR | {"quality_flags": ["refusal"]}, {"preference": "refusal"}),
    (PAIR | {"has_attempt": False, "attempt_hash": None}, {"preference": "missing_text"}),
]


def test_reasons(tmp_path: Path) -> None:
    """M1: what users contradict leaves only after our own approval. T1: a refusal is taught in no format; a tie is of SAM's pairs."""
    assert apart(tmp_path, [example for example, _ in ALONE]) == [reasons for _, reasons in ALONE]


TIERS = [(0.9, "premium"), (0.899999, "high"), (0.7, "high"), (0.5, "standard"), (0.3, "low"), (0.29, "very_low")]


def test_a_candidate_carries_weight_tier_and_keys(tmp_path: Path) -> None:
    """F5, T4: as feedback candidates do; there is no partner, no label and no error type."""
    examples = [{"example_id": f"e{weight}", "quality_weight": weight, "thread_key": 4} for weight, _ in TIERS]
    rows = run_sql(tmp_path, "core__distillation_candidates", {"core__distillation": examples})
    assert dict(rows.select("quality_weight", "tier").iter_rows()) == dict(TIERS)
    assert set(rows["thread_key"]) == {4}
    assert all(rows[name].null_count() == len(TIERS) for name in ("partner_id", "label", "error_type"))


# --- rivals over both systems (T1, T2, M2) ----------------------------------------------------------------------------

UP = {"feedback_id": "up", "thread_key": 1, "answer_hash": 5, "sentiment": "positive", "is_contested": False}
USER_PAIR = {"effective_type": "preference", "sentiment": None, "thread_key": 1}


def test_an_answer_users_like_and_the_teacher_gave_leaves_once(tmp_path: Path) -> None:
    """T2, M2: the heavier one, then the newer; other formats are no rivals."""
    taught = {"example_id": "taught", "thread_key": 1, "answer_hash": 5, "quality_weight": 0.8}
    heavier = judge(tmp_path / "1", [{**UP, "quality_weight": 0.6}], [taught])
    assert heavier == {
        ("instruction", "feedback_positive", "up"): "duplicate",
        ("unpaired", "feedback_rating", "up"): None,
        ("instruction", "distillation_instruction", "taught"): None,
    }
    newer = judge(
        tmp_path / "2", [{**UP, "quality_weight": 0.8}], [taught | {"occurred_at": AS_OF - timedelta(seconds=1)}]
    )
    assert newer["instruction", "distillation_instruction", "taught"] == "duplicate"
    assert newer["instruction", "feedback_positive", "up"] is None
    as_chain = judge(tmp_path / "3", [UP], [taught | {"training_format": "cot"}])
    assert set(as_chain.values()) == {None}
    elsewhere = judge(tmp_path / "4", [UP], [taught | {"thread_key": 2}])
    assert set(elsewhere.values()) == {None}


def test_what_does_not_leave_is_no_rival(tmp_path: Path) -> None:
    """T2: an example that is not ready takes nothing from anybody."""
    outcome = judge(tmp_path, [UP], [{"thread_key": 1, "answer_hash": 5, "is_ready": False, "quality_weight": 0.9}])
    assert outcome["instruction", "feedback_positive", "up"] is None
    assert outcome["instruction", "distillation_instruction", "e1"] == "not_ready"


def test_a_user_who_prefers_the_answer_says_what_the_teacher_says(tmp_path: Path) -> None:
    """T2, M2: the same pair is a duplicate. F13: votes are users' alone, so the opposite neither wins nor loses."""
    example = {"example_id": "taught", "thread_key": 1, "quality_weight": 0.9, **TRIED}
    reverse = {**USER_PAIR, "preferred_hash": 6, "answer_hash": 5}
    same = {**USER_PAIR, "preferred_hash": 5, "answer_hash": 6}
    against = judge(tmp_path / "1", [reverse], [example])
    assert against["preference", "feedback_preference", "f1"] is None
    assert against["preference", "distillation_preference", "taught"] is None
    agreed = judge(tmp_path / "2", [same], [example])
    assert agreed["preference", "feedback_preference", "f1"] == "duplicate"
    assert agreed["preference", "distillation_preference", "taught"] is None


def test_corrections_are_the_same_if_attempt_and_answer_are(tmp_path: Path) -> None:
    """T2: instruction, input and output; all three come from the question, the attempt and the answer."""
    row = {"thread_key": 1, "training_format": "correction", **TRIED}
    outcome = judge(
        tmp_path,
        examples=[
            {"example_id": "heavy", "quality_weight": 0.9, **row},
            {"example_id": "light", **row},
            {"example_id": "other attempt", **row, "attempt_hash": 7},
        ],
    )
    corrections = {id: reason for (format, _, id), reason in outcome.items() if format == "correction"}
    assert corrections == {"heavy": None, "light": "duplicate", "other attempt": None}


# --- the queue (D8) ---------------------------------------------------------------------------------------------------

WAITING = {"is_ready": False}


def queue(folder: Path, examples: list[dict[str, Any]], **inputs: list[dict[str, Any]]) -> pl.DataFrame:
    items = run_sql(folder / "items", "core__review_items", {"core__distillation": examples, **inputs})
    return run_sql(folder / "queue", "core__review_queue", {"core__review_items": items.to_dicts()})


def test_who_waits_for_a_person(tmp_path: Path) -> None:
    """D8: neither ready nor rejected; M1: contradicted, whatever the source's review says, until our own decides."""
    examples = [
        {"example_id": "1 not ready", **WAITING},
        {"example_id": "2 contradicted", **CONTRADICTED},
        {"example_id": "3 contradicted, approved by the source", **CONTRADICTED, "review_status": "approved"},
        {"example_id": "4 both", **CONTRADICTED, **WAITING},
        {"example_id": "ready"},
        {"example_id": "approved", "review_status": "approved"},
        {"example_id": "rejected", "review_status": "rejected", **WAITING, **CONTRADICTED},
        {"example_id": "ours", **APPROVED, **CONTRADICTED},
        {"example_id": "failed", "is_failed": True, **WAITING},
        {"example_id": "synthetic", **PAIR, **WAITING},
    ]
    rows = queue(tmp_path, examples).sort("item_id")
    assert rows.select("item_id", "review_reasons").rows() == [
        ("1 not ready", ["not_ready"]),
        ("2 contradicted", ["contradicted"]),
        ("3 contradicted, approved by the source", ["contradicted"]),
        ("4 both", ["contradicted", "not_ready"]),
    ]


def test_the_most_valuable_first(tmp_path: Path) -> None:
    """D8: contradicted, attempt, feedback, score, all descending; then id."""
    examples = [
        {"example_id": "b score", **WAITING, "quality_score": 0.5},
        {"example_id": "a score", **WAITING, "quality_score": 0.5},
        {"example_id": "high score", **WAITING, "quality_score": 0.6},
        {"example_id": "feedback", **WAITING, "quality_score": 0.1, "feedback_count": 1},
        {"example_id": "attempt", **WAITING, "quality_score": 0.1, **TRIED},
        {"example_id": "attempt and feedback", **WAITING, "quality_score": 0.1, **TRIED, "feedback_count": 2},
        {"example_id": "contradicted", "quality_score": 0.0, **CONTRADICTED, "feedback_count": 1},
    ]
    rows = queue(tmp_path, examples)
    assert rows["item_id"].to_list() == [
        "contradicted",
        "attempt and feedback",
        "attempt",
        "feedback",
        "high score",
        "a score",
        "b score",
    ]
    assert rows["rank"].to_list() == list(range(1, 8))


def test_what_was_judged_is_told_as_if_nobody_had(tmp_path: Path) -> None:
    """D8: for a blind second look it has the place and the reasons it would have in the queue, and nothing of the verdict."""
    examples = [
        {"example_id": "approved", **APPROVED},
        {"example_id": "contradicted", **APPROVED, **CONTRADICTED},
        {"example_id": "waits", **WAITING},
    ]
    items = run_sql(tmp_path, "core__review_items", {"core__distillation": examples})
    assert items.select("item_id", "is_waiting", "review_reasons", "review_priority").rows() == [
        ("approved", False, ["not_ready"], 800_000),
        ("contradicted", False, ["contradicted"], 8_800_000),
        ("waits", True, ["not_ready"], 800_000),
    ]


def test_users_corrections_enter_the_queue(tmp_path: Path) -> None:
    """D8: active ones nobody has decided about; they count as having an attempt (the answer) and feedback."""
    fix = {"effective_type": "correction", "sentiment": None, "quality_weight": 0.75}
    feedback = [
        {"feedback_id": "fix", **fix},
        {"feedback_id": "without an answer", **fix, "has_answer": False},
        {"feedback_id": "approved", **fix},
        {"feedback_id": "rejected", **fix},
        {"feedback_id": "disputed", **fix},
        {"feedback_id": "said twice", **fix, "status": "duplicate"},
        {"feedback_id": "thumb"},
    ]
    reviews = [{"example_id": v, "review_verdict": v} for v in ("approved", "rejected", "disputed")]
    rows = queue(tmp_path, [{"example_id": "e1", **WAITING, **TRIED}], core__feedback=feedback, core__reviews=reviews)
    columns = ("rank", "item_id", "kind", "quality_score", "has_attempt", "has_feedback", "review_reasons")
    assert rows.select(columns).rows() == [
        (1, "disputed", "correction", 0.75, True, True, ["user_correction"]),
        (2, "fix", "correction", 0.75, True, True, ["user_correction"]),
        (3, "e1", "example", 0.8, True, False, ["not_ready"]),
        (4, "without an answer", "correction", 0.75, False, True, ["user_correction"]),
    ]


# --- daily figures ----------------------------------------------------------------------------------------------------


def test_daily_figures(tmp_path: Path) -> None:
    """Counts by kind, shares of all, the mean score; the teacher's own pairs are not in them."""
    examples = [
        {"example_id": "1", "quality_score": 0.9, "feedback_verdict": "validated"},
        {"example_id": "2", "quality_score": 0.5, "is_ready": False, "quality_flags": ["refusal", "too_short"]},
        {"example_id": "3", "quality_score": 0.6, "reasoning_type": None, "training_format": "cot", **CONTRADICTED},
        {"example_id": "4", "domain": "general", "review_status": "rejected", "is_ready": False},
        {"example_id": "5", **PAIR},
    ]
    rows = {
        row["domain"]: row
        for row in run_sql(tmp_path, "metric__distillation_daily", {"core__distillation": examples}).to_dicts()
    }
    nonzero = {name: value for name, value in without_intervals(rows["code"]).items() if value}
    assert nonzero == {
        "event_date": date(2026, 1, 31),
        "domain": "code",
        "example_count": 3,
        "direct_count": 2,
        "instruction_format_count": 2,
        "cot_format_count": 1,
        "pending_count": 3,
        "ready_count": 2,
        "mean_score": 0.666667,
        "validated_rate": 0.333333,
        "contradicted_rate": 0.333333,
        "refusal_rate": 0.333333,
        "too_short_rate": 0.333333,
    }
    assert (rows["general"]["example_count"], rows["general"]["rejected_count"]) == (1, 1)
    assert rows.keys() == {"code", "general"}


FLAGS = (
    "repetition",
    "incomplete",
    "no_reasoning",
    "too_short",
    "too_long",
    "code_only",
    "refusal",
    "uncertain",
    "outdated",
    "hallucination_risk",
)
EXAMPLES = st.lists(
    st.fixed_dictionaries(
        {
            "event_date": st.sampled_from([date(2026, 1, 30), date(2026, 1, 31)]),
            "domain": st.sampled_from(["code", "general"]),
            "training_format": st.sampled_from(["instruction", "cot", "correction", "preference"]),
            "review_status": st.sampled_from(["pending", "approved", "rejected"]),
            "quality_score": st.integers(0, 100).map(lambda hundredths: hundredths / 100),
            "quality_flags": st.lists(st.sampled_from(FLAGS), unique=True),
            "feedback_verdict": st.sampled_from([None, "validated", "contradicted"]),
        }
    ),
    min_size=1,
    max_size=12,
)


@pytest.mark.slow
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(examples=EXAMPLES)
def test_daily_figures_add_up(tmp_path_factory: pytest.TempPathFactory, examples: list[dict[str, Any]]) -> None:
    """Every example is counted once by format and once by review; a share times the count is a number of examples."""
    rows = [{"example_id": f"e{number}", **example} for number, example in enumerate(examples)]
    daily = run_sql(tmp_path_factory.mktemp("one"), "metric__distillation_daily", {"core__distillation": rows})
    again = run_sql(tmp_path_factory.mktemp("two"), "metric__distillation_daily", {"core__distillation": rows[::-1]})
    assert daily.equals(again)
    assert daily["example_count"].sum() == len(rows)
    by_format = pl.sum_horizontal("^.*_format_count$")
    by_review = pl.sum_horizontal("pending_count", "approved_count", "rejected_count")
    assert daily.select(
        (by_format == pl.col("example_count")).all() & (by_review == pl.col("example_count")).all()
    ).item()
    shares = daily.select((pl.col("^.*_rate$") * pl.col("example_count")).round().sum()).row(0, named=True)
    expected = {f"{flag}_rate": sum(flag in row["quality_flags"] for row in rows) for flag in FLAGS}
    expected |= {
        f"{verdict}_rate": sum(row["feedback_verdict"] == verdict for row in rows)
        for verdict in ("validated", "contradicted")
    }
    assert shares == expected
    total = daily.select((pl.col("mean_score") * pl.col("example_count")).sum()).item()
    assert total == pytest.approx(sum(row["quality_score"] for row in rows), abs=1e-5)
