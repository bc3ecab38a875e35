"""Messages that refuse what the response before them proposed, and those that give the request up (rules C2, C3).

They follow the complaints of `implicit_patterns.py` and come before everything in `implicit_acceptance.py`; abandonment is
looked at after repetition.
"""

from dagster_project.systems.conversations.implicit_rules import (
    CONFIRM,
    NOT_OPEN,
    NOTHING,
    OFFER,
    SERVICE,
    SHORT,
    YES_NO,
    Rule,
    clause,
    either,
    opening,
    words,
)

_NOT = r"(?:not|isnt|wasnt|arent|werent|never|hardly|neither)"
_DONT = r"(?:dont|doesnt|didnt|wont|wouldnt|cant|couldnt|never|not)"
_KINDS = r"(?:options?|ones?|choices?|alternatives?|suggestions?|recommendations?|possibilities|ideas)"
_OTHER = r"(?:other|others|another|different|alternatives?|alternate|additional)"

# A message that starts so agrees; what it goes on to ask for is no change of it.
AGREES = (
    r"^(?:(?:oh|ok|okay|well|ah|please)[.,! ]+)*(?:yes|yeah|yep|yup|sure|correct|sounds|thatll|that (?:works|sounds"
    r"|is good|will)"
    r"|thats (?:good|great|fine|right|correct|perfect)|great|perfect|awesome|excellent|of course|go ahead|i like"
    r"|i love)\b"
)

