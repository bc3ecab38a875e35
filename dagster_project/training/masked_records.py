"""Records with their secrets and personal data masked, last of all (T8): texts before templates are put around them.

Items are numbered within a record in the order context, prompt, answers. A conversation in JSON is masked turn by turn and leaves as
the JSON of its turns: a placeholder in the middle of an escape would make it unreadable, and other keys may hold secrets, too.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from dagster_project.columns.masked_conversations import in_json, joined, turns_of_json
from dagster_project.columns.masking import masked, without_items


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
    turns = turns_of_json(held[context])
    plain = held.with_columns(pl.Series(context, pl.select(pl.coalesce(joined(turns), held[context])).to_series()))
    numbered, counts = masked(plain, names, kinds, allow)
    keyed = plain.with_columns(without_items(plain[name], allow) for name in names)
    numbered, keyed = (some.with_columns(in_json(some[context], turns).alias(context)) for some in (numbered, keyed))
    whole = rows.with_columns(rows[name].scatter(places, numbered[name]) for name in names)
    return MaskedRows(whole, keyed, places, Counter(counts))
