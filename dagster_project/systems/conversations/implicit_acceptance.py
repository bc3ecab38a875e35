"""Messages that accept the response before them, and those that say nothing about it (rules C2, C3).

They are looked at after every rejection, in the order NEUTRAL, ACCEPTED, an answer to a question, CONTINUED; the first record
that matches decides.
"""

from dagster_project.systems.conversations.implicit_rules import (
    COMPARATIVE,
    CONFIRM,
    FAILED_TO,
    MORE,
    NOT_OPEN,
    NOTHING,
    OFFER,
    OPEN,
    SERVICE,
    YES_NO,
    Rule,
    clause,
    either,
    opening,
    words,
)

_THANKS = r"(?:thanks?|thank (?:you|u)|thx|thanx|ty|tysm|cheers|much obliged|appreciated?|grateful)"
_GOOD = (
    r"(?:great|perfect|awesome|excellent|good|nice|cool|wonderful|amazing|fantastic|lovely|brilliant|superb|fabulous|terrific|neat"
    r"|beautiful|fine|ok|okay|alright|all right|interesting|helpful|useful|super|ideal|sweet|impressive|right|correct|clear"
    r"|acceptable|suitable|hilarious|funny|true)"
)
_SO = r"(?:(?:just|so|very|really|pretty|quite|an?|the|all|absolutely|like|actually|extremely|also|exactly|totally|sure|too|more) )*"
_YES = (
    r"(?:yes|yeah|yep|yup|yea|ya|sure|ok|okay|k|correct|right|exactly|absolutely|of course|definitely|certainly|please do"
    r"|go ahead|confirm|confirmed|indeed|alright|all right|agreed|fine|precisely|approved?|proceed|perfectly|go for it"
    r"|do it|why not(?:[.!,]|$))"
)
_TAKE = (
    r"(?:take|go with|go for|choose|pick|buy|try|watch|check|use|order|book|reserve|see|do|schedule|visit|play|listen to|read"
    r"|share|purchase|make|get|have|want|confirm|proceed with)"
)
_THAT = (
    r"(?:it|that|this|those|them|these|both|one of|a reservation|an appointment|a look|the (?:first|second|third|last|latter"
    r"|former|\w+ one|table|reservation|appointment|room|tickets?|song|movie|car))"
)
_DETAILS = (
    r"(?:address|phone|number|price|cost|rating|name|location|date|time|duration|type|genre|director|actors?|cast|cuisine|fare"
    r"|temperature|humidity|wind|rent|album|artist|year|website|email|contact|reviews?|hours|menu|station|airport|balance"
    r"|venue|category|size|colou?r|author|stops?|ride|total|charge)"
)
_ASKING = r"(?:whats?|wheres?|when|whos?|how|why|which|is|are|does|do|did|was|were|has|have|had|can|could|will|would|whose|in what|at what)"
_SOFT_OPENERS = r"(?:(?:oh|ok|okay|well|so|ah|hm+|actually|wait|hold on|hey|wow)[,.! ]+)*"

# A friendly word, and then another place, day or thing is asked for: it says nothing of the response.
_ANOTHER = (
    r"(?:(?:how|what) about|(?:tomorrow )?how(?:s| is| will)? (?:it|tomorrow|the weather|be)|something else|move on to|another"
    r" option|now (?:for|in|on) [a-z]"
    r"|(?:(?:can|could|would|will) you (?:please |also )?|please |now |and |also )?(?:find|check|search|look|recommend|suggest)"
    r"|(?:are|is) there (?:any )?(?:other|more)|(?:do you have |have you )?any (?:other|more|further)|some (?:other|more))"
)
# Praise of one thing and a reservation about another.
HALF_PRAISE = (
    r"\b(?:but|except|however|although|only) (?:[a-z0-9]+ ){0,5}?(?:not|isnt|arent|doesnt|dont|didnt|wont|cant"
    r"|without|broke|breaks|fails?|never|too|wrong|missing|lost|hate|hates"
    r"|still|should|need it|instead|no|wasnt|couldnt)\b|\b(?:isnt|arent|wasnt|not) (?:\w+ )?(?:right|correct"
    r"|good|great|true|helpful|useful|clear|ok|okay|fine|what)\b|\bbut (?:i|we) (?:really |actually |only )?(?:wanted|asked|meant"
    r"|needed|prefer|already)\b|\bwould (?:have )?be(?:en)? (?:\w+ ){1,3}if (?:it|this|that|they|there) (?:was|were|had|didnt)\b"
)

