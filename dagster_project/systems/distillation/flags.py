"""What may be wrong with a teacher's answer (rule D4): the ten quality flags of seed 2, found in the text.

Four flags are about shape: what is code and what is prose is decided once (`_without_code`, Markdown's own rules, seen
line by line), then lines and sentences are counted and the last line is looked at. The others are about words, and
`PATTERNS` is all they know: a flag is raised where one of its records matches. The records are written for precision:
a missed flag costs a reviewer a look, a wrong one costs a good example. They use no look-around, so that any
linear-time engine can run them. English only. docs/flags.md states every rule in a sentence.
"""

from collections.abc import Callable
from typing import NamedTuple

import polars as pl

from dagster_project.columns.spaces import SPACES
from dagster_project.columns.words import word

QUALITY_FLAGS = (
    "repetition",
    "incomplete",
    "no_reasoning",
    "too_short",
    "too_long",
    "code_only",
    "refusal",
    "uncertain",
    "outdated",
    "hallucination_risk",
)

CHARS_PER_TOKEN = 4
SHORT_TOKENS = 50
LONG_TOKENS = 4000
REPEATED_LENGTH = 20
REPEATED_TIMES = 3
REFUSAL_LENGTH = 600
REFUSAL_OPENING = 200
FEW_WORDS = 10
CHAIN_STEPS = 2
CHAIN_TYPES = ("chain_of_thought", "multi_step")

BATCH_ROWS = 10_000  # bounds the memory that the lines and sentences of a batch take


class Pattern(NamedTuple):
    """One way in which words raise a flag. `looks_at` is `opening` (first 200 characters), `prose` or `query`."""

    flag: str
    looks_at: str
    pattern: str
    catches: str
    example: str
    counter_example: str


_B = r"(?-u:\b)"  # a word boundary that only knows ASCII: the Unicode one is slow on texts with an accent in them
_CANNOT = r"(?:can ?not|can['’]?t|could not|couldn['’]t|won['’]?t|will not)"
_ADVERB = r"(?:[a-z]+ly,? |just |also |still )?"
_HELP = (
    r"(?:(?:help|assist)(?: you)?(?: (?:with|to|in|on|here|there|out|by|without|at|plan|make|find|write|create)(?-u:\b)"
    r"|[.,;:!\n]|$)"
    r"|comply|fulfil|accommodate|participate|engage in|proceed with|continue with"
    r"|do (?:that|this|so)(?-u:\b)|process (?:that|this|such)|complete (?:that|this|your)|answer (?:that|this|your|questions)|respond to"
    r"|(?:provide|create|write|generate|produce|share|offer|discuss|assist)(?-u:\b)"
    r"|give (?:you|out|advice|medical|legal|financial|instructions)|tell you|support (?:that|this|your))"
)
_HELPING = r"(?:helping|assisting|providing|creating|writing|generating|sharing|discussing|answering|(?:doing|with) (?:that|this))"
_OWN_INFORMATION = (
    r"(?:this|that|these|they|(?:the|this|that|these|my|some) (?:[a-z]+ )?(?:information|info|answer|details|advice|prices?"
    r"|pricing|rates?|fees|rules?|laws?|polic(?:y|ies)|figures|numbers|requirements|guidelines|regulations|features"
    r"|interface|menus?|syntax|api|things|knowledge|schedule|hours|law))"
)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_NOT_QUOTED = r"(?:^|[^a-z0-9_\"“‘'’`])"  # somebody else's words, or a string in code, are not the teacher's doubt
_PEOPLE = (
    r"(?:people|adults|men|women|children|teenagers|users|customers|developers|programmers|companies|businesses|startups"
    r"|households|patients|respondents|americans|europeans|workers|employees|students|voters|the (?:world['’]s )?population)"
)

# What sounds like a refusal and is none; it is taken out before the patterns look.
_NO_REFUSAL = (
    rf"{_CANNOT} (?:help (?:but|feeling|noticing|thinking|wondering|myself|it)"
    r"|(?:provide|give(?: you)?|tell you|offer)(?: [a-z]+)? (?:exact|precise|definitive|guarantee)[a-z]*"
    r"|(?:write|create|provide|generate|produce|share|offer)[^.!?\n]{0,40}? (?:enough|too often|better))"
)

