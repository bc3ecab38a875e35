"""What may be wrong with a teacher's answer (rule D4): the ten quality flags of seed 2, found in the text.

Four flags are about shape: what is code and what is prose is decided once (`_without_code`, Markdown's own rules, seen
line by line), then lines and sentences are counted and the last line is looked at. The others are about words: a flag is
raised where one of the records of `flag_patterns.py` matches. docs/flags.md states every rule in a sentence.
"""

from collections.abc import Callable

import polars as pl

from dagster_project.columns.spaces import SPACES
from dagster_project.columns.words import word
from dagster_project.systems.distillation.flag_patterns import NO_REFUSAL, PATTERNS, REASONING, Pattern

QUALITY_FLAGS = (
    "repetition",
    "incomplete",
    "no_reasoning",
    "too_short",
    "too_long",
    "code_only",
    "refusal",
    "uncertain",
    "outdated",
    "hallucination_risk",
)

CHARS_PER_TOKEN = 4
SHORT_TOKENS = 50
LONG_TOKENS = 4000
REPEATED_LENGTH = 20
REPEATED_TIMES = 3
REFUSAL_LENGTH = 600
REFUSAL_OPENING = 200
FEW_WORDS = 10
CHAIN_STEPS = 2
CHAIN_TYPES = ("chain_of_thought", "multi_step")

BATCH_ROWS = 10_000  # bounds the memory that the lines and sentences of a batch take


# Signs that neither are composed nor change under NFC; a text of nothing else, as nearly all are, needs no NFC.
_MAY_COMPOSE = (
    r"[^\x00-\x{2FF}\x{400}-\x{482}\x{48A}-\x{52F}\x{200B}-\x{2027}\x{20A0}-\x{20BF}\x{2190}-\x{21FF}"
    r"\x{2500}-\x{27BF}\x{3001}-\x{3029}\x{3041}-\x{3096}\x{30A1}-\x{30FA}\x{4E00}-\x{9FFF}\x{AC00}-\x{D7A3}"
    r"\x{FE00}-\x{FE0F}\x{FF01}-\x{FFE6}\x{1F300}-\x{1F9FF}]"
)

_CODE = "\x00"  # stands for a block of code where it was; the contract lets no NUL into a text (G5)
_SPACE = r"[^\S\n]"
_ITEM = r"(?:[-*+•]|[0-9]{1,9}[.)])"
_FENCE = "```|~~~"
_FENCE_START = rf"^[ \t>]*(?:{_ITEM}[ \t]+)*"


def _closed_fence(marks: str) -> str:
    """Fences with their contents, up to the fence that closes each: the same sign, at least as often, alone on its line.

    Longer fences may contain shorter ones. A linear-time engine cannot count and compare, so the lengths are listed.
    """
    fences = (
        rf"{mark}{{{length}}}[^{mark}\n]*\n(?:[^\n]*\n)*?[ \t>]*{mark}{{{least},}}$"
        for mark in marks
        for length, least in (("3", 3), ("4", 4), ("5", 5), ("6,", 6))
    )
    return rf"(?m){_FENCE_START}(?:{'|'.join(fences)})"


_OPEN_FENCE = rf"(?m){_FENCE_START}(?:`{{3,}}[^`\n]*|~{{3,}}[^~\n]*)$"
_NO_ITEM = rf"(?:[^\s\-*+•0-9{_CODE}]|[-*+•]\S|[0-9]+(?:[^0-9.)\n]|[.)]\S|$))"
_INDENTED_LINE = rf"(?m)\n(?: {{4}}|\t)[ \t]*{_NO_ITEM}"
# Below a line that is neither indented nor a list item: what hangs below an item belongs to the item.
_INDENTED_CODE = rf"(?m)(^{_NO_ITEM}[^\n]*\n*){_INDENTED_LINE}[^\n]*(?:\n+(?: {{4}}|\t)[^\n]*)*"

