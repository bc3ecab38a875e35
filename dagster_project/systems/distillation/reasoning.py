"""How an answer was reasoned (rule D3): its type, steps, tools, corrections, principles and complexity, from its text.

The patterns are data (`reasoning_patterns.py`). Here they are weighed, and precision comes before recall. A type is
decided from the strongest evidence to the weakest:

1. tool_use: the answer calls a tool in an agent's notation.
2. correction: there was an attempt, and the answer says that it (or an earlier answer) was wrong.
3. tool_use: the answer says that it runs or looks up something now.
4. chain_of_thought: a block of thoughts, three computations, or a computation and a final answer.
5. meta_cognitive: it doubts its own knowledge, more than once or in a short answer.
6. tool_use: it proposes commands, in more shell blocks than it has blocks of other code, or two within its sentences.
   A block of Python (or a script that was asked for) is the deliverable, not a tool; a package installed on the way to
   it is not the point either.
7. chain_of_thought: two computations, thinking aloud, or an argument that ends in an answer.
8. multi_step: labelled phases, or a list of instructions introduced or asked for as steps; not tips, names or items.
9. meta_cognitive: one doubt at the beginning or the end of a longer answer.
10. direct: all others.

Everything is vectorised. Long texts are scanned once a signal, and only in the rows and the parts where it counts.
"""

import polars as pl
import polars.selectors as cs

from dagster_project.systems.distillation import reasoning_parts, reasoning_steps
from dagster_project.systems.distillation.reasoning_signals import (
    ARGUMENT,
    CRITICISM,
    SHORT_ANSWER,
    answers_of,
    signals_of,
)

SHORT_ARGUMENT = 120  # code points, less than which are no thoughts
ARGUMENT_DENSITY = 350  # code points of prose that one link of an argument may take, on average


def extract_reasoning(rows: pl.DataFrame) -> pl.DataFrame:
    """(query, sam_attempt, claude_response) -> what seed 2 wants to know of each answer, row for row."""
    answers = answers_of(rows)
    signals = pl.concat([answers, signals_of(answers)], how="horizontal")
    lines = reasoning_steps.lines(signals.filter("may_have_list").select("row", text="prose"))
    shape = reasoning_steps.list_shape(lines)
    judged = _judged(signals.join(shape, on="row", how="left", maintain_order="left"))

    prose = judged.with_columns(text="prose")
    mending = prose.filter("is_correction").with_columns(pl.col("text").str.slice(0, CRITICISM))
    errors, improvements = reasoning_parts.corrections(mending.select("row", "text", "attempt", "is_code_counted"))
    finds = {
        "step": reasoning_steps.steps(
            prose.filter("has_steps").select("row", "text", "step_kind", "is_ordered"), lines
        ),
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


def _judged(signals: pl.DataFrame) -> pl.DataFrame:
    """The signals weighed: the type of each answer, and which parts it has."""
    col = pl.col
    links = col("conclusion_count") + col("premise_count")
    thinks_aloud = col("thinks") & (col("char_count") >= SHORT_ARGUMENT)
    sets_out = col("sets_up") & (
        (col("equation_count") >= 1)
        | (col("weak_equation_count") >= 2)
        | (col("equals_count") >= 3)
        | (col("conclusion_count") >= 1)
    )
    explains = col("explains") & ((col("number_count") >= 2) | (col("conclusion_count") >= 1))
    argues = (
        col("argues")
        & (col("conclusion_count") >= 1)
        & (links >= 3)
        & (links * ARGUMENT_DENSITY >= col("char_count").clip(upper_bound=ARGUMENT))
    )
    works_out = (((col("label_count") >= 2) | (col("number_count") >= 3)) & (col("equation_count") >= 1)) | (
        (col("label_count") >= 2) & (col("weak_equation_count") >= 2)
    )
    asked_for = col("how_to") | col("wants_plan")
    settles = col("has_verdict") & ~asked_for
    derives = pl.any_horizontal(
        col("equation_count") >= 2, "has_final", thinks_aloud, sets_out, explains, argues, works_out, settles
    )

    is_list_of_things = ~col("is_sequence") & (col("is_collection") | col("wants_collection"))
    numbers_steps = (col("number_count") >= 3) & (
        ((col("number_instructions") >= 0.4 * col("number_count")) & (col("is_sequence") | asked_for))
        | col("wants_plan")
    )
    bullets_steps = (
        (col("bullet_count") >= 3) & (col("bullet_instructions") >= 0.5 * col("bullet_count")) & col("is_sequence")
    )
    has_phases = (
        (col("label_count") >= 2)
        | (col("inline_label_count") >= 3)
        | col("is_ordered")
        | (col("wants_plan") & ((col("heading_count") >= 3) | (col("bullet_count") >= 4)) & ~col("wants_collection"))
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
            step_kind=pl.coalesce(
                pl.when(col(f"{kind}_count") >= 2).then(pl.lit(place, dtype=pl.Int8))
                for place, kind in enumerate(reasoning_steps.LIST_KINDS)
            ),
        )
    )
