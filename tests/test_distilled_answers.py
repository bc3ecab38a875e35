"""From distillation databases to distilled examples: merging (D2), JSON (D1), extraction (D3), reviews (D6), kept days (G12).

Real SQLite files; the stages of a run are called one after the other, without Dagster, but for the whole runs at the end.
"""

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dagster_project import config
from dagster_project.distillation_days import bring_distillation_up_to_date
from dagster_project.distilled_answers import SOURCES, TABLE, bring_distilled_answers_up_to_date, merged
from dagster_project.mill_run import Choice, MillRun
from dagster_project.raw_tables import bring_snapshot_up_to_date
from dagster_project.review.items import content_hash
from dagster_project.sources import distillation
from dagster_project.tables import store_query
from tests.conftest import change

UNIFIED, NORMAL, LEGACY, THOUGHTS, PAIRS = (
    "distillation_examples",
    "examples",
    "raw_interactions",
    "chain_of_thought",
    "preference_pairs",
)
PATTERNS, CORRECTIONS = "reasoning_patterns", "corrections"
SPECS = {spec.name: spec for spec in (*distillation.DATED.values(), *distillation.UNDATED.values())}
KINDS = {"text": "TEXT", "id": "TEXT", "integer": "INTEGER", "real": "REAL"}
START = datetime(2026, 1, 20, 12, tzinfo=UTC)
ANSWER = "It depends on what you measure. A longer look shows that both are right, each in its own way, and neither is always so."

Row = dict[str, Any]
Tables = Mapping[str, Sequence[Row]]


def at(days: float = 0) -> float:
    return (START + timedelta(days=days)).timestamp()


def plain(table: str) -> Row:
    """What a row has unless a test says otherwise; columns that are not named are NULL."""
    prompt, response = ("query", "claude_response") if table in (UNIFIED, NORMAL) else ("prompt", "response")
    texts = {prompt: "Why?", response: ANSWER, "domain": "code", "good_response": ANSWER, "bad_response": "No idea."}
    texts |= {"principle": "Look twice.", "example_id": "nobody"}
    return {name: value for name, value in (texts | {"created_at": at()}).items() if name in SPECS[table].columns}


def write(path: Path, tables: Tables, integer_ids: bool = False) -> Path:
    """A database with just these tables."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as database:
        for table, rows in tables.items():
            kinds = {name: KINDS[kind] for name, kind in SPECS[table].columns.items()}
            if integer_ids:
                kinds |= {name: "INTEGER" for name, kind in SPECS[table].columns.items() if kind == "id"}
            columns = (f"{name} {kind}{' PRIMARY KEY' if name == 'id' else ''}" for name, kind in kinds.items())
            database.execute(f"create table {table} ({', '.join(columns)})")
            for row in rows:
                whole = plain(table) | row
                marks = ", ".join(f":{name}" for name in whole)
                database.execute(f"insert into {table} ({', '.join(whole)}) values ({marks})", whole)
        database.commit()
    return path


def source(home: Path) -> Path:
    return home / "sources" / "distillation.db"


@dataclass
class Derived:
    """What a run made: examples by id, with their merged texts; rows made again; what every kept day was made from."""

    examples: dict[str, Row]
    texts: dict[str, Row]
    raw: dict[str, dict[str, Row]]
    made: int
    inputs: dict[str, str]

    @property
    def days(self) -> dict[str, str]:
        return {
            key.removeprefix(f"{TABLE}/"): value for key, value in self.inputs.items() if key.startswith(f"{TABLE}/")
        }


def derive(home: Path, as_of: datetime | None = None) -> Derived:
    """Everything of a run up to core__distilled_answers, published."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("BATCH_ROWS", "SCAN_BATCH_ROWS"):  # a batch of typed rows comes before every read
            patch.setattr(f"dagster_project.extract.{name}", 64)
        return derive_as_it_is(home, as_of)


