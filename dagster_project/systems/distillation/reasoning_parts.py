"""What an answer uses, mends and teaches (rule D3): tool calls, errors of the attempt and principles, as rows.

Every function takes the answers that are known to have the part, with their original text, and gives one row a find.
"""

from typing import NamedTuple

import polars as pl

from dagster_project.columns.error_type import error_type
from dagster_project.systems.distillation.reasoning_patterns import IMPORTANCE, signal_pattern, signal_patterns
from dagster_project.systems.distillation.reasoning_steps import IMPERATIVES, place_in_row, sentences

MOST_FINDS = 5
MOST_ERRORS = 3
MOST_SENTENCES = 100  # that are read
LONGEST_QUOTE = 300  # code points

READ = "read in the answer"
AWAITED = "awaited"
LEFT_TO_USER = "left to the user"
UNSPECIFIED = "unspecified"

_OUTPUT = r"Observation[ 0-9*]*:|```(?:output|tool_output)|<(?:tool_response|information|output)>|->|→"
_QUOTED = r"^[\"'`](.*)[\"'`]$"
_ADVICE = r"\b(?:should|needs? to|must|could|better|make sure|instead|also (?:mention|include|add))\b"


class ToolForm(NamedTuple):
    """One notation of a call. Its groups are `tool`, `input` and perhaps `purpose`; an empty tool means `default`."""

    name: str
    pattern: str
    default: str
    example: str
    tool: str
    input: str


_JSON_OBJECT = r"\{[^{}]*(?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}[^{}]*)*\}"
_FENCE = r"```(?:bash|shell|sh|zsh|console|terminal|shell-session|powershell|ps1|cmd|bat|fish)?[ \t]*\n"

# The first form that finds a call in an answer gives all its calls: the notations are alternatives, not parts.
TOOL_FORMS = (
    ToolForm(
        "json",
        r'"(?:name|function|function_name|tool|tool_name|api_name|action)"\s*:\s*"(?P<tool>[^"\n]{1,80})"\s*,\s*'
        rf'"(?:arguments|args|parameters|params|tool_input|action_input|input|kwargs)"\s*:\s*[\x27"]?(?P<input>{_JSON_OBJECT}|[^"\n]*")',
        "",
        '{"name": "get_time", "arguments": {"zone": "UTC"}}',
        "get_time",
        '{"zone": "UTC"}',
    ),
    ToolForm(
        "react",
        r"(?:(?:^|\n)[ *]*Thought(?: ?[0-9]+)?[* ]*:[ *]*(?P<purpose>[^\n]*)\n+)?"
        r"[ *]*Action(?: ?[0-9]+)?[* ]*:[ *`]*(?P<tool>[^\n\[({`]+?)[` *]*(?:[\[(](?P<input>[^\n]*)[\])]"
        r"|\n+[ *]*Action[ _]Input(?: ?[0-9]+)?[* ]*:[ *]*(?P<later>[^\n]*)|\n+[ *]*Observation|\n+PAUSE)",
        "",
        "Thought: I need it.\nAction: Search\nAction Input: Oslo",
        "Search",
        "Oslo",
    ),
    ToolForm(
        "tags",
        r'<invoke name="(?P<tool>[^"\n]+)">(?P<input>(?s:.*?))</invoke>',
        "",
        '<invoke name="get_time"><parameter name="zone">UTC</parameter></invoke>',
        "get_time",
        '<parameter name="zone">UTC</parameter>',
    ),
    ToolForm(
        "function_tag",
        r"<function=(?P<tool>[A-Za-z_][A-Za-z0-9_.]*)>(?P<input>(?s:.*?))</function>",
        "",
        '<function=get_time>{"zone": "UTC"}</function>',
        "get_time",
        '{"zone": "UTC"}',
    ),
    ToolForm("search", r"<(?P<tool>search)>(?P<input>[^<]+)</search>", "", "<search>Oslo</search>", "search", "Oslo"),
    ToolForm(
        "call",
        r"(?:[\[,]\s*|^(?:API[- ][Rr]equest|Tool [Cc]all|Function [Cc]all|API [Cc]all)\s*:\s*\[?)"
        r"(?P<tool>[A-Za-z_][A-Za-z0-9_.]*)\((?P<input>[^()\n]*)\)",
        "",
        '[get_time(zone="UTC")]',
        "get_time",
        'zone="UTC"',
    ),
    ToolForm(
        "python",
        r"```(?P<tool>python|py|tool_code)[ \t]*\n(?P<input>(?s:.*?))```\s*```(?:output|tool_output)",
        "",
        "```python\nprint(1)\n```\n```output\n1\n```",
        "python",
        "print(1)",
    ),
    ToolForm(
        "shell",
        rf"(?:(?:^|\n)(?P<purpose>[^\n]*[A-Za-z][^\n]*)\n+)?[ \t]*{_FENCE}(?P<input>(?s:.*?))[ \t]*```",
        "shell",
        "Look first:\n\n```bash\ngit status\n```",
        "git",
        "git status",
    ),
    ToolForm(
        "named",
        r"(?i)\b(?:call|use|invoke|query|run|try)(?:ing)? (?:the|this|an?|our|your) [`\"']?(?P<tool>[A-Za-z_][A-Za-z0-9_.-]*)[`\"']? "
        r"(?:function|tool|api|endpoint|plugin|command|database)(?P<input>)",
        "",
        "I'll call the `get_time` function.",
        "get_time",
        "",
    ),
    ToolForm(
        "intent",
        r"(?i)(?P<purpose>(?:let me|i'll|i will|i'm going to)[^.\n]*)(?P<tool>)(?P<input>)",
        UNSPECIFIED,
        "Let me run the tests.",
        UNSPECIFIED,
        "",
    ),
    ToolForm(
        "inline",
        r"`(?P<input>(?:[$] |sudo )?[a-z][a-z0-9-]* [^`\n]+)`(?P<tool>)",
        "shell",
        "Run `git status` first.",
        "git",
        "git status",
    ),
)


