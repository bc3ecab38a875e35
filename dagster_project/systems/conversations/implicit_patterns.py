"""Messages that correct or complain about the response before them (rules C2, C3).

The first record that matches decides, and its `reason` is kept with the decision. A record counts after the endings of a
response it names (`after`): "No." rejects a statement, and answers a question. What refuses a
proposal is in `implicit_refusals.py`, what accepts in `implicit_acceptance.py`.
"""

from dagster_project.systems.conversations.implicit_rules import (
    CONFIRM,
    NOTHING,
    OFFER,
    SERVICE,
    Rule,
    clause,
    either,
    opening,
    words,
)

_IT = (
    r"(?:it|that|this|those|these|they|(?:your|the) (?:\w+ )?(?:answer|response|code|reply|solution|summary"
    r"|result|output))"
)
_ITS = rf"(?:its|thats|{_IT} (?:is|was|are|were|seems|looks|sounds|feels)|th(?:is|at) one is|youre|you are|you were)"
_SO = (
    r"(?:(?:just|still|so|very|really|completely|totally|all|also|simply|quite|clearly|actually|kind of|a bit|again"
    r"|way|pretty|far"
    r"|absolutely|plain|even|definitely|obviously|factually|both|mostly|partly|simply|a little|much|bit) )*"
)
_NOT = r"(?:not|isnt|wasnt|arent|werent|never|hardly|neither)"
_DONT = r"(?:dont|doesnt|didnt|wont|wouldnt|cant|couldnt|never|not)"
_HAVENT = r"(?:didnt|havent|never|dont|wont|arent|werent)"
_GOOD = (
    r"(?:great|good|perfect|fine|ok|okay|fantastic|awesome|right|correct|cool|wonderful|helpful|enough|plenty"
    r"|nice|lovely)"
)
_WRONG = r"(?:wrong|incorrect|inaccurate|false|untrue|mistaken|not (?:\w+ )?(?:right|correct|true|accurate|the case))"
_ASKED = (
    r"(?:ask(?:ed|ing)?|meant?|want(?:ed)?|need(?:ed)?|sa(?:y|id)|looking|request(?:ed)?|expect(?:ed|ing)?|had in mind)"
)
_WORK = (
    r"(?:answer|response|code|reply|solution|summary|calculation|function|query|script|translation|list|example|math)"
)
_SAME = r"same (?:thing|answer|response|error|problem|issue|result|mistake|reply|output|question|code)s?"