PATTERNS = (
    Pattern(
        "refusal",
        "opening",
        rf"{_NOT_QUOTED}(?:i|we) {_ADVERB}{_CANNOT} {_ADVERB}(?:and will not |be able to |in good conscience )?{_HELP}",
        "says that it cannot or will not do it",
        "I'm sorry, but I can't help with that request.",
        "I can't help but notice that the loop never ends.",
    ),
    Pattern(
        "refusal",
        "opening",
        rf"{_NOT_QUOTED}(?:i['’]?m|i am|we['’]re|we are|i would|i['’]d) {_ADVERB}(?:unable|not able|not allowed|not permitted"
        rf"|not in a position|not going|not willing|not designed|not programmed|not authori[sz]ed|rather not)"
        rf" (?:to )?{_ADVERB}{_HELP}",
        "says that it is not able or allowed",
        "I am unable to assist with bypassing the licence check.",
        "I am unable to reproduce the crash with the code you posted.",
    ),
    Pattern(
        "refusal",
        "opening",
        rf"{_NOT_QUOTED}i(?:['’]?m not| am not| do not feel| don['’]?t feel| would not be| wouldn['’]t be) (?:[a-z]+ )?"
        rf"comfortable {_HELPING}",
        "does not feel comfortable with it",
        "I'm not comfortable writing a message that threatens someone.",
        "I am comfortable writing it in either language.",
    ),
    Pattern(
        "refusal",
        "opening",
        rf"{_NOT_QUOTED}(?:i|we)(?:['’]ll| will| must| have to| need to| am going to)?(?: [a-z]+ly)? (?:have to )?"
        r"(?:[a-z]+ly )?(?:decline|refuse)(?: (?:to (?:help|assist|answer|provide|do|write|create|discuss|respond|generate)"
        r"|this|that|your|the request)|[.,;!]|$)",
        "declines outright",
        "I must respectfully decline this request.",
        "If the payments decline, refuse the order.",
    ),
    Pattern(
        "refusal",
        "opening",
        rf"{_B}(?:(?:not|isn['’]t) something (?:that )?i(?:['’]m| am)? (?:can|could|will|able to|willing to|comfortable)"
        rf"|something (?:that )?i {_CANNOT} (?:help|assist|do|provide|discuss|support)|nothing i can do (?:for you|to help)"
        r"|i (?:do not|don['’]?t) have the ability to (?:help|assist|provide|do)"
        r"|(?:inappropriate|irresponsible|unethical|wrong) (?:for|of) me to)",
        "calls it something that it does not do",
        "That's not something I can help with.",
        "That is something I can help with.",
    ),
    Pattern(
        "refusal",
        "opening",
        rf"{_B}(?:against|violates?|outside|conflicts? with) (?:my|our|anthropic['’]s|openai['’]s) (?:[a-z]+ )?"
        r"(?:guidelines|polic(?:y|ies)|programming|principles|values|terms)"
        rf"|{_B}(?:guidelines|policies|policy) (?:do not|don['’]t|does not|doesn['’]t|prevents?|prohibits?|forbids?)"
        r" (?:allow me|permit me|me)",
        "appeals to its guidelines",
        "Writing that would go against my guidelines.",
        "That goes against the style guidelines of the project.",
    ),
    Pattern(
        "refusal",
        "opening",
        rf"{_NOT_QUOTED}i (?:do not|don['’]?t) (?:help with|assist with|provide|offer|engage in|participate in|discuss)(?-u:\b)",
        "says that it does not do such things",
        "I don't provide instructions for picking locks.",
        "I don't see a problem with this approach.",
    ),
    Pattern(
        "refusal",
        "opening",
        rf"^(?:[^a-z]*|[^.!?\n]* (?:and|but|so) )(?:(?:i['’]m )?(?:sorry|unfortunately|apologies)[,.!]? (?:but )?)?(?:i )?"
        rf"(?:{_CANNOT}|unable to)(?:[.!]|$| (?:help|assist)(?: you)? with (?:that|this|your|such)| comply)",
        "refuses in a word or two",
        "Sorry, can't help with that.",
        "Unable to connect usually means that the port is closed.",
    ),
    Pattern(
        "uncertain",
        "prose",
        rf"{_NOT_QUOTED}(?:i['’]?m|i am|i was|we are|we['’]re) (?:[a-z]+ )?(?:not (?:[a-z0-9%]+ )?(?:sure|certain|confident)"
        rf"|unsure|uncertain){_B}|(?:^|[.!?]\s|\n)not (?:[a-z0-9%]+ )?sure{_B}",
        "is not sure",
        "I'm not entirely sure this works on Windows.",
        "If you're not sure, run the tests first.",
    ),
    Pattern(
        "uncertain",
        "prose",
        rf"{_NOT_QUOTED}i (?:[a-z]+ly )?(?:don['’]?t|do not) (?:[a-z]+ )?(?:know|remember|recall){_B}",
        "does not know",
        "I don't know whether the driver supports it.",
        'A user who answers "I don\'t know" is counted as well.',
    ),
    Pattern(
        "uncertain",
        "prose",
        rf"{_NOT_QUOTED}i (?:may|might|could) (?:[a-z]+ )?be (?:wrong|mistaken|misremembering|misreading|misunderstanding"
        rf"|missing something){_B}",
        "may be wrong",
        "I might be mistaken about the default timeout.",
        "The cached value might be wrong after an update.",
    ),
    Pattern(
        "uncertain",
        "prose",
        rf"{_B}(?:to the best of my (?:knowledge|recollection|understanding)"
        rf"|as far as i(?:['’]m aware| am aware| know| can tell| remember| recall)"
        rf"|if i(?:['’]m| am) (?:not mistaken|remembering correctly)"
        rf"|if i (?:recall|remember)(?: this| that| it)? (?:correctly|right|rightly)|iirc|afaik){_B}",
        "limits a statement to what it remembers",
        "As far as I know, the limit is 100 requests a minute.",
        "The function reads as far as the first blank line.",
    ),
    Pattern(
        "uncertain",
        "prose",
        rf"{_NOT_QUOTED}(?:my (?:best |rough |educated )?guess (?:is|would)|i(?:['’]m| am) (?:just |only )?guessing"
        rf"|i(?:['’]d| would| can only) (?:just |only |have to )?guess|(?:hard|difficult|impossible) (?:for me )?to "
        rf"(?:say|know|tell) (?:for (?:sure|certain)|with (?:any )?certainty|exactly)){_B}",
        "guesses",
        "My best guess is that the cache is full.",
        "The player types a guess and the program compares it.",
    ),
    Pattern(
        "uncertain",
        "prose",
        rf"{_NOT_QUOTED}i (?:can ?not|can['’]?t|couldn['’]?t|could not) (?:[a-z]+ )?(?:be (?:[a-z0-9%]+ )?(?:sure|certain)"
        rf"|say (?:for (?:sure|certain)|with certainty)|guarantee|confirm|verify|tell (?:for sure|from|whether|if|which))"
        rf"{_B}",
        "cannot say for certain",
        "I can't tell from the traceback which call failed.",
        "You can't tell from the outside which call failed.",
    ),
    Pattern(
        "uncertain",
        "prose",
        rf"{_B}(?:i (?:do not|don['’]?t) have (?:enough|sufficient|complete|reliable) (?:information|info|context|data|details?"
        rf"|knowledge)|(?:unclear|not (?:[a-z]+ )?clear) to me){_B}",
        "lacks what it would need to be sure",
        "I don't have enough context to say which one is faster.",
        "The model does not have enough data to converge.",
    ),
    Pattern(
        "outdated",
        "prose",
        rf"{_B}(?:knowledge[- ]cut-? ?off|training (?:data )?cut-? ?off|my cut-? ?off"
        rf"|my (?:[a-z]+ )?(?:knowledge|training|information|data)(?: data)? (?:was |is |only |may |might )*"
        rf"(?:ends?|ended|stops?|goes|extends|runs|last updated|limited|from|out of date|outdated|not include)"
        rf"|my (?:last|latest|most recent) (?:[a-z]+ )?update){_B}",
        "names the end of its knowledge",
        "My training data only goes up to early 2023.",
        "Split the training data before you fit the model.",
    ),
    Pattern(
        "outdated",
        "prose",
        rf"{_B}as of (?:(?:early|late|mid|the (?:start|end|beginning) of|{_MONTH},?|[0-9]{{1,2}},?|q[1-4])[ -]?)*"
        rf"(?:(?:19|20)[0-9]{{2}}|now|today|this writing|writing|my (?:last|latest|knowledge|training)[a-z ]*){_B}",
        "dates what it says",
        "As of March 2023, the plan costs 20 dollars a month.",
        "As of Python 3.9, dictionaries can be merged with an operator.",
    ),
    Pattern(
        "outdated",
        "prose",
        rf"{_B}at (?:the )?time of (?:this |my )?(?:writing|training|last update){_B}",
        "speaks of the time of writing",
        "At the time of writing there is no stable release.",
        "The value is computed at the time of the call.",
    ),
    Pattern(
        "outdated",
        "prose",
        rf"{_B}{_OWN_INFORMATION} (?:may|might|could) (?:well |also )?(?:have (?:since |already )?changed"
        rf"|be (?:slightly |somewhat )?(?:outdated|out[- ]of[- ]date)|no longer be|not be (?:fully )?(?:current|up[- ]to[- ]date)"
        rf"|change over time){_B}",
        "says that it may have changed since",
        "Prices are typical, but these figures may have changed since.",
        "The file may have changed between the two reads.",
    ),
    Pattern(
        "outdated",
        "prose",
        rf"{_B}i (?:don['’]?t|do not|can['’]?t|cannot) (?:currently )?(?:have |access |browse |provide |look up )"
        rf"(?:(?:any |direct )?access to )?(?:any )?(?:real-?time|live|up-to-date|current|the latest)"
        rf" (?:[a-z]+ )?(?:data|information|info|news|prices|pricing|access|updates|events|results){_B}",
        "has no current information",
        "I don't have access to real-time data, so check the timetable.",
        "The dashboard has access to real-time data.",
    ),
    Pattern(
        "outdated",
        "prose",
        rf"{_B}(?:check|consult|visit|refer to|see|verify|confirm)[^.!?\n]* for (?:the )?"
        rf"(?:latest|newest|(?:most )?(?:current|recent|up-to-date))(?: and [a-z]+)* (?:[a-z]+ )?"
        rf"(?:information|info|prices|pricing|rates|fees|rules|requirements|figures|guidelines|guidance|recommendations|hours){_B}",
        "sends the reader to a newer source",
        "Please check the embassy's website for the latest requirements.",
        "Check the lock file for the version of the package.",
    ),
    Pattern(
        "outdated",
        "query",
        rf"{_B}(?:what|which|who)(?:['’]s| is| are| was)? (?:the )?"
        r"(?:current(?:ly)?|latest|newest|most recent|today['’]?s|this (?:week|month|year)['’]s)"
        r" (?:(?:stable|lts|major|official) )?(?:[a-z0-9.+#-]+ ){0,2}?(?:versions?|releases?|price|prices|news|exchange rate"
        r"|interest rate|inflation rate|president|prime minister|ceo|chancellor|champions?|record|population|weather"
        r"|minimum wage|model)(?: (?:of|for|in|at)(?-u:\b)|[?.!]|$)",
        "the question itself asks for something that changes",
        "What is the latest stable version of Node?",
        "What is the current directory in a shell?",
    ),
    Pattern(
        "hallucination_risk",
        "prose",
        rf"{_B}(?:doi(?:\.org/|: ?| )10\.[0-9]{{4,}}|arxiv(?:\.org/(?:abs|pdf)/|: ?| )[0-9]{{4}}\.[0-9]{{4,5}}"
        rf"|isbn(?:-1[03])?:? ?[0-9][0-9-]{{8,}}|pmid:? ?[0-9]{{5,}})",
        "cites a publication by its number",
        "See doi:10.1038/nature14539 for the details.",
        "A DOI identifies a publication.",
    ),
    Pattern(
        "hallucination_risk",
        "prose",
        rf"(?-i:[A-Z])[a-z'’-]+ et al{_B}|\((?-i:[A-Z])[a-z'’-]+ (?:and|&) (?-i:[A-Z])[a-z'’-]+, (?:19|20)[0-9]{{2}}[a-z]?\)",
        "cites authors",
        "This was first shown by Vaswani et al. in 2017.",
        "The meeting (March and April) has been moved.",
    ),
    Pattern(
        "hallucination_risk",
        "prose",
        rf"{_B}(?:(?:an?|one|the|this) (?:19|20)[0-9]{{2}} (?:[a-z]+ ){{0,3}}(?:study|survey|paper|meta-analysis|poll|report)"
        rf"|(?:study|survey|paper|research|article|meta-analysis) (?:[a-z]+ )?(?:published|conducted|carried out|led) (?:in|by|at)"
        rf"|(?:studies|surveys|researchers|scientists|research)(?: (?:has|have))?(?: also)? (?:shown|shows?|suggests?|found|finds?"
        rf"|indicates?|estimates?|estimated|proven|demonstrated|discovered)|published in the (?:[a-z]+ )?journal){_B}",
        "leans on a study",
        "A 2018 study found that most users never change the default.",
        "The case study below shows how the parts fit together.",
    ),
    Pattern(
        "hallucination_risk",
        "prose",
        rf"{_B}[0-9]+(?:[.,][0-9]+)? ?(?:%|per ?cent) of (?:all |the |these |surveyed )?(?:[a-z]+ )?{_PEOPLE}{_B}"
        rf"|{_B}according to [^.!?\n]* [0-9]+(?:[.,][0-9]+)? ?(?:%|per ?cent{_B}|million{_B}|billion{_B})",
        "gives a statistic about the world",
        "About 73% of developers use a linter.",
        "The column takes 25% of the width.",
    ),
    Pattern(
        "hallucination_risk",
        "prose",
        rf"{_B}(?-i:[A-Z][a-z]+ v\. (?:the )?[A-Z][a-z]+)",
        "cites a court case",
        "The rule goes back to Carlill v. Smith.",
        "Compare tabs vs. spaces.",
    ),
    Pattern(
        "hallucination_risk",
        "prose",
        r"[.,!?…][\"”]\s?(?:--?|—|–)\s?(?-i:[A-Z][a-z]+\.? [A-Z])",
        "quotes a person",
        "“The best way to predict the future is to invent it.” — Alan Kay",
        'Set the title to "A very long title for the page" - the default is empty.',
    ),
    Pattern(
        "hallucination_risk",
        "prose",
        rf"{_B}(?:double-?check|verify|fact-?check|cross-?check) (?:(?:all|any|both|each|some) )?(?:of )?(?:these|my|the|this)"
        rf" (?:[a-z]+ )?(?:facts?|claims?|citations?|references|sources|statistics|quotes?|quotations|dates|figures){_B}",
        "asks to be verified",
        "Please double-check these citations before you use them.",
        "Verify the signature before you parse the token.",
    ),
)