def derive_as_it_is(home: Path, as_of: datetime | None) -> Derived:
    with MillRun(config.load(home=home, environ={}), Choice(as_of=as_of)) as run:
        for asset in distillation.DATED:
            bring_distillation_up_to_date(run, asset)
        for asset, spec in distillation.UNDATED.items():
            mend = partial(distillation.mended_json, table=spec.name)
            bring_snapshot_up_to_date(run, asset, spec, distillation.rules_of(spec), is_united=True, mend=mend)
        store_query(run.lake, SOURCES, run.params, memory_limit_mb=300)
        made = bring_distilled_answers_up_to_date(run)

        def rows(table: str, key: str) -> dict[str, Row]:
            files = run.lake.files(table)
            found = pl.read_parquet(files, hive_partitioning=False).to_dicts() if files else []
            return {row[key]: row for row in found}

        sources = pl.read_parquet(run.lake.files(SOURCES), hive_partitioning=False)
        texts = merged(run.lake, sources, as_of=run.as_of).to_dicts() if sources.height else []
        derived = Derived(
            rows(TABLE, "example_id"), {row["example_id"]: row for row in texts},
            {table: rows(f"raw_distillation__{table}", "id") for table in SPECS}, made, dict(run.lake.catalog.inputs),
        )  # fmt: skip
        run.lake.catalog.as_of = run.as_of.isoformat()
        run.lake.commit()
    return derived


def thought_id(prompt: str, response: str) -> str:
    """sources.md, in Python's own words."""
    return hashlib.md5((prompt + response[:100]).encode()).hexdigest()[:12]


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
STEPS, OBJECT = '["one", "two"]', '{"sam_errors": [{"error_type": "gap"}], "improvements": []}'
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
        {"id": "winner", "query": "fill", "created_at": at(3), "sam_attempt": "", "reasoning_type": " ", "session_id": "default",
         "tool_usage": "[]", "complexity": None, "quality_score": 0.25, "query_context": "Mine.", "human_reviewed": 0},
        {"id": "older", "query": "FILL ", "claude_response": ANSWER.upper(), "created_at": at(1), "session_id": "s1",
         "query_context": "Not mine.", "subdomain": "python", "tool_usage": '["x"]', "human_reviewed": 1},
        {"id": "own type", "query": "unknown type", "reasoning_type": "intuition"},
        {"id": "words", "query": "words", "domain": " CODE", "reasoning_type": "Tool_Use ", "training_format": " CoT",
         "quality_flags": '["Repetition ", "odd", "odd", null, ""]'},
        {"id": "strange domain", "query": "strange domain", "domain": "cooking"},
        {"id": "blank attempt", "query": "blank attempt", "sam_attempt": "\u2003\n"},
        *({"id": f"review{n}", "query": f"review{n}", **row} for n, (table, row, _) in enumerate(REVIEWS) if table == UNIFIED),
    ]  # fmt: skip
    for number, (column, stored, _, _) in enumerate(JSON):
        full = OBJECT if column == "corrections" else STEPS
        unified.append({"id": f"json{number}", "query": f"json{number}", column: stored})
        unified.append({"id": f"next{number}", "query": f"json{number}", "created_at": at(-1), column: full})
        unified.append({"id": f"only{number}", "query": f"only{number}", column: stored})
    normal: list[Row] = [
        {"id": "e", "query": "fill", "sam_attempt": "Tried.", "reasoning_type": "direct", "complexity": 4,
         "quality_score": 0.5, "domain": "factual"},
        *({"id": f"review{n}", "query": f"review{n}", **row} for n, (table, row, _) in enumerate(REVIEWS) if table == NORMAL),
    ]  # fmt: skip
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
        "distillation_examples:winner", "distillation_examples:older", "examples:e", "raw_interactions:r",
        f"chain_of_thought:{thought}",
    ]  # fmt: skip
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
        {"id": "c1", "example_id": "fixed", "error_type": "early", "improvements": "b or c", "lesson_learned": "a 'quote'\n",
         "created_at": at(1)},
        {"id": "c3", "example_id": "fixed", "error_type": "undated", "lesson_learned": " ", "created_at": None},
        {"id": "c4", "example_id": "unfixed", "error_type": "to come", "created_at": at(6)},
    ]  # fmt: skip
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


# --- kept days (G12) --------------------------------------------------------------------------------------------------

DAYS = [str((START + timedelta(days=day)).date()) for day in range(8)]


