"""How a response ends: what it asked the user, if anything. "No" means one thing after "Anything else?", another after
"Is that right?" (rule C2). The first record that matches wins. Patterns see the last 300 characters of the response,
normalised like a message.
"""

from typing import NamedTuple

from dagster_project.systems.conversations.implicit_rules import (
    CONFIRM,
    MORE,
    OFFER,
    OPEN,
    SERVICE,
    YES_NO,
    either,
    words,
)


class Ask(NamedTuple):
    """One way of asking the user something at the end of a response."""

    kind: str
    pattern: str
    means: str
    example: str
    counter_example: str


_REST = r"[^.?!]*[?.! ]*$"  # of the last sentence
_QUESTION = r"[^.?!]*\?[. ]*$"
_WH = r"(?:whats?|which|when|where|who|whom|how (?:many|much|long|may|soon|old|far|big))"

ASKS = (
    Ask(
        CONFIRM,
        words(
            r"(?:please|kindly|do you|(?:can|could) you|you to|so|just|just to|re|let me|can i|could i|i)(?: please)? confirm(?: that)?",
            r"(?:^|[.!?] ?)(?:ok |okay |sure |great )?(?:to |i need to |i want to |id like to )?(?:re)?confirm",
            r"confirming|(?:give|need|for)(?: me)?(?: the| your)?(?: final)? confirmation|please verify|(?:^|[.!?] ?)to (?:verify"
            r"|clarify)",
            r"kindly ensure|just to be (?:sure|clear)|(?:do|if) you approve|just making sure",
        ),
        "whether it has understood the request, in so many words",
        "Please confirm: a table for 2 at 7 pm.",
        "The town hall can look it up to confirm this.",
    ),
    Ask(
        MORE,
        words(
            r"(?:any ?thing|some ?thing|what|how|whether|any)(?: \w+)? (?:else|more|further)",
            r"any other (?:help|things?|assistance|way|services?|questions?|requests?|queries)",
            r"(?:another|other) (?:things?|ways?|questions?)|(?:further|more|additional) (?:help|assistance|info\w*"
            r"|services?)",
            r"(?:further|still|again)(?: \w+){0,4} (?:help|assist|assistance)|still need (?:me|my|any|help)",
            r"(?:help|assist)(?: you)? (?:any )?(?:further|more|again)|need(?:ing)? (?:me|my)(?: \w+)? (?:further"
            r"|any ?more)",
            r"(?:is|was|will) that (?:be )?(?:all|everything|it)|any questions|anything you (?:need|want|would like)",
            r"let me know if (?:there is|theres|you)[a-z ]* (?:else|more|questions|help)",
        )
        + _REST,
        "whether there is anything else to do",
        "Booked. Is there anything else I can help you with?",
        "It has a pool and more than 40 rooms. Do you like it?",
    ),
    Ask(
        OPEN,
        either(
            r"\b(?:how|what) about (?:your|the (?:date|time|place|city|day|type))\b" + _REST,
            words(
                r"is there (?:an?|any) (?:\w+ )?(?:particular|specific|certain|preferred|time|date|day)",
                r"any (?:preferred|particular|specific|preferences?)|(?:do|did|would) you have (?:an?|any|the) (?:\w+ )?"
                r"(?:preferred|preference|particular|specific|idea|time|date|type|in mind|choice)",
            )
            + _QUESTION,
            words(
                r"let me (?:look|check|see|find|search)(?: \w+){0,6}|one moment|please (?:wait|hold)"
                r"|looking into (?:it|that)"
            )
            + r"[. !]*$",
        ),
        "for something it needs to know, or it has not answered yet",
        "Sure. Do you have a preferred time?",
        "Sure, it opens at nine.",
    ),
    Ask(
        OFFER,
        either(
            words(
                r"(?:how|what) about|may i suggest|do you think|you think (?:of|about)|what are your thoughts"
                r"|your opinion",
                r"why not|interested|does (?:it|that|this) (?:work|suit|interest)|do you like|are you (?:ok|okay"
                r"|fine)|do any of",
                r"(?:would|will) (?:that|it|this) (?:work|suit|be|do)|(?:are|is) (?:any|some|one) of (?:these|those"
                r"|them)",
                r"would you (?:like|want|prefer) (?:an?|the|this|that|to (?:try|take|catch|listen)) (?:\w+ )*",
                r"(?:shall|should|can) i (?:try|attempt)|want to try",
            )
            + r"[^.?!]*(?:[?.]|$)[^?]*$",
        ),
        "whether the user likes what it proposes",
        "How about the Grand Hotel?",
        "The Grand Hotel is downtown.",
    ),
    Ask(
        OPEN,
        either(
            rf"\b(?:{_WH}|how)\b{_QUESTION}",
            rf"(?:^|[.!?] ?)(?:(?:and|also|sure|ok|okay|until|from|in|at|on|for|to|by|first|tell me|please|but"
            rf"|from) ?,? ?)*{_WH}"
            r"(?: \w+){1,7}[. ]*$",
            words(
                r"(?:please|kindly|can you|could you|may i|might i|would you|also|first|start by)(?: please| kindly"
                r"| also)?"
                r" (?:tell|telling|provide|give|giving|specify|share|let me|enter|mention|choose|pick|select|have"
                r"|know|ask|advise|say)",
            )
            + _REST,
            r"\b(?:would|do|did|is|are|will|should|from)\b[^.?!]* or\b" + _QUESTION,
            rf"\b{_WH}\b[^.?!]*\?[^?]*\b(?:you can say|for example|such as)\b" + r"[^?]*$",
        ),
        "for something it needs to know; the next message answers",
        "Sure. What time would you like to leave?",
        "It leaves at nine.",
    ),
    Ask(
        CONFIRM,
        either(
            r"\b(?:is|are|was|does|do|did) (?:it|that|this|these|those|everything|all|i|they|the \w+|this information)"
            r" (?:all |have |sound |look |get )*(?:correct|right|accurate|good|okay|ok|fine|all right|it right"
            r"|that right)\b[^.?!]*\?",
            r"\b(?:correct|right|yeah|yes|okay|ok|all right|alright)(?: so far| with you)? ?\?[. ]*$",
            r"(?:^|[.!?,] ?)(?:(?:so|ok|okay|alright|sure|understood|got it|now|are you sure)[, ]+)*(?:you|youre"
            r"|youd|youll)"
            r" (?:would |will |are |want |re )?(?:want|wanted|like|wish|need|prefer|scheduling|sharing|booking)\b"
            + _REST,
            r"(?:^|[.!] ?)(?:ok |okay )?so,? " + _QUESTION,
            r"\b(?:shall|should|can|may) i (?:go ahead|proceed|continue|finali[sz]e)\b" + _QUESTION,
        ),
        "whether it has understood the request, before or as it acts on it",
        "A table for 2 at 7 pm. Is that right?",
        "Would you like to book a table?",
    ),
    Ask(
        SERVICE,
        words(
            r"would you (?:like|want|prefer|care|need)|do you (?:want|wish|need|require)|shall i|should i|want me to"
            r"|like me to",
            r"wanna|(?:can|may|could) i|ready to|need (?:me|any)|(?:book|schedule|reserve|add|play|buy)(?: \w+){1,3}",
        )
        + _QUESTION,
        "whether it may do something more; a no declines that, not the response",
        "Found one. Would you like to book a room?",
        "Found one. Do you like it?",
    ),
    Ask(
        YES_NO,
        either(r"\?[. ]*$", r"\b(?:have|did|do|are|were) you\b[^.?!]*\?"),
        "something else that is answered with yes or no",
        "I went hiking. Do you hike?",
        "I went hiking. It was cold.",
    ),
)

