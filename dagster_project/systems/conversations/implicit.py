"""What the next message says about the response before it: rejected, accepted or neutral (rules C2, C3).

The rules are tables (`implicit_complaints`, `implicit_refusals`, `implicit_acceptance`, `implicit_languages`, `implicit_asks`).
This module puts them in order: explicit rejection, the same words again, a repeated request, another language, giving up,
continuation, a new topic, and neutral for everything between. Each decision keeps the name of the rule it came from, and the
confidence that was measured of it. docs/implicit.md tells how well it does.
"""

from collections.abc import Sequence

import polars as pl

from dagster_project.columns.words import word
from dagster_project.systems.conversations.implicit_acceptance import (
    ACCEPTED,
    CONTINUED,
    NEUTRAL,
    ONLY_POLITE,
    OWN_REQUEST,
)
from dagster_project.systems.conversations.implicit_asks import ASKS, CODE, FAILED, WANTS_A_PROPOSAL
from dagster_project.systems.conversations.implicit_complaints import COMPLAINTS, HARMLESS
from dagster_project.systems.conversations.implicit_confidence import confidences
from dagster_project.systems.conversations.implicit_languages import (
    OTHER_LANGUAGES,
    languages_of,
    without_accents,
)
from dagster_project.systems.conversations.implicit_refusals import ABANDONED, REFUSALS
from dagster_project.systems.conversations.implicit_rules import (
    ANY_ASK,
    MORE,
    NOTHING,
    OFFER,
    OPEN,
    YES_NO,
    Rule,
    either,
    ready,
)
from dagster_project.systems.conversations.rephrase import repeats

SIMILARITY_THRESHOLD = 0.80
NEW_TOPIC_SIMILARITY = 0.20  # below it two messages have no subject in common
FEWEST_WORDS = 3  # of a message with a topic
NOMINAL_CONFIDENCE = {"explicit": 0.9, "abandonment": 0.85, "accepted": 0.7, "neutral": 0.5}
NEW_TOPIC_CONFIDENCE = 0.6  # nominal
STATUS = {"explicit": "rejected", "rephrased": "rejected", "abandonment": "rejected", "accepted": "accepted"}

RESENT, REPHRASED = "neutral:resent", "rephrased"
NOT_CONFIRMED = "explicit:not_confirmed"
NAMES_IT, NEW_TOPIC = "accepted:names_something_from_it", "accepted:new_topic"
ANSWERS, UNCLEAR, FOREIGN = "neutral:answers_a_question", "neutral:no_clear_signal", "neutral:other_language"
REASONS = tuple(
    dict.fromkeys(
        [
            rule.reason
            for rules in (COMPLAINTS, REFUSALS, OTHER_LANGUAGES, ABANDONED, NEUTRAL, ACCEPTED, CONTINUED)
            for rule in rules
        ]
        + [RESENT, REPHRASED, NAMES_IT, NEW_TOPIC, ANSWERS, FOREIGN, UNCLEAR]
    )
)

MESSAGE_HEAD = 500  # code points of a message that are looked at; a paste after them is no opinion
RESPONSE_TAIL = 300  # of a response: what it asked
QUERY_HEAD = 200  # of a query: what it wants
SHORT_RESPONSE = 400  # bytes; a response up to this long says one thing, and its question is its point
FULL_RESPONSE = 80  # bytes; to move on after less says nothing: small talk moves on all the time
RESENT_LENGTH = 12  # characters by which the same words may differ: signs and spaces

QUOTED = '"[^"]+"|“[^”]+”'

DENIED = r"\b(?:not|isnt|arent|wasnt|werent|doesnt|didnt|dont|no|never|but|too [a-z]+)\b"


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


def _decides(reason: str) -> pl.Expr:
    """The reason as it is kept while others are looked for: its place in REASONS, since numbers are cheaper than texts."""
    return pl.lit(REASONS.index(reason), pl.UInt8)


