"""When two texts are the same (G10), as columns: their normal forms and hashes of them.

Text functions over all text dominate a run, so the costly steps touch only the rows that need them: plain ASCII needs
no NFC, a text without odd spaces needs no folding of them.
"""

from collections.abc import Callable

import polars as pl
import polars_hash

# Every character for which Python's str.isspace() is true: what "trimmed" and "runs of spaces" mean everywhere.
SPACES = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680"
    + "".join(map(chr, range(0x2000, 0x200B)))
    + "\u2028\u2029\u202f\u205f\u3000"
)
_ANY_SPACE = "".join(f"\\x{{{ord(character):x}}}" for character in SPACES)
# What has to be folded: a space that is not the plain one, or one more after it. Single plain spaces are left alone.
_OTHER_SPACE = _ANY_SPACE.replace(r"\x{20}", "")
_SPACES_TO_FOLD = f"(?:[{_OTHER_SPACE}]| [{_ANY_SPACE}])[{_ANY_SPACE}]*"
_ASCII_SPACES_TO_FOLD = r"(?:[\t\n\x0b\x0c\r\x1c-\x1f]| [\t\n\x0b\x0c\r\x1c-\x1f ])[\t\n\x0b\x0c\r\x1c-\x1f ]*"
_ODD_ASCII = ["  ", "\t", "\n", "\x0b", "\x0c", "\r", "\x1c", "\x1d", "\x1e", "\x1f"]

# Code in Markdown. A linear-time engine cannot count the signs of a fence and compare, so the lengths are listed.
NO_CONTEXT = pl.Series([""]).hash().reinterpret(signed=True)[0]  # null and empty are the same context
_EDGE = "\x00"  # around a block of code; the contract lets no NUL into a text (G5)
_INDENT = r"(?: {4}| {0,3}\t)"
_CODE_LINE = rf"\n{_INDENT}[^\n]*[^ \t\n][^\n]*"
_INDENTED = rf"\n[ \t]*{_CODE_LINE}(?:(?:\n[ \t]*)*{_CODE_LINE})*\n"
_FENCED = [
    rf"^[ \t]*{mark}{{{length}}}[^{mark}\n]*\n(?:[^\n]*\n)*?[ \t]*{mark}{{{least},}}[ \t]*$"
    for mark in "`~"
    for length, least in (("3", 3), ("4", 4), ("5", 5), ("6,", 6))
]
_OPEN_FENCED = [rf"^[ \t]*{mark}{{3,}}[^{mark}\n]*\n(?s:.*)\z" for mark in "`~"]
_CODE = rf"(?m){'|'.join([*_FENCED, *_OPEN_FENCED, _INDENTED])}"


def has_text(column: str) -> pl.Expr:
    """Not null, and not blank after trimming. Looks for a first character instead of copying the text."""
    return pl.col(column).str.contains(f"[^{_ANY_SPACE}]").fill_null(False)


def normal_prompts(texts: pl.Series) -> pl.Series:
    """NFC, lower case, runs of spaces to one space, trimmed."""
    is_foreign = _is_non_ascii(texts)
    is_odd = texts.str.contains_any(_ODD_ASCII) | texts.str.starts_with(" ") | texts.str.ends_with(" ")
    lower = texts.str.to_lowercase()
    lower = _where_needed(lower, is_odd & ~is_foreign, lambda some: _folded(some, _ASCII_SPACES_TO_FOLD))
    foreign = texts.filter(is_foreign).str.normalize("NFC").str.to_lowercase()
    return _where_needed(lower, is_foreign, lambda _: _folded(foreign, _SPACES_TO_FOLD))


def _folded(texts: pl.Series, pattern: str) -> pl.Series:
    return texts.str.replace_all(pattern, " ").str.strip_chars(" ")


def normal_answers(texts: pl.Series) -> pl.Series:
    """NFC, CRLF to LF, trimmed. Case and inner space count: a fix in code may be nothing else."""
    is_spaced = texts.str.head(1).is_in(list(SPACES)) | texts.str.tail(1).is_in(list(SPACES))
    needed = is_spaced | texts.str.contains("\r\n", literal=True) | _is_non_ascii(texts)
    return _where_needed(texts, needed, _normal_answer)


def _normal_answer(texts: pl.Series) -> pl.Series:
    return texts.str.normalize("NFC").str.replace_all("\r\n", "\n", literal=True).str.strip_chars(SPACES)