# Words that show a chain of thought. They speak against `no_reasoning`.
REASONING = (
    Pattern(
        "no_reasoning",
        "prose",
        rf"{_B}(?:let me|let['’]?s|i['’]ll|i will) (?:[a-z]+ )?(?:think|work|break|analy[sz]e|walk|reason|go through|consider|start){_B}",
        "announces that it thinks",
        "Let me break this down.",
        "Let me know if that helps.",
    ),
    Pattern(
        "no_reasoning",
        "prose",
        rf"{_B}(?:because|therefore|thus|hence|consequently|it follows|(?:this|that|which) (?:means|implies)|(?:this|that)(?:['’]s| is) why"
        rf"|the reason|as a result|in conclusion|step[- ]by[- ]step|step (?:1|one)|given that){_B}",
        "gives a reason or a step",
        "It fails because the list is empty.",
        "It fails on an empty list.",
    ),
    Pattern(
        "no_reasoning",
        "prose",
        rf"(?:^|[.!?:]\s|\n)[ \t>*#-]*(?:first(?:ly)?|to start|second(?:ly)?|third(?:ly)?|next|then|finally|so|since){_B}",
        "a sentence that goes on from another",
        "Open the file. Then read the header.",
        "The first line is the header.",
    ),
    Pattern(
        "no_reasoning",
        "prose",
        r"(?:^|\n)[ \t>]*1[.)][ \t](?s:.*)\n[ \t>]*2[.)][ \t]",
        "a numbered list",
        "1. Stop the server\n2. Remove the lock",
        "- Stop the server\n- Remove the lock",
    ),
)

