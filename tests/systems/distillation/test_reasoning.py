"""Rule D3: how an answer was reasoned, judged on hand-written answers, on the records' own examples and on laws."""

import json
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagster_project.systems.distillation.columns import REASONING_TYPES
from dagster_project.systems.distillation.reasoning import extract_reasoning
from dagster_project.systems.distillation.reasoning_parts import TOOL_FORMS, ToolForm, tool_usage
from dagster_project.systems.distillation.reasoning_patterns import (
    PATTERNS,
    Pattern,
    ready,
    signal_pattern,
    signal_patterns,
)
from dagster_project.systems.distillation.reasoning_signals import answers_of

TEXTS = tomllib.loads((Path(__file__).parent / "reasoning_texts.toml").read_text(encoding="utf-8"))
JSON_COLUMNS = ("reasoning_steps", "tool_usage", "corrections", "principles")
INPUTS = {"query": pl.String, "sam_attempt": pl.String, "claude_response": pl.String}
NOTHING_WRONG = {"sam_errors": [], "improvements": []}

Row = tuple[str, str | None, str]


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def extracted(*rows: Row) -> list[dict[str, Any]]:
    """What is extracted from (query, sam_attempt, claude_response), with the JSON parsed."""
    found = extract_reasoning(pl.DataFrame(list(rows), schema=INPUTS, orient="row")).to_dicts()
    return [row | {column: json.loads(row[column], parse_constant=refuse) for column in JSON_COLUMNS} for row in found]


def reasoning_type(response: str, query: str = "Question?", attempt: str | None = None) -> str:
    return extracted((query, attempt, response))[0]["reasoning_type"]


def as_rows(part: str) -> list[Row]:
    return [(text["query"], text.get("attempt"), text["response"].strip("\n")) for text in TEXTS[part]]


ALL_ROWS = as_rows("developed") + as_rows("held_out")


def pairs(part: str) -> list[tuple[str, str]]:
    """(what a person said, what was found) of each labelled text."""
    found = [row["reasoning_type"] for row in extracted(*as_rows(part))]
    return list(zip((text["type"] for text in TEXTS[part]), found, strict=True))


def share(hits: list[bool]) -> float:
    return sum(hits) / len(hits)


@pytest.mark.parametrize("part", ["developed", "held_out"])
def test_hand_written_answers(part: str) -> None:
    judged = pairs(part)
    assert len(judged) >= 60
    assert share([label == found for label, found in judged]) >= 0.9
    for kind in REASONING_TYPES:
        assert share([found == kind for label, found in judged if label == kind]) >= 0.8, f"{kind} is missed"
    for kind in ("correction", "tool_use"):
        assert share([label == kind for label, found in judged if found == kind]) >= 0.9, f"{kind} is claimed too often"


@pytest.mark.parametrize("record", PATTERNS, ids=lambda record: f"{record.signal}: {record.catches}")
def test_record_keeps_its_promise(record: Pattern) -> None:
    texts = pl.Series([record.example, record.counter_example, ""])
    assert texts.str.contains(ready(record.pattern)).to_list() == [True, False, False]
    assert record.example == record.example.lower(), "patterns see lower case"
    assert not record.needs or any(needed in record.example for needed in record.needs)


@pytest.mark.parametrize("signal", sorted({record.signal for record in PATTERNS if record.needs}))
def test_what_a_record_needs_is_there_wherever_it_matches(signal: str) -> None:
    examples = [record.example for record in PATTERNS]
    low = answers_of(pl.DataFrame(ALL_ROWS, schema=INPUTS, orient="row"))["low"].append(pl.Series("low", examples))
    in_turn = [
        low.str.contains(pattern) & (low.str.contains_any(list(needs)) if needs else True)
        for needs, pattern in signal_patterns(signal, at_once=8)
    ]
    either = pl.select(pl.any_horizontal(in_turn)).to_series()
    assert either.to_list() == low.str.contains(signal_pattern(signal)).to_list()


