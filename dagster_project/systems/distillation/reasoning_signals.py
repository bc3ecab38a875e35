"""What the answers show (rule D3): their texts as the patterns want them, and the signals found in each.

A text of 2 KB is not scanned for everything. A signal is looked for where an answer would say it (the opening, the
closing), and only in the rows whose type it could still change. Where every match needs one of a few plain strings, a
search for those, which is almost free, picks the rows first; that alone never changes a verdict.
"""

import re
from collections.abc import Callable

import polars as pl

from dagster_project.columns.text_keys import has_text
from dagster_project.systems.distillation.reasoning_patterns import signal_pattern, signal_patterns
from dagster_project.systems.distillation.reasoning_steps import INSTRUCTION, LABELS, WEEKDAYS

# Where to look, in code points: what an answer is about it says first, what it comes to, last.
OPENING = 400
CLOSING = 300
CRITICISM = 500  # a correction says what was wrong before it goes on to what is right
ARGUMENT = 1200  # enough to see how an answer argues
SHORT_ANSWER = 700
LEAST_ARGUMENT = 20  # before a final answer, or there is nothing it could be the end of
LEAST_QUOTE = 8  # of the attempt, between quotation marks, to count as a quote of it

_QUOTES = (r"[\"“]([^\"“”\n]+)[\"”]", r"(?:^|\s)['‘]([^'‘’\n]+)['’]")
_FENCED = r"(?s)```.*?(?:```|\z)"  # a fence that is never closed reaches to the end
_BLOCK_HEAD = 80  # code points that show what a block of code is

# What a principle (see the patterns of that name) cannot do without: almost free to look for, and most answers have none.
_MAY_TEACH = (
    r"Always |Never |As a (?:general )?rule|A good rule|The (?:golden |general |first )?rule|[Rr]ule of thumb|The key "
    r"|The trick |The secret |The main thing |The most important thing |Remember|(?:good|bad|[Bb]est) practice|In general, "
    r"|Key principle|Key takeaway|Key lesson|The lesson |The principle |The takeaway |When[^.\n]*(?:rather than|instead of)"
)
_LIST_STARTS = ("1. ", "\n- ", "\n* ", "\n• ", "1) ", "\n+ ", "\n– ", "1\\. ", "\n#", "\n**")
_MAY_BE_LABEL = rf"(?:{LABELS})s? (?:1|one)|{WEEKDAYS}|thought[ 0-9*]*:"
_MAY_BE_EQUATION = r"[0-9a-z)%}²³$] ?=[^=\n]{0,16}[0-9]"
_MAY_BE_SUM = "≈|equals|equal to|plus |minus |times |divided by|multiplied by"


def answers_of(rows: pl.DataFrame) -> pl.DataFrame:
    """The texts as the patterns want them: without code, and in lower case with straight apostrophes."""
    text = rows["claude_response"].cast(pl.String).fill_null("")
    text = _where(
        text, text.str.contains("\r", literal=True), lambda some: some.str.replace_all("\r\n", "\n", literal=True)
    )
    has_code = text.str.contains("```", literal=True)
    prose = _where(text, has_code, lambda some: some.str.replace_all(_FENCED, "\n"))
    low = _lowered(text)
    low_prose = _where(low, has_code, lambda _: _lowered(prose.filter(has_code)))
    return pl.DataFrame(
        {
            "text": text,
            "prose": prose,
            "low": low,
            "low_prose": low_prose,
            "has_code": has_code,
            "char_count": text.str.len_chars(),
            "query": rows["query"].cast(pl.String).fill_null(""),
            "attempt": rows["sam_attempt"].cast(pl.String),
        }
    ).with_row_index("row")


def _lowered(texts: pl.Series) -> pl.Series:
    low = texts.str.to_lowercase()
    return _where(low, low.str.contains("’", literal=True), lambda some: some.str.replace_all("’", "'", literal=True))


def _may_have_list(low_prose: pl.Series, among: pl.Series, may_label: pl.Series) -> pl.Series:
    """Has a line that could be the first item of a list; searching for plain strings costs next to nothing."""
    found = may_label & among
    for start in _LIST_STARTS:
        found |= _looked_up(among & ~found, lambda some, start=start: some.str.contains(start, literal=True), low_prose)
    return found


