"""The pipeline against the oracle on dirty distillation databases: every answer compared (semantics D, M and T).

The oracle itself is tried first on a few rows whose answers can be told by hand.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.oracle import distillation_cases as cases
from tests.oracle import distillation_oracle as oracle
from tests.oracle.distillation_comparison import Outputs, differences
from tests.oracle.distillation_merge import thought_id
from tests.oracle.distillation_rows import EXAMPLES, RAW, TABLES, THOUGHTS, UNIFIED, SourceRow
from tests.oracle.distillation_texts import changed_share, fixed_flags
from tests.oracle.distillation_training import candidates_of, settled
from tests.oracle.seeds import seeds

GRISTMILL = Path(sys.executable).parent / "gristmill"
AS_OF = datetime(2026, 1, 31, tzinfo=UTC)
AT = datetime(2026, 1, 24, tzinfo=UTC).timestamp()
LONG = "A sentence that says something. And another one that says more. Then a third, which is the longest of them all."

# --- the oracle on a few rows -----------------------------------------------------------------------------------------

# Seed 2's complete record; of the answer only its length and its last line matter.
SAMPLE: dict[str, Any] = {
    "id": "a7f3b2c1d4e5f6a8",
    "created_at": 1737745822.0,
    "query": "How do I fix this error?",
    "domain": "code",
    "sam_attempt": "Try adding a check like: if (data) { data.map(...) }",
    "claude_response": f"{LONG}\n\n- Missing null check on optional props",
    "reasoning_type": "chain_of_thought",
    "reasoning_steps": '[{"step_num": 1}, {"step_num": 2}, {"step_num": 3}, {"step_num": 4}]',
    "tool_usage": "[]",
    "corrections": '{"sam_errors": [{"error_type": "incomplete"}]}',
    "principles": '[{"principle": "a"}, {"principle": "b"}]',
    "complexity": 5,
    "quality_score": 0.85,
    "quality_flags": "[]",
    "human_reviewed": 0,
    "training_format": "correction",
}


def judged(folder: Path, **tables: list[dict[str, Any]]) -> dict[str, oracle.Distilled]:
    """The oracle's examples of a database with these rows; unnamed columns are null."""
    rows = {table: [{"created_at": AT, "domain": "code", **row} for row in found] for table, found in tables.items()}
    path = folder / "distillation.db"
    cases.CaseFile({table: list(TABLES[table].columns) for table in rows}, True, rows).write(path)
    return oracle.judge([path], [], AS_OF, oracle.Settings(), oracle.nothing_found).examples


def test_the_sample_scores_090(tmp_path: Path) -> None:
    """D5's golden figure; the sample then is ready and a correction."""
    [sample] = judged(tmp_path, **{UNIFIED: [SAMPLE]}).values()
    assert (sample.score, sample.is_ready, sample.training_format) == (0.9, True, "correction")


def test_three_generations_make_one_example(tmp_path: Path) -> None:
    """D2: the youngest generation wins, empty values are filled from the next, `[]` is a value."""
    raw = {"id": "r1", "prompt": "WHY?", "response": f" {LONG}\n", "quality_score": 0.5}
    thought = SourceRow(RAW, 0, 1, {}, raw)
    steps = json.dumps(["one", "two"])
    examples = judged(
        tmp_path,
        **{
            UNIFIED: [
                {"id": "d1", "query": "why?", "claude_response": LONG, "principles": "[]", "sam_attempt": ""},
                {
                    "id": "d2",
                    "created_at": AT - 1,
                    "query": "Why?",
                    "claude_response": LONG.upper(),
                    "principles": '["x"]',
                },
            ],
            EXAMPLES: [{"id": "e1", "query": " Why? ", "claude_response": LONG, "sam_attempt": "Why not?"}],
            RAW: [raw],
            THOUGHTS: [
                {"id": thought_id(thought), "prompt": "WHY?", "reasoning_steps": steps, "complexity": 7},
                {"id": "t2", "prompt": "Why?", "reasoning_steps": steps, "final_answer": "three", "success": 0},
            ],
        },
    )
    merged, alone = examples["d1"].example, examples["chain_of_thought:t2"].example
    joined = f"chain_of_thought:{thought_id(thought)}"
    rows = ["distillation_examples:d1", "distillation_examples:d2", "examples:e1", "raw_interactions:r1", joined]
    assert len(examples) == 2 and merged.source_rows == rows
    assert [merged.value(c) for c in ("principles", "sam_attempt", "complexity")] == [[], "Why not?", 7]
    assert (alone.response, alone.has_failed) == ("one\ntwo\n\nthree", True)


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("x" * 196 + ".", set()),
        ("x" * 195 + ".", {"too_short"}),
        ("x" * 16_000 + ".", {"too_long"}),
        (f"{LONG} {LONG}\n\n```python\nx = 1.", {"incomplete"}),
        (f"{LONG} {LONG}\n\nand so on,", {"incomplete"}),
        (f"{LONG} {LONG}\n\n- a list item", set()),
        (f"{LONG} {LONG} {LONG}", {"repetition"}),
        (f"{LONG} {LONG}\n```\n" + "print('the same again')\n" * 3 + "```", set()),
        ("I'm sorry, but I can't help with that." + "x" * 200 + ".", {"refusal"}),
        ("You cannot divide by zero." + "x" * 200 + ".", set()),
    ],
)
def test_the_flags_the_law_fixes(text: str, flags: set[str]) -> None:
    """D4."""
    assert fixed_flags(text) == flags


