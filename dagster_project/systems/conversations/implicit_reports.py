"""Messages that report what is wrong with the response before them, without a word like "wrong" (rules C2, C3).

What was tried and fails, what the output looks like, what other sources say, how the text sounds, what is the matter with a
proposal. They follow the complaints of `implicit_patterns.py`. Most are plain statements, and a statement is an objection only
where it speaks of the response; so a question, or praise beside it, stops them.
"""

from dagster_project.systems.conversations.implicit_rules import (
    CONFIRM,
    FAILED_TO,
    HAS_CODE,
    MORE,
    NOT_OPEN,
    NOTHING,
    OFFER,
    PROPOSED,
    SERVICE,
    SHORT,
    STATEMENT,
    YES_NO,
    Rule,
    clause,
    either,
    opening,
    words,
)

_SAID = (NOTHING, CONFIRM, OFFER)  # the response stated or proposed something
_SAID_OR_DONE = (NOTHING, CONFIRM, OFFER, SERVICE, MORE)

_CODE = "How do I list the files in Python?"
_LISTS = "Call `os.listdir()`, which returns the names."
_MAIL = "Write an email to my landlord about the heating"
_DRAFT = "Dear Sir, I trust this message finds you in the best of health."
_SHOES = "Find me some running shoes"
_OFFERS = "The Harrier 3 costs 90 euros."

_ASKS_OR_PRAISES = either(
    r"\?",
    words(
        r"(?:can|could|would|will) (?:you|i|we)|thanks|thank you|great|awesome|perfect|good|nice|cool|fine|love|loved"
        r"|wow|interesting|amazing|how do|how to|what if|good to know|glad|happy|excited|please explain|lol i like"
    ),
)
_OUTPUT = (
    r"(?:returns?|prints?|gives?|outputs?|shows?|displays?|produces?|match(?:es)?|catch(?:es)?|deletes?"
    r"|removes?|changes?"
    r"|includes?|selects?|counts?|adds?|drops?|skips?|keeps?|loops?|exits?|hangs?|freezes?|loads?|runs?|opens?"
    r"|sorts?|loses?)"
)
_NOTHING = (
    r"(?:nothing|none|null|nil|nan|undefined|false|empty|blank|an? (?:empty|blank|weird|strange|different|negative)"
    r"|zero|0|garbage|no (?:rows|results|output|data|records)|the (?:same|wrong|old|whole|entire|opposite)"
    r"|only (?:the |one |an? )?\w+|everything|duplicates?|(?:an? |some )?(?:\w+ )?(?:warnings?|errors?|exceptions?))"
)
_FAILS = (
    r"(?:fails|failed|breaks|broke|crashes|crashed|hangs|freezes|froze|errors out|blows up|chokes|times out|timed out)"
)
_BAD_TASTE = (
    r"(?:stiff|robotic|cheesy|corny|generic|salesy|wordy|boring|stuffy|cringe|cringey|cringy|repetitive|verbose|flowery"
    r"|pompous|pushy|bland|awkward|clunky|tacky|childish|lame|clich|clichd|cliche|cliched|soulless|lifeless|preachy"
    r"|condescending|patronizing|patronising|melodramatic|over the top|uninspired|forgettable|unnatural"
    r"|impersonal|rambling)"
)
_INTENSELY = (
    r"(?:(?:so|very|really|way|a bit|kind of|kinda|too|super|pretty|rather|quite|a little|just|all|still"
    r"|overly|sort of) )*"
)
_MACHINE = (
    r"(?:an? )?(?:\w+ )?(?:robots?|bots?|ai|machines?|chatgpt|computer|template|textbook|lawyers?|brochure"
    r"|press release"
    r"|commercial|ads?|advert|advertisement|sales pitch|infomercial|spam|scam|google translate|translation|form letter"
    r"|greeting card|linkedin post|wikipedia|legal document|manual|essay)"
)
_COMPARATIVE = (
    r"(?:cheaper|newer|closer|nearer|later|earlier|better|smaller|bigger|larger|shorter|longer|lighter|darker|simpler"
    r"|fancier|classier|nicer|calmer|quieter|louder|faster|slower|warmer|healthier|spicier|easier|harder"
    r"|funnier|catchier"
    r"|stronger|safer|older|younger|quicker|tastier|sportier|cooler|fresher|softer|sturdier|(?:more|less) \w+"
    r"|a (?:bit|little) \w+er"
    r"|under \$?\d+|below \$?\d+)"
)
_GONE = (
    r"(?:already |all |now |currently |permanently |completely |always )*(?:taken|sold out|out of stock|fully booked"
    r"|booked (?:up|out)|unavailable|not available|discontinued|closed (?:down|for good|permanently|now|on"
    r"|that)|expired"
    r"|gone|trademarked|in use)"
)