# Said with a "no" or another word of rejection, and rejecting nothing: taken out before the rejections look.
HARMLESS = (
    Rule(
        "harmless",
        words(
            r"no (?:problems?|prob|worries|worry|rush|hurry|biggie|big deal|doubt|wonder|kidding|idea"
            r"|need to (?:worry|apologi[sz]e))",
            r"no,? (?:i think )?(?:thats|that is|this is|it is|its|(?:that|it) (?:will|would) be|thatll be|(?:this"
            r"|that|it)"
            rf" (?:was|looks|sounds|works|seems)) {_SO}(?:all|it|everything|{_GOOD})",
            rf"no,? (?:im|i am|were|you are|youre|youve been|you were)(?: \w+)? (?:all set|set|done|satisfied|happy"
            rf"|kind|welcome|{_GOOD})",
            r"no,? nothing (?:else|more|further)|no (?:more |further )?questions",
        ),
        "a no that is polite or agrees",
        "No problem, thanks!",
        "No, that one is closed.",
    ),
    Rule(
        "harmless",
        words(
            rf"{_NOT} (?:that |a |too |at all |so )?(?:bad|shabby|wrong|useless|terrible|stupid|nonsense|a problem"
            rf"|an issue)",
            r"nothing (?:is |was )?wrong|dont (?:get me wrong|worry)|no (?:matter|one|longer)|not only|if not|or not"
            r"|why not",
            r"(?:cant|couldnt) (?:be better|go wrong|complain|wait|thank you enough|agree more|argue with that)",
            r"(?:whats?|something|anything|why|if|where)(?: \w+){0,3} (?:is |am |was |did |went |go |goes |be "
            r"|doing )?wrong",
            r"dont (?:need|want|require)(?: \w+)? ?(?:anything|something) else|dont mind",
        ),
        "a word of rejection that is denied, asked about, or part of a set phrase",
        "Not bad at all",
        "That answer is bad",
    ),
    Rule(
        "harmless",
        either(
            r"^(?:(?:oh|wow|haha+|lol|omg|wait|what|ok|well)[,.! ]+)*no,? (?:really|way|shit|kidding|joke"
            r"|seriously)[?!., ]",
            r"^(?:(?:oh|wow|ok|great|please|and|but|cool)[,.! ]+)*no (?:more )?(?:\w+ )?(?:spoilers?|errors?|issues?"
            r"|warnings?|complaints?|notes|offen[cs]e|pressure"
            r"|strings|regrets|objections?|changes|bugs|hard feelings|duplicates|infinite \w+|preferences?|\w+ lost"
            r"|\w+ needed"
            r"|\w+ required|explanation|code|emojis|crashes)\b",
            r"\b(?:couldnt|could not|cant|cannot) (?:have |be )?(?:\w+ )?(?:said|put|done|asked for|written|wish for"
            r"|imagine|think of)(?: \w+){0,3} better\b",
            r"\bnothing to (?:change|add|complain|correct|fix)\b",
        ),
        "surprise, or a no that belongs to a thing",
        "No kidding, since 1931?",
        "No, the church is taller",
    ),
    Rule(
        "harmless",
        r"^.*(?:\bbut |\blol,? |\bhaha,? |[,.!;] ?)(?:(?:lol|haha|honestly|actually|still|i think|hey|it|she|he"
        r"|they|i|we|ill|shell|hell|theyll|will|really|kinda|do"
        r"|absolutely|totally|also|my \w+|this|that|somehow|exactly|is|its|thats) )*(?:love|loves|loved|like|likes"
        r"|liked|adore|adores|enjoyed|works|worked|helps|helped"
        r"|hilarious|perfect|beautiful|brilliant)(?: (?:it|this|that|them))?"
        r"(?:[,.! ]+(?:anyway|though|a lot|so much|lol|haha|thanks?|thank you|now|for me|nonetheless|great"
        r"|actually|still|very much))*[,.! ]*$",
        "a complaint that ends in praise",
        "haha that's awful, I adore it",
        "I adore it but it's wrong",
    ),
    Rule(
        "harmless",
        either(
            r"^(?:(?:ok|okay|great|thanks|now|and|also|then|please|perfect|good|yes|cool|next)[,.! ]+)*(?:(?:can|could"
            r"|would|will) you |i want you to |you can )?(?:please |also |now |just |maybe )*"
            r"(?:add|include|mention|write|state|put|note|insert|append|say|reply|respond|answer|tell (?:him|her|them"
            r"|my \w+|the \w+|[a-z]+)|let (?:him|her|them|[a-z]+) know"
            r"|make (?:him|her|them|it) say|end with|start with)(?: \w+){0,5}?(?::| that\b| saying\b| why\b| how\b"
            r"| because\b).*$",
            r"\b(?:this|these|following|next one|translate|proofread|paraphrase|rewrite|correct|edit|grammar|sentence"
            r"|phrase|title|subject|line|text|paragraph"
            r"|say|write|include|example)(?: \w+){0,2}: .*$",
            r"^(?:(?:now|and|then|also|please|ok) )*(?:translate|proofread|paraphrase|how (?:do|would) (?:you|i) say"
            r"|what does)\b.*$",
        ),
        "words dictated for a text, or a text to work on",
        "Mention that the food was bad and it's wrong to charge for it",
        "The mention is wrong",
    ),
)