REFUSALS = (
    Rule(
        "explicit:dislikes_it",
        words(
            r"(?:dont|didnt|never|wouldnt|dont think i) (?:\w+ )?(?:like|liked|care for|enjoy|enjoyed|want|love"
            r"|need) (?:it|that|this|those|them"
            r"|these|any of (?:these|those|them|that|your)|your|either)(?: one| movie| idea| song| place)?(?:[.,!?;]"
            r"| (?:and|but|because|so|at|much"
            r"|one|kind|too|very|either)|$)",
            rf"(?:^|(?:it|that|this|those|they|one|time|date|day|sorry|but|so|no) )(?:{_DONT}|{_NOT}|(?:will"
            rf"|would) not) (?:really |quite |going to )?(?:work|suit|fit|good|do|ideal"
            rf"|acceptable|convenient)(?: well)?"
            r"(?: (?:for|with))?(?: me| us| my| then| at all|$|[.!,])",
            r"not (?:for me|my (?:thing|style|type|cup|taste)|interested|a (?:big |huge )?fan|much of a"
            r"|going to work|what i had in mind|that one)",
            r"(?:have no|no) interest in|wasnt (?:really |much )?(?:a fan|impressed|into)|id rather not"
            r"|pass on (?:that|this|it)|(?:ill|i will) pass",
            r"(?:neither|none) of (?:them|these|those)",
        ),
        "the user does not want what was proposed or said",
        "I don't like that one",
        "I don't like spam, how do I block it?",
        (CONFIRM, OFFER, YES_NO, NOTHING),
    ),
    Rule(
        "explicit:dislikes_it",
        r"\b(?:sorry,? )?(?:but )?(?:it|that|this|i) (?:doesnt|wont|dont|wouldnt|cant|isnt)[. !]*$",
        "a no to what was proposed",
        "Sorry, but it doesn't.",
        "Sorry, but it doesn't.",
        (OFFER, CONFIRM),
        "There is one at 2 pm. Does that work for you?",
        "I hear your car is new. Has it got a radio?",
    ),
    Rule(
        "explicit:changes_it",
        either(
            r"^(?:(?:oh|ok|okay|well|no|i see|good|great|thanks|sorry)[.,! ]+)*(?:actually|wait|hold on|hang on"
            r"|scratch that|strike that|oops|whoops)\b",
            words(
                r"(?:changed my mind|on second thoughts?|scratch that|strike that"
                r"|^(?:sorry,? )?i made a mistake|now that i think"
                r"|silly me|my (?:bad|mistake))"
            ),
            clause(
                r"(?:(?:can|could|would|will) (?:you|we|i) )?(?:please |actually |instead |just |kindly )*(?:change"
                r"|switch|move|reschedule|modify|update)"
                r" (?:it|that|this|the \w+|them|my \w+)(?: \w+){0,3} (?:to|for|on|in|with)",
                r"(?:(?:can|could|would|will) (?:you|we) )?(?:please |actually |instead |just |kindly )*make (?:it"
                r"|that|them) \w+",
                r"(?:id|i would|i) (?:much |actually |really )?(?:rather|prefer)|(?:i need|i have|id like"
                r"|i would like|i want) to change",
            ),
            clause(
                r"(?:(?:can|could|would|will) (?:you|we|i)|please|i (?:want|need|would like)|id like|how about"
                r"|what about|lets|try|show|find|give"
                r"|book|use|play|cast)\b[^.?!]* instead(?: please|, same [^.?!]*)?[.!? ]*$",
            ),
        ),
        "the user wants it otherwise than it was understood or proposed",
        "Actually, make it 3 pm",
        "Yes, make it for two",
        (CONFIRM, OFFER, SERVICE, NOTHING),
        "You want a table at 2 pm, correct?",
        "Would you like to book a table?",
        either(
            AGREES,
            r"^(?:actually|wait),? (?:whats?|who|when|where|why|how|do|does|is|are|did|can you (?:tell|explain))\b",
            r"\bmake (?:it|that|this) (?:shorter|longer|simpler|funnier|clearer|better|easier|nicer|more|less|sound"
            r"|a bit|a little|rhyme)\b",
        ),
        SHORT,
    ),
    Rule(
        "explicit:wants_another",
        either(
            words(
                r"(?:find|show|suggest|recommend|have|got|need|want|see|look for|is there|are there|there|give|like"
                r"|get|try|search for|list|know|possess|any ?thing|some ?thing"
                rf"|offer|check|do|me|for|of|about|what|which|any|some|with|the)(?: me| us| any| some| an| a| the"
                rf"| are| is)* {_OTHER}(?: \w+){{0,3}}",
                r"(?:any ?thing|some ?thing|some ?one|any ?one|somewhere|anywhere|some ?place) else",
                rf"(?:any|some|more|further|additional|later|earlier|cheaper|better)(?: \w+)? {_KINDS}"
                rf"|what(?: \w+)? options",
                r"(?:are there|find|have|show|see|give|get|got|know)(?: me| us)? (?:any |some )?more|^(?:any"
                r"|what) (?:more|others?|else)",
            ),
            r"(?:^|[.!?,] ?)(?:\w+,? )?(?:(?:is|was|are|were) (?:that|this|those|it|these) (?:all|the only|it[? ]*$)"
            r"|an(?:other|y others?)\b)",
            r"\b(?:what|who|where) else (?:can|could|do|is there|are there|have|did|would|will|you|around|in|like|\?"
            r"|$)|\b(?:what|who|where) else[? .!]*$",
        ),
        "the user asks for another than what was offered",
        "Do you have anything else?",
        "Where is it?",
        NOT_OPEN,
        "How about the Grand Hotel?",
        "How about the Grand Hotel?",
        r"\b(?:(?:and|of|in|not|but) (?:the )?(?:each )?others\b|each other\b|the other (?:one|two|three|day|hand"
        r"|person|side)\b|another (?:alarm|plan|question|thing)\b"
        r"|(?:another|other|more|different) (?:example|way|joke|story|poem|reason|fact)s?\b|who else is (?:in|on"
        r"|with|playing)"
        r"|else (?:(?:i|we) (?:should|could|need|must|ought|can)|to (?:know|consider|do|see|watch|keep|think))"
        r"|(?:what|who|where) else (?:has|did|does|was"
        r"|happened|can (?:i|we|it|he|she)|is (?:he|she|it)|do (?:i|we|they|people)|writes?|makes?|uses?|wrote"
        r"|said|starred|played)"
        r"|(?:what|which) other \w+ (?:have|has|had|support|supports|use|uses|did|exist|works?|should i|could i"
        r"|can i|need)"
        r"|(?:do|run|make|write|draw|create|tell|tell me) another|^(?:haha+|lol|lmao|ha|good one|nice one|love it)\b"
        r"|(?:does|did|has|is) (?:he|she|they|it) |any different\b"
        r"|besides|aside from|apart from|other than|in addition to|any other [a-z]+$|than any)",
        SHORT,
    ),
    Rule(
        "explicit:not_confirmed",
        either(
            opening(
                r"no|nope|nah|not|actually|wait|hold|make|change|it (?:should|needs|will be|is for)|its for|instead"
                r"|rather",
                r"(?:i|im|i am) (?:also |actually |just |really )*(?:want|need|wanted|needed|prefer|would|have|will"
                r"|wish|meant|forgot|going|leaving)",
                r"id (?:also |actually )?(?:like|prefer|rather)|(?:can|could|would) (?:you|i|we) (?:please "
                r"|actually |just )?(?:change|make|get|do|switch"
                r"|have|play|try|book|use|add|move|send)|play|cast|call|use|try|book|set|add|send|share|put|lets"
                r"|the \w+ (?:is|should)|there (?:will|are)",
            ),
            r"^(?:im )?sorry\b",
            words(r"make (?:it|that)|actually|instead|change (?:it|that|the)"),
        ),
        "the assistant asked whether it had understood, and the user asks for something else",
        "I want a regular ride",
        "Yes, I want that",
        (CONFIRM,),
        "Please confirm: a luxury ride for 1.",
        "Please confirm: a luxury ride for 1.",
        AGREES,
    ),
    Rule(
        "explicit:no",
        r"^(?:(?:oh|ok|okay|well|hm+|um+|sorry|im sorry|hey|lol|haha|wait|ah|what|huh)[.,!? ]+)*(?:no|nope|nah|nay"
        r"|noo+)(?:[.,!;:? ]|$)",
        "a no to a statement, a proposal or a question whether it is right",
        "No, the other one",
        "No, I have never been there",
        (NOTHING, CONFIRM, OFFER),
        "It was built in 1931.",
        "Have you been to Oslo?",
        r"^no,? (?:thanks?|thank you|need|time|wonder|i (?:havent|have not|never|didnt|dont have|am not|wasnt)"
        r"|more|further)\b",
    ),
    Rule(
        "explicit:no",
        r"^no,? (?:thanks?|thank you)\b",
        "a polite no to a proposal",
        "No, thank you.",
        "No, thank you.",
        (OFFER,),
        "How about the Grand Hotel?",
        "Booked. Anything else?",
    ),
)

