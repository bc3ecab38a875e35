"""When two texts are the same (G10), as columns: their normal forms and hashes of them.

Text functions over all text dominate a run, so the costly steps touch only the rows that need them: plain ASCII needs
no NFC, a text without odd spaces needs no folding of them.
"""

from collections.abc import Callable

import polars as pl
import polars_hash

from dagster_project.columns.spaces import SPACES

ANY_SPACE = "".join(f"\\x{{{ord(character):x}}}" for character in SPACES)
# What has to be folded: a space that is not the plain one, or one more after it. Single plain spaces are left alone.
_OTHER_SPACE = ANY_SPACE.replace(r"\x{20}", "")
_SPACES_TO_FOLD = f"(?:[{_OTHER_SPACE}]| [{ANY_SPACE}])[{ANY_SPACE}]*"
_ASCII_SPACES_TO_FOLD = r"(?:[\t\n\x0b\x0c\r\x1c-\x1f]| [\t\n\x0b\x0c\r\x1c-\x1f ])[\t\n\x0b\x0c\r\x1c-\x1f ]*"
_OTHER_ASCII_SPACES = ["\t", "\n", "\x0b", "\x0c", "\r", "\x1c", "\x1d", "\x1e", "\x1f"]
_ODD_ASCII = ["  ", *_OTHER_ASCII_SPACES]
_ASCII_SPACES = "".join([" ", *_OTHER_ASCII_SPACES]).encode()
# Texts of these alone are in NFC: Latin, Cyrillic and Greek letters as one types them, punctuation, arrows, kana, Han, emoji.
COMPOSED = (
    r"\x{0}-\x{2ff}\x{391}-\x{3a1}\x{3a3}-\x{3ce}\x{400}-\x{481}\x{2002}-\x{206f}\x{20a0}-\x{20bf}\x{2190}-\x{21ff}"
    r"\x{2500}-\x{27bf}\x{3001}-\x{3029}\x{3041}-\x{3096}\x{30a1}-\x{30fc}\x{4e00}-\x{9fff}\x{ff01}-\x{ff5e}\x{1f300}-\x{1faff}"
)

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
# The same where no fence is of tildes or longer than three signs, which most texts with code are: a quarter of the time.
_PLAIN_CODE = rf"(?m){'|'.join([_FENCED[0], _OPEN_FENCED[0], _INDENTED])}"
_RARE_FENCES = ["~~~", "````"]
_END = 40  # characters at the end of two texts that are looked at before the whole, of which ...
_COMPARED = 8  # ... so many without space are compared


def has_text(column: str) -> pl.Expr:
    """Not null, and not blank after trimming. Looks for a first character instead of copying the text."""
    return pl.col(column).str.contains(f"[^{ANY_SPACE}]").fill_null(False)


def normal_prompts(texts: pl.Series) -> pl.Series:
    """NFC, lower case, runs of spaces to one space, trimmed."""
    is_foreign = _is_non_ascii(texts)
    is_odd = texts.str.contains_any(_ODD_ASCII) | texts.str.starts_with(" ") | texts.str.ends_with(" ")
    lower = texts.str.to_lowercase()
    lower = _where_needed(lower, is_odd & ~is_foreign, lambda some: _folded(some, _ASCII_SPACES_TO_FOLD))
    foreign = _composed(texts.filter(is_foreign)).str.to_lowercase()
    return _where_needed(lower, is_foreign, lambda _: _folded(foreign, _SPACES_TO_FOLD))


def _folded(texts: pl.Series, pattern: str) -> pl.Series:
    return texts.str.replace_all(pattern, " ").str.strip_chars(" ")


def normal_answers(texts: pl.Series) -> pl.Series:
    """NFC, CRLF to LF, trimmed. Case and inner space count: a fix in code may be nothing else."""
    texts = _where_needed(texts, _is_non_ascii(texts), _composed)
    has_crlf = _has(texts, "\r\n")
    texts = _where_needed(texts, has_crlf, lambda some: some.str.replace_all("\r\n", "\n", literal=True))
    is_spaced = texts.str.head(1).is_in(list(SPACES)) | texts.str.tail(1).is_in(list(SPACES))
    return _where_needed(texts, is_spaced, lambda some: some.str.strip_chars(SPACES))


def _composed(texts: pl.Series) -> pl.Series:
    """NFC. Normalising costs 10 s for a gigabyte, so only what may need it is touched."""
    may_need_it = texts.str.contains(f"[^{COMPOSED}]")
    return _where_needed(texts, may_need_it, lambda some: some.str.normalize("NFC"))


def loose_answers(texts: pl.Series) -> pl.Series:
    """A form in which two answers are equal exactly if they are equal but for white space outside code (T1, tie).

    NFC, CRLF to LF, and no white space at all outside code. Code stays to the letter: fences (``` or ~~~, as deep as a list
    may indent them) with all between them, up to a fence of the same sign and at least that length alone on its line, or
    the end of the text; and lines that begin with 4 spaces or a tab, from a blank line or the begin of the text on up to
    the next line that is neither so nor blank. Space at the end of the text is nothing, as in G10.
    """
    texts = _where_needed(texts, _is_non_ascii(texts), _composed)
    has_code = texts.str.contains_any(["```", "~~~"])
    may_be_indented = (~has_code & (_has(texts, "\t") | _has(texts, "    "))).fill_null(False)
    if may_be_indented.any():
        found = texts.filter(may_be_indented).str.contains(rf"(?m)^{_INDENT}")
        has_code = has_code.scatter(may_be_indented.arg_true(), found)
    return _where_needed(_where_needed(texts, ~has_code, _without_space), has_code, _loose_around_code)


