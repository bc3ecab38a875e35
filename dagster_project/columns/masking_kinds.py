"""The kinds of items that are masked (T8), most specific first, and what a record of the pattern tables says."""

from typing import NamedTuple

# The order in which they are looked for: an e-mail address in a connection string is part of the connection string.
KINDS: tuple[str, ...] = (
    "private_key",
    "connection_string",
    "access_token",
    "card_number",
    "iban",
    "email",
    "phone",
    "ip_address",
)
# Scripts that put no space between words: a letter of theirs beside an item is another word.
SPACELESS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
LETTER = rf"[\p{{L}}--[{SPACELESS}]]"  # one that makes what it touches part of a word
B = r"(?-u:\b)"  # a word boundary that only knows ASCII: the Unicode one is slow on texts with an accent in them


class Pattern(NamedTuple):
    """One way an item is written, in the syntax of Rust's regular expressions: no look-around, linear time.

    `gate` are cheap patterns all found in every text that has the item, the cheapest first. `shape` is the item, or has the
    groups `lead` and `item`.
    A match is an item unless the text before it matches `not_after` or the one after it `not_before`, and if `check`, a
    function of `masking_checks`, says so. `~` stands in the middle of the secrets in examples and is taken out before they
    are used, so that nothing here looks like a real one to those who search repositories for secrets.
    """

    kind: str
    catches: str
    gate: tuple[str, ...]
    shape: str
    examples: tuple[str, ...]
    counter_examples: tuple[str, ...]
    not_after: str = ""
    not_before: str = ""
    check: str = ""


def placeholder(kind: str) -> str:
    """The word that stands for an item without its number: `EMAIL`."""
    return kind.upper()
