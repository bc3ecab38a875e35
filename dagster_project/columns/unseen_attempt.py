"""Whether a text talks about an attempt that its prompt does not show (T1, `unseen_attempt`).

A teacher who corrects a student, or a user who corrects an answer, writes "Your answer is wrong because ..." or "The
previous response missed ...". As the target of an instruction, cot or preference record that teaches a model to criticise
what nobody said. `PATTERNS` is all this knows: a text talks of an unseen attempt where one of the records matches. They
are written for both sides: "your code", "as you said in your question" and "the previous section" speak of what is there.

A prompt that shows an attempt itself ("What is wrong with my answer?") makes what `is_about` it a plain answer. Patterns
use no look-around, so that any linear-time engine can run them. English, and the plainest forms in German, French and
Spanish.
"""

from typing import NamedTuple

import polars as pl


class Pattern(NamedTuple):
    """One way to talk of an attempt. `is_about` says whose: `yours`, an `earlier` answer, `SAM`'s, or one not named."""

    is_about: str
    pattern: str
    catches: str
    example: str
    counter_example: str


_B = r"(?-u:\b)"  # a word boundary that only knows ASCII: the Unicode one is slow on texts with an accent in them
_OPEN = r"(?:^|[^a-z0-9_\"“‘'’`«-])"  # words in quotes or in code are somebody else's
_START = r"\A[\s*#>_]*"
_SENTENCE = rf"(?:\A|[.!?:;,\n—–][\s*#>_-]*|{_B}(?:but|and|however,?|actually,?) )"

_ANSWER = r"(?:answer|response|reply|attempt)"
_WORK = r"(?:answer|response|reply|attempt|solution|explanation|translation|suggestion|summary|draft|reasoning|calculation|proposal)"
_EARLIER = r"(?:previous|earlier|prior|initial|original|first|preceding|last|attempted|above)"
_YOUR = rf"your (?:own )?(?:{_EARLIER} )?{_WORK}"
_THE_EARLIER = (
    rf"(?:the|that|this|an|my) (?:{_EARLIER} (?:{_ANSWER}|solution|explanation|suggestion)|{_ANSWER} (?:given )?above"
    rf"|{_ANSWER} (?:that was |that is )?(?:given|provided)|{_ANSWER} (?:that )?you (?:gave|provided|offered))"
)
_ROLE = r"(?:assistant|ai|bot|chatbot|student|student model|model|llm|local model|small model|smaller model)"
_ROLES = rf"(?:the|an) {_ROLE}['’]s (?:{_EARLIER} )?(?:{_WORK}|output)"

