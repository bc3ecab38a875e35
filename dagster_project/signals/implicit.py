"""What the next message says about the response before it: rejected, accepted or neutral (rules C2, C3).

The rules are tables (`implicit_patterns`, `implicit_refusals`, `implicit_acceptance`, `implicit_asks`). This module puts them
in order: explicit rejection, a repeated request, abandonment, continuation, a new topic, and neutral for everything between.
Each decision keeps the name of the rule it came from. docs/implicit.md tells how well it does.
"""

from collections.abc import Sequence

import polars as pl

from dagster_project.signals.implicit_acceptance import ACCEPTED, CONTINUED, NEUTRAL, ONLY_POLITE
from dagster_project.signals.implicit_asks import ASKS, FAILED
from dagster_project.signals.implicit_patterns import COMPLAINTS, HARMLESS
from dagster_project.signals.implicit_refusals import ABANDONED, REFUSALS
from dagster_project.signals.implicit_rules import ANY_ASK, MORE, NOTHING, OPEN, YES_NO, Rule, either, ready

SIMILARITY_THRESHOLD = 0.80
NEW_TOPIC_SIMILARITY = 0.20  # below it two messages have no subject in common
NEAR_COPY_SIMILARITY = 0.97  # above it a message repeats the query, whatever word was exchanged
FEWEST_WORDS = 3  # of a message with a topic
# Words whose exchange changes no question: "it" for what it stands for, "the" for "this".
SMALL_WORD = (
    "^(?:the|that|this|these|those|an?|my|our|your|please|can|could|would|is|was|its?|they|them|their|he|him|his|she|her"
    "|there|ones?|some|any|of|in|on|at|to|for)$"
)
SUBSTANTIAL_WORD = 4  # letters: shorter ones hold sentences together

CONFIDENCE = {"explicit": 0.9, "abandonment": 0.85, "accepted": 0.7, "neutral": 0.5}
NEW_TOPIC_CONFIDENCE = 0.6
STATUS = {"explicit": "rejected", "rephrased": "rejected", "abandonment": "rejected", "accepted": "accepted"}

REPHRASED, NAMES_IT, NEW_TOPIC = "rephrased", "accepted:names_something_from_it", "accepted:new_topic"
ANSWERS, UNCLEAR = "neutral:answers_a_question", "neutral:no_clear_signal"

MESSAGE_HEAD = 500  # code points of a message that are looked at; a paste after them is no opinion
RESPONSE_TAIL = 300  # of a response: what it asked
SHORT_RESPONSE = 400  # bytes; a response up to this long says one thing, and its question is its point

KIND_OF_QUESTION = (
    r"^(?:and |so |but |ok |okay )*((?:in |for |on |at |from )?(?:what|which)|who|where|when|why|how|is|are|was|were|do|does"
    r"|did|has|have)(?-u:\b)"
)


def normalised(text: pl.Expr) -> pl.Expr:
    """The text as the patterns see it: lower case ASCII, without apostrophes, and "did not" as "didnt"."""
    return (
        text.str.to_lowercase()
        .str.replace_many(
            ["'", "’", "‘", "`", "´", "👍", "👎", "\n"], ["", "", "", "", "", " thumbs_up ", " thumbs_down ", " . "]
        )
        .str.replace_all(r"[ ]*[^a-z0-9_.,;:!?$ ][^a-z0-9_.,;:!?$]*|[ ]{2,}", " ")
        .str.replace_all(r"\b(do|does|did|is|was|are|were|could|would|should|has|have|had) not\b", "${1}nt")
        .str.strip_chars(" ")
    )


def asked(tail: pl.Expr) -> pl.Expr:
    """What a text asks at its end."""
    kind = pl.lit(NOTHING)
    for record in reversed(ASKS):
        kind = pl.when(tail.str.contains(ready(record.pattern))).then(pl.lit(record.kind)).otherwise(kind)
    return kind


def _end(response: pl.Expr) -> pl.Expr:
    """The end of a response, normalised; empty for a long one that asks nothing, since a long one has said a lot before."""
    is_long_statement = (response.str.len_bytes() > SHORT_RESPONSE) & ~response.str.contains(r"\?\W{0,8}$")
    return normalised(pl.when(is_long_statement).then(pl.lit("")).otherwise(response.str.tail(RESPONSE_TAIL)))


