"""Whether a message is about an earlier turn than the last (rule C6): "the recipe from last week worked great".

`RULES` is the whole knowledge, as data. "The second one" or "what you just said" is a plain follow-up on the last answer and no
reference; neither is what the user did or said earlier ("as I said before"), nor a time in the world ("an earlier train"). Which
turn is meant, `reference_targets.py` looks for.

Rules see normalised text: lower case, no apostrophes, every sign but `. , ; : ! ?` a space. A gap of words never crosses
such a sign. They use no look-around and only ASCII, so that Rust's fast automaton can run them. English only.
"""

from typing import NamedTuple

import polars as pl

from dagster_project.columns.similarity import LONGEST_TEXT


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
