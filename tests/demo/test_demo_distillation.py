"""The distillation demo: the same for the same seed, exact in number, readable, with every hazard it promises."""

import hashlib
import json
import re
import sqlite3
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dagster_project.demo.distillation.answers import KINDS, Teacher
from dagster_project.demo.distillation.flaws import FLAWS
from dagster_project.demo.distillation.hazards import PAIR_HAZARDS, all_hazards
from dagster_project.demo.distillation.plan import STRUCTURAL
from dagster_project.demo.distillation.sources import write_distillation
from dagster_project.demo.distillation.texts import DOMAINS, load_teaching
from dagster_project.demo.feedback.replies import Writer
from dagster_project.demo.feedback.sources import write_feedback
from dagster_project.demo.texts import load_library

Rows = list[tuple[Any, ...]]
Demo = tuple[Path, dict[str, int]]
TABLES = (
    "distillation_examples",
    "examples",
    "reasoning_patterns",
    "corrections",
    "review_queue",
    "chain_of_thought",
    "principles",
    "preference_pairs",
    "skill_templates",
    "raw_interactions",
)
NATURAL = (
    "thought_alone",
    "in_several_generations",
    "restyled_prompt",
    "crlf_copy",
    "padded_copy",
    "unknown_session",
    "preference_pairs",
    "principle_json_text",
)
LINKS = ("linked_by_id", "linked_by_session", "linked_by_session_and_answer", "linked_by_answer", "feedback_on_attempt")
START, END = datetime(2025, 11, 3, tzinfo=UTC).timestamp(), datetime(2026, 2, 1, tzinfo=UTC).timestamp()


def query(path: Path, sql: str) -> Rows:
    with closing(sqlite3.connect(path)) as database:
        database.text_factory = lambda raw: raw.decode(errors="surrogateescape")
        return database.execute(sql).fetchall()


def content(path: Path) -> list[Rows]:
    return [query(path, f"select rowid, * from {table} order by rowid") for table in TABLES]


def normal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).lower().split())


def thought_id(prompt: str, response: str) -> str:
    return hashlib.md5((prompt + response[:100]).encode()).hexdigest()[:12]


def answers(path: Path) -> Iterator[tuple[str, str]]:
    """Question and answer of every row of the three tables that keep both."""
    for columns, table in (
        ("query, claude_response", "distillation_examples"),
        ("query, claude_response", "examples"),
        ("prompt, response", "raw_interactions"),
    ):
        yield from query(path, f"select {columns} from {table}")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    path = tmp_path_factory.mktemp("demo") / "distillation.db"
    return path, write_distillation(path, 600, seed=1)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, dict[str, int]]:
    folder = tmp_path_factory.mktemp("judged")
    write_feedback(folder / "feedback.db", 6000, seed=2)
    path = folder / "distillation.db"
    return path, folder / "feedback.db", write_distillation(path, 800, seed=2, feedback=folder / "feedback.db")


def test_same_seed_same_rows(tmp_path: Path, judged: tuple[Path, Path, dict[str, int]]) -> None:
    path, feedback, counts = judged
    again = tmp_path / "again.db"
    assert write_distillation(again, 800, seed=2, feedback=feedback) == counts
    assert content(again) == content(path)


def test_other_seed_other_rows(tmp_path: Path) -> None:
    for seed in (1, 2):
        write_distillation(tmp_path / f"{seed}.db", 200, seed)
    prompts = [{row[0] for row in query(tmp_path / f"{s}.db", "select prompt from raw_interactions")} for s in (1, 2)]
    assert len(prompts[0] & prompts[1]) < 10


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.integers(0, 299), seed=st.integers(0, 10_000))
def test_rows_are_distinct_interactions(tmp_path: Path, rows: int, seed: int) -> None:
    """However many tables hold an interaction, D2 merges it to one; a chain of thought alone is one of its own."""
    path = tmp_path / "distillation.db"
    path.unlink(missing_ok=True)
    counts = write_distillation(path, rows, seed)
    merged = {(normal(question), normal(answer)) for question, answer in answers(path)}
    known = {thought_id(*row) for row in query(path, "select prompt, response from raw_interactions")}
    alone = {row[0] for row in query(path, "select id from chain_of_thought")} - known
    assert len(merged) + len(alone) == rows == counts["rows"]
    assert len(alone) == counts.get("thought_alone", 0)


