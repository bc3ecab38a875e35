"""What a reaction artifact's text says (seed 3): an object in one of three historical forms, read column by column.

`[turn.log.reaction] {'turn_id': ..., 'reaction': None}` (a Python repr), `[turn.log.reaction] {json}` and bare JSON. The
header is stripped, then JSON is tried, then a Python literal; nothing is ever evaluated. What the values must be, the
caller decides: here each comes with its JSON kind.
"""

import ast
import json
import warnings

import polars as pl

from dagster_project.columns.json_columns import first_object_at, json_kinds, kinds_and_texts_at

HEADER = r"^\s*\[turn\.log\.reaction\]\s*"
# Where the reaction lies if it is not the object itself, and where what is said about it lies.
INNER = ("$.payload.reaction", "$.reaction")
FIELDS = ("turn_id", "text", "reaction", "origin", "confidence")
META = ("rn", "origin")
NUMBERS = ("DOUBLE", "UBIGINT", "BIGINT", "HUGEINT", "UHUGEINT")
WHOLE_NUMBERS = NUMBERS[1:]
TEXT, NOTHING = "VARCHAR", "NULL"
# A flat repr whose strings begin with no colon and hold no quote, backslash or control character, but for one in double
# quotes at most (Python's choice for a text with an apostrophe): changing its quotes and names makes it JSON.
_STRING = r"""'(?:[^:'"\\\x00-\x1f][^'"\\\x00-\x1f]*)?'"""
_QUOTED = r'''"[^"\\\x00-\x1f]*"'''
_VALUE = rf"(?:{_STRING}|{_QUOTED}|None|True|False|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)"
PLAIN_REPR = rf"^\{{{_STRING}: {_VALUE}(?:, {_STRING}: {_VALUE})*\}}$"
MOST_DOUBLE_QUOTES = 2
# A longer text is not parsed as a literal: keys of equal hash, ever so many whole numbers, take a dict quadratic time.
MOST_LITERAL_CHARS = 65_536
AROUND_QUOTED = r'^([^"]*)("[^"]*")?([^"]*)$'
NAMES = {"None": "null", "True": "true", "False": "false"}


def parsed(texts: pl.Series) -> pl.DataFrame:
    """Per text `is_object`, and for each of FIELDS and `meta_` META the value as text and its `_kind` (null: not there)."""
    bodies = as_json(texts)
    is_object = bodies.is_not_null()
    # an object in an object has a brace of its own: most have none, and are the reaction themselves, without a meta
    nested = (bodies.str.count_matches("{", literal=True) > 1).fill_null(False).arg_true()
    outer = bodies.gather(nested)
    reactions = bodies.scatter(nested, first_object_at(outer, INNER)) if nested.len() else bodies
    said = _spread(reactions, [f"$.{name}" for name in FIELDS], FIELDS)
    metas = [f"meta_{name}{what}" for name in META for what in ("", "_kind")]
    about = pl.select(pl.repeat(None, texts.len(), dtype=pl.String).alias(name) for name in metas)
    if nested.len():
        found = _metas(outer)
        about = about.select(pl.lit(about[name].scatter(nested, found[name])).alias(name) for name in metas)
    return pl.concat([said, about], how="horizontal").with_columns(is_object=is_object)


def _metas(objects: pl.Series) -> pl.DataFrame:
    paths = [f"{place}.{name}" for name in META for place in ("$.meta", "$.payload.meta")]
    about = _spread(objects, paths, [f"meta_{name}_{place}" for name in META for place in (1, 2)])
    is_first = {name: about[f"meta_{name}_1_kind"].fill_null(NOTHING) != NOTHING for name in META}
    return about.select(
        pl.when(pl.lit(is_first[name]))
        .then(f"meta_{name}_1{what}")
        .otherwise(f"meta_{name}_2{what}")
        .alias(f"meta_{name}{what}")
        for name in META
        for what in ("", "_kind")
    )


def _spread(objects: pl.Series, paths: list[str], names: list[str] | tuple[str, ...]) -> pl.DataFrame:
    found = kinds_and_texts_at(objects, paths)
    return found.select(
        *(pl.col("texts").list.get(place, null_on_oob=True).alias(name) for place, name in enumerate(names)),
        *(pl.col("kinds").list.get(place, null_on_oob=True).alias(f"{name}_kind") for place, name in enumerate(names)),
    )


def as_json(texts: pl.Series) -> pl.Series:
    """Each text as the JSON of one object; null where it is none in any form."""
    bodies = texts.str.replace(HEADER, "").str.strip_chars()
    kinds = json_kinds(bodies.to_frame("body"))["body"]
    objects = pl.select(pl.when(kinds == "OBJECT").then(bodies)).to_series()
    places = (kinds.is_null() & bodies.str.starts_with("{")).arg_true()
    return objects.scatter(places, _literals_as_json(bodies.gather(places))) if places.len() else objects


def _literals_as_json(bodies: pl.Series) -> pl.Series:
    """Python dict literals as JSON: most of them by changing characters, the others one by one."""
    quotes = bodies.str.count_matches('"', literal=True)
    is_plain = (quotes <= MOST_DOUBLE_QUOTES) & bodies.str.contains(PLAIN_REPR)
    changed = _changed(bodies)
    quoting = (is_plain & (quotes > 0)).arg_true()
    if quoting.len():  # what stands in double quotes stays as it is
        parts = bodies.gather(quoting).rename("body").to_frame()
        parts = parts.select(pl.col("body").str.extract_groups(AROUND_QUOTED).alias("parts")).unnest("parts")
        before, quoted, after = parts.get_columns()
        mended = pl.select(pl.concat_str(_changed(before), quoted.fill_null(""), _changed(after))).to_series()
        changed = changed.scatter(quoting, mended)
    places = (~is_plain).arg_true()
    others = bodies.gather(places)
    is_short = others.str.len_chars() <= MOST_LITERAL_CHARS
    literals = [_literal_as_json(body) if short else None for body, short in zip(others, is_short, strict=True)]
    return changed.scatter(places, literals) if places.len() else changed


def _changed(texts: pl.Series) -> pl.Series:
    """A quote ends a key before a name: no string holds one."""
    return texts.str.replace_many(
        [f"': {name}" for name in NAMES] + ["'"], [f'": {word}' for word in NAMES.values()] + ['"'], leftmost=True
    )


def _literal_as_json(body: str) -> str | None:
    """A Python dict literal as JSON; null for everything else, and for values JSON or UTF-8 cannot say."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes that no repr would write
            found = ast.literal_eval(body)
        if not isinstance(found, dict):
            return None
        written = json.dumps(found, ensure_ascii=False)
        written.encode()
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return written
