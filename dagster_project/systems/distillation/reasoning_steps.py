"""The steps of an answer (rule D3): what its lists are like, and the steps as rows.

A step is, in this order of trust: a line under a label ("Step 2:", "Phase 1", "Day 3"), a thought of an agent, a numbered
line, a bulleted line, a sentence that says its place ("First, ...", "Then ..."), and, in a derivation without any of
these, each of its sentences. Only the first kind that an answer has twice is used. Deeply indented lines are not steps.
"""

import polars as pl

from dagster_project.systems.distillation.reasoning_patterns import signal_pattern

MOST_STEPS = 20
MOST_SENTENCES = 12  # where nothing says which sentences are the steps
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
    r"(?m)(?:^|[.!?;]\s+)"
    r"(?:(?:then|next|finally|first|now|lastly|after that|begin by|start by),? |(?:once|when|after|if|while) [^,.\n]{3,60}, )?"
    rf"(?:{'|'.join(sorted(IMPERATIVES))}) "
)

# The kinds of lines, in the order of trust, by what they begin with.
LABELS = "step|phase|stage|day|week|month|part|task|milestone|module|sprint|quarter|session|subtask"
WEEKDAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_MARKERS = {
    "label": rf"^[ \t>#*_-]*(?i:(?:{LABELS})s?[ \t]+"
    r"(?:[0-9]{1,2}(?:[ \t]*(?:-|–|to|and|&)[ \t]*[0-9]{1,2})?|one|two|three|four|five|six)"
    rf"|{WEEKDAYS})[ \t]*(?:[:.)\]–—-]|\*\*|__|\(|$)[ \t:.)*_–—-]*",
    "thought": r"^[ \t*]*(?:Thought|Reasoning)(?: [0-9]+)?[*]*:[ \t*]*",
    "number": r"^[ ]{0,3}[>#*_ ]*\(?[0-9]{1,2}\\?[.)][ \t*_]+",
    "bullet": r"^[ ]{0,2}[-*•+–][ \t]+",
}
LIST_KINDS = tuple(_MARKERS)
_MARKER = "|".join(f"(?:{pattern})" for pattern in _MARKERS.values())
_MAY_BE_ITEM = rf"^[ \t>]*(?:[-*•+–#_(0-9]|(?i-u:{LABELS}|{WEEKDAYS}|thought|reasoning))"
_FIRST_WORD = r"^[^a-z]*([a-z]+)"
_LEAD_INS = (
    *("then", "next", "first", "second", "third", "now", "finally", "after", "wait", "okay", "hmm", "well"),
    *("we", "i", "you", "let", "should", "can", "need", "must", "have"),
)
_AFTER_LEAD_INS = (
    r"^[^a-z]*(?:(?:then|next|first|second|third|now|finally|after that|wait|okay|hmm|well|we|i|you|let us|let's|let me"
    r"|should|can|need to|must|have to)[, ]+)*([a-z]+)"
)
_PURPOSE = "(?:ensures|means|helps|makes|lets|allows|prevents)"
_REASON = rf"(?i-u:\b(?:(?:because|since|so that|in order to) |(?:this|which) {_PURPOSE} ))[^.\n]+"
_MAY_HAVE_REASON = rf"[Bb]ecause |[Ss]ince |[Ss]o that |[Ii]n order to |[Tt]his {_PURPOSE} |[Ww]hich {_PURPOSE} "
_SENTENCE_END = r"([.!?][)\"'”*]*)[ \t]+([A-Z0-9$\"'“(\[*])"
_TAG = r"</?[a-z_]+>"
_NO_SENTENCE = (
    r"^(?:[^a-zA-Z0-9]*[0-9]{0,3}[^a-zA-Z0-9]*|[^a-zA-Z0-9]*(?i-u:final answer|answer|solution)[^a-zA-Z0-9]*)$"
)
_PLACES = (
    *("first", "firstly", "begin", "start", "next", "then", "second", "secondly", "third", "thirdly"),
    *("after", "afterwards", "once", "finally", "lastly"),
)


def sentences(texts: pl.DataFrame, most: int) -> pl.DataFrame:
    """(row, text) -> (row, sentence), the first so many; one ends with its line, or at a stop before a capital or digit."""
    bare = pl.col("text").str.replace_all(_TAG, "\n").str.replace_all(_SENTENCE_END, "${1}\n${2}")
    return (
        texts.select("row", sentence=bare.str.split("\n").list.head(2 * most))  # every other line may be blank
        .explode("sentence", empty_as_null=True)
        .filter(pl.col("sentence") != "")
        .filter(place_in_row() < most)
        .filter(~pl.col("sentence").str.contains(_NO_SENTENCE) & ~pl.col("sentence").str.starts_with("####"))
        .with_columns(pl.col("sentence").str.strip_chars(" \t\r*_>#"))
    )


