"""What the next message says about the response before it: rejected, accepted or neutral (rules C2, C3).

The rules are tables (`implicit_patterns`, `implicit_refusals`, `implicit_acceptance`, `implicit_asks`). This module puts them
in order: explicit rejection, a repeated request, abandonment, continuation, a new topic, and neutral for everything between.
Each decision keeps the name of the rule it came from. docs/implicit.md tells how well it does.
"""

from collections.abc import Sequence

import polars as pl

from dagster_project.systems.conversations.implicit_acceptance import (
    ACCEPTED,
    CONTINUED,
    NEUTRAL,
    ONLY_POLITE,
    OWN_REQUEST,
)
from dagster_project.systems.conversations.implicit_asks import ASKS, CODE, FAILED, WANTS_A_PROPOSAL
from dagster_project.systems.conversations.implicit_patterns import COMPLAINTS, HARMLESS
from dagster_project.systems.conversations.implicit_refusals import ABANDONED, REFUSALS
from dagster_project.systems.conversations.implicit_reports import REPORTS
from dagster_project.systems.conversations.implicit_rules import (
    ANY_ASK,
    CONFIRM,
    MORE,
    NOTHING,
    OFFER,
    OPEN,
    SERVICE,
    YES_NO,
    Rule,
    either,
    ready,
)

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

INSISTS, DENIES = "explicit:insists", "explicit:denies_a_detail"
REPHRASED, NAMES_IT, NEW_TOPIC = "rephrased", "accepted:names_something_from_it", "accepted:new_topic"
ANSWERS, UNCLEAR = "neutral:answers_a_question", "neutral:no_clear_signal"
REASONS = tuple(
    dict.fromkeys(
        [
            rule.reason
            for rules in (COMPLAINTS, REPORTS, REFUSALS, ABANDONED, NEUTRAL, ACCEPTED, CONTINUED)
            for rule in rules
        ]
        + [INSISTS, DENIES, REPHRASED, NAMES_IT, NEW_TOPIC, ANSWERS, UNCLEAR]
    )
)

MESSAGE_HEAD = 500  # code points of a message that are looked at; a paste after them is no opinion
RESPONSE_TAIL = 300  # of a response: what it asked
QUERY_HEAD = 200  # of a query: what it wants
SHORT_RESPONSE = 400  # bytes; a response up to this long says one thing, and its question is its point

KIND_OF_QUESTION = (
    r"^(?:and |so |but |ok |okay )*((?:in |for |on |at |from )?(?:what|which)|who|where|when|why|how|is|are"
    r"|was|were|do|does"
    r"|did|has|have)(?-u:\b)"
)

QUOTED = '"[^"]+"|“[^”]+”'

SAID_BEFORE = (
    r"^(?:(?:no|but|um|hey|sorry|ok|well)[,. ]+)*i (?:clearly |already |specifically |just |literally "
    r"|did )?(?:said|say|asked for|wanted|wrote)"
    r" (?:an? |the )?([a-z0-9]{3,}(?: [a-z0-9]+){0,2})[.! ]*$"
)
INSISTENCE = r"(?:said|say|asked for|wanted|wrote) |!$"
LOUDER = r"^(?:but |no |um )?([a-z0-9]{4,}(?: [a-z0-9]+){0,2}) ?!+$"