def first_reason(rules: Sequence[Rule], text: str) -> pl.Expr:
    """The reason of the first rule that counts for the text of this column, or null."""
    reason = pl.lit(None, pl.String)
    for rule in reversed(rules):
        holds = pl.col(text).str.contains(ready(rule.pattern))
        if rule.unless:
            holds &= ~pl.col(text).str.contains(ready(rule.unless))
        if rule.after != ANY_ASK:
            holds &= pl.col("asked").is_in(rule.after)
        if rule.short_response:
            holds &= pl.col("short")
        reason = pl.when(holds).then(pl.lit(rule.reason)).otherwise(reason)
    return reason


def _repeats(threshold: float) -> pl.Expr:
    """Whether the message asks for the same again: alike, of the same intent, a request, and nothing new in it."""
    same_intent = (pl.col("prev_intent") == pl.col("next_intent")).fill_null(True)
    alike = (pl.col("similarity") > threshold).fill_null(False) & same_intent
    doubtful = alike & (pl.col("similarity") <= NEAR_COPY_SIMILARITY)
    text = pl.when(alike).then("text")
    return (
        alike & ~text.str.contains(ready(ONLY_POLITE)).fill_null(True) & ~_asks_something_new(doubtful).fill_null(False)
    )


def _is_new_topic() -> pl.Expr:
    """Whether two messages that have a topic have none in common, after a response that asked nothing and did not fail."""
    far = (pl.col("similarity") < NEW_TOPIC_SIMILARITY) & (pl.col("prev_intent") != pl.col("next_intent")).fill_null(
        True
    )
    topics = (pl.col(name).str.count_matches(" ", literal=True) >= FEWEST_WORDS - 1 for name in ("text", "prev_query"))
    return (far & (pl.col("asked") == NOTHING) & pl.all_horizontal(*topics) & ~pl.col("failed")).fill_null(False)


def _asks_something_new(alike: pl.Expr) -> pl.Expr:
    """Of messages alike the query: the same question with a number or one word exchanged, or a question of another kind.

    "Who is X?" and "Which year was X born in?" are alike to a model, since they share X; the second repeats nothing.
    """
    query = normalised(pl.when(alike).then(pl.col("prev_query").str.head(MESSAGE_HEAD)))
    text = pl.when(alike).then(pl.col("text"))
    words, words_of_query = (t.str.extract_all(r"[a-z0-9_]+") for t in (text, query))
    gone = words_of_query.list.set_difference(words)
    come = words.list.set_difference(words_of_query)
    one_word_exchanged = (
        (words.list.len() == words_of_query.list.len())
        & (words.list.len() > FEWEST_WORDS)
        & (gone.list.len() == 1)
        & (come.list.len() == 1)
        & ~come.list.first().str.contains(SMALL_WORD)
        & ~gone.list.first().str.contains(SMALL_WORD)
        # The same beginning: a mended typo or another form of the word.
        & (gone.list.first().str.head(3) != come.list.first().str.head(3))
    )
    numbers, numbers_of_query = (t.str.extract_all(r"\b[0-9][0-9.,:]*\b") for t in (text, query))
    number_exchanged = (numbers.list.set_difference(numbers_of_query).list.len() > 0) & (
        numbers_of_query.list.set_difference(numbers).list.len() > 0
    )
    other_kind = text.str.extract(KIND_OF_QUESTION) != query.str.extract(KIND_OF_QUESTION)
    new_words = come.list.eval(pl.element().str.len_bytes() >= SUBSTANTIAL_WORD).list.sum()
    return one_word_exchanged | number_exchanged | (other_kind & (new_words >= 2) & (gone.list.len() > 0))


