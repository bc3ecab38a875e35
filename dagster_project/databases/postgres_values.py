"""Postgres columns as typed columns: the SQL that asks for them, and the decoding of what comes back (G5, G11).

Postgres checks types itself, so what is right is mostly decided once per column. Everything is turned into bigint, double,
text, bytes or a timestamp that Arrow can hold on the server: the driver never meets an enum, an infinity or a year BC.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from dagster_project.columns.instants import epoch_seconds, seconds_of
from dagster_project.contracts.source_table import POLARS_TYPES, TableSpec
from dagster_project.databases.sqlite_values import (
    FEW_COLUMNS,
    FIRST_SECOND,
    HALF_MICROSECOND,
    LAST_SECOND,
    batched,
    decode_or_mark,
    quoted,
)

WHOLE = ("int2", "int4", "int8")
FLOATS = ("float4", "float8")
NUMBERS = (*WHOLE, *FLOATS, "numeric")
MOMENTS = ("timestamptz", "timestamp", "date")
JSONS = ("json", "jsonb")
# Years 1 to 9999; what is outside, an infinity for one, is no value of ours.
MOMENT_RANGE = {
    "timestamptz": ("timestamptz '0001-01-01 00:00:00+00'", "timestamptz '10000-01-01 00:00:00+00'"),
    "timestamp": ("timestamp '0001-01-01 00:00:00'", "timestamp '10000-01-01 00:00:00'"),
    "date": ("date '0001-01-01'", "date '10000-01-01'"),
}
LARGEST, SMALLEST = "1.797693134862315807e308", "2.4704e-324"  # what still is a double, rounded


@dataclass(frozen=True)
class Column:
    """A column as the table has it. `family` is a built-in type's name, or text, array or other."""

    name: str
    declared: str
    family: str

    @property
    def sql(self) -> str:
        return quoted(self.name)


@dataclass(frozen=True)
class Reading:
    """How a column is asked for. `flag` is SQL that is true where the value is refused for `reason`."""

    value: str
    decode: str = ""  # '', bytes (bytea for text), raw (text of unknown encoding), moment or time
    flag: str | None = None
    reason: str = "wrong_type"


def family(type_name: str, type_kind: str, category: str) -> str:
    """What kind of type a column has, by its name, kind and category in pg_type."""
    if type_name in (*NUMBERS, *MOMENTS, *JSONS, "bool", "bytea"):
        return type_name
    if type_kind == "e" or category == "S" or type_name in ("uuid", "char"):
        return "text"
    return "array" if category == "A" and type_name not in ("int2vector", "oidvector") else "other"


def reading(column: Column, kind: str, is_event_time: bool, has_raw_text: bool) -> Reading:
    """How to read a column as one of this kind; every value of another type is refused, none is coerced."""
    found: Reading | None = None
    if kind == "time":
        found = _time(column, is_event_time, has_raw_text)
    elif kind == "list":
        found = _list(column, has_raw_text) or _string(column, has_raw_text)
    elif kind in ("text", "id"):
        found = (_whole_id(column, has_raw_text) if kind == "id" else None) or _string(column, has_raw_text)
    elif kind == "integer":
        found = _integer(column)
    elif column.family in NUMBERS:
        is_rounded = _is_rounded(column)
        value = f"case when not ({is_rounded}) then {double(column)} end" if is_rounded else double(column)
        found = Reading(value, flag=is_rounded)
    return found or Reading(f"null::{_SQL_TYPES[kind]}", flag=f"{column.sql} is not null")


_SQL_TYPES = {"text": "text", "id": "text", "list": "text", "integer": "int8", "real": "float8", "time": "float8"}


def _string(column: Column, has_raw_text: bool) -> Reading | None:
    if column.family in ("text", *JSONS):
        return Reading(_text(f"{column.sql}::text", has_raw_text), "raw" if has_raw_text else "")
    return Reading(column.sql, "bytes") if column.family == "bytea" else None


def _whole_id(column: Column, has_raw_text: bool) -> Reading | None:
    name, decode = column.sql, "raw" if has_raw_text else ""
    if column.family in WHOLE:
        return Reading(_text(f"{name}::text", has_raw_text), decode)
    if column.family != "numeric":
        return None
    is_whole = f"({name} = trunc({name}) and {name}::text not in ('NaN', 'Infinity', '-Infinity'))"
    value = _text(f"trunc({name})::text", has_raw_text)
    return Reading(f"case when {is_whole} then {value} end", decode, f"not {is_whole}")


