"""One example per interaction (D2): merged over the generations, with mended JSON (D1), extraction (D3) and reviews (D6).

Real SQLite files; all cases of a kind are in one database, each with a question of its own.
"""

import json
from datetime import timedelta
from typing import Any

import pytest

from dagster_project.review.items import content_hash
from tests.systems.distillation.distilled_database import (
    ANSWER,
    CORRECTIONS,
    LEGACY,
    NORMAL,
    PAIRS,
    PATTERNS,
    START,
    STEPS,
    THOUGHTS,
    UNIFIED,
    Derived,
    Row,
    Tables,
    at,
    derive,
    source,
    thought_id,
    write,
)

# --- merging (D2), all cases in one database: each has a question of its own ------------------------------------------

LONG = "Größe und Maß: 一二三 🌾 " * 12  # over 100 characters, and more bytes than that
REVIEWS: list[tuple[str, Row, int]] = [
    # (table, what is stored, the verdict it counts as)
    (UNIFIED, {"human_reviewed": 1}, 1),
    (UNIFIED, {"human_reviewed": -1}, -1),
    (UNIFIED, {"human_reviewed": 0}, 0),
    (UNIFIED, {}, 0),
    (UNIFIED, {"human_reviewed": 1, "reviewer_notes": "AUTO-APPROVED: high score"}, 0),
    (UNIFIED, {"human_reviewed": -1, "reviewer_notes": "\nAUTO-REJECTED"}, 0),
    (UNIFIED, {"human_reviewed": 1, "reviewer_notes": "not AUTO-APPROVED but seen"}, 1),
    (NORMAL, {"human_reviewed": 1, "approved": 1}, 1),
    (NORMAL, {"human_reviewed": 1, "approved": 0}, -1),
    (NORMAL, {"human_reviewed": 1}, 0),
    (NORMAL, {"human_reviewed": 0, "approved": 1}, 0),
    (NORMAL, {"approved": 1}, 0),
    (NORMAL, {"human_reviewed": 1, "approved": 1, "reviewer_notes": "AUTO-APPROVED"}, 0),
    (NORMAL, {"human_reviewed": 1, "approved": 0, "reviewer_notes": "AUTO-REJECTED"}, 0),
    (LEGACY, {}, 0),
]
OBJECT = '{"sam_errors": [{"error_type": "gap"}], "improvements": []}'
JSON: list[tuple[str, str | None, bool, str | None]] = [
    # (column, what the winner stores, whether its row is marked, what the example has: the winner's or the next row's)
    ("reasoning_steps", None, False, STEPS),
    ("reasoning_steps", "", False, STEPS),
    ("reasoning_steps", " \n", False, STEPS),
    ("reasoning_steps", "null", False, STEPS),
    ("reasoning_steps", "[]", False, "[]"),
    ("reasoning_steps", '["mine"]', False, '["mine"]'),
    ("reasoning_steps", "one, two", True, STEPS),
    ("reasoning_steps", '["one"', True, STEPS),
    ("reasoning_steps", "['one']", True, STEPS),
    ("reasoning_steps", '["one",]', True, STEPS),
    ("reasoning_steps", '["one,]", "\\",}"]', False, '["one,]", "\\",}"]'),
    ("reasoning_steps", '["\\ud800"]', True, STEPS),
    ("reasoning_steps", '{"step": 1}', True, STEPS),
    ("reasoning_steps", '"one"', True, STEPS),
    ("reasoning_steps", "7", True, STEPS),
    ("tool_usage", "[]", False, "[]"),
    ("tool_usage", "no tools", True, STEPS),
    ("principles", "[]", False, "[]"),
    ("principles", "{}", True, STEPS),
    ("corrections", "{}", False, "{}"),
    ("corrections", "[]", True, OBJECT),
    ("corrections", "", False, OBJECT),
    ("quality_flags", "too_short", True, STEPS),
]


