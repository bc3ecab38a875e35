"""Messages that accept the response before them, and those that say nothing about it (rules C2, C3).

They are looked at after every rejection, in the order NEUTRAL, ACCEPTED, an answer to a question, CONTINUED; the first record
that matches decides.
"""

from dagster_project.systems.conversations.implicit_rules import (
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

_THANKS = r"(?:thanks?|thank (?:you|u)|thx|thanx|tks|ty|tysm|cheers|much obliged|appreciated?|grateful|gratitude)"
_GOOD = (
    r"(?:great|perfect|awesome|excellent|good|nice|cool|wonderful|amazing|fantastic|lovely|brilliant|superb|fabulous"
    r"|terrific|neat"
    r"|beautiful|fine|ok|okay|alright|all right|interesting|helpful|useful|super|ideal|sweet|impressive|right"
    r"|correct|clear|lit"
    r"|splendid|outstanding|acceptable|suitable|convenient|hilarious|funny|true)"
)
_SO = (
    r"(?:(?:just|so|very|really|pretty|quite|an?|the|all|absolutely|like|actually|extremely|also|exactly"
    r"|totally|sure|too|more) )*"
)
_YES = (
    r"(?:yes|yeah|yep|yup|yea|ya|sure|ok|okay|okey|k|correct|right|exactly|absolutely|of course|definitely|certainly"
    r"|please do|go ahead"
    r"|confirm|confirmed|indeed|alright|all right|agreed|fine|precisely|approved?|proceed|affirmative|perfectly"
    r"|go for it|do it|why not)"
)
_TAKE = (
    r"(?:take|go with|go for|choose|pick|buy|try|watch|check|use|order|book|reserve|see|do|schedule|visit|play"
    r"|listen to|read|share"
    r"|purchase|make|get|have|want|confirm|proceed with)"
)
_THAT = (
    r"(?:it|that|this|those|them|these|both|one of|a reservation|an appointment|a look|the (?:first|second|third"
    r"|last|latter|former"
    r"|\w+ one|table|reservation|appointment|room|tickets?|song|movie|car))"
)
_DETAILS = (
    r"(?:address|phone|number|price|cost|rating|name|location|date|time|duration|type|genre|director|actors?|cast"
    r"|cuisine|fare"
    r"|temperature|humidity|wind|forecast|rent|album|artist|year|website|email|contact|reviews?|hours|menu|station"
    r"|airport|balance"
    r"|venue|category|capacity|size|colou?r|author|source|stops?|ride|total|charge)"
)
_ASKING = (
    r"(?:whats?|wheres?|when|whos?|how|why|which|is|are|does|do|did|was|were|has|have|had|can|could|will|would"
    r"|whose|in what|at what)"
)

# Praise of one thing and a reservation about another.
HALF_PRAISE = (
    r"\b(?:but|except|however|although|only) (?:[a-z0-9]+ ){0,5}?(?:not|isnt|arent|doesnt|dont|didnt|wont|cant"
    r"|without|broke|breaks|fails?|never|too|wrong|missing|lost|hate|hates"
    r"|still|should|need it|instead|no|wasnt|couldnt)\b|\b(?:isnt|arent|wasnt|not) (?:\w+ )?(?:right|correct"
    r"|good|great|true|helpful|useful|clear|ok|okay|fine|what)\b"
)

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
        "neutral:declines",
        either(
            r"^(?:[a-z]+[,.!]? ){0,3}?(?:no|nope|nah|not|dont|wont|isnt)\b",
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
        r"^(?:(?:oh|well|hm+|ok|okay|right|great|fine|alright|sure|i see|nice|cool|wonderful|k)(?:[.,! ]+|$))+$",
        "a word that would praise, after a response that could not do it",
        "Right, great.",
        "Right, great.",
        (NOTHING,),
        "Sorry, I was unable to find this order.",
        "Your order is on its way.",
        given=FAILED_TO,
    ),
)