def _integer(column: Column) -> Reading | None:
    """A whole number; of a numeric the value counts, not the scale it is declared with."""
    name = column.sql
    if column.family in WHOLE:
        return Reading(f"{name}::int8")
    if column.family == "bool":
        return Reading(f"{name}::int4::int8")
    if column.family != "numeric":
        return None
    is_whole = f"({name} = trunc({name}) and {name} between {-(2**63)} and {2**63 - 1})"
    return Reading(f"case when {is_whole} then {name}::int8 end", flag=f"not {is_whole}")


def _list(column: Column, has_raw_text: bool) -> Reading | None:
    """An array of one dimension as JSON. A text passes as it is, as in SQLite: whether it is JSON, rules say."""
    name, decode = column.sql, "raw" if has_raw_text else ""
    if column.family == "array":
        is_flat = f"coalesce(array_ndims({name}), 0) <= 1"
        value = _text(f"to_json({name}::text[])::text", has_raw_text)
        return Reading(f"case when {is_flat} then {value} end", decode, f"not ({is_flat})")
    if column.family not in JSONS:
        return None
    kind = f"{column.family}_typeof({name})"
    value = _text(f"{name}::text", has_raw_text)
    return Reading(f"case when {kind} = 'array' then {value} end", decode, f"{kind} not in ('array', 'null')")


def _text(value: str, has_raw_text: bool) -> str:
    """SQL: a text, as bytes where the database does not vouch for them."""
    return f"convert_to({value}, 'SQL_ASCII')" if has_raw_text else value


def _time(column: Column, is_event_time: bool, has_raw_text: bool) -> Reading | None:
    name = column.sql
    if column.family in MOMENTS:
        first, end = MOMENT_RANGE[column.family]
        in_range = f"({name} >= {first} and {name} < {end})"
        value = f"{name}::timestamp" if column.family == "date" else name
        # an event time no instant can say is refused here, because a null would pass for a missing one
        flag = f"not {in_range}" if is_event_time else None
        return Reading(f"case when {in_range} then {value} end", "moment", flag, "out_of_range")
    if column.family in NUMBERS:
        return Reading(double(column))
    if column.family == "text":
        return Reading(_text(f"{name}::text", has_raw_text), "raw time" if has_raw_text else "time")
    return None


def double(column: Column) -> str:
    """SQL: a number as a double. Postgres refuses to cast what is too large or too small; SQLite has infinity and zero."""
    name = column.sql
    if column.family != "numeric":
        return f"{name}::float8"
    return (
        f"case when {name} = 'NaN' then 'NaN'::float8 when {name} > {LARGEST} then 'Infinity'::float8 "
        f"when {name} < -{LARGEST} then '-Infinity'::float8 when abs({name}) < {SMALLEST} then 0::float8 "
        f"else {name}::float8 end"
    )


def _is_rounded(column: Column) -> str | None:
    """SQL: whether a value is a whole number above 2^53 that no double can hold. None: there are none in such a column.

    Of more than 64 bits there are whole numbers only in `numeric`; SQLite has a real for those, and so have we.
    """
    name = column.sql
    if column.family not in ("int8", "numeric"):
        return None
    is_large = f"abs({name}::numeric) between {2**53} and {2**63 - 1} and {name} = trunc({name}::numeric)"
    is_other = f"case when {name}::float8 >= {2**63} then true else {name}::float8::int8 <> {name} end"
    return f"case when {is_large} then {is_other} else false end"


def day_number(column: Column | None, kind: str | None) -> str | None:
    """SQL: the UTC day of an event time as days since 1970, null without a valid one (G1, G6). None: only we can say."""
    if column is None:
        return "null::int8"
    name = column.sql
    if kind == "time" and column.family in MOMENTS:
        zone = "+00" if column.family == "timestamptz" else ""
        first, end = (f"{column.family} '{year}-01-01{zone}'" for year in (2000, 2100))
        day = f"({name} at time zone 'UTC')::date" if column.family == "timestamptz" else f"{name}::date"
        return f"case when {name} >= {first} and {name} < {end} then ({day} - date '1970-01-01')::int8 end"
    if kind == "time" and column.family == "text":
        return None
    if (
        column.family not in NUMBERS
        or (kind == "integer" and column.family in FLOATS)
        or kind in ("text", "id", "list")
    ):
        return "null::int8"
    value = double(column)
    return (
        f"case when {value} >= {_float(FIRST_SECOND)} and {value} < {_float(LAST_SECOND)} "
        f"then floor(({value} + {_float(HALF_MICROSECOND)}) / 86400)::int8 "
        f"when {value} >= {_float(FIRST_SECOND * 1000)} and {value} < {_float(LAST_SECOND * 1000)} "
        f"then floor(({value} / 1000 + {_float(HALF_MICROSECOND)}) / 86400)::int8 end"
    )


