"""Values of any type as typed columns: the SQL that asks for them, and the decoding of what comes back (G5).

SQLite stores any type in any column. Here is what "the right type" means, how a stretch is read when all is well, how it
is read with the type beside each value, and how a row is written down exactly as it is stored (G11).
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import polars as pl
import pyarrow as pa

from dagster_project.columns.instants import epoch_seconds
from dagster_project.contracts.source_table import POLARS_TYPES, TableSpec

SAMPLE_VALUES = {"text": "''", "id": "''", "integer": "0", "real": "0.0", "time": "''", "list": "''"}
GOOD_TYPES = {
    "text": "('text', 'blob')",
    "id": "('text', 'blob', 'integer')",
    "integer": "('integer')",
    "real": "('real', 'integer')",
    "time": "('real', 'integer', 'text')",
    "list": "('text', 'blob')",
}
TEXTS = ("text", "id", "list", "time")  # what comes back from SQLite as text
FEW_COLUMNS = 100  # in one expression: databases limit its depth and arguments, and the columns of a result

Item = TypeVar("Item")

# Valid event times (G1) in seconds; half a microsecond lower because instants are rounded to microseconds.
HALF_MICROSECOND = 0.0000005
FIRST_SECOND = 946_684_800 - HALF_MICROSECOND  # 2000-01-01
LAST_SECOND = 4_102_444_800 - HALF_MICROSECOND  # 2100-01-01


@dataclass(frozen=True)
class TableShape:
    """What a database really has of a table: our columns under its spelling, their declarations, and strangers."""

    present: Mapping[str, str]  # expected column -> declared type
    missing: tuple[str, ...]
    unknown: tuple[str, ...]
    rowid: str  # a name for the rowid that is not taken by a column


def day_number(column: str | None) -> str:
    """SQL: the UTC day of an epoch value as days since 1970, null without a valid one (G1, G6)."""
    if column is None:
        return "null"
    value = f"+{quoted(column)}"  # the plus keeps a TEXT affinity from turning the comparison into one of texts
    return (
        f"case when {value} >= {FIRST_SECOND!r} and {value} < {LAST_SECOND!r} "
        f"then cast(({value} + {HALF_MICROSECOND!r}) / 86400 as integer) "
        f"when {value} >= {FIRST_SECOND * 1000!r} and {value} < {LAST_SECOND * 1000!r} "
        f"then cast(({value} / 1000.0 + {HALF_MICROSECOND!r}) / 86400 as integer) end"
    )


def may_be_time(column: str) -> str:
    """SQL: whether a text has only characters of a time, so that it is ASCII and worth a closer look."""
    name = quoted(column)
    return f"({name} glob '*[0-9]*' and {name} not glob '*[^0-9TtZz:.+ -]*')"


def time_text(column: str) -> str:
    """SQL: a time as text, numbers to the last bit; null for what cannot be one."""
    name = quoted(column)
    return (
        f"case typeof({name}) when 'integer' then cast({name} as text) when 'real' then case when {name} = 9e999 "
        f"then '9e999' when {name} = -9e999 then '-9e999' else printf('%!.17g', {name}) end "
        f"when 'text' then case when {may_be_time(column)} then {name} end end"
    )


def near_days(column: str) -> str:
    """SQL with one parameter, days as ISO texts: false only where a time is on none of them for certain."""
    start = f"substr(trim({quoted(column)}), 1, 10)"
    return (
        f"(typeof({quoted(column)}) <> 'text' or {start} in (select value from json_each(?)) "
        f"or {start} not glob '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]')"
    )


def is_real(declared: str) -> bool:
    """Whether SQLite itself makes a real of every number in a column of this declaration."""
    return not re.search("INT|CHAR|CLOB|TEXT|BLOB", declared.upper()) and bool(
        re.search("REAL|FLOA|DOUB", declared.upper())
    )


def is_rounded(column: str) -> str:
    """SQL: whether a value is a whole number above 2^53 that no double can hold, so that reading it as one would change it."""
    name = quoted(column)
    return f"(typeof({name}) = 'integer' and +{name} <> cast({name} as real))"


def fast_query(spec: TableSpec, shape: TableShape) -> str:
    selected = [f"{shape.rowid} as source_rowid"]
    for column, declared in shape.present.items():
        name = quoted(column)
        if spec.columns[column] == "time":  # what cannot be a time sends the stretch to the careful path
            selected.append(
                f"case when {name} is null then null else coalesce({time_text(column)}, cast(x'ff' as text)) end as {name}"
            )
        elif spec.columns[column] == "id":
            selected.append(
                f"case when typeof({name}) = 'real' then cast(x'ff' as text) else cast({name} as text) end as {name}"
            )
        elif spec.columns[column] == "real" and not is_real(declared):
            # a text sends the stretch to the careful path
            selected.append(f"case when {is_rounded(column)} then '' else {name} end as {name}")
        elif spec.columns[column] in ("text", "list") and not re.search("CHAR|CLOB|TEXT", declared.upper()):
            # ADBC would print a number as text here; without a text affinity numbers can be stored. Bytes that are
            # no UTF-8 send the stretch to the careful path.
            selected.append(
                f"case when typeof({name}) in ('integer', 'real') then cast(x'ff' as text) else {name} end as {name}"
            )
        else:
            selected.append(name)
    selected.append(f"{_extra(shape)} as extra")
    return f"select {', '.join(selected)}"


def careful_query(spec: TableSpec, shape: TableShape) -> str:
    """Each value where its type is right (text as bytes), and each type."""
    selected = [f"{shape.rowid} as source_rowid"]
    for column in shape.present:
        name, kind = quoted(column), spec.columns[column]
        value = {
            "id": f"cast(cast({name} as text) as blob)",
            "time": f"cast({time_text(column)} as blob)",
            "text": f"cast({name} as blob)",
            "list": f"cast({name} as blob)",
            "real": f"case when not {is_rounded(column)} then {name} end",
        }.get(kind, name)
        selected.append(f"case when typeof({name}) in {GOOD_TYPES[kind]} then {value} end as {name}")
        stored = f"typeof({name})"
        if kind == "real":
            stored = f"case when {is_rounded(column)} then 'rounded' else {stored} end"
        if kind == "integer":  # infinity is a number, and no finite one
            stored = f"case when {stored} = 'real' and abs({name}) = 9e999 then 'endless' else {stored} end"
        if kind == "time":
            stored = f"case when {stored} = 'text' and not {may_be_time(column)} then 'no time' else {stored} end"
        selected.append(f"{stored} as {quoted(column + ' type')}")
    selected.append(f"cast({_extra(shape)} as blob) as extra")
    return f"select {', '.join(selected)}"


def _extra(shape: TableShape) -> str:
    """SQL: the columns we do not know as JSON; null where all of them are, as if they were not there."""
    if not shape.unknown:
        return "null"
    values = [f"coalesce({', '.join(map(quoted, few))}, null)" for few in batched(shape.unknown, FEW_COLUMNS)]
    return f"case when coalesce({', '.join(values)}, null) is not null then {json_object(shape.unknown)} end"


def careful_types(spec: TableSpec, shape: TableShape) -> dict[str, str]:
    types = {"source_rowid": "0"}
    for column in shape.present:
        types[column] = "x''" if spec.columns[column] in TEXTS else SAMPLE_VALUES[spec.columns[column]]
        types[f"{column} type"] = "''"
    return types | {"extra": "x''"}


def decode_careful(rows: pa.Table, spec: TableSpec, shape: TableShape) -> pl.DataFrame:
    frame = pl.from_arrow(rows)
    assert isinstance(frame, pl.DataFrame)
    problems = []
    for column in shape.present:
        stored = pl.col(f"{column} type")
        wrong = ~stored.is_in([*re.findall(r"\w+", GOOD_TYPES[spec.columns[column]]), "null", "endless"])
        if spec.columns[column] in TEXTS:
            decoded = decode_or_mark(frame.select(column), column)[column]
            undecodable = frame[column].is_not_null() & decoded.is_null()
            frame = frame.with_columns(decoded, undecodable.alias(f"{column} undecodable"))
            bad = pl.col(f"{column} undecodable")
            wrong = wrong | (bad & (stored == "blob"))
            problems.append(pl.when(bad & (stored == "text")).then(pl.lit(f"bad_text:{column}")))
        problems.append(pl.when(stored == "endless").then(pl.lit(f"not_finite:{column}")))
        problems.append(pl.when(wrong).then(pl.lit(f"wrong_type:{column}")))
    extra = decode_or_mark(frame.select("extra"), "extra")["extra"]
    problems.append(pl.when(extra.is_null() & frame["extra"].is_not_null()).then(pl.lit("bad_text:extra")))
    frame = frame.with_columns(extra, pl.concat_list(problems).list.drop_nulls().alias("problems"))
    return with_problems(frame, spec, shape)


def decode_or_mark(frame: pl.DataFrame, column: str) -> pl.DataFrame:
    """Binary to text; what is not UTF-8 becomes null."""
    values = frame[column].to_arrow()
    try:
        return frame.with_columns(pl.Series(column, values.cast(pa.large_string()), dtype=pl.String))
    except pa.ArrowInvalid:  # value by value: only in a stretch that is known to hold bad bytes
        return frame.with_columns(pl.Series(column, [_text_or_none(value) for value in frame[column]], dtype=pl.String))


def _text_or_none(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None


def with_problems(frame: pl.DataFrame, spec: TableSpec, shape: TableShape) -> pl.DataFrame:
    """The expected columns in order, plus `problems`: what the values' own types and bytes are refused for (G5)."""
    if "problems" not in frame.columns:
        frame = frame.with_columns(pl.lit([], dtype=pl.List(pl.String)).alias("problems"))
    found = [
        pl.when(pl.col(column).str.contains("\0", literal=True)).then(pl.lit(f"bad_text:{column}"))
        for column in shape.present
        if spec.columns[column] in ("text", "id", "list")
    ]
    for column in (column for column in shape.present if spec.columns[column] == "time"):
        seconds = epoch_seconds(frame[column])
        is_no_time = frame[column].is_not_null() & seconds.is_null()
        found.append(pl.when(pl.lit(is_no_time)).then(pl.lit(f"wrong_type:{column}")))
        frame = frame.with_columns(seconds.alias(column))
    found += [
        pl.when(pl.col(column).is_finite().not_()).then(pl.lit(f"not_finite:{column}"))
        for column in shape.present
        if spec.columns[column] in ("real", "time")
    ]
    marks = frame.select(pl.coalesce(found).is_not_null().any()).item() if found else False
    if marks:
        frame = frame.with_columns(pl.concat_list("problems", *found).list.drop_nulls().alias("problems"))
    return frame.select(
        "source_rowid",
        *(
            pl.col(column) if column in shape.present else pl.lit(None, dtype=POLARS_TYPES[kind]).alias(column)
            for column, kind in spec.columns.items()
        ),
        pl.col("extra").cast(pl.String),
        "problems",
    )


def json_object(columns: Sequence[str]) -> str:
    """SQL: a row as JSON text, exact: integers as they are, reals to the last bit, what JSON cannot say as {"$...": }."""
    pairs = [_literal(json.dumps(column, ensure_ascii=False) + ":") + f" || {json_value(column)}" for column in columns]
    comma = " || ',' || "
    parts = [f"({comma.join(few)})" for few in batched(pairs, FEW_COLUMNS)]
    return f"'{{' || {comma.join(parts)} || '}}'"


def json_value(column: str) -> str:
    name = quoted(column)
    return (
        f"case typeof({name}) when 'null' then 'null' when 'integer' then cast({name} as text) "
        f"when 'text' then json_quote({name}) when 'blob' then '{{\"$hex\":\"' || lower(hex({name})) || '\"}}' "
        f'else case when {name} = 9e999 then \'{{"$float":"inf"}}\' when {name} = -9e999 then \'{{"$float":"-inf"}}\' '
        f"when cast(printf('%!.15g', {name}) as real) = {name} then printf('%!.15g', {name}) "
        f"else printf('%!.17g', {name}) end end"
    )


def batched(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def quoted(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'