def _where(texts: pl.Series, needed: pl.Series, change: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """The texts with some of them changed; a copy, because `scatter` changes a series in place."""
    positions = needed.arg_true()
    return texts.clone().scatter(positions, change(texts.gather(positions))) if len(positions) else texts


def _looked_up(among: pl.Series, look_up: Callable[[pl.Series], pl.Series], texts: pl.Series) -> pl.Series:
    """What `look_up` says of the texts in these rows; false or 0 for the others, which are not looked at."""
    looked_up = look_up(texts.filter(among))
    nothing = pl.repeat(0, len(among), dtype=pl.UInt32, eager=True).cast(looked_up.dtype)
    return nothing.scatter(among.arg_true(), looked_up) if len(looked_up) else nothing


def _found(texts: pl.Series, *signals: str, among: pl.Series) -> pl.Series:
    return _looked_up(among, lambda some: some.str.contains(signal_pattern(*signals)), texts)


def _found_in_turn(texts: pl.Series, signal: str, among: pl.Series) -> pl.Series:
    """As `_found`, a few patterns at a time and only where what they need is there."""
    found = among & False
    for needs, pattern in signal_patterns(signal, at_once=10):
        rest = among & ~found
        if needs:
            plain = "|".join(map(re.escape, needs))
            rest = _looked_up(rest, lambda some, plain=plain: some.str.contains(plain), texts)
        found |= _looked_up(rest, lambda some, pattern=pattern: some.str.contains(pattern), texts)
    return found


def _counted(texts: pl.Series, *signals: str, among: pl.Series) -> pl.Series:
    return _looked_up(among, lambda some: some.str.count_matches(signal_pattern(*signals)), texts)


def signals_of(answers: pl.DataFrame) -> pl.DataFrame:
    """What each answer shows. What can no longer change the verdict on a row is not looked for in it."""
    low, prose, query = answers["low"], answers["low_prose"], answers["query"].str.to_lowercase()
    has_code = answers["has_code"]
    every = has_code | True
    opening, argument = prose.str.slice(0, OPENING), prose.str.slice(0, ARGUMENT)
    strong = {
        "tool_call": _found_in_turn(low, "tool_call", among=every),
        "tool_intent": _found(prose, "tool_intent", among=every),
        **_corrections(answers, query),
        "thought_block": _found(opening, "thought_block", among=every),
        "equation_count": _counted(argument, "equation", among=_may_compute(argument)),
        "has_final": _has_final(prose),
    }
    computes = (
        strong["thought_block"]
        | (strong["equation_count"] >= 3)
        | ((strong["equation_count"] >= 1) & strong["has_final"])
    )
    open_ = ~(strong["tool_call"] | strong["tool_intent"] | strong["is_correction"] | computes)

    shell = _shell_use(answers, among=open_ & has_code)
    shell |= _counted(prose, "told_command", among=_may_have_commands(prose, open_ & ~has_code)) >= 2
    is_script = _found(query, "wants_script", among=shell)
    doubts = _looked_up(open_, lambda some: _ends(some).str.count_matches(signal_pattern("doubt")), prose)
    # What a list is matters unless the type is certain and has no steps.
    with_list = (open_ & (doubts < 2)) | strong["is_correction"] | computes | strong["tool_call"]
    argues = _found(argument, "strong_conclusion", among=open_ & (doubts < 2))
    sets_up = _found(opening, "setting_up", among=open_)
    may_label = _looked_up(with_list, lambda some: some.str.contains(_MAY_BE_LABEL), prose)
    inline_labels = _counted(prose, "inline_label", among=open_ & may_label)
    explains = _found(opening, "explanation", among=open_ & ~has_code)
    how_to = _found(query, "how_to", among=every)
    return pl.DataFrame(
        strong
        | {
            "computes": computes,
            "shell_use": shell & ~is_script,
            "doubt_count": doubts,
            "may_have_list": _may_have_list(prose, with_list, may_label),
            "inline_label_count": inline_labels,
            "has_verdict": _found(prose.str.tail(CLOSING), "verdict", among=inline_labels >= 2),
            "thinks": _found(opening, "thinking", among=open_),
            "explains": explains,
            "sets_up": sets_up,
            "weak_equation_count": _counted(argument, "weak_equation", among=sets_up | (open_ & may_label)),
            "equals_count": _looked_up(sets_up, lambda some: some.str.count_matches("=", literal=True), prose),
            "argues": argues,
            "conclusion_count": _counted(argument, "conclusion", among=argues | explains),
            "premise_count": _counted(argument, "premise", among=argues),
            "how_to": how_to,
            "wants_plan": _found(query, "wants_plan", among=every),
            "wants_collection": _found(query, "open_question", "collection", among=every),
            "is_ordered": _is_ordered(prose, open_ & how_to),
            "instructs": _instructs(argument, open_ & how_to),
            "may_teach": answers["prose"].str.contains(_MAY_TEACH),
        }
    )


def _corrections(answers: pl.DataFrame, query: pl.Series) -> dict[str, pl.Series]:
    """Whether the answer corrects the attempt, and whether "your code" can mean the attempt's."""
    has_attempt = answers.select(has_text("attempt")).to_series()
    low = answers["low_prose"].str.slice(0, CRITICISM)
    is_code_counted = ~_found(query, "asks_about_code", among=has_attempt)
    found = _found_in_turn(low, "correction", among=has_attempt)
    found |= _found(low, "code_correction", among=has_attempt & is_code_counted & ~found)
    is_general = _found(low, "general_talk", among=has_attempt & ~found)
    found |= _found(low, "third_person_correction", among=has_attempt & ~found & ~is_general)
    named = _found(low, "named_attempt", among=has_attempt & ~found)
    found |= named & ~_found(low, "approval", "no_fault", among=named)
    # A critic finds fault and speaks about an answer, or quotes it, whatever the other words.
    faults = _found(low, "wrongness", among=has_attempt & ~found)
    faults &= ~_found(low, "approval", among=faults)
    found |= _found(low, "about_answer", among=faults)
    found |= _quotes_attempt(answers, among=faults & ~found)
    return {"is_correction": found, "is_code_counted": is_code_counted}


def _quotes_attempt(answers: pl.DataFrame, among: pl.Series) -> pl.Series:
    """The first thing between quotation marks, of either kind, is a piece of the attempt."""
    critics = answers.filter(among).select("attempt", text=pl.col("prose").str.slice(0, CRITICISM))
    said = [pl.col("text").str.extract(quote).str.strip_chars(" .").fill_null("") for quote in _QUOTES]
    is_said = [
        (quote.str.len_chars() >= LEAST_QUOTE) & pl.col("attempt").str.contains(quote, literal=True) for quote in said
    ]
    return (among & False).scatter(among.arg_true(), critics.select(pl.any_horizontal(is_said)).to_series())


def _ends(texts: pl.Series) -> pl.Series:
    """Short texts as they are; of long ones the opening and the closing."""
    is_long = texts.str.len_bytes() > SHORT_ANSWER
    return _where(texts, is_long, lambda some: some.str.slice(0, OPENING) + "\n" + some.str.tail(CLOSING))


def _may_compute(prose: pl.Series) -> pl.Series:
    may = prose.str.contains("\\", literal=True) | prose.str.contains(_MAY_BE_SUM)
    return may | _looked_up(~may, lambda some: some.str.contains(_MAY_BE_EQUATION), prose)


def _shell_use(answers: pl.DataFrame, among: pl.Series) -> pl.Series:
    """Has more blocks of shell commands than of other code."""
    fenced = pl.col("low").str.split("```").list.gather_every(2, 1)
    heads = answers.filter(among).select("row", head=fenced).explode("head", empty_as_null=True)
    head = "```" + pl.col("head").str.slice(0, _BLOCK_HEAD)
    surplus = head.str.contains(signal_pattern("shell_block")).cast(pl.Int32) - head.str.contains(
        signal_pattern("other_block")
    )
    rows = (
        heads.select("row", surplus=surplus).group_by("row").agg(pl.col("surplus").sum()).filter(pl.col("surplus") > 0)
    )
    return (among & False).scatter(rows["row"].sort(), True) if len(rows) else among & False


def _may_have_commands(prose: pl.Series, among: pl.Series) -> pl.Series:
    return _looked_up(among, lambda some: some.str.contains(" `", literal=True), prose)


def _has_final(prose: pl.Series) -> pl.Series:
    """Ends in an answer that something leads up to; a quiz, which has many answers, does not."""
    closing = prose.str.slice(LEAST_ARGUMENT).str.tail(CLOSING).str.strip_chars_end(" \n\t")
    found = _found_in_turn(closing, "final_answer", among=closing != "")
    answer_count = _looked_up(found, lambda some: some.str.count_matches("answer:", literal=True), prose)
    return (found & (answer_count <= 2)) | _found(prose, "boxed", among=prose.str.contains("box", literal=True))


def _is_ordered(prose: pl.Series, among: pl.Series) -> pl.Series:
    """First, then, finally: told in order."""
    among = _looked_up(among, lambda some: some.str.contains("finally|last"), prose)
    among = _found(prose, "order_end", among=among)
    return _found(prose, "order_start", among=_found(prose, "order_middle", among=among))


def _instructs(prose: pl.Series, among: pl.Series) -> pl.Series:
    """At least four sentences, and half of all, tell what to do."""
    told = _looked_up(among, lambda some: some.str.count_matches(INSTRUCTION), prose)
    count = _looked_up(told >= 4, lambda some: some.str.count_matches(r"[.!?](?:\s|$)"), prose)
    return (told >= 4) & (told * 2 >= count)