def with_first_reason(frame: pl.LazyFrame, rules: Sequence[Rule], text: str) -> pl.LazyFrame:
    """The frame with `reason`: where it is null, the reason of the first rule that counts for the text of this column."""
    follows, holds, stops = {}, {}, {}
    reason = pl.lit(None, pl.UInt8)
    for place, rule in reversed(list(enumerate(rules))):
        column = f"rule {place}"
        # A text is looked at only where it matters: a null one costs nothing.
        looked_at = pl.when(pl.col(rule.given)).then(pl.col(text)) if rule.given else pl.col(text)
        holds[column] = looked_at.str.contains(ready(rule.pattern))
        if rule.after != ANY_ASK:
            after = f"after {' '.join(rule.after)}"
            follows[after] = pl.col("asked").is_in(rule.after)
            holds[column] &= pl.col(after)
        if rule.unless:
            stopped = pl.when(column).then(pl.col(text)).str.contains(ready(rule.unless))
            stops[column] = pl.col(column) & ~stopped.fill_null(False)
        reason = pl.when(column).then(_decides(rule.reason)).otherwise(reason)
    frame = frame.with_columns(**follows).with_columns(**holds).with_columns(**stops)
    return frame.with_columns(reason=pl.coalesce("reason", reason)).drop(*holds, *follows)


def _repeats(unsaid: pl.DataFrame, threshold: float) -> pl.Series:
    """Which messages ask for the same again: alike, of the same intent, and a request."""
    same_intent = (pl.col("prev_intent") == pl.col("next_intent")).fill_null(True)
    alike = unsaid.filter(
        (pl.col("similarity") > threshold)
        & same_intent
        & pl.col("is_spoken")
        & ~pl.col("text").str.contains(ready(ONLY_POLITE)).fill_null(False)
    )
    return alike.filter(repeats(alike))["row"] if alike.height else alike["row"]


def _resent(unsaid: pl.DataFrame) -> pl.Series:
    """Which messages are the query again, word for word. Of such people in real logs most did not complain."""
    query, message = pl.col("prev_query"), pl.col("next_message")
    lengths = (text.str.len_chars().cast(pl.Int64) for text in (query, message))
    near = unsaid.filter(
        ((next(lengths) - next(lengths)).abs() <= RESENT_LENGTH)
        & ~pl.col("text").str.contains(ready(ONLY_POLITE)).fill_null(False)
    )
    same = (
        text.str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]+", " ").str.strip_chars(" ")
        for text in (query, message)
    )
    words, words_again = same
    return near.filter((words == words_again) & (words != ""))["row"]


def _is_new_topic() -> pl.Expr:
    """Whether a request of its own has no topic in common with the query, after a response that asked and failed nothing."""
    far = (pl.col("similarity") < NEW_TOPIC_SIMILARITY) & (pl.col("prev_intent") != pl.col("next_intent")).fill_null(
        True
    )
    topics = (pl.col(name).str.count_matches(" ", literal=True) >= FEWEST_WORDS - 1 for name in ("text", "prev_query"))
    maybe = (
        far & (pl.col("asked") == NOTHING) & pl.col("full") & pl.all_horizontal(*topics) & ~pl.col("failed")
    ).fill_null(False)
    text = pl.when(maybe).then("text")
    return (text.str.contains(ready(OWN_REQUEST.pattern)) & ~text.str.contains(ready(OWN_REQUEST.unless))).fill_null(
        False
    )


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


def _known(intent: str) -> pl.Expr:
    """An intent as it is compared: trimmed, in lower case, null where it is not known (rule G8)."""
    return word(intent).replace("", None)


def _decision(reason: str) -> tuple[str, float | None, str | None, str]:
    group = reason.split(":", maxsplit=1)[0]
    confidence = NEW_TOPIC_CONFIDENCE if reason == NEW_TOPIC else NOMINAL_CONFIDENCE.get(group)
    status = STATUS.get(group, "neutral")
    return status, confidence, group if status == "rejected" else None, reason


OUTPUT = (
    "feedback_status",
    "nominal_confidence",
    "feedback_confidence",
    "confidence_low",
    "correction_type",
    "reason",
)
# What follows from each reason; the nominal confidence of a repetition is its similarity.
DECISIONS = pl.DataFrame(
    [_decision(reason) for reason in REASONS],
    {
        "feedback_status": pl.String,
        "nominal_confidence": pl.Float64,
        "correction_type": pl.String,
        "reason": pl.String,
    },
    orient="row",
).hstack(confidences(REASONS).drop("reason"))


