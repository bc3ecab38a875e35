"""What people read of a table: plain words that are true of that table, no numbers of rules or documents."""

import re

import pytest

from dagster_project.contracts import TABLES

CODE = re.compile(r"\bseed\b|\b(?:[GFTDMCRS]\d{1,2}|N)\b")


@pytest.mark.parametrize("name", TABLES)
def test_comments_are_in_plain_words(name: str) -> None:
    table = TABLES[name]
    for said in (table.description, *(meaning.description for meaning in table.meanings.values())):
        assert len(said.split()) >= 2, said
        assert not CODE.search(said), said


@pytest.mark.parametrize("name", TABLES)
def test_what_a_table_says_of_a_column_is_of_a_column_it_has(name: str) -> None:
    assert set(TABLES[name].said) <= set(TABLES[name].columns)


@pytest.mark.parametrize(
    ("table", "column", "said"),
    [
        ("core__turns", "quality_score", "the source's own score of the answer"),
        ("core__distillation", "quality_score", "how good the distilled example is"),
        ("raw_conversations__turns", "quality_score", "the quality score the source stored"),
        ("core__distillation", "feedback_count", "feedback rows that are about the example"),
        ("metric__distillation_daily", "correction_count", "examples with the reasoning type"),
        ("raw_distillation__review_queue", "status", "the source's own review"),
        ("raw_distillation__preference_pairs", "reason", "why the good answer is better"),
        ("raw_distillation__skill_templates", "pattern", "how the skill is done"),
        ("raw_conversations__turns", "response", "the assistant's answer"),
        ("core__feedback", "quality_weight", "as of the publication"),
        ("raw_feedback__entries", "quality_weight", "out of date"),
    ],
)
def test_a_name_that_means_something_else_in_another_table_says_so(table: str, column: str, said: str) -> None:
    assert said in TABLES[table].meanings[column].description