_FEW_WORDS = r"^(?:[a-z]+[,.!]? ){0,3}?"

NEUTRAL = (
    Rule(
        "neutral:politely_refuses",
        words(r"thanks? (?:you )?(?:but|anyways?|though|in advance)|thanks,? but"),
        "thanks for the effort, not for the response, or ahead of it",
        "Thanks anyway",
        "Thanks a lot",
        (CONFIRM, OFFER, SERVICE, YES_NO, OPEN, NOTHING),
    ),
    Rule(
        "neutral:asks_what_is_meant",
        either(
            rf"^{_SOFT_OPENERS}(?:sorry,? )?(?:what (?:do|did) (?:you|u|ya) mean|(?:i have |ive (?:got )?)?no (?:idea"
            rf"|clue) what (?:that|this|it|you)|what does (?:that|this|it) mean|what is that supposed to mean"
            r"|how (?:so|do you mean)|meaning|come again|say (?:that )?again|(?:im )?not sure (?:i follow|what you mean))\b",
            r"^(?:(?:sorry|wait|um+|hm+)[,. ]+)*(?:what|huh|pardon|sorry|excuse me)[?!. ]*$",
        ),
        "the user did not understand: neither good nor bad",
        "What do you mean by that?",
        "What did the mayor mean?",
    ),
    Rule(
        "neutral:asks_for_another",
        rf"^(?:[a-z ]{{0,30}}\b(?:great|good|nice|fine|cool|okay|ok|alright|thanks|thank you|perfect|awesome"
        rf"|wow)\b[a-z ]{{0,30}}[,.! ]+)?"
        rf"(?:(?:and|but|now|also|so|well|oh|then|lets)[,. ]+)*{_ANOTHER}\b",
        "a friendly word, and then another place, day or thing: that says nothing of the response",
        "Okay. How about Atherton?",
        "Okay. How tall is it?",
        (NOTHING, OFFER, CONFIRM),
        # its own details are asked for, or it is looked at itself
        unless=r"\b(?:its?|their|them|that|this|phone|number|address|price|humidity|wind|rating|there)\b",
    ),
    Rule(
        "neutral:declines",
        either(
            _FEW_WORDS + r"(?:no|nope|nah|not|dont|wont|isnt)\b",
            r"\b(?:dont|not) (?:\w+ ){0,3}(?:need|want|wish|ready|book|yet|now)\b",
        ),
        "a no to a question that was no question about the response",
        "No, not right now.",
        "Yes, book it.",
        (SERVICE, YES_NO, OPEN),
        "The Grand has rooms. Would you like to book one?",
        "The Grand has rooms. Would you like to book one?",
    ),
    Rule(
        "neutral:takes_note_of_a_failure",
        r"^(?:(?:oh|well|hm+|ok|okay|right|great|fine|alright|sure|i see|nice|cool|k)(?:[.,! ]+|$))+$",
        "a word that would praise, after a response that could not do it",
        "Right, great.",
        "Right, great.",
        (NOTHING,),
        "Sorry, I was unable to find this order.",
        "Your order is on its way.",
        given=FAILED_TO,
    ),
    Rule(
        "neutral:wants_it_otherwise",
        rf"^{_SOFT_OPENERS}(?:i (?:want|need|would like)|id like|im looking for) (?:an? |some |any)?(?:\w+ ){{0,3}}?"
        rf"(?:{COMPARATIVE}|else|different|other|another|without|instead)\b",
        "what is wanted differs from what was said: no acceptance (C2)",
        "I need something cheaper",
        "I need a plumber",
    ),
)