# Signs that neither are composed nor change under NFC; a text of nothing else, as nearly all are, needs no NFC.
_MAY_COMPOSE = (
    r"[^\x00-\x{2FF}\x{400}-\x{482}\x{48A}-\x{52F}\x{200B}-\x{2027}\x{20A0}-\x{20BF}\x{2190}-\x{21FF}"
    r"\x{2500}-\x{27BF}\x{3001}-\x{3029}\x{3041}-\x{3096}\x{30A1}-\x{30FA}\x{4E00}-\x{9FFF}\x{AC00}-\x{D7A3}"
    r"\x{FE00}-\x{FE0F}\x{FF01}-\x{FFE6}\x{1F300}-\x{1F9FF}]"
)

_CODE = "\x00"  # stands for a block of code where it was; the contract lets no NUL into a text (G5)
_SPACE = r"[^\S\n]"
_ITEM = r"(?:[-*+•]|[0-9]{1,9}[.)])"
_FENCE = "```|~~~"
_FENCE_START = rf"^[ \t>]*(?:{_ITEM}[ \t]+)*"


def _closed_fence(marks: str) -> str:
    """Fences with their contents, up to the fence that closes each: the same sign, at least as often, alone on its line.

    Longer fences may contain shorter ones. A linear-time engine cannot count and compare, so the lengths are listed.
    """
    fences = (
        rf"{mark}{{{length}}}[^{mark}\n]*\n(?:[^\n]*\n)*?[ \t>]*{mark}{{{least},}}$"
        for mark in marks
        for length, least in (("3", 3), ("4", 4), ("5", 5), ("6,", 6))
    )
    return rf"(?m){_FENCE_START}(?:{'|'.join(fences)})"


