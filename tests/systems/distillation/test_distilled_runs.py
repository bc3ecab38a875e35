"""Whole runs with a distillation database: seed 2's own record (D5, D7), both systems together (M1, M2), and clear refusals (G5)."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dagster_project.contracts.formats import FIELDS
from dagster_project.systems.feedback.source import ENTRIES
from tests.conftest import change, complaint, gristmill, run
from tests.systems.distillation.distilled_database import (
    ANSWER,
    KINDS,
    PAIRS,
    STEPS,
    THOUGHTS,
    UNIFIED,
    Row,
    Tables,
    at,
    source,
    write,
)
from tests.tables import rows

# The complete record of seed 2. Its own figure of 0.85 does not follow its algorithm, which gives 0.90 (D5).
SAMPLE: Row = {
    "id": "a7f3b2c1d4e5f6a8",
    "session_id": "sess_20260124_143022",
    "created_at": 1737745822.0,
    "sam_confidence": 0.4,
    "query": "How do I fix this error: TypeError: Cannot read properties of undefined (reading 'map')",
    "query_context": "User is working on a React component in SAMControlCenter project",
    "sam_attempt": "The error means you're trying to use .map() on undefined. Try adding a check like: if (data) { data.map(...) }",
    "claude_response": """This error occurs when you try to call .map() on a variable that's undefined. Let me walk through the \
debugging steps:

1. **Identify the variable**: Look at the line number in the error. What variable is being mapped?

2. **Trace the data flow**: Where does this variable come from? Common sources:
   - API response that hasn't arrived yet
   - State that wasn't initialized
   - Prop that wasn't passed

3. **Add proper guards**: There are several patterns:
   ```jsx
   // Optional chaining (cleanest)
   data?.map(item => ...)
   \n   // Default value
   (data || []).map(item => ...)
   \n   // Early return
   if (!data) return <Loading />;
   return data.map(item => ...);
   ```

4. **Fix the root cause**: The guard is a band-aid. Find why data is undefined:
   - Initialize state properly: `useState([])`
   - Check API error handling
   - Verify prop types

For React specifically, this often happens with:
- `useState()` without initial value
- Async data not handled with loading state
- Missing null check on optional props""",
    "reasoning_type": "chain_of_thought",
    "reasoning_steps": json.dumps(
        [{"step_num": n, "action": a} for n, a in enumerate(("identify", "trace", "mitigate", "fix"), 1)]
    ),
    "tool_usage": "[]",
    "corrections": json.dumps(
        {"sam_errors": [{"error_type": "incomplete"}], "improvements": ["Explain WHY the error occurs"]}
    ),
    "principles": json.dumps(
        [{"principle": "When debugging, identify the root cause", "importance": 0.9}, {"principle": "Show ways"}]
    ),
    "domain": "code",
    "subdomain": "javascript",
    "task_type": "debug",
    "complexity": 5,
    "quality_score": 0.85,
    "quality_flags": "[]",
    "human_reviewed": 0,
    "training_ready": 0,
    "training_format": "correction",
}
GOOD: Row = {"principles": '["a"]', "reasoning_steps": STEPS, "reasoning_type": "chain_of_thought"}  # scores 0.70
RAN = datetime(2026, 1, 25, tzinfo=UTC)


def feedback(path: Path, rows: Sequence[Row]) -> None:
    """A feedback database; every row is a thumbs-up by a user of its own."""
    plain = {"session_id": "s", "feedback_type": "rating", "rating": 1, "timestamp": at(), "domain": "code"}
    columns = ENTRIES.columns
    with closing(sqlite3.connect(path)) as database:
        database.execute(
            f"create table feedback ({', '.join(f'{name} {KINDS[kind]}' for name, kind in columns.items())})"
        )
        for number, row in enumerate(rows):
            whole = {"feedback_id": f"f{number}", "response_id": f"r{number}", "user_id": f"u{number}"} | plain | row
            marks = ", ".join(f":{name}" for name in whole)
            database.execute(f"insert into feedback ({', '.join(whole)}) values ({marks})", whole)
        database.commit()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both systems after one run."""
    home = tmp_path_factory.mktemp("whole") / "home"
    tables: Tables = {
        UNIFIED: [
            SAMPLE,
            {"id": "praised", "query": "praised", **GOOD},
            {"id": "doubted", "query": "doubted", **GOOD, "human_reviewed": 1},
            {"id": "refused", "query": "refused", **GOOD, "human_reviewed": -1},
            {"id": "to come", "query": "to come", **GOOD, "created_at": RAN.timestamp()},
        ],
        THOUGHTS: [{"id": "t", "prompt": "thought", "final_answer": ANSWER, "success": 0}],
        PAIRS: [{"id": "p", "prompt": "pair"}],
    }
    write(source(home), tables)
    answered = {"escalated_to_claude": 1, "original_response": f"\r\n{ANSWER}"}
    feedback(
        home / "sources" / "feedback.db",
        [
            {"original_query": " PRAISED", **answered},
            {"original_query": "doubted", "rating": -1, "session_id": "default", **answered},
        ],
    )
    run(home, "--as-of", "2026-01-25")
    return home