ACCEPTED = (
    Rule(
        "accepted:nothing_else",
        either(
            r"^(?:[a-z]+[,.!]? ){0,3}?(?:no|nope|nah|none)(?: (?:for|at) (?:now|the moment|today|present|all"
            r"|this time))?(?:[.,!;]|$| (?:thanks?|thank"
            r"|that|thats|im|i|its|it|all|nothing|but thank|for now|not|you|youve|this|more|further|need|we|and thank"
            r"|mucho|ty|ok|okay|sir|maam))",
            r"^(?:[a-z]+[,.!]? ){0,3}?(?:all good|im (?:all )?(?:good|set|done|fine|ok)|(?:thats|that is|that was"
            r"|thatll be|that will be|that would be|that will|that would"
            r"|its|it is|i think thats|i think that is|i think that will be|i think thatll be|i think it is"
            r"|i believe thats|i believe that is|this is|this will be)"
            rf" {_SO}(?:all|it|everything|enough|fine|good|great|perfect|ok|okay|for now|about it|do|help|helpful"
            r"|sufficient|what i (?:need|wanted)))\b",
            r"^(?:[a-z]+[,.!]? ){0,3}?i (?:dont (?:need|think so|have|require|want anything|believe so|think there)"
            r"|think (?:im|i am|were|we are) )\b",
            r"^(?:[a-z]+[,.!]? ){0,3}?i think im\b",
            r"^(?:[a-z]+[,.!]? ){0,3}?(?:nothing|not)(?: (?:else|more|for now|for today|right now|now|at (?:the moment"
            r"|this time|all|present)|really|today|further|that i|i can"
            r"|just yet|yet|as of|thanks?|thank you|a thing|anymore|any more|much|this time|to change|i need)\b|[.,!]"
            r"|$)",
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
            clause(
                rf"{_SO}{_GOOD}(?: (?:one|job|work|answer|choice|idea|thing|point|to (?:know|hear|me)|for me|enough"
                rf"|stuff|then|with me"
                r"|option|suggestion|explanation))?(?:[.,!;:]|$| (?:but|and|thanks?|can|could|i|please|now|so|what"
                r"|where|how|do|is|lets?))"
            ),
            rf"\b(?:thats|that is|its|it is|it was|this is|(?:^|that |it |this |they )(?:sounds?|looks?|seems?)"
            rf"|sounds|that was"
            rf"|(?:that|it) (?:would|will) be|youre|you are|th(?:e|o)se are|they are|youve been) {_SO}{_GOOD}\b",
            rf"^[a-z0-9 ]{{1,60}} (?:is|was|are|sounds?|looks?|seems?|would be|will be) {_SO}{_GOOD}(?: \w+){{0,4}}[.,!]",
            rf"^[a-z0-9 ]{{1,60}} (?:is|was|are|sounds?|looks?|seems?|would be|will be) {_SO}{_GOOD}$",
            words(
                r"(?:love|loves|loved) (?:it|this|that|them)|^wow|wow[.! ]*$|i (?:really |also |do )?(?:like|love|liked"
                r"|loved|enjoyed) (?:it|that"
                r"|this|the|them|these|those)",
                r"(?:that|it|this|which) (?:really |definitely |all )?(?:works?|helps?|helped|worked|suits?|does it"
                r"|did it|fits|will do|would do"
                r"|will work|would work|should work|makes sense|made sense|solved|fixed)|thatll (?:do|work)"
                r"|works for me|makes sense|suits me",
                r"good job|well done|nice work|thumbs_up|exactly what i|what i (?:wanted|needed|was looking for)"
                r"|just what i|you rock"
                r"|youre the best|good bot|sounds like a plan",
            ),
        ),
        "the user praises it or finds it good",
        "That's perfect",
        "Which is the best one?",
        NOT_OPEN,
        unless=HALF_PRAISE,
    ),
    Rule(
        "accepted:praise",
        rf"\bbut (?:[a-z]+ ){{0,2}}?(?:works?|worked|helps?|helped|(?:is|was|its|thats|looks|sounds) {_SO}{_GOOD}"
        r"|i (?:really |still )?(?:like|love))\b",
        "praise after a reservation",
        "I hate heights, but that sounds great",
        "That sounds great, but I hate heights",
        NOT_OPEN,
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
            HALF_PRAISE, r"^(?:ok|okay|sure|right|fine|alright|k)[., ]+(?:but|this isnt|that isnt|it doesnt|except)\b"
        ),
    ),
    Rule(
        "accepted:affirms",
        opening(r"correct|exactly|thats (?:right|correct)|that is (?:right|correct)|absolutely|precisely"),
        "the response is right",
        "Exactly, where will it be?",
        "Yes, I have.",
        (YES_NO,),
        "Tickets to the fair on Friday?",
        "Have you been to Oslo?",
    ),
    Rule(
        "accepted:understood",
        words(
            r"got it|i see(?: now)?[.,!]|^i see$|understood|good to know|i understand|that explains|it work(?:s"
            r"|ed)(?: now)?|works now",
            r"i learned|(?:didnt know|never knew|had no idea about) (?:that|this|it)|now i (?:get|know|understand)"
            r"|noted|i agree|you have my (?:approval"
            r"|permission|consent)",
            r"(?:thats|that is) (?:it|the one|all|what i)|(?:that will|thatll) be all|(?:im|i am) (?:good|all set"
            r"|set|done|satisfied)",
        ),
        "the user has what was needed",
        "Ah, got it",
        "I need to see a doctor",
        (*NOT_OPEN, MORE),
    ),
    Rule(
        "accepted:goes_with_it",
        words(
            r"(?:ill|i will|i would|id|let me|lets|we will|im going to|im gonna|i shall|i might|id like to"
            r"|i would like to|i want to|please|can you"
            rf"|could you|would you|i need to)(?: just| definitely| also| then| have to| like to| love to"
            rf"| probably)? {_TAKE}(?: out)? {_THAT}",
            r"ill (?:go|be going) with|go(?:ing)? with (?:number|option|no) ?\w+|^turn (?:it|that|this) up"
            r"|ordering (?:now|it)|^(?:the|this|that) (?:first|second|third|last|latter"
            r"|former) one|go(?:ing)? with (?:that|the|it|this)",
            r"(?:add(?:ed|ing)?|put) (?:it|that|this|them) (?:to|on) my list|i (?:choose|pick|select|chose"
            r"|want that one|want this one)",
            r"^(?:book|reserve|play|schedule|order|buy|take|do|share|send|confirm|purchase|select|choose|use"
            r"|try) (?:it|that|this|them|both|the first)",
        ),
        "the user takes what was proposed",
        "I'll go with the Lenovo",
        "I will take the train if it is cheaper",
        NOT_OPEN,
    ),
    Rule(
        "accepted:farewell",
        clause(
            r"(?:good ?)?bye(?: bye)?|see (?:you|ya)(?: later| soon)?|good ?night|take care|talk (?:to you )?later"
            r"|ttyl|farewell|cya",
            r"(?:have|enjoy) (?:a|an|your) (?:\w+ )?(?:day|night|evening|one|weekend|time|afternoon)",
        ),
        "the user takes leave",
        "Have a great day!",
        "Say goodbye to him in Spanish",
    ),
)