def loose_answers(texts: pl.Series) -> pl.Series:
    """A form in which two answers are equal exactly if they are equal but for white space outside code (T1, tie).

    NFC, CRLF to LF, and no white space at all outside code. Code stays to the letter: fences (``` or ~~~, as deep as a list
    may indent them) with all between them, up to a fence of the same sign and at least that length alone on its line, or
    the end of the text; and lines that begin with 4 spaces or a tab, from a blank line or the begin of the text on up to
    the next line that is neither so nor blank. Space at the end of the text is nothing, as in G10.
    """
    texts = _where_needed(texts, _is_non_ascii(texts), lambda some: some.str.normalize("NFC"))
    has_code = texts.str.contains_any(["```", "~~~"]) | texts.str.contains(rf"(?m)^{_INDENT}")
    return _where_needed(_where_needed(texts, ~has_code, _without_space), has_code, _loose_around_code)


def _loose_around_code(texts: pl.Series) -> pl.Series:
    """Texts are cut before and after every block of code; every second piece is code. The cuts stay: "~" before "~~~" is not "~~~~"."""
    texts = texts.str.replace_all("\r\n", "\n", literal=True).str.strip_chars_end(SPACES)
    marked = ("\n\n" + texts + "\n").str.replace_all(_CODE, f"{_EDGE}${{0}}{_EDGE}")
    pieces = marked.str.split(_EDGE).rename("piece").to_frame().with_row_index("row").explode("piece")
    is_code = pieces.select(pl.int_range(pl.len()).over("row") % 2 == 1).to_series()
    loose = _where_needed(pieces["piece"], ~is_code, _without_space)
    loose = _where_needed(loose, is_code, _code_alone)
    return (
        pieces.select("row", loose).group_by("row", maintain_order=True).agg(pl.col("piece").str.join(_EDGE))["piece"]
    )


def _code_alone(blocks: pl.Series) -> pl.Series:
    """Without the space before and after fences, and without the blank line before indented code."""
    return blocks.str.strip_chars(" \t").str.replace(r"^\n[ \t]*\n", "\n")


def _without_space(texts: pl.Series) -> pl.Series:
    """Plain spaces go by themselves: most texts have few others, and a literal is found many times faster."""
    texts = texts.str.replace_all(" ", "", literal=True)
    is_spaced = texts.str.contains(f"[{_ANY_SPACE}]")
    return _where_needed(texts, is_spaced, lambda some: some.str.replace_all(f"[{_ANY_SPACE}]", ""))


def _is_non_ascii(texts: pl.Series) -> pl.Series:
    return texts.str.len_bytes() != texts.str.len_chars()


def _where_needed(texts: pl.Series, needed: pl.Series, mend: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """`texts` with those at the needed positions mended; a null stays null."""
    positions = needed.fill_null(False).arg_true()
    return texts.scatter(positions, mend(texts.gather(positions))) if len(positions) else texts


def prompt_keys(texts: pl.Series, split_key: str) -> pl.DataFrame:
    """`prompt_key`, the first 16 hex digits of the SHA-256 of the normalised prompt, and `split` (T3).

    A prompt's split is a second hash's first 8 hex digits over 2^32: below 0.90 train, below 0.95 validation, else test.
    """
    prompts = normal_prompts(texts).rename("prompt").to_frame()
    keys = prompts.select(polars_hash.col("prompt").chash.sha2_256().str.head(16).alias("prompt_key"))
    salted = keys.select(pl.concat_str(pl.lit(f"{split_key}:"), pl.col("prompt_key")).alias("salted"))
    digits = salted.select(polars_hash.col("salted").chash.sha2_256().str.head(8).alias("digits"))
    point = pl.col("digits").str.to_integer(base=16, dtype=pl.Int64) / 2**32
    split = pl.when(point < 0.90).then(pl.lit("train")).when(point < 0.95).then(pl.lit("validation"))
    return keys.hstack(digits.select(split.otherwise(pl.lit("test")).alias("split")))


def hash_or_null(texts: pl.Series) -> pl.Series:
    hashes = texts.hash().reinterpret(signed=True)
    return pl.select(pl.when(texts.is_not_null()).then(hashes)).to_series().rename(texts.name)


def thread_keys(rows: pl.DataFrame) -> pl.Series:
    """What two texts must share to answer the same question: `prompt_key`, and `conversation_context` as G10 compares it."""
    context = hash_or_null(normal_prompts(rows["conversation_context"])).fill_null(NO_CONTEXT)
    return (
        rows.select("prompt_key", context.alias("context_hash"))
        .select(pl.struct("prompt_key", "context_hash").hash().reinterpret(signed=True).alias("thread_key"))
        .to_series()
    )
