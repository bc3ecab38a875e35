"""Records with their secrets and personal data masked, last of all (T8): texts before templates are put around them.

Items are numbered within a record in the order context, prompt, answers. A conversation in JSON is masked turn by turn and leaves as
the JSON of its turns: a placeholder in the middle of an escape would make it unreadable, and other keys may hold secrets, too.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from dagster_project.columns.context_turns import parsed
from dagster_project.columns.masking import masked, without_items

BETWEEN = "\x00"  # of turns; no text has it (G5)
IS_JSON = r"\A\s*[\[{]"


@dataclass(frozen=True)
class MaskedRows:
    """`rows` as they leave; `keyed`, those of them that hold something, as keys see them; `places`, where those are."""

    rows: pl.DataFrame
    keyed: pl.DataFrame
    places: pl.Series
    counts: Counter[str] = field(default_factory=Counter)


def masked_rows(
    rows: pl.DataFrame, context: str, texts: Sequence[str], kinds: Sequence[str], allow: Sequence[str]
) -> MaskedRows:
    """`rows` have `has_items`; `texts` are their other text columns in the order prompt, answers."""
    places = rows["has_items"].arg_true()
    held = rows[places]
    if held.is_empty():
        return MaskedRows(rows, held, places)
    names = (context, *texts)
    turns = _turns_of_json(held[context])
    plain = held.with_columns(pl.Series(context, pl.select(pl.coalesce(_joined(turns), held[context])).to_series()))
    numbered, counts = masked(plain, names, kinds, allow)
    keyed = plain.with_columns(without_items(plain[name], allow) for name in names)
    numbered, keyed = (some.with_columns(_in_json(some[context], turns).alias(context)) for some in (numbered, keyed))
    whole = rows.with_columns(rows[name].scatter(places, numbered[name]) for name in names)
    return MaskedRows(whole, keyed, places, Counter(counts))


def _turns_of_json(contexts: pl.Series) -> pl.Series:
    """The turns of contexts that are JSON, null for all others."""
    found = parsed(contexts)
    is_json = contexts.str.contains(IS_JSON) & found["is_parsed"] & (found["turns"].list.len() > 0)
    return pl.select(pl.when(is_json.fill_null(False)).then(found["turns"])).to_series()


def _joined(turns: pl.Series) -> pl.Series:
    return turns.list.eval(pl.element().struct.field("content")).list.join(BETWEEN)


def _in_json(texts: pl.Series, turns: pl.Series) -> pl.Series:
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
