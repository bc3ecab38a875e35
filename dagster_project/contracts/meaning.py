"""What can be said of a column: its type, its meaning, the values it may have. The words the glossary is written in."""

from dataclasses import dataclass

import polars as pl

from dagster_project.columns.instants import INSTANT

TEXTS = pl.List(pl.String)
HASHES = pl.List(pl.Int64)
TURNS = pl.List(pl.Struct({"role": pl.String, "content": pl.String}))


@dataclass(frozen=True)
class Meaning:
    """A column's type, what it says, and what its values must satisfy: be one of some words, or lie in a range."""

    dtype: pl.DataType | type[pl.DataType]
    description: str
    words: tuple[str | int, ...] = ()
    least: float | None = None
    most: float | None = None
    is_repetitive: bool = False  # few different values: worth a dictionary in Parquet
    is_long_text: bool = False  # worth neither a dictionary nor statistics
    is_hash: bool = False  # bits without a pattern: not worth compressing

    def among_words(self, said: str) -> str:
        """A description with the words the column may hold."""
        return f"{said}: {', '.join(map(str, self.words))}" if self.words and self.dtype == pl.String else said


def text(description: str) -> Meaning:
    return Meaning(pl.String, description)


def word(description: str) -> Meaning:
    return Meaning(pl.String, description, is_repetitive=True)


def long_text(description: str) -> Meaning:
    return Meaning(pl.String, description, is_long_text=True)


def one_of(words: tuple[str, ...], description: str) -> Meaning:
    return Meaning(pl.String, f"{description}: {', '.join(words)}", words, is_repetitive=True)


def fraction(description: str) -> Meaning:
    return Meaning(pl.Float64, description, least=0, most=1)


def count(description: str) -> Meaning:
    return Meaning(pl.Int64, description, least=0)


def signed_fraction(description: str) -> Meaning:
    return Meaning(pl.Float64, description, least=-1, most=1)


def interval(rate: str, of: str, least: float = 0, most: float = 1) -> dict[str, Meaning]:
    """The ends of a rate's interval. Whoever reads the rate of a day must see how much it can be trusted."""
    return {
        f"{rate}_{end}": Meaning(
            pl.Float64,
            f"{said} end of the 95 % interval of {rate}, by {of}; null where {rate} is",
            least=least,
            most=most,
        )
        for end, said in (("low", "lower"), ("high", "upper"))
    }


def flag(description: str) -> Meaning:
    return Meaning(pl.Boolean, description)


def epoch(description: str) -> Meaning:
    return Meaning(pl.Float64, f"{description} (seconds since 1970, UTC)")


def moment(description: str) -> Meaning:
    return Meaning(INSTANT, f"{description} (UTC)")


def hash_of(description: str) -> Meaning:
    """A key of 64 bits, signed: not every engine has unsigned integers."""
    return Meaning(pl.Int64, description, is_hash=True)


def hashes_of(description: str) -> Meaning:
    """Several of them."""
    return Meaning(HASHES, description, is_hash=True)


def signature_of(description: str) -> Meaning:
    """160 bytes that are the more alike the more two texts are."""
    return Meaning(pl.Binary, description, is_hash=True)