_ADVERB = (
    r"(?:(?:not|also|still|just|only|already|actually|really|mostly|largely|partly|partially|almost|nearly|quite|entirely|fully"
    r"|completely|technically|basically|somewhat|slightly|a bit|a little|too|very|pretty|essentially|generally|simply|far"
    r"|factually|broadly|overall|therefore|unfortunately|otherwise) )*"
)
_VERDICT = (
    r"(?:wrong|incorrect|inaccurate|incomplete|correct|right|accurate|outdated|out of date|misleading|vague|unclear|confusing"
    r"|flawed|false|untrue|good|fine|close|short|long|brief|general|generic|on the right track|off|missing|lacking|confused"
    r"|contradictory|insufficient|invalid|imprecise|superficial|unsafe|dangerous|buggy|verbose|wordy|problematic|mistaken"
    r"|a good (?:start|attempt|try)|not (?:true|wrong|bad|complete)|based on|complete|sound|solid|thorough|literal|weak|almost there)"
)
_FAULT = r"(?:errors?|mistakes?|problems?|issues?|flaws?|bugs?|inaccurac(?:y|ies)|omissions?|misunderstandings?|gaps?)"
# What one says of an answer that is there to be judged.
_JUDGED = (
    rf"(?: {_ADVERB}(?:is|was|isn['’]t|wasn['’]t|seems|looks|sounds|were) {_ADVERB}{_VERDICT}{_B}"
    rf"| {_ADVERB}(?:has|had|contains|contained|makes|made|suffers from) (?:an?|some|several|two|three|many|a few|one|no)?"
    rf" ?(?:[a-z]+ ){{0,2}}{_FAULT}{_B}"
    rf"| {_ADVERB}(?:does not|doesn['’]t|did not|didn['’]t|fails to|failed to|forgets to|forgot to|neglects to|neglected to)"
    r" (?:[a-z]+ly )?(?:mention|explain|address|answer|handle|cover|include|consider|account|take into account|say|give|list"
    r"|provide|show|state|specify|work|follow|use|match|note|discuss|describe|distinguish|define|point out|cite|return)"
    rf"|,? {_ADVERB}(?:misse[sd]|omits|omitted|overlook(?:s|ed)|ignore[sd]|lack(?:s|ed)|leaves out|left out|confuse[sd]"
    r"|mix(?:es|ed) up|conflate[sd]|contradict(?:s|ed)|misunderst(?:ands|ood)|misread(?:s)?|misstate[sd]|invent(?:s|ed)"
    r"|hallucinate[sd]|repeat(?:s|ed) the|assume[sd]|suggest(?:s|ed)|recommend(?:s|ed)|claim(?:s|ed)|state[sd]|got the"
    r"|gets the|only covers?|only covered|covered|skips|skipped|forgets|forgot|falls short|fell short|treat(?:s|ed)|used"
    r"|could be improved|goes wrong|went wrong)(?-u:\b)"
    r"| (?:should|could|would|ought to) (?:also )?have(?-u:\b)"
    r"| (?:lists?|listed|names?|named|gives?|gave|mentions?|mentioned|covers?|explains?|explained|describes?|described) only(?-u:\b)"
    r"| (?:has|had|gets|got|captures) the (?:right|correct|wrong|main|basic) (?:idea|answer|approach|method|concept|formula)s?(?-u:\b)"
    r"| (?:would|could) be (?:stronger|better|clearer|more|improved)(?-u:\b)"
    r"| (?:covers|captures|touches) (?:the|most|all|only|some)(?-u:\b)"
    rf"| (?:incorrectly|wrongly|mistakenly|erroneously|falsely|correctly|rightly) [a-z]+)"
)
_SAID = r"(?:said|wrote|stated|claimed|mentioned|suggested|recommended|answered|told me|explained|asserted|argued|gave|proposed)"
_MISSED_PART = (
    r"(?:(?:[a-z]+ ){0,2}(?:points?|steps?|details?|facts?|parts?|cases?|aspects?|factors?|nuances?|pieces?|caveats?|conditions?"
    r"|exceptions?|information|reasons?|requirements?|examples?|considerations?|distinctions?)(?-u:\b))"
)
_TREAT = (
    r"(?:mention|handle|include|explain|say|add|account|consider|answer|address|specify|note|state|point out|give|cover|list"
    r"|take into account|convert|simplify|carry|multiply|divide|check|close|cite|name|tell|distinguish|define)"
)