ABANDONED = (
    Rule(
        "abandonment:never_mind",
        words(
            r"never ?mind|nvm|forget (?:it|that|this|about (?:it|that|this)|i (?:asked|said)|everything)|(?:dont"
            r"|do not) bother",
            r"(?:drop|skip|scrap|leave) (?:it|that|this)(?: then| alone|$|[.,!])|(?:no|not) (?:needed"
            r"|worth it) any ?more",
            r"i (?:give|am giving|gave) up|im giving up|this is (?:hopeless|pointless|going nowhere"
            r"|not going anywhere)|i quit",
            r"(?:im|i am) done with (?:this|you)",
        ),
        "the user gives the request up",
        "Never mind, it's fine",
        "I don't mind either way",
    ),
    Rule(
        "abandonment:rephrases",
        words(
            r"let me (?:try to )?(?:re ?phrase|re ?word|put it|ask (?:it|you|that|this|again|in|another|different)"
            r"|try (?:again|asking|another)"
            r"|start|explain (?:again|what|it|better|myself)|clarify|be (?:more )?(?:clear|specific)|say it|restate)",
            r"(?:ill|i will|i should|allow me to) (?:re ?phrase|re ?word|restate|clarify)|in other words"
            r"|put (?:it )?(?:differently|another way)",
            r"what im (?:trying to|really) (?:say|ask|asking)",
        ),
        "the user gives this wording up",
        "Let me rephrase that",
        "Let me know the price",
    ),
    Rule(
        "abandonment:starts_over",
        words(
            r"(?:^|lets |can we |i want to |please |just )(?:start|begin) (?:over|again|afresh|from scratch|fresh"
            r"|from the beginning)|starting over",
            r"back to (?:square one|the (?:start|beginning))|(?:lets |can we |could we |we should )(?:talk about|try"
            r"|do|discuss) (?:something|anything)"
            r" (?:else|different|new)|change (?:the )?(?:subject|topic)",
        ),
        "the user starts anew",
        "Let's start over",
        "The show starts again in May",
    ),
    Rule(
        "abandonment:goes_elsewhere",
        words(
            r"(?:ill|i will|im going to|i guess ill|better off|let me just|might as well"
            r"|id rather)(?: \w+){0,5} (?:myself|elsewhere|somewhere else"
            r"|someone else|on my own|another (?:site|bot|tool|ai|app))",
            r"(?:ill|i will|let me|im going to) (?:just )?(?:google|look it up|ask (?:chatgpt|google|siri|alexa"
            r"|a human|someone|a person|an expert))",
            r"(?:talk|speak|transfer me|connect me|get me)(?: to| with)? (?:an? |the |your )?(?:real "
            r"|actual )?(?:human|agent|manager|representative|supervisor|person|operator|someone)",
            r"^(?:an? |the )?(?:live |real |human )?(?:agent|human|human being|operator|representative|real person"
            r"|customer service|supervisor)(?: please| now)?[.! ]*$",
            r"(?:isnt|not) (?:helping|working|getting (?:me )?anywhere)[,. ]+(?:so )?(?:ill|i will|im going to) \w+",
        ),
        "the user will do it alone or with someone else",
        "I'll just book it myself",
        "I'll do it tomorrow",
    ),
)
