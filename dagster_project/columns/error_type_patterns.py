"""The words that tell what kind of error was made (rule F9), as data: the first record that matches wins, so the order is part of
the meaning.

It runs from causes to symptoms and from the specific to the general: "throws an error because it is outdated" is outdated,
"wrong format" is format, and a bare "wrong" is incorrect only when nothing more telling was said. After the complaints come
single nouns that betray the area ("the regex also ...") and at the very end a plain statement, which a user only makes to
contradict the answer.

Patterns see the text as `error_type.py` normalises it: lower case, no apostrophes, "does not" written "doesnt", every sign but
`. , ; : ! ?` a space, and without the complaints the user denies ("not wrong, just incomplete" is read as "just incomplete").
They use no look-around, so that any linear-time engine can run them. English only.
"""

from typing import NamedTuple


class Pattern(NamedTuple):
    """One way to say that an answer has an error of this type."""

    error_type: str
    pattern: str
    catches: str
    example: str
    counter_example: str
    unless: str = ""  # what must not match as well


def _phrases(*alternatives: str) -> str:
    """A pattern that finds any of the alternatives as whole words."""
    return rf"\b(?:{'|'.join(alternatives)})\b"


_NOT = r"(?:didnt|doesnt|dosent|dont|never|not|nothing|wasnt|isnt|cant|couldnt|wont|fail(?:s|ed|ing)? to|without)"
_ADVERBS = r"(?:(?:even|really|actually|fully|properly|quite|just|at all|once|completely|entirely|ever|to|clearly) )*"
_VERY = (
    r"(?:(?:so|very|too|way|far|much|overly|a bit|bit|rather|pretty|quite|more|less|really|sounds?|feels?|felt|kinda) )"
)
_COPULA = r"(?:is|are|was|were|its|thats|looks|seems)"
_WANTED = r"(?:want(?:ed)?|asked for|need(?:ed)?|prefer(?:red)?|requested|expected|give me|make it|put it|would like)"
_FACT = (
    r"(?:is|are|was|were|has|have|had|equals|means|happened|ended|began|started|died|lived|won|wrote|founded|contains?"
    r"|consists|belongs|takes|costs|weighs|comes|lies|isnt|arent|wasnt|werent|doesnt|dont|didnt|cant|can|cannot)"
)
_GAP = r"(?:[a-z0-9]+ ){0,4}"
_CODE = (
    r"(?:code|script|snippet|function|program|query|sql|regex|command|loop|css|html|macro|selector|import|build"
    r"|unit tests?|dockerfile|config|algorithm|implementation|recursion|variable|array|python|javascript|bash|join|if)"
)
_THING = (
    r"(?:thing|function|method|api|package|library|module|flag|option|param(?:eter)?|argument|book|paper|study|studies|law"
    r"|article|setting|menu|button|command|endpoint|class|attribute|property|person|author|city|place|town|feature|event"
    r"|record|keyword|episode|song|movie|film|character|quote|case|field|column|hook|plugin|tool|company|product|word"
    r"|website|site|page|url|doi|model|version|release|decorator|operator|type|component|switch|syntax)"
)

_COPULA_OR_HAS = r"(?:is|are|was|were|isnt|arent|wasnt|werent|has|have|had)"
# What a sentence is about that is not about the world: the answer and its parts, who gave or asked for it, what is wished for.
_ABOUT_THE_ANSWER = (
    r"it|this|that|these|those|there|here|you|i|we|what|which|all|none|more|some|any|another|other|further|additional|both|only"
    r"|nothing|something|everything|sam|bot|ai|assistant|model|answers?|responses?|repl(?:y|ies)|lists?|overview|comparison"
    r"|descriptions?|explanations?|summar(?:y|ies)|examples?|details?|steps?|parts?|points?|sections?|paragraphs?|sources?|code"
    r"|solution|approach|method|advice|suggestions?|recipe|options?|alternatives?|reasons?|conclusion|introduction|rest|half|one"
    r"|recommendation|instructions?|information|info|content|coverage|scope|focus|would|should|could|can|please"
)

_OF_THE_WORLD = (
    r"(?:capital|currency|symbol|year|date|number|result|sum|total|price|cost|population|author|inventor|height|length|distance|speed"
    r"|period|president|formula|temperature|value|average|area|volume|winner|founder|director|composer|painter|king|queen|river|mountain"
    r"|planet|element|rate|ratio|remainder|root|product|plural|arrival time|atomic number|boiling point|population)"
)

# Complaints a user may deny; what is denied is taken out before the patterns look.
_COMPLAINT = (
    r"(?:wrong|incorrect|inaccurate|false|outdated|out of date|obsolete|deprecated|incomplete|missing|rude|unclear"
    r"|confusing|vague|verbose|wordy|long|too long|too short|made up|hallucinat[a-z]*|bad|buggy|broken|off topic"
    r"|impolite|untrue|bugs?|lies?|mistakes?|code errors?|syntax errors?|inaccuracies|format(?:ting)?|tone|length"
    r"|facts)"
)
DENIAL = (
    r"\b(?:(?:isnt|wasnt|arent|werent|not|nothing|neither|dont think|wouldnt say|not saying|no) "
    r"(?:because |that |about )?(?:(?:its|it is|it was|thats|that is|this is|theyre|the [a-z]+ (?:is|was|are)) )?"
    r"(?:(?:really|exactly|necessarily|technically|actually|completely|entirely|totally|strictly|outright|so much|that"
    r"|factually|too|overly|a|an|the|just) )*"
    rf"{_COMPLAINT}(?: (?:or|nor) {_COMPLAINT})?|invented (?:in|by|around|at|before|after))\b"
)