def test_every_hazard_is_planted(demo: Demo, judged: tuple[Path, Path, dict[str, int]]) -> None:
    promised = {*all_hazards((), ()), *FLAWS, *PAIR_HAZARDS, *STRUCTURAL, *NATURAL}
    assert not promised - {name for name, count in demo[1].items() if count}
    assert not {*promised, *LINKS, "validated", "contradicted"} - {name for name, count in judged[2].items() if count}


def test_hazards_are_where_the_counts_say(demo: Demo) -> None:
    path, counts = demo
    unified = {
        "typeof(complexity) = 'text'": counts["complexity_text"],
        "complexity = 0": counts["complexity_zero"],
        "complexity = 42": counts["complexity_42"],
        "human_reviewed = 2": counts["reviewed_two"],
        "sam_confidence = 1.7": counts["confidence_above_one"],
        "sam_confidence = 9e999": counts["confidence_infinite"],
        "query = ''": counts["empty_query"],
        "claude_response = ''": counts["empty_response"],
        "id is null": counts["null_id"],
        "typeof(created_at) = 'text'": counts["text_timestamp"],
        "typeof(created_at) = 'real' and created_at between 1e11 and 1e14": counts["millisecond_timestamp"],
        "typeof(claude_response) = 'blob'": counts["blob_response"],
        "typeof(query) = 'blob'": counts["blob_utf8_query"],
        "instr(cast(query as blob), x'e0') > 0 and typeof(query) = 'text'": counts["invalid_utf8"],
        "instr(cast(claude_response as blob), x'00') > 0 and typeof(claude_response) = 'text'": counts["nul_byte"],
        "domain = 'gardening'": counts["unknown_domain"],
        "reasoning_type = 'abductive'": counts["unknown_reasoning_type"],
        "training_format = 'dpo'": counts["unknown_format"],
        "reviewer_notes like 'AUTO-APPROVED%'": counts["auto_approved"],
        "reviewer_notes like 'AUTO-REJECTED%'": counts["auto_rejected"],
        "quality_flags like '[\"%'": counts["stored_flags"],
        "training_format in ('correction', 'preference') and sam_attempt is null": counts["unfillable_format"]
        + counts["attempt_in_older_copy"],
    }
    others = {
        "examples where claude_response is null": counts["null_response"],
        "examples where created_at is null": counts["null_timestamp"],
        "examples where human_reviewed = 0 and approved = 1": counts["approved_unreviewed"],
        "examples where reviewer_notes like 'AUTO-%'": counts["example_auto_approved"]
        + counts["example_auto_rejected"],
        "reasoning_patterns where example_id not in (select id from examples)": counts["orphan_pattern"],
        "corrections where example_id not in (select id from examples)": counts["orphan_correction"],
        "review_queue where example_id not in (select id from examples)": counts["orphan_review"],
        "raw_interactions where response is null": counts["raw_null_response"],
        "raw_interactions where typeof(response) = 'blob'": counts["raw_blob_response"],
        "chain_of_thought where success = 0": counts["thought_failed"],
        "preference_pairs where good_response = bad_response": counts["pair_same_sides"],
        "preference_pairs": counts["preference_pairs"],
        "principles where examples = 'not json'": counts["principle_json_text"],
    }
    conditions = {f"distillation_examples where {condition}": count for condition, count in unified.items()} | others
    for condition, expected in conditions.items():
        assert query(path, f"select count(*) from {condition}") == [(expected,)], condition


def test_json_columns_are_broken_in_every_way(demo: Demo) -> None:
    path, counts = demo
    columns = "reasoning_steps, tool_usage, corrections, principles, quality_flags"
    found: Counter[str] = Counter()
    for row in query(path, f"select {columns} from distillation_examples"):
        for value in row:
            if value is None or value == "":
                continue
            try:
                parsed = json.loads(value, parse_constant=lambda name: found.update([name]))
            except json.JSONDecodeError:
                found["text" if value == "not json" else "truncated"] += 1
            else:
                found["null"] += value == "null"
                found["shape"] += isinstance(parsed, int | str)
    assert found["text"] == counts["json_text"]
    assert found["truncated"] == counts["json_truncated"]
    assert found["null"] == counts["json_null"]
    assert found["NaN"] == counts["json_nan"]


