"""The words that raise a quality flag, and those that speak against one (rule D4), as data.

They are written for precision: a missed flag costs a reviewer a look, a wrong one costs a good example. Patterns see what
`flags.py` makes of an answer, lower case. They use no look-around, so that any linear-time engine can run them. English only.
"""

from typing import NamedTuple


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
NO_REFUSAL = (
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