PATTERNS = (
    Pattern(
        "yours",
        rf"{_OPEN}(?:{_YOUR}{_JUDGED}|your (?:{_EARLIER} )?(?:suggestion|proposal|recommendation) (?:to|of|that)(?-u:\b))",
        "judges the reader's answer",
        "Your answer is wrong because the list is empty.",
        "Keep your answer short, and your answer sheet clean.",
    ),
    Pattern(
        "yours",
        rf"{_B}(?:{_FAULT} (?:in|with|of)|correct|fix|improve|improve on|improves on|revise|disagree with|agree with|build on"
        rf"|expand on|correction (?:of|to)|things? in|unlike|wrong (?:with|about|in)|instead of) {_YOUR}(?: |[.,:;!?]|$)",
        "corrects the reader's answer",
        "There is a mistake in your answer: the plural is oxen.",
        "There is an error in your SQL: the comma after the last column.",
    ),
    Pattern(
        "yours",
        rf"{_B}in your (?:own )?(?:{_EARLIER} )?(?:{_WORK}|try),? (?:you|there|it)(?-u:\b)",
        "says what happened in the reader's answer",
        "In your first try you forgot the return statement.",
        "In your first year you pay no tax on it.",
    ),
    Pattern(
        "yours",
        rf"{_B}(?:corrected|fixed|improved|revised|better|cleaned[- ]up|amended) (?:version|form) of (?:your|the previous|the"
        r" original|the above|sam['’]s) (?:[a-z]+ )?(?:code|answer|response|reply|attempt|solution|function|script|query|text"
        r"|explanation|translation)(?-u:\b)",
        "presents itself as a corrected version",
        "Corrected version of your code:",
        "The corrected version of the bug report is on the tracker.",
    ),
    Pattern(
        "yours",
        rf"{_SENTENCE}you (?:correctly|rightly|accurately) (?:note|state|said|identif|point|mention|explain|name|describe|recogni|list"
        r"|calculate|define|answer|claim)[a-z]*(?-u:\b)"
        rf"|{_SENTENCE}you(?:['’]ve| have)? (?:mixed up|confused|conflated|swapped|misread|misunderstood|miscounted|misstated"
        r"|miscalculated)(?-u:\b)"
        rf"|{_SENTENCE}you(?:['’]ve| have)(?: got)? the (?:right|correct|wrong) (?:idea|formula|answer|approach|method|concept"
        r"|intuition|steps?|numbers?)(?-u:\b)"
        rf"|{_B}(?:see|understand) why you (?:said|thought|chose|answered|wrote)(?-u:\b)"
        rf"|{_SENTENCE}you were (?:nearly|almost|so|very) (?:there|close|right)(?-u:\b)",
        "says what the reader knew and did not",
        "You've got the right formula, but for another triangle.",
        "You have the right to remain silent.",
    ),
    Pattern(
        "yours",
        rf"{_B}you (?:have )?(?:incorrectly|wrongly|mistakenly|erroneously|falsely) [a-z]+|{_SENTENCE}you (?:stated|claimed"
        rf"|asserted) (?:that )?(?:the|a|an|it|they|there|this|that|all|most|[a-z]+ (?:is|are|was|were|has|have|can))(?-u:\b)",
        "repeats the reader's claim to deny it",
        "You incorrectly stated that the moon has an atmosphere.",
        "You mentioned that you are vegetarian, so here is a recipe without meat.",
    ),
    Pattern(
        "yours",
        rf"{_SENTENCE}you {_SAID} (?:that )?(?:the|a|an|it|they|there|this|all|most|to|[a-z0-9]+ (?:is|are|was|were|has|have|can))"
        r" [^.!?\n]{1,120}?(?:(?:,|;|—|–| -) ?(?:but|however|yet|whereas|which is (?:wrong|not|incorrect))(?-u:\b)"
        r"|[.;] (?:it (?:is|was|ended|began|has|does|did|takes)|they (?:are|were|have|do)|(?:actually|in fact|however|in reality)(?-u:\b)"
        r"|(?:this|that) (?:is|was|isn['’]t|wasn['’]t) (?:not|wrong|incorrect|false|untrue|inaccurate)))",
        "sets something against what the reader said",
        "You said that Paris is in Italy, but it is the capital of France.",
        "You said you are allergic to nuts, so leave out the almonds.",
    ),
    Pattern(
        "yours",
        rf"{_B}what you (?:said|wrote|suggested|described|proposed|gave)(?: (?:about|on|regarding) [^.!?\n]{{1,60}}?)? "
        rf"(?:is|was) {_ADVERB}(?:right|wrong|true|correct|incorrect|accurate|false|good|fine)(?-u:\b)"
        rf"|{_B}(?:instead of|unlike) what you (?:said|suggested|wrote|recommended|proposed|gave)(?-u:\b)"
        rf"|{_B}the (?:answer|result|value|formula|derivative|integral|definition|example|reason|date|year|name|number|equation"
        r"|expression|list|code|method|approach) (?:that )?you (?:gave|suggested|recommended) (?:is|was|has|does|lacks|misses)(?-u:\b)",
        "judges what the reader said",
        "What you said about vaccines is not true.",
        "What you wrote to the landlord is a valid notice.",
    ),
    Pattern(
        "yours",
        rf"{_B}you should (?:also |instead )?have (?:said|mentioned|explained|answered|written|pointed out|noted|stated|included"
        r"|clarified|responded|replied|told|suggested|recommended|listed|emphasi[sz]ed|used|chosen|applied|divided|multiplied|converted"
        r"|checked|cited|defined|named|started with)(?-u:\b)",
        "tells the reader what to have said",
        "You should have said that it must not be taken with alcohol.",
        "You should have received a letter by now.",
    ),
    Pattern(
        "yours",
        rf"{_SENTENCE}you(?:['’]ve| have)? (?:(?:forgot|forgotten|failed|neglected) to {_TREAT}(?-u:\b)"
        rf"|(?:missed|overlooked|omitted|left out|skipped|forgot|ignored|neglected) (?:an?|the|one|some|another|several|two|to)"
        rf" (?:{_MISSED_PART}|(?:base|edge|main|most|key) [a-z]+))",
        "names what the reader left out",
        "You missed a key point: the contract can be cancelled.",
        "You missed the deadline? Ask for an extension.",
    ),
    Pattern(
        "yours",
        rf"{_SENTENCE}you(?:['’]re| are| were) (?:(?:very|so|pretty|quite|really|almost|nearly|mostly|partly|partially|half) )*"
        r"(?:close[,.!;—–]|close but|right[,;] but|correct[,;] but|right that [^.!?\n]{1,80}?,? but|(?:right|correct) about"
        r" [^.!?\n]{1,60}?,? but|there[,;] but|on the right track)"
        rf"|{_SENTENCE}you got (?:[^.!?\n]{{1,40}} )?(?:right|wrong|mixed up|backwards)(?:[,.;]| but| and)"
        rf"|{_SENTENCE}you (?:were asked|had been asked)(?-u:\b)|{_SENTENCE}you only (?:gave|listed|mentioned|named|covered|answered"
        r"|explained|provided)(?-u:\b)",
        "tells the reader how near it was",
        "You're close, but the last step is off.",
        "You were right to call the police.",
    ),
    Pattern(
        "earlier",
        rf"{_OPEN}{_THE_EARLIER}{_JUDGED}|{_SENTENCE}(?:that|this) (?:answer|response|reply){_JUDGED}",
        "judges an earlier answer",
        "The previous response missed the most important point.",
        "The previous section explains how to install it.",
    ),
    Pattern(
        "earlier",
        rf"{_B}(?:{_FAULT} (?:in|with|of)|unlike|compared (?:to|with)|improves? (?:on|upon)|improvement (?:on|over)|better than"
        rf"|instead of|in contrast to|correct|fix|revise|as (?:stated|said|mentioned) in|wrong (?:with|in)|contrary to"
        rf"|(?:version|correction) of) {_THE_EARLIER}|{_B}than the one (?:given|provided|above|before)(?-u:\b)"
        rf"|{_B}(?:answer|response|reply) is (?:better|clearer|shorter|longer|more [a-z]+) than the {_EARLIER} one(?-u:\b)"
        rf"|{_B}in (?:the|your|my) (?:previous|earlier|prior|above) {_ANSWER}(?-u:\b)"
        rf"|{_B}{_FAULT} (?:in|with|of) (?:the|this|that) (?:attempt|answer|response|reply)(?: (?:is|was|above)(?-u:\b)|[,.:;]|$)"
        rf"|{_OPEN}{_THE_EARLIER} should (?:be|read|say|also|mention|include)(?-u:\b)",
        "compares itself with an earlier answer",
        "Unlike the previous answer, this one takes leap years into account.",
        "Unlike the previous model, this one has two cameras.",
    ),
    Pattern(
        "earlier",
        rf"{_SENTENCE}the (?:response|answer|attempt|reply) (?:incorrectly|wrongly|mistakenly|erroneously|falsely) [a-z]+"
        rf"|{_SENTENCE}the (?:response|answer|reply) (?:above )?(?:fails to (?:mention|address|explain|answer|say)|does(?: not|n['’]t)"
        r" (?:mention|address|answer|explain)|omits the|overlooks|(?:states|claims|says|suggests) (?:that )?)(?-u:\b)"
        rf"|{_SENTENCE}the attempt (?:is|was|has|had|does|did|doesn['’]t|didn['’]t|treats|assumes|assumed|uses|used|confuses|confused"
        r"|misses|missed|ignores|ignored|forgets|forgot|omits|fails to|offers|gives|names|lists|repeats|leaves|describes|needs|covers"
        r"|states|claims|says|suggests|skips|correctly|incorrectly|gets|got|mixes|overlooks|shows|starts"
        r"|only|at least|above)(?-u:\b)",
        "judges the answer as if it stood above",
        "The response incorrectly states that it happens at night.",
        "The response time depends on the number of connections.",
    ),
    Pattern(
        "earlier",
        rf"{_OPEN}{_ROLES}{_JUDGED}|{_B}{_FAULT} (?:in|with|of) {_ROLES}",
        "judges the answer of a model",
        "The assistant's reply is wrong on two counts.",
        "The patient's response was measured after two weeks.",
    ),
    Pattern(
        "SAM",
        rf"{_B}(?-i:SAM)['’]s (?:{_EARLIER} )?(?:{_WORK}|output|version|code|mistake|error|approach)(?-u:\b)"
        rf"|{_B}(?-i:SAM) (?:also |only |correctly |incorrectly |wrongly |mistakenly |even |just )?(?:said|says|missed|forgot|confused"
        r"|confuses|went wrong|got (?:the|it|this|that)|failed|claimed|claims|answered|suggested|stated|thought|counted|misunderstood"
        r"|mixed|overlooked|omitted|left out|assumed|recommended|invented|hallucinated|did not|didn['’]t|should have|tried|attempted"
        r"|wrote|gave|was (?:right|wrong|close|correct|incorrect))(?-u:\b)",
        "names SAM",
        "SAM's attempt reverses the string twice.",
        "SAM is a file format for aligned sequences.",
    ),
    Pattern(
        "unnamed",
        rf"{_START}(?:(?:hmm|well|sorry|actually|unfortunately|no)[,.!]? (?:but )?)?(?:that|this)(?:['’]s| is| was|['’]s not| isn['’]t)"
        r" (?:(?:not |actually |unfortunately )*(?:quite |entirely |fully |completely |exactly |totally |strictly )?(?:right|correct"
        r"|true|accurate|it)|incorrect|wrong|(?:almost|nearly|partly|mostly|partially) (?:right|correct)|close|a (?:good|nice|great)"
        r" (?:start|try|attempt|effort))(?:[.!;—–]|,? but(?-u:\b))",
        "begins with a verdict",
        "That's not quite right. The ribosome makes proteins.",
        "That's correct, the museum is closed on Mondays.",
    ),
    Pattern(
        "unnamed",
        rf"{_START}a (?:better|more complete|fuller) (?:answer|response|version) (?:is|was|would|could)(?-u:\b)"
        rf"|{_START}(?:wrong|incorrect|(?:not|almost|nearly|partly|partially|mostly) (?:correct|right|true|accurate|there))(?:[.!:;,]|—|–)"
        rf"|{_START}(?:close|almost|not quite|nearly|not exactly)(?:[.!]|, but (?:you|your|the|that|it|there|not quite|no)(?-u:\b)"
        r"|—|, almost)"
        rf"|{_START}(?:a )?(?:good|nice|great|decent|solid|valiant) (?:start|try|attempt|effort|guess)(?:[.!]|,? but(?-u:\b)|—)",
        "begins with a word of praise or doubt for an attempt",
        "Good attempt! The only problem is that `sort` returns None.",
        "Not quite half of all adults own a car.",
    ),
    Pattern(
        "unnamed",
        rf"{_START}(?:here(?:['’]s| is) (?:the |a |an )?)?(?:corrected|improved|revised|amended|fixed) (?:answer|response|reply"
        r"|attempt)(?:[:.,]| (?:below|follows))",
        "presents itself as a correction",
        "Corrected answer: the boiling point is 100 °C.",
        "Corrected figures were published in May.",
    ),
    Pattern(
        "yours",
        rf"{_OPEN}(?:deine|ihre|eure) (?:vorherige |vorige |frühere |erste |ursprüngliche |letzte )?(?:antwort|lösung|erklärung"
        r"|übersetzung) (?:ist|war|hat|hatte|enthält|enthielt|übersieht|übersah|vergisst|vergaß|lässt|berücksichtigt|erwähnt|geht)(?-u:\b)"
        rf"|{_OPEN}(?:ta|votre) (?:première )?(?:réponse|solution|explication) (?:précédente |initiale )?(?:est|était|contient"
        r"|contenait|oublie|omet|ne|n['’])"
        rf"|{_OPEN}(?:tu|su|vuestra) (?:primera )?(?:respuesta|solución|explicación) (?:anterior |inicial )?(?:es|era|fue|contiene"
        r"|contenía|omite|omitió|tiene|no)(?-u:\b)",
        "judges the reader's answer in German, French or Spanish",
        "Deine Antwort ist falsch: Die Hauptstadt ist Canberra.",
        "Deine Frage ist gut.",
    ),
    Pattern(
        "earlier",
        rf"{_OPEN}die (?:vorherige|vorige|frühere|ursprüngliche|obige|letzte) (?:antwort|lösung|erklärung) (?:ist|war|hat|enthält"
        r"|enthielt|übersieht|übersah|vergisst|vergaß|lässt|berücksichtigt|erwähnt)(?-u:\b)"
        rf"|{_OPEN}la réponse (?:précédente|initiale|ci-dessus) (?:est|était|contient|oublie|omet|ne|n['’])"
        rf"|{_OPEN}la respuesta (?:anterior|inicial) (?:es|era|fue|contiene|omite|omitió|tiene|no)(?-u:\b)",
        "judges an earlier answer in German, French or Spanish",
        "Die vorherige Antwort war unvollständig.",
        "Die vorherige Version war langsam.",
    ),
)

