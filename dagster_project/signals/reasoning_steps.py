"""The steps of an answer (rule D3): what its lists are like, and the steps as rows.

A step is, in this order of trust: a line under a label ("Step 2:", "Phase 1", "Day 3"), a thought of an agent, a numbered
line, a bulleted line, a sentence that says its place ("First, ...", "Then ..."), and, in a derivation without any of
these, each of its sentences. Only the first kind that an answer has twice is used. Deeply indented lines are not steps.
"""

import polars as pl

from dagster_project.signals.reasoning_patterns import signal_pattern

MOST_STEPS = 20
LONGEST_STEP = 300  # code points
LONGEST_HEADING = 60

# What a step does, by the verb it begins with; of two classes the earlier one wins.
ACTION_VERBS = {
    "identify": "identify find locate spot determine recognize recognise detect pinpoint discover choose select pick decide",
    "calculate": "calculate compute subtract multiply divide sum count solve simplify factor differentiate integrate convert "
    "substitute round measure weigh",
    "check": "check verify test confirm validate ensure inspect proofread compare monitor track review measure",
    "analyse": "analyze analyse read understand consider think note notice observe recall remember examine study explore "
    "research investigate learn look watch ask assess evaluate estimate",
    "define": "let define assume suppose denote name label specify state express rewrite formulate describe",
    "plan": "plan schedule prepare gather collect organize organise arrange book budget agree meet discuss talk prioritize "
    "prioritise outline map sketch list",
    "create": "create make build design develop implement write draft compose generate construct assemble mix combine blend "
    "form shape produce publish launch print establish draw",
    "start": "start begin open turn switch log sign enter click press tap type run execute call install download upload "
    "connect plug activate enable navigate go visit",
    "fix": "fix repair correct resolve debug patch mitigate guard handle restore mend reset restart reboot",
    "trace": "trace follow",
    "do": "change add remove replace update edit modify adjust move copy cut trim delete insert apply use put place pour "
    "fill cover spread stir heat boil bake cook fry simmer chop slice peel drain rinse wash clean wipe dry sand paint push "
    "pull lift lower raise fold roll wrap tie loosen tighten attach detach hang drape cross slide bring take drop blot rub "
    "soak season serve chill cool freeze knead stretch bend stand sit walk inflate unscrew screw drill tuck give send share "
    "pass split separate group sort filter merge join route practise practice extend reduce increase spend climb arrive "
    "scan store save keep leave wait allow rest hold transfer hire buy sell order pay sow plant water feed train teach "
    "focus limit avoid do get have work invite contact commit deploy configure secure submit continue repeat return throw "
    "vacuum dab steam roast grill toast whisk beat crack melt sprinkle brush line grease preheat toss shake dissolve strain "
    "refrigerate garnish flip release set lever",
}
_ACTION_OF = {verb: action for action in reversed(ACTION_VERBS) for verb in ACTION_VERBS[action].split()}
IMPERATIVES = frozenset(_ACTION_OF)

# A sentence, in lower case, that tells what to do.
INSTRUCTION = (
    r"(?m)(?:^|[.!?;]\s+)(?:(?:then|next|finally|first|now|lastly|after that|begin by|start by),? |(?:once|when|after|if|while) [^,.\n]{3,60}, )?"
    rf"(?:{'|'.join(sorted(IMPERATIVES))}) "
)

