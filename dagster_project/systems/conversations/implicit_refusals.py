"""Messages that refuse what the response before them proposed, and those that give the request up (rules C2, C3).

They follow the complaints of `implicit_complaints`; ABANDONED is looked at after repetition. Openers alone ("Actually",
"Wait") refuse nothing.
"""

from dagster_project.systems.conversations.implicit_rules import (
    COMPARATIVE,
    CONFIRM,
    DONT,
    FRIENDLY,
    NOT,
    NOT_OPEN,
    NOTHING,
    OFFER,
    OPEN,
    PROPOSED,
    SERVICE,
    SHORT,
    YES_NO,
    Rule,
    clause,
    either,
    opening,
    words,
)

_KINDS = r"(?:options?|ones?|choices?|alternatives?|suggestions?|recommendations?|possibilities|ideas)"
_OTHER = r"(?:other|others|another|different|alternatives?|alternate|additional)"

_SHOES, _OFFERS = "Find me some running shoes", "The Harrier 3 costs 90 euros."
# Who liked what was suggested asks for more of the kind.
_LIKED = (
    rf"\b{FRIENDLY}\b.*\b(?:suggest(?:ions?)?|recommend(?:ations?)?|ideas?|advice|tips|movies?|films?|books?|songs?|shows?|music"
    rf"|jokes?"
    r"|stories|recipes?|else)\b"
)

# A message that starts so agrees; what it goes on to ask for is no change of it.
AGREES = (
    r"^(?:(?:oh|ok|okay|well|ah|hm+|please|actually|wait|hold on|hang on)[.,! ]+)*(?:yes|yeah|yep|yup|sure|correct|sounds|thatll"
    r"|that (?:works|sounds"
    r"|is good|will)|thats (?:good|great|fine|right|correct|perfect)|great|perfect|awesome|excellent|of course|go ahead"
    r"|i like|i love)\b"
)