def detect(pairs: pl.DataFrame, threshold: float = SIMILARITY_THRESHOLD) -> pl.DataFrame:
    """The status, confidence, correction type and reason of every pair, row for row.

    Columns needed: prev_query, prev_response, next_message (String), similarity (Float64, of prev_query and next_message,
    rounded to 4 decimals), prev_intent, next_intent (String). Null means unknown; next_message is never null.
    """
    response = pl.col("prev_response").fill_null("")
    head = pl.col("next_message").str.head(MESSAGE_HEAD)
    harmless = ready(either(*(rule.pattern for rule in HARMLESS)))
    # Nothing that is quoted is the user's own word; where nothing is quoted, this is null and costs nothing.
    unquoted = normalised(pl.when(head.str.contains(QUOTED)).then(head).str.replace_all(QUOTED, " quoted "))
    told = languages_of(pairs.select(head)["next_message"])
    # what the English rules read: of a message in another language nothing
    readable = pl.when(~pl.col("is_foreign"))
    seen = (
        pairs.hstack(told)
        .lazy()
        .select(
            "prev_query",
            "prev_response",
            "next_message",
            "similarity",
            "is_foreign",
            "is_spoken",
            *(_known(name) for name in ("prev_intent", "next_intent")),
            text=readable.then(normalised(head)),
            unquoted=readable.then(unquoted),
            foreign=without_accents(pl.when("is_foreign").then(head)),
            tail=_end(response),
            short=response.str.len_bytes() <= SHORT_RESPONSE,
            full=response.str.len_bytes() >= FULL_RESPONSE,
            has_code=response.str.contains(CODE),
            statement=~head.str.contains("?", literal=True),
            wants_a_proposal=pl.col("prev_query").str.head(QUERY_HEAD).str.contains(WANTS_A_PROPOSAL).fill_null(False),
        )
        .with_columns(asked=asked(pl.col("tail")))
        .with_columns(
            asked=pl.when(~pl.col("short") & (pl.col("asked") == OPEN)).then(pl.lit(NOTHING)).otherwise("asked"),
            failed=pl.col("short") & pl.col("tail").str.contains(ready(FAILED)),
            proposed=(pl.col("asked") == OFFER) | (pl.col("short") & pl.col("wants_a_proposal")),
            objection=pl.coalesce("unquoted", "text").str.replace_all(harmless, " ").str.strip_chars(" ,"),
            reason=pl.lit(None, pl.UInt8),
        )
    )
    seen = with_first_reason(seen, (*COMPLAINTS, *REFUSALS), "objection")
    seen = with_first_reason(seen, OTHER_LANGUAGES, "foreign").with_row_index("row").collect()
    # What is decided is not looked at again.
    unsaid = seen.filter(pl.col("reason").is_null())
    # "Book a cab." before and after "Please confirm: a cab." asks for nothing else: the same words, sent again
    unchanged = _resent(seen.filter(pl.col("reason") == _decides(NOT_CONFIRMED)))
    details = ((RESENT, _resent(unsaid)), (REPHRASED, _repeats(unsaid, threshold)))
    found = (pl.when(pl.col("row").is_in(rows.implode())).then(_decides(reason)) for reason, rows in details)
    explicit = pl.when(~pl.col("row").is_in(unchanged.implode())).then("reason").otherwise(_decides(RESENT))
    decided = seen.lazy().with_columns(reason=pl.coalesce(explicit, *found))
    decided = decided.with_columns(reason=pl.coalesce("reason", pl.when("is_foreign").then(_decides(FOREIGN))))
    decided = with_first_reason(decided, ABANDONED, "text")
    decided = decided.with_columns(text=pl.when(pl.col("reason").is_null()).then("text"))
    decided = with_first_reason(decided, (*NEUTRAL, *ACCEPTED), "text")
    answers = pl.col("short") & pl.col("asked").is_in([OPEN, MORE, YES_NO])
    decided = decided.with_columns(reason=pl.coalesce("reason", pl.when(answers).then(_decides(ANSWERS)))).with_columns(
        text=pl.when(pl.col("reason").is_null() & ~pl.col("failed")).then("text")
    )
    decided = (
        with_first_reason(decided, CONTINUED, "text")
        .select(
            "similarity",
            "reason",
            new_topic=_is_new_topic(),
            may_name=~pl.col("failed") & ~pl.col("text").str.contains(ready(DENIED)),
        )
        .collect()
    )
    named = _names_something_from_it(pairs, decided["reason"].is_null() & decided["may_name"].fill_null(False))
    reasons = decided.select(
        pl.coalesce(
            "reason",
            pl.when(named).then(_decides(NAMES_IT)),
            pl.when("new_topic").then(_decides(NEW_TOPIC)),
            _decides(UNCLEAR),
        )
    ).to_series()
    found = DECISIONS[reasons].with_columns(
        nominal_confidence=pl.when(pl.col("reason") == REPHRASED)
        .then(decided["similarity"])
        .otherwise("nominal_confidence")
    )
    return found.select(*OUTPUT)