REPORTS = (
    Rule(
        "explicit:still_fails",
        either(
            clause(
                r"(?:it|this|that|they|and|which|the \w+) still (?:\w+s|\w+ing|wont|cant|has|have|the same|too|slow|no|not)",
                r"still (?:getting|get|seeing|see|having|showing|says|said|no|not|the same|the|slow|broken|failing|fails"
                r"|crashing|too|stuck|takes|taking|happening|happens|doesnt|wont|cant|throws|throwing|loops|returns|[0-9]+)",
                r"(?:the |exact )*same (?:thing|error|problem|issue|result|output|mistake|behaviou?r|story)s?"
                r"(?: happens| happened| here| again| as before| still| occurs| for me| persists| even| with this| when"
                r"| now)?"
                r"(?:[.!,]|$| (?:even|with|after|when|on|in))",
            ),
            words(
                r"(?:didnt|doesnt|does not|not) (?:\w+ )?(?:make|made|making) (?:any|a|much) difference|(?:made"
                r"|makes) no difference",
                r"(?:has|had|with) no effect|no (?:difference|improvement|effect)[.!]*$",
            ),
        ),
        "what was suggested changed nothing",
        "still seeing hidden files",
        "Still great after all these years",
        (*NOT_OPEN, MORE),
        unless=either(
            _ASKS_OR_PRAISES,
            words(
                r"still (?:waiting|raining|thinking|deciding|there|open|hungry|learning|have (?:time|to)|looks|sounds)"
            ),
        ),
        query=_CODE,
        response=_LISTS,
        given=STATEMENT,
    ),
    Rule(
        "explicit:tried_it",
        clause(
            r"(?:i |ive |i have |we |just |already |i just |i already |ok i |yeah i )?(?:tried|ran|did|used|pasted"
            r"|installed|followed|restarted"
            r"|applied|typed|entered|clicked|copied|ran) (?:it|that|this|them|those|your|the|all|both"
            r"|exactly)\b[^?]{0,60}?"
            r"(?:anyway|still|but|nothing|same|error|errors|fails?|failed|empty|crash(?:es|ed)?|stuck|broke|breaks"
            r"|different"
            r"|no (?:luck|change|effect|difference|result|success|output)|not|doesnt|didnt|wont|isnt|cant|wrong|twice"
            r"|before|already)"
        ),
        "what was suggested was tried, without success",
        "I ran it but the list is empty",
        "I tried that and it works now",
        (*NOT_OPEN, MORE),
        unless=either(_ASKS_OR_PRAISES, words(r"works?|worked|solved|fixed")),
        query=_CODE,
        response=_LISTS,
        counter_response=_LISTS,
        given=STATEMENT,
    ),
    Rule(
        "explicit:reports_its_output",
        either(
            clause(
                r"(?:it|this|that|the (?:code|script|function|query|regex|command|formula|output|result)|your \w+|now it"
                rf"|which)(?: just| now| only| also| always| never| actually| simply| sometimes)* {_OUTPUT}"
                rf"(?: me| back| out| up)? {_NOTHING}",
                rf"(?:it|this|that|the (?:code|script|function|query|regex|command|formula)|your \w+)"
                rf" (?:also|always|never|wrongly|accidentally) {_OUTPUT}(?: \w+){{0,4}}[.!]*$",
                rf"(?:it |this |that |the \w+ |your \w+ |but |and )?{_FAILS} (?:on|for|with|when|if|in|at|as soon|after"
                r"|every|immediately)",
                r"(?:returns?|prints?|gives?(?: me)?|outputs?|shows?) (?:nothing|none|null|nan|undefined|an? (?:empty"
                r"|error)"
                r"|garbage|no (?:rows|results|output)|the wrong)",
                r"(?:i )?(?:get|got|getting|im getting) (?:an? )?(?:\w+ ){0,2}(?:error|exception|warning|traceback|nothing"
                r"|none"
                r"|undefined|nan|\d{3})(?: now| again| instead| here| on| from| when| for|[.!,:]|$)",
                r"(?:nothing|no (?:email|mail|message|file|output|results?|one|confirmation|link)) (?:arrived|came"
                r"|showed up|appears?"
                r"|appeared|happens|happened|is there|was sent|got|works|comes)",
                r"(?:the )?(?:output|result|order|total|sum|answer|numbers?|formatting|layout|link|page|file|table) (?:is"
                r"|are|comes out"
                r"|looks) (?:\w+ )?(?:empty|blank|different|in (?:a|the) (?:different|wrong)|reversed|off|messed up|broken"
                r"|all over"
                r"|unreadable|cut off|garbled|gone|missing|negative|blurry)",
            ),
        ),
        "what the code or the action does, which is not what it should do",
        "it prints an empty list",
        "Does it print an empty list if the folder is empty?",
        (*NOT_OPEN, MORE),
        unless=either(
            r"\?",
            words(
                r"(?:can|could) you (?:explain|tell)|how do i|how to|my (?:code|script|app|program|site|laptop|phone"
                r"|printer)"
                r"|thanks|no errors?|whats|anymore|no longer"
            ),
        ),
        query=_CODE,
        response=_LISTS,
        counter_response=_LISTS,
        given=STATEMENT,
    ),
    Rule(
        "explicit:reports_its_output",
        either(
            opening(
                r"(?:it|this|that|they|which|your \w+|the (?:code|script|function|query|regex|command|formula|first one"
                r"|second one))"
                r"(?: just| also| really| still)? (?:doesnt|dont|didnt|wont)"
                r" (?:\w+ )?(?:keep|return|handle|match|include|show|print|parse|load|open|save|sort|update|change|start"
                r"|stop|cover"
                r"|mention|contain|support|recogni[sz]e|accept|respond|rhyme|follow|count|cent(?:er|re)|scale|account"
                r"|consider|apply"
                r"|install|connect|build|delete|remove|render|display|align|preserve|respect|add up|translate|capture"
                r"|reflect|fit)",
            ),
            r"^(?:still |just |also |but |and )*(?:doesnt|didnt|wont) (?:even |really |actually |still )?[a-z]+\b",
            words(
                r"(?:article|text|book|docs?|source|report|email|contract|manual) (?:never|doesnt|didnt|does not"
                r"|says nothing)"
            ),
        ),
        "what it does not do, or does not say",
        "this doesn't keep the names sorted",
        "Doesn't matter, thanks",
        (*NOT_OPEN, MORE),
        unless=either(
            _ASKS_OR_PRAISES, words(r"(?:doesnt|didnt|dont|wont) (?:matter|hurt|bother|take long|mind|surprise)")
        ),
        query=_CODE,
        response=_LISTS,
        given=STATEMENT,
    ),
    Rule(
        "explicit:fixed_but_broke",
        words(
            r"(?:fixed|fixes|works?|worked|solved|solves|helped|helps|better|closer|close|good|nice|ok|okay|right|fine"
            r"|almost|great)\b[^.?!]{0,60}"
            r"\b(?:but|except|only|though) (?:now |it |that |this |the \w+ |its |then |they |i |you |my "
            r"|for )*(?:broke|breaks|broken|isnt|not|doesnt"
            r"|didnt|dont|wont|cant|still|fails?|failed|lost|loses|gives?|throws?|get an?|wrong|missing|too"
            r"|never|need it|wanted"
            r"|asked|should|forgot|missed|in the wrong)",
        ),
        "one part is right, another is not",
        "The path works but the filter doesn't",
        "It works but is it fast?",
        _SAID_OR_DONE,
        unless=either(
            r"\?",
            words(
                r"(?:dont|not) (?:worry|bad|sure|yet|now|today)|(?:can|could) (?:you|i)|thanks|thank you|not only|too bad"
            ),
        ),
        query=_CODE,
        response=_LISTS,
        given=STATEMENT,
    ),
    Rule(
        "explicit:pasted_error",
        either(
            r"^(?:[a-z0-9_./-]{1,30}: ?){0,3}(?:traceback|permission denied|command not found|no such file"
            r"|access denied|fatal:|segmentation fault"
            r"|uncaught|unhandled|error[: ]|err[: ]|syntax error|[a-z_.]*(?:error|exception): ?|panic:|exit code"
            r"|cannot (?:find|read|import|open)"
            r"|module not found|undefined (?:is not|reference|variable)|unknown (?:predicate|option|command|column"
            r"|argument|flag)"
            r"|invalid (?:option|syntax|argument|token|regex)|unrecogni[sz]ed|unexpected (?:token|indent|end|eof)"
            r"|illegal option"
            r"|(?:\w+ ){0,4}(?:is )?not (?:defined|found|recogni[sz]ed|a function|callable|subscriptable)[.! ]*$)",
            r"^(?:\w+ ){0,3}(?:denied|not found|timed out|refused)[.! ]*$",
        ),
        "an error and nothing else, after code",
        "NameError: name 'os' is not defined",
        "How do I catch a NameError?",
        (*NOT_OPEN, MORE),
        _LISTS,
        _LISTS,
        r"\?|\b(?:how (?:do|can|to)|what (?:is|does|are)|explain|write|mean)\b",
        HAS_CODE,
        _CODE,
    ),
    Rule(
        "explicit:doubts_it",
        either(
            opening(
                r"(?:im |i am )?(?:pretty|fairly|quite|almost|very|absolutely) (?:sure|certain|positive) (?:that |its "
                r"|thats |it |that |the |you |he |she"
                r" |there |this |they |\w+ (?:is|was|isnt|wasnt) )",
                r"(?:hm+ |well )?i (?:always |really )?(?:thought|was told|believed|could have sworn|couldve sworn"
                r"|was taught"
                r"|was under the impression) (?:that )?(?:it|he|she|they|this|that|the \w+|you|[a-z]+) (?:was|were|is|had"
                r"|did|wasnt|said|couldnt|didnt)",
                r"i (?:highly |seriously |kind of |kinda )?doubt (?:it|that|this|he|she|they|its)",
                r"(?:that|this|it) (?:sounds|seems|looks|feels) (?:\w+ )?(?:off|fishy|suspicious|wrong|dubious|unlikely"
                r"|high|low)",
                r"(?:surely|really not|not really true|not what)",
            ),
            r"^(?:\w+ ){0,3}\w+\? (?:really|seriously|are you sure|you sure|sure|huh|since when)[?! .]*$",
            words(
                r"since when (?:is|are|does|do|did|was)|says who|according to (?:who|whom)|thats news to me|citation needed"
            ),
            r"\bi (?:cant|couldnt|dont) (?:find|see) (?:it|that|this|any(?: \w+)?|the \w+|a \w+|those|them)"
            r"(?: \w+)? (?:in|on|at|there|anywhere)\b",
        ),
        "the user believes something else, or does not find what it says",
        "I was told it was the town hall",
        "I thought it would be harder, great!",
        _SAID_OR_DONE,
        unless=either(_ASKS_OR_PRAISES.removeprefix(r"(?:\?)|"), r"\b(?:how|why|which)\b[^.!]*\?"),
    ),
    Rule(
        "explicit:cites_another_source",
        clause(
            r"(?:wikipedia|google|google maps|the (?:internet|docs?|documentation|manual|website|official \w+|wiki"
            r"|book|map|paper|article|dictionary)"
            r"|my (?:book|teacher|professor|doctor|textbook|source|map|notes|calculator|friend|dictionary|phone|app"
            r"|bank|statement)|every(?:one|body)"
            r"|every \w+|all (?:the )?(?:other )?(?:sources|sites)|other (?:sources|sites)|their (?:website|site)|imdb"
            r"|the \w+ (?:page|website|site))"
            r" (?:clearly |actually |also )?(?:says?|said|claims?|shows?|lists?|states?|disagrees?|told me|gives|gets"
            r"|has)"
        ),
        "something else is said elsewhere",
        "My map shows the church as the tallest",
        "My doctor says I should rest, how long?",
        _SAID,
        unless=either(_ASKS_OR_PRAISES, words(r"so|i should|to (?:take|use|do)|says? (?:hi|hello|thanks)")),
        given=STATEMENT,
    ),
    Rule(
        "explicit:should_be",
        clause(
            r"(?:(?:i think|i believe|no|almost|close|hm+)[,. ]+(?:but )?)?(?:it|that|this|there|the \w+|the \w+ \w+"
            r"|they) "
            r"(?:should|was supposed to|were supposed to|is supposed to|ought to) (?:really |actually |only )?(?:be"
            r"|have|say|return|include|mention|read|start|end|use)"
        ),
        "the user says what it should be",
        "Hm, it should be the church",
        "It should be fun",
        _SAID_OR_DONE,
        unless=either(
            _ASKS_OR_PRAISES,
            words(
                r"(?:should|to) be (?:fun|ok|okay|fine|enough|easy|interesting|all|alright|there|here|able|back|home|used"
                r"|banned|legal|illegal|more)"
            ),
        ),
        given=STATEMENT,
    ),
    Rule(
        "explicit:objects",
        r"^(?:(?:hm+|um+|well|no|wait|hey|sorry|ugh)[,. ]+)*but(?: [a-z0-9]+){3}",
        "a statement that begins with but",
        "but the church is taller",
        "but how tall is it",
        (NOTHING, CONFIRM),
        unless=either(
            _ASKS_OR_PRAISES,
            words(
                r"but (?:how|what|why|who|when|where|which|is|are|does|do|did|can|could|should|would|will|if|ok|okay|yes"
                r"|yeah|i (?:like|love|guess|agree|want to"
                r"|think|still|am|do)|im|it works|maybe|first|then|also|now|more)"
            ),
        ),
        given=STATEMENT,
    ),
    Rule(
        "explicit:bad_taste",
        either(
            opening(
                rf"{_INTENSELY}{_BAD_TASTE}(?: and \w+)?(?:[.,!;]|$)",
                r"(?:it|this|that|they|the (?:tone|wording|style|text|ending|opening|title|first \w+|last \w+|whole thing)"
                r"|your \w+|these|those|its|thats|theyre)"
                r"(?: is| are| was| sounds?| reads?| feels?| looks?| comes across(?: as)?"
                rf"| seems?)? {_INTENSELY}{_BAD_TASTE}\b",
                r"(?:it|this|that|they|the \w+|which|and|still)? ?(?:just |really |kind of |kinda |still )?(?:sounds?"
                rf"|reads?|feels?|looks?) (?:\w+ )?like (?:{_MACHINE}|(?:it was|something) (?:written|made|out of)"
                rf"|(?:an? |my )?\w+ (?:wrote|made) (?:it|this|that))",
                r"(?:its|thats|this is|that is|these are|those are|theyre|it is) (?:all |just |only |basically |literally "
                r"|mostly |nothing but )+(?:an? |the |some )?"
                r"(?:\w+ )?(?:buzzwords?|fluff|filler|clich\w*|jargon|marketing|waffle|platitudes|corporate|generic"
                r"|word salad|blah|repetition|word for word|shell|list|summary|template|copy)",
                r"(?:nobody|no one|no \w+) (?:would ever |would |ever |really |actually )?(?:talks?|says?|writes?|speaks?"
                r"|said)(?: like)? (?:that|this|it)",
            ),
            words(
                rf"(?:a bit |a little |much |way )?less (?:\w+ )?{_BAD_TASTE}",
                r"tone (?:it|that|this) down|tone down the|dial (?:it|that|this) (?:back|down)|cut the (?:fluff|crap"
                r"|jargon|waffle|bs)"
                r"|enough with the|spare me|lose the (?:jargon|buzzwords|emojis|exclamation)",
                r"(?:rewrite|redo|rephrase|reword|write) (?:it|this|that)[.,;:!]? (?:and |but |again |please "
                r"|this time )*(?:dont|without|no|stop|avoid|less)",
                r"(?:whos|who is) going to (?:read|believe|remember) (?:that|this|it|all)|put(?:s|ting)? me to sleep"
                r"|makes? me cringe",
            ),
        ),
        "how it is written is not liked",
        "it reads like a form letter",
        "Why do form letters sound stiff?",
        (*NOT_OPEN, MORE),
        _DRAFT,
        _DRAFT,
        either(
            words(
                r"i (?:love|like)|love it|perfect|(?:in a|a) good way|thanks|thank you|awesome|great"
                r"|not (?:\w+ )?(?:generic|boring|cheesy|stiff)"
            ),
            r"\b(?:why|what|how|which)\b[^.!]*\?",
        ),
        query=_MAIL,
    ),
    Rule(
        "explicit:never_said",
        either(
            clause(
                r"i never (?:said|mentioned|told|asked|wrote|agreed|wanted|requested|booked|ordered) (?:\w+ ?)+",
                r"(?:thats|that is|that was|this is) not (?:the|my|our) (?:\w+ ){1,4}(?:i|we) (?:gave|sent|told|asked"
                r"|ordered|meant|wanted|booked|typed|said)",
                r"(?:thats|this is|its) not (?:my|our) \w+[.!]*$",
            ),
            r"[,.!] ?remember[?! .]*$",
            words(r"that was the (?:whole |entire |very )?(?:point|question|idea)|the whole point (?:is|was)"),
        ),
        "it has something the user did not say, or forgets something the user said",
        "I never mentioned a leak",
        "I never said that to her, should I?",
        (*NOT_OPEN, MORE),
        _DRAFT,
        _DRAFT,
        r"[a-z] (?:can|could|should|would|do|does|is|what|how|why)\b[^.!]*\?|\bi never (?:said|told) (?:that "
        r"|this )?to (?:him|her|them)|\b(?:thanks|thank you)\b",
        query=_MAIL,
    ),
    Rule(
        "explicit:but_without",
        words(
            r"but (?:please |this time |maybe |now )*(?:without (?:the|any|all)|not (?:with|in|so)|no \w+ (?:please"
            r"|this time)|leave out|minus the)"
        ),
        "what it has in it is not wanted",
        "same but without the greeting",
        "is it polite without the greeting",
        _SAID,
        _DRAFT,
        _DRAFT,
        r"\?",
        query=_MAIL,
        given=STATEMENT,
    ),
    Rule(
        "explicit:but_without",
        either(
            opening(
                r"(?:theres|there is|there are|it has|this has|that has|it contains|this contains) (?:\w+ ){1,3}in (?:that"
                r"|this|it|there|them)"
            ),
        ),
        "what is in it should not be there",
        "there's butter in that",
        "is there butter in that",
        (NOTHING, OFFER),
        unless=_ASKS_OR_PRAISES,
        query="Give me a vegan cake recipe",
        response="Melt the butter, add flour and sugar.",
        counter_response="Melt the butter, add flour and sugar.",
        given=STATEMENT,
    ),
    Rule(
        "explicit:exasperated",
        either(
            words(
                r"(?:this|that|it) is (?:just |so |beyond |absolutely |getting )*(?:ridiculous|absurd|a joke|frustrating"
                r"|annoying|outrageous|infuriating|laughable|pathetic|insane)",
                r"(?:thats|its|how) (?:just |so |beyond |absolutely )*(?:ridiculous|absurd|frustrating|infuriating"
                r"|laughable|pathetic)",
                r"^(?:ffs|smh|jesus|jesus christ|for (?:gods|fucks|christs) sake|good grief|give me a break"
                r"|oh for \w+ sake|come on|cmon|oh come on)(?: man| now| dude)?(?:[.,!? ]|$)",
            ),
        ),
        "the user loses patience",
        "This is just absurd",
        "Is an absurd price a bargain?",
        unless=words(
            r"(?:ridiculously|insanely)|i love|love it|haha|lol|in a good way|come on (?:in|over|down)|(?:insane"
            r"|ridiculous),? (?:thanks|thank)|good|great|amazing"
        ),
    ),
    Rule(
        "explicit:after_failure",
        opening(
            r"(?:really|seriously|wow|unbelievable|oh great|great|how come|just do it|yes you can|you can"
            r"|of course you can|why not|then what|so what|i know that|sigh|typical|thats insane|hello)[.!? ]*$",
            r"(?:but )?(?:that|it|this) is (?:the|my|our|correct|right|a|an|what)\b",
            r"(?:its|thats) (?:not (?:illegal|dangerous|harmful|a|for)|just|only|for|legal|perfectly|my own)\b",
            r"(?:yes,? )?you (?:do (?:have|know)|did (?:it|that)|were able|can do (?:it|that|this))\b",
            r"(?:i (?:just|only|simply|still) (?:want|need|wanted|needed|asked))\b",
            r"(?:what do you mean|what good|whats the point|then (?:who|what|how))\b",
        ),
        "the user does not take a refusal or a failure",
        "it is my own order",
        "it is my own order",
        response="Sorry, I could not find this order number.",
        counter_response="The number is on the letter.",
        given=FAILED_TO,
        query="Cancel my order 71",
    ),
    Rule(
        "explicit:wants_another",
        either(
            opening(
                r"(?:(?:do you have|have you got|you got|got|is there|are there|show me|find me|give me|maybe|i want"
                r"|id like|how about|what about|try|need|i need|want|something|anything) ?)*"
                r"(?:any ?thing|some ?thing|some|any|ones?|somewhere|some ?place|a|an)?(?: \w+)?(?: that is| thats| a bit"
                rf"| a little| even| much| slightly)* {_COMPARATIVE}(?: one| ones| place| than (?:that|this))?(?: please"
                r"| maybe| though)?[?.! ]*$",
                r"(?:got |have |do you have |is there |maybe |how about |what about )?(?:any ?thing|some ?thing|somewhere"
                r"|some ?place|any|one|ones) (?:\w+ )?"
                r"(?:in the|in a|from|with|without|for|by|on|at|near|under|around|that|like|italian|thai"
                r"|local) [^.?!]{1,40}[?.! ]*$",
                r"(?:do you have|have you got|you got|got|is there|are there|any|how about"
                r"|what about)\b[^.?!]{1,50} instead(?: of (?:that|this|those|these|them|it))?[?.! ]*$",
            ),
            r"(?:^|[.!?,] ?)(?:any )?other \w+ ?\?[ ]*$",
            r"^(?:please )?(?:skip|next|pass|hard pass|next one|skip (?:it|this|that)(?: one)?|next (?:song|track"
            r"|option|idea|suggestion))(?: please)?[.! ]*$",
        ),
        "the user asks for one that is otherwise",
        "Something lighter?",
        "Is it lighter than the old one?",
        NOT_OPEN,
        _OFFERS,
        _OFFERS,
        either(
            r"\b(?:why|explain|mean|thanks|thank you|great|perfect|because|is it|are they|does it)\b",
            r"^(?:and|also|plus|yes|yeah|sure)\b",
        ),
        PROPOSED,
        _SHOES,
    ),
    Rule(
        "explicit:proposal_does_not_suit",
        either(
            opening(
                r"(?:ive |i have |we have |weve |already |i already |i |we )*(?:seen|watched|read|heard|been|played"
                r"|visited|own|tried|had|have) "
                r"(?:it|that|this|them|those|there|all of (?:them|those)|both|all (?:of )?(?:these|those|three))(?: one"
                r"| ones| movie| film| book| place| already| before| twice| both)*(?:[.,!;]|$)",
                r"(?:(?:im|i am|were|we are|shes|hes|she is|he is|my \w+ is|my \w+ are) )?(?:not (?:really |so |that |too "
                r"|much )?(?:into|keen|feeling|big on|fond|convinced|sold)"
                r"|allergic to|sick of|tired of|scared of|afraid of)\b",
                r"(?:i|we|she|he|my \w+) (?:really |just |absolutely )?(?:cant stand|hate|hates|cant have|cant eat"
                r"|dont eat|doesnt eat|dont drink|doesnt like|dont do|dislike|dislikes)\b",
                r"(?:its|thats|theyre|this is|that one is|this one is|that is|it is|they are|both are|all of (?:them"
                rf"|those) are|everything is|those are|the \w+ is|the \w+ (?:one )?is) {_GONE}",
                r"(?:already |all |currently )*(?:taken|sold out|out of stock|fully booked|unavailable|discontinued"
                r"|closed)(?:[.,!]|$| in| by| on| for| already)",
                r"(?:these|those|they) are all\b|theyre all\b|(?:they|it|that place|that one) (?:closed|shut) (?:down|last"
                r"|in|years)",
                r"(?:we|i) (?:had|have had) (?:a )?(?:bad|terrible|horrible|awful|poor) \w+(?: \w+)? (?:there|with|at)",
                r"(?:\w+ ){1,2}(?:gives?|gave) me (?:\w+ )?(?:blisters|headaches?|nightmares|a rash|the creeps|migraines?"
                r"|heartburn)",
                r"(?:way |far |a bit |a little |much |kinda |slightly )?(?:over|above|outside|out of|beyond) (?:my|our"
                r"|the) (?:budget|price range|league|range)",
                r"(?:\w+ )?(?:doesnt|dont|wont) (?:deliver|ship|fit|suit|open|match|go with)\b",
            ),
        ),
        "why what was proposed does not suit",
        "already have those",
        "I have that much money, yes",
        (*NOT_OPEN, MORE),
        _OFFERS,
        _OFFERS,
        either(
            words(
                r"love|loved|thanks|thank you|great|perfect|awesome|yes|sounds|how|which|why|what (?:is|are|about|do)"
                r"|seen it all|not (?:into|feeling) (?:details)|ill take"
            ),
            r"\b(?:is|does|do|are|can|could) (?:it|they|that|this|you|i)\b[^.!]*\?",
        ),
        PROPOSED,
        _SHOES,
    ),
    Rule(
        "explicit:proposal_does_not_suit",
        either(
            opening(
                r"(?:no|nope|nah)[,. ]+(?:but )?(?:i|we|she|he|my \w+) (?:\w+ )?(?:dont|doesnt|didnt|never|hate|hates"
                r"|cant stand|dislike|dislikes)"
                r" (?:really |much |even )?(?:like|liked|care for|enjoy|enjoyed|trust|eat|drink|love|it|that|this|those"
                r"|them|the)",
                r"(?:no|nope|nah)[,. ]+(?:its|thats|theyre|it is|that is|they are|it was|the \w+ (?:is"
                r"|are)) (?:\w+ )?(?:too|ugly|awful|terrible|horrible|overpriced|dirty|noisy|boring|closed|not (?:good"
                r"|nice|what|the|my))",
            ),
        ),
        "a no with a reason that lies in what was proposed",
        "no, I don't trust their beds",
        "no, I don't need a room",
        (SERVICE, YES_NO),
        "The Grand has rooms. Would you like to book one?",
        "The Grand has rooms. Would you like to book one?",
        r"\b(?:need|yet|want|book|right now|anything else)\b",
        SHORT,
        "Find me a hotel in Porto",
    ),
)
