"""The items of evaluation sets the configuration names (T1, contaminated): each text of an item with the line it stands in.

JSONL (every string in an object, at any depth), Parquet (every column of texts, also in lists and structs) or plain text (every
line). An item is known by its set's name and its line, or row, from 1 on; where a set has several files, by the file's name too.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from dagster_project.config.evaluation_sets import JSON_LINES, EvaluationSet
from dagster_project.errors import GristmillError

SCHEMA = {"item": pl.String, "text": pl.String}


def evaluation_items(sets: tuple[EvaluationSet, ...]) -> pl.DataFrame:
    """`item` and `text`, in the order of the configuration, of the files and of their lines."""
    found = [_items(one, file) for one in sets for file in one.files]
    return pl.concat(found) if found else pl.DataFrame(schema=SCHEMA)


def _items(one: EvaluationSet, file: Path) -> pl.DataFrame:
    name = one.name if len(one.files) == 1 else f"{one.name}:{file.name}"
    try:
        rows = _texts(file)
    except (OSError, UnicodeDecodeError, pl.exceptions.PolarsError) as error:
        raise GristmillError(
            f"decontaminate {one.name!r}: {file} cannot be read: {str(error).splitlines()[0]}"
        ) from error
    except json.JSONDecodeError as error:
        raise GristmillError(f"decontaminate {one.name!r}: {file} is no JSONL: {error}") from error
    return rows.select(pl.format("{}:{}", pl.lit(name), "line").alias("item"), "text")


def _texts(file: Path) -> pl.DataFrame:
    """`line` and `text`."""
    if file.suffix == ".parquet":
        return _of_columns(pl.read_parquet(file))
    lines = file.read_text(encoding="utf-8-sig").split("\n")
    told = pl.DataFrame({"line": range(1, len(lines) + 1), "text": lines}, schema={"line": pl.Int64, "text": pl.String})
    told = told.filter(pl.col("text").str.strip_chars() != "")
    if file.suffix not in JSON_LINES:
        return told
    # a loop over an evaluation set, which does not grow with the data: 100,000 items take a second
    values = [list(_strings(json.loads(text))) for text in told["text"]]
    return told.select("line", pl.Series("text", values, dtype=pl.List(pl.String))).explode("text").drop_nulls()


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        # half a surrogate pair, which JSON can say and UTF-8 cannot
        yield value.encode("utf-8", "replace").decode("utf-8")
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)


def _of_columns(rows: pl.DataFrame) -> pl.DataFrame:
    numbered = (
        rows.with_row_index("line", offset=1)
        if "line" not in rows.columns
        else rows.drop("line").with_row_index("line", offset=1)
    )
    texts = [found for name in numbered.columns[1:] for found in _of_column(numbered.select("line", name), name)]
    if not texts:
        return pl.DataFrame(schema={"line": pl.Int64, "text": pl.String})
    return pl.concat(texts).with_columns(pl.col("line").cast(pl.Int64)).sort("line", maintain_order=True)


def _of_column(column: pl.DataFrame, name: str) -> Iterator[pl.DataFrame]:
    kind = column.schema[name]
    if isinstance(kind, pl.List | pl.Array):
        yield from _of_column(column.explode(name, empty_as_null=True), name)
    elif isinstance(kind, pl.Struct):
        for part in kind.fields:
            yield from _of_column(column.select("line", pl.col(name).struct.field(part.name).alias(name)), name)
    elif kind in (pl.String, pl.Categorical):
        yield column.select("line", pl.col(name).cast(pl.String).alias("text")).drop_nulls()
