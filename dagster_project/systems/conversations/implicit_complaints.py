"""Messages that complain about the response before them, correct it, or report that it fails (rules C2, C3).

The first record that matches decides, and its `reason` is kept with the decision. A record counts after the endings of a
response it names (`after`): "No." rejects a statement, and answers a question. What refuses a proposal or gives the request
up is in `implicit_refusals`, what accepts in `implicit_acceptance`.
"""

from dagster_project.systems.conversations.implicit_rules import (
    CONFIRM,
    DONT,
    FRIENDLY,
    HAS_CODE,
    MORE,
    NOT,
    NOT_OPEN,
    NOTHING,
    OFFER,
    SERVICE,
    STATEMENT,
    Rule,
    clause,
    either,
    opening,
    words,
)

_IT = r"(?:it|that|this|those|these|they|(?:your|the) (?:\w+ )?(?:answer|response|code|reply|solution|summary|result|output))"
_ITS = rf"(?:its|thats|{_IT} (?:is|was|are|were|seems|looks|sounds|feels)|th(?:is|at) one is|youre|you are|you were)"
_SO = (
    r"(?:(?:just|still|so|very|really|completely|totally|all|also|quite|clearly|kind of|a bit|again|way|pretty|far|even"
    r"|both|much|factually|simply|plain|plainly) )*"
)
_HAVENT = r"(?:didnt|havent|never|dont|wont|arent|werent)"
_GOOD = (
    r"(?:great|good|perfect|fine|ok|okay|fantastic|awesome|right|correct|cool|wonderful|helpful|enough|plenty|nice"
    r"|lovely|amazing|excellent|brilliant)"
)
_WRONG = r"(?:wrong|incorrect|inaccurate|false|untrue|mistaken|not (?:\w+ )?(?:right|correct|true|accurate|the case))"
_ASKED = (
    r"(?:ask(?:ed|ing)?|meant?|want(?:ed)?|need(?:ed)?|sa(?:y|id)|looking|request(?:ed)?|expect(?:ed|ing)?|had in mind)"
)
_SAME = r"same (?:thing|answer|response|error|problem|issue|result|mistake|reply|question)s?"

_CODE, _LISTS = "How do I list the files in Python?", "Call `os.listdir()`, which returns the names."
_ASKS_OR_PRAISES = either(r"\?", words(r"(?:can|could|would|will) (?:you|i|we)|how do|how to|what if", FRIENDLY))


# Said with a "no" or another word of rejection, and rejecting nothing: taken out before the rejections look.
HARMLESS = (
    Rule(
        "harmless",
        either(
            r"^(?:no[,. ]+)?not (?:yet|now|right now|just yet)\b",
            words(
                r"no (?:problems?|prob|worries|worry|rush|hurry|biggie|big deal|doubt|wonder|kidding|complaints?|idea"
                r"|need to (?:worry|apologi[sz]e))",
                r"(?:no|nope|nah) i (?:really |do )?love (?:it|this|that|them)",
                r"(?:no|nope|nah)(?: way)?[,!]? (?:i think )?(?:thats|that is|this is|it is|its|(?:that|it) (?:will|would)"
                r" be|thatll be|(?:this|that|it)"
                rf" (?:was|looks|sounds|works|seems)) {_SO}(?:all|it|everything|{_GOOD})",
                rf"no,? (?:im|i am|were|we are|youre|you are|youve been|you were)(?: \w+)? (?:all set|set|done|satisfied|happy"
                rf"|kind|welcome|{_GOOD})",
                r"no,? nothing (?:else|more|further)|no (?:more |further )?questions",
            ),
        ),
        "a no that is polite or agrees",
        "No problem, thanks!",
        "No, that one is closed.",
    ),
    Rule(
        "harmless",
        words(
            rf"{NOT} (?:that |a |too |at all |so )?(?:bad|shabby|wrong|useless|terrible|a problem|an issue)",
            r"nothing (?:is |was )?wrong|dont (?:get me wrong|worry)|no (?:matter|one|longer)|not only|if not|or not|why not",
            r"(?:cant|couldnt) (?:be better|go wrong|complain|wait|thank you enough|agree more|argue with that)",
            r"(?:whats?|something|anything|why|if|where)(?: \w+){0,3} (?:is |am |was |did |went |go |goes |be |doing )?wrong",
            r"dont (?:need|want|require)(?: \w+)? ?(?:anything|something) else|dont mind",
        ),
        "a word of rejection that is denied, asked about, or part of a set phrase",
        "Not bad at all",
        "That answer is bad",
    ),
    Rule(
        "harmless",
        either(
            r"^(?:(?:ok|okay|great|thanks|now|and|also|then|please|perfect|good|yes|cool|next)[,.! ]+)*(?:(?:can|could"
            r"|would|will) you |i want you to |you can )?(?:please |also |now |just |maybe )*"
            r"(?:add|include|mention|write|state|put|note|insert|append|say|reply|respond|answer|tell (?:him|her|them"
            r"|my \w+|the \w+)|let (?:him|her|them) know|make (?:him|her|them|it) say|end with|start with)"
            r"(?: \w+){0,5}?(?::| that\b| saying\b| why\b| how\b| because\b).*$",
            r"\b(?:this|these|following|translate|proofread|paraphrase|rewrite|correct|edit|grammar|sentence|phrase|title"
            r"|subject|line|text|paragraph|example)(?: \w+){0,2}: .*$",
            r"^(?:(?:now|and|then|also|please|ok) )*(?:translate|proofread|paraphrase|how (?:do|would) (?:you|i) say)\b.*$",
        ),
        "words dictated for a text, or a text to work on",
        "Mention that the food was bad and it's wrong to charge for it",
        "The mention is wrong",
    ),
)

