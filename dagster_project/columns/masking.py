"""Secrets and personal data in texts, masked (T8); docs/masking.md states each kind's rule.

A few cheap patterns, the gates, tell which texts may hold an item at all. Only those are searched, a pattern at a time, the
most specific kind first: Polars cuts a text where the pattern matches, so that each candidate stands in a row of its own
between what is before and after it, and the checks are columns, too. What is found becomes a mark no later pattern matches.
The search ends with a sweep that finds nothing, so masking a masked text changes nothing.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import polars as pl

from dagster_project.columns.masking_checks import CHECKS
from dagster_project.columns.masking_kinds import KINDS, Pattern, placeholder
from dagster_project.columns.masking_patterns import ANY_GATE, GATES, ROUNDS

__all__ = ["KINDS", "masked", "may_hold", "without_items"]

_SEEN_BEFORE, _SEEN_AFTER = 96, 48  # so many characters on each side the checks see
_ALLOWED = "allowed"
_ESCAPE = r"(\\(?:[nrt]|u[0-9A-Fa-f]{4}))([\pL\pN_+(\[])"  # as JSON and source code have it
_NOBODYS = "\ufdd0"  # a character that means nothing
_MASKED_ALREADY = rf"<(?:{'|'.join(map(placeholder, KINDS))})_[0-9]{{1,9}}>"
_ITEMS = {"number": pl.Int64, "kind": pl.String, "item": pl.String}


class _Found(NamedTuple):
    """Texts with a mark where each item stood, and the items by the number in their mark."""

    texts: pl.Series
    items: pl.DataFrame
    mark: str


def may_hold(texts: pl.Series) -> pl.Series:
    """Whether a text has to be searched: never false where there is an item, and false for most other texts."""
    found = pl.Series([False]).new_from_index(0, len(texts))
    for rows in _through_gates(_opened(texts, _NOBODYS)).values():
        found[rows] = True
    return found


def without_items(texts: pl.Series, allow: Iterable[str] = ()) -> pl.Series:
    """Texts as keys see them: each item is its kind without number (`<EMAIL>`), for the full list of kinds."""
    rows = may_hold(texts).arg_true()
    found = _search(texts.gather(rows), allow)
    if found.items.is_empty():
        return texts
    pieces = _pieces(found).with_columns(_word(pl.col("kind")).alias("word"))
    return texts.clone().scatter(rows.gather(pieces["row"].unique(maintain_order=True)), _joined(pieces))


def masked(
    records: pl.DataFrame, fields: Sequence[str], kinds: Iterable[str] = KINDS, allow: Iterable[str] = ()
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Records with the items of these kinds in their text fields masked, and how many places of each kind were.

    Items are numbered within a record in the order of the fields; the same item has the same number wherever it stands. All
    kinds are looked for whatever `kinds` says: the end of a connection string is no e-mail address where those stay. Numbers go
    on behind those of placeholders a record has already.
    """
    kinds = list(kinds)
    counts = {kind: 0 for kind in KINDS if kind in kinds}
    suspects = _suspects(records, fields)
    found = _search(suspects["text"], allow)
    if found.items.is_empty():
        return records, counts
    pieces = _pieces(found).join(
        suspects.select("record", "field").with_row_index("row", offset=0), on="row", how="left", maintain_order="left"
    )
    pieces = _numbered(pieces, records.select(fields))
    pieces = pieces.with_columns(
        pl.when(pl.col("kind").is_in(kinds))
        .then(pl.format("<{}_{}>", pl.col("kind").str.to_uppercase(), pl.col("index")))
        .otherwise("item")
        .alias("word")
    )
    counts |= dict(pieces.filter(pl.col("kind").is_in(kinds)).group_by("kind").len().iter_rows())
    texts = pieces.select("row", "record", "field").unique("row", maintain_order=True)
    texts = texts.with_columns(_joined(pieces).alias("text"))
    changed = [
        records[fields[int(str(field))]].clone().scatter(part["record"], part["text"])
        for (field,), part in texts.partition_by("field", as_dict=True, maintain_order=True).items()
    ]
    return records.with_columns(changed), {kind: counts[kind] for kind in counts}


