"""What is counted of a release's records: the same however they came, percentiles exact."""

from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from dagster_project.training.record_figures import PERCENTILES, RecordFigures, percentiles, tally

THUMB = {
    "prompt": "Why?",
    "completion": "Because it is so.",
    "label": True,
    "context": None,
    "split": "train",
    "source": "feedback_rating",
    "tier": "low",
    "domain": "code",
    "base_weight": 0.6,
}
SCHEMA = {"context": pl.String}


def thumbs(*records: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame([THUMB | record for record in records], schema_overrides=SCHEMA)


def test_what_is_counted() -> None:
    figures = RecordFigures()
    figures.add(
        tally("unpaired", thumbs({}, {"label": False, "base_weight": 0.49}, {"context": "Before, né", "tier": "high"}))
    )
    assert figures.by_format()["unpaired"] == {
        "answer_tokens": dict.fromkeys(["p5", "p50", "p90", "p95", "p99", "longest"], 5),
        "characters": {"p5": 21, "p50": 21, "p90": 31, "p95": 31, "p99": 31, "longest": 31},
        "domain": {"code": 3},
        "label": {"false": 1, "true": 2},
        "low_by_age": {"false": 2, "true": 1},
        "prompt_tokens": {"p5": 1, "p50": 1, "p90": 4, "p95": 4, "p99": 4, "longest": 4},
        "source": {"feedback_rating": 3},
        "split": {"train": 3},
        "tier": {"high": 1, "low": 2},
    }
    assert figures.exported() == {
        "format": {"unpaired": 3},
        "source": {"feedback_rating": 3},
        "tier": {"high": 1, "low": 2},
        "domain": {"code": 3},
    }


def test_a_pair_is_its_prompt_and_both_answers() -> None:
    pair = {
        "prompt": "Four",
        "chosen": "12345",
        "rejected": "123",
        "votes_for": 3,
        "votes_against": None,
        "language": None,
    }
    figures = RecordFigures()
    figures.add(tally("preference", pl.DataFrame([THUMB | pair], schema_overrides=SCHEMA).drop("label", "completion")))
    told = figures.by_format()["preference"]
    assert (told["prompt_tokens"]["p50"], told["answer_tokens"]["p50"], told["characters"]["p50"]) == (1, 2, 12)
    assert told["language"] == {"unknown": 1}


@given(st.lists(st.integers(0, 50), min_size=1))
def test_percentiles_are_nearest_ranks(lengths: list[int]) -> None:
    counted: dict[str | None, int] = {str(length): lengths.count(length) for length in lengths}
    found = percentiles(counted)
    for percent, value in zip(PERCENTILES, found.values(), strict=True):
        rank = max(1, -(-percent * len(lengths) // 100))
        assert value == sorted(lengths)[rank - 1]


@given(st.lists(st.sampled_from(["train", "test"]), max_size=8), st.integers(0, 8))
def test_groups_add_up(splits: list[str], cut: int) -> None:
    records = [{"split": split, "completion": "x" * place} for place, split in enumerate(splits)]
    whole, parts = RecordFigures(), RecordFigures()
    if records:
        whole.add(tally("unpaired", thumbs(*records)))
    for some in (records[cut:], records[:cut]):
        if some:
            parts.add(tally("unpaired", thumbs(*some)))
    assert whole.by_format() == parts.by_format()