@pytest.mark.parametrize("form", TOOL_FORMS, ids=lambda form: form.name)
def test_tool_form_finds_its_example(form: ToolForm) -> None:
    frame = pl.DataFrame({"row": [0], "text": [form.example]}, schema={"row": pl.UInt32, "text": pl.String})
    assert tool_usage(frame).select("tool", "input_pattern").rows() == [(form.tool, form.input)]


ESSAY = "Rain falls on the hills. However, the valley stays dry. But nobody minds, and the sheep least of all."


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (ESSAY, "direct"),
        ("Sofa beds are heavy. Sofas are not. Sofa covers cost extra.", "direct"),
        ("1. Flour\n2. Eggs\n3. Milk\n4. Salt", "direct"),
        ("Some tips:\n1. Sleep early.\n2. Drink water.\n3. Avoid sugar.\n4. Walk a lot.", "direct"),
        ("People install packages with pip install and clone with git clone.", "direct"),
        ("```python\nimport os\n\ndef here() -> str:\n    return os.getcwd()\n```", "direct"),
        ("That's not quite right: Oslo is the capital, not Bergen.", "direct"),  # of what? there was no attempt
        ("The answer is 18.", "direct"),
        ("He had 5 eggs and bought 4.\n5 + 4 = 9\n#### 9", "chain_of_thought"),
        ("The sum is $3 + 4$, and so it is $\\boxed{7}$.", "chain_of_thought"),
    ],
)
def test_traps(response: str, expected: str) -> None:
    assert reasoning_type(response) == expected


@pytest.mark.parametrize("attempt", [None, "", " \n\t", "\u00a0"])
def test_correction_needs_an_attempt(attempt: str | None) -> None:
    response = "Your answer is incorrect. The capital is Canberra, not Sydney."
    row = extracted(("What is the capital of Australia?", attempt, response))[0]
    assert (row["reasoning_type"], row["corrections"], row["error_count"]) == ("direct", NOTHING_WRONG, 0)
    assert reasoning_type(response, attempt="It is Sydney.") == "correction"


@pytest.mark.parametrize(
    "response", [ESSAY, "You are right, it is Sydney.", "Passwords should be hashed rather than stored."]
)
def test_an_attempt_alone_is_no_correction(response: str) -> None:
    assert reasoning_type(response, attempt="It is dry.") == "direct"


def test_praise_of_the_attempt_is_no_correction() -> None:
    praise = "The above answer is correct. The answer names the band, and its members are not policemen."
    assert reasoning_type(praise, attempt="They are a band.") == "direct"
    fault = "The answer names the band, but its members are not policemen."
    assert reasoning_type(fault, attempt="They are policemen.") == "correction"


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("Students often slip: they forget a thesis, they overlooked the other side. However, few plan.", "direct"),
        ("SAM's answer is fine: there is nothing wrong with it.", "direct"),
        ("The attempt on the summit failed, and two climbers were missing for a day.", "direct"),
        ("Actually, no. The capital is Canberra. SAM's answer named the largest city.", "correction"),
        ("The date given is wrong. The war ended in 1918.", "correction"),
        ("`sort` returns None; the attempt assigned its result, which is the bug.", "correction"),
        ("You're close, but the loop ends before the last element.", "correction"),
        ("The answer of 360° is incorrect. Three triangles make 3 × 180° = 540°.", "correction"),
        ("The previous answer fails when the list is empty.", "correction"),
    ],
)
def test_a_fault_counts_where_it_is_the_attempts(response: str, expected: str) -> None:
    assert reasoning_type(response, attempt="An earlier answer.") == expected


@pytest.mark.parametrize(
    ("query", "response", "expected"),
    [
        ("Undo my commit?", "Use `git reset --soft HEAD~1`. If it is pushed, run `git revert HEAD`.", "tool_use"),
        ("Merge or rebase?", "`git merge` joins two histories, `git rebase` rewrites one.", "direct"),
        ("What does the ball cost?", "Let the ball cost x. Then 2x + 1.00 = 1.10, so x = 0.05.", "chain_of_thought"),
        ("Are bloops lazzies?", "Step 1: Bloops are razzies. Step 2: Razzies are lazzies. So yes.", "chain_of_thought"),
        ("Help me run 5 km", "Week 1: Walk. Week 2: Jog for ten minutes. Week 3: Jog for twenty.", "multi_step"),
        ("Set up a blog", "1. Choose a host.\n2. Install a theme.\n3. Write a post.\n4. Publish it.", "multi_step"),
    ],
)
def test_evidence_within_a_line(query: str, response: str, expected: str) -> None:
    assert reasoning_type(response, query) == expected