_OPEN_FENCE = rf"(?m){_FENCE_START}(?:`{{3,}}[^`\n]*|~{{3,}}[^~\n]*)$"
_NO_ITEM = rf"(?:[^\s\-*+•0-9{_CODE}]|[-*+•]\S|[0-9]+(?:[^0-9.)\n]|[.)]\S|$))"
_INDENTED_LINE = rf"(?m)\n(?: {{4}}|\t)[ \t]*{_NO_ITEM}"
# Below a line that is neither indented nor a list item: what hangs below an item belongs to the item.
_INDENTED_CODE = rf"(?m)(^{_NO_ITEM}[^\n]*\n*){_INDENTED_LINE}[^\n]*(?:\n+(?: {{4}}|\t)[^\n]*)*"

_CLOSERS = r"[\"'”’»)\]*_`」』）]*"
_SENTENCE_END = rf"([.!?…।؟۔]+{_CLOSERS}){_SPACE}+|([。！？]+{_CLOSERS})"
_WHOLE_SENTENCE = rf"[.!?…।؟۔。！？]{_CLOSERS}$"
_LINE_MARKER = rf"\n{_SPACE}*>*{_SPACE}*(?:(?:{_ITEM}|#{{1,6}}){_SPACE}+(?:\[[ xX]\]{_SPACE}+)?|>)"
_ONLY_CODE = r"^`+[^`]+`+[.:;,]?$"
_SOFT_BREAK = rf"[^\n{_CODE}]\n[^\n{_CODE}]"

