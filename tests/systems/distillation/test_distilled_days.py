"""Kept days of distilled examples (G12), tables that are not there (sources.md), as_of (G2), and the law that order is nothing."""

import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import change
from tests.systems.distillation.distilled_database import (
    ANSWER,
    CORRECTIONS,
    LEGACY,
    NORMAL,
    PAIRS,
    PATTERNS,
    SPECS,
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
]


@pytest.mark.slow
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
    monkeypatch.setattr("dagster_project.systems.distillation.answers.code_identity", lambda *_: "other")
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
    UNIFIED: {
        "query": QUESTION,
        "claude_response": SAID,
        "sam_attempt": TEXT,
        "session_id": TEXT,
        "complexity": NUMBER,
        "reasoning_steps": JSONS,
        "principles": JSONS,
        "human_reviewed": st.sampled_from([None, 0, 1, -1]),
    },
    NORMAL: {
        "query": QUESTION,
        "claude_response": SAID,
        "sam_attempt": TEXT,
        "reasoning_type": TEXT,
        "complexity": NUMBER,
    },
    LEGACY: {"prompt": QUESTION, "response": SAID, "quality_score": st.sampled_from([None, 0.5])},
    THOUGHTS: {
        "prompt": QUESTION,
        "reasoning_steps": JSONS,
        "final_answer": SAID,
        "success": st.sampled_from([None, 0, 1]),
    },
    PATTERNS: {"example_id": st.sampled_from(["0", "1"]), "reasoning_steps": JSONS, "complexity": NUMBER},
    CORRECTIONS: {"example_id": st.sampled_from(["0", "1"]), "error_type": TEXT, "improvements": JSONS},
}


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