def test_your_code_is_the_users_if_the_question_brings_code() -> None:
    response = "Your loop never ends, because i is not increased. Add i += 1."
    assert reasoning_type(response, "Write a loop.", "while i < 3: pass") == "correction"
    assert reasoning_type(response, "What is wrong with my loop?", "while i < 3: pass") == "direct"


def test_commands_are_tools_unless_they_are_by_the_way() -> None:
    commands = "Look at the log:\n\n```bash\ngit log --oneline\n```\n"
    program = "```python\nimport pandas\n```\n"
    assert reasoning_type(commands) == "tool_use"
    assert reasoning_type(commands + program) == "direct"
    assert reasoning_type(commands, "Write a script that shows the log.") == "direct"


def test_samples_of_the_seed() -> None:
    sheep = (
        'Let me think through this step by step:\n\n1. The farmer starts with 17 sheep\n2. The phrase "all but 9" means '
        '"all except 9"\n3. So if all but 9 run away, that means 9 sheep stayed\n4. The question asks how many are left, not '
        "how many ran away\n\nTherefore, 9 sheep are left."
    )
    debugging = (
        "This error occurs when you try to call .map() on a variable that's undefined. Let me walk through the debugging "
        "steps:\n\n1. **Identify the variable**: Look at the line number in the error.\n\n2. **Trace the data flow**: Where "
        "does this variable come from?\n   - API response that hasn't arrived yet\n\n3. **Add proper guards**: There are "
        "several patterns:\n   ```jsx\n   data?.map(item => ...)\n   ```\n\n4. **Fix the root cause**: The guard is a band-aid."
    )
    binary_search = (
        "Here's a binary search implementation:\n\n```python\ndef binary_search(arr, target):\n    return -1\n```\n\n"
        "Key points:\n1. Requires sorted array\n2. O(log n) time complexity\n3. Returns index or -1 if not found"
    )
    rows = extracted(
        ("A farmer has 17 sheep. All but 9 run away. How many are left?", None, sheep),
        ("How do I fix this error?", "Try adding a check", debugging),
        ("How do I implement a binary search in Python?", None, binary_search),
    )
    assert [row["reasoning_type"] for row in rows] == ["chain_of_thought", "chain_of_thought", "direct"]
    assert [row["step_count"] for row in rows] == [4, 4, 0]
    assert [step["action"] for step in rows[1]["reasoning_steps"]] == ["identify", "trace", "do", "fix"]


def test_steps_of_a_rationale_are_its_sentences() -> None:
    response = "Ann has 3 * 4 = <<3*4=12>>12 eggs because each box holds 4.\nShe sells 12 - 2 = 10. So the answer is 10.\n#### 10"
    assert extracted(("How many?", None, response))[0]["reasoning_steps"] == [
        {
            "step_num": 1,
            "action": "calculate",
            "content": "Ann has 3 * 4 = <<3*4=12>>12 eggs because each box holds 4.",
            "reasoning": "because each box holds 4",
        },
        {"step_num": 2, "action": "calculate", "content": "She sells 12 - 2 = 10.", "reasoning": ""},
        {"step_num": 3, "action": "conclude", "content": "So the answer is 10.", "reasoning": ""},
    ]