_CUT_OFF = r"(?:[\p{L}\p{N}][\p{M}--[\x{FE00}-\x{FE0F}]]*|[,，、،\-‐‑－])\z"
_LIST_LINE = r"^[\s>]*(?:(?:[-*+–—‣◦▪●○■✅✔☑✓❌✗✘]|\(?(?:[0-9]{1,9}|[A-Za-z]|[ivxIVX]{2,4})[.)])\x{FE0F}?\s|•)"
_TABLE_RULE = r"(?m)^[ \t>]*[-:| \t]*(?:-[-:| \t]*\||\|[-:| \t]*-)[-:| \t]*$"
_WORD = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}]|[\p{L}\p{M}\p{N}'’_]+"


def answer_flags(rows: pl.DataFrame) -> pl.Series:
    """The flags of each answer, in the order of QUALITY_FLAGS; an empty list where there is nothing to say.

    Reads query, claude_response, reasoning_type (text) and step_count (integer); a null is an empty text or no step.
    """
    flags = [_flags_of(batch) for batch in rows.iter_slices(BATCH_ROWS)]
    return pl.concat(flags) if flags else pl.Series("quality_flags", [], dtype=pl.List(pl.String))


def _flags_of(rows: pl.DataFrame) -> pl.Series:
    answers = rows["claude_response"].fill_null("")
    characters = answers.str.len_chars()
    text = _lines(answers)
    prose, has_fence, has_open_fence = _without_code(text)
    raised = _raised_by_words(rows, answers, prose) | {
        "repetition": _is_repetitive(prose),
        "incomplete": has_open_fence | _is_cut_off(prose),
        "no_reasoning": _lacks_reasoning(rows, prose),
        "too_short": characters <= CHARS_PER_TOKEN * (SHORT_TOKENS - 1),
        "too_long": characters > CHARS_PER_TOKEN * LONG_TOKENS,
        "code_only": _where(has_fence, lambda some: _has_few_words(prose.filter(some))),
    }
    names = (pl.when(pl.col(flag)).then(pl.lit(flag)) for flag in QUALITY_FLAGS)
    flags = pl.DataFrame(raised).select(pl.concat_list(*names).list.drop_nulls().alias("quality_flags"))
    return flags.to_series()


def _lines(answers: pl.Series) -> pl.Series:
    """The answers as G10 compares them, with plain line breaks and no space at the end of a line."""
    is_foreign = answers.str.len_bytes() != answers.str.len_chars()
    may_compose = _where(is_foreign, lambda some: answers.filter(some).str.contains(_MAY_COMPOSE))
    text = _mended(answers, may_compose, lambda some: some.str.normalize("NFC"))
    text = _mended(text, text.str.contains("\r", literal=True), lambda some: some.str.replace_all("\r\n?", "\n"))
    text = text.str.strip_chars(SPACES)
    ends_in_space = text.str.contains(r"[ \t]\n")
    return _mended(text, ends_in_space, lambda some: some.str.replace_all(r"[ \t]+\n", "\n"))


def _without_code(text: pl.Series) -> tuple[pl.Series, pl.Series, pl.Series]:
    """The text with one sign in place of every block of code, whether it has a fence, and whether one stays open."""
    has_tildes = text.str.contains("~~~", literal=True)
    has_backticks = text.str.contains("```", literal=True) & ~has_tildes
    prose = _mended(text, has_backticks, lambda some: some.str.replace_all(_closed_fence("`"), _CODE))
    prose = _mended(prose, has_tildes, lambda some: some.str.replace_all(_closed_fence("`~"), _CODE))
    is_open = _where(prose.str.contains(_FENCE), lambda some: prose.filter(some).str.contains(_OPEN_FENCE))
    prose = _mended(prose, is_open, lambda some: some.str.replace(rf"{_OPEN_FENCE}(?s:.*)", _CODE))
    has_fence = prose.str.contains(_CODE, literal=True)
    is_indented = prose.str.contains(_INDENTED_LINE)
    prose = _mended(prose, is_indented, lambda some: some.str.replace_all(_INDENTED_CODE, f"${{1}}\n{_CODE}"))
    return prose, has_fence, is_open


def _is_repetitive(prose: pl.Series) -> pl.Series:
    """Whether a line, or a sentence, of 20 or more characters occurs three times or more.

    A sentence ends with its line, and, because some answers are wrapped at a fixed width, whole sentences are also looked
    for in paragraphs read as one line. A line that occurs three times consists of sentences that do, so lines need a look
    only where some sentence, however short, is repeated.
    """
    rows = pl.DataFrame({"row": pl.int_range(len(prose), dtype=pl.UInt32, eager=True), "text": prose})
    rows = rows.filter(prose.str.len_bytes() >= REPEATED_TIMES * REPEATED_LENGTH)
    # What marks a line as list item, heading or quote is no part of its sentences, and begins a paragraph.
    bare = rows.with_columns(("\n" + pl.col("text")).str.replace_all(_LINE_MARKER, "\n\n").alias("text"))
    wrapped = bare.filter(pl.col("text").str.contains(_SOFT_BREAK))
    sentences = _repeated(bare.with_columns(_by_sentence()))
    unwrapped_sentences = _repeated(wrapped.with_columns(_unwrapped()).with_columns(_by_sentence())).filter(
        pl.col("unit").str.contains(_WHOLE_SENTENCE)
    )
    lines = _repeated(rows.filter(pl.col("row").is_in(sentences["row"].implode())))
    found = pl.concat([sentences, unwrapped_sentences, lines])
    found = found.filter(pl.col("unit").str.len_chars() >= REPEATED_LENGTH)["row"].unique()
    return pl.Series([False]).new_from_index(0, len(prose)).scatter(found, True)


def _by_sentence() -> pl.Expr:
    """Every sentence on a line of its own."""
    return pl.col("text").str.replace_all(_SENTENCE_END, "$1$2\n")


def _unwrapped() -> pl.Expr:
    """Every paragraph on a line of its own; code ends a paragraph."""
    paragraphs = pl.col("text").str.replace_all("\n\n", _CODE, literal=True)
    return paragraphs.str.replace_all(rf"\n{_SPACE}*", " ").str.replace_all(_CODE, "\n", literal=True)


def _repeated(texts: pl.DataFrame) -> pl.DataFrame:
    """`row` and `unit` of the lines that occur three times in a text. Hashes find the few suspects, the lines decide."""
    units = (
        texts.select("row", pl.col("text").str.split("\n").alias("unit"))
        .explode("unit")
        .filter(pl.col("unit").str.len_bytes() > len(_CODE))
        .with_columns(pl.col("unit").str.strip_chars())
    )
    keys = units.select(pl.col("unit").hash() ^ pl.col("row").hash()).to_series()
    often = keys.sort().rle().struct.unnest().filter(pl.col("len") >= REPEATED_TIMES)["value"]
    counted = units.filter(keys.is_in(often.implode())).group_by("row", "unit").len()
    is_text = pl.col("unit").str.contains(r"[\p{L}\p{N}]") & ~pl.col("unit").str.contains(_ONLY_CODE)
    return counted.filter((pl.col("len") >= REPEATED_TIMES) & is_text).select("row", "unit")


def _is_cut_off(prose: pl.Series) -> pl.Series:
    """Whether the last line is prose and ends in the middle of something."""
    return _where(prose.str.contains(_CUT_OFF), lambda some: _is_prose_line(prose.filter(some)))


def _is_prose_line(prose: pl.Series) -> pl.Series:
    """Whether the last line is neither list item, heading nor table row. What hangs right below an item belongs to it."""
    block = prose.str.split("\n\n").list.last().str.split(_CODE).list.last()
    line = block.str.split("\n").list.last()
    is_item = line.str.contains(_LIST_LINE) | (
        line.str.contains(r"^(?:  |\t)") & block.str.contains(f"(?m){_LIST_LINE}")
    )
    is_heading = line.str.contains(r"^[\s>]*#{1,6}\s")
    has_table = block.str.contains(_TABLE_RULE)
    is_row = line.str.contains(r"^[\s>]*\|") | (line.str.contains("|", literal=True) & has_table)
    return line.str.contains(r"[\p{L}\p{N}]") & ~(is_item | is_heading | is_row)


def _has_few_words(prose: pl.Series) -> pl.Series:
    """Whether there are fewer than ten words. The beginning nearly always says no, and counting is slow."""
    has_few = prose.str.head(FEW_WORDS * 20).str.count_matches(_WORD) < FEW_WORDS
    return _where(has_few, lambda some: prose.filter(some).str.count_matches(_WORD) < FEW_WORDS)


def _lacks_reasoning(rows: pl.DataFrame, prose: pl.Series) -> pl.Series:
    """Whether neither the steps, the type nor the words of an answer show a chain of thought."""
    is_chain = rows.select(word("reasoning_type").is_in(CHAIN_TYPES).fill_null(False)).to_series()
    is_plain = (rows["step_count"].fill_null(0) < CHAIN_STEPS) & ~is_chain
    return _where(is_plain, lambda some: ~prose.filter(some).str.contains(_any_of(REASONING)))


def are_refusals(answers: pl.Series) -> pl.Series:
    """Whether an answer refuses to help."""
    is_short = answers.str.len_chars() < REFUSAL_LENGTH
    openings = answers.filter(is_short).str.head(REFUSAL_OPENING).str.replace_all(_wrappable(_NO_REFUSAL), " ")
    return _where(is_short, lambda _: openings.str.contains(_pattern("refusal", "opening")))


def _raised_by_words(rows: pl.DataFrame, answers: pl.Series, prose: pl.Series) -> dict[str, pl.Series]:
    is_refusal = are_refusals(answers)
    is_old_question = rows["query"].fill_null("").str.contains(_pattern("outdated", "query"))
    found = {
        flag: prose.str.contains(_pattern(flag, "prose")) for flag in ("uncertain", "outdated", "hallucination_risk")
    }
    return found | {"refusal": is_refusal, "outdated": found["outdated"] | is_old_question}


def _pattern(flag: str, looks_at: str) -> str:
    return _any_of(tuple(record for record in PATTERNS if (record.flag, record.looks_at) == (flag, looks_at)))


def _any_of(records: tuple[Pattern, ...]) -> str:
    return _wrappable("|".join(f"(?:{record.pattern})" for record in records))


def _wrappable(pattern: str) -> str:
    """In any case, and with line breaks where the pattern has spaces: some answers are wrapped at a fixed width."""
    return f"(?i){pattern}".replace(" ", r"[ \n]")


def _where(rows: pl.Series, judge: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """The verdict on some of the rows, false for the others; no work where there are none."""
    nowhere = pl.Series([False]).new_from_index(0, len(rows))
    return nowhere.scatter(rows.arg_true(), judge(rows)) if rows.any() else nowhere


def _mended(texts: pl.Series, needed: pl.Series, mend: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """The texts with some of them mended; most need nothing, and to touch a text costs more than to look at it."""
    return texts.clone().scatter(needed.arg_true(), mend(texts.filter(needed))) if needed.any() else texts