def test_changed_share() -> None:
    """S4, by hand: `kitten` to `sitting` keeps i, t, t, n."""
    assert changed_share("kitten", "sitting") == 5 / 9
    assert (changed_share("", ""), changed_share("", "ab"), changed_share("same", "same")) == (0.0, 1.0, 0.0)


def test_the_cases_hold_what_they_promise(tmp_path: Path) -> None:
    """Every reason, every way to win, every verdict, and records that both systems have."""
    seen: Counter[Any] = Counter()
    for seed in range(10):
        case = cases.make(seed, tmp_path / str(seed))
        verdict = oracle.judge(case.files, case.feedback_files, case.as_of, settings_of(case), oracle.nothing_found)
        candidates = candidates_of(verdict)
        seen.update(c.reason for c in candidates.values() if c.key[0] == "distillation")
        seen.update(c.format for c in candidates.values() if c.key[0] == "distillation" and c.reason is None)
        judged = settled(verdict, candidates)
        seen.update(record.reason for key, record in judged.items() if key[0] == "distillation")
        seen.update("across" for key, record in judged.items() if record.survivor and record.survivor[0] != key[0])
        for distilled in verdict.examples.values():
            seen.update((distilled.example.winner.row.table, distilled.feedback_verdict, distilled.review_status))
            seen.update(("many rows",) if len(distilled.example.parts) > 3 else ())
        seen.update(reason.split(":")[0] for row in verdict.source.quarantined for reason in row.reasons)
        seen.update("copy" for _ in verdict.source.copies)
        seen.update(mark for rows in verdict.source.kept.values() for row in rows for mark in row.marks)
    promised = {
        "failed",
        "rejected",
        "not_ready",
        "contradicted",
        "missing_text",
        "contested",
        "refusal",
        "tie",
        "no_contrast",
        "unseen_attempt",
        "low_weight",
        "recipe",
        "instruction",
        "cot",
        "correction",
        "preference",
        "across",
        *TABLES.keys() - {"reasoning_patterns", "corrections"},
        "validated",
        "approved",
        "pending",
        "many rows",
        "missing",
        "wrong_type",
        "bad_text",
        "out_of_range",
        "copy",
        *(f"bad_json:{column}" for column in TABLES[UNIFIED].json),
    }
    assert not promised - seen.keys()


def test_same_seed_same_files(tmp_path: Path) -> None:
    made = [cases.make(3, tmp_path / name) for name in ("one", "two")]
    one, two = ([path.read_bytes() for path in (*case.files, *case.feedback_files)] for case in made)
    assert one == two


# --- the pipeline -----------------------------------------------------------------------------------------------------


def settings_of(case: cases.DistillationCase) -> oracle.Settings:
    return oracle.Settings(case.min_weight, case.split_key, synthetic_pairs=case.synthetic_pairs)


def outputs_of(case: cases.DistillationCase, folder: Path) -> Outputs:
    return Outputs(folder / "home", case.files, case.feedback_files, case.as_of, settings_of(case))


def gristmill(outputs: Outputs, *words: str) -> None:
    settings = outputs.settings
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GRISTMILL_")} | {
        "GRISTMILL_DISTILLATION": os.pathsep.join(str(path) for path in outputs.files),
        "GRISTMILL_MIN_WEIGHT": str(settings.min_weight),
        "GRISTMILL_SPLIT_KEY": settings.split_key,
        "GRISTMILL_SYNTHETIC_PAIRS": str(settings.synthetic_pairs).lower(),
        "GRISTMILL_REVIEWER": "oracle",
    }
    if outputs.feedback_files:
        environment["GRISTMILL_FEEDBACK"] = os.pathsep.join(str(path) for path in outputs.feedback_files)
    done = subprocess.run(
        [GRISTMILL, "--home", outputs.home, *words],
        env=environment,
        cwd=outputs.home.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"gristmill {' '.join(words)}: {done.stderr[-2000:]}"


def assert_right(outputs: Outputs, story: str) -> None:
    gristmill(outputs, "run", "--as-of", outputs.as_of.isoformat())
    found = differences(outputs)
    assert not found, f"{story}: {len(found)} differences\n" + "\n".join(found[:40])


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(2, 9))
def test_dirty_database(seed: int, tmp_path: Path) -> None:
    assert_right(outputs_of(cases.make(seed, tmp_path / "sources"), tmp_path), f"seed {seed}")


@pytest.mark.slow
def test_our_own_review_comes_first(tmp_path: Path) -> None:
    """D6, D8, M1: what a person approves here leaves though users contradict it; what they reject never does."""
    outputs = outputs_of(cases.make(12, tmp_path / "sources"), tmp_path)
    assert_right(outputs, "before the review")
    waiting = [d for d in outputs.judge().examples.values() if not d.example.is_synthetic and not d.example.has_failed]
    contradicted = [d.example.id for d in waiting if d.is_contradicted and d.is_ready]
    pending = [
        d.example.id for d in waiting if not d.is_contradicted and not d.is_ready and d.review_status == "pending"
    ]
    assert contradicted and len(pending) > 3
    outputs.decisions = {contradicted[0]: "approved", **dict.fromkeys(pending[:2], "approved"), pending[2]: "rejected"}
    for key, verdict in outputs.decisions.items():
        gristmill(outputs, "review", "approve" if verdict == "approved" else "reject", key)
    assert_right(outputs, f"after {outputs.decisions}")


@pytest.mark.slow
def test_an_earlier_as_of_sees_fewer_rows(tmp_path: Path) -> None:
    """G2: a younger row that is not there yet neither wins nor fills."""
    outputs = outputs_of(cases.make(4, tmp_path / "sources"), tmp_path)
    outputs.as_of = cases.FIRST_DAY + timedelta(days=3)
    assert_right(outputs, "three days in")