PATTERNS = (
    Pattern(
        "other",
        _phrases(
            r"(?:by|an?|my) (?:accident|mistake)$|accidental(?:ly)?|mis ?click[a-z]*|ignore (?:this|me)",
            r"just (?:testing|a test)|needs? (?:some |more )?(?:work|improvement|fixing)$",
            r"(?:personal|my) (?:preference|taste|style|favou?rite)|matter of taste|house style|my (?:own )?version",
            r"expected (?:more|better)(?: from [a-z]+)?$|because i (?:said|say|can)|no (?:comment|reason)",
        ),
        "says itself that it names no error",
        "I just prefer my own version",
        "The version is wrong",
    ),
    Pattern(
        "incorrect",
        r"\b[0-9][0-9.,]*[0-9](?: [a-z]+)?,? (?:and )?(?:not|instead of|rather than) (?:in |on |by )?"
        r"(?:[a-z]+ )?[0-9]{2}",
        "one figure set against another, so that its year is not taken for a sign of age",
        "The wall was removed in 1989, not 1990",
        "The setting was removed in 2019",
    ),
    Pattern(
        "outdated",
        _phrases(
            r"out ?dated|out of date|dated|depr[ei]c(?:at|iat)[a-z]*|obsol[a-z]*|antiquated|archaic",
            r"(?:is|are|so|from an|uses?|using) ancient|prehistoric|stale|legacy|eol|expired",
            r"end of life|supersed[a-z]*|discontinued|sunset(?:ted)?|defunct|rebranded|no longer|any ?more|nowadays",
            r"these days|python ?2",
            r"behind the times|years behind|knowledge cut ?off|cut ?off date|training data",
            r"stuck in (?:the|19|20)[a-z0-9]*|time ?warp",
            rf"(?:{_NOT}|needs?|hasnt been|havent been|bring it|more) (?:up to date|current|updated|updating"
            r"|an update|to be updated)",
            r"old(?:er)? (?:versions?|syntax|api|info(?:rmation)?|data|news|way|docs|documentation|rules?|laws?"
            r"|prices?|numbers?|figures?|releases?|stats|statistics|interface|ui|name|method|advice|guidelines?"
            r"|limits?|rates?)",
            r"previous versions?|too old|is old",
            r"(?:latest|newest|newer|current|recent|new) (?:[a-z]+ )?(?:versions?|releases?|api|syntax|docs|data"
            r"|rules?|laws?|ceo|president|prime minister|champion|record|price|rate|guidelines?|standard|edition"
            r"|name|owner|limit|guidance)",
            r"recently|the latest",
            r"since (?:v|v |version |release )[0-9.]+|since (?:[a-z]+ )?[0-9]{4}|since [a-z]+ [0-9.x]+",
            r"before (?:the )?(?:19|20)[0-9]{2}|(?:was|were) the (?:policy|rule|rules|law|price|way|case|standard)",
            r"(?:knowledge|data|info[a-z]*) (?:[a-z]+ ){0,4}(?:ends?|stops?|cuts? off)|support (?:has )?ended",
            r"(?:months|weeks|days|decades) old",
            r"as of (?:v?[0-9]|version|january|february|march|april|may|june|july|august|september|october|november"
            r"|december|last|this|now)[a-z0-9.]*",
            r"(?:[a-z]+|[0-9]{1,2}) (?:years|versions|releases|updates) (?:ago|out of date)",
            r"(?:months|ages|long|a while) ago",
            r"(?:removed|renamed|replaced|dropped|deleted|changed|moved|merged|shut down|closed|stopped|retired"
            r"|repealed|abolished|gone|scrapped) (?:[a-z]+ ){0,2}(?:in (?:v|version |[a-z]+ )?[0-9][0-9.]*|since"
            r"|last (?:year|month|week)|as of|by now)",
            r"(?:has|have|had) (?:since|now) [a-z]+",
            r"(?:has|have|hasnt|havent|got) (?:long )?(?:been )?(?:removed|renamed|replaced|dropped|changed|moved"
            r"|gone|retired|repealed|closed|shut down|gone up|gone down|risen|doubled)",
            r"went (?:bankrupt|out of business)",
            r"(?:is|are|its|was|were) (?:[a-z]+ )?(?:called|known as|named|owned by|run by|led by) [a-z0-9 ]+ now",
            r"(?:is|are|its) now|now$|now called|now (?:known|costs?|requires?|uses|supports?|lives|works|at|owns?)",
            r"changed (?:its|their|the) name|used to (?:be|work|cost|have|live)",
            r"(?:was|were|been) (?:true|right|correct|fine|valid|the case|accurate|good|best practice) (?:in|until"
            r"|till|back|before|years|ten|when|[0-9]+)",
            r"(?:still|keeps) (?:us(?:es|ing)|recommend[a-z]*|says|lists|refers|referring|thinks|thinking|talks"
            r"|quot[a-z]+|assumes|living)",
            r"(?:welcome to|what year|its|this is|back in|pre|circa) (?:19|20)[0-9]{2}s?|what year is it",
            r"stopped (?:being|working|supporting)|from (?:199|200|201)[0-9]s?",
            r"(?:info|information|data|docs|numbers|prices|figures|stats|advice|guide) [a-z ]*from (?:19|20)[0-9]{2}",
            r"(?:law|rules?|policy|policies|prices?|things|times|that|this|it|they|website|interface|menu"
            r"|requirements) (?:have |has )?(?:all )?changed",
            r"changed (?:in|since|last|recently)",
            r"last (?:year|month|week|spring|summer|autumn|fall|winter|(?:seasons?|years|gen[a-z]*) [a-z]+)",
            r"(?:went|gone|going) (?:up|down)|unmaintained|abandoned|archived|(?:first|early) (?:version|edition)",
            r"(?:raised|lowered|increased|updated|revised|amended|redesigned|migrated"
            r"|taken over) (?:[a-z0-9]+ ){0,4}(?:in|last|since|by|to)",
            r"for (?:years|ages|a long time|a while|decades)|long gone",
            r"pre (?:covid|pandemic|war|brexit|[0-9]{4}|release)|(?:theres|there is|got|have|has|with) a new|resigned",
            r"stepped down|took over|passed away|hasnt been|havent been|isnt [a-z ]*since|no more [a-z]+ since|by now",
            r"(?:ten|five|several|many|few|some|couple of) years old|phased out|moved on|old school|vintage",
            r"(?:has|have) (?:[a-z]+ ){1,4}already|already (?:left|been|changed|happened|replaced)",
            r"been (?:acquired|bought|discontinued)",
            r"before (?:covid|brexit|the (?:update|change|reform|merger|redesign))",
            r"in (?:v|version |python |java |node |react |php )[0-9.]+|yesterdays|been (?:a while|years)",
            r"last (?:decade|century)|switched to|successor|replaced (?:by|with)|not supported since|newer [a-z]+",
            r"modern (?:way|approach|browsers?|syntax|versions?|python|java|js|javascript|c|practice)",
            r"this day and age|a while back|(?:has|have) moved to|back then|in the (?:90s|80s|nineties)",
        ),
        "true once, but the world or the version moved on",
        "Deprecated since v3, use the new client",
        "The date of the treaty is wrong",
    ),
    Pattern(
        "misunderstood",
        _phrases(
            r"mis+ ?underst[a-z]*|mis+ ?read[a-z]*|mis ?interpret[a-z]*|misconstru[a-z]*|not what i",
            r"(?:isnt|wasnt) what i|(?:not|wasnt) asking",
            r"(?:not|isnt|wasnt) (?:my|the) question|i (?:never|didnt) (?:even )?(?:ask|say|said|want|mention)[a-z]*",
            r"my question (?:was|is)",
            r"i (?:asked|was asking|am asking|meant|was talking|wanted to know) (?:you |it |sam )?(?:about|how|why"
            r"|what|when|who|whether|if|which|to)",
            r"(?:wrong|different|another|other) (?:question|topic|subject|task|problem)",
            r"i was (?:referring|talking|asking|thinking)|i meant?|confus(?:es|ed|ing) my",
            r"(?:sam|it|you|bot|ai|assistant) (?:didnt|doesnt|never|failed to) (?:understand|understood|get|grasp)",
            r"(?:someone|somebody) elses?",
            r"(?:when|but|and|while|whereas) (?:all )?(?:i|we) (?:really |actually |only |just )?(?:wanted|needed"
            r"|want|need|mean|meant|asked) (?:to|the|about|help|feedback|advice)",
            r"the (?:task|question|assignment|goal|exercise|request|job) (?:was|is) (?:to|about|how|why|what|whether)",
            r"(?:didnt|doesnt|failed to) (?:get|reali[sz]e|notice|catch|see|pick up on) (?:that|the (?:joke|sarcasm"
            r"|irony|context|point|question))",
            r"interpreted (?:[a-z]+ ){1,5}as|mistook my",
            r"(?:didnt|doesnt) (?:reali[sz]e|notice|see|know) (?:that )?(?:i|im|it was)|(?:the|my) (?:irony|sarcasm)",
            r"took (?:it|me|this|that|my [a-z]+) (?:too )?(?:literally|seriously|wrong|the wrong)",
        ),
        "says outright that the question was taken for another one",
        "I asked how to cook rice, not how it is grown",
        "I asked for a table",
    ),
    Pattern(
        "hallucination",
        _phrases(
            r"hall?[iu]c[a-z]*|fabricat[a-z]*|bogus|fictional|fictitious|(?:pure|is|total|complete|science) fiction",
            r"imagin(?:ary|ed|ation|ing)|phantom|fantas[a-z]*|fairy ?tales?|invention",
            r"fake[a-z]*|non ?exist[a-z]*|made (?:[a-z]+ ){0,4}up|making (?:[a-z]+ ){0,4}up|dreamt|dreamed|dreaming",
            r"makes? (?:[a-z]+ )?up (?:a|facts|stuff)",
            r"makes? (?:stuff|things|it|that|this|facts|shit) up",
            r"(?:doesnt|dont|didnt|never|dosent|cant) (?:even |actually |seem to |really )?exist[a-z]*",
            r"invent(?:s|ed|ing)",
            r"never (?:said|written|worked|written anything|wrote|existed|happened|published|released|passed|starred"
            r"|recorded|won|been published|took place|made)",
            r"(?:no such|has no|have no|no real|had no|with no|belongs? to no|is no|are no"
            rf"|was no) (?:[a-z0-9.]+ ){{0,2}}{_THING}s?",
            r"(?:come|comes|came|appear[a-z]*|pulled) (?:out of|from) (?:nowhere|thin)",
            r"(?:was|were) never (?:in|a|part|an|any|released|built)",
            rf"{_THING}s? (?:[a-z]+ ){{0,2}}(?:isnt|arent|wasnt|not|never) (?:there|listed|available|in the|anywhere"
            r"|exist)",
            r"(?:isnt|arent|not) (?:listed|documented|there|supported by|on (?:pypi|npm|github|google|maven"
            r"|the (?:map|list|menu|market|internet|web)))",
            r"(?:nobody|no one|no person) (?:called|named|with)",
            r"there(?:s| is| are| was)? no [a-z0-9 ]+ in (?:that|this|the) (?:book|article|paper|text|docs|library"
            r"|package|city|country|film|movie|game|api|framework|menu|settings|law|series|song|language)",
            rf"there(?:s| is| are| was| were)? no (?:[a-z]+ )?{_THING}s? (?:called|named|like|in|by|with|for|on)",
            rf"(?:doesnt|dont|didnt) have (?:an?|any|such an?|this|that|the) (?:[a-z]+ )?{_THING}",
            rf"there (?:isnt|arent|wasnt) (?:a|an|any) {_THING}",
            rf"(?:isnt|not|wasnt) (?:a|an|any) (?:valid|existing|actual|known|official) {_THING}",
            r"no such [a-z]+|(?:no one|nobody|anyone|person) (?:by|with|of) (?:that|this) name",
            r"(?:isnt|not|arent|wasnt|werent) (?:a )?(?:real|an actual|a thing)",
            r"thin air|out of nowhere|out of (?:your|its|my) (?:ass|arse|hat|butt)",
            r"(?:never|ever|nobody|not) (?:has )?(?:ever )?heard of|nothing of the sort|confabulat[a-z]*|conjur[a-z]*",
            r"cooked up|concoct[a-z]*|baseless|phon[e]?y|counterfeit|pretend[a-z]*|bluff[a-z]*|unsourced",
            r"nowhere to be found|no evidence (?:that|of|for)|no basis",
            r"none of (?:them|these|those|which|the [a-z]+) (?:are |is |were |actually |even )*(?:real|exist)",
            r"(?:cant|couldnt|unable to|didnt|not) (?:be )?(?:find|found|verify|locate|verified) (?:it|this|that|any"
            r"|such|the|a|anywhere|in|on)[a-z ]*",
            r"no (?:trace|record) of",
            r"(?:not|isnt|arent|nowhere|doesnt appear|wasnt) (?:[a-z]+ )?(?:in|part of) (?:the |that |this "
            r"|any )?(?:docs|documentation|article|source|text|paper|spec|api|standard library|document|pdf|file"
            r"|database)",
            r"(?:links?|urls?|references?|citations?|sources?) (?:[a-z]+ ){0,3}(?:404s?|dead|nowhere|broken)",
            r"dead links?|404s?|where did (?:you|it) (?:get|find)|tripping|on drugs|delusion[a-z]*",
            r"pulled (?:this|that|it) (?:out|from)|make believe|unicorn",
        ),
        "asserts something that does not exist",
        "There is no such function in the standard library",
        "The telephone was invented in 1876, so the date is off",
    ),
    Pattern(
        "incorrect",
        r"^(?:this|that|it)s? (?:is )?(?:(?:very|really|quite|such) )?(?:an? )?(?:bad|dangerous|terrible|awful|harmful|wrong|risky|unsafe)"
        r" (?:advice|idea|information|tip|suggestion)\b|^(?:(?:this|that|it) )?(?:(?:only|just|even) )?makes (?:it|things|everything) worse"
        r"|^(?:(?:its|it|this|that|thats) )?(?:isnt|not|simply not|just not) true\b",
        "opens with the verdict on the matter; what follows is about the matter",
        "This is bad advice: cramming at night is unhealthy",
        "Bad formatting",
    ),
    Pattern(
        "code_error",
        r"^(?:the|this|that|your|its) (?:code|query|script|command|function|snippet|regex)"
        r" (?:doesnt|didnt|wont) (?:do|give|return|produce)\b",
        "code that does something else, whatever it is",
        "The code does not do what was asked: without a key the order is another one",
        "The poem does not do what was asked",
    ),
    Pattern(
        "format",
        _phrases(
            r"markdown|bullets?|bullet ?points?|bulleted|code ?blocks?|code fences?|fenced|back ?ticks?",
            r"(?:sub)?headings?|italics?|tabular|asterisks|hashtags",
            r"bold(?:ed)?|line ?breaks?|new ?lines?|walls? of (?:text|words)|block of text",
            r"(?:one|big|giant) (?:[a-z]+ )?(?:block|blob|lump)|formatt?(?:ed|ing|s)?",
            r"reformat[a-z]*|unformatted|layout|lay ?out|laid out|indent(?:ed|ing|s)?|indentation",
            r"(?:line |double |single )?spacing|mis ?aligned|align(?:ed|ment)?",
            r"latex|mathjax|plain text|syntax highlight[a-z]*|capitali[sz][a-z]*|upper ?case|lower ?case|title case",
            r"dd mm yyyy|mm dd yyyy|yyyy mm dd|iso 8601",
            r"all one (?:[a-z]+ )?(?:paragraph|block|line)",
            r"(?:into|separate|use|no|without|of|not|in) (?:[a-z]+ )?paragraphs|line up|lined up|own line|per line",
            rf"{_WANTED} (?:it |this |that |them |these )?(?:to be )?(?:as |in |with |into )?(?:an? "
            r"|one )?(?:[a-z]+ )?(?:table|list|json|csv|yaml|xml|html|steps|columns|spreadsheet|diagram|chart|haiku"
            r"|poem|grid|tables|lists|sections|pdf|excel)(?: form(?:at)?)?",
            r"(?:valid|invalid|pure|raw|broken|malformed|proper|just|only) (?:json|csv|yaml|xml|html)",
            r"(?:json|csv|yaml|xml|table|list) (?:instead|please|only|output)",
            r"(?:in|as|into|use|using|like) (?:an? |one )?(?:(?:numbered|bulleted|markdown|proper|neat|nice|simple"
            r"|ordered) )?(?:json|csv|yaml|xml|table|list|tables|columns|grid|spreadsheet|steps)",
            r"number(?:ed|ing|s)? (?:the |list|steps|items)[a-z]*|ordered list",
            r"not (?:an? )?(?:[a-z]+ )?(?:table|list)|copy (?:and )?paste|copy the|line numbers",
            r"(?:citation|wrong|reference|writing|comment) style|numbering|monospace|footnotes?|bulletpoint[a-z]*",
            r"(?:merged|empty) cells|separate lines|split (?:it |this )?(?:up )?into",
            r"(?:should|could|would) (?:[a-z]+ )?(?:be|have been|look) (?:[a-z]+ )?(?:in |as |a "
            r"|an )+(?:[a-z]+ )?(?:table|list|json|csv|yaml|xml|column)",
            r"(?:poorly|badly|better|un) ?structured|(?:apa|mla|chicago|harvard) (?:style|format)",
            r"(?:table|columns?|rows?|headers?) (?:[a-z]+ ){0,2}(?:broken|rendered?|messed up|squashed)",
            r"(?:doesnt|didnt|not|isnt|wont) render[a-z]*|alphabetical|(?:sort|order|list)[a-z]* (?:[a-z]+ ){0,2}alphabetically",
            r"styling|font|smart quotes",
            r"quotation marks|visually|white ?space|cluttered|eye ?sore|(?:blank|empty|extra) lines?|cram[a-z]*",
            r"squeezed|squashed|clickable|hyper ?links?|single (?:paragraph|block)",
            r"(?:must|has to|needs to|should|supposed to|needed to|want it to) be (?:in |a |an |valid |as )*(?:json"
            r"|csv|yaml|xml|table|list|tabular)",
            r"(?:in|into|as) (?:an? )?(?:separate )?blocks?",
        ),
        "the shape of the text on the page",
        "Please use bullet points",
        "The table of contents omits chapter three",
    ),
    Pattern(
        "unclear",
        _phrases(
            r"explain (?:[a-z]+ ){0,3}like im (?:5|five)|(?:over|above) my head",
            r"assum(?:e|es|ed|ing) (?:[a-z]+ ){0,4}(?:know|knowledge|familiar[a-z]*)",
        ),
        "pitched above the reader",
        "Explain it like I'm five, this is over my head",
        "Talks to me like I'm five",
    ),
    Pattern(
        "code_error",
        _phrases(
            r"[a-z]{3,}(?:error|exception)s?|syntax(?: error| is| mistake)?",
            r"(?:type|name|value|key|index|import|run ?time|null pointer|logic|build|parse|parsing|compilation"
            r"|compiler|module not found|[0-9]{3}|server|stack overflow) (?:error|exception)s?",
            r"(?:an?|the|unhandled|uncaught|throws?|raises?|get|got|with|java) (?:[a-z]+ )?exceptions?|trace ?back",
            r"stack ?trace|exit code",
            r"seg ?faults?|compil(?:e|es|ed|ing|ation|er)|crash(?:es|ed|ing)?|throws|throwing|raises|bug(?:s|gy|ged)?",
            r"infinite (?:loop|recursion)|blows up",
            r"off by (?:one|1)|never (?:terminates|returns|exits|ends)",
            r"(?:it|app|program|code|script|ui|browser|just) (?:hangs|freezes)|hangs (?:on|when|forever|the)",
            r"endless loop|infinitely|undefined|undeclared|not defined|isnt defined|out of (?:bounds|memory)",
            r"memory leak|race condition|deadlock|(?:sql|code|to|html|script) injection|vulnerab[a-z]*",
            r"divi(?:des?|sion|ding) by (?:zero|0)|null ?pointer|unclosed|unmatched|unbalanced",
            r"(?:wont|doesnt|dosent|didnt|cant|not|never|couldnt|isnt) (?:even |actually |be |seem to )?(?:run"
            r"|running|runs|build|execute|parse|import|start|work|works|working|type ?check)",
            r"command not found|permission denied|(?:module|package|file) not found|stops? working|stopped working",
            r"(?:gives?|gave|got|get|gets|getting|causes?|produces?|returns?|with|throw|shows?|spits out) (?:me "
            r"|us )?(?:an? |the )?(?:[a-z]+ )?errors?",
            r"errors? (?:out|when|message|on line)|error ?s out|tests? (?:still )?fail[a-z]*",
            r"fail(?:s|ed|ing)? (?:on|when|with|for|if|at|because|in)|(?:on|at|in) line [0-9]+|line [0-9]+",
            r"missing (?:an? |the |some )?(?:[a-z]+ )?(?:imports?|semicolons?|brackets?|braces?|paren[a-z]*|colon"
            r"|comma|await|return|self|quotes?|dependency|tag)",
            r"forg[eo]t[a-z]* (?:to |the |a |an )?(?:[a-z]+ )?(?:import|return|await|semicolon|colon|bracket|brace"
            r"|parenthes[ie]s|self|declare|initiali[sz]e|close the (?:file|bracket|tag|connection)|increment)",
            r"semicolons?|parenthes[ie]s|curly|before assignment",
            r"(?:if|else|while|for|return|import|print) (?:statement|loop|branch|clause)",
            r"(?:one|1) (?:time|iteration|element) too (?:many|few)|returns? a promise|in the if",
            r"wrong (?:imports?|variable|index|operator|arguments?|param[a-z]*|module|package|data ?type|return|loop"
            r"|function|method|regex|output|indentation|port|flag|path)",
            r"(?:variable|function|method|class|column|parameter) (?:name|isnt|is never|never|is not)",
            r"typo in (?:the |your )?(?:code|variable|command|function|[a-z]+ name|import|query|url)",
            rf"(?:broken|bad|invalid|faulty) {_CODE}",
            rf"{_CODE} (?:[a-z0-9]+ ){{0,3}}(?:broken|wrong|fail(?:s|ed|ing)?|incorrect|invalid|returns?|off|died"
            r"|dies|exits|errors?|breaks?|loops)",
            r"(?:wrong|incorrect|mistakes?|errors?|instead of|should be|missing|breaks?"
            rf"|swapped) (?:[a-z0-9]+ ){{0,6}}{_CODE}",
            r"breaks (?:on|when|if|for|with|the build)",
            r"returns? (?:none|null|nothing|nan|undefined|an empty|the wrong|wrong|duplicates?|true|false|minus"
            r"|[0-9]+)",
            r"takes? (?:way |far |much )?too long to (?:run|finish|execute)",
            r"(?:too |very |super |really )slow|inefficient|o n 2|overwrites?|mutates?|recurs(?:es|ion|ive)|null|nan",
            r"npe|unhandled|(?:blank|white|black) (?:page|screen)|nothing happens|does nothing|incompatible",
            r"dependenc[a-z]+|(?:it|this|that|code|build|everything|which|and|but) (?:breaks|broke)|wrong results?",
            r"unexpected (?:token|output|results?|behaviou?r|indent)|segment(?:ation)? fault|unreachable",
            r"(?:wont|doesnt|dont|didnt) (?:match|return|loop|terminate|handle (?:null|none|empty|the empty"
            r"|negative)|close the|escape|catch|await|deploy|install|load)",
        ),
        "code that does not run, or runs and does the wrong thing",
        "Raises a TypeError on the third line",
        "There is an error in the second date",
    ),
    Pattern(
        "tone",
        _phrases(
            r"rude[a-z]*|condes[a-z]*|patroni[sz][a-z]*|arrogan[a-z]*|snark[a-z]*|sarcas[a-z]*|dismissive[a-z]*",
            r"dismisses|preach[a-z]*|sn[oi][tpb]+y|snooty|sassy|cocky",
            r"lectur(?:e|ed|es|ing)|judge?mental|judgy|judging|morali[sz][a-z]*|impolite|disrespect[a-z]*",
            r"insult[a-z]*|offen[sd][a-z]*|harsh[a-z]*|told off|telling me off",
            r"aggressive|hostile|robot(?:ic)?|stiff|stilted|tone|unfriendly|friendl(?:y|ier)|unprofessional[a-z]*",
            r"sycophan[a-z]*|flatter[a-z]*|pedantic|abrasive|nasty|unkind",
            r"suck(?:s|ing)? up|kiss(?:ing)? (?:up|ass)|apologi[sz][a-z]*|apologetic|apolog(?:y|ies)|chees[ey]+|corny",
            r"cutesy|emojis?|smil(?:ey|eys|ies)|exclamation (?:marks?|points?)",
            r"passive aggressive|empath[a-z]*|insensitive[a-z]*|tactless|curt|blunt|brusque|salesy|sales ?pitch",
            r"advert[a-z]*|pushy|bossy|mansplain[a-z]*|scold[a-z]*|smug[a-z]*|callous",
            r"nagging|attitude|kinder|warmth|warmer (?:tone|reply|answer)|creepy|childish|bubbly|chirpy|flippant",
            r"corporate speak|snobb?y|pompous|pretentious|polite[a-z]*|belittl[a-z]*|demean[a-z]*|mock(?:s|ing|ed)",
            r"sneer[a-z]*",
            r"impersonal|soulless|lifeless|heartless|uncaring|stuffy|melodramatic|overly dramatic|alarmist",
            r"accus[a-z]*|blam(?:es|ed|ing)|sham(?:ed|ing)|grovel[a-z]*|fawning",
            r"know it all|holier than thou|self righteous",
            r"sound(?:s|ed|ing)? (?:like|so|too|as if|very|a bit|angry|bored|annoyed|fake)",
            r"(?:comes?|came|coming) (?:across|off) as|impatient[a-z]*",
            r"talk(?:s|ed|ing)? (?:down|to me)|(?:spoke|speaks?|speaking) to me|treat(?:s|ed|ing)? me|made me feel",
            r"makes me feel|feel (?:stupid|dumb|small|bad)|inappropriate|jok(?:es?|ing|ey)|humou?r|swear[a-z]*",
            r"(?:not|isnt|wasnt) (?:very |really )?appropriate|child friendly|snide|grumpy|irritated|annoyed|haughty",
            r"aloof|insincere|disingenuous|vulgar|threatening|intimidating|sermon|tone deaf|sympath[a-z]*",
            r"unsympath[a-z]*|compassion[a-z]*|griev[a-z]*|hurtful|wooden|unnatural|chatbot|eager|syrupy|sentimental",
            r"language for",
            r"like (?:im|i am|i was|i were|a|an|being|some) (?:[a-z]+ )?(?:child|kid|idiot|five|stupid|dumb|moron"
            r"|baby|toddler|robot|machine|lawyer|salesman|salesperson|textbook|politician|teacher|manual|parent)",
            r"as if i (?:was|were|am) (?:an? )?(?:[a-z]+ )?(?:child|kid|idiot|five|stupid|dumb|baby|toddler|moron"
            r"|slow)",
            r"(?:was|is|so|thats|just|sounded|bit) mean$|gushing|gushy|over the top|cringe[a-z]*|slang",
            r"enthusias[a-z]*|over ?excited",
            r"hype[a-z]*|buddy|bro|dude|calling me|sugary|gentler|softer|soften|respectful|thanks for the lecture",
            rf"{_VERY}+(?:formal|informal|casual|cold|human|cheerful|serious|mean|familiar|chummy|distant|dry"
            r"|personal|clinical|detached|corporate|superior|professional|negative|positive|nice|excited|happy|perky"
            r"|intimate|bureaucratic|stern|sweet|emotional|flowery|poetic|playful|relaxed|laid back)",
            r"^(?:cold|formal|informal|casual)|formality|informality",
        ),
        "how it sounds, not what it says",
        "Sounds condescending",
        "The formal definition of a limit needs an epsilon",
    ),
    Pattern(
        "incorrect",
        _phrases(
            r"(?:mix(?:es|ed|ing)?|muddl(?:es|ed|ing)) (?:[a-z0-9]+ ){0,5}up",
            rf"confus(?:es|ed|ing|e) {_GAP}(?:with|for|and)|mistook|mistakes [a-z]+ for",
            r"swap(?:s|ped)|conflat[a-z]*|the wrong way (?:round|around)|backwards",
            r"got (?:them|it|these|those) (?:reversed|switched|the wrong)|vice versa",
        ),
        "two things taken for each other",
        "Confuses mitosis with meiosis",
        "The second paragraph is confusing",
    ),
    Pattern(
        "incomplete",
        _phrases(
            r"(?:half|part|portion|one|some|two) (?:of )?(?:my|the|what i)(?: [a-z]+)? (?:questions?|asked|request)",
            r"(?:rest|remainder) of (?:my|the) (?:question|request)",
            r"(?:other|second|2nd|third|last|next|latter) (?:half|part|question|bit)",
        ),
        "a question answered in part",
        "Ignored the second part of my question",
        "Ignored my question",
    ),
    Pattern(
        "verbose",
        _phrases(
            r"verb(?:os|ious)[a-z]*|word(?:y|iness)|lo+ng ?winded|lengthy|rambl[a-z]*|waffl[a-z]*|drags? on",
            r"(?:on and|goes|keeps going) on|repeat(?:s|ed|ing|itive|edly)?|repetit[a-z]*|blah|babbl[a-z]*",
            r"redundan[a-z]*|padd(?:ed|ing)|fluff[a-z]*|filler|bloat[a-z]*|to the (?:damn |bloody )?point|tl ?;? ?dr",
            r"concise[a-z]*|succinct[a-z]*|(?:be|much|make it|something|a|lot|far|bit) shorter",
            r"shorter (?:please|next)|^shorter|briefer|brevity|(?:word|character) limit|drawn out|superfluous",
            r"meander[a-z]*|monologue|never ending|prolix|irrelevant details|trivia|(?:states?|stating) the obvious",
            r"spare me|cut to the chase|straight to|bottom line|direct answer|more direct|be brief",
            r"keep it (?:short|brief|simple)|(?:of|half) the length|in length",
            r"the length of (?:the|this|your) (?:answer|reply|response|text)|overload(?:ed|ing)?|overkill|long read",
            r"droning|drones",
            rf"{_VERY}+(?:lo+ng|chatty|detailed|many words)",
            r"(?:is|was|so+|answer|response|very|really|reply|way|unnecessarily) lo+ng",
            r"longer than (?:it|need|necess|i|the question)[a-z]*|lo+ng for",
            r"(?:too|so|way too|that) (?:much|many) (?:[a-z]+ )?(?:text|info[a-z]*|explanations?|background|details?"
            r"|stuff|reading|words|steps|examples|options|caveats|disclaimers|paragraphs|sentences|fluff|history)",
            r"trim[a-z]*|condensed?|cut (?:it|this|that|the|out|down|all)|shorten[a-z]*|boil(?:ed)? (?:it )?down",
            r"get rid of|strip out|less (?:text|words|detail|talk|info[a-z]*)|fewer words|[0-9]+ words|words to say",
            r"(?:in|wanted|needed|expected|asked for|for|with|be|after|give me|just) (?:just )?(?:a|one|1|a single"
            r"|a one|a simple|a quick|a short|a brief|two|an?) (?:single )?(?:line|liner|sentences?|word|summary|yes)",
            r"(?:shorter|short|brief|quick|simple) (?:answer|reply|response|question|version)|yes (?:or )?no",
            r"one (?:line|sentence|word) (?:answer|would|is enough|reply)",
            r"^(?:[a-z]+|[0-9]+) (?:whole |long )?(?:paragraphs|pages)$",
            r"(?:just|simply) (?:said|answered|written|told me)|just (?:give me|tell me|the answer|answer|say it|say)",
            r"(?:just|only) (?:wanted|needed|asked for|want|need) (?:a|an|one|the) (?:[a-z]+ )?(?:yes|line|liner"
            r"|sentence|word|number|answer|name|result|summary|command|link|date|no|fact|figure|code)",
            r"(?:nobody|who|no one) (?:needs|asked|wants|has time)",
            r"(?:a|an|another|whole|entire|full) (?:novel|essay|thesis|dissertation|life story|history lesson|book"
            r"|encyclop[a-z]+|lecture)",
            r"essay|war and peace|life story|history lesson|(?:two|three|four|five|six|[0-9]+) pages",
            r"unnecessar[a-z]*|unneeded|excessive[a-z]*",
            r"(?:didnt|dont) need (?:all|the|a|to know|to read|so|that|an|this|half)|not need(?:ed)?|not necessary",
            r"more (?:[a-z]+ ){0,3}than (?:necessary|needed|i (?:asked|needed|wanted))",
            r"same (?:thing|point|sentence|idea|info[a-z]*) (?:[a-z]+ )?(?:twice|times|over|again)",
            r"over ?explain[a-z]*|over and over|around the bush|over ?ly detailed|tmi|scroll[a-z]*|endless|forever",
            r"(?:answer|point|info[a-z]*|result) (?:is |was |are )?buried|asleep|bor(?:ing|ed)",
            r"paragraphs? (?:for|of|when|to|before|just|about|where|is enough|would)|pages (?:of|for)|disclaimers",
            r"preamble|pre ?amble|small ?talk|chit ?chat|(?:said|says|it|that|this|explained|repeated) twice",
            r"(?:the|skip|long|no|cut) intro|long introduction",
            r"all (?:that|this) (?:text|extra|stuff|for|detail|background|info)",
            r"(?:have|had|no|got) (?:the )?time (?:to|for)|adds? (?:nothing|no value|little)",
            r"wast(?:e|ed|es|ing) (?:of|my|time)",
        ),
        "more words than the question needs",
        "Way too long, get to the point",
        "Too short",
    ),
    Pattern(
        "unclear",
        _phrases(
            r"confu+s+(?:ing|ed|es|ion|ingly)|unclear[a-z]*|clear(?:er|ly)|clarity|clarif[a-z]*|clear as mud",
            r"vague[a-z]*|ambigu[a-z]*|fuzzy|woolly|hazy|huh|double meaning|mumbo jumbo|opaque|illegible|terse",
            rf"{_NOT} (?:[a-z]+ )?(?:clear|obvious)",
            r"(?:hard|difficult|tough|impossible|tricky) to (?:[a-z]+ )?(?:follow|read|understand|parse|tell|grasp"
            r"|digest|decipher|see|know|figure)",
            r"too (?:hard|difficult)",
            r"(?:doesnt|didnt|not|dont|dosent|wont) (?:really |even )?mak(?:e|es|ing) (?:any |much |a lot of )?sense",
            r"makes? (?:no|zero|little) sense|incoheren[a-z]*|gibberish|word (?:salad|soup)|jargon|acronyms?",
            r"convoluted|cryptic|obscure|muddled",
            rf"{_VERY}+(?:technical|complicated|complex|abstract|advanced|dense|academic|theoretical|terse)",
            r"over ?(?:ly )?compl[a-z]*|unreadable|garbled|technical terms|terminology|big words",
            r"(?:couldnt|cant|didnt|dont|unable to|struggled to|still dont|not) (?:really |even |quite "
            r"|able to )?(?:follow|understand|get it|make sense|get what|figure (?:it|this|out)|tell (?:what|which"
            r"|if|whether|who)|know what|know which|see how|see what)",
            r"i (?:still )?(?:didnt|dont|couldnt|cant) (?:get|follow|tell)",
            r"(?:without|never|not|doesnt|didnt) (?:defin|introduc)[a-z]*",
            r"(?:undefined|unexplained|unknown|unfamiliar|technical) (?:terms?|words?|abbreviations?)",
            r"heads? (?:or|nor|and) tails?",
            r"(?:trouble|struggl[a-z]+|problems?|difficulty) (?:to |with )?(?:understand|follow|read|pars)[a-z]*",
            r"^(?:what|eh|pardon|come again)$|which is it|different things|clunky|run on sentences?|trying to say",
            r"(?:not|more|be) (?:very |more )?specific|non ?committal|wishy washy|hedg(?:es|ed|ing)|hand ?wav[a-z]*",
            r"lost me|im (?:still )?lost|(?:got|get|was|am|left) lost|no (?:idea|clue) (?:what|how|which)",
            r"what (?:does|do|is|are|did) [a-z ]+ (?:mean|mean by)|(?:supposed|meant) to mean",
            r"what does (?:it|this|that|they)|mean by",
            r"eli5|plain english|simpler|simplif[a-z]*|lay ?mans?|laypers[a-z]*|beginners?",
            r"(?:poorly|badly|awkward(?:ly)?|weirdly|horribly|oddly) (?:worded|written|explained|phrased"
            r"|organi[sz]ed)",
            r"wording|phrasing|reword[a-z]*|rephras[a-z]*",
            r"explained? (?:it |this )?(?:well|better|badly|poorly)|bad explanation|all over the place",
            r"disorgani[sz]ed|jump(?:s|ed|ing)? (?:around|from|between)|jumbled|scratching my head",
            r"head (?:spin|hurt)s?|baffl[a-z]*|puzzl[a-z]*|incomprehensible|murky",
            r"(?:weird|strange|odd|random|illogical) order|(?:had to|have to) (?:re ?read|read|google|look up|guess)",
            r"re ?read|doesnt flow|which (?:one|of)",
            r"(?:none the wiser|more questions than answers|understandable|comprehensible|lost in)",
            r"read (?:it|this|that) (?:twice|three|[0-9]|several)",
            r"not sure (?:what|how|which|where|who|if)|dont know (?:where|how|who|what)|supposed to do",
        ),
        "the reader cannot tell what is meant",
        "Hard to follow, far too much jargon",
        "Mixed up Austria and Australia",
    ),
    Pattern(
        "incorrect",
        rf"^the (?:[a-z]+ ){{0,2}}{_OF_THE_WORLD}(?: (?:of|in|for|from|at) (?:[a-z0-9]+ ?){{1,5}}?)?"
        r" (?:is|was|are|were) (?:[a-z0-9]+ ?){1,5}(?:[.,;:]|$)"
        r"|[.,;:] (?:it|(?:the )?(?:right |correct )?(?:answer|result|number|amount|sum|time|year)) (?:is|was|should be|must be)"
        r" (?:(?:about|almost|exactly|only|in) )?[0-9]",
        "states in its first clause what is the case, or gives the right figure in the end",
        "The capital of Vietnam is Hanoi; the other is only the larger city",
        "The date is missing; please add it",
        unless=r"^[^.;:,]* (?:missing|wrong|incorrect|false|not|isnt|wasnt|unclear|vague|off|outdated|old|too|never|given|mentioned"
        r"|explained|shown|listed|cut|left|omitted|broken|irrelevant|hard|confusing|lost|absent|incomplete|unknown|made|invented|badly|poorly|well"
        r"|good|great|fine|nice|ok|okay|right|correct|better|needed)\b|[0-9] (?:words?|paragraphs?|pages?|lines?|sentences?|characters"
        r"|bullets?|points?|items?|steps?)\b",
    ),
    Pattern(
        "misunderstood",
        _phrases(
            rf"{_NOT} {_ADVERBS}(?:answer(?:ed|ing)?|address(?:ed|ing)?|respond to|understand|understood|get|got"
            r"|grasp(?:ed)?|read|reading|listen) (?:to )?(?:my|what|me\b|(?:the|any of the|this|any) (?:actual "
            r"|original |real |whole )?(?:questions?|query|prompt|point|problem|request|joke|context|gist|assignment"
            r"|task))",
            r"(?:miss(?:es|ed|ing)?|beside|besides) the (?:whole |entire |actual )?(?:point|question|mark|boat)",
            r"(?:off|wrong) ?(?:topic|track)|irrelevant|unrelated|side ?track[a-z]*",
            r"(?:on|off on|a) (?:[a-z]+ )?tangents?|wrong (?:tree|end of)|lost in translation|out of scope",
            r"not applicable|doesnt apply|crossed wires|not related",
            r"nothing to do with|not relevant|no relevance",
            r"(?:different|another|unrelated|other) (?:thing|issue|matter|product|person|language|meaning)",
            r"something (?:else|different|completely|entirely)|not my (?:situation|case|problem|setup)",
            r"wrong (?:thing|language|context|product|meaning|sense|kind|framework|os|interpretation|idea"
            r"|operating system|library|tool|game|platform|way|audience|assumption|type of)",
            r"(?:ignor(?:es|ed|ing)|disregard[a-z]*|overlooked) (?:my|what i|everything i|that i|that im"
            r"|the (?:question|prompt|instructions?|constraints?|requirements?|context|fact that (?:i|im|my)))",
            r"(?:told|gave) (?:you|it|sam)",
            r"(?:thought|assum(?:es|ed|ing)|think|thinks) (?:that )?(?:i|im|we|my)",
            r"(?:too|so|it|that|me|things|question|request) literally|dodg(?:es|ed|ing)",
            r"avoid(?:s|ed|ing) (?:the|my) question|evad(?:es|ed)",
            r"side ?step[a-z]*",
            r"i (?:asked|meant|am asking|said|requested|specified|told|already|clearly|specifically|explicitly)",
            r"did you (?:even )?read|pay attention|listen(?:ing)?|(?:my|the|follow(?:ed|ing)?|ignored?) instructions?",
            r"the prompt",
            r"my (?:question|query|prompt|request|constraints?|requirements?|situation|use case|intent|intention)",
            r"answered (?:for|about|as if|a)|instead of [a-z]+ing",
            r"(?:im|i am) (?:on|using|allergic)|as if i (?:was|were|am)|wrong [a-z]+,? (?:i|we|im)",
            r"(?:isnt|not|wasnt) about|i (?:use|dont have|have|live|run) [^.]*(?:not|but|and)",
            r"the (?:gist|intent)|what i (?:asked|wanted|meant|need(?:ed)?)|referring to|reading comprehension",
            r"guess(?:ed)? what i",
            r"i (?:wanted|want|needed|need|was after|was looking for) [^.]*(?:\bnot\b|\binstead\b|\bbut\b|\bgot\b)",
        ),
        "an answer to a question nobody asked",
        "Completely missed the point of the question",
        "Left out the point about taxes",
    ),
    Pattern(
        "incorrect",
        rf"^(?:(?:[a-z0-9]+ ){{0,4}}{_COPULA} )?(?:(?:just|simply|plain|totally|completely|factually"
        r"|medically|flat out|still|is|all|so|very|absolutely|utterly) )*(?:wrong|incorrect|false|inaccurate|untrue"
        r"|not true|isnt true|not correct|isnt correct|nonsense)\b|(?:dont|doesnt|didnt) add up\b",
        "opens with the verdict, whatever the details that follow",
        "Wrong, it forgot to carry the one",
        "Forgot to say that the premise is wrong",
    ),
    Pattern(
        "incomplete",
        _phrases(
            r"in ?compl[a-z]*|missing|(?:left|leaves?|leaving|cut|cuts) (?:[a-z0-9]+ ){1,5}(?:out|off)|unexplained",
            r"miss(?:es|ed)|lef?t out|leav(?:es|ing) out|leaves (?:me|us|you|the)|omit[a-z]*|omission|forg[eo]t[a-z]*",
            r"skip[a-z]*|skim[a-z]*|overlook[a-z]*|neglect[a-z]*|ignor(?:es|ed|ing)|gloss(?:es|ed) over",
            r"left off|unfinished|unanswered|truncated|cuts? off|abrupt[a-z]*",
            r"(?:ends?|ended|breaks off|in) (?:in )?the middle of|mid ?sentence|half ?way|incomplet",
            r"only (?:[a-z]+ )?(?:mention|list|cover|give|explain|show|talk|address|answer|name|describe|consider"
            r"|include|discuss|deal|tell|say|work|appl|look|focus)[a-z]*",
            r"only (?:[a-z]+ )?(?:gave|said|told|spoke|one|half|part|for|about)",
            r"just (?:one|half|part|the first|a list|a link|the code)|none of the",
            r"nothing (?:about|on|regarding|for|is said|concrete|specific)|not a (?:word|single)",
            rf"{_NOT} {_ADVERBS}(?:mention|cover|explain|includ|say|talk|discuss|address|list|describ|give|provid"
            r"|show|consider|tell|touch|go (?:into|far|deep)|elaborat|finish|account|handl|specif|add|stat(?:e|ed|es"
            r"|ing)\b|note|warn|answer|cite|compare|point out|deal|demonstrat|define|suggest|offer|name|complete"
            r"|justif|detail|quantif|contain|bring up)[a-z]*",
            r"no (?:[a-z]+ )?(?:mention|explanations?|examples?|sources?|details?|reasons?|context|word|references?"
            r"|discussion|steps|citations?|instructions|conclusion|info[a-z]*|code|evidence|warning|comparison"
            r"|handling|units|numbers|reasoning|caveats?)",
            r"lack[a-z]*|absent|nowhere",
            r"should (?:also|at least|mention|include|have (?:also )?(?:mention|includ|cover|list|explain|add|said"
            r"|discuss|warn|given|asked|told)[a-z]*)",
            r"could (?:also|have also|have mention[a-z]*|do with|use (?:a|an|some|more))",
            r"there (?:are|is|were) (?:also|more|other|several|many|another|at least)|theres (?:more|another|also)",
            r"worth (?:mentioning|adding|noting)|and the rest",
            r"but (?:never|not) the (?:why|how|what|rest|other|reasons?)",
            r"more (?:[a-z]+ )?(?:details?|depth|examples?|info[a-z]*|context|explanation|options|ways|thorough"
            r"|specifics?|complete|than one|to it|background|steps|concrete)",
            r"not enough|insufficient[a-z]*|(?:isnt|wasnt) enough|not (?:[a-z]+ )?(?:thorough|complete|exhaustive)",
            r"too (?:[a-z]+ )?(?:short|brief|shallow|superficial|general|generic|basic|simplistic|thin|little|few"
            r"|high level|narrow|limited)",
            r"superficial|shallow|generic|over ?simpl[a-z]*|partial(?:ly)?",
            r"half (?:the|of|an|a|baked|way|finished|answer|assed)",
            r"stop(?:s|ped) (?:mid|half|in the middle|before|short|after|at|too)|what (?:about|if|happens)",
            r"where (?:is|are|s) (?:the|my)|wheres",
            r"needs (?:an?|more|some|to (?:mention|include|cover|explain|say|add)) ",
            r"but (?:why|how|what|which|where|when|who)|(?:good|great|nice|ok|okay) start|as far as it goes",
            r"add (?:a|an|the|some|that|more)",
            r"expand[a-z]*|elaborate|gaps?|barely|hardly (?:any|mentions?|explains?)|scratch(?:es|ed)? the surface",
            r"one sided|the rest|bare ?bones|thorough|in depth|lazy|more to (?:say|it)|doesnt go|edge cases?",
            r"corner cases?|stub|placeholder|todos?|cursory|sketchy|light on|left hanging|unaddressed|unmentioned",
            r"not covered",
            r"(?:one|two|three|four|[0-9]+) (?:out )?of (?:the |my )?(?:two|three|four|five|six|seven|eight|nine|ten"
            r"|[0-9]+)",
            r"but not (?:who|what|where|when|how|why|the)|downsides?|drawbacks?|special cases?|to be continued",
            r"(?:but|and|with) no [a-z]+|no [a-z]+ (?:advice|given|provided|included|shown|listed|at all)",
            r"without (?:any|an?|the|saying|telling|giving|stating)",
            r"another (?:way|option|method|reason)|other (?:ways|options|methods|reasons|causes)",
            r"is that (?:all|it)|what else|left me wondering|(?:and|but) then what|information (?:on|about)",
        ),
        "something that belongs in the answer is not there",
        "Doesn't mention the licence",
        "The licence it names is the wrong one",
    ),
    Pattern(
        "incorrect",
        _phrases(
            r"wr[o0]ng(?:ly)?|worng|incor+ect(?:ly)?|false(?:hood)?|untrue|inac+ura[a-z]*|mistaken?(?:ly)?|mistakes?",
            r"errors?|erroneous[a-z]*",
            r"(?:not|isnt|arent|wasnt|werent|never|hardly|far from|nowhere near|doesnt look) (?:[a-z]+ )?(?:true"
            r"|correct|right|accurate|valid|the case|possible)",
            r"mis ?(?:calculat|comput|count|quot|attribut|lead|inform|spell|spelt|stat|identif|represent|translat"
            r"|label|nam|dat)[a-z]*",
            r"calculat[a-z]*|maths?|arithmetic|nonsense|bull ?(?:shit|crap)?|bs|nope|no way|lies?|lied|myth",
            r"misconception|contradict[a-z]*",
            r"inconsistent[a-z]*|invalid|flawed|revers(?:ed|es)|factual(?:ly)?|fact check|debunked|typos?|spelling",
            r"spelled|grammar|grammatical|mistranslat[a-z]*|off by|is off|are off|way off",
            r"bad (?:advice|info[a-z]*|math|data)|dangerous|not how",
            r"the (?:correct|right|real|true) [a-z]+|opposite|other way (?:round|around)|over ?estimat[a-z]*",
            r"under ?estimat[a-z]*|exaggerat[a-z]*|disproven|doesnt (?:hold|follow|mean)|cant be|impossible",
            r"^(?:[a-z]+,? )?no[,.!]+ ?[a-z]*",
        ),
        "what it says is not so",
        "The boiling point is wrong",
        "I like mine better",
    ),
    Pattern(
        "outdated",
        _phrases(r"currently|today|now|this year|version [0-9.]+|updated?s?|upgraded?|older|newer"),
        "an unspecific mention of time or version",
        "In version 5 it sits under Settings",
        "It sits under Settings",
    ),
    Pattern(
        "code_error",
        _phrases(
            r"code|function|regex|loop|variables?|query|sql|script|import|array|pointer|async|await|import|css|html",
            r"selector|compiler|program|bash|command|unit test|javascript|typescript|boolean|string|integer|int|dict",
            r"stdout|docker|npm|pip|git|tuple|method|attribute|class|object|decorator|thread|callback|endpoint|api",
            r"database|schema|lambda|exception|recursive|iterat[a-z]*|runtime|clicked|indexe?[sd]?|compile",
        ),
        "an unspecific complaint about code",
        "The regex also matches empty strings",
        "The poem also rhymes",
    ),
    Pattern(
        "format",
        _phrases(
            r"json|csv|yaml|xml|tsv|tables?|columns?|paragraphs?|headers?|links|font|sections?|styled?",
            r"numbered|structured?|presentation|greeting|signature|subject line|page|pages|image|screenshot|quotes",
        ),
        "an unspecific complaint about the shape",
        "Output must be CSV",
        "Output must be larger",
    ),
    Pattern(
        "tone",
        _phrases(
            r"kind(?:ness|ly)|nicer?|manners?|voice|vibes?|feelings?|mood|professional|formal|casual|personality",
            r"angry|upset",
        ),
        "an unspecific complaint about the manner",
        "A little kindness would help",
        "A little salt would help",
    ),
    Pattern(
        "verbose",
        _phrases(r"long$|length$|brief|words|summary|summari[sz]e|extraneous|essentials?"),
        "an unspecific complaint about the length",
        "Stick to the essentials",
        "The river is 300 km long and wide",
    ),
    Pattern(
        "unclear",
        _phrases(
            r"explanations?|understand|meaning|sense|explain|explained|sentence|reads|reader|readable|readability",
        ),
        "an unspecific complaint about the explanation",
        "Improve the explanation",
        "Improve the weather",
    ),
    Pattern(
        "misunderstood",
        _phrases(
            r"(?:i|we) (?:wanted|needed|want|need|asked|said)|question|asked|requested|context|relevan[a-z]+|topic",
            r"intent|(?:you|it|sam) (?:gave|told|showed) me",
        ),
        "an unspecific mention of what was asked",
        "You translated it, I wanted advice on it",
        "You translated it well",
    ),
    Pattern(
        "incomplete",
        rf"^(?:(?:the|your|sams|its|this|that|an|a|my|good|nice|great|okay|ok|decent|fine) )*(?:{_ABOUT_THE_ANSWER})(?: [a-z]+){{0,3}}"
        rf" {_COPULA_OR_HAS} (?:[a-z0-9,]+ )*(?:only|just|also|more|too|both|all|other|another|every|rest|needed|missing|nice|better"
        r"|good|great|okay|ok|fine|as well|alright|right|correct)\b",
        "says of the answer itself that there is only so much of it",
        "The list is only about European rivers",
        "Toronto is only the better known city",
    ),
    Pattern(
        "incorrect",
        rf"^(?:[a-z0-9]+,? ){{1,5}}{_COPULA_OR_HAS} (?:(?:actually|really|in fact) )?(?:(?:only|just|also|merely|both|all|more|too|as well)"
        r"\b|[a-z0-9]+ (?:[a-z0-9,]+ )*(?:only|also|as well|too|more|than|other|another|all|every|both|rest|included?)\b)",
        "states a fact of the world in its first sentence; that it is `only` so or `also` so asks for no more",
        "Toronto is only the better known city",
        "Prices also need a mention",
    ),
    Pattern(
        "incomplete",
        _phrases(
            r"also|as well|too$|needs|wish|would (?:be|have been|like|love|help)[a-z ]*|only|just one|more|other",
            r"another|examples?|details?|depth|alternatives?|options?|sources?|references?|additional(?:ly)?|further",
            r"both|all|rest|every|remaining|include[sd]?|including|risks?|limitations?|exceptions?|nuances?|caveats?",
            r"aspects?|mention(?:ed)?|add(?:ed)?|cover",
        ),
        "asks for more without saying that something is missing",
        "You can also take the bus",
        "You take the bus",
    ),
    Pattern(
        "incorrect",
        _phrases(
            r"should (?:be|have been|say|read)|supposed to be|ought to be|actual(?:ly)?|in fact|facts?|rather than",
            r"instead of",
            r"(?:sam|you|it|answer|response|bot|which|ai|assistant) (?:said|says|claims?|claimed|wrote|states|stated"
            r"|told|put|used|uses|calls|called|gave|gives|thinks|listed|picked|named)",
            r"sums? (?:to|up)|adds? up to|totals?|percent(?:ages?)?|ridiculous|absurd|translation|harmful|bad for",
            r"risky|unsafe|silly|makes? you",
        ),
        "sets something against what the answer said",
        "It should be 42",
        "I like mine better",
    ),
    Pattern(
        "other",
        _phrases(
            r"(?:expected|deserve) (?:more|better)|disappoint[a-z]*|preference|prefer(?:s|red)?|favou?rite",
            r"personal(?:ly)?|because",
            r"^(?:i|im|ive|id|mine|my|see|here|this is (?:how|my|what|the way)|test|none|na|n a|hi|hello|ok|okay"
            r"|just|please|fixed|edited|thanks|thank you|whatever|nothing|dunno|idk|no [a-z]+)",
            r"(?:not|isnt|wasnt|arent) (?:very |really |that |so |too |particularly |at all |as )?(?:helpful|useful"
            r"|good|great|ideal|sure|bad|nice|perfect|happy|impressed|best|satisf[a-z]+|my)",
            r"better|useless|terrible|awful|garbage|rubbish|trash|crap|poor|bad|sucks|suck|fine|okay|ok|good enough",
            r"works for me|as is",
        ),
        "a verdict or remark that names no error",
        "Not very helpful",
        "Whales are not fish",
    ),
    Pattern(
        "incorrect",
        r"\b(?:not|isnt|arent|wasnt|werent) (?:[a-z0-9]+ ){0,3}[a-z0-9]+[.!]*$"
        r"|\b(?:is|was|are|were|in|by|has|have|its|equals|on|from)\b[^.!?]*,? not "
        rf"|^[a-z0-9 ,.]+ {_FACT} [a-z0-9]+",
        "states the fact that the answer got wrong",
        "The capital of Australia is Canberra, not Sydney",
        "Canberra, lovely place",
    ),
)