# The kinds of lines, in the order of trust, by what they begin with.
_LABELS = "step|phase|stage|day|week|month|part|task|milestone|module|sprint|quarter|session|subtask"
_MARKERS = {
    "label": rf"^[ \t>#*_-]*(?i-u:{_LABELS})s?[ \t]+"
    r"(?:[0-9]{1,2}(?:[ \t]*(?:-|–|to|and|&)[ \t]*[0-9]{1,2})?|(?i-u:one|two|three|four|five|six))[ \t]*"
    r"(?:[:.)\]–—-]|\*\*|__|\(|$)[ \t:.)*_–—-]*",
    "thought": r"^[ \t*]*(?:Thought|Reasoning)(?: [0-9]+)?[*]*:[ \t*]*",
    "number": r"^[ ]{0,3}[>#*_ ]*\(?[0-9]{1,2}\\?[.)][ \t*_]+",
    "bullet": r"^[ ]{0,2}[-*•+–][ \t]+",
}
LIST_KINDS = tuple(_MARKERS)
_MARKER = "|".join(f"(?:{pattern})" for pattern in _MARKERS.values())
_MAY_BE_ITEM = rf"^[ \t>]*(?:[-*•+–#_(0-9]|(?i-u:{_LABELS}|thought|reasoning))"
_FIRST_WORD = (
    r"^[^a-z0-9]*(?:(?:then|next|first|second|third|now|finally|after that|wait|okay|hmm|well|we|i|you|let us|let's|let me|should|can"
    r"|need to|must|have to)[, ]+)*([a-z]+)"
)
_REASON = r"(?i-u:\b((?:because|since|so that|in order to) |(?:this|which) (?:ensures|means|helps|makes|lets|allows|prevents) ))[^.\n]+"
_MAY_HAVE_REASON = "[Bb]ecause |[Ss]ince |so that |n order to |his (?:ensures|means|helps|makes|lets|allows|prevents) |hich (?:ensures|means|helps|makes|lets|allows|prevents) "
_SENTENCE_END = r"([.!?][)\"'”*]*)[ \t]+([A-Z0-9$\"'“(\[*])"
_NO_SENTENCE = r"^[ \t]*(?:[^a-zA-Z0-9]*|####.*|</?[a-z_]+>[ \t]*|[^a-zA-Z0-9]*(?i-u:final answer|answer|solution)[^a-zA-Z0-9]*)$"


def sentences(texts: pl.DataFrame) -> pl.DataFrame:
    """(row, text) -> (row, place, sentence): a sentence ends at a line's end, or at a stop before a capital or digit."""
    split = pl.col("text").str.replace_all(_SENTENCE_END, "${1}\n${2}").str.split("\n")
    return (
        texts.select("row", sentence=split)
        .explode("sentence", empty_as_null=True)
        .filter(~pl.col("sentence").str.contains(_NO_SENTENCE))
        .with_columns(pl.col("sentence").str.replace(r"^[ \t>#*_]*(?:<[a-z_]+>)?", "").str.strip_chars(" \t\r*_"))
        .with_columns(place=pl.int_range(pl.len()).over("row"))
    )


def lines(texts: pl.DataFrame) -> pl.DataFrame:
    """(row, text) -> (row, line, kind, content, is_intro): the lines that are items, introduce items or follow one.

    kind is null for plain text. An introduction is the first line of an answer, a heading, or a short line with a colon.
    """
    line = pl.col("line")
    is_short = line.str.len_bytes() <= 160
    is_heading = line.str.contains(r"^(?:#|\*\*)|:[*_ \t]*$")
    is_below = pl.col("may_be_item").shift(1) & (pl.col("row") == pl.col("row").shift(1))
    may_be_intro = pl.col("row").is_first_distinct() | (is_short & (line.str.ends_with(":") | line.str.ends_with(":**")))
    kind = pl.coalesce(pl.when(line.str.contains(pattern)).then(pl.lit(name)) for name, pattern in _MARKERS.items())
    picked = (
        texts.select("row", line=pl.col("text").str.split("\n"))
        .explode("line", empty_as_null=True)
        .filter(line.str.contains(r"[^ \t\r]"))
        .with_columns(may_be_item=line.str.contains(_MAY_BE_ITEM), may_be_intro=may_be_intro)
        .filter(pl.col("may_be_item") | pl.col("may_be_intro") | is_below)
        .with_columns(kind=kind)
    )
    return picked.select(
        "row",
        "line",
        "kind",
        content=line.str.replace(_MARKER, "").str.replace_all(r"\*\*|__", "").str.strip_chars(" \t\r:"),
        is_intro=pl.col("kind").is_null() & (pl.col("may_be_intro") | (is_heading & is_short)),
    )


def list_shape(all_lines: pl.DataFrame) -> pl.DataFrame:
    """One row an answer: how many lines of each kind, the share of instructions, and what the lists are introduced as."""
    content = pl.col("content").str.to_lowercase()
    is_instruction = content.str.extract(_FIRST_WORD).is_in(list(IMPERATIVES))
    items = all_lines.filter(pl.col("kind").is_not_null()).with_columns(is_instruction=is_instruction)
    intros = all_lines.filter("is_intro").with_columns(content=content)
    share = {kind: pl.col("is_instruction").filter(pl.col("kind") == kind).mean() for kind in ("number", "bullet")}
    counts = items.group_by("row").agg(
        *((pl.col("kind") == kind).sum().alias(f"{kind}_count") for kind in _MARKERS),
        *(mean.alias(f"{kind}_instructions") for kind, mean in share.items()),
    )
    introductions = intros.group_by("row").agg(
        is_sequence=pl.col("content").str.contains(signal_pattern("sequence")).any(),
        is_collection=pl.col("content").str.contains(signal_pattern("collection")).any(),
    )
    return counts.join(introductions, on="row", how="full", coalesce=True)


