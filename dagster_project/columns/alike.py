"""The form in which texts are compared for being alike (T6), their longest sentences, and how similar two texts are.

Everything works on many texts laid end to end, a NUL between them: a few sweeps over one buffer instead of a call a text.
"""

import unicodedata
from collections.abc import Callable
from functools import cache

import numpy as np
import polars as pl

from dagster_project.columns.shingles import ShingleSets, parts
from dagster_project.columns.spaces import SPACES

NUL = "\x00"  # between texts; within one it is dropped (the contract lets none in, G5)
# Unicode's Default_Ignorable_Code_Point: zero-width space and joiners, soft hyphen, BOM, direction marks, variation
# selectors, tags, Hangul fillers.
ZERO_WIDTH = (
    (0xAD, 0xAD),
    (0x34F, 0x34F),
    (0x61C, 0x61C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)
# Punctuation is Unicode's P*, and these, which people type for quotes and apostrophes though they are no P: ` ´ ʼ.
# Other signs (+ = < > $ ^ | ~, emoji) are content: "C++" is not "C".
QUOTES = "`\u00b4\u02bc"
# Texts of these alone are in NFKC, as one types Latin, Greek, Cyrillic, kana, Han; anything else is asked.
COMPATIBLE = (
    r"\x{0}-\x{9f}\x{a1}-\x{a7}\x{a9}\x{ab}\x{ac}\x{ae}\x{b0}\x{b1}\x{b6}\x{b7}\x{bb}\x{bf}-\x{131}\x{134}-\x{13e}"
    r"\x{141}-\x{148}\x{14a}-\x{17e}\x{391}-\x{3a1}\x{3a3}-\x{3ce}\x{400}-\x{481}\x{2010}\x{2012}-\x{2016}"
    r"\x{2018}-\x{2023}\x{2030}-\x{2032}\x{2039}-\x{203b}\x{2190}-\x{21ff}\x{2500}-\x{27bf}\x{3001}-\x{3029}"
    r"\x{3041}-\x{3096}\x{30a1}-\x{30fc}\x{4e00}-\x{9fff}\x{1f300}-\x{1faff}"
)
_BEFORE_NFKC = "".join([f"[{QUOTES}", *(f"\\x{{{first:x}}}-\\x{{{last:x}}}" for first, last in ZERO_WIDTH), "]"])
_KEPT, _DROPPED, _SPACE = 0, 1, 2
_SENTENCE_ENDS = "[.!?。！？\n\r\x85\u2028\u2029]+"
SENTENCE_WORDS = 8  # a shorter sentence says too little to tie two prompts together


def alike_form(texts: pl.Series) -> pl.Series:
    """NFKC, casefolded, without zero-width characters and punctuation, runs of white space one space, trimmed (T6)."""
    texts = texts.cast(pl.String)
    given = texts.drop_nulls()
    is_ascii = given.str.len_bytes() == given.str.len_chars()
    found = pl.Series(texts.name, [None], dtype=pl.String).new_from_index(0, len(texts))
    places = texts.is_not_null().arg_true()
    for chosen, formed in ((is_ascii, _ascii_forms), (~is_ascii, _foreign_forms)):
        if chosen.any():
            found = found.scatter(places.filter(chosen), _in_parts(given.filter(chosen), formed))
    return found


def _in_parts(texts: pl.Series, formed: Callable[[pl.Series], str]) -> pl.Series:
    """`formed` makes one text of many; here they are taken apart again."""
    forms = (pl.Series([formed(part)]).str.split(NUL).explode() for (part,) in parts(texts))
    return pl.concat(forms, rechunk=True)


def _ascii_forms(texts: pl.Series) -> str:
    """A translation table does it all but the folding of spaces: those after another one, and those at the edges of a text, go."""
    codes = np.frombuffer(_joined(texts).encode("ascii").translate(*_ascii_tables()), np.uint8)
    is_space = codes == ord(" ")
    goes = np.empty(len(codes), bool)
    goes[:1] = True
    np.logical_or(is_space[:-1], codes[:-1] == 0, out=goes[1:])
    codes = codes[~(goes & is_space)]
    ends = np.append(np.flatnonzero(codes == 0), len(codes)) - 1
    ends = ends[ends >= 0]
    return np.delete(codes, ends[codes[ends] == ord(" ")]).tobytes().decode("ascii")


@cache
def _ascii_tables() -> tuple[bytes, bytes]:
    kinds = _kinds()[:128]
    table = bytes(
        ord(" ") if kind == _SPACE else ord(chr(number).lower()) if number < 128 else number
        for number, kind in enumerate([*kinds.tolist(), *[_KEPT] * 128])
    )
    return table, bytes(np.flatnonzero(kinds == _DROPPED).tolist())


def _foreign_forms(texts: pl.Series) -> str:
    asked = texts.str.contains(f"[^{COMPATIBLE}]").arg_true()
    if len(asked):
        # "´" would come apart into a space and an accent; and a letter finds its accent over a zero-width character
        normal = texts.gather(asked).str.replace_all(_BEFORE_NFKC, "").str.normalize("NFKC")
        texts = texts.scatter(asked, normal)
    codes = np.frombuffer(_joined(texts).casefold().encode("utf-32-le"), np.uint32)
    kinds = _kinds()[codes]
    is_kept = kinds != _DROPPED
    codes, is_space = codes[is_kept], kinds[is_kept] == _SPACE
    is_edge = codes == 0
    after = np.empty(len(codes), bool)  # after a space or the begin of a text
    after[:1] = True
    after[1:] = (is_space | is_edge)[:-1]
    is_kept = ~(is_space & after)
    codes, is_space, is_edge = codes[is_kept], is_space[is_kept], is_edge[is_kept]
    ends = np.append(is_edge[1:], np.True_)[: len(codes)]
    codes = np.where(is_space, np.uint32(ord(" ")), codes)[~(is_space & ends)]
    return codes.tobytes().decode("utf-32-le")


def _joined(texts: pl.Series) -> str:
    has_nul = texts.str.contains(NUL, literal=True)
    if has_nul.any():
        texts = texts.str.replace_all(NUL, "", literal=True)
    return texts.str.join(NUL)[0]


@cache
def _kinds() -> np.ndarray:
    """Of every code point whether it is kept, dropped or a space."""
    kinds = np.zeros(0x110000, np.uint8)
    punctuation = [code for code in range(0x20000) if unicodedata.category(chr(code))[0] == "P"]
    kinds[[*punctuation, *map(ord, QUOTES)]] = _DROPPED
    for first, last in ZERO_WIDTH:
        kinds[first : last + 1] = _DROPPED
    kinds[[*map(ord, SPACES)]] = _SPACE
    return kinds


def longest_sentences(texts: pl.Series) -> pl.Series:
    """The longest sentence of each text in its alike form, the first of equally long ones; null if it has under 8 words.

    A sentence ends at . ! ? and their full-width signs and at a line break, whatever follows: it need not be grammar, only
    the same for the same words.
    """
    pieces = pl.DataFrame({"sentence": texts.cast(pl.String).str.replace_all(_SENTENCE_ENDS, "\n").str.split("\n")})
    pieces = pieces.with_row_index("text").explode("sentence")
    pieces = pieces.with_columns(alike_form(pieces["sentence"]))
    longest = pieces.group_by("text", maintain_order=True).agg(
        pl.col("sentence").get(pl.col("sentence").str.len_chars().arg_max())
    )["sentence"]
    return (
        pl.select(pl.when(longest.str.count_matches(" ", literal=True) >= SENTENCE_WORDS - 1).then(longest))
        .to_series()
        .rename(texts.name)
    )


def jaccard(left: pl.Series, right: pl.Series) -> pl.Series:
    """The Jaccard similarity of the 5-character shingles of two alike forms, exactly; null where one is null.

    n/d is the nearest double to the fraction, so `>= 0.8` and `>= 0.7` say what they would of the fraction itself.
    """
    known = left.is_not_null() & right.is_not_null()
    both = pl.concat([left.filter(known), right.filter(known)]).to_frame("form").with_row_index("place")
    distinct = both.unique("form", keep="first", maintain_order=True)["form"]
    numbers = both.join(distinct.to_frame().with_row_index("number"), on="form", maintain_order="left")[
        "number"
    ].to_numpy()
    sets, half = ShingleSets.of(distinct), len(numbers) // 2
    found = pl.Series(left.name, [None], dtype=pl.Float64).new_from_index(0, len(left))
    return found.scatter(known.arg_true(), sets.jaccard(numbers[:half], numbers[half:])) if half else found
