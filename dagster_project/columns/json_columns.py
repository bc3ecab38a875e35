"""JSON text as columns: its kind, the strings of an array, lengths. DuckDB reads JSON column by column; Polars raises at
the first text that has another shape than the rest."""

import threading
from collections.abc import Sequence

import duckdb
import polars as pl

from dagster_project.columns.spaces import SPACES

_LOOSE_COMMA = r",\s*[\]}]"
_STRING = r'"(?:[^"\\]|\\.)*"'


_OF_THREAD = threading.local()  # a connection is not for two workers at once


def _engine() -> duckdb.DuckDBPyConnection:
    if not hasattr(_OF_THREAD, "engine"):
        _OF_THREAD.engine = duckdb.connect(config={"threads": 1})
    return _OF_THREAD.engine


def _asked(texts: pl.DataFrame, expressions: dict[str, str]) -> pl.DataFrame:
    connection = _engine()
    connection.register("texts", texts.to_arrow())
    try:
        return connection.sql(
            "select " + ", ".join(f"{sql} as {name}" for name, sql in expressions.items()) + " from texts"
        ).pl()
    finally:
        connection.unregister("texts")


def says_something(column: str) -> pl.Expr:
    """Empty text and JSON's own null say nothing, and nothing is wrong with them."""
    return (~pl.col(column).str.strip_chars(SPACES).is_in(["", "null"])).fill_null(False)


def json_kinds(texts: pl.DataFrame) -> pl.DataFrame:
    """Per column ARRAY, OBJECT, VARCHAR, ...; null where a text is null or no JSON."""
    found = _asked(texts, {name: f"json_type(case when json_valid({name}) then {name} end)" for name in texts.columns})
    loose = {name: _has_loose_comma(texts[name]) for name in texts.columns}
    return found.with_columns(pl.when(~pl.lit(is_loose)).then(name).alias(name) for name, is_loose in loose.items())


def _has_loose_comma(texts: pl.Series) -> pl.Series:
    """A comma after the last element, outside of strings: DuckDB reads over it, but it is no JSON."""
    is_loose = texts.str.contains(_LOOSE_COMMA).fill_null(False)
    if is_loose.any():
        places = is_loose.arg_true()
        without_strings = texts.gather(places).str.replace_all(_STRING, "0")
        is_loose = is_loose.scatter(places, without_strings.str.contains(_LOOSE_COMMA))
    return is_loose


def string_items(arrays: pl.Series) -> pl.Series:
    """The elements of JSON arrays as texts (an object as its JSON); null where there is no array."""
    return _asked(arrays.to_frame("a"), {"items": "list_filter(json_extract_string(a, '$[*]'), x -> x is not null)"})[
        "items"
    ]


def lengths(arrays: pl.Series, path: str = "$") -> pl.Series:
    """How many elements the array at a path has; 0 where there is none."""
    return _asked(arrays.to_frame("a"), {"n": f"coalesce(json_array_length(a, '{path}'), 0)::bigint"})["n"]


def counts_of(objects: pl.Series, path: str) -> pl.Series:
    """The same, but a text or an object in place of the array is one element, unless it is empty: it says something."""
    kinds = f"""case json_type(a, '{path}')
        when 'ARRAY' then json_array_length(a, '{path}')
        when 'OBJECT' then (len(json_keys(a, '{path}')) > 0)::bigint
        when 'VARCHAR' then (json_extract_string(a, '{path}') <> '')::bigint
    end"""
    return _asked(objects.to_frame("a"), {"n": f"coalesce({kinds}, 0)::bigint"})["n"]


def strings_at(objects: pl.Series, keys: Sequence[str]) -> pl.DataFrame:
    """The values of an object's keys as texts; null where there is none, or the text is no JSON object."""
    is_object = "case when json_valid(a) and json_type(a) = 'OBJECT' then a end"
    return _asked(objects.to_frame("a"), {key: f"json_extract_string({is_object}, '$.{key}')" for key in keys})


def first_object_at(objects: pl.Series, paths: Sequence[str]) -> pl.Series:
    """The object at the first of the paths that holds one, as JSON; else the object itself. All texts must be JSON."""
    cases = " ".join(
        f"when json_type(a, '{path}') = 'OBJECT' then json_extract(a, '{path}')::varchar" for path in paths
    )
    return _asked(objects.to_frame("a"), {"found": f"case {cases} else a end"})["found"]


def kinds_and_texts_at(objects: pl.Series, paths: Sequence[str]) -> pl.DataFrame:
    """Per path the kind of its value and the value as text, as the lists `kinds` and `texts`. All texts must be JSON."""
    listed = "[" + ", ".join(f"'{path}'" for path in paths) + "]"
    return _asked(
        objects.to_frame("a"), {"kinds": f"json_type(a, {listed})", "texts": f"json_extract_string(a, {listed})"}
    )


def first_strings_after(arrays: pl.Series, prefix: str) -> pl.Series:
    """Of each JSON array what its first string with this prefix says behind it; null without one."""
    strings = "list_filter(json_extract_string(a, '$[*]'), x -> starts_with(x, " + f"'{prefix}'))"
    return _asked(arrays.to_frame("a"), {"found": f"substr({strings}[1], {len(prefix) + 1})"})["found"]


def items_of(texts: pl.Series, keys: Sequence[str]) -> pl.DataFrame:
    """`row` and `item` for every element of the arrays, in order. An object gives the first array it has under one of the
    keys, else is its own single element. All texts must be JSON; of what is neither array nor object there is nothing."""
    arrays = [f"when json_type(a, '$.{key}') = 'ARRAY' then json_extract(a, '$.{key}[*]')" for key in keys]
    listed = f"""case json_type(a) when 'ARRAY' then json_extract(a, '$[*]')
        when 'OBJECT' then case {" ".join(arrays)} else [a::json] end end"""
    found = _asked(texts.to_frame("a"), {"items": f"({listed})::varchar[]"})
    rows = found.with_row_index("row").filter(pl.col("items").list.len() > 0)
    return rows.explode("items").rename({"items": "item"})


def texts_in(arrays: pl.Series) -> pl.Series:
    """The strings of JSON arrays, and of their objects what stands under `text`, one paragraph each. All must be JSON."""
    text = "json_extract_string(x, case json_type(x) when 'VARCHAR' then '$' else '$.text' end)"
    texts = f"list_transform(json_extract(a, '$[*]'), x -> {text})"
    joined = f"array_to_string(list_filter({texts}, x -> x is not null), chr(10) || chr(10))"
    return _asked(arrays.to_frame("a"), {"found": f"coalesce({joined}, '')"})["found"]