ACCEPTED = (
    Rule(
        "accepted:nothing_else",
        either(
            _FEW_WORDS
            + r"(?:no|nope|nah|none)(?: (?:for|at) (?:now|the moment|today|present|all|this time))?(?:[.,!;]|$| (?:thanks?"
            r"|thank|that|thats|im|i|its|it|all|nothing|but thank|for now|not|you|youve|this|more|further|need|we|and thank|ok|okay))",
            _FEW_WORDS
            + r"(?:all good|im (?:all )?(?:good|set|done|fine|ok)|(?:i (?:think|believe) )?(?:thats|that is|that was|thatll be"
            rf"|that (?:will|would)(?: be)?|its|it is|this is|this will be) {_SO}(?:all|it|everything|enough|fine|good|great|perfect|ok"
            r"|okay|for now|about it|do|help|helpful|sufficient|what i (?:need|wanted)))\b",
            _FEW_WORDS
            + r"i (?:dont (?:need|think so|have|require|want anything|believe so|think there)|think (?:im|i am|were|we are) )\b",
            _FEW_WORDS
            + r"(?:nothing|not)(?: (?:else|more|for now|for today|right now|now|at (?:the moment|this time|all|present)|really"
            r"|today|further|that i|just yet|yet|thanks?|thank you|a thing|any ?more|much|this time|i need)\b|[.,!]|$)",
            r"^(?:yes|yeah|yep)[,. ]+(?:(?:thats|that is|that will|it is) |for now|thanks?|i am|im)",
        ),
        "nothing more is wanted of an assistant that asked",
        "No, that's all.",
        "Yes, please reserve a car.",
        (MORE,),
        "Booked. Anything else?",
        "Booked. Anything else?",
    ),
    Rule(
        "accepted:thanks",
        rf"^(?:[^.!?]{{0,60}}[.!?,] ?)?(?:[a-z]+ ){{0,4}}?{_THANKS}\b",
        "the user thanks",
        "Thanks, that helps a lot",
        "Thanks in advance for any ideas on my garden",
        (*NOT_OPEN, MORE),
        unless=r"\bbut\b[^?]*\b(?:didnt|dont|not|isnt|wasnt|never|doesnt)\b|\bthank (?:god|goodness)\b",
    ),
    Rule(
        "accepted:thanks",
        rf"^(?:[a-z]+[,.!]? ){{0,3}}?{_THANKS}[a-z ]{{0,40}}[.!]*$",
        "the user only thanks",
        "Thank you very much!",
        "Thank you, at nine please, and two seats by the window",
        (OPEN,),
        "Booked. Which day suits you?",
        "Booked. Which day suits you?",
    ),
    Rule(
        "accepted:praise",
        either(
            rf"(?:^|[.!?;:,] ?){_SOFT_OPENERS}{_SO}{_GOOD}(?: (?:one|job|work|answer|choice|idea|thing|point|to (?:know|hear|me)|for me"
            r"|enough|stuff|then|with me|option|suggestion|explanation))?(?:[.,!;:]|$| (?:and|thanks?|can|could|i|please|now|so|what"
            r"|where|how|do|is|lets?)\b)",
            rf"\b(?:thats|that is|its|it is|it was|this is|(?:^|that |it |this |they )(?:sounds?|looks?|seems?)|sounds|that was"
            rf"|(?:that|it) (?:would|will) be|youre|you are|th(?:e|o)se are|they are|youve been) {_SO}{_GOOD}\b",
            rf"^[a-z0-9 ]{{1,60}} (?:is|was|are|sounds?|looks?|seems?|would be|will be) {_SO}{_GOOD}(?:(?: \w+){{0,4}}[.,!]|$)",
            words(
                r"(?:love|loves|loved) (?:it|this|that|them)|^wow|i (?:really |also |do )?(?:like|love|liked|loved|enjoyed) (?:it|that"
                r"|this|the|them|these|those)",
                r"(?:that|it|this|which) (?:really |definitely |all )?(?:works?|helps?|helped|worked|suits?|does it|did it|fits"
                r"|(?:will|would|should) (?:do|work)|makes sense|made sense|solved|fixed)|thatll (?:do|work)|works for me|makes sense",
                r"good job|well done|nice work|thumbs_up|exactly what i|what i (?:wanted|needed|was looking for)|just what i"
                r"|did the trick|^(?:it )?works (?:like a charm|perfectly|great|beautifully)|^not (?:too |so |half"
                r" )?bad(?: at all)?[.! ]*$|you rock|youre the best|good bot|sounds like a plan",
            ),
        ),
        "the user praises it or finds it good",
        "That's perfect",
        "Which is the best one?",
        NOT_OPEN,
        unless=HALF_PRAISE,
    ),
    Rule(
        "accepted:affirms",
        opening(_YES),
        "yes to a question whether it is right or wanted, or to a statement",
        "Yes, that's what I want",
        "Yes, at nine",
        (NOTHING, CONFIRM, OFFER, SERVICE),
        "Shall I book it?",
        "What time would you like?",
        either(
            HALF_PRAISE,
            r"^(?:ok|okay|sure|right|fine|alright|k|yes|yeah|yep)[., ]+(?:but|this isnt|that isnt|it doesnt|except)\b",
            r"^(?:(?:hm+|um+|oh|ok|okay|well|yeah|yes|sure|right)[,. ]+)+(?:wait|hold on|hang on|let me think)\b",
        ),
    ),
    Rule(
        "accepted:understood",
        words(
            r"got it|i see(?: now)?[.,!]|^i see$|understood|good to know|i understand|that explains|works now|i learned",
            r"(?:didnt know|never knew|had no idea about) (?:that|this|it)|now i (?:get|know|understand)|noted|i agree",
            r"(?:thats|that is) (?:it|the one|all|what i)|(?:that will|thatll) be all|(?:im|i am) (?:good|all set|set|done|satisfied)",
        ),
        "the user has what was needed",
        "Ah, got it",
        "I need to see a doctor",
        (*NOT_OPEN, MORE),
        unless=HALF_PRAISE,
    ),
    Rule(
        "accepted:goes_with_it",
        words(
            r"(?:ill|i will|i would|id|let me|lets|we will|im (?:going to|gonna)|i shall|i might|i(?:d| would) like to|i want to|please"
            r"|can you|could you|would you|i need to)(?: just| definitely| also| then| have to| like to| love to| probably)?"
            rf" {_TAKE}(?: out)? {_THAT}",
            r"ill (?:go|be going) with|go(?:ing)? with (?:(?:number|option|no) ?\w+|that|the|it|this)|^turn (?:it|that|this) up"
            r"|ordering (?:now|it)|^(?:the|this|that) (?:first|second|third|last|latter|former) one",
            r"(?:add(?:ed|ing)?|put) (?:it|that|this|them) (?:to|on) my list|i (?:choose|pick|select|chose|want (?:that|this) one)",
            r"^(?:book|reserve|play|schedule|order|buy|take|do|share|send|confirm|purchase|select|choose|use|try) (?:it|that|this|them"
            r"|both|the first)",
        ),
        "the user takes what was proposed",
        "I'll go with the Lenovo",
        "I will take the train if it is cheaper",
        NOT_OPEN,
    ),
    Rule(
        "accepted:farewell",
        clause(
            r"(?:good ?)?bye(?: bye)?|see (?:you|ya)(?: later| soon)?|good ?night|take care|talk (?:to you )?later|farewell",
            r"(?:have|enjoy) (?:a|an|your) (?:\w+ )?(?:day|night|evening|one|weekend|time|afternoon)",
        ),
        "the user takes leave",
        "Have a great day!",
        "Say goodbye to him in Spanish",
        unless=HALF_PRAISE,
    ),
)

