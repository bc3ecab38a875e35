"""What was said before a prompt, as turns (T7): a JSON list of messages, or a transcript with role markers.

What can be read as neither stays one text, as a single turn of the user, and is counted as drift (`is_parsed`). Neighbouring
turns of one role are merged, a blank line between them: chat templates refuse two of a kind in a row. Empty turns are
dropped (a call of a tool, an image). What stands before the first marker of a transcript is a turn of the system: neither
side said it.

A marker stands at the begin of a line outside of fenced code. Two of them make a transcript, or one at the very start; a
role is marked in one way and by one word all through a transcript, so "Customer:" in an answer to "User:" is text.
"""

from collections.abc import Sequence

import polars as pl

from dagster_project.columns.json_columns import items_of, json_kinds, kinds_and_texts_at, strings_at, texts_in
from dagster_project.columns.spaces import SPACES
from dagster_project.columns.transcript_markers import (
    ASSISTANT,
    CHOICES,
    ENDS,
    FAMILIES,
    JSON_ROLES,
    NAMES,
    SYSTEM,
    TOOL,
    USER,
    WORDS,
    Family,
)

TURN = pl.Struct({"role": pl.String, "content": pl.String})
TURNS = pl.List(TURN)
EXCHANGES = pl.List(pl.Struct({"question": pl.String, "answer": pl.String}))

# Where a list of turns may stand in an object, and the two sides within a turn; the first that is there counts.
LISTS = tuple("messages conversations conversation turns history chat dialog dialogue chat_history".split())
SPEAKERS = tuple("$.role $.from $.speaker $.author.role $.author $.sender $.type $[0]".split())
CONTENTS = tuple("$.content $.value $.text $.message $.parts $.body $.data.content $[1]".split())
# A turn of both sides: {"query": ..., "response": ...}.
QUESTIONS = tuple("$.user $.human $.query $.question $.prompt $.input $.instruction".split())
ANSWERS = tuple("$.assistant $.ai $.sam $.bot $.response $.answer $.output $.completion $.reply".split())
CALLS = ("$.tool_calls", "$.function_call")  # a turn that says nothing else
SYSTEM_KEYS = ("system", "system_prompt")
NOTHING = ("[]", "{}", "null", '""')

_EDGE = "\x00"  # around what a marker is; the contract lets no NUL into a text (G5)
_CODE = r"(?:^[ \t]*```[^`\n]*\n(?:[^\n]*\n)*?[ \t]*```[ \t\r]*$)"
_LINES_OF_JSON = r"\}[ \t\r]*\n\s*\{"


def parsed(contexts: pl.Series) -> pl.DataFrame:
    """`turns` and `is_parsed` of each context. Of none, or a blank one, there are no turns, and nothing was left unread."""
    texts = contexts.cast(pl.String).rename("text")
    frame = texts.to_frame().with_row_index("row")
    has_text = (texts.str.strip_chars(SPACES).fill_null("") != "") & ~texts.is_in(NOTHING).fill_null(False)
    asked = frame.filter(has_text & ~texts.str.contains(_EDGE, literal=True).fill_null(False))
    listed = _of_json(asked)
    written = _of_transcripts(asked.join(listed, on="row", how="anti"))
    found = pl.concat([listed, written])
    unread = frame.filter(has_text).join(found, on="row", how="anti")
    as_it_is = unread.select("row", pl.concat_list(_turn(USER, "text")).alias("turns"))
    told = pl.concat([found.with_columns(is_parsed=True), as_it_is.with_columns(is_parsed=False)])
    return frame.join(told, on="row", how="left", maintain_order="left").select(
        pl.coalesce("turns", pl.lit([], dtype=TURNS)).alias("turns"), pl.col("is_parsed").fill_null(True)
    )