def all_cases() -> Tables:
    unified: list[Row] = [
        {
            "id": "winner",
            "query": "fill",
            "created_at": at(3),
            "sam_attempt": "",
            "reasoning_type": " ",
            "session_id": "default",
            "tool_usage": "[]",
            "complexity": None,
            "quality_score": 0.25,
            "query_context": "Mine.",
            "human_reviewed": 0,
        },
        {
            "id": "older",
            "query": "FILL ",
            "claude_response": ANSWER.upper(),
            "created_at": at(1),
            "session_id": "s1",
            "query_context": "Not mine.",
            "subdomain": "python",
            "tool_usage": '["x"]',
            "human_reviewed": 1,
        },
        {"id": "own type", "query": "unknown type", "reasoning_type": "intuition"},
        {
            "id": "words",
            "query": "words",
            "domain": " CODE",
            "reasoning_type": "Tool_Use ",
            "training_format": " CoT",
            "quality_flags": '["Repetition ", "odd", "odd", null, ""]',
        },
        {"id": "strange domain", "query": "strange domain", "domain": "cooking"},
        {"id": "blank attempt", "query": "blank attempt", "sam_attempt": "\u2003\n"},
        *(
            {"id": f"review{n}", "query": f"review{n}", **row}
            for n, (table, row, _) in enumerate(REVIEWS)
            if table == UNIFIED
        ),
    ]
    for number, (column, stored, _, _) in enumerate(JSON):
        full = OBJECT if column == "corrections" else STEPS
        unified.append({"id": f"json{number}", "query": f"json{number}", column: stored})
        unified.append({"id": f"next{number}", "query": f"json{number}", "created_at": at(-1), column: full})
        unified.append({"id": f"only{number}", "query": f"only{number}", column: stored})
    normal: list[Row] = [
        {
            "id": "e",
            "query": "fill",
            "sam_attempt": "Tried.",
            "reasoning_type": "direct",
            "complexity": 4,
            "quality_score": 0.5,
            "domain": "factual",
        },
        *(
            {"id": f"review{n}", "query": f"review{n}", **row}
            for n, (table, row, _) in enumerate(REVIEWS)
            if table == NORMAL
        ),
    ]
    legacy: list[Row] = [
        {"id": "r", "prompt": "fill", "quality_score": 0.75},
        {"id": "md5", "prompt": "Größe?", "response": LONG},
        {"id": "empty", "prompt": "empty", "response": " "},
        *({"id": f"review{n}", "prompt": f"review{n}"} for n, (table, _, _) in enumerate(REVIEWS) if table == LEGACY),
    ]
    thoughts: list[Row] = [
        {"id": thought_id("fill", ANSWER), "prompt": "fill", "reasoning_steps": STEPS, "complexity": 9, "success": 0},
        {"id": thought_id("Größe?", LONG), "prompt": "whatever", "reasoning_steps": STEPS, "final_answer": "Gone."},
        {"id": thought_id("empty", " "), "prompt": "empty", "reasoning_steps": STEPS, "final_answer": "Not here."},
        {"id": "alone", "prompt": "alone", "reasoning_steps": '["First.", "", "Second."]', "final_answer": "Third."},
        {"id": "steps", "prompt": "steps only", "reasoning_steps": '["First.", 2, null, {"a": 1}]', "final_answer": ""},
        {"id": "answer", "prompt": "answer only", "reasoning_steps": "First, second.", "final_answer": "Third."},
        {"id": "nothing", "prompt": "nothing", "final_answer": None},
        {"id": "failed", "prompt": "failed", "final_answer": "Third.", "success": 0},
        {"id": "done", "prompt": "done", "final_answer": "Third.", "success": 1},
        {"id": "untold", "prompt": "untold", "final_answer": "Third.", "created_at": at(1)},
        {"id": "untold before", "prompt": "untold", "final_answer": "third.", "success": 0},
    ]
    pairs: list[Row] = [
        {"id": "pair", "prompt": "fill"},
        {"id": "same", "prompt": "same", "bad_response": f" {ANSWER}\r\n"},
        {"id": "no bad side", "prompt": "no bad side", "bad_response": " "},
    ]
    return {
        UNIFIED: unified,
        NORMAL: normal,
        LEGACY: legacy,
        THOUGHTS: thoughts,
        PAIRS: pairs,
        PATTERNS: [],
        CORRECTIONS: [],
    }


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Derived:
    home = tmp_path_factory.mktemp("cases") / "home"
    write(source(home), all_cases())
    return derive(home)