def tool_usage(texts: pl.DataFrame) -> pl.DataFrame:
    """(row, text) of answers that use tools -> (row, tool, purpose, input_pattern, output_handling), at least one each."""
    rest = texts.with_columns(has_output=pl.col("text").str.contains(_OUTPUT))
    found = []
    for form in TOOL_FORMS:
        if found and rest.is_empty():
            break
        calls = _calls(rest, form)
        found.append(calls)
        rest = rest.join(calls.select("row").unique(), on="row", how="anti", maintain_order="left")
    handling = pl.when("has_output").then(pl.lit(READ)).otherwise(pl.lit(AWAITED))
    nothing = pl.lit("")
    unnamed = rest.select(
        "row", tool=pl.lit(UNSPECIFIED), purpose=nothing, input_pattern=nothing, output_handling=handling
    )
    return _first(pl.concat([*found, unnamed]).sort("row", maintain_order=True))


def _calls(texts: pl.DataFrame, form: ToolForm) -> pl.DataFrame:
    pattern = f"(?m){form.pattern}"
    calls = (
        texts.select("row", "has_output", call=pl.col("text").str.extract_all(pattern))
        .explode("call", empty_as_null=True)
        .drop_nulls("call")
        .with_columns(pl.col("call").str.extract_groups(pattern))
        .unnest("call")
    )
    calls = calls.with_columns(pl.lit("").alias(name) for name in ("purpose", "later") if name not in calls.columns)
    calls = calls.with_columns(pl.coalesce(pl.col("input"), pl.col("later")).fill_null("").alias("input"))
    if form.default == "shell":
        calls = _commands(calls)
    tool = _quote("tool").str.strip_chars("\"'`")
    without_output = LEFT_TO_USER if form.default == "shell" else AWAITED
    return calls.select(
        "row",
        tool=pl.when(tool == "").then(pl.lit(form.default)).otherwise(tool),
        purpose=_quote("purpose").str.strip_chars(" *_:#>-"),
        input_pattern=_quote("input").str.replace(_QUOTED, "${1}"),
        output_handling=pl.when("has_output").then(pl.lit(READ)).otherwise(pl.lit(without_output)),
    )


def _commands(blocks: pl.DataFrame) -> pl.DataFrame:
    """One row a command line; the tool is its first word, after the prompt, sudo and settings."""
    command = pl.col("input").str.strip_chars(" \t\r").str.replace(r"^(?:[$>]|PS>) ?", "")
    return (
        blocks.with_columns(pl.col("input").str.replace_all(r"\\\n\s*", " ").str.split("\n"))
        .explode("input", empty_as_null=True)
        .with_columns(input=command)
        .filter(pl.col("input").str.contains(r"^[^#\s]"))
        .with_columns(tool=pl.col("input").str.extract(r"^(?:sudo (?:-\w+ )*|[A-Z_]+=\S* )*([A-Za-z0-9_./-]+)"))
    )