def steps(texts: pl.DataFrame, all_lines: pl.DataFrame) -> pl.DataFrame:
    """(row, text, step_kind) of answers that have steps -> (row, step_num, action, content, reasoning), in order.

    step_kind is the kind of lines that are the steps, the most trusted one the answer has twice; null if it has none.
    """
    is_listed = pl.col("step_kind").is_not_null()
    listed = _listed_steps(texts.filter(is_listed).select("row", "step_kind"), all_lines)
    written = _written_steps(texts.filter(~is_listed).select("row", "text"))
    content = pl.col("content").map_batches(_single_spaced).str.strip_chars(" *_:\r")
    return (
        pl.concat([listed, written])
        .with_columns(content=content.str.slice(0, LONGEST_STEP))
        .filter(pl.col("content") != "")
        .with_columns(step_num=pl.int_range(1, pl.len() + 1).over("row"))
        .filter(pl.col("step_num") <= MOST_STEPS)
        .with_columns(low=pl.col("content").str.to_lowercase())
        .with_columns(verb=pl.col("low").str.extract(_FIRST_WORD))
        .select("row", "step_num", action=_action(), content="content", reasoning=pl.col("content").map_batches(_reasons))
    )


def _single_spaced(contents: pl.Series) -> pl.Series:
    needed = (contents.str.contains("  ", literal=True) | contents.str.contains("\t", literal=True)).arg_true()
    mended = contents.gather(needed).str.replace_all(r"[ \t]+", " ")
    return contents.clone().scatter(needed, mended) if len(needed) else contents


def _listed_steps(kinds: pl.DataFrame, all_lines: pl.DataFrame) -> pl.DataFrame:
    """The lines of an answer's kind of steps; a mere heading takes in the plain line below it."""
    some_lines = all_lines.join(kinds, on="row", maintain_order="left")
    is_heading = pl.col("kind").is_in(["label", "number"]) & (pl.col("line").str.len_bytes() <= LONGEST_HEADING)
    has_more = is_heading & (pl.col("row") == pl.col("row").shift(-1)) & pl.col("kind").shift(-1).is_null()
    below = pl.col("content").shift(-1)
    content = (
        pl.when(has_more & (pl.col("content") == ""))
        .then(below)
        .when(has_more)
        .then(pl.col("content") + ": " + below)
        .otherwise("content")
    )
    return some_lines.with_columns(content=content).filter(pl.col("kind") == pl.col("step_kind")).select("row", "content")


def _written_steps(texts: pl.DataFrame) -> pl.DataFrame:
    """The sentences that say their place, if there are two and they are at least half of all, else all sentences."""
    ordered = pl.col("sentence").str.to_lowercase().str.contains(signal_pattern("order_start", "order_middle", "order_end"))
    return (
        sentences(texts)
        .with_columns(is_ordered=ordered)
        .with_columns(ordered_count=pl.col("is_ordered").sum().over("row"), count=pl.len().over("row"))
        .filter(pl.col("is_ordered") | (pl.col("ordered_count") < pl.max_horizontal(2, pl.col("count") / 2)))
        .select("row", content="sentence")
    )


def _action() -> pl.Expr:
    """The class of the verb a step begins with; without one, what its words and signs betray."""
    low = pl.col("low")
    by_verb = pl.col("verb").replace_strict(_ACTION_OF, default=None, return_dtype=pl.String)
    return (
        pl.when(low.str.contains(r"^[^a-z]*(?:therefore|thus|hence|so|in conclusion|the (?:final )?answer|we conclude)[ ,:]"))
        .then(pl.lit("conclude"))
        .when(by_verb.is_not_null())
        .then(by_verb)
        .when(low.str.contains(signal_pattern("equation", "weak_equation")))
        .then(pl.lit("calculate"))
        .otherwise(pl.lit("reason"))
    )


def _reasons(contents: pl.Series) -> pl.Series:
    """The clause that says why, or nothing; few steps have one, so they are picked out first."""
    has_reason = contents.str.contains(_MAY_HAVE_REASON)
    reasons = contents.filter(has_reason).str.extract(_REASON, 0).fill_null("").str.strip_chars(" ,;:")
    return pl.repeat("", len(contents), dtype=pl.String, eager=True).scatter(has_reason.arg_true(), reasons)