REFUSALS = (
    Rule(
        "explicit:dislikes_it",
        either(
            words(
                r"(?:dont|didnt|never|wouldnt|dont think i) (?:\w+ )?(?:like|liked|care for|enjoy|enjoyed|want|love|need) (?:it|that"
                r"|this|those|them|these|any of (?:these|those|them|your)|your|either(?: of (?:them|these|those))?)(?:"
                r" one| movie| idea| song| place)?(?:[.,!?;]"
                r"| (?:and|but|because|so|at|much|one|kind|too|very|either)|$)",
                rf"(?:^|(?:it|that|this|those|they|one|time|date|day|sorry|but|so|no) )(?:{DONT}|{NOT}|(?:will|would) not)"
                r" (?:really |quite |going to )?(?:work|suit|fit|good|do|ideal|acceptable|convenient)(?: well)?(?: (?:for|with))?"
                r"(?: me| us| my| then| at all|$|[.!,])",
                r"not (?:for me|my (?:thing|style|type|taste|kind of \w+|cup of tea)|interested|a (?:big |huge )?fan"
                r"|what i had in mind|that one)"
                r"|(?:have no|no) interest in|id rather not|pass on (?:that|this|it)|(?:ill|i will) pass|(?:neither|none) of"
                r" (?:them|these|those)",
            ),
        ),
        "the user does not want what was proposed or said",
        "I don't like that one",
        "I don't like spam, how do I block it?",
        (CONFIRM, OFFER, YES_NO, NOTHING),
    ),
    Rule(
        "explicit:changes_it",
        either(
            words(
                r"changed my mind|on second thoughts?|scratch that|strike that|^(?:sorry,? )?i made a mistake|now that i think"
                r"|^(?:oops|whoops|my (?:bad|mistake))"
            ),
            clause(
                r"(?:(?:can|could|would|will) (?:you|we|i) )?(?:please |actually |instead |just |kindly )*(?:change|switch|move"
                r"|reschedule|modify|update) (?:it|that|this|the \w+|them|my \w+)(?: \w+){0,3} (?:to|for|on|in|with)",
                r"(?:(?:can|could|would|will) (?:you|we) )?(?:please |actually |instead |just |kindly )*make (?:it|that|them) \w+",
                r"(?:id|i would|i) (?:much |actually |really )?(?:rather|prefer)|(?:i need|i have|id like|i would like|i want) to change",
                r"(?:(?:can|could|would|will) (?:you|we|i)|please|i (?:want|need|would like)|id like|how about|what about|lets|try"
                r"|show|find|give|book|use|play|cast)\b[^.?!]* instead(?: please|, same [^.?!]*)?[.!? ]*$",
            ),
            # an opener and then what is wanted otherwise: the opener alone means nothing
            r"^(?:(?:oh|ok|okay|well|no|i see|good|sorry)[.,! ]+)*(?:actually|wait|hold on|hang on)[,.! ]+(?:no\b|not\b"
            r"|i (?:want|need|meant|wanted|prefer)\b|id (?:rather|prefer|like)|(?:can|could) (?:you|we) (?:do|get|make|find|try"
            r"|book|play|use)|for \w+|on the|at \d|find|book|play|use|change)",
        ),
        "the user wants it otherwise than it was understood or proposed",
        "Actually, make it 3 pm",
        "Actually, that's great",
        (CONFIRM, OFFER, SERVICE, NOTHING),
        "You want a table at 2 pm, correct?",
        "You want a table at 2 pm, correct?",
        either(
            AGREES,
            # what is wanted is this very answer, or a moment, or nothing that was proposed
            r"\bi (?:want|need|wanted) (?:that|this|it|a (?:minute|moment|second|sec)|to (?:write|read|think|say|thank|know|check"
            r"|ask|look|see)|\w+ to it)\b|\bnot (?:sure|yet|now|bad)\b|\bthank|\b(?:too|as well)\b",
            r"\bmake (?:it|that|this) (?:shorter|longer|simpler|funnier|clearer|better|easier|nicer|more|less|sound|a bit|a little"
            r"|rhyme)\b",
        ),
        SHORT,
    ),
    Rule(
        "explicit:wants_another",
        rf"\b(?:but|however|though|except)\b[^?]*\b(?:{_OTHER}|(?:some|any) more|(?:some|any) ?thing else|more (?:\w+ )?{_KINDS})\b",
        "praise, and then a wish for another all the same",
        "It looks good, but can you find other ones?",
        "It looks good, but how tall is it?",
        (NOTHING, OFFER, CONFIRM),
        unless=r"\b(?:each other|other than|the other (?:day|hand|side)|(?:another|other) (?:example|way|question)s?)\b",
        given=SHORT,
    ),
    Rule(
        "explicit:wants_another",
        either(
            words(
                r"(?:find|show|suggest|recommend|have|got|need|want|see|look for|is there|are there|there|give|like|get|try|search for"
                r"|list|know|are|was|were|my|your|any ?thing|some ?thing|offer|check|do|me|for|of|about|what|which|any|some|with"
                r"|the)(?: me| us| any| some"
                rf"| an| a| the| are| is)* {_OTHER}(?: \w+){{0,3}}",
                r"(?:any ?thing|some ?thing|some ?one|any ?one|somewhere|anywhere|some ?place) else",
                rf"(?:more|further|additional|later|earlier|cheaper|better)(?: \w+)? {_KINDS}|what other options|(?:the |any"
                rf" )?(?:remaining|rest of the) \w+",
                r"(?:are there|find|have|show|see|give|get|got|know)(?: me| us)? (?:any |some )?more|^(?:any|what) (?:more|others?|else)",
            ),
            r"(?:^|[.!?,] ?)(?:\w+,? )?(?:(?:is|was|are|were) (?:that|this|those|it|these) (?:all|the only|it[? ]*$)|an(?:other|y"
            r" others?)\b)",
            r"\b(?:what|who|where) else (?:can|could|do|did you|is there|are there|have|did|would|will|you|in|like|\?|$)"
            r"|\b(?:what|who|where) else[? .!]*$",
        ),
        "the user asks for another than what was offered",
        "Do you have anything else?",
        "Great choices! Any other suggestions?",
        NOT_OPEN,
        "How about the Grand Hotel?",
        "How about the Grand Hotel?",
        either(
            _LIKED,
            r"\b(?:each other\b|the other (?:one|two|three|day|hand|person|side)\b|another (?:alarm|plan|question|thing)\b"
            r"|(?:another|other|more|different) (?:example|way|joke|story|poem|reason|fact)s?\b|who else is (?:in|on|with|playing)"
            r"|else (?:(?:i|we) (?:should|could|need|must|can)|to (?:know|consider|do|see|watch|keep))"
            r"|(?:what|who|where) else (?:has|did (?:he|she|it|they|i|we)|does|was|happened|can (?:i|we|it|he|she)|is (?:he|she|it)"
            r"|(?:can|could) you (?:do|say|help|tell me about (?:it|that|them))"
            r"|do (?:i|we|they|people))"
            r"|(?:do|run|make|write|draw|create|tell) another|besides|aside from|apart from|other than|in addition to"
            r"|any other [a-z]+$|than any)\b|^(?:haha+|lol|why|how)\b"
            # a statement that mentions another one asks for none
            r"|^(?:another one i|it|i (?:also |just )?(?:saw|watched|liked|love|think|thought))\b",
        ),
        SHORT,
    ),
    Rule(
        "explicit:wants_another",
        rf"\b(?:any|some)(?: \w+)? {_KINDS}|\bwhat(?: \w+)? options|^(?:[a-z]+[,.!]? ){{0,6}}?(?:(?:any|some) ?thing|somewhere|some"
        rf"|one|ones?|a|an)?(?: \w+)?(?: that is| thats| a bit| a little"
        rf"| even| much)* {COMPARATIVE}(?: one| ones| place| than (?:that|this))?(?: please| maybe)?[?.! ]*$",
        "the user asks for one that is otherwise than what was proposed",
        "Something lighter?",
        "Is it lighter than the old one?",
        NOT_OPEN,
        _OFFERS,
        _OFFERS,
        _LIKED + r"|\b(?:why|explain|because|is it|are they|does it|how|which)\b|^(?:and|also|plus|yes|yeah|sure)\b",
        PROPOSED,
        _SHOES,
    ),
    Rule(
        "explicit:wants_another",
        rf"^(?:(?:can|could|would|do|have|are|is|any|please|find|show|search|look|suggest|give)\b[^.?!]*) {_OTHER}\b",
        "asked to choose between what was found, the user asks for others",
        "Are there any alternatives?",
        "Are there any rooms?",
        (OPEN,),
        "I found two. Would you like the Grand or the Harbour Inn?",
        "I found two. Would you like the Grand or the Harbour Inn?",
        r"\b(?:other than|each other|any other [a-z]+$)\b",
        SHORT,
    ),
    Rule(
        "explicit:not_confirmed",
        either(
            opening(
                r"no|nope|nah|not|actually[,.]? \w+ \w+|(?:wait|hold on)[,.]? \w+ \w+|make|change|it (?:should|needs|will be|is"
                r" for)|its for|instead|rather",
                r"(?:actually,? |wait,? |i guess )?(?:i|im|ill|i am) (?:also |actually |just |really )*(?:want|need|wanted|needed"
                r"|prefer|would|have|will"
                r"|wish|meant|forgot|going|leaving|should)",
                r"(?:actually,? |wait,? )?(?:id (?:also |actually )?(?:like|prefer|rather)|(?:can|could|would) (?:you|i|we)"
                r" (?:please |actually "
                r"|just )?(?:change|make|get|do|switch|have|play|try|book|use|add|move|send)|play|cast|call|use|try|book|set|add"
                r"|send|share"
                r"|put|lets|the \w+ (?:is|should)|there (?:will|are))",
            ),
            r"^(?:im )?sorry\b",
            words(r"make (?:it|that)|instead|change (?:it|that|the)"),
        ),
        "the assistant asked whether it had understood, and the user asks for something else",
        "I want a regular ride",
        "Yes, I want that",
        (CONFIRM,),
        "Please confirm: a luxury ride for 1.",
        "Please confirm: a luxury ride for 1.",
        either(
            AGREES,
            rf"^(?:[a-z]+[,.] ?)?(?:actually|wait|hold on|hang on)\b[^.!]*(?:\?|\b(?:{FRIENDLY}|yes|yeah|right|correct|thinking"
            rf"|look|check)\b)",
        ),
    ),
    Rule(
        "explicit:no",
        r"^(?:(?:oh|ok|okay|well|hm+|um+|sorry|im sorry|hey|lol|haha|wait|ah|what|huh|actually)[.,!? ]+)*(?:no|nope|nah|nay"
        r"|noo+)(?:[.,!;:? ]|$)",
        "a no to a statement, a proposal or a question whether it is right",
        "No, the other one",
        "No, I have never been there",
        (NOTHING, CONFIRM, OFFER),
        "It was built in 1931.",
        "Have you been to Oslo?",
        r"^no,? (?:thanks?|thank you|need|time|wonder|i (?:havent|have not|never|didnt|dont have|am not|wasnt)|more|further)\b",
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
            r"never ?mind|nvm|forget (?:it|that|this|about (?:it|that|this)|i (?:asked|said)|everything)|dont bother",
            r"(?:drop|skip|scrap|leave) (?:it|that|this)(?: then| alone|$|[.,!])|(?:no|not) (?:needed|worth it) any ?more",
            r"i (?:give|am giving|gave) up|im giving up|this is (?:hopeless|pointless|going nowhere)|i quit|im done with (?:this|you)",
        ),
        "the user gives the request up",
        "Never mind, it's fine",
        "I don't mind either way",
        unless=r"\bnever ?mind (?:the|about|my) [^.!?]*,|\b(?:never|dont|wont|cant|didnt) forget\b",
    ),
    Rule(
        "abandonment:starts_over",
        words(
            r"let me (?:try to )?(?:re ?phrase|re ?word|put it|ask (?:it|you|that|this|again|in|another)|try (?:again|asking|another)"
            r"|start over|explain (?:again|what|it|better|myself)|clarify|be (?:more )?(?:clear|specific)|say it|restate)",
            r"(?:ill|i will|i should|allow me to) (?:re ?phrase|re ?word|restate|clarify)|in other words|put (?:it )?(?:differently"
            r"|another way)",
            r"(?:^|lets |can we |i want to |please |just )(?:start|begin) (?:over|again|afresh|from scratch|from the beginning)"
            r"|starting over",
            r"(?:lets |can we |could we |we should )(?:talk about|try|do|discuss) (?:something|anything) (?:else|different|new)"
            r"|change (?:the )?(?:subject|topic)",
        ),
        "the user gives this wording or this subject up",
        "Let me rephrase that",
        "Let me know the price",
    ),
    Rule(
        "abandonment:goes_elsewhere",
        words(
            r"(?:ill|i will|im going to|i guess ill|might as well|id rather)(?: \w+){0,5} (?:myself|elsewhere|somewhere else|someone else"
            r"|on my own|another (?:site|bot|tool|ai|app))",
            r"(?:ill|i will|let me|im going to) (?:just )?(?:google|look it up|ask (?:chatgpt|google|siri|alexa|a human|someone|a"
            r" person))",
            r"(?:talk|speak|transfer me|connect me)(?: to| with) (?:an? |the |your )?(?:real |actual )?(?:human|agent|manager"
            r"|representative"
            r"|person|operator|someone)|^(?:an? )?(?:live |real |human )?(?:agent|human|operator|representative)(?: please| now)?[.! ]*$",
        ),
        "the user will do it alone or with someone else",
        "I'll just book it myself",
        "I'll do it tomorrow",
    ),
)