def test_a_chain_of_thought_is_found_by_the_hash_of_its_interaction(demo: Demo) -> None:
    path, counts = demo
    texts = query(path, "select prompt, response from raw_interactions where typeof(response) = 'text'")
    raw = Counter(thought_id(prompt, response) for prompt, response in texts)
    thoughts = {row[0]: row[1] for row in query(path, "select id, prompt from chain_of_thought")}
    assert len(thoughts.keys() - raw.keys()) == counts["thought_alone"]
    assert sum(raw[key] - 1 for key in thoughts if raw[key] > 1) == counts["shared_thought_id"]
    prompts = {thought_id(prompt, response): prompt for prompt, response in texts}
    assert all(thoughts[key] == prompts[key] for key in thoughts.keys() & prompts.keys())


def test_copies_differ_in_style_only(demo: Demo) -> None:
    groups: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    for question, answer in answers(demo[0]):
        if isinstance(question, str) and isinstance(answer, str):
            groups[normal(question), normal(answer)].add((question, answer))
    copied = [group for group in groups.values() if len(group) > 1]
    assert len(copied) > 40
    assert any(not unicodedata.is_normalized("NFC", question) for group in copied for question, _ in group)
    assert any("\r\n" in answer for group in copied for _, answer in group)
    assert any(question.isupper() for group in copied for question, _ in group)


def test_the_normalised_set_hangs_together(demo: Demo) -> None:
    path, counts = demo
    joined = (
        "select count(*) from examples as e join reasoning_patterns as p on p.id = e.reasoning_pattern_id"
        " where p.example_id = e.id"
    )
    [(patterns,)] = query(path, joined)
    [(pointed_elsewhere,)] = query(
        path,
        "select count(*) from examples as e join reasoning_patterns as p on p.example_id = e.id"
        " where e.reasoning_pattern_id = 'rp_gone'",
    )
    assert patterns == counts["rows_reasoning_patterns"] - counts["orphan_pattern"] - pointed_elsewhere
    assert query(path, "select count(*) from examples where reasoning_pattern_id = 'rp_gone'") == [
        (counts["missing_pattern"],)
    ]
    assert query(
        path,
        "select count(*) from corrections as c join examples as e on e.id = c.example_id where e.sam_attempt is null",
    ) == [(0,)]
    assert query(
        path, "select distinct quality_score, processed from raw_interactions where quality_score <> 'good'"
    ) == [(0.5, 0)]


def test_flawed_answers_show_their_flaw() -> None:
    teacher = Teacher(load_teaching(), Random(4))
    made = {name: [make(teacher, 0.0) for _ in range(30)] for name, (_, make) in FLAWS.items()}
    assert all(len(asked.response) < 600 for asked in made["refusal"])
    assert all(re.search(r"\b(can't|cannot|won't|not able to)\b", asked.response[:200]) for asked in made["refusal"])
    for asked in made["repetitive"]:
        sentences = Counter(re.split(r"(?<=[.!?])\s+", asked.response))
        assert any(count >= 3 and len(sentence) >= 20 for sentence, count in sentences.items())
    assert all(asked.response[-1].isalpha() for asked in made["cut_off"])
    assert all(asked.response.count("```") % 2 for asked in made["open_fence"])
    assert all(asked.response.startswith("```") and asked.response.endswith("```") for asked in made["code_only"])
    assert all(len(asked.response) > 16_000 for asked in made["very_long"])
    for name in ("tie_equal", "tie_respaced"):
        assert all(a.attempt and a.attempt.text.replace("\r", "").strip() == a.response.strip() for a in made[name])
    assert all(a.attempt and a.attempt.text != a.response for a in made["tie_near"])


def test_every_way_of_reasoning_in_every_domain(tmp_path: Path) -> None:
    path = tmp_path / "distillation.db"
    write_distillation(path, 2500, seed=3)
    found = {row[:2] for row in query(path, "select domain, reasoning_type from distillation_examples")}
    possible = {(domain, kind) for domain in DOMAINS for kind in KINDS} - {("creative", "tool_use")}
    assert possible <= found
    [(share,)] = query(path, "select avg(ifnull(sam_attempt, '') <> '') from distillation_examples")
    assert 0.27 < share < 0.38


def test_questions_vary() -> None:
    teaching = load_teaching()
    for name, subject in teaching.subjects.items():
        assert len({question for lesson in subject.lessons for question in lesson.questions}) >= 150, name


def test_a_question_of_the_feedback_demo_is_known_again() -> None:
    """Whoever asks it why: the teacher finds the lesson behind it, and never another one."""
    rng = Random(5)
    writer, teacher = Writer(load_library(), rng), Teacher(load_teaching(), rng)
    for domain in (domain for domain in load_library().domains.values() if domain.name in DOMAINS):
        for _ in range(200):
            case, question = writer.question(domain, is_later=rng.random() < 0.5)
            lesson = teacher.known_lesson(question)
            assert lesson is not None and lesson.answers == case.answers, question


