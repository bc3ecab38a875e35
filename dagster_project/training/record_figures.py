"""What a release says of its records in numbers, for the manifest and the card: counted a group of days at a time.

A tally is a row per format, kind of figure and value, so that tallies add up in any order. Lengths are counted too, one by one:
their percentiles are exact, and the same however the records came.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import polars as pl

from dagster_project.contracts.columns import LOW_TIERS
from dagster_project.contracts.formats import FIELDS, FORMATS
from dagster_project.engines.sql_functions import formula

ANSWERS = ("output", "chosen", "rejected", "completion")
NO_TEXT = ("error_type", "votes_for", "votes_against", "label")
MIX = ("split", "source", "tier", "domain", "language")
LENGTHS = ("prompt_tokens", "answer_tokens", "characters")
PERCENTILES = (5, 50, 90, 95, 99, 100)
CHARACTERS_A_TOKEN = 4
LABEL, LOW_BY_AGE = "label", "low_by_age"
SCHEMA = {"format": pl.String, "by": pl.String, "value": pl.String, "records": pl.Int64}


def tally(format: str, records: pl.DataFrame) -> pl.DataFrame:
    """Of records of one format with their texts: how many have which split, source, tier ..., and which lengths."""
    frames = [pl.DataFrame(schema=SCHEMA)]
    wanted = records.select(*_mix(records), *_lengths(format), *_label(records), _is_low_by_age())
    for by in wanted.columns:
        counted = wanted.group_by(pl.col(by).cast(pl.String).alias("value")).agg(
            pl.len().cast(pl.Int64).alias("records")
        )
        frames.append(counted.select(pl.lit(format).alias("format"), pl.lit(by).alias("by"), "value", "records"))
    return pl.concat(frames)


def _mix(records: pl.DataFrame) -> list[pl.Expr]:
    return [pl.col(name) for name in MIX if name in records.columns]


def _label(records: pl.DataFrame) -> list[pl.Expr]:
    return [pl.col(LABEL)] if LABEL in records.columns else []


def _is_low_by_age() -> pl.Expr:
    """T9: of a low tier, and it would not be if it were new."""
    return (pl.col("tier").is_in(LOW_TIERS) & ~formula("is_low(base_weight)")).alias(LOW_BY_AGE)


def _lengths(format: str) -> list[pl.Expr]:
    texts = [name for name in FIELDS[format] if name not in NO_TEXT]
    asked = _characters([*(name for name in texts if name not in ANSWERS), "context"])
    answered = _characters([name for name in texts if name in ANSWERS])
    return [
        _tokens(asked).alias("prompt_tokens"),
        _tokens(answered).alias("answer_tokens"),
        (asked + answered).alias("characters"),
    ]


def _characters(names: list[str]) -> pl.Expr:
    return pl.sum_horizontal(pl.col(name).str.len_chars().cast(pl.Int64).fill_null(0) for name in names)


def _tokens(characters: pl.Expr) -> pl.Expr:
    return (characters + CHARACTERS_A_TOKEN - 1) // CHARACTERS_A_TOKEN


class RecordFigures:
    """All that was counted of a release."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], Counter[str | None]] = {}

    def add(self, tallied: pl.DataFrame) -> None:
        for (format, by), rows in tallied.partition_by("format", "by", as_dict=True).items():
            counted = self._counts.setdefault((str(format), str(by)), Counter())
            counted.update(dict(rows.select("value", "records").iter_rows()))

    def exported(self) -> dict[str, dict[str, int]]:
        """Counts over all formats, as the manifest has them."""
        counts: dict[str, Counter[str]] = {by: Counter() for by in ("format", "source", "tier", "domain")}
        for (format, by), counted in self._counts.items():
            for value, records in counted.items():
                if by == "split":
                    counts["format"][format] += records
                elif by in counts or by == "language":
                    counts.setdefault(by, Counter())[value or "unknown"] += records
        return {by: dict(sorted(counter.items())) for by, counter in counts.items()}

    def by_format(self) -> dict[str, dict[str, Any]]:
        """Of each format that has records: the mix, and percentiles of lengths."""
        told: dict[str, dict[str, Any]] = {}
        for format in FORMATS:
            for (found, by), counted in sorted(self._counts.items(), key=lambda item: item[0]):
                if found == format:
                    told.setdefault(format, {})[by] = (
                        percentiles(counted)
                        if by in LENGTHS
                        else {value or "unknown": n for value, n in _sorted(counted)}
                    )
        return told


def _sorted(counted: Mapping[str | None, int]) -> list[tuple[str | None, int]]:
    return sorted(counted.items(), key=lambda item: item[0] or "")


def percentiles(counted: Mapping[str | None, int]) -> dict[str, int]:
    """By nearest rank: the smallest length that so many percent do not exceed."""
    lengths = sorted((int(value), records) for value, records in counted.items() if value is not None)
    total, told = sum(records for _, records in lengths), {}
    for percent in PERCENTILES:
        wanted, passed = -(-percent * total // 100), 0
        for length, records in lengths:
            passed += records
            if passed >= wanted:
                told["longest" if percent == 100 else f"p{percent}"] = length
                break
    return told
