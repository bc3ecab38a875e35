"""The knowledge behind rule D3, as data: what in an answer betrays how it was reasoned.

Each record names the signal it is evidence for, the pattern, what it catches, one text that must match and one that must
not. The signals are weighed in `reasoning.py`; one record alone rarely decides. The lists start from seed 2, made
precise: whole words, first person or a named earlier answer instead of a bare "however", a result instead of a bare "so".

Patterns see lower case text with straight apostrophes, `^` and `$` at every line, and, but for the tool signals, no
fenced code. A sentence runs on over `(?:[^.\\n]|\\.\\d)*`, that is over 3.5 too. They use no look-around, and `ready` keeps
them ASCII, so that Rust's fast automaton can run them whatever the script of the text. English only: an answer in another
language is judged by its equations, lists and tool calls.
"""

import re
from functools import cache
from typing import NamedTuple


class Pattern(NamedTuple):
    """One piece of evidence for a signal."""

    signal: str
    pattern: str
    catches: str
    example: str
    counter_example: str
    needs: tuple[str, ...] = ()  # strings of which every match has one: texts without any of them are not looked at


# Word boundaries and classes of ASCII: Unicode's take Rust's regular expressions off their fast path.
_ASCII = {
    r"\b": r"(?-u:\b)",
    r"\w": "[0-9a-zA-Z_]",
    r"\W": r"[ \t\r\n!-/:-@\[-^`{-~]",
    r"\d": "[0-9]",
    r"\s": r"[ \t\r\n]",
}


def ready(pattern: str) -> str:
    """The pattern as the engine gets it."""
    return "(?m)" + re.sub(r"\\.", lambda escape: _ASCII.get(escape[0], escape[0]), pattern)


_START = r"(?:^|[.!?:;\n]\s*)(?:[-*#>]+\s*)?"  # of a sentence, or of a clause after a colon
_UNQUOTED_I = r"(?:^|[^\"'“‘\w])i"  # speaks itself, and no character of a story
_NUMBERS = r"(?:an?|some|several|two|three|four|few|a few|one|multiple|many|the)"
_WRONG = (
    "(?:wrong|incorrect|inaccurate|mistaken|flawed|misleading|incomplete|invalid|faulty|erroneous|not valid|in error"
    "|false|not (?:quite |entirely |fully |completely |actually |strictly )?(?:right|correct|accurate|true"
    "|complete))"
)
_FLAWS = (
    "(?:errors?|mistakes?|bugs?|flaws?|issues?|problems?|inaccurac(?:y|ies)|misconceptions?|slips?|typos?|oversights?)"
)
_ANSWER = (
    "(?:answer|response|reply|solution|attempt|explanation|suggestion|calculation|reasoning|summary|derivation|proof"
    "|translation|result|output|analysis|argument|statement|claim|list|description)"
)
_EARLIER = r"(?:previous|earlier|original|initial|first|given|proposed|provided|prior|current|submitted|last|suggested)"
_ATTEMPT = (
    rf"(?:(?:your|sam's|the (?:student|assistant|model|user|bot|ai|chatbot)'s)(?: (?:\w+ )?{_ANSWER})|(?:the|that|this"
    rf"|my|your) {_EARLIER} (?:\w+ )?{_ANSWER}|the {_ANSWER} (?:above|provided|given|you gave)|the (?:answer|response"
    "|solution|attempt|summary|explanation|reply))"
)
_CODE = (
    "(?:code|function|query|implementation|script|loop|regex|snippet|command|program|method|formula|class|expression)"
)
_ADVERBS = (
    r"(?:(?:also|still|actually|clearly|partly|simply|dangerously|factually|completely|however|unfortunately|both) )*"
)
_SLIPPED = (
    "(?:missed|forgot|forgotten|overlooked|mixed up|confused|miscalculated|misread|misinterpreted|misunderstood"
    "|miscounted|swapped|omitted|left out|neglected|failed to|skipped|misapplied|mistook"
    rf"|made {_NUMBERS} (?:\w+ )?{_FLAWS})"
)
_PEOPLE = (
    "(?:students|people|beginners|learners|writers|developers|programmers|candidates|applicants|speakers|authors|users|teams"
    "|companies|managers|investors|players|drivers|parents|teachers|newcomers|employees|customers)"
)
_LABEL = r"(?:step|phase|stage|day|week|month|part|task|milestone|module|sprint|quarter|session|subtask|section)"
_AMOUNT = r"[$€£]?\d[\d,.]*"
_CALL_ENDS = ("[tool_calls]", ") ->", ")->", ") →", ")→", "] ->", "]->", "] →", "]→")
_AGENT_LABELS = ("action:", "action 1", "action1", "action*", "thought:", "thought 1", "thought1", "thought*")