def test_the_winner_gives_what_it_has_and_the_next_fills(cases: Derived) -> None:
    """D2: NULL and empty values are filled from the next row; `[]` and 0 are values; unknown sessions are none (G9)."""
    row = cases.examples["winner"]
    thought = thought_id("fill", ANSWER)
    assert row["source_rows"] == [
        "distillation_examples:winner",
        "distillation_examples:older",
        "examples:e",
        "raw_interactions:r",
        f"chain_of_thought:{thought}",
    ]
    names = (
        "session_id",
        "subdomain",
        "reasoning_type",
        "reasoning_steps",
        "tool_usage",
        "complexity",
        "stored_complexity",
    )
    assert [row[name] for name in names] == ["s1", "python", "direct", STEPS, "[]", 4, 4]
    assert (row["source_quality_score"], row["source_review"], row["domain"]) == (0.25, 0, "code")
    assert (row["occurred_at"], row["event_date"]) == (START + timedelta(days=3), (START + timedelta(days=3)).date())
    texts = cases.texts["winner"]
    assert [texts[n] for n in ("query", "query_context", "attempt", "claude_response")] == [
        "fill",
        "Mine.",
        "Tried.",
        ANSWER,
    ]
    assert (row["is_failed"], row["extracted"]) == (False, ["corrections", "principles"])
    assert row["content_hash"] == content_hash("fill", ANSWER, "Tried.")


def test_losers_are_no_examples(cases: Derived) -> None:
    """D2: one example per interaction; a pair of the teacher's is one of its own."""
    assert {"older", "examples:e", "raw_interactions:r", f"chain_of_thought:{thought_id('fill', ANSWER)}"}.isdisjoint(
        cases.examples
    )
    assert cases.examples["preference_pairs:pair"]["source_rows"] == ["preference_pairs:pair"]


def test_a_thought_is_joined_by_the_md5_of_prompt_and_first_100_characters(cases: Derived) -> None:
    """sources.md: characters, not bytes; the thought gives its steps, its rebuilt answer is not needed."""
    row = cases.examples["raw_interactions:md5"]
    assert row["source_rows"] == ["raw_interactions:md5", f"chain_of_thought:{thought_id('Größe?', LONG)}"]
    assert (row["reasoning_steps"], row["step_count"]) == (STEPS, 2)
    assert cases.texts["raw_interactions:md5"]["claude_response"] == LONG
    assert "reconstructed_response" not in row["extracted"]


def test_an_interaction_without_an_answer_is_not_given_its_thoughts(cases: Derived) -> None:
    """D2: only a chain of thought alone has its response rebuilt."""
    row = cases.examples["raw_interactions:empty"]
    assert (row["has_answer"], row["step_count"], len(row["source_rows"])) == (False, 2, 2)
    assert "reconstructed_response" not in row["extracted"]


REBUILT = [
    # (id, the response rebuilt, whether it failed)
    ("alone", "First.\nSecond.\n\nThird.", False),
    ("steps", 'First.\n2\n{"a":1}', False),
    ("answer", "Third.", False),
    ("nothing", None, False),
    ("failed", "Third.", True),
    ("done", "Third.", False),
    ("untold", "Third.", True),
]


@pytest.mark.parametrize(("id", "response", "is_failed"), REBUILT)
def test_a_thought_alone_is_rebuilt(cases: Derived, id: str, response: str | None, is_failed: bool) -> None:
    """D2: its steps, then its final answer, marked; success = 0 is `failed`, also where the next row alone tells."""
    row = cases.examples[f"chain_of_thought:{id}"]
    assert cases.texts[f"chain_of_thought:{id}"]["claude_response"] == response
    assert (row["is_failed"], row["has_answer"]) == (is_failed, response is not None)
    assert row["extracted"][-1] == "reconstructed_response"


