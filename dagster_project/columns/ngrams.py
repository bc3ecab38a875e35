"""Runs of 13 words in the form T6 compares texts in, as hashes: what two texts share where one was copied from the other.

A sign of a script without spaces is a word of its own, or 13 words of Chinese would be a page. Hashes are Polars' of the
words, rolled over 13 of them: good within a process, and stored nowhere. All texts lie end to end, so a run is a few
multiplications over one array, however many texts there are.
"""

import numpy as np
import polars as pl

from dagster_project.columns.alike import alike_form

WORDS = 13
_SIGN = r"([\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Khmer}\p{Lao}\p{Myanmar}])"
_BASE = 0x9E3779B97F4A7C15  # odd, so that no position of a word is lost


def word_forms(texts: pl.Series) -> pl.Series:
    """T6's form with one space between words, and around every sign of a script without spaces."""
    forms = alike_form(texts)
    places = (forms.str.len_bytes() != forms.str.len_chars()).fill_null(False).arg_true()
    if not len(places):
        return forms
    some = forms.gather(places)
    signs = some.str.contains(_SIGN).arg_true()
    spaced = some.gather(signs).str.replace_all(_SIGN, " ${1} ").str.replace_all(" +", " ").str.strip_chars(" ")
    return forms.scatter(places.gather(signs), spaced)


def word_runs(forms: pl.Series) -> tuple[np.ndarray, np.ndarray]:
    """Of all runs of 13 words their hashes, and the number of the text each is in, in order. Takes `word_forms`."""
    told = pl.DataFrame({"words": forms.str.split(" ")}).with_row_index("row")
    each = told.filter(pl.col("words").list.len() >= WORDS).explode("words")
    rows = each["row"].to_numpy()
    if len(rows) < WORDS:
        return np.empty(0, np.uint64), np.empty(0, np.uint32)
    ones = each["words"].hash(seed=WORDS).to_numpy()
    twos = _rolled(ones, 1, ones)
    fours = _rolled(twos, 2, twos)
    eights = _rolled(fours, 4, fours)
    thirteens = _rolled(_rolled(eights, 8, fours), 12, ones)
    is_whole = rows[: len(thirteens)] == rows[WORDS - 1 :]
    return thirteens[is_whole], rows[: len(thirteens)][is_whole]


def _rolled(firsts: np.ndarray, length: int, seconds: np.ndarray) -> np.ndarray:
    """Hashes of runs of `length` words with those of the runs that follow them: the length of both together."""
    count = len(seconds) - length
    # the second run may be shorter than the first: its own length is how far the first one moves up
    power = np.uint64(pow(_BASE, length, 2**64))
    with np.errstate(over="ignore"):
        return firsts[:count] + seconds[length : length + count] * power