_OWN_WORK = (
    r"(?:answers?|attempts?|solutions?|code|essay|explanation|translation|draft|proof|function|script|query|program|work|text"
    r"|email|letter|paragraph|sentence|summary|calculation|reasoning|response|reply|homework|result|poem|story|implementation)"
)
_EARLIER_SHOWN = (
    rf"{_B}(?:previous|earlier|prior|above|following|this|that|your|these|last|original|first) {_ANSWER}(?-u:\b)"
    r"|(?m:^)[ \t*]*(?:assistant|ai|bot|sam|model|claude|chatgpt|a)[ \t*]*:|[\"']role[\"'] ?: ?[\"'](?:assistant|ai|model)"
)
# What in a prompt shows an attempt, so that the text speaks of something that is there.
SHOWN_BY = {
    "yours": (
        rf"{_B}(?:my|our) (?:[a-z]+ )?{_OWN_WORK}(?-u:\b)|```|{_B}(?:i|we)(?:['’]ve| have)? (?:wrote|written|tried|answered|got"
        rf"|came up with|did|made|think|thought|believe|said|translated|solved|calculated|have so far)(?-u:\b)"
        rf"|{_B}(?:check|review|grade|correct|proofread|improve|rate|critique|evaluate|assess|fix|debug|mark) (?:this|my|our|the)(?-u:\b)"
        rf"|{_B}(?:what(?:['’]s| is) wrong with|is (?:this|that|it) (?:right|correct|true)|(?:right|correct)\?)|{_EARLIER_SHOWN}"
    ),
    "earlier": _EARLIER_SHOWN,
    "SAM": rf"{_B}(?-i:SAM)(?-u:\b)|{_EARLIER_SHOWN}",
}
SHOWN_BY["unnamed"] = SHOWN_BY["yours"]


