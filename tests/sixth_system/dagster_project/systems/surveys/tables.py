"""The tables of surveys: what comes in, what is derived from it, what is counted."""

from dagster_project.contracts.meaning import count, epoch, word
from dagster_project.contracts.shared import PLACED
from dagster_project.contracts.table import Table, by_name

TABLES = by_name(
    {
        "answer": word("yes, no or unsure; in raw tables as stored"),
        "language": word("in which the question was asked, as its source is configured"),
        "answered_at": epoch("when the survey was answered"),
        "answer_count": count("answers: yes + no + unsure"),
        "yes_count": count("answers yes"),
        "no_count": count("answers no"),
    },
    Table(
        "raw_surveys__answers",
        "One answer to a survey, as stored.",
        ("id",),
        f"id user_id? session_id? answer answered_at language {PLACED}",
        is_by_day=True,
    ),
    Table(
        "core__surveys",
        "One answer to a survey before as_of.",
        ("id",),
        "id user_id? session_id? answer occurred_at event_date",
    ),
    Table(
        "metric__survey_daily",
        "One day of answers to surveys.",
        ("event_date",),
        "event_date answer_count yes_count no_count",
    ),
)