@pytest.mark.parametrize(
    ("response", "contents"),
    [
        ("1. Mix it.\n2) Bake it.\n3. Check it.", ["Mix it.", "Bake it.", "Check it."]),
        ("**Step 1:** Mix it.\n\nSome talk.\n\n**Step 2:** Bake it.", ["Mix it.", "Bake it."]),
        ("## Phase 1\nMix it.\n## Phase 2\nBake it.", ["Mix it.", "Bake it."]),
        ("### Stage 1: Dough\nMix it.\n### Stage 2: Oven\nBake it.", ["Dough: Mix it.", "Oven: Bake it."]),
        ("Follow these steps:\n- Mix it.\n- Bake it.\n- Eat it.", ["Mix it.", "Bake it.", "Eat it."]),
        (
            "It is easy. First, mix it. Then bake it. Finally, eat it.",
            ["First, mix it.", "Then bake it.", "Finally, eat it."],
        ),
    ],
)
def test_steps_of_instructions(response: str, contents: list[str]) -> None:
    row = extracted(("How do I make bread?", None, response))[0]
    assert row["reasoning_type"] == "multi_step"
    assert [step["content"] for step in row["reasoning_steps"]] == contents
    assert [step["step_num"] for step in row["reasoning_steps"]] == list(range(1, len(contents) + 1))


def test_plans_need_no_numbers() -> None:
    week = "Monday: Chest\nTuesday: Legs\nWednesday: Rest"
    headed = "**Goal**\nMore guests.\n\n**Audience**\nStudents.\n\n**Budget**\nSmall."
    rows = extracted(("Make me a training plan.", None, week), ("Make a plan for my shop.", None, headed))
    assert [row["reasoning_type"] for row in rows] == ["multi_step", "multi_step"]
    assert [step["content"] for step in rows[0]["reasoning_steps"]] == ["Chest", "Legs", "Rest"]
    assert reasoning_type(headed, "What is it about?") == "direct"


def test_tool_calls() -> None:
    react = (
        "Thought: I need the mayor.\nAction: Search\nAction Input: mayor of Oslo\nObservation: Anne\nFinal Answer: Anne"
    )
    shell = "See what changed:\n\n```console\n$ sudo git status\n# all of it\n$ git diff --stat\n```"
    call = 'I check. <tool_call>\n{"name": "get_time", "arguments": {"zone": {"id": "UTC"}}}\n</tool_call>'
    assert [row["tool_usage"] for row in extracted(("q", None, react), ("q", None, shell), ("q", None, call))] == [
        [
            {
                "tool": "Search",
                "purpose": "I need the mayor.",
                "input_pattern": "mayor of Oslo",
                "output_handling": "read in the answer",
            }
        ],
        [
            {
                "tool": "git",
                "purpose": "See what changed",
                "input_pattern": "sudo git status",
                "output_handling": "left to the user",
            },
            {
                "tool": "git",
                "purpose": "See what changed",
                "input_pattern": "git diff --stat",
                "output_handling": "left to the user",
            },
        ],
        [
            {
                "tool": "get_time",
                "purpose": "",
                "input_pattern": '{"zone": {"id": "UTC"}}',
                "output_handling": "awaited",
            }
        ],
    ]


def test_what_was_wrong() -> None:
    response = "Your answer is incomplete. Mars has two moons, Phobos and Deimos. You should name them."
    row = extracted(("Which moons has Mars?", "Mars has\ntwo moons.", response))[0]
    assert (row["reasoning_type"], row["error_count"]) == ("correction", 1)
    assert row["corrections"] == {
        "sam_errors": [
            {
                "error_type": "incomplete",
                "what_sam_said": "Mars has two moons.",
                "what_was_wrong": "Your answer is incomplete.",
                "correct_answer": "Mars has two moons, Phobos and Deimos.",
            }
        ],
        "improvements": ["You should name them."],
    }


def test_a_quote_of_the_attempt_and_a_fault_are_a_correction() -> None:
    response = 'They took "two boxes hold 9 eggs" for granted. Nothing says so, and 9 cannot be divided by two.'
    assert reasoning_type(response, attempt="We know that two boxes hold 9 eggs in all.") == "correction"
    assert reasoning_type(response, attempt="There are 18 eggs.") == "direct"