PATTERNS = (
    # ---- tool_call: the answer calls a tool, in one of the notations of agents
    Pattern(
        "tool_call",
        r"<(?:tool_calls?|functioncall|function_calls?|tool_use|tool|invoke|execute(?:_\w+)?|api_call"
        r"|function=\w+)(?: [^<>\n]{0,80})?>\s*[\[{<\w]",
        "a call in tags",
        '<tool_call>\n{"name": "get_time"}',
        "models mark calls with `<tool_call>`.",
        ("<",),
    ),
    Pattern(
        "tool_call",
        r"<search>\s*[^\s<][^<]*</search>",
        "a search in tags",
        "<search>highest mountain</search>",
        "the <search> element groups controls",
        ("<",),
    ),
    Pattern(
        "tool_call",
        r"\"(?:name|function|function_name|tool|tool_name|api_name"
        r"|action)\":\s*\"[\w .:/-]{1,80}\"\s*,\s*\"(?:arguments|args|tool_input|action_input|kwargs)\":",
        "a call as JSON",
        '{"name": "get_time", "arguments": {"zone": "utc"}}',
        '{"name": "ann", "age": 7}',
        ('":',),
    ),
    Pattern(
        "tool_call",
        r"\"(?:name|function|function_name|tool|tool_name|api_name"
        r"|action)\":\s*\"[\w.:/-]{1,80}\"\s*,\s*\"(?:parameters|params|input)\":\s*\{\s*(?:\}|\"(?:[^t\"]|t[^y\"]))",
        "a call as JSON whose parameters are values, and not a schema with a type",
        '{"name": "get_time", "parameters": {"zone": "utc"}}',
        '{"name": "get_time", "parameters": {"type": "object"}}',
        ('":',),
    ),
    Pattern(
        "tool_call",
        r"\"tool_calls\":\s*\[\s*\{|\"function_call\":\s*\{",
        "a call as a chat message in JSON",
        '{"role": "assistant", "tool_calls": [{"id": "1"}]}',
        '{"tool_calls": []}',
        ('":',),
    ),
    Pattern(
        "tool_call",
        r"\A\s*\[\s*[a-z_][\w.]*\((?:\s*\w+\s*=[^\n]*)?\)(?:,\s*[a-z_][\w.]*\([^\n]*\))?\]",
        "nothing but a list of calls",
        '[get_time(zone="utc"), get_date()]',
        "[the mayor (left)] opened the fair",
        (")]",),
    ),
    Pattern(
        "tool_call",
        r"^\W{0,4}action(?: ?\d+)?\W{0,4}:\W{0,4}[^\n]*\n+\W{0,6}(?:json\s*\{\s*\"action|action[ _]input|observation"
        "|pause$)",
        "ReAct: an action, then its input or what was observed",
        'action: search\naction input: "oslo"',
        "action: the story starts slowly\nsetting: norway",
        _AGENT_LABELS,
    ),
    Pattern(
        "tool_call",
        r"^\W{0,4}action(?: ?\d+)?\W{0,4}: *\w+\[",
        "ReAct with the input in brackets",
        "action 1: search[the trial]",
        "action 1: search the drawer",
        _AGENT_LABELS,
    ),
    Pattern(
        "tool_call",
        r"^\W{0,4}thought(?: ?\d+)?\W{0,4}:[^\n]*\n+\W{0,4}(?:final answer|action)(?: ?\d+)?\W{0,4}:",
        "ReAct: a thought, then an action or the final answer",
        "thought: i have enough information\nfinal answer: 6.0",
        "thought: it may rain\nso take a coat",
        _AGENT_LABELS,
    ),
    Pattern(
        "tool_call",
        r"```(?:output|tool_code|tool_output|tool_call)\s*\n",
        "code that was run: its output stands beside it",
        "```output\n42\n```",
        "```python\n42\n```",
        ("```",),
    ),
    Pattern(
        "tool_call",
        r"<\|(?:tool_call|python_tag|plugin|action_start|begin_search_query)\w*\|>",
        "a call after a control token",
        '<|python_tag|>get_time("utc")',
        "tokens such as <|endoftext|> end a text",
        ("<",),
    ),
    Pattern(
        "tool_call",
        r"\[tool_calls\]",
        "a call after a marker in brackets",
        '[tool_calls] [{"name": "get_time"}]',
        "the tool_calls field holds a list",
        _CALL_ENDS,
    ),
    Pattern(
        "tool_call",
        r"\[[a-z_]\w*\([^()\n]*\)\]? ?(?:->|→)",
        "a call in brackets with an arrow to its result",
        "[calculator(3 * 4) -> 12]",
        "the map [see page 4] -> the lake",
        _CALL_ENDS,
    ),
    Pattern(
        "tool_call",
        r"(?:api[- ]request|tool call|function call|api call)\W{0,3}:\s*\W{0,3}[a-z_][\w.]*\(",
        "a call after its label",
        "api-request: [get_time(zone='utc')]",
        "the function call is expensive (see below)",
    ),
    # ---- tool_intent: the answer says that it runs something now
    Pattern(
        "tool_intent",
        r"\b(?:let me|i'll|i will|i'm going to|i am going to|i would) (?:\w+ ){0,2}(?:run|execute|rerun"
        "|re-run)(?:ning)? (?:the|this|that|these|an?|it|some|your|all|both|pytest|git|python|npm|pip|make|ls|grep"
        r"|`[^`\n]+`)\b",
        "runs a command",
        "let me run the tests again",
        "let me run through the options",
    ),
    Pattern(
        "tool_intent",
        r"\b(?:let me|i'll|i will|i'm going to|i need to|i should|i would|i can) (?:\w+ ){0,2}(?:call|use|invoke"
        r"|query|try)(?:ing)? (?:the|this|an?|our|your) (?:[\w`'\".-]+ ){0,3}(?:function|tool|api|endpoint|plugin"
        r"|database|search engine|calculator|code interpreter|browser|knowledge base)\b",
        "names the tool it turns to",
        "i'll call the `get_time` function",
        "you can use the sum function",
    ),
    Pattern(
        "tool_intent",
        r"\b(?:let me|i'll|i will|i'm going to) (?:\w+ ){0,3}(?:search(?:ing)?|look(?:ing)?|explor(?:e|ing)|grep"
        "|open(?:ing)?|read(?:ing)?|check(?:ing)?|inspect(?:ing)?|view(?:ing)?|fetch(?:ing)?|list(?:ing)?|examin(?:e"
        r"|ing))\b(?:[^.\n]|\.\d)*\b(?:files?|repo(?:sitory)?|director(?:y|ies)|codebase|source code|database|web"
        r"|internet|online|logs|terminal)\b",
        "goes and looks somewhere",
        "i'll start by searching the codebase for it",
        "let me check whether this is right",
    ),
    # ---- shell_block and other_block: fences with commands to run, and with anything else
    Pattern(
        "shell_block",
        r"```[ \t]*(?:bash|shell|sh|zsh|console|terminal|shell-session|powershell|ps1|cmd|bat|fish)[ \t]*\n\s*[^\s#`]"
        r"|```[ \t]*(?:bash|shell|sh|zsh|console|terminal|shell-session|powershell)[ \t]*\n\s*# ?[a-z]",
        "a block of shell commands",
        "```bash\ngit status\n```",
        "```bash\n#!/bin/sh\necho\n```",
    ),
    Pattern(
        "shell_block",
        r"^[ \t]*```[ \t]*(?:text|plaintext)?\n\s*(?:\$ |sudo |apt(?:-get)? |git |pip3? |npm |docker |kubectl |curl "
        "|cd |brew |conda |cargo )",
        "an unnamed block that begins with a command",
        "```\ngit status\n```",
        "```\ntotal 3\n```",
    ),
    Pattern(
        "other_block",
        r"```[ \t]*(?:python|py|javascript|js|typescript|ts|jsx|tsx|java|c|cpp|c\+\+|csharp|cs|c#|go|rust|ruby|php"
        r"|sql|html|css|json|ya?ml|xml|swift|kotlin|scala|r|lua|perl|dart|dockerfile|toml|ini|nginx|makefile)[ \t]*\n"
        r"|```[ \t]*(?:bash|sh|shell)?[ \t]*\n\s*#!",
        "a block of code that is the thing asked for",
        "```python\nprint(1)\n```",
        "```bash\nls\n```",
    ),
    Pattern(
        "told_command",
        r"\b(?:run|running|use|using|execute|type|enter|issue|try|with|then|and|or|do)(?: the command)?:? `(?:\$ |sudo "
        r")?(?:git|npm|npx|yarn|pnpm|pip3?|docker|docker-compose|kubectl|helm|apt|apt-get|brew|conda|cargo|systemctl"
        r"|journalctl|chmod|chown|curl|wget|ssh|scp|rsync|tar|grep|find|sed|awk|ls|cd|rm|cp|mv|mkdir|ps|kill|lsof|netstat|ss"
        r"|ping|dig|df|du|make|terraform|aws|gcloud|az|psql|mysql|pytest|poetry|uv|dnf|yum|pacman|ufw|crontab) [^`\n]+`",
        "a command in the line that the reader is told to run",
        "run `git revert head`",
        "`git merge` joins two histories",
    ),
    Pattern(
        "wants_script",
        r"\b(?:write|create|make|generate|need|want|develop|provide|give me|build)\b[^.?\n]*\b(?:script|one-liner"
        r"|bash function|shell function|dockerfile|makefile|alias)\b",
        "a question whose answer is a script, the deliverable",
        "write a bash script that renames files",
        "which script runs at boot?",
    ),
    # ---- correction: the answer says that the attempt was wrong
    Pattern(
        "correction",
        rf"\b{_ATTEMPT} (?:is|was|are|were|seems|looks|appears)(?: to be)? {_ADVERBS}{_WRONG}",
        "calls the attempt wrong",
        "your answer is incorrect",
        "your answer is correct",
    ),
    Pattern(
        "correction",
        rf"\b{_ATTEMPT} {_ADVERBS}(?:has|had|contains?|contained|makes|made|includes?"
        rf"|suffers from) {_NUMBERS} (?:[\w-]+ ){{0,2}}{_FLAWS}\b",
        "says the attempt has an error",
        "the earlier answer contains a small mistake",
        "your answer has no mistakes",
    ),
    Pattern(
        "correction",
        rf"\b{_ATTEMPT} {_ADVERBS}(?:incorrectly|wrongly|mistakenly|erroneously|fails? to|failed to|overlook(?:s|ed)"
        "|miss(?:es|ed)|omit(?:s|ted)|ignor(?:es|ed)|confus(?:es|ed)|misinterpret(?:s|ed)|misread(?:s)?|misstat(?:es"
        "|ed)|misrepresent(?:s|ed)|leaves out|left out|mix(?:es|ed) up|neglect(?:s|ed)|forg(?:ets|ot)|won't work"
        "|(?:will|would|does) not work|doesn't work|falls short|lacks?|does not (?:address|mention|answer|account)"
        r"|doesn't (?:address|mention|answer|account))\b",
        "says what the attempt got wrong or left out",
        "sam's answer overlooks the leap year",
        "the answer depends on the year",
    ),
    Pattern(
        "correction",
        rf"\b(?:your|sam's|(?:the|that|this|my|your) {_EARLIER}) (?:\w+ )?{_ANSWER} (?:[^.\n]|\.\d)*(?:which|that"
        rf"|this) (?:is|was) {_ADVERBS}{_WRONG}|\b{_ATTEMPT} (?:claims|states|says|asserts|suggests|lists|assumes"
        r"|adds)\b(?:[^.\n]|\.\d)*(?:\bbut\b|\bhowever\b|\bwhich is not|\bwhile\b|\bdo(?:es)? not|\bwhereas\b)",
        "quotes the attempt and contradicts it",
        "the summary claims it rained, but the article says it was dry",
        "the summary states the main points",
    ),
    Pattern(
        "correction",
        f"{_START}(?:(?:actually|no|sorry|hmm|well|unfortunately|ah|oops|oh),? )*(?:that|this|it)(?:'s| is| was"
        "| isn't| wasn't) (?:actually |simply |just |unfortunately |factually |still )*(?:wrong|incorrect|inaccurate"
        "|mistaken|(?:not )?(?:quite|entirely|exactly) (?:right|correct|accurate|true)|not (?:right|correct|accurate"
        r"|true))(?:[,.:;!\n]| -| –| —|$| because| since)",
        "says outright that what was said is not right",
        "actually, that's not quite right.",
        "people ask whether that is right.",
    ),
    Pattern(
        "correction",
        r"\A\W*(?:not quite|not exactly|not really|almost|close|nearly|nice try|good (?:try|attempt|effort"
        r"|start))(?: right| there| correct)?(?:[:.!–—]|,? but\b|, though\b|, however\b)",
        "a friendly no at the very beginning",
        "not quite: it was 1912.",
        "close the window before you leave.",
    ),
    Pattern(
        "correction",
        rf"\bthere(?:'s| is| are| was| were) {_NUMBERS} (?:[\w-]+ ){{0,2}}{_FLAWS} (?:in|with) (?:it\b|(?:your|my"
        rf"|sam's|the|this|that) (?:\w+ )?{_ANSWER}\b)",
        "points at an error in the answer",
        "there is a minor mistake in your explanation",
        "there is a mistake in the manual",
    ),
    Pattern(
        "correction",
        r"\bthe (?:\w+ )?(?:error|mistake|flaw|problem|issue) (?:in|with|of) (?:your|sam's|the|this|that"
        rf"|my) (?:\w+ )?{_ANSWER}\b|\b(?:the|your|my) (?:\w+ )?mistake (?:is|was|lies|occurs|occurred|came"
        r"|comes) (?:in|that|from|to|when|with|at)\b",
        "names the mistake",
        "the mistake is in the second line of the sum",
        "the most common mistake among beginners",
    ),
    Pattern(
        "correction",
        rf"(?:{_START}|\bbut |\bhowever,? |\bhere,? |\bbecause |\bit (?:looks|seems) like )you(?:'ve| have)? (?:also "
        rf"|accidentally |incorrectly |mistakenly |simply |just |seem to have |may have |might have )*{_SLIPPED}\b",
        "tells the other what they got wrong",
        "you forgot the product rule.",
        "click here if you forgot your password.",
    ),
    Pattern(
        "correction",
        rf"(?:{_START}|\bbut |\bhowever,? )(?:in your \w+,? )?you (?:said|wrote|claimed|stated|answered|gave|put|used"
        r"|computed|calculated)\b(?:[^.\n]|\.\d)*\b(?:but|where|instead|however|should|whereas|rather)\b",
        "sets what was said against what is right",
        "you wrote metres where it should have been miles.",
        "you wrote a lovely poem.",
    ),
    Pattern(
        "correction",
        r"\b(?:apologi[sz]e|apologies|sorry|my apologies) (?:for|about) (?:the|my|that|this|giving"
        r"|providing) (?:\w+ ){0,2}(?:mistakes?|errors?|confusion|oversight|misunderstanding|inaccurac(?:y|ies)"
        r"|incorrect|wrong|mix-up|misinformation)\b",
        "apologises for an earlier answer",
        "i apologize for the confusion",
        "i apologize for the delay",
    ),
    Pattern(
        "correction",
        r"\bi (?:made (?:an?|some|several) (?:\w+ )?(?:mistake|error|slip)s?|was (?:wrong|mistaken|incorrect)"
        r"|misspoke|misread|misunderstood your|gave (?:you )?(?:the wrong|an incorrect|a wrong))\b|\bmy (?:mistake"
        r"|bad)\b|\byou(?:'re| are) (?:absolutely |completely )?right(?:[^.\n]|\.\d)*\b(?:mistake|error|wrong"
        "|incorrect|apologi|sorry|should have)",
        "admits its own earlier error",
        "i made a mistake in the second step",
        "i was told that they made a mistake",
    ),
    Pattern(
        "correction",
        rf"^\W{{0,6}}(?:revised|corrected|improved|fixed|refined|amended) (?:\w+ )?(?:{_ANSWER}|version"
        rf"|{_CODE})\b[^\n]{{0,20}}:|^\W{{0,6}}correction\W{{0,3}}:",
        "a heading over the better version",
        "revised answer: it was rembrandt",
        "the revised answer sheet is on page 4",
    ),
    Pattern(
        "correction",
        r"\b(?:here(?:'s| is)|below is|this is) (?:the|a|an|my) (?:corrected|revised|fixed|improved|amended)\b"
        r"|\bwhat (?:you|i|sam) should have said\b|\bthe (?:corrected|revised) (?:answer|result|solution|value"
        r"|version|calculation)\b",
        "presents the corrected version",
        "here is the corrected version",
        "here is the version you asked for",
    ),
    Pattern(
        "correction",
        r"\bthe (?:correct|right|actual|proper) (?:answer|result|value|solution|figure|formula|term|order|date|year"
        r"|name) (?:is|was|would be|should be)\b(?:[^.\n]|\.\d)*(?:, not\b|\binstead of\b|\brather than\b"
        r"|, and not\b)",
        "the right value against the wrong one",
        "the correct answer is 12, not 14",
        "the correct answer is 12",
    ),
    Pattern(
        "correction",
        r"\bthe (?:correct|right|proper) (?:answer|result|calculation|approach|solution|process|steps?"
        r"|way)(?: here)? (?:would|should)(?: have)? (?:be|been|explain|say|state|identify)\b|\bthe (?:correct"
        r"|right) (?:answer|approach|calculation) is (?:that|to|because)\b",
        "tells what a right answer would be",
        "the correct approach would be to divide first",
        "the correct answer is (b)",
    ),
    Pattern(
        "correction",
        rf"\b(?:it|this|that|{_ANSWER}|step \d+|formula|line \d+|sentence) should (?:be|have been|read|say"
        r"|use)\b(?:[^.\n]|\.\d)*(?:\binstead of\b|\brather than\b|, not\b)|\bit should have been\b",
        "what it should have been",
        "it should be 2.5 instead of 25",
        "passwords should be hashed rather than stored",
    ),
    Pattern(
        "correction",
        rf"\b(?:step|line|equation|sentence) \d+ (?:is|was|contains|has|seems) {_ADVERBS}(?:{_WRONG}"
        rf"|{_NUMBERS} (?:\w+ )?{_FLAWS})",
        "marks one step as wrong",
        "step 2 is incorrect",
        "step 2 is optional",
    ),
    Pattern(
        "correction",
        rf"\b(?:the|that|this) (?:\w+ )?{_CODE} (?:above|in (?:the|your) (?:attempt|answer|response|solution)"
        r"|you (?:gave|suggested))\b(?:[^.\n]|\.\d)*\b(?:raises|throws|fails|crashes|won't|will not|doesn't|does not"
        r"|is wrong|is incorrect|never|has an?)\b",
        "says the attempt's code does not work",
        "the code in the attempt raises an indexerror",
        "the code above prints the total",
    ),
    Pattern(
        "third_person_correction",
        r"\b(?:they|the (?:person|student|author|writer|assistant|model|bot|solver)|he or she"
        rf"|whoever \w+ this) (?:has |have |also |then |simply |accidentally |clearly )*(?:{_SLIPPED}|forgets?"
        "|fails to|did not (?:account|consider|factor|add|subtract|multiply|include)|didn't (?:account|consider"
        r"|factor|add|subtract|multiply|include)|incorrectly|wrongly|mistakenly)\b",
        "says in the third person what was done wrong",
        "they left out the third day",
        "they left the house early",
    ),
    Pattern(
        "correction",
        r"\b(?:the|this|these|that|your|all|some|rest|whole) (?:\w+ ){0,3}(?:answer|result|calculation|math"
        "|operation|total|equation|logic|reasoning|deduction|premise|conclusion|computation|step|solution|arithmetic"
        r"|rationale|inference|justification|explanation)s?(?: \w+){0,5} (?:is|are|was"
        f"|were) {_ADVERBS}(?:wrong(?:ly)?|incorrect(?:ly)?|off|flawed|invalid|inaccurate|incomplete|mistaken|false"
        r"|illogical)\b",
        "calls a part of the working wrong",
        "the calculations provided are incorrect",
        "the calculations are in the appendix",
    ),
    Pattern(
        "correction",
        r"\b(?:leading|leads|led) to (?:the|an?) (?:wrong|incorrect)|\b(?:making|renders?|yields) (?:the|this|it"
        r"|its)\b(?:[^.\n]|\.\d)*\b(?:wrong|incorrect|invalid)\b|\bends? up with (?:the|an?) (?:wrong|incorrect)"
        r"|\b(?:takes?|makes?|performs?|uses?|has|contains|arrives at|reaches|gives) an? (?:wrong|incorrect|flawed"
        r"|faulty) (?:\w+ )?(?:step|approach|answer|calculation|conclusion|formula|assumption|result|number|value"
        r"|premise)\b",
        "a wrong turn and where it leads",
        "it takes a wrong approach",
        "a wrong approach can be costly",
    ),
    Pattern(
        "correction",
        r"\bthe (?:answer|response|solution|claim|explanation) (?:regarding|about|given|provided|above|to|for|on"
        rf"|that)\b(?:[^.\n]|\.\d)* (?:is|was) {_ADVERBS}(?:wrong|incorrect|inaccurate|false|mistaken|flawed"
        r"|misleading)\b|\bverdict(?: is)?\W{0,6}(?:wrong|incorrect)\b",
        "calls the answer to something wrong",
        "the answer regarding the album is incorrect",
        "the answer to the riddle is a shadow",
    ),
    Pattern(
        "correction",
        r"\A\W*(?:actually|well|unfortunately|sorry),? no\b[.,:;!]",
        "a plain no at the very beginning",
        "actually, no. the capital is canberra.",
        "actually, no one knows.",
    ),
    Pattern(
        "correction",
        r"\A\W*you(?:'re| are|'ve| were) (?:(?:very|really|so|pretty|quite|getting) )*(?:close|on the right track|(?:almost"
        r"|nearly|mostly|partly|partially) (?:there|right|correct|got it))(?:,? but\b|, though\b|, however\b"
        r"|[.!:;] (?:but|however)\b)",
        "a friendly no to the one who wrote the attempt",
        "you're close, but the loop ends too early.",
        "you're close to the station.",
    ),
    Pattern(
        "correction",
        rf"{_START}the (?:\w+ )?(?:answer|value|figure|result|date|year|number|name|formula|unit|total|city|author|sum"
        r"|count|sign|signature|definition|quote|order|spelling)s? (?:given|provided|stated|above|you gave|of [^.,\n]{1,30}"
        rf"|in the (?:answer|attempt|response)) (?:is|are|was|were) {_ADVERBS}(?:wrong|incorrect|inaccurate|mistaken"
        r"|not (?:right|correct))\b",
        "calls what was given wrong",
        "the date given is wrong.",
        "the date of birth is required.",
    ),
    Pattern(
        "correction",
        rf"\b(?:the attempt|sam|sam's (?:\w+ )?(?:{_ANSWER}|{_CODE})|(?:your|the (?:previous|earlier|original"
        rf"|initial|given)) (?:answer|response|attempt|reply)|the (?:answer|response) (?:given|provided))\b"
        r"(?:[^.\n]|\.\d)*(?:,|\band|\bbut) (?:\w+ )?(?:which |that |this )(?:is|was|causes|introduces)"
        r" (?:the|an?) (?:\w+ )?(?:bug|error|mistake|fault|flaw|problem|issue)\b",
        "tells what the attempt did and calls it the fault",
        "the attempt assigned its result, which is the bug.",
        "the attempt assigned its result, which is the fast way.",
    ),
    Pattern(
        "correction",
        r"\b(?:the attempt|sam|sam's (?:answer|response|attempt|code|reply|version)|(?:the (?:previous|earlier|original"
        r"|initial)) (?:answer|response|attempt|reply)|the (?:answer|response) (?:given|provided)|your (?:answer"
        rf"|response|attempt)) {_ADVERBS}(?:fails|(?:is|was) missing|breaks|got (?:\w+ ){{1,3}}wrong|gets"
        r" (?:\w+ ){1,3}wrong|returns the wrong|uses the wrong|used the wrong|gave the wrong|gives the wrong|reversed"
        r"|swapped|mislabel(?:s|ed|led)|miscalculat(?:es|ed)|miscount(?:s|ed)|named the wrong|crashes)\b",
        "says how the attempt fails",
        "the previous answer fails when the list is empty",
        "the attempt on the summit was made in may",
    ),
    # ---- general_talk: about the mistakes that people make, none of which is the attempt's
    Pattern(
        "general_talk",
        rf"(?:{_START}|\b(?:many|most|some|new|inexperienced) (?:\w+ )?){_PEOPLE}\b|\b{_PEOPLE} (?:often|tend|commonly"
        r"|usually|sometimes|frequently|typically|make|who)\b|\bcommon (?:\w+ )?(?:mistakes?|errors?|pitfalls?"
        r"|misconceptions?)\b",
        "speaks of people in general",
        "students often make these mistakes",
        "the student made a mistake",
    ),
    # ---- named_attempt and fault: a correction where one sentence has both and the answer approves of nothing
    Pattern(
        "named_attempt",
        r"(?:\bsam's (?:\w+ )?(?:answer|response|attempt|reply|solution|code|version|explanation)|\b(?:the|your"
        r"|this) (?:previous|earlier|original|initial) (?:answer|response|attempt|reply)|\bthe (?:answer"
        r"|response) (?:given|provided)|\bthe attempt (?:\w+(?:ed|es|s)|is|was|has|had|above|gave|said|wrote|took|left"
        r"|put|forgot)) [^\n]{0,200}?\b(?:wrong|incorrect|error|mistake|bug|misses|missing|fails|overlooks|overlooked"
        r"|missed)\b",
        "names the attempt, and then a fault",
        "sam's answer named sydney, and that is a mistake",
        "sam's answer named canberra",
    ),
    Pattern(
        "no_fault",
        r"\b(?:no|without(?: any| an?)?|nothing|not|isn't|any|avoids?|prevents?|handles?|handled|catch(?:es)?"
        r"|fix(?:es|ed)?) (?:the |an? |\w+ )?(?:wrong|incorrect|errors?|mistakes?|bugs?|missing|fails)\b",
        "denies that there is a fault",
        "there is nothing wrong with it",
        "there is something wrong with it",
    ),
    # ---- about_answer and wrongness: a correction where both are found, or where wrongness meets a quote of the attempt
    Pattern(
        "about_answer",
        r"\b(?:the|this|your|sam's|its) (?:[\w']+ )?(?:answer|response|solution|summary|explanation|reply"
        r"|rationale|justification|attempt)(?:'s \w+)? (?:also |then |only |never |just |even |rather |still "
        "|probably |mostly |correctly |rightly |partially |wrongly |incorrectly |mistakenly )*(?:says?|states?"
        "|mentions?|claims?|makes?|takes?|calculates?|computes?|adds?|subtracts?|multipl(?:y|ies)|mix(?:es)?|uses?"
        "|used|said|stated|calculated|infers?|writes?|assumes?|assumed|concludes?|gives|gave|provides|provided"
        "|fails?|ignores?|forgets?|misses|contradicts?|proceeds?|performs?|preforms?|doesn't|does not|did not|didn't"
        "|should(?:'ve| have| also)|could have|needs? to|disregards?|chooses?|chose|confuses?|repeats?|lists?"
        "|explains?|describes?|acknowledges?|identif(?:y|ies)|suggests?|implies|goes|discuss?es|addresses|focuses"
        "|presents|offers|tries|attempts|begins|starts|ends|refers|treats|relies|applies|interprets|introduces|omits"
        "|overlooks|violates|covers|touches|counts|names|divides|doubles|displays|shows|already|would have|as (?:explained"
        "|stated|given)|agrees|arrives|reaches|jumps|skips|appears|seems|should (?:first|also|address|mention"
        "|explain|include|have|clearly)|could be|was (?:wrong|incorrect|not)|lacks?|contains?|includes?"
        "|misunderstood|understood|is (?:mixing|missing|confusing|right until|correct until|too|lacking|vague"
        r"|(?:mostly |partially |almost )?(?:right|correct)(?: until|,? but| that| except| up to)))\b",
        "speaks about the answer as of a thing someone wrote",
        "the answer adds six months",
        "the answer is six months",
    ),
    Pattern(
        "approval",
        rf"\b(?:answer|response|solution|reply|{_CODE}|calculation|reasoning|explanation)s?(?: above| given"
        "| provided)? (?:is|are|was|were|appears to be|seems) (?:also |indeed |completely |entirely |factually "
        r"|perfectly |fully )*(?:correct|right|accurate)(?:[.;!\n]|,? and\b|,? as\b|,? because\b|,? since\b|$)",
        "says that the answer is right",
        "the above answer is correct. it names the band",
        "the answer is correct until the last line",
    ),
    Pattern(
        "wrongness",
        r"\b(?:wrong(?:ly)?|incorrect(?:ly)?|inaccura(?:te|cy|cies)|mistak(?:e|es|en)|errors?|false|flaw(?:s|ed)?"
        "|invalid|missing|misses|missed|forg[eo]ts?|omit(?:s|ted)?|overlook(?:s|ed)?|ignor(?:es|ed|ing)|disregards?"
        "|fail(?:s|ed)? to|confus(?:es|ed|ing)|contradicts?|made up|no (?:context|explanation|evidence|mention"
        "|such thing)|unclear|irrelevant|incomplete|unnecessary|unsupported|vague|misleading|left out|leaves out"
        "|does not|doesn't|did not|didn't|is not|isn't|was not|cannot be|can't be|should (?:be|have)|needs to"
        "|instead of|rather than|(?:correct|right|proper|better) (?:answer|calculation|approach|process|steps?"
        "|result|way|response)|however|but|yet|nowhere|contradiction|not (?:clear|mentioned|supported|possible"
        r"|found))\b",
        "finds fault",
        "this is not mentioned in the text",
        "this is all in the text",
    ),
    # ---- code_correction: a correction only where the question holds no code that "your code" could mean
    Pattern(
        "code_correction",
        rf"\byour (?:\w+ )?{_CODE} {_ADVERBS}(?:(?:is|was) {_WRONG}|(?:has"
        rf"|contains) {_NUMBERS} (?:[\w-]+ ){{0,2}}{_FLAWS}|fails|raises|throws|crashes|doesn't|does not|won't"
        r"|will (?:not|always|never|fail|raise|crash)|never|misses|ignores|forgets)\b",
        "says that the code written before is at fault",
        "your query does not group the rows",
        "your query runs in two seconds",
    ),
    Pattern(
        "code_correction",
        rf"\byour (?:\w+ )?{_CODE} [^\n]{{0,220}}\b(?:it|you|this|that) should (?:be|use|have|return|check|start"
        r"|end)\b",
        "says what the code written before should have done",
        "your loop ends too late. it should use range",
        "your loop should feel natural",
    ),
    Pattern(
        "code_correction",
        rf"\bthe {_EARLIER} (?:\w+ )?{_CODE} {_ADVERBS}(?:(?:is|was) (?:almost correct|{_WRONG})|(?:has"
        rf"|contains) {_NUMBERS} (?:[\w-]+ ){{0,2}}{_FLAWS}|fails|does not|doesn't|won't|misses|ignores|incorrectly)\b",
        "says that the code given before is at fault",
        "the provided function is incorrect",
        "the provided function is correct",
    ),
    Pattern(
        "asks_about_code",
        r"```|\b(?:my|this|following|below) (?:\w+ )?(?:code|function|script|query|program|class|loop|method)\b",
        "the question brings its own code",
        "what is wrong with my code?",
        "write a function",
    ),
    # ---- doubt: the answer reflects on what it knows
    Pattern(
        "doubt",
        f"{_UNQUOTED_I}(?:'m| am) (?:(?:really|honestly|just|also|still|simply|afraid|actually|quite|very|only|almost"
        "|completely|totally|genuinely|entirely|rather|pretty|somewhat|a bit|truly|largely"
        r"|far from) )*(?:not (?:\w+ ){0,2}?(?:sure|certain|confident|positive|aware of|qualified|familiar"
        "|able to (?:say|tell|confirm|verify|determine|recall|answer))|unsure|uncertain|unaware|clueless|guessing"
        "|speculating|in the dark|at a loss|unable to (?:verify|confirm|determine|check|say|tell|answer|access"
        "|recall|specify|identify|respond|be certain|(?:provide|give) (?:an? |the |any |that )*(?:answer|specific"
        r"|exact|accurate|precise|definitive|information|details|real|response)))\b",
        "is not sure, or unable to say",
        "i'm not entirely sure about that",
        "if you're not sure, ask",
    ),
    Pattern(
        "doubt",
        f"{_UNQUOTED_I} (?:may|might|could) (?:well |easily |also |possibly |very well "
        r"|totally )*(?:be (?:\w+ )?(?:wrong|mistaken|misremembering|confusing|off|missing|reading|incorrect|mixing)"
        r"|have (?:misunderstood|misread|misremembered|confused|missed|mixed)|not (?:know|have|be))\b",
        "may be wrong",
        "but i could be wrong",
        "they could be wrong",
    ),
    Pattern(
        "doubt",
        r"\b(?:as far as i (?:know|can tell|am aware|remember|recall|'m aware|understand)"
        "|to (?:the best of )?my (?:best )?knowledge|if i (?:recall|remember)(?: correctly| right|,)"
        "|if memory serves|if i(?:'m| am) not mistaken|unless i(?:'m| am) mistaken|afaik|iirc|last i (?:knew"
        "|checked)|(?:from )?what i (?:know|remember|recall|gather|understand|can tell|can recall|'ve (?:read|heard"
        r"|gathered)))\b",
        "speaks to the limits of its memory",
        "as far as i know, it closed",
        "knowledge is power",
    ),
    Pattern(
        "doubt",
        r"\bmy (?:\w+ )?(?:understanding|recollection|memory|impression|guess|hunch|sense) (?:is|would be|was)\b"
        r"|\bi(?: have|'ve got|'ve)? (?:the|an?|some|only) (?:vague |faint |dim |fuzzy |slight |rough )?(?:impression"
        r"|notion|feeling|recollection|hunch|memory|inkling)\b|\bunder the impression\b|\bi (?:vaguely|dimly|faintly"
        r"|seem to) (?:recall|remember)\b",
        "calls it an impression",
        "my understanding is that it closed",
        "the understanding is mutual",
    ),
    Pattern(
        "doubt",
        f"{_UNQUOTED_I} (?:(?:really|honestly|simply|just|also|actually|currently|sadly|unfortunately) )*(?:don't"
        "|do not|can't|cannot|can not|couldn't|could not|am not able to) (?:(?:really|actually|currently|reliably"
        "|independently|exactly|fully|confidently|definitively|honestly|accurately|precisely) )*(?:know|recall"
        r"|remember|verify|confirm|pinpoint|be (?:\w+ )?(?:sure|certain)|tell (?:for|you (?:for|what|which|who"
        "|whether|if|when|where))|say|determine|guarantee|predict|check that|answer (?:that|this|it|the question"
        r"|your question|with)|specify|(?:provide|give)\b[^.\n]*\b(?:certainty|answer|confidence|definitive|details"
        "|exact)|(?:possess|have (?:any |the |firm |solid |hard )?)(?:details|evidence|information|knowledge|data"
        r"|proof))\b",
        "does not know or cannot verify",
        "i don't know the exact price",
        "you don't know the exact price",
    ),
    Pattern(
        "doubt",
        rf"{_UNQUOTED_I} (?:don't|do not) (?:currently |actually |really )*have (?:[\w-]+ ){{0,3}}?(?:access"
        r"|information|knowledge|data|details|context|expertise|way|ability|evidence|memory|insight)\b"
        rf"|{_UNQUOTED_I} (?:have no|lack) (?:[\w-]+ ){{0,2}}?(?:way|information|knowledge|idea|clue|access|data|means"
        r"|memory|details)\b|\bunknown to me\b",
        "lacks the information",
        "i don't have access to live data",
        "i don't have a dog",
    ),
    Pattern(
        "doubt",
        r"\bmy (?:\w+ )?(?:knowledge|training|training data|information|memory|understanding|confidence|recollection"
        r"|figures?|sense of (?:it|this))\b(?:[^.\n]|\.\d)*\b(?:cut-?off|cutoff|ends?|ended|only goes|goes up|limited"
        "|patchy|incomplete|outdated|out of date|may|might|could|low|stops|extends|up to|until|moderate|isn't|is not"
        r"|unclear|vague|hazy|fuzzy|uncertain)\b",
        "describes the limits of its own knowledge",
        "my training data ends in april",
        "knowledge of greek may help",
    ),
    Pattern(
        "doubt",
        r"\bi(?:'d| would) (?:rather not|only be|hesitate to|not want to|have to|tentatively|cautiously|venture"
        r"|hazard|just be|probably|maybe)? ?(?:to )?(?:guess|guessing|invent|speculat\w+|double-check|tentatively"
        r"|claim|hesitate|hazard|venture a guess|take a guess|be guessing|look (?:it|that|this) up)\b|\bif i (?:had"
        r"|have|were) to (?:guess|speculate|take a (?:guess|stab)|bet|venture|hazard)|\bi (?:wouldn't|would not"
        r"|won't) (?:bet|swear|stake|put money|rely)\b|\bi hesitate\b|\b(?:stab|shot) in the dark\b|\b(?:wild"
        r"|educated|rough|best|complete|pure|total) guess\b",
        "guesses, and says so",
        "if i had to guess, it was in may",
        "guess the number of beans",
    ),
    Pattern(
        "doubt",
        rf"{_UNQUOTED_I} have (?:very |only |such )?(?:little|low|no|not much|limited|zero|some) (?:\w+ )?(?:certainty"
        r"|confidence|basis|idea|knowledge|clue|information|doubts?)\b|\bmy (?:\w+ )?(?:knowledge base|capabilities"
        r"|records|sources|data|expertise|tentative answer|initial thought|first thought)\b|\bi(?:'m"
        r"| am) (?:probably |likely |quite possibly )(?:wrong|mistaken|off)\b|\bi(?:'m| am) not equipped\b|\bi(?:'ll"
        r"| will) (?:hazard|speculate|venture|take a guess)\b",
        "speaks of its records, its first thought, its little confidence",
        "i have very low confidence in this",
        "i have very low blood pressure",
    ),
    Pattern(
        "doubt",
        r"\bout of thin air\b|\b(?:guess|estimate|speculation) on my part\b|\b(?:purely|highly) speculative\b"
        r"|\bdon't rely on (?:this|that|it|me|my)\b|\b(?:rings?|ringing) a bell\b|\btip of my tongue\b"
        r"|\boff the top of my head\b|\bi (?:cannot|can't|could not|couldn't) (?:reliably |find "
        r"|locate )(?:the answer|consult|answer|access)\b|\b(?:outside|beyond) (?:of )?(?:the scope of )?my\b",
        "says that it comes from nowhere",
        "off the top of my head, four",
        "off the top of the hill",
    ),
    Pattern(
        "doubt",
        r"\bwith an? (?:\w+ )?(?:grain|pinch) of salt\b|\btreat (?:it|this|that) as (?:a|my) guess|\b(?:this|that"
        r"|it)(?:'s| is) (?:only |just |purely )?(?:a|my best|my) (?:rough )?guess\b|\bi can only (?:guess"
        r"|speculate)\b|\bi(?:'d| would) (?:want to )?double-check\b|\bneither do i\b|\bdon't (?:quote|hold) me (?:on"
        r"|to)\b",
        "warns of its own words",
        "take this with a grain of salt",
        "a pinch of salt improves it",
    ),
    Pattern(
        "doubt",
        rf"{_UNQUOTED_I} (?:think|believe|suspect|recall|assume|suppose|want to say)\b(?:[^.\n]|\.\d)*\b(?:might|may"
        rf"|could|would) (?:possibly |potentially |well )?(?:have|be)\b|{_UNQUOTED_I} (?:think|believe"
        "|suspect) (?:(?:it|that|he|she|they|this) )?(?:was|were|is|are|it's|that's)? ?(?:probably|possibly|perhaps"
        r"|maybe|around|roughly|about)\b",
        "thinks it might be so",
        "i believe it might have been 1906",
        "i believe in you",
    ),
    Pattern(
        "doubt",
        r"(?:%|percent) (?:confident|sure|certain)\b|\bmy confidence (?:\w+ ){0,6}(?:is|at|level)\b"
        r"|\bconfidence\W{0,3}: *(?:\d|low|medium|moderate)|\bhard for me to (?:say|know|tell|judge)\b",
        "puts a figure on its confidence",
        "i'm about 60% confident",
        "a 95% confidence interval",
    ),
    Pattern(
        "doubt",
        r"\bas an? (?:\w+ )?(?:ai|language model|assistant|machine)\b(?:[^.\n]|\.\d)*\bi (?:don't|do not|cannot|can't"
        r"|am not able to|am unable to|may not|might not) (?:\w+ )?(?:know|access|browse|predict|verify|see|check"
        r"|feel|experience|provide real|have)\b",
        "names its limits as a machine",
        "as an ai language model, i cannot browse the web",
        "as an ai language model, i cannot help with that",
    ),
    Pattern(
        "doubt",
        f"{_UNQUOTED_I} (?:couldn't|could not|wasn't able to|was unable to|am unable to|was not able to) (?:find"
        "|locate|confirm|verify) (?:any |specific |much |enough |reliable )*(?:information|evidence|data|record"
        "|details|reference)",
        "found nothing about it",
        "i couldn't find any information about her",
        "i couldn't find my keys",
    ),
    # ---- thinking: reasons aloud; setting_up: states what is to be found
    Pattern(
        "thought_block",
        r"<(?:think|thinking|thought|reasoning|scratchpad)>",
        "a block of thoughts",
        "<think>\nthe train leaves at 9",
        "i think the train leaves at 9",
    ),
    Pattern(
        "thinking",
        r"\b(?:let me|let's|let us|i'll|i will|i'm going to|we'll|we can) (?:\w+ ){0,2}?(?:think|reason|work|walk"
        r"|break|analy[sz]e|solve|figure)\b(?:[^.\n]|\.\d)*?\b(?:through|down|out|step|this|it|carefully|about"
        r"|problem|question|logically|each)\b",
        "announces that it thinks",
        "let me work through this carefully",
        "i'll work in the garden today",
    ),
    Pattern(
        "thinking",
        r"\b(?:think|thinking|reason|reasoning|solve|work|go)\b(?:[^.\n]|\.\d)*\bstep[- ]by[- ]step\b"
        r"|\bstep[- ]by[- ]step (?:reasoning|solution|calculation|analysis|derivation|explanation|estimate)\b"
        r"|\b(?:reasoning|chain of thought|thought process|rationale)\W{0,3}:",
        "goes step by step",
        "let's think step by step",
        "here is a step-by-step guide to knitting",
    ),
    Pattern(
        "thinking",
        r"\A\W*(?:okay|ok|alright|hmm|so|well|right)[,.]* (?:so )?(?:i need to|let me|let's|the (?:question|problem"
        "|user)|we (?:need|have|are|want)|i have to|i'm (?:trying|given|asked))",
        "starts in the middle of a thought",
        "okay, so i need to count the ways",
        "okay, here is the poem",
    ),
    Pattern(
        "explanation",
        r"\bhere(?:'s| is) (?:how (?:we|i|you|to) (?:can )?(?:solve|find|get|arrive|work)|the (?:reasoning"
        r"|explanation|derivation|solution)|my reasoning)\b|\b(?:explanation|justification|solution|proof)\W{0,3}:",
        "announces the way to the answer",
        "here's how we solve this:",
        "here's how the city celebrates:",
    ),
    Pattern(
        "setting_up",
        r"\b(?:we (?:are|'re) given|we (?:know|see|note|notice|observe) that|we (?:need|want|have|must) to (?:find"
        r"|determine|show|prove|calculate|compute|count)|let (?:\$?[a-z]\$?|us) (?:be|denote|=)|"
        r"let (?:the|an?|his|her|their|its) (?:\w+ ){1,4}(?:be|cost"
        r"|have|weigh|equal) \$?[a-z]\$?\b|suppose\b"
        r"|assume (?:that|for)\b|given that\b|for contradiction|we can (?:start|begin|factor|rewrite|write|use"
        r"|simplify|express))|\bto (?:find|determine|solve|calculate|decide|compute|figure out|answer|get|see"
        r"|check)\b(?:[^.\n]|\.\d)*\b(?:we|i|let|consider|substitute|plug|apply)\b",
        "says what is given or sought",
        "to find the total, we add both",
        "to get there, take the bus",
    ),
    # ---- boxed and final_answer: a derivation ends in its result; the latter is looked for in the last lines only
    Pattern("boxed", r"\\(?:boxed|fbox)\s*\{", "the result of a mathematical text", r"so \boxed{7}", "a boxed set {7}"),
    Pattern(
        "final_answer",
        r"####\s*-?[$€£]?[\d(][\d,./: %)a-z]{0,24}\s*\z",
        "the result in the notation of a well-known data set",
        "she has 3 * 4 = 12 eggs.\n#### 12",
        "#### 12. november: departure\nwe leave early",
        ("####",),
    ),
    Pattern(
        "final_answer",
        r"[.!?)\n:;,$\"'\d}]\s*(?:\W{0,4}(?:so|thus|therefore|hence|consequently|and)\b,? ?)?\W{0,4}(?:the |my "
        r"|our )?(?:final |correct |right |best )?\banswer(?: choice)?\W{0,4}(?: is| are| would be| must be"
        r"| should be|:| =)\W{0,5}",
        "an answer at the end of an argument",
        "fish need water. so the answer is no",
        "the answer is no",
        ("answer",),
    ),
    Pattern(
        "final_answer",
        r"\b(?:correct |right |best )?(?:option|choice|answer)\W{0,3}(?: is)? \(?[a-e]\)[.]?\s*\z",
        "the chosen letter at the very end",
        "it must sink. the best choice is (c)",
        "the best choice is a cat",
        ("option", "choice", "answer"),
    ),
    Pattern(
        "final_answer",
        r"[.!?)\n;,]\s*(?:so|thus|therefore|hence|consequently|in total|altogether|this means|that means"
        r"|as a result)\b,? (?:[^.\n]|\.\d)*?\b(?:is|are|was|equals?|=|has|have|had|gets?|costs?|pays?|earns?|needs?"
        rf"|takes?|left|makes?|remain|spent|spends?|will be|be)\b(?:[^.\n]|\.\d)*?{_AMOUNT}\b(?:[^.\n]|\.\d)*\.?\s*\z",
        "the last sentence concludes with a number",
        "he buys two. therefore he has 6 apples.",
        "he buys 6 apples.",
        ("so ", "thus", "therefore", "hence", "consequently", "in total", "altogether", "means", "result"),
    ),
    # ---- equation: counted
    Pattern(
        "equation",
        r"(?:[-+*/×÷·−–^x:]|\\times|\\cdot|\\div|plus|minus|times|over"
        rf"|by)\s*[(\\{{]*\s*{_AMOUNT}[)}}%²³]*(?:\s?[a-z$€%/.]+){{0,4}}\s*(?:=|≈|\bequals\b|\bis equal to\b"
        r"|\\approx)\s*(?:<<|\\\(|\\frac|\\sqrt|\\boxed|[-−(${$€£\\\s])*[a-z]{0,8}\s*[-−]?[$]?[\d.]",
        "a computation with its result",
        "that is 14 * 25 = 350 cherries",
        "the area is a = 2",
    ),
    Pattern(
        "equation",
        r"\d\s*(?:[-+*/×÷·−]|\bplus\b|\bminus\b|\btimes\b|\bdivided by\b"
        rf"|\bmultiplied by\b)\s*{_AMOUNT}%?(?: [a-z]+){{0,3}} (?:is|are|gives|makes|leaves|fits|comes to)\b",
        "a computation in words",
        "18 divided by 3 is 6",
        "the score was 3 - 1 at the break",
    ),
    Pattern(
        "equation",
        r"\\(?:frac|dfrac|tfrac|sqrt|times|cdot|div|pm|sum|int|binom|pmod|equiv|implies|rightarrow|le|ge|leq|geq|sin"
        r"|cos|tan|log|pi|angle)\b[^=\n]*(?:=|\\equiv|\\implies|<|>)",
        "an equation in LaTeX",
        r"\frac{1}{2} x = 7",
        r"the command \frac makes a fraction",
    ),
    Pattern(
        "weak_equation",
        r"(?:^|[\s($,])-?\d{0,3}[a-z](?:\^?\d|²)?(?:\s*[-+*/]\s*\d{0,4}[a-z]?)?\s*(?:=|>|<|≥|≤)\s*[-−$]?[\d(a-z]",
        "a relation between letters and numbers",
        "so x = 5",
        "the set = everything",
    ),
    # ---- verdict: labelled steps that end in one are an argument, looked for in the last lines only
    Pattern(
        "verdict",
        f"{_START}(?:so|therefore|thus|hence|conclusion:|in conclusion),? (?:yes|no|the answer|all|every|each|none"
        r"|(?:it|he|she|this|they|we|there) (?:must|cannot|can't|is (?:true|false|valid|impossible|certain)))\b",
        "the last step says yes or no, or what must be",
        "every razzie is a lazzy. so yes, it is one.",
        "add the leaves. so the tea is ready.",
    ),
    # ---- conclusion and premise: counted
    Pattern(
        "conclusion",
        f"{_START}(?:and )?(?:therefore|thus|hence|consequently|so,|so (?:the|we|there|it|this|that|if|only|he|she"
        r"|they|i|all|both|both|today|tomorrow|for)\b|it follows|this (?:means|implies|gives|shows|leaves)"
        "|that (?:means|implies|gives|leaves)|which (?:means|implies)|we (?:get|obtain|conclude|find|see)"
        "|in conclusion|as a result)",
        "a sentence that concludes",
        "it is odd. therefore 2 is out.",
        "sofa beds are heavy. some fold.",
    ),
    Pattern(
        "conclusion",
        r", (?:so|hence|thus|therefore|which (?:means|implies|gives|makes|leaves|contradicts)) ",
        "a clause that concludes",
        "it is odd, so 2 is out",
        "so it goes",
    ),
    Pattern(
        "strong_conclusion",
        r"\b(?:therefore|thus|hence|it follows|conclude|q\.?e\.?d|contradicts?|contradiction|completes the proof"
        r"|must be|the only (?:possibility|option|choice)|so the|so there|so it|so we|so only)\b",
        "a word that arguments use",
        "hence the sum is even",
        "so much for that",
    ),
    Pattern(
        "premise",
        f"{_START}(?:since|because|given|suppose|assume|let|if|we know|note that|recall|first|next|then|now|but|all"
        r"|no|any|every|consider|when)\b",
        "a sentence that starts from something",
        "since it is odd, 2 is out",
        "the sinceremost wishes",
    ),
    # ---- what a list is: steps in order, or a collection of things
    Pattern(
        "how_to",
        r"^(?:please |can you |could you |hey,? |hi,? )*(?:how (?:do|does|to|can|could|would|should|might)\b"
        "|(?:explain|show|tell|teach|walk|guide|describe)(?: me| us)?(?: to| through)? (?:how|through|opening"
        r"|setting|the (?:steps|process))|what(?:'s| is| are| would be| steps)\b[^?\n]{0,30}\b(?:steps|process"
        r"|procedure|way to|should i (?:take|do)))|\b(?:step[- ]by[- ]step|instructions|tutorial|walk me through"
        r"|recipe|how-to)\b",
        "asks for a procedure",
        "how do i repot a plant?",
        "how many plants are there?",
    ),
    Pattern(
        "how_to",
        r"^(?:please )?(?:set up|install|configure|deploy|assemble|repair|bake|cook|migrate|upgrade|replace|clean"
        r"|unclog|prepare|start|open|launch|change|connect|build) (?:an?|my|the|our|some) ",
        "an order to do something, which a procedure answers",
        "set up a blog",
        "set the scene for a novel",
    ),
    Pattern(
        "inline_label",
        rf"(?:^|[.!?;]\s+)\W{{0,4}}(?:{_LABEL}) \d{{1,2}}(?: ?[-–] ?\d{{1,2}})?\**:",
        "a labelled phase, also in the middle of a line",
        "walk. week 2: jog.",
        "in week 2 you jog",
    ),
    Pattern(
        "wants_plan",
        r"\b(?:plan|itinerary|schedule|roadmap|curriculum|strategy|timeline|syllabus|routine|workflow|lesson"
        r"|training program|checklist|agenda|outline|campaign|migrat\w+)\b",
        "asks for a plan",
        "make a plan for the launch",
        "which planet is largest?",
    ),
    Pattern(
        "sequence",
        r"\b(?:steps?|step-by-step|process|procedure|instructions?|directions?|method|preparation|how to|here's how"
        "|here is how|follow(?:ing)? these|as follows|stages?|phases?|guide|plan|roadmap|workflow|schedule"
        r"|in this order|goes like this|walkthrough|tutorial|to do (?:this|so))\b",
        "introduces steps in order",
        "follow these steps:",
        "here are some ideas:",
    ),
    Pattern(
        "collection",
        r"\b(?:tips?|ideas?|suggestions?|ways|reasons?|examples?|benefits?|options?|advantages?|disadvantages|pros"
        r"|cons|types?|names?|recommend\w*|facts?|factors?|features?|differences?|characteristics|items?|ingredients?"
        "|symptoms?|causes?|effects?|signs|books?|movies?|films?|songs?|places|gifts?|questions|quotes?|jokes?|words"
        r"|synonyms|habits|strategies|techniques|principles|best practices|things|key points|some of|top \d+|list of"
        r"|you need|kinds?|categories|practices|titles?|slogans?|headlines?)\b",
        "introduces things in no order",
        "here are some tips:",
        "do this:",
    ),
    Pattern(
        "open_question",
        "^how (?:can|do|to|should|could|would|might)(?: i| we| you| one| people| someone| they)? (?:best |better "
        "|effectively )?(?:improve|reduce|stay|prevent|avoid|increase|become|be|boost|stop being|save|manage|cope"
        "|deal|protect|maintain|lower|encourage|motivate|promote|help|support|handle|get better|feel|sleep|lose"
        r"|live)\b",
        "asks how to do better, which tips answer",
        "how can i improve my sleep?",
        "how can i install the driver?",
    ),
    Pattern(
        "order_start",
        rf"{_START}(?:first(?:ly)?|first of all|to (?:start|begin)|start|begin|step one)\b",
        "a first sentence of a procedure",
        "first, fill the kettle.",
        "the first train was late.",
    ),
    Pattern(
        "order_middle",
        rf"{_START}(?:next|then|second(?:ly)?|third(?:ly)?|after (?:that|this)|once|afterwards|now)\b",
        "a middle sentence of a procedure",
        "then pour it away.",
        "the second train was late.",
    ),
    Pattern(
        "order_end",
        rf"{_START}(?:finally|lastly|last|to finish|in the end)\b",
        "a last sentence of a procedure",
        "finally, rinse it.",
        "the final train was late.",
    ),
    # ---- principle: a rule that holds beyond this answer; the verb after always/never is checked against IMPERATIVES
    Pattern(
        "principle_verb",
        r"^(?:always|never) (\w+)",
        "an unconditional rule",
        "always check the return value.",
        "i always check it",
    ),
    Pattern(
        "principle",
        r"^(?:as a (?:general )?rule(?: of thumb)?\b|a good rule (?:of thumb )?is|the (?:golden |general "
        "|first )?rule (?:of thumb )?is|rule of thumb:|the (?:key|trick|secret|main thing"
        r"|most important thing)(?: here| to [^.\n]{2,40})? is (?:to|that|not|\w+ing)\b|it(?:'s| is) (?:always "
        r"|generally |usually )?(?:good|best|bad) practice to|(?:a )?best practice is|in general, (?:\w+ )?(?:prefer"
        "|avoid|use|keep|do not|don't)|remember(?: that|:)|key (?:principle|takeaway|lesson)s?:|the (?:lesson"
        "|principle|takeaway) is)",
        "a rule that calls itself one",
        "as a rule of thumb, keep functions short.",
        "the key is under the mat",
    ),
    Pattern(
        "principle",
        r"^when(?:ever)? [^,\n]{4,80}, (?:\w+ ){1,10}(?:rather than|instead of) ",
        "what to do rather than something else",
        "when debugging, look for the cause rather than the symptom.",
        "when it rained, we stayed at home.",
    ),
)

# How far a principle reaches: a rule without exceptions weighs more than one with a condition.
IMPORTANCE = {"principle_verb": 0.9, "principle": 0.7}


@cache
def signal_pattern(*signals: str) -> str:
    """All patterns of these signals as one, ready for the engine: one pass over the text finds any of them."""
    return ready("|".join(f"(?:{record.pattern})" for record in PATTERNS if record.signal in signals))


@cache
def signal_patterns(signal: str, at_once: int) -> list[tuple[tuple[str, ...], str]]:
    """(what they need, the patterns as one) of a signal, a few at a time: many long ones would outgrow the engine's cache."""
    by_need: dict[tuple[str, ...], list[str]] = {}
    for record in PATTERNS:
        if record.signal == signal:
            by_need.setdefault(record.needs, []).append(f"(?:{record.pattern})")
    return [
        (needs, ready("|".join(patterns[start : start + at_once])))
        for needs, patterns in by_need.items()
        for start in range(0, len(patterns), at_once)
    ]
