"""When two texts are the same (G10), as columns: their normal forms and hashes of them.

Text functions over all text dominate a run, so the costly steps touch only the rows that need them: plain ASCII needs
no NFC, a text without odd spaces needs no folding of them.
"""

from collections.abc import Callable

import duckdb
import polars as pl

# Every character for which Python's str.isspace() is true: what "trimmed" and "runs of spaces" mean everywhere.
SPACES = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680"
    + "".join(map(chr, range(0x2000, 0x200B)))
    + "\u2028\u2029\u202f\u205f\u3000"
)
_SPACE_RUN = "[" + "".join(f"\\x{{{ord(character):x}}}" for character in SPACES) + "]+"
_ODD_ASCII_SPACING = r"[\t\n\x0b\x0c\r\x1c-\x1f]|  |^ | $"


def normal_prompts(texts: pl.Series) -> pl.Series:
    """NFC, lower case, runs of spaces to one space, trimmed."""
    is_plain = ~(_is_non_ascii(texts) | texts.str.contains(_ODD_ASCII_SPACING))
    return _where_needed(texts.str.to_lowercase(), ~is_plain, lambda: _normal_prompt(texts.filter(~is_plain)))


def _normal_prompt(texts: pl.Series) -> pl.Series:
    return texts.str.normalize("NFC").str.to_lowercase().str.replace_all(_SPACE_RUN, " ").str.strip_chars(" ")


def normal_answers(texts: pl.Series) -> pl.Series:
    """NFC, CRLF to LF, trimmed. Case and inner space count: a fix in code may be nothing else."""
    is_spaced = texts.str.head(1).is_in(list(SPACES)) | texts.str.tail(1).is_in(list(SPACES))
    needed = is_spaced | texts.str.contains("\r\n", literal=True) | _is_non_ascii(texts)
    return _where_needed(texts, needed, lambda: _normal_answer(texts.filter(needed)))


def _normal_answer(texts: pl.Series) -> pl.Series:
    return texts.str.normalize("NFC").str.replace_all("\r\n", "\n", literal=True).str.strip_chars(SPACES)


def _is_non_ascii(texts: pl.Series) -> pl.Series:
    return texts.str.len_bytes() != texts.str.len_chars()


def _where_needed(texts: pl.Series, needed: pl.Series, repaired: Callable[[], pl.Series]) -> pl.Series:
    """`texts` with the needed positions replaced; a null stays null."""
    positions = needed.fill_null(False).arg_true()
    return texts.scatter(positions, repaired()) if len(positions) else texts


def sha256_hex(texts: pl.Series, digits: int) -> pl.Series:
    """The first hex digits of the SHA-256 of each text. Polars has no cryptographic hash; DuckDB does."""
    frame = texts.to_frame("text")
    with duckdb.connect() as connection:
        connection.register("texts", frame.to_arrow())
        hashed = connection.sql("select substr(sha256(text), 1, $digits) as hash from texts", params={"digits": digits})
        return hashed.pl()["hash"].rename(texts.name)


def prompt_keys(texts: pl.Series) -> pl.Series:
    """First 16 hex digits of the SHA-256 of the normalised prompt."""
    return sha256_hex(normal_prompts(texts), 16)
