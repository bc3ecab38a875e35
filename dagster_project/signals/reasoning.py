"""How an answer was reasoned (rule D3): its type, steps, tools, corrections, principles and complexity, from its text.

The patterns are data (`reasoning_patterns.py`). Here they are weighed, and precision comes before recall. A type is
decided from the strongest evidence to the weakest:

1. tool_use: the answer calls a tool in an agent's notation.
2. correction: there was an attempt, and the answer says that it (or an earlier answer) was wrong.
3. tool_use: the answer says that it runs or looks up something now.
4. chain_of_thought: a block of thoughts, three computations, or a computation and a final answer.
5. meta_cognitive: it doubts its own knowledge, more than once or in a short answer.
6. tool_use: it proposes commands, in more shell blocks than it has blocks of other code. A block of Python (or a script
   that was asked for) is the deliverable, not a tool; a package installed on the way to it is not the point either.
7. chain_of_thought: two computations, thinking aloud, or an argument that ends in an answer.
8. multi_step: labelled phases, or a list of instructions introduced or asked for as steps; not tips, names or items.
9. meta_cognitive: one doubt at the beginning or the end of a longer answer.
10. direct: all others.

Everything is vectorised. Long texts are scanned once a signal, and only in the rows and the parts where it counts.
"""

import re
from collections.abc import Callable

import polars as pl
import polars.selectors as cs

from dagster_project.signals import reasoning_parts, reasoning_steps
from dagster_project.signals.reasoning_patterns import signal_pattern, signal_patterns
from dagster_project.signals.text_keys import has_text

REASONING_TYPES = ("chain_of_thought", "tool_use", "correction", "direct", "multi_step", "meta_cognitive")

# Where to look, in code points: what an answer is about it says first, what it comes to, last.
OPENING = 400
CLOSING = 300
CRITICISM = 600  # a correction says what was wrong before it goes on to what is right
ARGUMENT = 1200  # enough to see how an answer argues
SHORT_ANSWER = 700
SHORT_ARGUMENT = 120
LEAST_ARGUMENT = 40  # before a final answer, or there is nothing it could be the end of
LEAST_QUOTE = 8  # of the attempt, between quotation marks, to count as a quote of it
ARGUMENT_DENSITY = 350  # of prose that one link of an argument may take, on average

_QUOTE = r"[\"“]([^\"“”\n]{8,})[\"”]"
_FENCED = r"(?s)```.*?(?:```|\z)"  # a fence that is never closed reaches to the end

# What a principle (see the patterns of that name) cannot do without: almost free to look for, and most answers have none.
_MAY_TEACH = (
    r"Always |Never |As a (?:general )?rule|A good rule|The (?:golden |general |first )?rule|[Rr]ule of thumb|The key |The trick "
    r"|The secret |The main thing |The most important thing |Remember|(?:good|bad|[Bb]est) practice|In general, |Key principle|Key takeaway"
    r"|Key lesson|The lesson |The principle |The takeaway |When[^.\n]*(?:rather than|instead of)"
)
_LIST_STARTS = ("1. ", "\n- ", "\n* ", "\n• ", "1) ", "\n+ ", "\n– ", "1\\. ")
_MAY_BE_LABEL = r"(?:step|phase|stage|day|week|month|part|task|milestone|module|sprint|quarter|session|subtask)s? (?:1|one)|thought"
_MAY_BE_EQUATION = r"[0-9a-z)%}²³$] ?=[^=\n]{0,16}[0-9]"
_MAY_BE_SUM = "≈|equals|equal to|plus |minus |times |divided by|multiplied by"


def extract_reasoning(rows: pl.DataFrame) -> pl.DataFrame:
    """(query, sam_attempt, claude_response) -> what seed 2 wants to know of each answer, row for row."""
    answers = _answers(rows)
    signals = pl.concat([answers, _signals(answers)], how="horizontal")
    lines = reasoning_steps.lines(signals.filter("may_have_list").select("row", text="prose"))
    shape = reasoning_steps.list_shape(lines)
    judged = _judged(signals.join(shape, on="row", how="left", maintain_order="left"))

    prose = judged.with_columns(text="prose")
    mending = prose.filter("is_correction").with_columns(pl.col("text").str.slice(0, CRITICISM))
    errors, improvements = reasoning_parts.corrections(mending.select("row", "text", "attempt", "is_code_counted"))
    finds = {
        "step": reasoning_steps.steps(prose.filter("has_steps").select("row", "text", "step_kind"), lines),
        "tool": reasoning_parts.tool_usage(judged.filter("has_tools").select("row", "text")),
        "error": errors,
        "improvement": improvements,
        "principle": reasoning_parts.principles(prose.filter("may_teach").select("row", "text", "query")),
    }
    parts = judged.select("row", "reasoning_type", "char_count", "has_code")
    for name, found in finds.items():
        parts = parts.join(_gathered(found, name), on="row", how="left", maintain_order="left")
    parts = parts.with_columns(pl.col(finds).fill_null("[]"), pl.col(f"{name}_count" for name in finds).fill_null(0))
    corrections = pl.concat_str(
        pl.lit('{"sam_errors":'), pl.col("error"), pl.lit(',"improvements":'), pl.col("improvement"), pl.lit("}")
    )
    return parts.select(
        "reasoning_type",
        reasoning_steps="step",
        tool_usage="tool",
        corrections=corrections,
        principles="principle",
        complexity=_complexity(),
        step_count="step_count",
        tool_count="tool_count",
        error_count="error_count",
        principle_count="principle_count",
    )