COMPLAINTS = (
    Rule(
        "explicit:not_what_i_asked",
        words(
            rf"{_NOT} (?:at all |really |quite |exactly |even |the \w+ )?(?:what|how|where|who|that) i (?:\w+ )?{_ASKED}",
            rf"i {_HAVENT} (?:even |actually |really )?(?:ask(?:ed)?|sa(?:y|id)|mean|request(?:ed)?) (?:for|about"
            rf"|you|that|it|this|any\w*)",
            r"i (?:actually |really )?didnt (?:\w+ )?want (?:to|that|it|this|those|an?|the)",
            r"not the (?:one|ones|answer|thing|same) i(?: \w+)? \w+|nothing to do with (?:my|what|the|it|that)"
            r"|opposite of what i",
        ),
        "the response answered something else than was asked",
        "That's not what I asked for.",
        "What I asked for was in there.",
    ),
    Rule(
        "explicit:i_meant",
        clause(
            r"(?:what )?i (?:actually |really )?meant|i mean the|i was (?:asking|talking about|referring|looking for"
            r"|thinking (?:of|more))|im (?:talking|asking) about|im referring",
            r"i (?:just |only |already |specifically |clearly |literally |also )*(?:asked|told|said)"
            r" (?:you|about|for|if|how|what|to|that|the|no|not|i|this|why|where|when|an?|it|my|in)",
            r"i (?:want|wanted|need|needed)(?: \w+){1,8},? not (?:an?|the|in|for|just|from|to)",
            r"i (?:wanted|needed|asked for)(?: \w+){1,5},? (?:and |but )?you (?:only )?(?:gave|wrote|sent|used|made)",
            r"i (?:have )?already have (?:that|this|it|one|those|them)|i already (?:have|use|own|did|do|read"
            r"|saw) (?:that|this|it|those|them)",
            r"(?:as|like) i (?:just |already )?(?:said|mentioned|told|asked)|my question (?:is|was)|i just (?:said"
            r"|told|asked|answered)",
            r"i (?:have )?already (?:\w+ )?(?:said|told|mentioned|gave|answered|know|knew|tried|did)",
        ),
        "the user says again, or in other words, what was meant",
        "No, I meant gaming laptops",
        "I mean, it looks fine",
    ),
    Rule(
        "explicit:misunderstood",
        words(
            r"you (?:\w+ )?(?:misunderst(?:ood|and)|misread|misinterpreted|misheard|got me wrong|dont (?:get"
            r"|understand))",
            r"(?:missing|missed|miss) (?:the|my) point|thats not the point|you(?:re| are) not (?:listening|getting)"
            r"|misunderstanding",
            r"(?:do|did|can|are) you (?:even )?(?:understand me|listening|reading what|read (?:my|what)|hear me)"
            r"|pay attention",
            r"(?:read|look at) (?:my|the) (?:\w+ )?(?:message|question|prompt|instructions?) (?:again|carefully"
            r"|properly)",
        ),
        "the assistant did not understand, or did not listen",
        "You misunderstood my question",
        "Do you understand French?",
    ),
    Rule(
        "explicit:wrong_answer",
        either(
            clause(
                rf"{_ITS} {_SO}{_WRONG}", rf"{_IT} (?:{_NOT}|cant be) {_SO}(?:right|correct|true|accurate|possible)"
            ),
            opening(r"wrong|incorrect|false|not (?:true|correct)"),
            clause(
                rf"(?:the|your|this)(?: \w+){{1,3}} (?:is|are|was|were) {_SO}(?:wrong|incorrect|inaccurate|outdated"
                rf"|false)",
                rf"your(?: \w+){{1,3}} (?:is|are|was|were) {_SO}(?:off|broken|missing|incomplete|misleading)",
                r"(?:(?:it|that|this|he|she|they)(?: should| is| was| were)(?: be| have been)?|its|hes|shes|theyre"
                r"|im)(?: \w+){1,4},? not \w+",
            ),
            r"\b\d[\d.,]*,? (?:and )?not \d",
            words(
                r"(?:thats|that is|this is|its|it is|you|gave|me|got|still|again|used|using|in|to) (?:the |an? )?(?:wrong"
                r"|incorrect) (?:\w+)|(?:wrong|incorrect) (?:answer|again)",
                r"(?:it|that|this|answer|output|result|code)? ?(?:doesnt|dont|didnt) (?:\w+ )?(?:seem|look|sound"
                r"|feel) (?:\w+ )?"
                r"(?:right|correct|accurate)|(?:no|isnt an?y?) such \w+|link(?: is|s are)? (?:broken|dead)|not it$",
                r"you (?:\w+ )?(?:got|have|had|gave|made|spelled|wrote|used|put|did)(?: \w+){0,4} (?:wrong"
                r"|incorrect(?:ly)?|mistakes?|errors?)",
                rf"you(?:re|r) (?:\w+ )?(?:wrong|incorrect|mistaken|doing it wrong)|(?:mistake|error"
                rf"|bug)s? in (?:your|the) (?:\w+ )?{_WORK}",
                r"(?:its|thats|is|are|was) (?:all |just )?(?:made up|fabricated|hallucinated)|you(?: \w+){1,3} wrong \w+",
                r"(?:theres|there is|i found|i see|you have) (?:\w+ )?an? (?:mistake|error|bug|typo) in (?:your|the"
                r"|that|this|it|line)",
                r"you (?:hallucinated|invented|made (?:that|this|it|them|\w+) up|made up)|(?:doesnt|dont"
                r"|didnt) (?:\w+ )?exist",
            ),
        ),
        "the response is not true or not right",
        "That's wrong, it opened in 1931.",
        "What's wrong with my code?",
    ),
    Rule(
        "explicit:contradicts",
        opening(
            r"(?:its|thats|(?:that|it|he|she) (?:is|was)|theyre|they are|hes|shes|there (?:are|is)|theres|th(?:o"
            r"|e)se are) actually"
            r" (?:an?|the|not|in|on|at|called|from|about|by|just|only|two|three|[0-9]+)",
            r"i (?:(?:disagree|dont agree)(?: with (?:you|that|this|your)|[.!,]|$)|dont think (?:so|thats|that is"
            r"|its|it is|this is|you))|(?:that|it) (?:cant"
            r"|couldnt) be",
            rf"{_IT}s? {_NOT} (?:what|how|why|an?|the|in|my|your|even)|you (?:should|could) have|you shouldnt"
            rf"|you were supposed to",
            r"(?:are )?you sure(?: about| that| its| it| this|\?|$)|(?:isnt|wasnt|arent|werent) (?:it|that|he|she"
            r"|this|they)(?: \w+){1,5}\?|not according to|not (?:quite|exactly)"
            r"|i beg to differ",
        ),
        "the user sets something else against it, or doubts it",
        "It's actually a novel from 1936.",
        "It's actually really good!",
        (NOTHING, CONFIRM, OFFER),
    ),
    Rule(
        "explicit:makes_no_sense",
        words(
            rf"ma(?:kes?|de|king) (?:\w+ )?(?:no|zero|little) sense|(?:{_DONT}|{_NOT}) (?:even |really |much "
            rf"|quite )?mak(?:e|ing)"
            r" (?:\w+ ){0,3}sense",
            r"what (?:(?:the|on) \w+ )?(?:are|r|were) (?:you|u) (?:even |on )?(?:talking|on about|saying|going on)"
            r"|nonsensical|gibberish",
            r"(?:thats|its|(?:this|that|it) is|such|utter|complete|total|pure) nonsense|^nonsense|off topic"
            r"|st(?:ay|ick) (?:on|to) (?:the )?topic|^(?:what|huh|wut)[?! ]+$"
            r"|irrelevant|not relevant"
            r"|(?:un|not )related to (?:my|what|the question)",
            r"what (?:does|has|did) (?:that|this|it) (?:even )?(?:have |got )?to do with|totally random"
            r"|out of nowhere|incoherent",
            r"you (?:lost|are confusing|confused) me|(?:im|i am) (?:so |very |really |totally )?(?:confused|lost)"
            r"(?: by (?:your|that|this|what)| now|[.!?,]|$)",
            rf"{_DONT} (?:really |quite )?(?:understand|get|follow) (?:you|your|what you|that answer|what (?:that"
            rf"|this|it))",
            rf"{_DONT} know what (?:youre|you are|you mean|that (?:is supposed|means))",
        ),
        "the response cannot be followed or is off the subject",
        "that does not make any sense",
        "That makes sense, thanks.",
    ),
    Rule(
        "explicit:not_answered",
        words(
            rf"(?:{_HAVENT}|{_NOT}|doesnt|without) (?:\w+ )?(?:answer(?:ed|ing)?|address(?:ing)?"
            rf"|respond(?:ed)? to)(?: (?:me|my|the|what|all|it))?",
            r"why (?:didnt|arent|wont|cant|havent) you|why did you (?:change|remove|delete|ignore|skip|stop|cut"
            r"|leave|switch|repeat|omit)",
            r"(?:please |just )?follow (?:my|the) (?:\w+ )?instructions|(?:actually|even|properly"
            r"|carefully) read (?:the|my)",
            r"you (?:\w+ )?(?:cut off|stopped) (?:mid|half|in the middle|before)|dont repeat|(?:just "
            r"|please )answer (?:my|the|me|this)|answer my question|not an answer|avoid(?:ing)? (?:my"
            r"|the) question",
            r"you (?:\w+ )?(?:ignored|skipped|dodged|are ignoring|forgot|missed|omitted|left out|overlooked|failed"
            r"|neglected)",
            rf"you {_HAVENT} (?:even |really |actually |yet )?(?:ask|tell|say|give|mention|include|use|follow|listen"
            rf"|read|do|provide|explain"
            r"|finish|change|fix|consider|cover|add|look|help|know|understand|show|respond|reply|check|make|paying"
            r"|doing"
            r"|seem|care|included?|gave)",
        ),
        "the question is still open, or a part of the task was left out",
        "You didn't answer me",
        "Please answer in French from now on",
    ),
    Rule(
        "explicit:repeats_itself",
        words(
            r"you (?:have )?(?:already|literally just|just) (?:said|told me|asked|mentioned|suggested|gave|given"
            r"|showed|sent|wrote) (?:that|this|it|me|so)",
            r"you (?:keep|kept|are|just keep) (?:repeating|saying|asking|giving|telling|suggesting|recommending"
            r"|making|using|doing)",
            r"you(?:ve)? (?:already )?(?:said|asked)(?: me)? (?:that|this|it) (?:already|before|twice|again|earlier)"
            r"|repeat(?:ing|ed)? yourself",
            r"you (?:just )?repeated|contradict(?:ing|ed)? yourself|stop (?:apologi[sz]ing|repeating|saying|asking"
            r"|giving|telling|doing|being|using|making)|(?:thats"
            r"|is) what you (?:just |already )?said",
            rf"(?:exact |very |the ){_SAME}(?: again| as before| as last time| over| every time| persists|$)"
            rf"|(?:still|get|got|getting|gives|again) (?:\w+ )?the {_SAME}",
            r"not (?:this )?again|didnt you (?:just |already )?(?:say|ask|tell)|for the (?:second|third|last"
            r"|\w+th) time|how many times (?:do|must|have|did) i",
        ),
        "the assistant said it before",
        "You already told me that",
        "You told me it opened in 1931, who built it?",
    ),
    Rule(
        "explicit:does_not_work",
        words(
            rf"(?:{_IT}|th(?:is|at) one|which|but|still|command|script|link) (?:just |still |really |also "
            rf"|unfortunately )?(?:{_DONT}|{_NOT}"
            r"|will not|would not) (?:\w+ )?(?:work|working|worked|run|compile|help|exist|solve|fix|do it"
            r"|do anything|happen|fit|suit|open)",
            r"(?:still|only|now i|and i|but i|it) (?:\w+ )?(?:gets?|got|getting|gives?|gave|throws?|says?|have"
            r"|shows?|returns?|see)"
            r"(?: \w+){0,3} (?:error|errors|exception|traceback|failure|bug|warning)",
            rf"(?:still|keeps?) (?:\w+ )?(?:not|fails?|failing|broken|wrong|crash(?:es|ing)?|{_DONT}|isnt|incorrect"
            rf"|the same|missing|stuck)",
            r"(?:code|it|this|that|script|function|command|query|answer) (?:now |just |still |only )?(?:throws?"
            r"|raises?|gives?|threw|gave"
            r"|returns?|fails)(?: \w+){0,3} (?:\w*errors?|\w*exceptions?|traceback)|(?:its"
            r"|thats) (?:still )?not (?:working|compiling)",
            r"i (?:\w+ )?(?:get|got|getting)(?: \w+){0,3} errors? (?:when|if|after|with|from|on"
            r"|in)(?: \w+){0,3} (?:it|this|that|your|the code)",
            r"no luck|still nothing|no change$|i cant use (?:that|this|it)|to no avail|nothing (?:happens|happened"
            r"|changed|works|worked)",
        ),
        "what was suggested was tried, and fails, or does not suit",
        "It still doesn't work",
        "My wifi doesn't work",
    ),
    Rule(
        "explicit:does_not_work",
        either(
            r"^(?:still )?(?:doesnt|didnt|wont|dont) (?:work|compile|run|help)\b|^(?:still )?not working",
            r"^(?:it|that|this) (?:still )?(?:fails|failed|crashes|crashed|broke)\b",
        ),
        "the same, in a word",
        "didn't work",
        "Didn't work start at nine?",
        (NOTHING, CONFIRM, OFFER, SERVICE),
        counter_response="You were late. When did you get there?",
    ),
    Rule(
        "explicit:not_helpful",
        words(
            rf"(?:{_NOT}|nothing) (?:\w+ )?(?:helpful|useful|good enough|of (?:any )?(?:help|use)|what i need"
            rf"|very good|impressed|satisfied"
            r"|happy with (?:it|this|that|your)|satisfactory|acceptable|adequate|detailed enough|clear enough)"
            r"|unhelpful"
            r"|waste of time",
            rf"(?:that|this|it|you) (?:{_DONT}|arent|werent) (?:really |even |actually |very )?help(?:ing|ful)?"
            rf"|no (?:help|use) at all",
            r"^(?:ugh|meh|argh)|i hate (?:it|this|that)(?:[.!]|$)|dont see how (?:this|that|it) helps|unacceptable"
            r"|do better|are you (?:kidding|joking|serious|drunk|stupid|broken|dumb|crazy|insane)",
        ),
        "the response is no good",
        "Not helpful at all",
        "That was really helpful",
    ),
    Rule(
        "explicit:not_helpful",
        words(
            r"(?:terrible|awful|horrible|bad|poor|lousy|crap(?:py)?|shit(?:ty)?|lame|garbage|pathetic|stupid|dumb"
            r"|ridiculous|worst|lazy"
            r"|disappointing|silly) (?:answer|response|advice|suggestion|job|bot|ai|chatbot|reply|code|summary"
            r"|translation|service|assistant)",
            r"(?:you|youre|you are|u|this (?:bot|ai|thing) is|ur) (?:\w+ )?(?:sucks?|stupid|dumb|an idiot|idiot"
            r"|terrible|crazy|lying|a liar|annoying"
            r"|broken|hopeless|rude|incompetent|not (?:very )?(?:smart|bright|good|helpful))|shut up|wtf|thumbs_down"
            r"|disappoint(?:ed|ing)",
            r"(?:^|(?:thats|its|is|are|youre|this|completely|totally|absolutely|so|pretty|was|how|still) )(?:useless"
            r"|worthless)",
        ),
        "the assistant, or its work, is called names",
        "What a lazy summary",
        "Summarize it for lazy people",
    ),
    Rule(
        "explicit:too_much",
        clause(
            rf"(?:{_ITS} )?{_SO}too (?:expensive|far|late|early|long|short|small|big|large|many|much|generic|vague"
            rf"|complicated|complex|simple"
            r"|formal|informal|wordy|verbose|technical|old|basic|slow|scary|similar|broad|general|boring|abstract"
            r"|hard|difficult|high|low|pricey|dark|sweet|salty|spicy|loud|quiet|crowded|noisy|casual|cold|hot|dry"
            r"|bright|plain|cheesy"
            r"|sad|heavy|stiff|corporate|salesy|strong|weak|soon|flowery|dramatic|aggressive|pushy|robotic|touristy)",
            rf"{_ITS} {_SO}(?:more than i (?:can|could|want|wanted|need|needed|asked|have)|out of my (?:budget|price)"
            rf"|over my budget|not (?:\w+ ){{0,2}}enough"
            rf"|missing|incomplete|unclear|confusing"
            r"|boring|outdated|out of date|cut off|lacking|ugly|awful|terrible|hard to (?:read|follow|understand))",
        ),
        "the response has too much or too little of something",
        "That's too expensive for me",
        "My essay is too long, can you help?",
    ),
    Rule(
        "explicit:try_again",
        clause(
            r"(?:(?:can|could|would|will) you |you should |lets |you need to |you have to )?(?:please "
            r"|just )?(?:(?:try|search|look|check|think|read"
            r"|count|calculate|do (?:it|that|this))(?: it| that| for it)? (?:again|once more|one more time|over"
            r"|harder)|re ?try|redo|re ?generate"
            r"|re ?check|double check|look (?:closer|more closely)|(?:fix|correct|revise|undo|revert) (?:(?:it|that"
            r"|this|them)(?: please)?(?:$|[.!?,])|your|yourself|the (?:error|mistake|bug|code|answer|issue|problem)))",
            r"(?:can|could) you do better|one more try|another (?:try|attempt|shot)|i expected|have another look"
            r"|give it another",
        ),
        "the assistant is to do the same once more, or to mend it",
        "Try again",
        "I'll try that recipe again tomorrow",
        unless=r"^(?:great|perfect|thanks|thank you|nice|awesome|excellent|love (?:it|this)|good|cool|yes)[,.! ]"
        r"|\bi expected,? (?:and|but i|thanks)",
    ),
)