COMPLAINTS = (
    Rule(
        "explicit:not_what_i_asked",
        either(
            words(
                rf"{NOT} (?:at all |really |quite |exactly |even |the \w+ )?(?:what|how|where|who|that) i (?:\w+ )?{_ASKED}",
                rf"i {_HAVENT} (?:even |actually |really )?(?:ask(?:ed)?|sa(?:y|id)|mean|request(?:ed)?) (?:for|about|you|that"
                r"|it|this|any\w*)|not the (?:one|ones|answer|thing|same) i(?: \w+)? \w+|nothing to do with (?:my|what|it|that)"
                r"|opposite of what i|not what i (?:need|want)",
            ),
            clause(
                r"(?:what )?i (?:actually |really )?meant|i was (?:asking|talking about|referring|looking for)|my question (?:is|was)",
                r"i (?:just |only |already |specifically |clearly |literally |also )*(?:asked|told|said) (?:you|about|for|if|how"
                r"|what|to|that|the|no|not|i|im|this|why|where|when|an?|it|my|in)",
                r"i (?:want|wanted|need|needed|asked for)(?: \w+){1,8},? (?:not (?:an?|the|in|for|just|from|to)|(?:and |but )?you"
                r" (?:only )?(?:gave|wrote|sent|used|made))",
                r"i (?:have )?already (?:\w+ )?(?:have|use|own|read|saw|said|told|mentioned|gave|answered|know|knew|tried|did)"
                r"|(?:as|like) i (?:just |already )?(?:said|mentioned|told|asked)",
            ),
        ),
        "the response answered something else, and the user says again what was meant",
        "That's not what I asked for.",
        "What I asked for was in there.",
    ),
    Rule(
        "explicit:misunderstood",
        words(
            r"you (?:\w+ )?(?:misunderst(?:ood|and)|misread|misinterpreted|misheard|got me wrong|dont (?:get|understand))",
            r"(?:missing|missed|miss) (?:the|my) point|thats (?:not the|my) point|youre not (?:listening|getting)|misunderstanding",
            r"(?:do|did|can|are) you (?:even |actually )?(?:understand me|listening|reading what|read (?:my|what|the)|hear me)"
            r"|pay attention",
        ),
        "the assistant did not understand, or did not listen",
        "You misunderstood my question",
        "Do you understand French?",
    ),
    Rule(
        "explicit:wrong_answer",
        either(
            clause(rf"{_ITS} {_SO}{_WRONG}", rf"{_IT} (?:{NOT}|cant be) {_SO}(?:right|correct|true|accurate|possible)"),
            opening(r"wrong|incorrect|false|not (?:true|correct)"),
            clause(
                rf"(?:the|your|this)(?: \w+){{1,3}} (?:is|are|was|were) {_SO}(?:wrong|incorrect|inaccurate|outdated|false|off|broken)",
                r"(?:(?:it|that|this|he|she|they)(?: should| is| was| were)(?: be| have been)?|its|hes|shes|theyre|im)"
                r"(?: \w+){1,4},? not \w+",
                r"it should (?:really |actually )?be",
            ),
            r"\b\d[\d.,]*,? (?:and )?not \$?\d",
            rf"\b(?:and|but|which|so) (?:thats|that is|its|is|was) {_SO}{_WRONG}\b",
            words(
                r"(?:thats|that is|this is|its|it is|you|gave|me|got|still|again|used|using|in|to) (?:the |an? )?(?:wrong"
                r"|incorrect) \w+|(?:wrong|incorrect) (?:answer|again)|not it$",
                rf"{DONT} (?:\w+ )?(?:seem|look|sound|feel) (?:\w+ )?(?:right|correct|accurate)|no such (?:thing|\w+)"
                r"|link(?: is|s are)? (?:broken|dead)",
                r"you (?:\w+ )?(?:got|have|had|gave|made|used|put|did|changed)(?: \w+){0,4} (?:wrong|incorrect(?:ly)?|mistakes?|errors?)",
                r"you(?:re|r| are) (?:\w+ )?(?:wrong|incorrect|mistaken|contradicting)|(?:mistake|error|bug)s? in (?:your|the"
                r" (?:code|answer|loop|summary|text|list|second|first))",
                r"(?:thats|that is|this is|its) (?:just |such )?(?:an? )?(?:total |complete )?(?:lie|bullshit)|(?:made"
                r"|making) (?:that |this |it )?up"
                r"|fabricated|hallucinat\w+|(?:doesnt|dont|didnt) (?:\w+ )?exist"
                r"|(?:theres|there is|i found|i see|you have) (?:\w+ )?an? (?:mistake|error|bug|typo) in|none of (?:those|these"
                r"|them) exist",
            ),
        ),
        "the response is not true or not right",
        "That's wrong, it opened in 1931.",
        "What's wrong with my code?",
    ),
    Rule(
        "explicit:contradicts",
        opening(
            r"(?:its|thats|(?:that|it|he|she) (?:is|was)|theyre|hes|shes|there (?:are|is)|theres) actually"
            r" (?:an?|the|not|in|on|at|called|from|about|by|just|only|two|three|[0-9]+)",
            r"i (?:(?:disagree|dont agree)(?: with (?:you|that|this|your)|[.!,]|$)|dont think (?:so|thats|that is|its|it is|this is"
            r"|you))|(?:that|it) (?:cant|couldnt) be|i beg to differ|not according to|not (?:quite|exactly)",
            rf"{_IT}s? {NOT} (?:what|how|why|an?|the|in|my|your|even)|you (?:should|could) have|you shouldnt|you were supposed to",
            r"(?:are )?you sure(?: about| that| its| it| this|\?|$)|(?:isnt|wasnt|arent|werent) (?:it|that|he|she|this|they)(?:"
            r" \w+){1,5}\?",
        ),
        "the user sets something else against it, or doubts it",
        "It's actually a novel from 1936.",
        "It's actually really good!",
        (NOTHING, CONFIRM, OFFER),
    ),
    Rule(
        "explicit:makes_no_sense",
        words(
            rf"ma(?:kes?|de|king) (?:\w+ )?(?:no|zero|little) sense|(?:{DONT}|{NOT}) (?:even |really |much |quite )?mak(?:e|ing)"
            r" (?:\w+ ){0,3}sense|nonsensical|gibberish|incoherent|irrelevant|not relevant|off topic|st(?:ay|ick) (?:on|to) (?:the"
            r" )?topic",
            r"what (?:(?:the|on) \w+ )?(?:are|r|were) (?:you|u) (?:even |on )?(?:talking|on about|saying|going on)",
            r"(?:thats|its|(?:this|that|it) is|such|utter|complete|total|pure) nonsense|^nonsense|^(?:what|huh|wut)[?!]{2,}$"
            r"|(?:un|not )related to (?:my|what|the question)|totally random|out of nowhere",
            r"what (?:does|has|did) (?:that|this|it) (?:even )?(?:have |got )?to do with|you (?:lost|are confusing|confused) me"
            r"|(?:im|i am) (?:so |very |really |totally )?(?:confused|lost)(?: by (?:your|that|this|what)| now|[.!?,]|$)",
            rf"{DONT} (?:really |quite )?(?:understand|get|follow) (?:you|your|what you|that answer|what (?:that|this|it))"
            rf"|{DONT} know what (?:youre|you are|you mean|that (?:is supposed|means))",
        ),
        "the response cannot be followed or is off the subject",
        "that does not make any sense",
        "That makes sense, thanks.",
    ),
    Rule(
        "explicit:not_answered",
        words(
            rf"(?:{_HAVENT}|{NOT}|doesnt|without) (?:\w+ )?(?:answer(?:ed|ing)?|address(?:ing)?|respond(?:ed)? to)"
            r"(?: (?:me|my|the|what|all|it))?|why (?:didnt|arent|wont|cant|havent) you",
            r"why did you (?:change|remove|delete|ignore|skip|stop|cut|leave|switch|repeat|omit)|follow (?:my|the) (?:\w+ )?instructions"
            r"|(?:actually|even|properly|carefully) read (?:the|my)|(?:just |please )answer (?:my|the|me|this)|cut off mid",
            r"you (?:\w+ )?(?:ignored|skipped|dodged|are ignoring|forgot|missed|omitted|left out|overlooked|failed|neglected)",
            rf"you {_HAVENT} (?:even |really |actually |yet )?(?:ask|tell|say|give|mention|includ\w+|use|follow|listen|read|do|provide"
            r"|explain|finish|change|fix|consider|cover|add|look|help|know|understand|show|respond|reply|check|make|paying|doing|seem)",
        ),
        "the question is still open, or a part of the task was left out",
        "You didn't answer me",
        "Please answer in French from now on",
    ),
    Rule(
        "explicit:repeats_itself",
        words(
            r"you (?:have )?(?:already|literally just|just) (?:said|told me|asked|mentioned|suggested|gave|given|showed|sent|wrote"
            r"|repeated)",
            r"you (?:keep|kept|are|just keep) (?:repeating|saying|asking|giving|telling|suggesting|recommending|making)"
            r"|(?:repeat|contradict)(?:ing|ed)? yourself|stop (?:apologi[sz]ing|repeating|saying|asking|giving|telling|doing|using"
            r"|making)",
            rf"(?:exact |very |the ){_SAME}(?: again| as before| as last time| over| every time| persists|$)"
            rf"|(?:still|get|got|getting|gives|gave|again) (?:\w+ )?(?:the )?{_SAME}|dont repeat",
            r"not (?:this )?again|for the (?:second|third|last|\w+th) time|how many times (?:do|must|have|did) i",
        ),
        "the assistant said it before",
        "You already told me that",
        "You told me it opened in 1931, who built it?",
    ),
    Rule(
        "explicit:does_not_work",
        either(
            words(
                rf"(?:{_IT}|th(?:is|at) one|which|but|still|command|script|link) (?:just |still |really |also )?(?:{DONT}|{NOT}"
                r"|will not|would not) (?:\w+ )?(?:work|working|worked|run|compile|help|solve|fix|do it|do anything|fit|suit|open)",
                r"(?:still|now i|and i|but i|it) (?:\w+ )?(?:gets?|getting|seeing|gives?|throws?|shows?|returns?|see)"
                r"(?: \w+){0,3} (?:error|errors|exception|traceback|failure|bug|warning|nothing)",
                rf"(?:still|keeps?) (?:\w+ )?(?:not|fails?|failing|broken|wrong|crash(?:es|ing)?|{DONT}|isnt|incorrect|missing|stuck)",
                r"(?:^|[,.;] ?|but |and |now )(?:the |your |this |nope,? )?(?:code|it|this|that|script|function|command|query"
                r"|answer|tests?) (?:now |just |still |only |keep )?(?:throws?|raises?|fails?|failing)"
                r"|(?:its|thats) (?:still )?not (?:working|compiling)|(?:it|that) (?:just |only )?does nothing",
                r"i (?:\w+ )?(?:get|got|getting)(?: \w+){0,3} errors? (?:when|if|after|with|from|on|in)(?: \w+){0,3} (?:it|this"
                r"|that|your)",
                r"no luck|still nothing|no change$|i cant use (?:that|this|it)|to no avail|nothing (?:happens|happened|changed|works)",
            ),
            r"^(?:still )?(?:doesnt|didnt|wont|dont) (?:work|compile|run|help)\b[^?]*$|^(?:still )?not working",
        ),
        "what was suggested was tried, and fails, or does not suit",
        "It still doesn't work",
        "My wifi doesn't work",
    ),
    Rule(
        "explicit:not_helpful",
        words(
            rf"(?:{NOT}|nothing) (?:\w+ )?(?:helpful|useful|good enough|of (?:any )?(?:help|use)|very good|impressed|satisfied"
            rf"|even close"
            r"|happy with (?:it|this|that|your)|acceptable)|unhelpful|thank(?:s| you) for nothing|waste of time"
            r"|unacceptable|do better|disappoint(?:ed|ing)",
            r"^(?:ugh|meh|argh)|i hate (?:it|this|that)(?:[.!]|$)|dont see how (?:this|that|it) helps|shut up|wtf|thumbs_down"
            r"|are you (?:kidding|joking|serious|drunk|stupid|broken|dumb|crazy|insane)",
            r"(?:terrible|awful|horrible|bad|poor|lousy|crap(?:py)?|lame|garbage|pathetic|stupid|dumb|ridiculous|worst|lazy)"
            r" (?:answer|response|advice|suggestion|job|bot|ai|chatbot|reply|code|summary|translation|service|assistant)",
            r"(?:you|youre|you are|this (?:bot|ai|thing) is) (?:\w+ )?(?:sucks?|stupid|dumb|an idiot|terrible|lying|annoying"
            r"|hopeless|rude)",
            r"(?:^|(?:thats|its|is|are|youre|this|completely|totally|absolutely|so|pretty|was|still) )(?:useless|worthless|boring)",
        ),
        "the response is no good, or called names",
        "Not helpful at all",
        "That was really helpful",
    ),
    Rule(
        "explicit:too_much",
        clause(
            rf"(?:(?:{_ITS}|it sounds) )?{_SO}too (?:expensive|far|late|early|long|short|small|big|large|many|much|generic|vague"
            rf"|complicated"
            r"|complex|simple|formal|informal|wordy|verbose|technical|old|basic|slow|scary|similar|broad|general|hard|difficult"
            r"|high|low|dark|loud|crowded|noisy|robotic|stiff)",
            rf"{_ITS} {_SO}(?:more than i (?:can|could|want|wanted|need|needed|have)|(?:out of|over) my (?:budget|price)|not (?:\w+"
            rf" ){{0,2}}enough"
            r"|missing|incomplete|unclear|confusing|outdated|cut off|ugly|awful|terrible|hard to (?:read|follow|understand))",
            rf"(?:nah )?(?:that|it|this) (?:sounds|reads|feels) {_SO}(?:too|robotic|generic|stiff|like an? (?:robot|machine"
            rf"|template|ad|form letter|lawyer|computer))",
            r"this only has",
        ),
        "the response has too much or too little of something",
        "That's too expensive for me",
        "My essay is too long, can you help?",
    ),
    Rule(
        "explicit:try_again",
        clause(
            r"(?:(?:can|could|would|will) you |you should |lets |you need to |you have to )?(?:please |just )?"
            r"(?:(?:try|search|look|check|think|read|count|calculate|do (?:it|that|this))(?: it| that| for it)? (?:again|once more"
            r"|one more time|harder)|re ?try|redo|re ?generate|re ?check|double check|look (?:closer|more closely)"
            r"|(?:fix|correct|revise|undo|revert) (?:(?:it|that|this|them)(?: please)?(?:$|[.!?,])|your|the (?:error|mistake|bug"
            r"|answer)))",
            r"(?:can|could) you (?:do better|try a different)|one more try|another (?:try|attempt|shot)",
        ),
        "the assistant is to do the same once more, or to mend it",
        "Try again",
        "I'll try that recipe again tomorrow",
        (CONFIRM, OFFER, SERVICE, NOTHING),
        unless=r"^(?:great|perfect|thanks|thank you|nice|awesome|excellent|good|cool|yes)[,.! ]",
    ),
    Rule(
        "explicit:still_fails",
        either(
            clause(
                r"(?:it|this|that|they|and|which|the \w+) still (?:\w+s|\w+ing|wont|cant|has|have|the same|too|slow|no|not)",
                r"still (?:getting|get|seeing|see|having|showing|says|no|not|slow|broken|failing|stuck|takes|happens|throws)",
                r"(?:i |ive |we |just |already |ok i )?(?:tried|ran|did|used|installed|followed|restarted|applied) (?:it|that|this"
                r"|your|the|all|both)\b[^?]{0,60}?(?:still|but|nothing|same|errors?|fails?|failed|empty|crash(?:es|ed)?|no (?:luck"
                r"|change))",
                r"(?:it|this|that|the (?:code|script|function|query|regex|command)|your \w+)(?: just| now| only| always)* (?:returns?"
                r"|prints?|gives?|outputs?|shows?|deletes?|matches|breaks|crashes|hangs|freezes|fails) (?:me )?(?:nothing|none|null"
                r"|nan|undefined|an? (?:empty|blank|\w*error)|the (?:same|wrong|whole)|everything|duplicates?|on|for|with|when|if|after)",
                r"(?:the )?(?:output|result|total|formatting|layout|link|page|file) (?:is|are|comes out|looks) (?:\w+ )?(?:empty|blank"
                r"|different|reversed|off|messed up|broken|cut off|garbled|missing)",
            ),
            words(
                r"(?:didnt|doesnt|not) (?:\w+ )?mak(?:e|ing) (?:any|a|much) difference|made no difference|(?:has|had) no effect"
            ),
        ),
        "what was suggested was tried and changed nothing, or what came out of it is not right",
        "I ran it but the list is empty",
        "I tried that and it works now",
        (*NOT_OPEN, MORE),
        unless=either(
            _ASKS_OR_PRAISES, words(r"works?|worked|solved|fixed|still (?:waiting|thinking|deciding|learning)")
        ),
        query=_CODE,
        response=_LISTS,
        counter_response=_LISTS,
        given=STATEMENT,
    ),
    Rule(
        "explicit:pasted_error",
        r"^(?:[a-z0-9_./-]{1,30}: ?){0,3}(?:traceback|permission denied|command not found|no such file|access denied|fatal:"
        r"|segmentation fault|uncaught|unhandled|error[: ]|syntax error|[a-z_.]*(?:error|exception): ?|module not found"
        r"|undefined (?:is not|reference|variable)|unknown (?:option|command|column|argument|flag)|unexpected (?:token|indent|end|eof))",
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
        clause(
            r"(?:hm+ |well )?i (?:always |really )?(?:thought|was told|believed|could have sworn|was taught) (?:that )?(?:it|he|she|they"
            r"|this|that|the \w+|you) (?:was|were|is|had|did|wasnt|said)",
            r"(?:im |i am )?(?:pretty|fairly|quite|almost|absolutely) (?:sure|certain|positive) (?:that |its |thats |it |the |he |she )",
            r"(?:wikipedia|google|the (?:internet|docs?|documentation|manual|website)|my (?:book|teacher|doctor|textbook|notes|map)"
            r"|every(?:one|body)|other (?:sources|sites)) (?:clearly |actually |also )?(?:says?|said|claims?|shows?|lists?|states?)",
        ),
        "the user believes something else, or read it elsewhere",
        "I was told it was the town hall",
        "I thought it would be harder, great!",
        (NOTHING, CONFIRM, OFFER),
        unless=either(_ASKS_OR_PRAISES, words(r"so|i should|to (?:take|use|do)|says? (?:hi|hello|thanks)")),
        given=STATEMENT,
    ),
)