CONTINUED = (
    Rule(
        "accepted:wants_more_of_it",
        words(
            r"(?:tell|show|teach|give) me (?:a bit |a little |some |something )?more|go on|continue|keep going|more (?:details?"
            r"|info|about)",
            r"(?:can|could|would|will) you (?:please |also |maybe |further |briefly )?(?:explain|elaborate|expand|clarify"
            r"|summari[sz]e|describe"
            r"|walk me|add|include|give (?:me )?(?:an?|some|more) (?:examples?|details?))|explain|elaborate|expand on|clarify",
            r"(?:can|could|should|would|may) (?:i|we) (?:\w+ )?(?:use|replace|swap|substitute|add|skip|combine|make|do|leave|get|take|eat"
            r"|put|keep)\b[^.!]*\?|what if|what happens|difference between|for example",
        ),
        "the user goes on with what was said",
        "Tell me more about the first one",
        "Tell me a joke",
        NOT_OPEN,
    ),
    Rule(
        "accepted:asks_about_it",
        rf"(?:^|[.!?,;] ?)(?:[a-z]+,? ){{0,3}}?{_ASKING}\b(?:[a-z0-9 ,]{{0,80}}? )?"
        r"(?:it|its|they|their|them|theirs|he|his|him|she|her|hers|there|this|these|those|that)\b",
        "a question about what was said: it, their, his",
        "Does it have a garage?",
        "Is Oslo a city?",
        NOT_OPEN,
        "The Grand has 40 rooms.",
        "The Grand has 40 rooms.",
        # A statement, though it may have a verb that asks elsewhere: "I already have it".
        r"^(?:thats|its|i|im|ive|my|the|could be|he|hes|she|shes|we|you|youre|this|that|it)\b[^?]*$",
    ),
    Rule(
        "accepted:asks_for_detail",
        either(
            r"\b(?:whats?|tell me|give me|get me|know|have|share|provide|send me|check|where|how much|when|need)"
            r"(?: is| are| was| were| will be| me| also| please| i have| get| be| does| will| do)* (?:the|an?) (?:[a-z]+ ){0,2}?"
            rf"{_DETAILS}\b",
            r"^(?:[a-z]+,? ){0,3}?how (?:much|long|far|many|old|big|tall|windy|humid|hot|cold|expensive|large|wide|heavy|fast)\b",
        ),
        "a question for a detail",
        "What is the phone number?",
        "What is the plan?",
        NOT_OPEN,
        "The Grand has 40 rooms.",
        "The Grand has 40 rooms.",
    ),
)