_CLOSERS = r"[\"'”’»)\]*_`」』）]*"
_SENTENCE_END = rf"([.!?…।؟۔]+{_CLOSERS}){_SPACE}+|([。！？]+{_CLOSERS})"
_WHOLE_SENTENCE = rf"[.!?…।؟۔。！？]{_CLOSERS}$"
_LINE_MARKER = rf"\n{_SPACE}*>*{_SPACE}*(?:(?:{_ITEM}|#{{1,6}}){_SPACE}+(?:\[[ xX]\]{_SPACE}+)?|>)"
_ONLY_CODE = r"^`+[^`]+`+[.:;,]?$"
_SOFT_BREAK = rf"[^\n{_CODE}]\n[^\n{_CODE}]"

_CUT_OFF = r"(?:[\p{L}\p{N}][\p{M}--[\x{FE00}-\x{FE0F}]]*|[,，、،\-‐‑－])\z"
_LIST_LINE = r"^[\s>]*(?:(?:[-*+–—‣◦▪●○■✅✔☑✓❌✗✘]|\(?(?:[0-9]{1,9}|[A-Za-z]|[ivxIVX]{2,4})[.)])\x{FE0F}?\s|•)"
_TABLE_RULE = r"(?m)^[ \t>]*[-:| \t]*(?:-[-:| \t]*\||\|[-:| \t]*-)[-:| \t]*$"
_WORD = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}]|[\p{L}\p{M}\p{N}'’_]+"


def answer_flags(rows: pl.DataFrame) -> pl.Series:
    """The flags of each answer, in the order of QUALITY_FLAGS; an empty list where there is nothing to say.

    Reads query, claude_response, reasoning_type (text) and step_count (integer); a null is an empty text or no step.
    """
    flags = [_flags_of(batch) for batch in rows.iter_slices(BATCH_ROWS)]
    return pl.concat(flags) if flags else pl.Series("quality_flags", [], dtype=pl.List(pl.String))


def _flags_of(rows: pl.DataFrame) -> pl.Series:
    answers = rows["claude_response"].fill_null("")
    characters = answers.str.len_chars()
    text = _lines(answers)
    prose, has_fence, has_open_fence = _without_code(text)
    raised = _raised_by_words(rows, answers, prose) | {
        "repetition": _is_repetitive(prose),
        "incomplete": has_open_fence | _is_cut_off(prose),
        "no_reasoning": _lacks_reasoning(rows, prose),
        "too_short": characters <= CHARS_PER_TOKEN * (SHORT_TOKENS - 1),
        "too_long": characters > CHARS_PER_TOKEN * LONG_TOKENS,
        "code_only": _where(has_fence, lambda some: _has_few_words(prose.filter(some))),
    }
    names = (pl.when(pl.col(flag)).then(pl.lit(flag)) for flag in QUALITY_FLAGS)
    flags = pl.DataFrame(raised).select(pl.concat_list(*names).list.drop_nulls().alias("quality_flags"))
    return flags.to_series()


def _lines(answers: pl.Series) -> pl.Series:
    """The answers as G10 compares them, with plain line breaks and no space at the end of a line."""
    is_foreign = answers.str.len_bytes() != answers.str.len_chars()
    may_compose = _where(is_foreign, lambda some: answers.filter(some).str.contains(_MAY_COMPOSE))
    text = _mended(answers, may_compose, lambda some: some.str.normalize("NFC"))
    text = _mended(text, text.str.contains("\r", literal=True), lambda some: some.str.replace_all("\r\n?", "\n"))
    text = text.str.strip_chars(SPACES)
    ends_in_space = text.str.contains(r"[ \t]\n")
    return _mended(text, ends_in_space, lambda some: some.str.replace_all(r"[ \t]+\n", "\n"))


def _without_code(text: pl.Series) -> tuple[pl.Series, pl.Series, pl.Series]:
    """The text with one sign in place of every block of code, whether it has a fence, and whether one stays open."""
    has_tildes = text.str.contains("~~~", literal=True)
    has_backticks = text.str.contains("```", literal=True) & ~has_tildes
    prose = _mended(text, has_backticks, lambda some: some.str.replace_all(_closed_fence("`"), _CODE))
    prose = _mended(prose, has_tildes, lambda some: some.str.replace_all(_closed_fence("`~"), _CODE))
    is_open = _where(prose.str.contains(_FENCE), lambda some: prose.filter(some).str.contains(_OPEN_FENCE))
    prose = _mended(prose, is_open, lambda some: some.str.replace(rf"{_OPEN_FENCE}(?s:.*)", _CODE))
    has_fence = prose.str.contains(_CODE, literal=True)
    is_indented = prose.str.contains(_INDENTED_LINE)
    prose = _mended(prose, is_indented, lambda some: some.str.replace_all(_INDENTED_CODE, f"${{1}}\n{_CODE}"))
    return prose, has_fence, is_open


def _is_repetitive(prose: pl.Series) -> pl.Series:
    """Whether a line, or a sentence, of 20 or more characters occurs three times or more.

    A sentence ends with its line, and, because some answers are wrapped at a fixed width, whole sentences are also looked
    for in paragraphs read as one line. A line that occurs three times consists of sentences that do, so lines need a look
    only where some sentence, however short, is repeated.
    """
    rows = pl.DataFrame({"row": pl.int_range(len(prose), dtype=pl.UInt32, eager=True), "text": prose})
    rows = rows.filter(prose.str.len_bytes() >= REPEATED_TIMES * REPEATED_LENGTH)
    # What marks a line as list item, heading or quote is no part of its sentences, and begins a paragraph.
    bare = rows.with_columns(("\n" + pl.col("text")).str.replace_all(_LINE_MARKER, "\n\n").alias("text"))
    wrapped = bare.filter(pl.col("text").str.contains(_SOFT_BREAK))
    sentences = _repeated(bare.with_columns(_by_sentence()))
    unwrapped_sentences = _repeated(wrapped.with_columns(_unwrapped()).with_columns(_by_sentence())).filter(
        pl.col("unit").str.contains(_WHOLE_SENTENCE)
    )
    lines = _repeated(rows.filter(pl.col("row").is_in(sentences["row"].implode())))
    found = pl.concat([sentences, unwrapped_sentences, lines])
    found = found.filter(pl.col("unit").str.len_chars() >= REPEATED_LENGTH)["row"].unique()
    return pl.Series([False]).new_from_index(0, len(prose)).scatter(found, True)


def _by_sentence() -> pl.Expr:
    """Every sentence on a line of its own."""
    return pl.col("text").str.replace_all(_SENTENCE_END, "$1$2\n")


def _unwrapped() -> pl.Expr:
    """Every paragraph on a line of its own; code ends a paragraph."""
    paragraphs = pl.col("text").str.replace_all("\n\n", _CODE, literal=True)
    return paragraphs.str.replace_all(rf"\n{_SPACE}*", " ").str.replace_all(_CODE, "\n", literal=True)


def _repeated(texts: pl.DataFrame) -> pl.DataFrame:
    """`row` and `unit` of the lines that occur three times in a text. Hashes find the few suspects, the lines decide."""
    units = (
        texts.select("row", pl.col("text").str.split("\n").alias("unit"))
        .explode("unit")
        .filter(pl.col("unit").str.len_bytes() > len(_CODE))
        .with_columns(pl.col("unit").str.strip_chars())
    )
    keys = units.select(pl.col("unit").hash() ^ pl.col("row").hash()).to_series()
    often = keys.sort().rle().struct.unnest().filter(pl.col("len") >= REPEATED_TIMES)["value"]
    counted = units.filter(keys.is_in(often.implode())).group_by("row", "unit").len()
    is_text = pl.col("unit").str.contains(r"[\p{L}\p{N}]") & ~pl.col("unit").str.contains(_ONLY_CODE)
    return counted.filter((pl.col("len") >= REPEATED_TIMES) & is_text).select("row", "unit")


def _is_cut_off(prose: pl.Series) -> pl.Series:
    """Whether the last line is prose and ends in the middle of something."""
    return _where(prose.str.contains(_CUT_OFF), lambda some: _is_prose_line(prose.filter(some)))


def _is_prose_line(prose: pl.Series) -> pl.Series:
    """Whether the last line is neither list item, heading nor table row. What hangs right below an item belongs to it."""
    block = prose.str.split("\n\n").list.last().str.split(_CODE).list.last()
    line = block.str.split("\n").list.last()
    is_item = line.str.contains(_LIST_LINE) | (
        line.str.contains(r"^(?:  |\t)") & block.str.contains(f"(?m){_LIST_LINE}")
    )
    is_heading = line.str.contains(r"^[\s>]*#{1,6}\s")
    has_table = block.str.contains(_TABLE_RULE)
    is_row = line.str.contains(r"^[\s>]*\|") | (line.str.contains("|", literal=True) & has_table)
    return line.str.contains(r"[\p{L}\p{N}]") & ~(is_item | is_heading | is_row)


def _has_few_words(prose: pl.Series) -> pl.Series:
    """Whether there are fewer than ten words. The beginning nearly always says no, and counting is slow."""
    has_few = prose.str.head(FEW_WORDS * 20).str.count_matches(_WORD) < FEW_WORDS
    return _where(has_few, lambda some: prose.filter(some).str.count_matches(_WORD) < FEW_WORDS)


def _lacks_reasoning(rows: pl.DataFrame, prose: pl.Series) -> pl.Series:
    """Whether neither the steps, the type nor the words of an answer show a chain of thought."""
    is_chain = rows.select(word("reasoning_type").is_in(CHAIN_TYPES).fill_null(False)).to_series()
    is_plain = (rows["step_count"].fill_null(0) < CHAIN_STEPS) & ~is_chain
    return _where(is_plain, lambda some: ~prose.filter(some).str.contains(_any_of(REASONING)))


def are_refusals(answers: pl.Series) -> pl.Series:
    """Whether an answer refuses to help."""
    is_short = answers.str.len_chars() < REFUSAL_LENGTH
    openings = answers.filter(is_short).str.head(REFUSAL_OPENING).str.replace_all(_wrappable(NO_REFUSAL), " ")
    return _where(is_short, lambda _: openings.str.contains(_pattern("refusal", "opening")))


def _raised_by_words(rows: pl.DataFrame, answers: pl.Series, prose: pl.Series) -> dict[str, pl.Series]:
    is_refusal = are_refusals(answers)
    is_old_question = rows["query"].fill_null("").str.contains(_pattern("outdated", "query"))
    found = {
        flag: prose.str.contains(_pattern(flag, "prose")) for flag in ("uncertain", "outdated", "hallucination_risk")
    }
    return found | {"refusal": is_refusal, "outdated": found["outdated"] | is_old_question}


def _pattern(flag: str, looks_at: str) -> str:
    return _any_of(tuple(record for record in PATTERNS if (record.flag, record.looks_at) == (flag, looks_at)))


def _any_of(records: tuple[Pattern, ...]) -> str:
    return _wrappable("|".join(f"(?:{record.pattern})" for record in records))


def _wrappable(pattern: str) -> str:
    """In any case, and with line breaks where the pattern has spaces: some answers are wrapped at a fixed width."""
    return f"(?i){pattern}".replace(" ", r"[ \n]")


def _where(rows: pl.Series, judge: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """The verdict on some of the rows, false for the others; no work where there are none."""
    nowhere = pl.Series([False]).new_from_index(0, len(rows))
    return nowhere.scatter(rows.arg_true(), judge(rows)) if rows.any() else nowhere


def _mended(texts: pl.Series, needed: pl.Series, mend: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """The texts with some of them mended; most need nothing, and to touch a text costs more than to look at it."""
    return texts.clone().scatter(needed.arg_true(), mend(texts.filter(needed))) if needed.any() else texts