def test_principles() -> None:
    response = (
        "Always check the return value. Never had she seen such rain. He never forgets.\n"
        "- As a rule of thumb, keep functions short.\n"
        "When debugging, look for the cause rather than the symptom. The key is under the mat."
    )
    row = extracted(("How do I debug?\nIt fails.", None, response))[0]
    assert row["principles"] == [
        {"principle": "Always check the return value.", "context": "How do I debug?", "importance": 0.9},
        {"principle": "As a rule of thumb, keep functions short.", "context": "How do I debug?", "importance": 0.7},
        {
            "principle": "When debugging, look for the cause rather than the symptom.",
            "context": "How do I debug?",
            "importance": 0.7,
        },
    ]


def test_complexity_grows_with_steps_length_code_and_tools() -> None:
    def steps(count: int) -> str:
        return "Follow these steps:\n" + "\n".join(f"{number}. Mix it." for number in range(1, count + 1))

    growing = [
        "Yes.",
        steps(3),
        steps(5),
        steps(5) + "\n" + "Good bread takes its time. " * 30,
        steps(5) + "\n" + "Good bread takes its time. " * 30 + "\n```python\nbake()\n```",
        steps(5) + "\n" + "Good bread takes its time. " * 100 + "\n```python\nbake()\n```",
        steps(9) + "\n" + "Good bread takes its time. " * 100 + "\n```bash\nbake\n```\n\n```bash\nserve\n```",
    ]
    found = [row["complexity"] for row in extracted(*(("How do I bake?", None, text) for text in growing))]
    assert found == [1, 3, 4, 5, 6, 7, 10]
    assert all(one < next_one for one, next_one in pairwise(found))


def test_shape_of_the_output() -> None:
    frame = pl.DataFrame([*ALL_ROWS, ("", None, "")], schema=INPUTS, orient="row")
    schema = {
        "reasoning_type": pl.String,
        "reasoning_steps": pl.String,
        "tool_usage": pl.String,
        "corrections": pl.String,
        "principles": pl.String,
        "complexity": pl.Int64,
        "step_count": pl.Int64,
        "tool_count": pl.Int64,
        "error_count": pl.Int64,
        "principle_count": pl.Int64,
    }
    found = extract_reasoning(frame)
    assert found.schema == schema and len(found) == len(frame) and found.null_count().sum_horizontal().item() == 0
    assert extract_reasoning(frame.clear()).schema == schema
    assert extract_reasoning(frame.with_columns(sam_attempt=None)).schema == schema


def test_windows_line_ends_make_no_difference() -> None:
    rows = [row for row in ALL_ROWS if "\n" in row[2]]
    on_windows = [(query, attempt, response.replace("\n", "\r\n")) for query, attempt, response in rows]
    assert extracted(*rows) == extracted(*on_windows)


FRAGMENTS = st.sampled_from(sorted({line for _, _, response in ALL_ROWS for line in response.split("\n") if line}))
RESPONSES = st.text(max_size=200) | st.lists(FRAGMENTS, max_size=8).map("\n".join)
ROWS = st.tuples(st.text(max_size=40), st.none() | st.text(max_size=40), RESPONSES)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(rows=st.lists(ROWS | st.sampled_from(ALL_ROWS), min_size=1, max_size=6))
def test_laws(rows: list[Row]) -> None:
    found = extracted(*rows)
    assert found == [row for one in rows for row in extracted(one)], "an answer is judged by itself"
    for (_, attempt, _), row in zip(rows, found, strict=True):
        assert row["reasoning_type"] in REASONING_TYPES
        assert 1 <= row["complexity"] <= 10
        assert row["step_count"] == len(row["reasoning_steps"])
        assert row["tool_count"] == len(row["tool_usage"])
        assert row["error_count"] == len(row["corrections"]["sam_errors"])
        assert row["principle_count"] == len(row["principles"])
        assert [step["step_num"] for step in row["reasoning_steps"]] == list(range(1, row["step_count"] + 1))
        assert all(step["content"] and step["action"] for step in row["reasoning_steps"])
        assert all(tool["tool"] for tool in row["tool_usage"])
        assert (row["reasoning_type"] == "correction") <= (bool(row["error_count"]) and bool(attempt))
        assert (row["reasoning_type"] == "tool_use") <= bool(row["tool_count"])
        assert not (row["reasoning_type"] in ("direct", "meta_cognitive") and row["step_count"])