def exchanges(turns: pl.Series) -> pl.Series:
    """What users asked and were answered, in order: per list of turns those of the assistant, each with the user's before it."""
    listed = turns.rename("turns").to_frame().with_row_index("row").filter(pl.col("turns").list.len() > 1)
    said = listed.explode("turns").unnest("turns")
    question = pl.when(pl.col("role") == USER).then("content").forward_fill().over("row")
    pairs = said.with_columns(question.alias("question")).filter(
        (pl.col("role") == ASSISTANT) & pl.col("question").is_not_null()
    )
    grouped = pairs.group_by("row", maintain_order=True).agg(
        pl.struct("question", pl.col("content").alias("answer")).alias("exchanges")
    )
    rows = pl.DataFrame({"row": pl.int_range(len(turns), dtype=pl.UInt32, eager=True)})
    joined = rows.join(grouped, on="row", how="left", maintain_order="left")
    return joined.select(pl.coalesce("exchanges", pl.lit([], dtype=EXCHANGES)).alias("exchanges")).to_series()


def _turn(role: str, content: str) -> pl.Expr:
    return pl.struct(pl.lit(role).alias("role"), pl.col(content).alias("content"))


def _put_together(said: pl.DataFrame) -> pl.DataFrame:
    """`row` and `turns` from single turns in order: empty ones dropped, neighbours of one role merged."""
    rows = said.select(pl.col("row").unique(maintain_order=True))
    full = said.filter(pl.col("content") != "")
    number = pl.struct("row", "role").rle_id().alias("number")
    merged = full.group_by("row", "role", number, maintain_order=True).agg(pl.col("content").str.join("\n\n"))
    turns = merged.group_by("row", maintain_order=True).agg(pl.struct("role", "content").alias("turns"))
    joined = rows.join(turns, on="row", how="left", maintain_order="left")
    return joined.select("row", pl.coalesce("turns", pl.lit([], dtype=TURNS)).alias("turns"))


def _of_json(asked: pl.DataFrame) -> pl.DataFrame:
    """Contexts that are JSON, every element of which is a turn. Lines of JSON are a list."""
    may_be = asked.filter(pl.col("text").str.strip_chars_start(SPACES).str.contains(r"\A[\[{]"))
    lines = pl.concat_str(pl.lit("["), pl.col("text").str.replace_all(_LINES_OF_JSON, "},{"), pl.lit("]"))
    has_lines = pl.col("text").str.contains(_LINES_OF_JSON) & pl.col("text").str.contains(r"\A\s*\{")
    texts = may_be.with_columns(pl.when(has_lines).then(lines).otherwise("text").alias("text"))
    kinds = json_kinds(texts.select("text"))["text"]
    texts = texts.filter(kinds.is_in(["ARRAY", "OBJECT"]).fill_null(False)).with_row_index("asked")
    if texts.is_empty():
        return pl.DataFrame(schema={"row": pl.UInt32, "turns": TURNS})
    items = items_of(texts["text"], LISTS).rename({"row": "asked"})
    said = _said(items)
    unread = said.filter(pl.col("role").is_null() | pl.col("content").is_null())
    above = strings_at(texts["text"], SYSTEM_KEYS).select(pl.coalesce(*SYSTEM_KEYS).alias("content"))
    first = texts.select("asked").hstack(above).filter(pl.col("content").is_not_null())
    told = pl.concat(
        [first.select("asked", pl.lit(SYSTEM).alias("role"), "content"), said.select("asked", "role", "content")]
    )
    has_nul = told.filter(pl.col("content").str.contains(_EDGE, literal=True))
    kept = told.join(unread, on="asked", how="anti").join(has_nul, on="asked", how="anti")
    ordered = kept.sort("asked", maintain_order=True).join(
        texts.select("asked", "row"), on="asked", maintain_order="left"
    )
    return _put_together(ordered.with_columns(pl.col("content").str.strip_chars(SPACES)))