# The response could not do what was asked: moving on after it is no acceptance.
FAILED = words(
    r"unable to|(?:was|am|is) not able|wasnt able|not able to|couldnt|could not|cannot|cant (?:find|do|help|access"
    r"|process)",
    r"something went wrong|an error|error code|internal server error|failed|no results|not available"
    r"|dont have (?:access|any)",
    r"i dont know|dont understand|didnt understand|im not sure|there (?:is|are) no|no (?:such|matching)"
    r"|please try again",
    r"(?:status|code|error)[ :]*[45][0-9][0-9]|as an ai",
)

# The query wants something proposed. Seen as it was written, so (?i).
WANTS_A_PROPOSAL = (
    r"(?i)^(?:please |can you |could you |hi |hey |id like you to |would you |[a-z]{1,8},? )*?(?:recommend"
    r"|suggest|find|search|look for|get me"
    r"|show me|play|book|give me (?:an? |some )?(?:ideas?|names?|recommendations?|suggestions?)|any (?:ideas?"
    r"|good)|name (?:an?|some))(?-u:\b)"
    r"|(?-u:\b)(?:recommend|suggest(?:ion)?s?|looking for|ideas? for|name for|i need an?|i want an?|gift for"
    r"|something to (?:eat|watch|read|wear|do)"
    r"|what should (?:i|we) (?:eat|watch|read|cook|wear|get|buy|play|see)|where (?:can|should) (?:i|we) (?:eat"
    r"|stay|go|buy|get))(?-u:\b)"
)

# The response has code, or a command. Seen as it was written.
CODE = r"`|\(\)| --"