def _names_something_from_it(pairs: pl.DataFrame, open_rows: pl.Series) -> pl.Series:
    """Which messages have a name, number or price that the response has and the query has not."""
    names = (
        r"[a-z0-9,'’] [A-Z][\p{L}0-9&'’.-]{2,}|^[A-Z][\p{L}0-9&'’-]{2,} [A-Z][\p{L}0-9&'’-]{2,}|[$€£]? ?\d[\d.,:]*\d"
    )
    named = (
        pairs.select("prev_query", "prev_response", pl.col("next_message").str.head(MESSAGE_HEAD))
        .with_row_index("row")
        .filter(open_rows)
        .with_columns(name=pl.col("next_message").str.extract_all(names))
        .filter(pl.col("name").list.len() > 0)
        .explode("name")
        .with_columns(pl.col("name").str.replace(r"^[a-z0-9,'’] ", "").str.strip_chars(" .,'’:-"))
        .filter(
            (pl.col("name").str.len_bytes() > 1)
            & pl.col("prev_response").str.contains(pl.col("name"), literal=True)
            & ~pl.col("prev_query").str.to_lowercase().str.contains(pl.col("name").str.to_lowercase(), literal=True)
        )
    )
    return pl.int_range(pairs.height, eager=True, dtype=pl.get_index_type()).is_in(named["row"].implode())


def detect(pairs: pl.DataFrame, threshold: float = SIMILARITY_THRESHOLD) -> pl.DataFrame:
    """The status, confidence, correction type and reason of every pair, row for row.

    Columns needed: prev_query, prev_response, next_message (String), similarity (Float64, of prev_query and next_message,
    rounded to 4 decimals), prev_intent, next_intent (String). Null means unknown; next_message is never null.
    """
    response = pl.col("prev_response").fill_null("")
    harmless = ready(either(*(rule.pattern for rule in HARMLESS)))
    seen = (
        pairs.select(
            "prev_query", "similarity", "prev_intent", "next_intent",
            text=normalised(pl.col("next_message").str.head(MESSAGE_HEAD)),
            tail=_end(response),
            short=response.str.len_bytes() <= SHORT_RESPONSE,
        )
        .with_columns(asked=asked(pl.col("tail")))
        .with_columns(
            asked=pl.when(~pl.col("short") & (pl.col("asked") == OPEN)).then(pl.lit(NOTHING)).otherwise("asked"),
            failed=pl.col("short") & pl.col("tail").str.contains(ready(FAILED)),
            objection=pl.col("text").str.replace_all(harmless, " ").str.strip_chars(" ,"),
            repeats=_repeats(threshold),
        )
    )  # fmt: skip
    rejection = pl.coalesce(
        first_reason((*COMPLAINTS, *REFUSALS), "objection"),
        pl.when("repeats").then(pl.lit(REPHRASED)),
        first_reason(ABANDONED, "text"),
    )
    # What is decided is not looked at again: a null text costs nothing.
    seen = seen.with_columns(reason=rejection).with_columns(text=pl.when(pl.col("reason").is_null()).then("text"))
    answers = pl.col("short") & pl.col("asked").is_in([OPEN, MORE, YES_NO])
    seen = seen.with_columns(
        reason=pl.coalesce(
            "reason", first_reason((*NEUTRAL, *ACCEPTED), "text"), pl.when(answers).then(pl.lit(ANSWERS))
        )
    ).with_columns(text=pl.when(pl.col("reason").is_null() & ~pl.col("failed")).then("text"))
    decided = seen.with_columns(
        reason=pl.coalesce("reason", first_reason(CONTINUED, "text")), new_topic=_is_new_topic()
    ).select("similarity", "failed", "reason", "new_topic")
    named = _names_something_from_it(pairs, decided["reason"].is_null() & ~decided["failed"])
    return (
        decided.with_columns(
            reason=pl.coalesce(
                "reason",
                pl.when(named).then(pl.lit(NAMES_IT)),
                pl.when("new_topic").then(pl.lit(NEW_TOPIC)),
                pl.lit(UNCLEAR),
            )
        )
        .with_columns(group=pl.col("reason").str.split_exact(":", 1).struct.field("field_0"))
        .select(
            feedback_status=pl.col("group").replace_strict(STATUS, default="neutral"),
            feedback_confidence=pl.when(pl.col("reason") == REPHRASED)
            .then(pl.col("similarity"))
            .when(pl.col("reason") == NEW_TOPIC)
            .then(NEW_TOPIC_CONFIDENCE)
            .otherwise(pl.col("group").replace_strict(CONFIDENCE, default=None, return_dtype=pl.Float64)),
            correction_type=pl.when(pl.col("group").is_in(["explicit", "rephrased", "abandonment"])).then("group"),
            reason="reason",
        )
    )