def _said(items: pl.DataFrame) -> pl.DataFrame:
    """`asked`, `role` and `content` of elements: null where one cannot be told, two rows where it holds both sides."""
    paths = (*SPEAKERS, *CONTENTS, *QUESTIONS, *ANSWERS, *CALLS)
    at = {path: place for place, path in enumerate(paths)}
    found = items.hstack(kinds_and_texts_at(items["item"], paths))

    def first(among: Sequence[str]) -> tuple[pl.Expr, pl.Expr]:
        """The kind and the text of the first path that is there."""
        known = [(pl.col("kinds").list.get(at[path]), pl.col("texts").list.get(at[path])) for path in among]
        kind = pl.coalesce(pl.when(kind != "NULL").then(kind) for kind, _ in known)
        return kind, pl.coalesce(pl.when(kind != "NULL").then(text) for kind, text in known)

    def kinds(among: Sequence[str]) -> list[pl.Expr]:
        return [pl.col("kinds").list.get(at[path]) for path in among]

    (_, speaker), (kind, content) = first(SPEAKERS), first(CONTENTS)
    (asked_kind, question), (answered_kind, answer) = first(QUESTIONS), first(ANSWERS)
    role = speaker.str.strip_chars(SPACES).str.to_lowercase().replace_strict(JSON_ROLES, default=None)
    is_both = speaker.is_null() & (asked_kind == "VARCHAR") & (answered_kind == "VARCHAR")
    says_nothing = pl.any_horizontal(
        *(kind == "NULL" for kind in kinds(CONTENTS)), *(kind.is_not_null() for kind in kinds(CALLS))
    )
    read = found.select(
        "asked",
        says_nothing.fill_null(False).alias("says_nothing"),
        pl.when(is_both.fill_null(False)).then(pl.lit(USER)).otherwise(role).alias("role"),
        pl.when(is_both.fill_null(False)).then(pl.lit("VARCHAR")).otherwise(kind).alias("kind"),
        pl.when(is_both.fill_null(False)).then(question).otherwise(content).alias("content"),
        pl.when(is_both.fill_null(False)).then(answer).alias("answer"),
    ).with_row_index("place")
    parts = read.filter(pl.col("kind") == "ARRAY")
    told = parts.select("place", texts_in(parts["content"]).alias("told"))
    read = read.join(told, on="place", how="left", maintain_order="left")
    content = (
        pl.when(pl.col("kind").is_null() & pl.col("says_nothing"))
        .then(pl.lit(""))
        .when(pl.col("kind") == "ARRAY")
        .then("told")
        .when(pl.col("kind") != "OBJECT")
        .then("content")
    )
    questions = read.select("asked", "place", "role", content.alias("content"), pl.lit(0).alias("side"))
    answers = read.filter(pl.col("answer").is_not_null()).select(
        "asked", "place", pl.lit(ASSISTANT).alias("role"), pl.col("answer").alias("content"), pl.lit(1).alias("side")
    )
    return pl.concat([questions, answers]).sort("place", "side")


def _of_transcripts(asked: pl.DataFrame) -> pl.DataFrame:
    """The first family of markers that makes turns of a text is the one it is written in."""
    found = []
    for family in FAMILIES:
        told = _of_family(asked.filter(pl.col("text").str.contains(f"(?im){family.pattern}")), family)
        found.append(told)
        asked = asked.join(told, on="row", how="anti")
    return pl.concat(found)