def _quote(column: str) -> pl.Expr:
    """One line, of bounded length, never null."""
    one_line = pl.col(column).fill_null("").str.replace_all(r"\s+", " ").str.strip_chars(" ")
    return one_line.str.slice(0, LONGEST_QUOTE)


def _first(finds: pl.DataFrame, most: int = MOST_FINDS) -> pl.DataFrame:
    return finds.filter(place_in_row() < most)


def corrections(answers: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """(row, text, attempt, is_code_counted) of corrections -> what was wrong, and the sentences that say what is better.

    The errors are (row, error_type, what_sam_said, what_was_wrong, correct_answer). What was wrong is a sentence that says
    so, the right answer the next one that says no such thing. What SAM said is what the sentence quotes, else the attempt.
    """
    said = sentences(answers.select("row", "text"), MOST_SENTENCES).with_columns(
        low=pl.col("sentence").str.to_lowercase()
    )
    said = said.join(answers.select("row", "attempt", "is_code_counted"), on="row", maintain_order="left")
    names = pl.any_horizontal(
        pl.col("low").str.contains(pattern)
        for signal in ("correction", "third_person_correction", "named_attempt")
        for _, pattern in signal_patterns(signal, at_once=8)
    )
    names_code = pl.col("is_code_counted") & pl.col("low").str.contains(signal_pattern("code_correction"))
    # Where no sentence names an error, those that find fault do, and else the first one.
    said = said.with_columns(is_error=names | names_code)
    names_none = ~pl.col("is_error").any().over("row")
    said = said.with_columns(
        is_error=pl.col("is_error") | (names_none & pl.col("low").str.contains(signal_pattern("wrongness")))
    )
    names_none = ~pl.col("is_error").any().over("row")
    said = said.with_columns(is_error=pl.col("is_error") | (names_none & pl.col("row").is_first_distinct()))
    after = pl.when(~pl.col("is_error")).then("sentence").backward_fill().shift(-1).over("row")
    errors = said.with_columns(after=after).filter("is_error")
    is_better = pl.col("low").str.contains(_ADVICE) & ~pl.col("is_error")
    improvements = said.filter(is_better).select("row", improvement=_quote("sentence"))
    return _errors(_first(errors, MOST_ERRORS)), _first(improvements, MOST_ERRORS)


def _errors(found: pl.DataFrame) -> pl.DataFrame:
    unknown = pl.lit(None, dtype=pl.UInt32)
    quoted = pl.col("sentence").str.extract(r"[\"“]([^\"”\n]{2,})[\"”]")
    return found.with_columns(said=pl.coalesce(quoted, "attempt"), right=pl.coalesce("after", "sentence")).select(
        "row",
        error_type=error_type(pl.col("sentence"), unknown.cast(pl.String), unknown, unknown),
        what_sam_said=_quote("said"),
        what_was_wrong=_quote("sentence"),
        correct_answer=_quote("right"),
    )


def principles(answers: pl.DataFrame) -> pl.DataFrame:
    """(row, text, query) -> (row, principle, context, importance): rules that hold beyond the answer."""
    bare = pl.col("sentence").str.replace(r"^(?:[-*•+]|[0-9]{1,2}[.)])\s+", "")
    low = pl.col("principle").str.to_lowercase()
    verb = low.str.extract(signal_pattern("principle_verb"))
    importance = (
        pl.when(verb.is_in(list(IMPERATIVES | {"be", "trust", "assume", "ignore", "skip", "expose", "rely"})))
        .then(IMPORTANCE["principle_verb"])
        .when(low.str.contains(signal_pattern("principle")))
        .then(IMPORTANCE["principle"])
    )
    found = (
        sentences(answers.select("row", "text"), MOST_SENTENCES)
        .select("row", principle=bare)
        .filter(pl.col("principle").str.len_chars().is_between(20, LONGEST_QUOTE))
        .with_columns(importance=importance)
        .drop_nulls("importance")
    )
    context = answers.select(
        "row", context=pl.col("query").str.strip_chars().str.split("\n").list.first().str.slice(0, 120)
    )
    return _first(
        found.join(context, on="row", maintain_order="left").select("row", "principle", "context", "importance")
    )