@pytest.mark.parametrize("number", range(len(REVIEWS)), ids=[f"{table}: {row}" for table, row, _ in REVIEWS])
def test_what_the_sources_review_counts_as(cases: Derived, number: int) -> None:
    """D6, sources.md: in `examples` approved decides; notes that begin with AUTO- are a machine's, which is no review."""
    table, _, verdict = REVIEWS[number]
    id = f"review{number}" if table == UNIFIED else f"{table}:review{number}"
    assert cases.examples[id]["source_review"] == verdict


@pytest.mark.parametrize("number", range(len(JSON)), ids=[f"{column}: {stored!r}" for column, stored, _, _ in JSON])
def test_json_that_is_none(cases: Derived, number: int) -> None:
    """D1: the row stays and is marked, the column is empty; then D2 fills it, else D3 extracts it."""
    column, stored, is_marked, expected = JSON[number]
    assert cases.raw[UNIFIED][f"json{number}"]["repairs"] == ([f"bad_json:{column}"] if is_marked else [])
    is_value = expected == stored
    if column == "quality_flags":
        assert {"one", "two"} <= set(cases.examples[f"json{number}"][column])
        return
    assert cases.examples[f"json{number}"][column] == expected
    assert (column in cases.examples[f"json{number}"]["extracted"]) is False
    alone = cases.examples[f"only{number}"]
    assert (column in alone["extracted"]) is not is_value
    found = json.loads(alone[column])
    assert isinstance(found, dict if column == "corrections" else list)


def test_vocabularies(cases: Derived) -> None:
    """G8: compared trimmed and in lower case; an unknown type is stored, so nothing is extracted for it (D3)."""
    row = cases.examples["words"]
    assert (row["domain"], row["reasoning_type"], row["source_training_format"]) == ("code", "tool_use", "cot")
    assert row["quality_flags"][:2] == ["repetition", "odd"]
    assert len(row["quality_flags"]) == len(set(row["quality_flags"]))
    assert cases.examples["strange domain"]["domain"] == "general"
    unknown = cases.examples["own type"]
    assert unknown["reasoning_type"] is None
    assert "reasoning_type" not in unknown["extracted"]


def test_an_attempt_needs_a_word(cases: Derived) -> None:
    """D3, D7: blank is none; of the teacher's pairs the bad side takes its place."""
    blank = cases.examples["blank attempt"]
    assert (blank["has_attempt"], blank["attempt_hash"], blank["changed_fraction"]) == (False, None, None)
    pair, same, bare = (cases.examples[f"preference_pairs:{id}"] for id in ("pair", "same", "no bad side"))
    assert pair["has_attempt"] and pair["attempt_hash"] != pair["answer_hash"]
    assert same["attempt_hash"] == same["answer_hash"]
    assert not bare["has_attempt"]


def test_fractions_are_rounded(cases: Derived) -> None:
    """G2: six decimals."""
    fractions = [row["changed_fraction"] for row in cases.examples.values() if row["changed_fraction"]]
    assert fractions and all(value == round(value, 6) for value in fractions)