def are_loosely_equal(texts: pl.Series, others: pl.Series) -> pl.Series:
    """Whether the loose forms of two normal answers are equal. Most differ at their ends, without space: those are not made."""
    ends, other_ends = _end_without_space(texts), _end_without_space(others)
    is_short = (ends.str.len_chars() < _COMPARED) | (other_ends.str.len_chars() < _COMPARED)
    may_be = (ends == other_ends) | is_short
    chosen = may_be.fill_null(False)
    equal = may_be.is_null() & may_be  # false, and null where nothing is known
    if chosen.any():
        found = loose_answers(texts.filter(chosen)) == loose_answers(others.filter(chosen))
        equal = equal.scatter(chosen.arg_true(), found)
    return equal


def _end_without_space(texts: pl.Series) -> pl.Series:
    return texts.str.tail(_END).str.replace_all(f"[{ANY_SPACE}]", "").str.tail(_COMPARED)


def _loose_around_code(texts: pl.Series) -> pl.Series:
    """Texts are cut before and after every block of code; every second piece is code. The cuts stay: "~" before "~~~" is not "~~~~"."""
    texts = texts.str.replace_all("\r\n", "\n", literal=True).str.strip_chars_end(SPACES)
    is_rare = texts.str.contains_any(_RARE_FENCES)
    texts = "\n\n" + texts + "\n"
    marked = _where_needed(texts, ~is_rare, lambda some: some.str.replace_all(_PLAIN_CODE, f"{_EDGE}${{0}}{_EDGE}"))
    marked = _where_needed(marked, is_rare, lambda some: some.str.replace_all(_CODE, f"{_EDGE}${{0}}{_EDGE}"))
    cut = marked.str.split(_EDGE)
    counts = cut.list.len().cast(pl.Int64)
    starts = counts.cum_sum() - counts
    pieces = pl.DataFrame({"piece": cut, "start": starts}).explode("piece")
    is_code = pieces.select((pl.int_range(pl.len()) - pl.col("start")) % 2 == 1).to_series()
    loose = _where_needed(pieces["piece"], ~is_code, _without_space)
    loose = _where_needed(loose, is_code, _code_alone)
    return pieces.select("start", loose).group_by("start", maintain_order=True).agg("piece")["piece"].list.join(_EDGE)


def _code_alone(blocks: pl.Series) -> pl.Series:
    """Without the space before and after fences, and without the blank line before indented code."""
    return blocks.str.strip_chars(" \t").str.replace(r"^\n[ \t]*\n", "\n")


def _without_space(texts: pl.Series) -> pl.Series:
    """All spaces go. From ASCII texts laid end to end, in one sweep over their bytes: a third of the time Polars takes for them."""
    is_plain = ~(_is_non_ascii(texts) | _has(texts, _EDGE))
    texts = _where_needed(texts, ~is_plain, lambda some: some.str.replace_all(f"[{ANY_SPACE}]", ""))
    return _where_needed(texts, is_plain, _without_ascii_space)


def _without_ascii_space(texts: pl.Series) -> pl.Series:
    together = texts.str.join(_EDGE)[0].encode("ascii").translate(None, _ASCII_SPACES).decode("ascii")
    return pl.Series(texts.name, [together]).str.split(_EDGE).explode()


def _has(texts: pl.Series, literal: str) -> pl.Series:
    return texts.str.contains(literal, literal=True)


def _is_non_ascii(texts: pl.Series) -> pl.Series:
    return texts.str.len_bytes() != texts.str.len_chars()


def _where_needed(texts: pl.Series, needed: pl.Series, mend: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """`texts` with those at the needed positions mended; a null stays null."""
    positions = needed.fill_null(False).arg_true()
    return texts.scatter(positions, mend(texts.gather(positions))) if len(positions) else texts


def prompt_keys(texts: pl.Series, split_key: str) -> pl.DataFrame:
    """`prompt_key`, the first 16 hex digits of the SHA-256 of the normalised prompt, and `split`, the prompt's own (T3)."""
    prompts = normal_prompts(texts).rename("prompt").to_frame()
    keys = prompts.select(polars_hash.col("prompt").chash.sha2_256().str.head(16).alias("prompt_key"))
    return keys.with_columns(splits(keys["prompt_key"], split_key).alias("split"))


def splits(keys: pl.Series, split_key: str) -> pl.Series:
    """T3: a second hash's first 8 hex digits over 2^32: below 0.90 train, below 0.95 validation, else test; null for null."""
    salted = keys.rename("key").to_frame().select(pl.concat_str(pl.lit(f"{split_key}:"), pl.col("key")).alias("salted"))
    digits = salted.select(polars_hash.col("salted").chash.sha2_256().str.head(8).alias("digits"))
    point = pl.col("digits").str.to_integer(base=16, dtype=pl.Int64) / 2**32
    split = pl.when(point < 0.90).then(pl.lit("train")).when(point < 0.95).then(pl.lit("validation"))
    found = split.when(point.is_not_null()).then(pl.lit("test"))
    return digits.select(found.alias("split")).to_series()


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
