"""Conversations in JSON, masked turn by turn (T8): an escape hides what stands beside it, and a placeholder in the middle of one
would make the JSON unreadable."""

from collections.abc import Iterable, Sequence

import polars as pl

from dagster_project.columns.context_turns import parsed
from dagster_project.columns.masking import masked, may_hold
from dagster_project.columns.masking_kinds import KINDS

BETWEEN = "\x00"  # of turns; no text has it (G5)
IS_JSON = r"\A\s*[\[{]"


def may_be_masked(rows: pl.DataFrame, texts: Sequence[str]) -> pl.Series:
    """Whether a row has to be looked at at all: never false where `masked_for_people` shows one of these texts otherwise."""
    together = pl.concat([rows[name].alias("text") for name in texts], rechunk=False)
    suspects = may_hold(together) | _has_escapes(together)
    places = (suspects.arg_true() % max(1, rows.height)).unique()
    return pl.repeat(False, rows.height, dtype=pl.Boolean, eager=True).scatter(places, True)


def _has_escapes(texts: pl.Series) -> pl.Series:
    """A conversation in JSON whose texts are not what they look like."""
    return (texts.str.contains("\\", literal=True) & texts.str.contains(IS_JSON)).fill_null(False)


def masked_for_people(
    rows: pl.DataFrame, texts: Sequence[str], kinds: Iterable[str] = KINDS, allow: Iterable[str] = ()
) -> pl.DataFrame:
    """Rows with these texts masked. A conversation in JSON with escapes that holds an item becomes the JSON of its turns; all
    else that holds none stays as it is."""
    places, turns, plain = {}, {}, rows
    for name in texts:
        places[name] = _has_escapes(rows[name]).arg_true()
        if len(places[name]):
            told = rows[name].gather(places[name])
            turns[name] = turns_of_json(told)
            said = pl.select(pl.coalesce(joined(turns[name]), told)).to_series()
            plain = plain.with_columns(rows[name].scatter(places[name], said).alias(name))
    shown = masked(plain, texts, kinds, allow)[0]
    for name, found in turns.items():
        said, after = plain[name].gather(places[name]), shown[name].gather(places[name])
        told = pl.select(
            pl.when(pl.lit(after).ne_missing(pl.lit(said)))
            .then(pl.lit(in_json(after, found)))
            .otherwise(pl.lit(rows[name].gather(places[name])))
        ).to_series()
        shown = shown.with_columns(shown[name].scatter(places[name], told).alias(name))
    return shown


def turns_of_json(contexts: pl.Series) -> pl.Series:
    """The turns of contexts that are JSON, null for all others."""
    found = parsed(contexts)
    is_json = contexts.str.contains(IS_JSON) & found["is_parsed"] & (found["turns"].list.len() > 0)
    return pl.select(pl.when(is_json.fill_null(False)).then(found["turns"])).to_series()


def joined(turns: pl.Series) -> pl.Series:
    return turns.list.eval(pl.element().struct.field("content")).list.join(BETWEEN)


def in_json(texts: pl.Series, turns: pl.Series) -> pl.Series:
    """Contexts whose turns were put together in JSON again; where an item went over the end of a turn it stays one text."""
    contents = texts.str.split(BETWEEN)
    is_whole = (contents.list.len() == turns.list.len()).fill_null(False)
    told = pl.DataFrame({"content": contents, "turns": turns}).with_row_index("row").filter(is_whole)
    roles = told["turns"].list.eval(pl.element().struct.field("role"))
    each = told.select("row", roles.alias("role"), "content").explode("role", "content")
    again = each.group_by("row", maintain_order=True).agg(pl.struct("role", "content").alias("turns"))
    encoded = again.select(
        pl.struct("turns").struct.json_encode().str.strip_prefix('{"turns":').str.head(-1)
    ).to_series()
    rest = texts.str.replace_all(BETWEEN, "\n\n", literal=True)
    return rest.scatter(again["row"], encoded) if again.height else rest