# --- the tables beside `examples` -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Derived:
    """Rows of `examples`, each with a question of its own, and what is said of them beside; as_of is six days later."""
    home = tmp_path_factory.mktemp("beside") / "home"
    names = ("newest", "filled", "named", "own", "late", "milliseconds", "bad", "fixed", "unfixed")
    asked: dict[str, Row] = {name: {"id": name, "query": name} for name in names}
    asked["named"] |= {"reasoning_pattern_id": "p-named"}
    asked["own"] |= {"reasoning_type": "direct", "complexity": 2}
    patterns: list[Row] = [
        {
            "id": "p1",
            "example_id": "newest",
            "reasoning_type": "multi_step",
            "reasoning_steps": '["new"]',
            "created_at": at(2),
        },
        {
            "id": "p2",
            "example_id": "newest",
            "reasoning_type": "direct",
            "reasoning_steps": '["old"]',
            "created_at": at(1),
        },
        {
            "id": "p3",
            "example_id": "filled",
            "reasoning_type": " ",
            "reasoning_steps": "",
            "complexity": 6,
            "created_at": at(2),
        },
        {
            "id": "p4",
            "example_id": "filled",
            "reasoning_type": "tool_use",
            "reasoning_steps": "[]",
            "complexity": 3,
            "created_at": None,
        },
        {"id": "p-named", "example_id": "somebody else", "reasoning_type": "multi_step", "created_at": at(-5)},
        {"id": "p5", "example_id": "named", "reasoning_type": "direct", "tool_usage": '["x"]', "created_at": at(2)},
        {"id": "p6", "example_id": "own", "reasoning_type": "multi_step", "complexity": 9},
        {"id": "p7", "example_id": "late", "reasoning_type": "multi_step", "created_at": at(9)},
        {"id": "p8", "example_id": "milliseconds", "reasoning_type": "multi_step", "created_at": at(2) * 1000},
        {"id": "p9", "example_id": "milliseconds", "reasoning_type": "direct", "created_at": at(3)},
        {"id": "p10", "example_id": "bad", "reasoning_steps": "not json", "tool_usage": '["y"]'},
    ]
    said = dict.fromkeys(("what_sam_said", "what_was_wrong", "correct_answer"))
    fixes: list[Row] = [
        {"id": "c2", "example_id": "fixed", "error_type": "late", "improvements": '["b", null]', "created_at": at(2)},
        {
            "id": "c1",
            "example_id": "fixed",
            "error_type": "early",
            "improvements": "b or c",
            "lesson_learned": "a 'quote'\n",
            "created_at": at(1),
        },
        {"id": "c3", "example_id": "fixed", "error_type": "undated", "lesson_learned": " ", "created_at": None},
        {"id": "c4", "example_id": "unfixed", "error_type": "to come", "created_at": at(6)},
    ]
    write(source(home), {NORMAL: list(asked.values()), PATTERNS: patterns, CORRECTIONS: [said | fix for fix in fixes]})
    return derive(home, as_of=START + timedelta(days=6))


PATTERN_VALUES = [
    # (example, column, value)
    ("newest", "reasoning_type", "multi_step"),
    ("newest", "reasoning_steps", '["new"]'),
    ("filled", "reasoning_type", "tool_use"),
    ("filled", "reasoning_steps", "[]"),
    ("filled", "stored_complexity", 6),
    ("named", "reasoning_type", "multi_step"),
    ("named", "tool_usage", '["x"]'),
    ("own", "reasoning_type", "direct"),
    ("own", "stored_complexity", 2),
    ("milliseconds", "reasoning_type", "direct"),
    ("bad", "tool_usage", '["y"]'),
]


@pytest.mark.parametrize(("example", "column", "value"), PATTERN_VALUES)
def test_patterns_fill_what_an_example_lacks(beside: Derived, example: str, column: str, value: Any) -> None:
    """The row's own value, else that of the pattern it names, else of the newest pattern about it that has one."""
    row = beside.examples[f"examples:{example}"]
    assert row[column] == value
    assert column not in row["extracted"]


def test_what_was_written_after_as_of_is_not_known(beside: Derived) -> None:
    """G2: patterns and corrections too; what they would have told is extracted from the text instead."""
    assert "reasoning_type" in beside.examples["examples:late"]["extracted"]
    assert "corrections" in beside.examples["examples:unfixed"]["extracted"]


def test_corrections_become_one_object_oldest_first(beside: Derived) -> None:
    """As seed 2 writes it; lessons are improvements."""
    row = beside.examples["examples:fixed"]
    assert row["error_count"] == 3
    nothing = dict.fromkeys(("what_sam_said", "what_was_wrong", "correct_answer"))
    assert json.loads(row["corrections"]) == {
        "sam_errors": [{"error_type": kind, **nothing} for kind in ("early", "late", "undated")],
        "improvements": ["a 'quote'\n", "b"],
    }


def test_rows_beside_are_mended_and_marked(beside: Derived) -> None:
    """D1 and G1 hold for them as for all others."""
    assert beside.raw[PATTERNS]["p10"]["repairs"] == ["bad_json:reasoning_steps"]
    assert beside.raw[CORRECTIONS]["c1"]["repairs"] == ["bad_json:improvements"]
    assert beside.raw[PATTERNS]["p8"]["repairs"] == ["created_at:milliseconds"]
    assert beside.raw[PATTERNS]["p8"]["created_at"] == at(2)