def talks_of_unseen_attempt(texts: pl.Series, prompts: pl.Series | None = None) -> pl.Series:
    """Whether each text talks about an attempt its prompt (with its context) does not show; a null does not.

    One pass over all texts finds the few that may; they are asked of whose attempt they talk, and their prompts whether
    they show it.
    """
    talks = pl.Series([False]).new_from_index(0, len(texts))
    suspects = texts.str.contains(_any_of(*PATTERNS)).fill_null(False).arg_true()
    if not len(suspects):
        return talks
    said = texts.gather(suspects)
    asked = (
        (pl.Series([""]).new_from_index(0, len(texts)) if prompts is None else prompts).gather(suspects).fill_null("")
    )
    found = pl.Series([False]).new_from_index(0, len(suspects))
    for whose, shown in SHOWN_BY.items():
        about = said.str.contains(_any_of(*(record for record in PATTERNS if record.is_about == whose)))
        found |= about & ~asked.str.contains(_wrappable(shown))
    return talks.scatter(suspects, found)


def _any_of(*records: Pattern) -> str:
    return _wrappable("|".join(f"(?:{record.pattern})" for record in records))


def _wrappable(pattern: str) -> str:
    """In any case, and with line breaks where the pattern has spaces: some answers are wrapped at a fixed width."""
    return f"(?i){pattern}".replace(" ", r"[ \n]")
