"""What users said, in a line each, as reviewers see it."""

from datetime import date
from typing import Any

import polars as pl
import pytest

from dagster_project.review.user_remarks import MOST_CHARACTERS, in_words

THUMB: dict[str, Any] = {
    "effective_type": "rating",
    "sentiment": "negative",
    "rating": -1,
    "rating_scale": "thumbs",
    "comment": None,
    "flag_type": None,
    "correction": None,
    "what_was_wrong": None,
    "comparison_basis": None,
    "flag_details": None,
    "event_date": date(2026, 1, 3),
}
SCHEMA: dict[str, Any] = {name: {"rating": pl.Int64, "event_date": pl.Date}.get(name, pl.String) for name in THUMB}


@pytest.mark.parametrize(
    ("row", "line"),
    [
        ({}, "thumbs down 2026-01-03"),
        ({"comment": " this is\nuseless "}, 'thumbs down 2026-01-03: "this is useless"'),
        ({"sentiment": "positive", "rating": 1, "comment": " "}, "thumbs up 2026-01-03"),
        ({"rating_scale": "five", "sentiment": "neutral", "rating": 3}, "rated 3 of 5 2026-01-03"),
        ({"effective_type": "flag", "flag_type": "incorrect"}, "flag incorrect 2026-01-03"),
        ({"effective_type": "flag", "flag_details": "rude"}, 'flag other 2026-01-03: "rude"'),
        ({"effective_type": "correction", "correction": "Paris."}, 'correction 2026-01-03: "Paris."'),
        (
            {"effective_type": "correction", "correction": "Paris.", "what_was_wrong": "not Lyon"},
            'correction 2026-01-03: "Paris.", what was wrong: "not Lyon"',
        ),
        (
            {"effective_type": "preference", "comparison_basis": "shorter"},
            'preferred another answer 2026-01-03: "shorter"',
        ),
        ({"comment": "é" * (MOST_CHARACTERS + 1)}, f'thumbs down 2026-01-03: "{"é" * MOST_CHARACTERS}..."'),
    ],
)
def test_in_words(row: dict[str, Any], line: str) -> None:
    assert pl.DataFrame([THUMB | row], schema=SCHEMA).select(in_words()).item() == line