def place_in_row() -> pl.Expr:
    """0, 1, 2, ... within each run of equal rows: what a window function says too, but slowly."""
    position = pl.int_range(pl.len())
    starts = (pl.col("row") != pl.col("row").shift(1)).fill_null(True)
    return position - pl.when(starts).then(position).forward_fill()


def lines(texts: pl.DataFrame) -> pl.DataFrame:
    """(row, text) -> (row, line, kind, is_intro): the lines that are items, introduce items or follow one.

    kind is a place in LIST_KINDS, or null for plain text. An introduction is the first line of an answer, a heading, or a
    short line that ends in a colon.
    """
    line = pl.col("line")
    is_short = line.str.len_bytes() <= 160
    is_heading = line.str.starts_with("#") | line.str.starts_with("**")
    is_below = pl.col("may_be_item").shift(1) & (pl.col("row") == pl.col("row").shift(1))
    is_first = (pl.col("row") != pl.col("row").shift(1)).fill_null(True)
    may_be_intro = is_first | (is_short & (is_heading | line.str.ends_with(":") | line.str.ends_with(":**")))
    kind = pl.coalesce(
        pl.when(line.str.contains(pattern)).then(pl.lit(place, dtype=pl.Int8))
        for place, pattern in enumerate(_MARKERS.values())
    )
    return (
        texts.select("row", line=pl.col("text").str.split("\n"))
        .explode("line", empty_as_null=True)
        .filter(line != "")
        .with_columns(may_be_item=line.str.contains(_MAY_BE_ITEM), may_be_intro=may_be_intro)
        .filter(pl.col("may_be_item") | pl.col("may_be_intro") | is_below)
        .with_columns(kind=kind)
        .select("row", "line", "kind", is_intro=pl.col("kind").is_null() & pl.col("may_be_intro"))
    )


def list_shape(all_lines: pl.DataFrame) -> pl.DataFrame:
    """One row an answer: how many lines of each kind, the share of instructions, and what the lists are introduced as."""
    low = pl.col("line").str.to_lowercase()
    is_instruction = low.map_batches(_verbs, return_dtype=pl.String).is_in(list(IMPERATIVES))
    items = all_lines.filter(pl.col("kind").is_not_null()).with_columns(is_instruction=is_instruction)
    of_kind = {kind: pl.col("kind") == place for place, kind in enumerate(LIST_KINDS)}
    counts = items.group_by("row").agg(
        *(mask.sum().alias(f"{kind}_count") for kind, mask in of_kind.items()),
        *(
            (of_kind[kind] & pl.col("is_instruction")).sum().alias(f"{kind}_instructions")
            for kind in ("number", "bullet")
        ),
    )
    intros = all_lines.filter("is_intro").select("row", line=low)
    introduced = intros.with_columns(
        is_heading=pl.col("line").str.contains(r"^(?:#|\*\*)"),
        is_sequence=pl.col("line").str.contains(signal_pattern("sequence")),
        is_collection=pl.col("line").str.contains(signal_pattern("collection")),
    )
    introductions = introduced.group_by("row").agg(
        pl.col("is_sequence", "is_collection").any(), heading_count=pl.col("is_heading").sum()
    )
    return counts.join(introductions, on="row", how="full", coalesce=True)


def steps(texts: pl.DataFrame, all_lines: pl.DataFrame) -> pl.DataFrame:
    """(row, text, step_kind, is_ordered) of answers -> (row, step_num, action, content, reasoning), in order.

    step_kind is the place in LIST_KINDS of the lines that are the steps, the most trusted kind that the answer has twice.
    Where it is null the steps are the sentences, and in an ordered answer those that say their place.
    """
    listed = _listed_steps(texts.filter(pl.col("step_kind").is_not_null()).select("row", "step_kind"), all_lines)
    written = _written_steps(texts.filter(pl.col("step_kind").is_null()))
    content = pl.col("content").map_batches(_single_spaced, return_dtype=pl.String).str.strip_chars(" *_:\r")
    return (
        pl.concat([listed, written])
        .with_columns(content=content.str.slice(0, LONGEST_STEP))
        .filter(pl.col("content") != "")
        .with_columns(low=pl.col("content").str.to_lowercase())
        .with_columns(
            step_num=place_in_row() + 1,
            verb=pl.col("low").map_batches(_verbs, return_dtype=pl.String),
            computes=pl.col("low").map_batches(_computes, return_dtype=pl.Boolean),
            reasoning=pl.col("content").map_batches(_reasons, return_dtype=pl.String),
        )
        .select("row", "step_num", action=_action(), content="content", reasoning="reasoning")
    )