DENIAL = r"\b(?:not|isnt|arent|wasnt|werent|doesnt)\b"
DENIED_NAME = r"\bnot (?:(?:an?|the|in|on|at|for|from|with|to|by|of) )*([a-z0-9][a-z0-9_]*)"
DENIED_SUBJECT = (
    r"^(?:(?:but|um|no|well|hm+|sorry|hey|wait|the|an?)[,. ]+)*([a-z0-9_]+)(?: [a-z0-9_]+)? (?:isnt|arent"
    r"|wasnt|werent|doesnt have)\b"
)
# A question denies nothing, and who speaks of himself speaks of no response.
NO_DENIAL = (
    r"\?|\b(?:(?:im|i am|i was|were|we are|or|if|why|whether|so|just|only|explain|can you|could you|tell"
    r"|not sure) not|explain|whether|can you|could you"
    r"|thanks|thank you|great|love|write|add|rewrite|translate|not (?:only|just|to mention|sure))\b"
)
NO_NAME = (
    r"^(?:sure|bad|yet|now|really|that|this|only|just|so|too|very|all|any|exactly|quite|my|your|it|even|much"
    r"|many|here|there|as|if|when|what|how|why|who"
    r"|because|great|good|i|we|you|he|she|they|one|more|today|right|true|always|every|some|and|or|but)$"
)
NO_SUBJECT = (
    r"^(?:this|that|there|what|why|how|who|where|they|these|those|she|its|you|which|mine|and|but|people|life"
    r"|everyone|everything|something|nothing|today|maybe|one|here|the)$"
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


def _repeats(seen: pl.DataFrame, threshold: float) -> pl.Series:
    """Which messages ask for the same again: alike, of the same intent, a request, and nothing new in it."""
    same_intent = (pl.col("prev_intent") == pl.col("next_intent")).fill_null(True)
    alike = seen.filter((pl.col("similarity") > threshold) & same_intent)
    new = (pl.col("similarity") <= NEAR_COPY_SIMILARITY) & _asks_something_new().fill_null(False)
    return alike.filter(~pl.col("text").str.contains(ready(ONLY_POLITE)) & ~new)["row"]


def _is_new_topic() -> pl.Expr:
    """Whether a request of its own has no topic in common with the query, after a response that asked and failed nothing."""
    far = (pl.col("similarity") < NEW_TOPIC_SIMILARITY) & (pl.col("prev_intent") != pl.col("next_intent")).fill_null(
        True
    )
    topics = (pl.col(name).str.count_matches(" ", literal=True) >= FEWEST_WORDS - 1 for name in ("text", "prev_query"))
    maybe = (far & (pl.col("asked") == NOTHING) & pl.all_horizontal(*topics) & ~pl.col("failed")).fill_null(False)
    text = pl.when(maybe).then("text")
    return (text.str.contains(ready(OWN_REQUEST.pattern)) & ~text.str.contains(ready(OWN_REQUEST.unless))).fill_null(
        False
    )


def _asks_something_new() -> pl.Expr:
    """Of messages alike the query: the same question with a number or one word exchanged, or a question of another kind.

    "Who is X?" and "Which year was X born in?" are alike to a model, since they share X; the second repeats nothing.
    """
    query = normalised(pl.col("prev_query").str.head(MESSAGE_HEAD))
    text = pl.col("text")
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


def _known(intent: str) -> pl.Expr:
    """An intent as it is compared: trimmed, in lower case, null where it is not known (rule G8)."""
    return pl.col(intent).str.strip_chars().str.to_lowercase().replace("", None)


def _insists(seen: pl.DataFrame) -> pl.Series:
    """Which messages say a word of the query again, louder: "I said vegan", "vegan!!"."""
    rows = (
        seen.filter(pl.col("asked").is_in([NOTHING, CONFIRM, OFFER]) & pl.col("text").str.contains(INSISTENCE))
        .filter(~pl.col("text").str.contains(ready(ONLY_POLITE)))
        .with_columns(
            word=pl.coalesce(pl.col("text").str.extract(ready(SAID_BEFORE)), pl.col("text").str.extract(LOUDER))
        )
    )
    query = normalised(pl.when(pl.col("word").is_not_null()).then(pl.col("prev_query").str.head(MESSAGE_HEAD)))
    return rows.filter(query.str.contains(pl.col("word"), literal=True))["row"]


def _denies_a_detail(seen: pl.DataFrame) -> pl.Series:
    """Which messages deny a name, number or thing of the response: "Olsen, not Brandt", "butter isn't vegan"."""
    text, name, subject = pl.col("objection"), pl.col("name"), pl.col("subject")
    rows = (
        seen.filter(pl.col("asked").is_in([NOTHING, CONFIRM, OFFER, SERVICE, MORE]) & text.str.contains(ready(DENIAL)))
        .filter(~text.str.contains(ready(NO_DENIAL)))
        .with_columns(name=text.str.extract(ready(DENIED_NAME)), subject=text.str.extract(ready(DENIED_SUBJECT)))
    )
    # A name or a number stands in the response with a capital or a digit; of a subject any word will do.
    is_name = ~name.str.contains(NO_NAME) & pl.col("prev_response").str.contains(name.str.to_titlecase(), literal=True)
    is_subject = (
        (subject.str.len_bytes() >= SUBSTANTIAL_WORD - 1)
        & ~subject.str.contains(NO_SUBJECT)
        & pl.col("prev_response").str.to_lowercase().str.contains(subject, literal=True)
    )
    return rows.filter(is_name.fill_null(False) | is_subject.fill_null(False))["row"]


def _decision(reason: str) -> tuple[str, float | None, str | None, str]:
    group = reason.split(":", maxsplit=1)[0]
    confidence = NEW_TOPIC_CONFIDENCE if reason == NEW_TOPIC else CONFIDENCE.get(group)
    status = STATUS.get(group, "neutral")
    return status, confidence, group if status == "rejected" else None, reason


# What follows from each reason; the confidence of a repetition is its similarity.
DECISIONS = pl.DataFrame(
    [_decision(reason) for reason in REASONS],
    {
        "feedback_status": pl.String,
        "feedback_confidence": pl.Float64,
        "correction_type": pl.String,
        "reason": pl.String,
    },
    orient="row",
)


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
    seen = (
        pairs.lazy()
        .select(
            "prev_query",
            "prev_response",
            "similarity",
            *(_known(name) for name in ("prev_intent", "next_intent")),
            text=normalised(head),
            unquoted=unquoted,
            tail=_end(response),
            short=response.str.len_bytes() <= SHORT_RESPONSE,
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
    seen = with_first_reason(seen, (*COMPLAINTS, *REPORTS, *REFUSALS), "objection").with_row_index("row").collect()
    # What is decided is not looked at again.
    unsaid = seen.filter(pl.col("reason").is_null())
    details = (
        (INSISTS, _insists(unsaid)),
        (DENIES, _denies_a_detail(unsaid)),
        (REPHRASED, _repeats(unsaid, threshold)),
    )
    found = (pl.when(pl.col("row").is_in(rows.implode())).then(_decides(reason)) for reason, rows in details)
    decided = seen.lazy().with_columns(reason=pl.coalesce("reason", *found))
    decided = with_first_reason(decided, ABANDONED, "text")
    decided = decided.with_columns(text=pl.when(pl.col("reason").is_null()).then("text"))
    decided = with_first_reason(decided, (*NEUTRAL, *ACCEPTED), "text")
    answers = pl.col("short") & pl.col("asked").is_in([OPEN, MORE, YES_NO])
    decided = decided.with_columns(reason=pl.coalesce("reason", pl.when(answers).then(_decides(ANSWERS)))).with_columns(
        text=pl.when(pl.col("reason").is_null() & ~pl.col("failed")).then("text")
    )
    decided = (
        with_first_reason(decided, CONTINUED, "text")
        .select("similarity", "failed", "reason", new_topic=_is_new_topic())
        .collect()
    )
    named = _names_something_from_it(pairs, decided["reason"].is_null() & ~decided["failed"])
    reasons = decided.select(
        pl.coalesce(
            "reason",
            pl.when(named).then(_decides(NAMES_IT)),
            pl.when("new_topic").then(_decides(NEW_TOPIC)),
            _decides(UNCLEAR),
        )
    ).to_series()
    return DECISIONS[reasons].with_columns(
        feedback_confidence=pl.when(pl.col("reason") == REPHRASED)
        .then(decided["similarity"])
        .otherwise("feedback_confidence")
    )