CONTINUED = (
    Rule(
        "accepted:wants_more_of_it",
        words(
            r"(?:tell|show|teach|give) me (?:a bit |a little |some |something )?more|go on|continue|keep going"
            r"|more (?:details?|info|about)",
            r"(?:can|could|would|will) you (?:please |also |maybe |further |briefly )?(?:explain|elaborate|expand"
            r"|clarify|summari[sz]e|tell|describe"
            r"|walk me|add|include|show|give (?:me )?(?:an?|some|more) (?:examples?|details?|info\w*))|(?:explain"
            r"|elaborate|expand on|clarify)",
            r"(?:can|could|should|would|may) (?:i|we) (?:\w+ )?(?:use|replace|swap|substitute|add|skip|combine|make|do"
            r"|leave|get|take|eat|put|keep)\b[^.!]*\?",
            r"(?:what|how) about (?:the|its|their|his|her|my|if|when|an?)|which (?:one|ones|of)|compare|what if"
            r"|what happens|difference between",
            r"how (?:do|does|would|can|could|should) (?:i|it|that|this|we|you|they)|why (?:is|does|do|did|are|was"
            r"|not|would)|for example",
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
            r"(?: is| are| was| were| will be| me| also| please| i have| get| be| does| will| do)* (?:the"
            r"|an?) (?:[a-z]+ ){0,2}?"
            rf"{_DETAILS}\b",
            r"^(?:[a-z]+,? ){0,3}?how (?:much|long|far|many|old|big|tall|windy|humid|hot|cold|expensive|large|wide"
            r"|heavy|fast)\b",
        ),
        "a question for a detail",
        "What is the phone number?",
        "What is the plan?",
        NOT_OPEN,
        "The Grand has 40 rooms.",
        "The Grand has 40 rooms.",
    ),
    Rule(
        "accepted:goes_on",
        r"^(?:and|also|plus|additionally|besides|moreover|next|then|now|in addition|furthermore|apart from|btw"
        r"|by the way)\b",
        "the message builds on what was said",
        "And who designed the tower",
        "Now it is closed",
        (NOTHING,),
        unless=r"^(?:now|then|and|also)(?: now)? (?:i|im|ive|my|all|the|it|its|there|theres|nothing|everything|youve?"
        r"|half|they)\b[^?]*$",
    ),
)

