"""Words of vocabularies as they are compared and counted (G8)."""

from collections.abc import Sequence

import polars as pl

from dagster_project.columns.spaces import SPACES

Texts = str | pl.Series | pl.Expr


def word(column: Texts) -> pl.Expr:
    """A vocabulary's value as it is compared: trimmed, in lower case (G8)."""
    return _texts(column).str.strip_chars(SPACES).str.to_lowercase()


def filled(column: Texts) -> pl.Expr:
    """The text as it is, null where it is blank."""
    text = _texts(column)
    return pl.when(text.str.strip_chars(SPACES) != "").then(text)


def _texts(column: Texts) -> pl.Expr:
    return pl.col(column) if isinstance(column, str) else pl.lit(column) if isinstance(column, pl.Series) else column


def known_or(column: str, known: tuple[str, ...], otherwise: str | None) -> pl.Expr:
    """An open vocabulary: a value we do not know becomes `otherwise`; the raw table keeps what was written (G8)."""
    return pl.when(word(column).is_in(known)).then(word(column)).otherwise(pl.lit(otherwise, dtype=pl.String))


def counts(values: pl.Series, words: Sequence[str]) -> dict[str, int]:
    """How often each word occurs, nulls aside; those of the vocabulary also when they do not."""
    found = dict(values.drop_nulls().value_counts().sort(values.name).iter_rows())
    return {word: found.get(word, 0) for word in words} | found