def _complexity() -> pl.Expr:
    """1, and up to 4 for the steps (1 a pair), 2 for the tools, 2 for the length (from 600 and 2400 code points), 1 for code."""
    return (
        1
        + ((pl.col("step_count") + 1) // 2).clip(upper_bound=4)
        + pl.col("tool_count").clip(upper_bound=2)
        + (pl.col("char_count") >= 600).cast(pl.Int64)
        + (pl.col("char_count") >= 2400).cast(pl.Int64)
        + pl.col("has_code").cast(pl.Int64)
    )


def _gathered(finds: pl.DataFrame, name: str) -> pl.DataFrame:
    """One row an answer: its finds as a JSON array, and how many they are."""
    fields = [column for column in finds.columns if column != "row"]
    element = pl.col("improvement") if name == "improvement" else pl.struct(fields)
    array = pl.struct(pl.col(name)).struct.json_encode().str.slice(len(name) + 4).str.head(-1)  # without {"name": and }
    return (
        finds.group_by("row", maintain_order=True)
        .agg(element.alias(name), pl.len().cast(pl.Int64).alias(f"{name}_count"))
        .with_columns(array.alias(name))
    )


def _answers(rows: pl.DataFrame) -> pl.DataFrame:
    """The texts as the patterns want them: without code, and in lower case with straight apostrophes."""
    text = rows["claude_response"].cast(pl.String).fill_null("")
    text = _where(text, text.str.contains("\r", literal=True), lambda some: some.str.replace_all("\r\n", "\n", literal=True))
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
    for needs, pattern in signal_patterns(signal, at_once=5):
        rest = among & ~found
        if needs:
            plain = "|".join(map(re.escape, needs))
            rest = _looked_up(rest, lambda some, plain=plain: some.str.contains(plain), texts)
        found |= _looked_up(rest, lambda some, pattern=pattern: some.str.contains(pattern), texts)
    return found


def _counted(texts: pl.Series, *signals: str, among: pl.Series) -> pl.Series:
    return _looked_up(among, lambda some: some.str.count_matches(signal_pattern(*signals)), texts)


def _signals(answers: pl.DataFrame) -> pl.DataFrame:
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
    computes = strong["thought_block"] | (strong["equation_count"] >= 3) | ((strong["equation_count"] >= 1) & strong["has_final"])
    open_ = ~(strong["tool_call"] | strong["tool_intent"] | strong["is_correction"] | computes)

    ends = _where(prose, prose.str.len_bytes() > SHORT_ANSWER, lambda some: some.str.slice(0, OPENING) + "\n" + some.str.tail(CLOSING))
    shell = _counted(low, "shell_block", among=open_ & has_code)
    is_script = _found(query, "wants_script", among=shell > 0) | (_counted(low, "other_block", among=shell > 0) >= shell)
    doubts = _counted(ends, "doubt", among=open_)
    # What a list is matters unless the type is certain and has no steps.
    with_list = (open_ & (doubts < 2)) | strong["is_correction"] | computes | strong["tool_call"]
    argues = _found(argument, "strong_conclusion", among=open_ & (doubts < 2))
    sets_up = _found(opening, "setting_up", among=open_)
    may_label = prose.str.contains(_MAY_BE_LABEL)
    explains = _found(opening, "explanation", among=open_ & ~has_code)
    how_to = _found(query, "how_to", among=every)
    return pl.DataFrame(
        strong
        | {
            "computes": computes,
            "shell_use": (shell > 0) & ~is_script,
            "doubt_count": doubts,
            "may_have_list": _may_have_list(prose, with_list, may_label),
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
    # A critic finds fault and speaks about an answer, or quotes it, whatever the other words.
    faults = _found(low, "wrongness", among=has_attempt & ~found)
    found |= _found(low, "about_answer", among=faults)
    quote = answers["prose"].str.slice(0, CRITICISM).filter(faults & ~found).str.extract(_QUOTE).str.strip_chars(" .")
    quotes = pl.DataFrame({"quote": quote, "attempt": answers["attempt"].filter(faults & ~found)})
    is_quote = (pl.col("quote").str.len_chars() >= LEAST_QUOTE) & pl.col("attempt").str.contains(pl.col("quote"), literal=True)
    found = found.scatter((faults & ~found).arg_true(), quotes.select(is_quote.fill_null(False)).to_series())
    return {"is_correction": found, "is_code_counted": is_code_counted}


def _may_compute(prose: pl.Series) -> pl.Series:
    may = prose.str.contains("\\", literal=True) | prose.str.contains(_MAY_BE_SUM)
    return may | _looked_up(~may, lambda some: some.str.contains(_MAY_BE_EQUATION), prose)


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
    told = _looked_up(among, lambda some: some.str.count_matches(reasoning_steps.INSTRUCTION), prose)
    count = _looked_up(told >= 4, lambda some: some.str.count_matches(r"[.!?](?:\s|$)"), prose)
    return (told >= 4) & (told * 2 >= count)


def _judged(signals: pl.DataFrame) -> pl.DataFrame:
    """The signals weighed: the type of each answer, and which parts it has."""
    col = pl.col
    links = col("conclusion_count") + col("premise_count")
    thinks_aloud = col("thinks") & (col("char_count") >= SHORT_ARGUMENT)
    sets_out = col("sets_up") & (
        (col("equation_count") >= 1) | (col("weak_equation_count") >= 2) | (col("equals_count") >= 3) | (col("conclusion_count") >= 1)
    )
    explains = col("explains") & ((col("number_count") >= 2) | (col("conclusion_count") >= 1))
    argues = col("argues") & (col("conclusion_count") >= 1) & (links >= 3) & (links * ARGUMENT_DENSITY >= col("char_count").clip(upper_bound=ARGUMENT))
    works_out = (col("label_count") >= 2) & ((col("equation_count") >= 1) | (col("weak_equation_count") >= 2))
    derives = (col("equation_count") >= 2) | col("has_final") | thinks_aloud | sets_out | explains | argues | works_out

    asked_for = col("how_to") | col("wants_plan")
    is_list_of_things = ~col("is_sequence") & (col("is_collection") | col("wants_collection"))
    numbers_steps = (col("number_count") >= 3) & (
        ((col("number_instructions") >= 0.4) & (col("is_sequence") | asked_for)) | col("wants_plan")
    )
    bullets_steps = (col("bullet_count") >= 3) & (col("bullet_instructions") >= 0.5) & col("is_sequence")
    has_phases = (
        (col("label_count") >= 2)
        | col("is_ordered")
        | ((numbers_steps | bullets_steps | col("instructs")) & ~is_list_of_things)
    )
    doubts = (col("doubt_count") >= 2) | ((col("doubt_count") >= 1) & (col("char_count") <= SHORT_ANSWER))
    decisions = (  # from the strongest evidence to the weakest
        (col("tool_call"), "tool_use"),
        (col("is_correction"), "correction"),
        (col("tool_intent"), "tool_use"),
        (col("computes"), "chain_of_thought"),
        (doubts, "meta_cognitive"),
        (col("shell_use"), "tool_use"),
        (derives, "chain_of_thought"),
        (col("has_phases"), "multi_step"),
        (col("doubt_count") >= 1, "meta_cognitive"),
        (pl.lit(True), "direct"),
    )
    reasoning_type = pl.coalesce(pl.when(holds).then(pl.lit(name)) for holds, name in decisions)
    is_agent = (col("reasoning_type") == "tool_use") & ((col("thought_count") >= 2) | col("has_phases"))
    return (
        signals.with_columns(cs.ends_with("_count", "_instructions").fill_null(0), cs.boolean().fill_null(False))
        .with_columns(has_phases=has_phases)
        .with_columns(reasoning_type=reasoning_type, has_tools=col("tool_call") | col("tool_intent") | col("shell_use"))
        .with_columns(
            has_steps=col("reasoning_type").is_in(["chain_of_thought", "multi_step"])
            | (col("is_correction") & (col("computes") | col("has_phases")))
            | is_agent,
            step_kind=pl.coalesce(pl.when(col(f"{kind}_count") >= 2).then(pl.lit(kind)) for kind in reasoning_steps.LIST_KINDS),
        )
    )
