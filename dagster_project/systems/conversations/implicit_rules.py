"""What a table of implicit feedback is made of: the shape of a record, and the words the tables share.

Patterns see the normalised message (`implicit.normalised`): lower case, no apostrophes, "do not" written "dont", every sign
but `. , ; : ! ? $` a space, the first 500 characters. They use no look-around, so that Rust's linear-time engine can run
them. English only: a message in another language is judged by its similarity alone.
"""

import re
from typing import NamedTuple

# What a response ends with (`implicit_asks.ASKS`): what "no" and "yes" mean depends on it.
MORE, CONFIRM, OFFER, SERVICE = "more", "confirm", "offer", "service"
YES_NO, OPEN, NOTHING = "yes_no", "open", "nothing"
ANY_ASK = (MORE, CONFIRM, OFFER, SERVICE, YES_NO, OPEN, NOTHING)
NOT_OPEN = (CONFIRM, OFFER, SERVICE, YES_NO, NOTHING)  # the message need not be an answer

# What else may be known of a response or a message: a rule can count only where one of them holds.
SHORT = "short"  # it says or offers one thing
FAILED_TO = "failed"  # it could not do what was asked, or would not
PROPOSED = "proposed"  # it was to propose something: the query asked for an idea or a thing, or the response offers one
HAS_CODE = "has_code"
STATEMENT = "statement"  # the message asks nothing


# What several tables know.
NOT = r"(?:not|isnt|wasnt|arent|werent|never|hardly|neither)"
DONT = r"(?:dont|doesnt|didnt|wont|wouldnt|cant|couldnt|never|not)"
FRIENDLY = (
    r"(?:thanks|thank you|great|awesome|perfect|good|nice|cool|fine|love|loved|lovely|wonderful|excellent"
    r"|fantastic|wow|interesting|amazing|glad|happy)"
)
# What is asked for differs from what was said.
COMPARATIVE = (
    r"(?:cheaper|newer|closer|nearer|later|earlier|better|smaller|bigger|larger|shorter|longer|lighter|simpler|nicer"
    r"|quieter|faster|warmer|(?:more|less) \w+|under \$?\d+|below \$?\d+)"
)


class Rule(NamedTuple):
    """One way in which a message tells what a user thinks of the response before it.

    `reason` is the name kept with every decision. `after` are the endings of a response it counts after, `unless` are
    words that stop it; `response` and `counter_response` are the responses before the two examples.
    """

    reason: str
    pattern: str
    means: str
    example: str
    counter_example: str
    after: tuple[str, ...] = ANY_ASK
    response: str = "It was built in 1931."
    counter_response: str = "It was built in 1931."
    unless: str = ""
    given: str = ""  # counts only where this is known
    query: str = "Which tower in this town is the tallest?"  # before the response of both examples


_END = r"(?:\b|[^a-z0-9_]|$)"  # of a word, or past a sign an alternative ends with


def words(*alternatives: str) -> str:
    """A pattern that finds any of the alternatives as whole words."""
    return rf"\b(?:{'|'.join(alternatives)}){_END}"


_LEAD_IN = (
    r"(?:(?:oh|ok|okay|well|hm+|um+|uh|so|but|and|sorry|im sorry|hey|hi|lol|ha|haha|thanks|thank you|i think|wait"
    r"|please|no"
    r"|nope|nah|yes|yeah|sure|ah|eh|alright|good|great|cool|fine|nice|man|dude|again|then|now|because|hello)[.,!?; ]+)*"
)


def opening(*alternatives: str) -> str:
    """A pattern that finds any of the alternatives at the start of the message, past words that only lead in."""
    return rf"^{_LEAD_IN}(?:{'|'.join(alternatives)}){_END}"


def clause(*alternatives: str) -> str:
    """A pattern that finds any of the alternatives at the start of a sentence or clause."""
    return rf"(?:^|[.!?;:,] ?){_LEAD_IN}(?:{'|'.join(alternatives)}){_END}"


def either(*patterns: str) -> str:
    """A pattern that finds any of the patterns."""
    return "|".join(f"(?:{pattern})" for pattern in patterns)


# Word boundaries and classes of ASCII, which is all a normalised text has: Unicode's are many times as large.
_ASCII = {r"\b": r"(?-u:\b)", r"\w": "[a-z0-9_]", r"\d": "[0-9]"}


def ready(pattern: str) -> str:
    """The pattern as the engine gets it."""
    return re.sub(r"\\.", lambda escape: _ASCII.get(escape[0], escape[0]), pattern)
