"""Messages that are about an earlier turn than the last, and which turn they mean (rule C6).

`refers_back` decides by words whether a message points back ("the recipe from last week worked great"). `RULES` is the
whole knowledge, as data. "The second one" or "what you just said" is a plain follow-up on the last answer and no reference;
neither is what the user did or said earlier ("as I said before"), nor a time in the world ("an earlier train").

`best_targets` then looks for the turn meant: 0.85 of its similarity with the message and 0.15 of its recency.

Rules see normalised text: lower case, no apostrophes, every sign but `. , ; : ! ?` a space. A gap of words never crosses
such a sign. They use no look-around and only ASCII, so that Rust's fast automaton can run them. English only.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from dagster_project.columns.rounding import rounded_array
from dagster_project.columns.similarity import DECIMALS, LONGEST_TEXT, TextModel, unit_vectors

if TYPE_CHECKING:
    import numpy as np

SIMILARITY_SHARE = 0.85
RECENCY_SHARE = 0.15
HALF_LIFE_DAYS = 30.0
OLDEST_DAYS = 365
BEST = 5
SCORE_DECIMALS = 6

GROUP_TEXTS = 16_384  # messages and turns worked on together, unless one thread has more
KEPT_TEXTS = 65_536  # vectors remembered for the groups to come
BLOCK_PAIRS = 1 << 19  # pairs of message and turn scored at once

_DAY = 86_400_000_000  # microseconds
_GRID = 2.0**25


class Rule(NamedTuple):
    """One way to point at an earlier turn."""

    pattern: str
    catches: str
    example: str
    counter_example: str


_DID = (
    "(?:said|told|gave|wrote|found|showed|shown|suggested|recommended|mentioned|listed|explained|described|made|drafted"
    "|sent|named|produced|answered|proposed|posted|provided|created|quoted|promised|claimed|did|used|came up with"
    "|were (?:talking|speaking|writing) about|talked about|advised|offered|drew|built|calculated|came with|had|shared"
    "|were saying|stated|taught|helped|translated|summari[sz]ed|pointed out|put|called|thought|picked|chose|estimated"
    "|planned|outlined|compared|designed|generated|linked|computed|predicted|introduced|composed|worked out|looked up)"
)
_MONTH = "(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_UNIT = "(?:minutes?|hours?|days?|weeks?|months?|years?|messages?|questions?|turns?|answers?|replies)"
_AGO = (
    f"(?:(?:(?:a|an|one|two|three|four|five|six|seven|[0-9]+|a few|a couple of|some|several|many) )?{_UNIT} (?:ago|back)"
    "|a (?:little |long |good )?while (?:ago|back)|long ago|ages ago)"
)
_LAST = "last (?:time|week|month|year|night|weekend|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
_THEN = (  # words for a time before the last answer
    f"(?:(?:much |even )?earlier|previously|back then|yesterday|{_LAST}|{_AGO}|(?:the )?other (?:day|week)|this morning"
    "|(?:right )?(?:at|in|from) the (?:very )?(?:start|beginning|top|outset)|at first|originally|initially|before that"
    f"|(?:back )?in {_MONTH})"
)
# "before" and "first" are conjunctions and ordinals more often than times: only where the clause does not go on with them.
_BEFORE = (
    "before(?:$| ?[.,;:!?]| (?:about|that|was|were|is|isnt|are|arent|on|regarding|doesnt|didnt|which|and|but|with|got"
    "|worked|works|has|had|really|for|in)\\b)"
)
_GAP = "(?:[a-z0-9]+ )"
_ADVERB = "(?:(?:have|had|already|once|also|even|actually|yourself) )?"
_ANSWER = (
    "(?:answers?|repl(?:y|ies)|responses?|messages?|lists?|diagrams?|versions?|drafts?|suggestions?|solutions?|recipes?"
    "|explanations?|attempts?|queries|query|plans?|advice|recommendations?|summar(?:y|ies)|translations?|drawings?|charts?"
    "|tables?|outlines?|examples?|proposals?|definitions?|calculations?|itinerar(?:y|ies)|code|scripts?|snippets?|tips?"
    "|idea|ideas|options you|approach|wording|texts?|poems?|stor(?:y|ies)|instructions|links?|releases?|e ?mails?|design)"
)
_FIRST_ANSWER = (
    "(?:answers?|repl(?:y|ies)|responses?|messages?|lists?|diagrams?|versions?|drafts?|suggestions?|solutions?|recipes?"
    "|explanations?|attempts?|query|plans?|summary|translation|charts?|proposals?|itinerary)"
)
_VERDICT = (
    "(?:was|were|is|isnt|are|arent|wasnt|werent|works?|worked|made|makes|brought|got|did|didnt|does|doesnt|dont|helped"
    "|helps|really|again|with|for|about|on|has|had|and|but|fixed|tasted|looks?|looked|turned|saved|also|still|too|please)"
)
_ASK = "(?:can we|could we|can you|could you|would you|lets|let us|please|shall we|may we|now|ok|okay|and|so)"

RULES = (
    Rule(
        rf"\byou {_ADVERB}{_DID} {_GAP}{{0,9}}?{_THEN}\b"
        rf"|\byou {_ADVERB}(?:previously|earlier|originally|initially) {_ADVERB}{_DID}\b",
        "what the assistant did, with a time before the last answer",
        "you told me earlier that I don't need a rail pass",
        "you told me nothing I can use",
    ),
    Rule(
        rf"\byou {_ADVERB}{_DID} {_GAP}{{0,6}}?{_BEFORE}",
        "what the assistant did before, where 'before' does not begin a clause",
        "what you said before about the train isn't right",
        "you said two hours before departure",
    ),
    Rule(
        rf"\b{_THEN},? (?:when )?(?:you|we) {_ADVERB}(?:{_DID}|discussed|spoke|talked)\b",
        "a time before the last answer, with what the assistant did then",
        "Earlier you said 25 to 30 percent for income tax",
        "Last week I said the same to my boss",
    ),
    Rule(
        rf"\byour (?:very )?(?:earlier|previous|prior|original|initial|past|older) {_GAP}{{0,2}}{_ANSWER}\b"
        rf"|\byour (?:very )?first {_GAP}{{0,1}}{_FIRST_ANSWER}\b",
        "an answer of the assistant, called an earlier one",
        "your earlier answer about taxes was right",
        "your first name",
    ),
    Rule(
        rf"\byour {_GAP}{{0,3}}?{_ANSWER} {_GAP}{{0,3}}?(?:(?:from )?{_THEN}\b|from {_MONTH}\b|{_BEFORE})",
        "an answer of the assistant, with a time before the last",
        "In your photosynthesis answer a few weeks back you forgot the dark reactions",
        "Can your driver come earlier?",
    ),
    Rule(
        rf"\b(?:the|that|those|this) (?:very )?(?:earlier|previous|prior|original|initial) (?:{_GAP}{{0,2}}{_ANSWER}|ones?)\b"
        rf"|\b(?:the|that) (?:very )?first {_FIRST_ANSWER}\b",
        "an answer by its place in the conversation",
        "Ah the previous diagram also worked fine. It was my issue.",
        "Compare it with the previous model of the iPhone",
    ),
    Rule(
        rf"(?:^|[.,;:!?] ?|\b{_ASK} )(?:(?:go(?:ing)?|come|coming|get(?:ting)?|circl(?:e|ing)|jump(?:ing)?|turn(?:ing)?"
        r"|switch) )?back (?:up |again )?to (?:the|your|my|what|that|those|our|something)\b"
        r"|\b(?:can we|could we|lets|let us|shall we) (?:(?:go|come|get|circle|jump) back to|return to|revisit|reopen)\b"
        r"|\bscroll (?:back )?up to\b",
        "a wish to go back to something",
        "go back to the hotel you found yesterday",
        "How do I go back to the home screen?",
    ),
    Rule(
        rf"\b(?:the|that|those) {_GAP}{{1,4}}from (?:(?:{_LAST}|yesterday|{_AGO}|(?:the )?other (?:day|week))"
        rf"(?: {_VERDICT}\b| ?!|, (?:which|what|who|is|are|can|could|does|do)\b)"
        rf"|(?:before|earlier|(?:the )?(?:start|beginning|top))(?:$| ?[.,;:!?]| {_VERDICT}\b))",
        "something from a time before the last answer, which is judged or asked for",
        "the recipe from last week worked great",
        "The meeting was moved from last week to tomorrow",
    ),
    Rule(
        rf"\b(?:remember|recall) (?:the|that|those|what|when|how|your) {_GAP}{{0,6}}?you {_ADVERB}{_DID}\b",
        "the assistant is asked to remember what it did",
        "Remember the sqlite fixture you wrote? It leaks.",
        "Remember that I'm allergic to nuts",
    ),
    Rule(
        rf"\b(?:the|that|those) {_GAP}{{1,5}}?(?:that |which )?you {_ADVERB}{_DID} {_GAP}{{0,8}}?again\b"
        rf"|\bagain (?:that |which |what )?you {_ADVERB}{_DID}\b"
        rf"|\b(?:repeat|resend|redo|repost) (?:the|that|those) {_GAP}{{0,9}}?you {_ADVERB}{_DID}\b",
        "something the assistant made is wanted again",
        "Can you send me the cake you suggested for the birthday again?",
        "please explain step 3 again",
    ),
    Rule(
        r"\b(?:you (?:were|had|got|did|made|said) (?:it |that )?(?:right |wrong |better |correct )?the first time"
        r"|(?:answer|reply|response|message|one|version|suggestion) before (?:last|that|this)"
        r"|(?:two|three|four|five|a few|several) (?:answers|replies|messages|questions|turns) (?:ago|back|up|above))\b",
        "an answer counted back from the last",
        "your answer before last was clearer",
        "I was there for the first time",
    ),
    Rule(
        rf"\bwe {_ADVERB}(?:talked|spoke|discussed|were (?:talking|discussing)|chatted|agreed|did|looked"
        rf"|worked|settled) {_GAP}{{0,8}}?(?:{_THEN}\b|{_BEFORE})"
        rf"|\bmy (?:very )?(?:first|earlier|previous|original|initial) (?:question|request|problem|message)\b"
        rf"|\bi asked (?:you )?{_GAP}{{0,8}}?(?:{_THEN}\b|{_BEFORE})|\bstill (?:talking|asking|thinking) about\b",
        "what both talked about, or the user asked, at an earlier time",
        "the client we talked about two weeks ago still ignores the reminders",
        "as I said before, only two tickets",
    ),
)


def _ready(pattern: str) -> str:
    """The pattern as the engine gets it: boundaries of Unicode words would take it off the fast path."""
    return pattern.replace(r"\b", r"(?-u:\b)")


def _normalised(text: pl.Expr) -> pl.Expr:
    return (
        text.fill_null("")
        .str.head(LONGEST_TEXT)
        .str.to_lowercase()
        .str.replace_all("['’‘`´]", "")
        .str.replace_all(r"[^a-z0-9.,;:!? ]+", " ")
        .str.replace_all("  +", " ")
        .str.strip_chars(" ")
    )


def refers_back(messages: pl.Series) -> pl.Series:
    """Whether each message points at an earlier turn than the last; false for null."""
    text = pl.field("text")
    found = pl.any_horizontal(text.str.contains(_ready(rule.pattern)) for rule in RULES)
    evidence = pl.struct(text=_normalised(pl.col("message")))
    frame = messages.alias("message").cast(pl.String).to_frame()
    return frame.select(evidence.struct.with_fields(found=found).struct.field("found"))["found"].alias(messages.name)


class _Vectors:
    """Vectors of texts, each text embedded once, until so many are remembered that all are forgotten.

    Components lie on a grid of 2^-25: then products and sums of unit vectors are exact in double precision, in any order,
    and a cosine does not depend on which others are computed with it.
    """

    def __init__(self, model: TextModel) -> None:
        self._model = model
        self._known = pl.DataFrame(schema={"text": pl.String, "place": pl.Int64})
        self.rows: np.ndarray | None = None

    def places(self, texts: pl.Series) -> pl.Series:
        """For each text its row in `rows`. Earlier places are good no longer."""
        import numpy as np  # noqa: PLC0415

        wanted = texts.alias("text").to_frame()
        distinct = wanted.unique(maintain_order=True)
        fresh = distinct.join(self._known, on="text", how="anti", maintain_order="left")
        if self.rows is not None and self._known.height + fresh.height > KEPT_TEXTS:
            self._known, self.rows, fresh = self._known.clear(), None, distinct
        if fresh.height:
            vectors = unit_vectors(fresh["text"], self._model)
            vectors *= _GRID
            np.rint(vectors, out=vectors)
            vectors /= _GRID
            place = pl.int_range(self._known.height, self._known.height + fresh.height, eager=True).alias("place")
            self.rows = vectors if self.rows is None else np.concatenate([self.rows, vectors])
            self._known = pl.concat([self._known, fresh.with_columns(place)])
        return wanted.join(self._known, on="text", how="left", maintain_order="left")["place"]


def _groups(references: pl.DataFrame, turns: pl.DataFrame) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Both frames cut at the same threads, about `GROUP_TEXTS` rows together. Both must be sorted by thread."""
    sizes = (
        references.group_by("thread")
        .agg(references=pl.len())
        .join(turns.group_by("thread").agg(turns=pl.len()), on="thread")
        .sort("thread")
        .with_columns(texts=pl.col("references") + pl.col("turns"))
        .group_by((pl.col("texts").cum_sum() - pl.col("texts")) // GROUP_TEXTS, maintain_order=True)
        .agg(pl.col("references", "turns").sum())
    )
    first_reference = first_turn = 0
    for _, reference_count, turn_count in sizes.iter_rows():
        yield references.slice(first_reference, reference_count), turns.slice(first_turn, turn_count)
        first_reference += reference_count
        first_turn += turn_count


def _best_of_thread(
    messages: "np.ndarray", said: "np.ndarray", turns: "np.ndarray", happened: "np.ndarray", skip_last: bool
) -> "tuple[np.ndarray, ...]":
    """(message, rank, turn, score, similarity) of the best turns; vectors and microseconds of the messages and the turns.

    The turns come in the order in which ties are broken, newest first.
    """
    import numpy as np  # noqa: PLC0415

    age = said[:, None] - happened[None, :]
    near = np.clip(rounded_array(messages @ turns.T, DECIMALS), -1.0, 1.0)
    recency = np.exp2(np.maximum(age, 0) / (-HALF_LIFE_DAYS * _DAY))
    score = rounded_array(SIMILARITY_SHARE * near + RECENCY_SHARE * recency, SCORE_DECIMALS)
    # One number to order by, for equal scores the earlier column; both are whole numbers far below 2^53.
    width = len(happened)
    order = np.rint(score * 10.0**SCORE_DECIMALS) * width - np.arange(width)
    order[(age <= 0) | (age > OLDEST_DAYS * _DAY)] = -np.inf
    if skip_last:
        last = np.count_nonzero(age <= 0, axis=1)
        has_last = np.nonzero(last < width)[0]
        order[has_last, last[has_last]] = -np.inf
    kept = min(BEST, width)
    best = (
        np.argpartition(order, width - kept, axis=1)[:, width - kept :] if width > kept else np.arange(width)[None, :]
    )
    best = np.broadcast_to(best, (len(said), kept))
    best = np.take_along_axis(best, np.argsort(-np.take_along_axis(order, best, axis=1), axis=1), axis=1)
    message, rank = np.nonzero(np.take_along_axis(order, best, axis=1) > -np.inf)
    turn = best[message, rank]
    return message, rank + 1, turn, score[message, turn], near[message, turn]


def best_targets(
    references: pl.DataFrame, turns: pl.DataFrame, model: TextModel, *, skip_last: bool = False
) -> pl.DataFrame:
    """The turns each reference may mean, at most five, best first (C6).

    `references`: reference_key, thread, message, occurred_at. `turns`: turn_key, thread, query, response, occurred_at.
    A thread stands for one (user_id, session_id). Candidates are the turns of the thread before the message, none older
    than 365 days; equal scores go to the newer turn, then to the smaller key. A blank message, or one the model knows no
    word of, is like nothing, so the newest turns are its best. `skip_last` leaves out the turn just before the message:
    for messages that `refers_back` has told to mean an earlier one.
    Memory holds the vectors of one group of threads, and of the largest thread at least.
    """
    import numpy as np  # noqa: PLC0415

    references = references.select("reference_key", "thread", "message", "occurred_at").drop_nulls(
        ["thread", "occurred_at"]
    )
    spans = references.group_by("thread").agg(
        oldest=pl.col("occurred_at").min() - pl.duration(days=OLDEST_DAYS), newest=pl.col("occurred_at").max()
    )
    # Only what some message of the thread can mean is embedded.
    turns = (
        turns.select("turn_key", "thread", "query", "response", "occurred_at")
        .join(spans, on="thread")
        .filter(pl.col("occurred_at") >= pl.col("oldest"), pl.col("occurred_at") < pl.col("newest"))
        .drop("oldest", "newest")
        .sort("thread", "occurred_at", "turn_key", descending=[False, True, False])
    )
    references = references.join(turns, on="thread", how="semi").sort("thread", "occurred_at", "reference_key")

    vectors = _Vectors(model)
    schema = {
        "reference_key": references.schema["reference_key"],
        "rank": pl.Int64,
        "turn_key": turns.schema["turn_key"],
        "score": pl.Float64,
        "similarity": pl.Float64,
    }
    found = [pl.DataFrame(schema=schema)]
    said_in = pl.concat_str(
        pl.col("query").str.head(LONGEST_TEXT),
        pl.col("response").str.head(LONGEST_TEXT),
        separator=" ",
        ignore_nulls=True,
    ).str.head(LONGEST_TEXT)
    for some_references, some_turns in _groups(references, turns):
        texts = pl.concat(
            [
                some_references["message"].fill_null("").str.head(LONGEST_TEXT).alias("text"),
                some_turns.select(text=said_in)["text"],
            ]
        )
        places = vectors.places(texts).to_numpy()
        rows = vectors.rows
        assert rows is not None
        message_places, turn_places = places[: some_references.height], places[some_references.height :]
        said = some_references["occurred_at"].dt.timestamp("us").to_numpy()
        happened = some_turns["occurred_at"].dt.timestamp("us").to_numpy()
        parts: list[tuple[np.ndarray, ...]] = []
        reference_ends = np.cumsum(some_references["thread"].rle().struct.field("len").to_numpy())
        turn_ends = np.cumsum(some_turns["thread"].rle().struct.field("len").to_numpy())
        start = turn_start = 0
        for end, turn_end in zip(reference_ends.tolist(), turn_ends.tolist(), strict=True):
            turn_rows, turn_times = rows[turn_places[turn_start:turn_end]], happened[turn_start:turn_end]
            step = max(1, BLOCK_PAIRS // (turn_end - turn_start))
            for block in range(start, end, step):
                stop = min(block + step, end)
                message, rank, turn, score, near = _best_of_thread(
                    rows[message_places[block:stop]], said[block:stop], turn_rows, turn_times, skip_last
                )
                parts.append((message + block, rank, turn + turn_start, score, near))
            start, turn_start = end, turn_end
        message, rank, turn, score, near = (np.concatenate(column) for column in zip(*parts, strict=True))
        found.append(
            pl.DataFrame(
                [
                    some_references["reference_key"].gather(message),
                    pl.Series("rank", rank),
                    some_turns["turn_key"].gather(turn),
                    pl.Series("score", score),
                    pl.Series("similarity", near),
                ],
                schema=schema,
            )
        )
    return pl.concat(found).sort("reference_key", "rank")