@pytest.fixture(scope="module")
def kept_home(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """An example a day, made once: a row of each table, and one whose winner is six days younger than what fills it."""
    home = tmp_path_factory.mktemp("kept") / "home"
    write(
        source(home),
        {
            UNIFIED: [
                {"id": "d0", "query": "0", "created_at": at(0)},
                {"id": "d6", "query": "filled", "created_at": at(6)},
            ],
            NORMAL: [{"id": "e1", "query": "1", "created_at": at(1)}, {"id": "e2", "query": "2", "created_at": at(2)}],
            LEGACY: [
                {"id": "r0", "prompt": "filled", "created_at": at(0)},
                {"id": "r3", "prompt": "3", "created_at": at(3)},
            ],
            THOUGHTS: [
                {"id": "t4", "prompt": "4", "final_answer": "Four.", "created_at": at(4)},
                {"id": thought_id("3", ANSWER), "prompt": "3", "reasoning_steps": STEPS, "created_at": at(5)},
            ],
            PAIRS: [{"id": "p7", "prompt": "7", "created_at": at(7)}],
            PATTERNS: [{"id": "a", "example_id": "e1", "reasoning_steps": STEPS, "created_at": at(1)}],
            CORRECTIONS: [{"id": "b", "example_id": "e2", "error_type": "gap", "created_at": at(2)}],
        },
    )
    made = derive(home)
    assert made.made == 8 - 1  # the thought of day 5 belongs to the example of day 3
    assert list(made.days) == [day for day in DAYS if day != DAYS[5]]
    return home, made.days


@pytest.fixture
def kept(kept_home: tuple[Path, dict[str, str]], tmp_path: Path) -> Path:
    return shutil.copytree(kept_home[0], tmp_path / "home")


def test_nothing_is_made_again_that_is_as_it_was(kept: Path, kept_home: tuple[Path, dict[str, str]]) -> None:
    again = derive(kept)
    assert (again.made, again.days) == (0, kept_home[1])


EDITS = [
    # (what the source's owner does, days made again)
    ("update distillation_examples set sam_attempt = 'Tried.' where id = 'd0'", {0}),
    ("update examples set human_reviewed = 1, approved = 1 where id = 'e2'", {2}),
    ("update raw_interactions set response = '!' || response where id = 'r3'", {3, 5}),
    ("update raw_interactions set quality_score = 0.9 where id = 'r0'", {6}),
    ("update chain_of_thought set final_answer = 'It is four.' where id = 't4'", {4}),
    ("update chain_of_thought set complexity = 7 where created_at > 0 and id <> 't4'", {3}),
    ("update preference_pairs set bad_response = 'Worse.' where id = 'p7'", {7}),
    ("update reasoning_patterns set reasoning_steps = '[]' where id = 'a'", {1}),
    ("insert into reasoning_patterns (id, example_id, tool_usage) values ('c', 'e2', '[1]')", {2}),
    ("insert into reasoning_patterns (id, example_id, tool_usage) values ('c', 'nobody', '[1]')", set()),
    ("update corrections set example_id = 'e1' where id = 'b'", {1, 2}),
    ("delete from corrections", {2}),
    ("insert into principles (id, principle) values ('x', 'Look twice.')", set()),
]  # fmt: skip


@pytest.mark.parametrize(("edit", "days"), EDITS, ids=[edit for edit, _ in EDITS])
def test_an_edit_makes_again_just_the_days_it_concerns(
    kept: Path, kept_home: tuple[Path, dict[str, str]], edit: str, days: set[int]
) -> None:
    """G12: a day depends on the source rows behind its examples, wherever they lie, and on nothing else."""
    if "into principles" in edit:
        change(source(kept), "create table principles (id TEXT, principle TEXT)")
    change(source(kept), edit)
    after = derive(kept)
    changed = {day for day in after.days if after.days[day] != kept_home[1].get(day)}
    assert changed == {DAYS[day] for day in days}
    assert after.made == sum(str(row["event_date"]) in changed for row in after.examples.values())
    fresh = shutil.copytree(kept / "sources", kept.parent / "fresh" / "sources").parent
    assert derive(fresh).examples == after.examples


def test_an_example_that_is_gone_leaves_no_day(kept: Path) -> None:
    """G7: rows that vanished at the source vanish here; what they had won goes to the next."""
    change(source(kept), "delete from distillation_examples")
    derived = derive(kept)
    assert set(derived.days) == {DAYS[day] for day in (0, 1, 2, 3, 4, 7)}
    assert {"d0", "d6"}.isdisjoint(derived.examples)
    assert str(derived.examples["raw_interactions:r0"]["event_date"]) == DAYS[0]
    change(source(kept), *(f"delete from {table}" for table in (NORMAL, LEGACY, THOUGHTS, PAIRS)))
    assert derive(kept).examples == {}


def test_other_code_makes_everything_again(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dagster_project.distilled_answers.code_hash", lambda *_: "other")
    assert derive(kept).made == 7


# --- what is there and what is not ------------------------------------------------------------------------------------

ONE_OF_EACH: Tables = {
    UNIFIED: [{"id": "1", "query": "unified"}],
    NORMAL: [{"id": "2", "query": "normal"}],
    LEGACY: [{"id": "3", "prompt": "legacy"}],
    THOUGHTS: [{"id": "4", "prompt": "thought", "final_answer": "So."}],
    PAIRS: [{"id": "5", "prompt": "pair"}],
    PATTERNS: [{"id": "6", "example_id": "2", "reasoning_steps": STEPS, "tool_usage": "[]"}],
    CORRECTIONS: [{"id": "7", "example_id": "2", "error_type": "gap"}],
    "review_queue": [{"id": "8", "example_id": "2"}],
    "principles": [{"id": "9", "principle": "Look twice."}],
    "skill_templates": [{"id": "10"}],
}
IDS = {
    UNIFIED: "1",
    NORMAL: "examples:2",
    LEGACY: "raw_interactions:3",
    THOUGHTS: "chain_of_thought:4",
    PAIRS: "preference_pairs:5",
}


def told(derived: Derived) -> tuple[set[str], int, int]:
    """The examples, and what the tables beside gave to the one of `examples`."""
    normal = derived.examples.get("examples:2", {"step_count": 0, "error_count": 0})
    return set(derived.examples), normal["step_count"], normal["error_count"]


@pytest.mark.parametrize("absent", ONE_OF_EACH)
def test_any_table_may_be_absent(tmp_path: Path, absent: str) -> None:
    """sources.md: look at what is there; principles and templates are never examples (D2)."""
    write(source(tmp_path), {table: rows for table, rows in ONE_OF_EACH.items() if table != absent})
    has_normal = absent != NORMAL
    expected = {id for table, id in IDS.items() if table != absent}
    assert told(derive(tmp_path)) == (
        expected,
        2 * (has_normal and absent != PATTERNS),
        int(has_normal and absent != CORRECTIONS),
    )


@pytest.mark.parametrize("only", ONE_OF_EACH)
def test_any_table_may_be_the_only_one(tmp_path: Path, only: str) -> None:
    write(source(tmp_path), {only: ONE_OF_EACH[only]})
    derived = derive(tmp_path)
    assert set(derived.examples) == ({IDS[only]} if only in IDS else set())
    assert len(derived.raw[only]) == 1


def test_empty_tables_give_nothing(tmp_path: Path) -> None:
    write(source(tmp_path), {table: [] for table in SPECS})
    assert derive(tmp_path).examples == {}


def test_generations_in_two_files_are_united(tmp_path: Path) -> None:
    """sources.md: a source may be several files; an interaction may be in both."""
    write(source(tmp_path), {UNIFIED: [{"id": "a", "query": "q"}]})
    write(
        source(tmp_path).with_name("distillation_fallback.db"),
        {NORMAL: [{"id": "b", "query": "q", "sam_attempt": "Tried."}], PATTERNS: []},
    )
    derived = derive(tmp_path)
    assert derived.examples["a"]["source_rows"] == ["distillation_examples:a", "examples:b"]
    assert derived.texts["a"]["attempt"] == "Tried."


def test_ids_may_be_whole_numbers(tmp_path: Path) -> None:
    """Ids are read as text, whatever the table declares; references to them too."""
    rows = {
        table: [{**row, **{name: int(row[name]) for name in ("id", "example_id") if name in row}} for row in some]
        for table, some in ONE_OF_EACH.items()
    }
    rows[NORMAL][0]["reasoning_pattern_id"] = 6
    write(source(tmp_path), rows, integer_ids=True)
    derived = derive(tmp_path)
    assert told(derived) == (set(IDS.values()), 2, 1)
    assert derived.raw["skill_templates"].keys() == {"10"}
    change(source(tmp_path), "update reasoning_patterns set reasoning_steps = '[1]'")
    again = derive(tmp_path)
    assert (again.made, again.examples["examples:2"]["step_count"]) == (5, 1)  # a day is made again whole


def test_as_of_in_the_middle(tmp_path: Path) -> None:
    """G2: only what is before it, as if the rest were not there; a later run takes the rest in."""
    tables: Tables = {
        UNIFIED: [
            {"id": "young", "query": "q", "created_at": at(5)},
            {"id": "old", "query": "other", "created_at": at(0)},
        ],
        NORMAL: [{"id": "e", "query": "q", "created_at": at(1), "sam_attempt": "Tried."}],
        LEGACY: [{"id": "r", "prompt": "later", "created_at": at(5)}],
        THOUGHTS: [{"id": thought_id("later", ANSWER), "prompt": "later", "final_answer": "So.", "created_at": at(2)}],
        CORRECTIONS: [{"id": "c", "example_id": "e", "error_type": "gap", "created_at": at(5)}],
    }
    alone = f"chain_of_thought:{thought_id('later', ANSWER)}"
    write(source(tmp_path), tables)
    early = derive(tmp_path, as_of=START + timedelta(days=5))
    assert set(early.examples) == {"old", "examples:e", alone}
    assert early.examples["examples:e"]["error_count"] == 0
    late = derive(tmp_path, as_of=START + timedelta(days=5, microseconds=1))
    assert set(late.examples) == {"old", "young", "raw_interactions:r"}
    assert late.examples["young"]["source_rows"] == ["distillation_examples:young", "examples:e"]
    assert (late.examples["young"]["error_count"], late.made) == (1, 2)


# --- laws -------------------------------------------------------------------------------------------------------------

TEXT = st.sampled_from([None, "", " ", "a", "b"])
JSONS = st.sampled_from([None, "", "[]", '["a"]', "no"])
NUMBER = st.sampled_from([None, 1, 7])
TIME = st.sampled_from([at(0), at(1), at(2)])
QUESTION = st.sampled_from(["Why?", "WHY? ", "How?"])
SAID = st.sampled_from([ANSWER, f"{ANSWER}\n", "So."])
VALUES: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    UNIFIED: {"query": QUESTION, "claude_response": SAID, "sam_attempt": TEXT, "session_id": TEXT, "complexity": NUMBER,
              "reasoning_steps": JSONS, "principles": JSONS, "human_reviewed": st.sampled_from([None, 0, 1, -1])},
    NORMAL: {"query": QUESTION, "claude_response": SAID, "sam_attempt": TEXT, "reasoning_type": TEXT, "complexity": NUMBER},
    LEGACY: {"prompt": QUESTION, "response": SAID, "quality_score": st.sampled_from([None, 0.5])},
    THOUGHTS: {"prompt": QUESTION, "reasoning_steps": JSONS, "final_answer": SAID, "success": st.sampled_from([None, 0, 1])},
    PATTERNS: {"example_id": st.sampled_from(["0", "1"]), "reasoning_steps": JSONS, "complexity": NUMBER},
    CORRECTIONS: {"example_id": st.sampled_from(["0", "1"]), "error_type": TEXT, "improvements": JSONS},
}  # fmt: skip


@st.composite
def databases(draw: st.DrawFn) -> dict[str, list[Row]]:
    tables: dict[str, list[Row]] = {}
    for table, columns in VALUES.items():
        rows = draw(st.lists(st.fixed_dictionaries({**columns, "created_at": TIME}), max_size=4))
        tables[table] = [{"id": str(number), **row} for number, row in enumerate(rows)]
    for place, row in enumerate(tables[THOUGHTS][:2]):  # some thoughts belong to an interaction
        if place < len(tables[LEGACY]) and draw(st.booleans()):
            row["id"] = thought_id(tables[LEGACY][place]["prompt"], tables[LEGACY][place]["response"])
    tables[THOUGHTS] = list({row["id"]: row for row in tables[THOUGHTS]}.values())
    return tables


@pytest.mark.slow
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(tables=databases(), order=st.randoms(use_true_random=False))
def test_merging_does_not_depend_on_the_order_of_rows(
    tmp_path_factory: pytest.TempPathFactory, tables: dict[str, list[Row]], order: Any
) -> None:
    """D2: nor does anything else that is made; and every row is behind an example."""
    homes = [tmp_path_factory.mktemp("order") for _ in range(2)]
    write(source(homes[0]), tables)
    write(source(homes[1]), {table: order.sample(rows, len(rows)) for table, rows in tables.items()})
    one, other = map(derive, homes)
    assert one.examples == other.examples
    listed = {row for example in one.examples.values() for row in example["source_rows"]}
    assert listed == {f"{table}:{row['id']}" for table in (UNIFIED, NORMAL, LEGACY, THOUGHTS) for row in tables[table]}