def test_no_slot_is_left_open(demo: Demo) -> None:
    columns = {
        "distillation_examples": "query, query_context, sam_attempt, sam_reasoning, claude_response, reviewer_notes",
        "corrections": "what_sam_said, what_was_wrong, correct_answer, lesson_learned",
        "chain_of_thought": "prompt, final_answer",
        "preference_pairs": "prompt, good_response, bad_response, reason",
    }
    texts = [
        text
        for table, names in columns.items()
        for row in query(demo[0], f"select {names} from {table}")
        for text in row
        if isinstance(text, str)
    ]
    assert len(texts) > 1000
    assert not [text for text in texts if re.search(r"[{}]|\.\.(?!\.)(?<!\.\.\.)", text)]


def test_sound_rows_lie_within_the_days(tmp_path: Path) -> None:
    path = tmp_path / "distillation.db"
    write_distillation(path, 250, seed=4)
    for table in TABLES:
        [(first, last)] = query(path, f"select min(created_at), max(created_at) from {table}")
        assert first >= START
        assert last < END
    path = tmp_path / "another.db"
    write_distillation(path, 250, seed=4, days=7, last_day=date(2025, 6, 30))
    [(days,)] = query(path, "select count(distinct cast(created_at / 86400 as int)) from raw_interactions")
    assert days == 7


def test_text_bytes_sets_the_mean_and_keeps_texts_distinct(tmp_path: Path) -> None:
    path = tmp_path / "distillation.db"
    write_distillation(path, 3000, seed=6, text_bytes=2000)
    for column, table in (("claude_response", "distillation_examples"), ("response", "raw_interactions")):
        [(mean, distinct, total)] = query(
            path, f"select avg(length({column})), count(distinct {column}), count({column}) from {table}"
        )
        assert 1850 < mean < 2150
        assert distinct / total > 0.95


def test_feedback_is_linked_in_every_way_of_m1(judged: tuple[Path, Path, dict[str, int]]) -> None:
    """By id and by session M1 finds what was planned; by the answer alone also popular questions, as in real data."""
    path, feedback, counts = judged
    rows = query(
        feedback,
        "select response_id, session_id, original_query, original_response, feedback_type, rating"
        " from feedback where escalated_to_claude = 1 and typeof(original_query) = 'text'",
    )
    by_id = {row[0]: row for row in rows}
    by_session = {(row[1], normal(row[2])): row for row in rows if row[1] != "default"}
    by_answer = {(normal(row[2]), row[3].strip()): row for row in rows if isinstance(row[3], str)}
    found: Counter[str] = Counter()
    ratings: dict[str, set[int]] = defaultdict(set)
    for key, session, question in query(path, "select id, session_id, query from distillation_examples"):
        way, row = "linked_by_id", by_id.get(key)
        if row is None and isinstance(question, str):
            way, row = "linked_by_session", by_session.get((session, normal(question)))
        if row is not None:
            found[way] += 1
            ratings[way].add(row[5] if row[4] == "rating" else 0)
    linked = {(normal(q), a.strip()) for q, a in answers(path) if isinstance(q, str) and isinstance(a, str)}
    found["linked_by_answer"] = len(linked & by_answer.keys())
    assert ratings == {"linked_by_id": {-1, 0, 1}, "linked_by_session": {-1, 0, 1}}
    assert found["linked_by_id"] == counts["linked_by_id"]
    assert found["linked_by_session"] == counts["linked_by_session"]
    assert found["linked_by_answer"] >= counts["linked_by_answer"] + counts["linked_by_id"]


def test_feedback_on_an_attempt_is_not_about_the_teacher(judged: tuple[Path, Path, dict[str, int]]) -> None:
    path, feedback, counts = judged
    rows = query(
        feedback,
        "select session_id, original_query, original_response from feedback where escalated_to_claude = 0",
    )
    said = {row for row in rows if isinstance(row[1], str)}
    examples = query(path, "select session_id, query, sam_attempt, claude_response from distillation_examples")
    on_attempt = [row for row in examples if (row[0], row[1], row[2]) in said]
    on_answer = [row for row in examples if (row[0], row[1], row[3]) in said]
    assert len(on_attempt) == counts["feedback_on_attempt"]
    assert len(on_answer) == counts["linked_by_session_and_answer"]
    assert not {row[1] for row in on_attempt} & {row[1] for row in on_answer}