# A clearly new topic: looked at last, where the message has little in common with the query.
OWN_REQUEST = Rule(
    "accepted:new_topic",
    either(
        r"\?",
        opening(
            r"(?:in |for |on |at |from |by |to )?(?:what|which|whom?|whose)|whats|whos|wheres?|when|why|how|hows|is"
            r"|are|was|were|do|does|did|has|have"
            r"|can|could|would|will|should|tell|give|show|find|write|make|create|list|explain|translate|convert"
            r"|calculate|compare|recommend"
            r"|suggest|summari[sz]e|describe|generate|plan|book|play|set|call|order|search|look|help|let|lets|draft"
            r"|define|name|remind|send|add"
            r"|solve|design|build|implement|check|get|buy|compute|rewrite|proofread|turn|open|start|teach|read|draw"
            r"|prove|given|reserve|schedule",
            r"i (?:want|need|would like|am looking|wanna|have (?:a|another) question)|id like|im looking|im trying"
            r"|next (?:question|topic)|new (?:question|topic)",
        ),
    ),
    "a request or a question of its own, which refers to nothing before it",
    "Which hamster food is cheapest?",
    "Which of those is cheapest?",
    (NOTHING,),
    unless=words(
        r"this|that|thats|it|its|these|those|them|they|not|no|none|nothing|never|\w+nt|still|same|but|wrong"
        r"|incorrect|instead|anyway|anything"
        r"|really|sure|again|other|another|else|actually|mistake|broken|fails?|failed|error|though|already|seriously"
    ),
)

# A message of nothing but these words thanks, greets, takes leave or accepts: it is no request, so it repeats none.
ONLY_POLITE = (
    r"^(?:(?:thanks?|thank|you|u|so|very|much|a|lot|bunch|again|for|all|your|the|help|helpful|been|youve|have|no"
    r"|nope|yes|yeah|yep|ok"
    r"|okay|sure|great|good|perfect|nice|cool|awesome|wonderful|excellent|fine|that|thats|is|it|will|be|everything"
    r"|hi|hello|hey|bye"
    r"|goodbye|morning|evening|night|day|and|but|please|i|would|in|fact|to|right|correct|works?|me|sounds|this|its"
    r"|later|see"
    r"|appreciate|really|assistance|too|now|not|just|need|needed|do|like|love|am|im|of|course|go|ahead|confirm"
    r"|one)(?:[ .,!?]+|$))+$"
)