def _float(value: float) -> str:
    return f"'{value!r}'::float8"


def decoded(
    batch: pl.DataFrame, spec: TableSpec, readings: Mapping[str, Reading], flagged: Sequence[str]
) -> pl.DataFrame:
    """A batch of `rowid`, `c0`.. (the readings in order), `f0`.. (their flags) and `extra` as the columns of G5."""
    problems: list[pl.Series] = []

    def refuse(where: pl.Series, reason: str) -> None:
        if where.any():
            problems.append(pl.select(pl.when(where).then(pl.lit(reason)).alias(f"{len(problems)}")).to_series())

    columns: dict[str, pl.Series] = {}
    for place, (column, how) in enumerate(readings.items()):
        values = batch[f"c{place}"]
        if column in flagged:
            refuse(batch[f"f{flagged.index(column)}"], f"{how.reason}:{column}")
        if how.decode.startswith(("bytes", "raw")):
            text = decode_or_mark(values.to_frame(), values.name)[values.name]
            refuse(
                values.is_not_null() & text.is_null(),
                f"{'wrong_type' if how.decode == 'bytes' else 'bad_text'}:{column}",
            )
            if how.decode == "bytes":
                refuse(text.str.contains("\0", literal=True), f"bad_text:{column}")
            values = text
        if how.decode.endswith("time"):
            seconds = epoch_seconds(values)
            refuse(values.is_not_null() & seconds.is_null(), f"wrong_type:{column}")
            values = seconds
        elif how.decode == "moment":
            values = seconds_of(values.to_physical())
        if spec.columns[column] in ("real", "time"):
            refuse(values.is_finite().not_(), f"not_finite:{column}")
        columns[column] = values
    extra = batch["extra"]
    if extra.dtype == pl.Binary:
        extra = decode_or_mark(extra.to_frame(), "extra")["extra"]
        refuse(batch["extra"].is_not_null() & extra.is_null(), "bad_text:extra")
    none = pl.lit([], dtype=pl.List(pl.String))
    noted = pl.DataFrame(problems).select(pl.concat_list(pl.all()).list.drop_nulls()) if problems else None
    return batch.select(
        pl.col("rowid").alias("source_rowid"),
        *(
            (columns[column] if column in columns else pl.lit(None)).cast(POLARS_TYPES[kind]).alias(column)
            for column, kind in spec.columns.items()
        ),
        extra.cast(pl.String).alias("extra"),
        (none if noted is None else noted.to_series()).alias("problems"),
    )


def json_object(columns: Sequence[Column]) -> str:
    """SQL: a row as JSON text: numbers exact, texts as they are, what JSON cannot say as {"$...": }."""
    pairs = [
        f"{literal(json.dumps(column.name, ensure_ascii=False) + ':')} || {json_value(column)}" for column in columns
    ]
    comma, nothing = " || ',' || ", "''"
    parts = [f"({comma.join(few)})" for few in batched(pairs, FEW_COLUMNS)]
    return f"'{{' || {comma.join(parts) or nothing} || '}}'"


def json_value(column: Column) -> str:
    """SQL: one value as JSON text. Times, enums and the like are the text Postgres itself prints."""
    name = column.sql
    if column.family in (*WHOLE, "bool", "jsonb"):
        value = f"{name}::text"
    elif column.family in (*FLOATS, "numeric"):
        value = (
            f"case {name}::text when 'NaN' then '{{\"$float\":\"nan\"}}' when 'Infinity' then '{{\"$float\":\"inf\"}}' "
            f"when '-Infinity' then '{{\"$float\":\"-inf\"}}' else {name}::text end"
        )
    elif column.family == "bytea":
        value = f"'{{\"$hex\":\"' || encode({name}, 'hex') || '\"}}'"
    elif column.family == "array":
        value = f"to_json({name})::text"
    else:
        value = f"to_json({name}::text)::text"
    return f"coalesce({value}, 'null')"


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