def table(home: Path, name: str, key: str) -> dict[str, Row]:
    return {row[key]: row for row in rows(home, name)}


def records(home: Path, format: str) -> list[Row]:
    (release,) = (home / "exports").iterdir()
    return [
        json.loads(line) for path in sorted(release.glob(f"{format}_*.jsonl")) for line in path.open(encoding="utf-8")
    ]


@pytest.mark.slow
def test_seed_2s_record_scores_090_and_leaves_as_a_correction_and_a_pair(whole: Path) -> None:
    """D5's golden figure, D6, D7: through the whole pipeline, to the last character of the records."""
    row = table(whole, "core__distillation", "example_id")[SAMPLE["id"]]
    assert (row["quality_score"], row["source_quality_score"], row["quality_weight"], row["is_ready"]) == (
        0.9,
        0.85,
        0.9,
        True,
    )
    assert (row["training_format"], row["review_status"], row["extracted"]) == ("correction", "pending", [])
    (correction,), (pair,) = records(whole, "correction"), records(whole, "preference")
    attempt, query, answer = SAMPLE["sam_attempt"], SAMPLE["query"], SAMPLE["claude_response"]
    assert correction["instruction"] == f"Here's what I said: {attempt}. What should I have said instead?"
    assert correction["input"] == f"Original question: {query}\n\nMy answer: {attempt}"
    assert correction["output"] == f"Your answer has an error. Here's what you should have said:\n\n{answer}"
    assert (pair["prompt"], pair["chosen"], pair["rejected"]) == (query, answer, attempt)
    for record, format in ((correction, "correction"), (pair, "preference")):
        told = [record[name] for name in ("context", "source", "quality_weight", "tier", "domain", "origin_ids")]
        assert told == [SAMPLE["query_context"], f"distillation_{format}", 0.9, "premium", "code", [SAMPLE["id"]]]


@pytest.mark.slow
def test_what_users_say_of_it_is_found_by_the_texts(whole: Path) -> None:
    """M1, G10: questions and answers of both systems are compared in their normal forms."""
    rows = table(whole, "core__distillation", "example_id")
    verdicts = {
        id: (row["feedback_verdict"], row["feedback_count"]) for id, row in rows.items() if row["feedback_count"]
    }
    assert verdicts == {"praised": ("validated", 1), "doubted": ("contradicted", 1)}
    queue = table(whole, "core__review_queue", "item_id")
    assert [(id, row["review_reasons"]) for id, row in queue.items()] == [("doubted", ["contradicted"])]


@pytest.mark.slow
def test_one_training_set_of_both_systems(whole: Path) -> None:
    """M2, T1: every candidate leaves or has its reason; a thumbs-up on an answer the teacher gave as a chain is no rival."""
    exported = {(record["source"], *record["origin_ids"]) for format in FIELDS for record in records(whole, format)}
    assert exported == {
        ("distillation_correction", SAMPLE["id"]),
        ("distillation_preference", SAMPLE["id"]),
        ("distillation_cot", "praised"),
        ("feedback_positive", "f0"),
        ("feedback_rating", "f0"),
        ("feedback_rating", "f1"),
    }
    excluded = table(whole, "train__excluded", "id").values()
    assert {(row["source"], *row["origin_ids"]): row["reason"] for row in excluded} == {
        ("distillation_cot", "doubted"): "contradicted",
        ("distillation_cot", "refused"): "rejected",
        ("distillation_instruction", "chain_of_thought:t"): "failed",
        ("synthetic_pair", "preference_pairs:p"): "recipe",
        ("feedback_negative", "f1"): "negative_rating",
    }


def test_a_file_without_any_known_table_is_one_clear_line(tmp_path: Path) -> None:
    """G5: exit code 1, and nothing is published."""
    home = tmp_path / "home"
    source(home).parent.mkdir(parents=True)
    change(source(home), "create table notes (id TEXT)")
    line = complaint(gristmill(home, "run"))
    assert "distillation.db has none of the tables distillation_examples, examples, raw_interactions" in line
    assert not (home / "lake").exists() and not (home / "exports").exists()


def test_a_table_without_a_required_column_is_one_clear_line(tmp_path: Path) -> None:
    """G5: whichever generation it is."""
    home = tmp_path / "home"
    source(home).parent.mkdir(parents=True)
    change(source(home), "create table raw_interactions (id TEXT, prompt TEXT, domain TEXT, created_at REAL)")
    assert "table 'raw_interactions' has no column 'response'" in complaint(gristmill(home, "run"))