def _of_family(marked: pl.DataFrame, family: Family) -> pl.DataFrame:
    if marked.is_empty():
        return pl.DataFrame(schema={"row": pl.UInt32, "turns": TURNS})
    pieces = _pieces(marked, family)
    pieces = pieces.with_columns(_is_turned(pieces).alias("is_turned"))
    judged = pieces.group_by("row").agg(
        pl.col("is_turned").sum().alias("markers"),
        # nothing but space before the first marker
        (pl.col("text").str.strip_chars(SPACES) == "").first().alias("is_at_start"),
        pl.col("role").filter("is_turned").first().alias("first_role"),
        (pl.col("role").filter("is_turned") == ASSISTANT).any().alias("has_answer"),
    )
    many, alone = pl.col("markers") > 1, pl.col("is_at_start") & (pl.col("first_role") != TOOL)
    is_told = (pl.col("first_role") == USER) & pl.col("has_answer") if family.is_questions else many | alone
    kept = judged.filter((pl.col("markers") > 0) & is_told.fill_null(False)).select("row")
    if family.is_questions:
        kept = kept.join(marked.filter(pl.col("text").str.contains(CHOICES)), on="row", how="anti")
    said = pieces.join(kept, on="row", how="semi", maintain_order="left")
    # a marker that is none here is text again
    text = pl.when("is_turned").then("text").otherwise(pl.concat_str(pl.col("marker").fill_null(""), "text"))
    number = pl.col("is_turned").cum_sum().over("row").alias("turn")
    role = pl.when("is_turned").then("role").alias("role")
    turns = (
        said.with_columns(text.alias("text"), number, role)
        .group_by("row", "turn", maintain_order=True)
        .agg(pl.col("role").first(), pl.col("text").str.join("").alias("content"))
        .with_columns(pl.col("role").fill_null(SYSTEM), pl.col("content").str.replace(ENDS, "").str.strip_chars(SPACES))
    )
    return _put_together(turns)


def _pieces(marked: pl.DataFrame, family: Family) -> pl.DataFrame:
    """Texts cut at what looks like a marker: `marker`, its `role`, `style` and `voice`, and the `text` up to the next one.

    The pattern looks for blocks of code too, which keep their text; between the edges stand code, marker and words in turn.
    """
    groups = "".join(f"${{{2 + number}}}{_EDGE}" for number in range(1 + family.words))
    pattern = f"(?im)({_CODE})|{family.pattern}"
    cut = marked.select(
        "row", pl.col("text").str.replace_all(pattern, f"{_EDGE}${{1}}{_EDGE}{groups}").str.split(_EDGE)
    )
    period = 3 + family.words
    place = pl.int_range(pl.len()).over("row")
    each = cut.explode("text").with_columns(place=place % period, number=place // period)
    # the first piece of each round is text up to what was found: it belongs to the round before
    pieces = each.with_columns(number=pl.col("number") - (pl.col("place") == 0)).group_by(
        "row", "number", maintain_order=True
    )
    by_place = pieces.agg(
        pl.col("text").filter(pl.col("place") == 1).first().fill_null("").alias("code"),
        pl.col("text").filter(pl.col("place") == 2).first().fill_null("").alias("marker"),
        pl.col("text").filter(pl.col("place") > 2).str.join("").alias("word"),
        pl.col("text").filter(pl.col("place") == 0).first().fill_null("").alias("text"),
    ).sort("row", "number")
    word = pl.col("word").str.to_lowercase()
    style = pl.col("marker").str.to_lowercase().str.replace_all(r"[\w .,/+()-]|\s", "")
    voice = pl.when(word.is_in(list(NAMES))).then(pl.lit("")).otherwise(word)
    return by_place.select(
        "row",
        "number",
        "marker",
        pl.concat_str("code", "text").alias("text"),
        word.replace_strict({**WORDS, "model": ASSISTANT}, default=None).alias("role"),
        style.alias("style"),
        voice.alias("voice"),
    )


def _is_turned(pieces: pl.DataFrame) -> pl.Series:
    """Whether a marker is one: of the style of the first one, and of the word its role had the first time."""
    known = pl.when(pl.col("role").is_not_null())
    style = known.then("style").drop_nulls().first().over("row") == pl.col("style")
    pieces = pieces.with_columns(same=style & pl.col("role").is_not_null())
    voice = pl.when("same").then("voice").drop_nulls().first().over("row", "role")
    return pieces.select(((voice == pl.col("voice")) & pl.col("same")).fill_null(False)).to_series()