# A clearly new topic: looked at last, where the message has little in common with the query.
OWN_REQUEST = Rule(
    "accepted:new_topic",
    either(
        r"\?",
        opening(
            r"(?:in |for |on |at |from |by |to )?(?:what|which|whom?|whose)|whats|whos|wheres?|when|why|how|hows|is|are|was|were|do|does"
            r"|did|has|have|can|could|would|will|should|tell|give|show|find|write|make|create|list|explain|translate|convert|calculate"
            r"|compare|recommend|suggest|summari[sz]e|describe|generate|plan|book|play|set|call|order|search|look|help|lets?|draft|define"
            r"|name|remind|send|add|solve|design|build|check|get|buy|compute|rewrite|turn|open|start|teach|read|draw|prove|reserve"
            r"|schedule",
            r"i (?:want|need|would like|am looking|wanna|have (?:a|another) question)|id like|im looking|im trying|(?:next|new)"
            r" (?:question|topic)",
        ),
    ),
    "a request or a question of its own, which refers to nothing before it",
    "Which hamster food is cheapest?",
    "Which of those is cheapest?",
    (NOTHING,),
    unless=words(
        r"this|that|thats|it|its|these|those|them|they|you|your|not|no|none|nothing|never|\w+nt|still|same|but|wrong|incorrect|instead"
        r"|anyway|anything|really|sure|again|other|another|else|actually|mistake|broken|fails?|failed|error|though|already|seriously"
        r"|(?:what|how) about"
    ),
)

# A message of nothing but these words thanks, greets, takes leave or accepts: it is no request, so it repeats none.
ONLY_POLITE = (
    r"^(?:(?:thanks?|thank|you|u|so|very|much|a|lot|bunch|again|for|all|your|the|help|helpful|been|youve|have|no|nope|yes|yeah|yep|ok"
    r"|okay|sure|great|good|perfect|nice|cool|awesome|wonderful|excellent|fine|that|thats|is|it|will|be|everything|hi|hello|hey|bye"
    r"|goodbye|morning|evening|night|day|and|but|please|i|would|in|fact|to|right|correct|works?|me|sounds|this|its|later|see"
    r"|appreciate|really|too|now|not|just|need|needed|do|like|love|am|im|of|course|go|ahead|confirm|one)(?:[ .,!?]+|$))+$"
)