def _single_spaced(contents: pl.Series) -> pl.Series:
    needed = (contents.str.contains("  ", literal=True) | contents.str.contains("\t", literal=True)).arg_true()
    mended = contents.gather(needed).str.replace_all(r"[ \t]+", " ")
    return contents.clone().scatter(needed, mended) if len(needed) else contents


def _listed_steps(kinds: pl.DataFrame, all_lines: pl.DataFrame) -> pl.DataFrame:
    """The lines of an answer's kind of steps; a mere heading takes in the plain line below it."""
    has_below = (pl.col("row") == pl.col("row").shift(-1)) & pl.col("kind").shift(-1).is_null()
    picked = (
        all_lines.select("row", "line", "kind", below=pl.when(has_below).then(pl.col("line").shift(-1)))
        .filter(pl.col("kind").is_not_null())
        .join(kinds, on="row", maintain_order="left")
        .filter(pl.col("kind") == pl.col("step_kind"))
        .filter(place_in_row() < MOST_STEPS)
    )
    heading = pl.col("line").str.replace(_MARKER, "").str.replace_all("**", "", literal=True).str.strip_chars(" \t\r:_")
    is_short = (pl.col("line").str.len_bytes() <= LONGEST_HEADING) & ~pl.col("line").str.contains(r"[.!?]\**\s*$")
    is_heading = pl.col("below").is_not_null() & is_short
    whole = pl.when(pl.col("content") == "").then("below").otherwise(pl.col("content") + ": " + pl.col("below"))
    return picked.select("row", "below", content=heading, is_heading=is_heading).select(
        "row", content=pl.when("is_heading").then(whole).otherwise("content")
    )


def _written_steps(texts: pl.DataFrame) -> pl.DataFrame:
    """The sentences; of an ordered text only those that say their place."""
    is_placed = pl.col("sentence").str.to_lowercase().str.extract(_FIRST_WORD).is_in(_PLACES)
    found = sentences(texts.select("row", "text"), MOST_SENTENCES)
    ordered_rows = texts.filter("is_ordered")["row"]
    is_kept = ~pl.col("row").is_in(ordered_rows.implode()) | is_placed
    return (found.filter(is_kept) if len(ordered_rows) else found).select("row", content="sentence")


def _action() -> pl.Expr:
    """The class of the verb a step begins with; without one, what its words and signs betray."""
    low = pl.col("low")
    by_verb = pl.col("verb").replace_strict(_ACTION_OF, default=None, return_dtype=pl.String)
    return (
        pl.when(
            low.str.contains(
                r"^[^a-z]*(?:therefore|thus|hence|so|in conclusion|the (?:final )?answer|we conclude)[ ,:]"
            )
        )
        .then(pl.lit("conclude"))
        .when(by_verb.is_not_null())
        .then(by_verb)
        .when("computes")
        .then(pl.lit("calculate"))
        .otherwise(pl.lit("reason"))
    )


def _verbs(low: pl.Series) -> pl.Series:
    """The first word of each text that is more than a lead-in such as "then" or "let us"."""
    first = low.str.extract(_FIRST_WORD)
    leads_in = first.is_in(_LEAD_INS).fill_null(False)
    return (
        first.scatter(leads_in.arg_true(), low.filter(leads_in).str.extract(_AFTER_LEAD_INS))
        if leads_in.any()
        else first
    )


def _computes(low: pl.Series) -> pl.Series:
    has_equals = low.str.contains("=", literal=True)
    found = low.filter(has_equals).str.contains(signal_pattern("equation", "weak_equation"))
    return (has_equals & False).scatter(has_equals.arg_true(), found)


def _reasons(contents: pl.Series) -> pl.Series:
    """The clause that says why, or nothing; few steps have one, so they are picked out first."""
    has_reason = contents.str.contains(_MAY_HAVE_REASON)
    reasons = contents.filter(has_reason).str.extract(_REASON, 0).fill_null("").str.strip_chars(" ,;:")
    return pl.repeat("", len(contents), dtype=pl.String, eager=True).scatter(has_reason.arg_true(), reasons)