def _suspects(records: pl.DataFrame, fields: Sequence[str]) -> pl.DataFrame:
    """The texts that have to be searched, field by field: all fields are asked at once, since asking costs as much whatever the rows."""
    texts = pl.concat([records[field].alias("text") for field in fields], rechunk=False)
    rows = may_hold(texts).arg_true()
    return pl.DataFrame(
        {
            "record": (rows % records.height).cast(pl.UInt32),
            "field": (rows // records.height).cast(pl.Int32),
            "text": texts.gather(rows),
        }
    )


def _search(texts: pl.Series, allow: Iterable[str]) -> _Found:
    """All items in texts that came through the gates; sweep after sweep, until one finds nothing."""
    cut, mark, gap = _signs_not_in(texts, 3)
    texts = _opened(texts, gap)
    allowed = sorted({text.lower() for text in allow})
    items = [pl.DataFrame(schema=_ITEMS)]
    changed = pl.int_range(len(texts), eager=True)
    while len(changed):
        swept = texts
        there = _through_gates(texts.gather(changed))
        rows_of = {gate: changed.gather(rows) for gate, rows in there.items()}
        for pattern in ROUNDS:
            rows = _through([pattern.shape], texts, rows_of[pattern.gate])
            if len(rows):
                pieces = _candidates(texts.gather(rows), pattern, cut)
                pieces = _judged(pieces, pattern, allowed, sum(map(len, items)))
                items.append(pieces.filter(pl.col("number").is_not_null()).select(*_ITEMS))
                texts = texts.clone().scatter(rows, _with_marks(pieces, mark))
        changed = changed.filter(texts.gather(changed) != swept.gather(changed))
    found = pl.concat(items).with_columns(_closed(pl.col("item"), gap))
    return _Found(texts.to_frame("text").select(_closed(pl.col("text"), gap)).to_series(), found, mark)


def _opened(texts: pl.Series, gap: str) -> pl.Series:
    """With a sign behind each escape a text within a text is written with: in `\\nAKIA...` no letter stands before the item."""
    rows = texts.str.contains(_ESCAPE).fill_null(False).arg_true()
    if not len(rows):
        return texts
    return texts.clone().scatter(rows, texts.gather(rows).str.replace_all(_ESCAPE, f"${{1}}{gap}${{2}}"))


def _closed(text: pl.Expr, gap: str) -> pl.Expr:
    return text.str.replace_all(gap, "", literal=True)


def _through_gates(texts: pl.Series) -> dict[tuple[str, ...], pl.Series]:
    """The rows each gate lets through. To ask all gates at once costs a sweep over a text, and ends it for most of them."""
    some = texts.str.contains(ANY_GATE).fill_null(False).arg_true()
    at_first = texts.gather(some).rename("text").to_frame()
    at_first = at_first.select(
        pl.col("text").str.contains(whole[0]).alias(str(at)) for at, whole in enumerate(GATES.values())
    )
    return {
        gate: _through(whole[1:], texts, some.filter(at_first[str(at)]))
        for at, (gate, whole) in enumerate(GATES.items())
    }


def _through(patterns: Iterable[str], texts: pl.Series, rows: pl.Series) -> pl.Series:
    """Those of the rows whose text has a match of each pattern."""
    for pattern in patterns:
        if len(rows):
            rows = rows.filter(texts.gather(rows).str.contains(pattern))
    return rows


def _candidates(texts: pl.Series, pattern: Pattern, cut: str) -> pl.DataFrame:
    """Texts in pieces, by row: every second one is a match, between what is before and after it."""
    cut_up = texts.str.replace_all(pattern.shape, f"${{lead}}{cut}${{item}}{cut}").str.split(cut)
    pieces = pl.DataFrame({"row": pl.int_range(len(texts), eager=True), "item": cut_up})
    pieces = pieces.with_columns(pl.int_ranges(0, pl.col("item").list.len()).alias("place")).explode("item", "place")
    start, end, place = pl.col("item").str.head(_SEEN_AFTER), pl.col("item").str.tail(_SEEN_BEFORE), pl.col("place")
    is_last = pl.col("row").shift(-2) != pl.col("row")
    return pieces.with_columns(
        pl.when(place > 1).then(end.shift(2) + end.shift(1)).otherwise(end.shift(1)).alias("before"),
        pl.when(is_last)
        .then(start.shift(-1))
        .otherwise(start.shift(-1) + start.shift(-2).fill_null(""))
        .alias("after"),
        (place % 2 == 1).alias("is_match"),
    )


def _judged(pieces: pl.DataFrame, pattern: Pattern, allowed: Sequence[str], taken: int) -> pl.DataFrame:
    """With kind and number where a piece is an item. One that is allowed is taken out of sight, and stays as it is."""
    matches = pieces.with_row_index("at").filter("is_match")
    if pattern.not_after:
        matches = matches.filter(~pl.col("before").str.contains(pattern.not_after))
    if pattern.not_before:
        matches = matches.filter(~pl.col("after").str.contains(pattern.not_before))
    if pattern.check and len(matches):
        matches = matches.filter(CHECKS[pattern.check](matches))
    items = matches.select(
        "at",
        pl.int_range(taken, taken + pl.len(), dtype=pl.Int64).alias("number"),
        pl.when(_is_allowed(pattern.kind, allowed))
        .then(pl.lit(_ALLOWED))
        .otherwise(pl.lit(pattern.kind))
        .alias("kind"),
    )
    return pieces.with_row_index("at").join(items, on="at", how="left", maintain_order="left")


def _is_allowed(kind: str, allowed: Sequence[str]) -> pl.Expr:
    item = pl.col("item").str.to_lowercase()
    is_allowed = item.is_in(allowed)
    if kind == "email":
        for domain in (text for text in allowed if text.startswith("@")):
            is_allowed |= item.str.ends_with(domain)
    return is_allowed


def _with_marks(pieces: pl.DataFrame, mark: str) -> pl.Series:
    """A mark looks to every pattern as the placeholder will: letters in angle brackets."""
    marked = pl.format(f"<{{}}_{mark}{{}}{mark}>", pl.col("kind").str.to_uppercase(), "number")
    return _joined(pieces.with_columns(pl.coalesce(marked, "item").alias("word")))


def _joined(pieces: pl.DataFrame) -> pl.Series:
    return pieces.group_by("row", maintain_order=True).agg(pl.col("word").str.join(""))["word"]


def _pieces(found: _Found) -> pl.DataFrame:
    """Texts that have items in pieces again, with the items in their places; pieces without one have no kind."""
    rows = found.texts.str.contains(found.mark, literal=True).arg_true()
    kinds = "|".join(placeholder(kind) for kind in (*KINDS, _ALLOWED))
    bare = found.texts.gather(rows).str.replace_all(
        f"<(?:{kinds})_{found.mark}([0-9]+){found.mark}>", f"{found.mark}${{1}}{found.mark}"
    )
    pieces = pl.DataFrame({"row": rows, "item": bare.str.split(found.mark)}, schema_overrides={"row": pl.UInt32})
    pieces = pieces.with_columns(pl.int_ranges(0, pl.col("item").list.len()).alias("place")).explode("item", "place")
    number = pl.when(pl.col("place") % 2 == 1).then("item").cast(pl.Int64)
    pieces = pieces.with_columns(number.alias("number")).join(
        found.items, on="number", how="left", maintain_order="left", suffix="_found"
    )
    return pieces.with_columns(pl.coalesce("item_found", "item").alias("item")).drop("item_found")


def _word(kind: pl.Expr) -> pl.Expr:
    """What stands for an item in a key; texts between items and what is allowed stay."""
    return pl.when(kind != _ALLOWED).then(pl.format("<{}>", kind.str.to_uppercase())).otherwise("item")


def _numbered(pieces: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    """With `index`, the number of each item among those of its kind in its record."""
    key = (
        pl.when(pl.col("kind") == "email")
        .then(pl.col("item").str.to_lowercase())
        .when(pl.col("kind").is_in(["card_number", "iban", "phone"]))
        .then(pl.col("item").str.replace_all(r"[^0-9A-Za-z+]", "").str.to_uppercase())
        .otherwise("item")
    )
    pieces = pieces.with_columns(key.alias("key")).sort("record", "field", "place")
    distinct = pieces.filter(pl.col("kind").is_not_null()).unique(
        ["record", "kind", "key"], keep="first", maintain_order=True
    )
    highest = _highest(
        texts[distinct["record"].unique(maintain_order=True)], distinct["record"].unique(maintain_order=True)
    )
    distinct = distinct.join(highest, on=["record", "kind"], how="left", maintain_order="left").select(
        "record",
        "kind",
        "key",
        (pl.int_range(1, pl.len() + 1).over("record", "kind") + pl.col("highest").fill_null(0)).alias("index"),
    )
    return pieces.join(distinct, on=["record", "kind", "key"], how="left", maintain_order="left").sort("row", "place")


def _highest(texts: pl.DataFrame, records: pl.Series) -> pl.DataFrame:
    """The highest number of each kind among the placeholders a record came with."""
    there = pl.concat(
        [pl.DataFrame({"record": records, "found": column.str.extract_all(_MASKED_ALREADY)}) for column in texts]
    )
    parts = there.explode("found").drop_nulls().with_columns(pl.col("found").str.strip_chars("<>"))
    return (
        parts.select(
            "record",
            pl.col("found").str.replace("_[0-9]+$", "").str.to_lowercase().alias("kind"),
            pl.col("found").str.extract("([0-9]+)$").cast(pl.Int64).alias("highest"),
        )
        .group_by("record", "kind")
        .agg(pl.col("highest").max())
    )


def _signs_not_in(texts: pl.Series, count: int) -> list[str]:
    """Characters none of the texts has, from those that mean nothing to anybody."""
    signs: list[str] = []
    for code in (*range(0xFDD0, 0xFDF0), *range(0xF0000, 0xFFFFE)):
        if not texts.str.contains(chr(code), literal=True).any():
            signs.append(chr(code))
        if len(signs) == count:
            break
    return signs
