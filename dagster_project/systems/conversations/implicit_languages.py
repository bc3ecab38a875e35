"""Messages that are not English: how they are told, and the openers of rejection, thanks and giving up in five languages.

A message is not English where it has more small words of German, French, Spanish, Italian or Portuguese than of English;
where most of its letters are none of Latin; or where it has none of these words, or only such as other languages have,
and the model of `columns.language` says so.
Of such a message only the records below speak, whichever of the five languages it is in; without one it is neutral, whatever
names and numbers it shares with the response (rule C2).

Patterns see the message in lower case, without accents ("très" is "tres", "ß" is "ss"), signs as spaces but `.,!?`.
"""

import polars as pl

from dagster_project.columns.language import languages
from dagster_project.systems.conversations.implicit_rules import Rule, either, ready

MODEL_WORDS = 4  # from so many words on the model is asked: of fewer it guesses
LATIN_SHARE = 0.5  # of the letters
SPOKEN = ("de", "fr", "es", "it", "pt")

# Not among them: what is also a word, a name or a part of a place in the other ("no", "los", "la", "was", "will", "des").
ENGLISH = """the and you your what how is are it this that with for of to my can does please thanks thank not i im id ill ive yes
    good great have would like want need there any which when where who why but be at if they we she one from about book find show
    tell more other else still wrong right work dont doesnt didnt cant isnt let make get give see know think thats its looks sounds
    never mind just too much very now then well nice perfect sure exactly could should has had did been were than them their up out
    over again first second last hello hi hey okay ok awesome cool something anything nothing only here yeah nope""".split()
# Of them those that other languages have, too: a message with no other English word is not yet English ("veel te duur is").
SHARED = "is to me we he of for at had over have up it still here can am".split()
OTHERS = """der das und ist nicht ich ein eine einen mir zu mit auf fur dem von wie kannst bitte danke nein falsch stimmt aber auch noch
    warum gibt kein keine mehr wir ja habe hast doch nochmal vergiss egal gemeint wollte etwas anderes du sie sind hilft lass
    les est pas je une vous ce cest qui dans avec mais merci oui mon quel quelle pourquoi comment faux ca votre elle nest jai du et
    voulais autre chose laisse laissez tombe jamais tant pis oublie oubliez bien tres cela tu
    una por para que como gracias pero muy esta esto eso yo donde cuando hay quiero queria incorrecto equivocado olvidalo dejalo
    equivocas equivoca otra cosa algo gracias mucho esta mal nada respuesta
    lo gli che sono non grazie questo quello dove perche voglio vorrei della sbagliato sbagliata intendevo lascia perdere molto era
    sbagli qualcos altro corretto giusto niente mille
    blodsinn quatsch unsinn trompes trompez
    os um uma nao obrigado obrigada mas mais muito isto isso meu voce onde quero errado esquece esqueca deixa queria dizer outra coisa
    certo correto ajudou""".split()
_AMBIGUOUS = {"era", "du", "et", "bien", "lo"}

_EXAMPLES = "It was built in 1931."


def _rule(reason: str, pattern: str, means: str, example: str, counter_example: str, unless: str = "") -> Rule:
    unless = unless or (_ENDS_POLITE if reason == REJECTS else "")
    return Rule(
        reason, pattern, means, example, counter_example, response=_EXAMPLES, counter_response=_EXAMPLES, unless=unless
    )


POLITE = "neutral:other_language"
REJECTS, GIVES_UP, THANKS = "explicit:other_language", "abandonment:other_language", "accepted:other_language"
# Who says "not far" and then thanks does not object.
_ENDS_POLITE = (
    r"[,.!] ?(?:danke(?: schon| dir| ihnen)?|super|toll|perfekt|merci(?: beaucoup)?|(?:muchas )?gracias|(?:mille )?grazie"
    r"|(?:muito )?obrigad[oa])[.! ]*$"
)
_OBJECTS = r"\b(?:aber|falsch|nicht|mais|faux|pas ce|pero|mal|ma|sbagliat[oa]|mas|errado)\b"

OTHER_LANGUAGES = (
    Rule(
        POLITE,
        either(
            r"^(?:nein|nee)[,.! ]+(?:(?:vielen |recht )?danke?|alles (?:gut|klar|bestens|ok)|schon gut|passt|kein problem|keine sorge"
            r"|das (?:war|wars|waren|reicht|passt|ist alles))\b",
            r"^non[,.! ]+(?:merci|c est (?:tout|bon|parfait)|pas de (?:souci|probleme)|ca va|tout va bien|grazie|c e problema)\b",
            r"^no[,.! ]+(?:(?:muchas |mil )?gracias|(?:mille )?grazie|eso es todo|todo bien|hay problema|nada mas|va bene|basta|tutto"
            r" (?:bene|a posto)|nessun problema|e tutto)\b|^no (?:es|hay) (?:un |ningun )?problema\b|^no esta (?:nada )?mal\b",
            r"^nao[,.! ]+(?:(?:muito )?obrigad[oa]|e so isso|(?:e |ha |tem )?problemas?|sem problemas?|tudo bem|esta (?:bem|bom|otimo))\b",
        ),
        "a no that is polite: enough, nothing more, no problem",
        "Nein danke, das reicht mir.",
        "Nein danke, das ist falsch.",
        response=_EXAMPLES,
        counter_response=_EXAMPLES,
        unless=_OBJECTS,
    ),
    _rule(
        REJECTS,
        r"^(?:(?:aber|also|hm+|ah|oh|sorry|doch|leider|vollig)[,. ]+)*(?:nein(?:[,.! ]|$)|nee[,. ]|falsch|das (?:ist|war)(?: \w+)?"
        r" (?:falsch|(?:nicht|kein\w*)(?: \w+)? (?:was|wonach|das|der|die|den|richtig|korrekt|wahr|gut\w*|hilfreich\w*|meine?"
        r"|antwort|hilfe|gefragt|gemeint)\b)|(?:das )?stimmt (?:\w+ )?nicht|ich meinte\b|(?:das ist (?:doch"
        r" )?)?(?:blodsinn|quatsch|unsinn)\b"
        r"|(?:da )?(?:liegst du|irrst du dich|du irrst)\b|das (?:habe|hatte) ich (?:so )?nicht (?:gefragt|gemeint|gesagt|gewollt)"
        r"|ich (?:wollte|hatte|habe) (?:doch|aber|eigentlich|nicht (?:das|die|den|danach|nach))\b|das (?:funktioniert|geht|klappt"
        r"|hilft)(?: \w+){0,2}"
        r" (?:nicht|immer noch nicht)|(?:du hast|sie haben)\b[^,.?]* (?:falsch|nicht)\b|immer noch (?:falsch|nicht|der gleiche"
        r"|derselbe)|so nicht)",
        "German: no, wrong, that is not so, it does not work",
        "Nein, ich meinte den Kirchturm.",
        "Das ist nett, und wo steht er?",
    ),
    _rule(
        GIVES_UP,
        r"\b(?:vergiss es|vergessen sie es|^egal[.! ]*$|schon gut[.! ]*$|lass (?:es|gut sein)|ich mach(?:e)? es selbst|ich gebe auf"
        r"|reden wir uber etwas anderes|fangen wir (?:von vorne|neu) an)",
        "German: the user gives up",
        "Ach, vergiss es.",
        "Vergiss nicht die Adresse.",
    ),
    _rule(
        THANKS,
        r"^(?:(?:ja|ok|okay|super|toll|gut|prima|perfekt|ah|alles klar)[,.! ]+)*(?:danke|vielen dank|dankeschon"
        r"|perfekt|super|genau|passt|das"
        r" (?:hilft"
        r"|passt|stimmt|ist (?:gut|super|perfekt|richtig|toll)))\b(?:[,.! ]+(?:dir|ihnen|schon|sehr|das hilft|das"
        r" reicht|dafur|mir|perfekt|super|toll))*[.,! ]*$",
        "German: thanks or praise and nothing else",
        "Super, danke!",
        "Danke, aber das ist nicht der Turm.",
    ),
    _rule(
        REJECTS,
        r"^(?:(?:mais|alors|euh|ah|oh|bon|desole|non)[,. ]+)*(?:non(?:[,.!]|$)|faux|(?:c est|c etait|cest|ce n est|ce nest|cela n"
        r" est|ce n etait|cetait)(?: \w+)? (?:faux|incorrect|errone|pas (?:du tout|ce|ca|cela|le|la|les|un|une|bon"
        r"|bonne|bien|vrai|juste|correct|exact|mon|ma"
        r"|mes|utile)\b)|je (?:voulais (?:dire|parler|savoir|un|une|le|la|les|des|du)|parlais|n ai pas|nai pas|ne"
        r" (?:voulais|veux) pas)\b|(?:ca|cela) ne (?:marche"
        r"|fonctionne|va|repond|m aide)"
        r"|vous n avez pas|tu n as pas|toujours (?:pas|faux|la meme)|tu te trompes|vous vous trompez|n importe quoi[.! ]*$)",
        "French: no, wrong, that is not so, it does not work",
        "Non, je voulais dire le clocher.",
        "C'est bien, et il est en pierre ?",
    ),
    _rule(
        GIVES_UP,
        r"\b(?:laisse(?:z)? tomber|oublie(?:z)?(?: ca| cela|[.! ]*$)|tant pis|peu importe[.! ]*$|je (?:vais le faire|le ferai) moi meme|j"
        r" abandonne"
        r"|parlons d autre chose|recommencons)",
        "French: the user gives up",
        "Laisse tomber.",
        "N'oublie pas l'adresse.",
    ),
    _rule(
        THANKS,
        r"^(?:(?:oui|ok|super|parfait|tres bien|ah|d accord)[,.! ]+)*(?:merci(?: beaucoup| bien)?|parfait|super|exactement|genial"
        r"|c est (?:parfait|bon|super|ca|genial|tres bien))(?:[,.! ]+(?:a vous|pour (?:votre|ton) aide|(?:c est"
        r" )?(?:parfait|super|genial)))*[.,! ]*$",
        "French: thanks or praise and nothing else",
        "Parfait, merci beaucoup !",
        "Merci, mais ce n'est pas la tour.",
    ),
    _rule(
        REJECTS,
        r"^(?:(?:pero|eh|ah|oh|bueno|perdon)[,. ]+)*(?:no[,.] (?:eso|esto|es|esta|queria|quise|me refer|pedi|funciona"
        r"|sirve|quiero|era|ese|esa)"
        r"|no (?:es|esta|era) (?:eso|esto|ese|esa|lo|la|el|mi|correcto|cierto|verdad|asi[.! ]*$|bien|bueno|util)\b"
        r"|no (?:queria|quise|me refer|pedi|funciona|sirve|me (?:sirve|gusta|ayuda)|quiero (?:eso|esto|ese|esa|este|esta|el|la|un|una))\b"
        r"|(?:eso|esto)(?: \w+)? (?:no|esta mal|es incorrecto|es falso)|esta mal|incorrecto|falso|te equivocas|se equivoca"
        r"|(?:yo )?(?:queria|quise) decir|me referia|sigue sin|todavia no (?:funciona|va)|eso no)",
        "Spanish: no, wrong, that is not so, it does not work",
        "No, me refería a la torre de la iglesia.",
        "No sabía eso, ¿y quién la diseñó?",
    ),
    _rule(
        GIVES_UP,
        r"\b(?:olvidalo|olvidelo|dejalo|da igual[.! ]*$|no importa[.! ]*$|ya lo hago yo|lo hare yo mismo|me rindo"
        r"|hablemos de otra cosa|empecemos"
        r" de nuevo)",
        "Spanish: the user gives up",
        "Bah, olvídalo.",
        "No olvides la dirección.",
    ),
    _rule(
        THANKS,
        r"^(?:(?:si|ok|vale|perfecto|genial|muy bien|ah)[,.! ]+)*(?:(?:muchas |mil )?gracias|perfecto|genial|exacto|excelente|estupendo"
        r"|eso es)(?:[,.! ]+(?:por (?:tu|su|la) ayuda|perfecto|genial|excelente))*[.,! ]*$",
        "Spanish: thanks or praise and nothing else",
        "¡Perfecto, muchas gracias!",
        "Gracias, pero no es esa torre.",
    ),
    _rule(
        REJECTS,
        r"^(?:(?:ma|eh|ah|oh|scusa)[,. ]+)*(?:no[,.]? (?:e|non|questo|quello|intendevo|volevo|ho|hai|mi)\b"
        r"|(?:(?:questo|quello|cosi)(?: \w+)? )?non"
        r" (?:(?:e|era) (?:quel\w*|quest\w*|cio|la|il|lo|l|cosi[.! ]*$|corrett\w|giust\w|ver\w|esatt\w|utile)|funziona"
        r"|va|mi (?:piace|serve|aiuta)"
        r"|ho chiesto|hai (?:capito|risposto))\b|e sbagliat|sbagliat[oa]|falso|intendevo|volevo dire|ti"
        r" sbagli|si sbaglia"
        r"|ancora (?:sbagliato|lo stesso))",
        "Italian: no, wrong, that is not so, it does not work",
        "No, intendevo il campanile.",
        "Non lo sapevo, e chi l'ha progettato?",
    ),
    _rule(
        GIVES_UP,
        r"\b(?:lascia (?:perdere|stare)|lasci perdere|non importa[.! ]*$|fa niente[.! ]*$|faccio da solo|mi arrendo"
        r"|parliamo d altro|ricominciamo)",
        "Italian: the user gives up",
        "Lascia perdere.",
        "Lascia il titolo com'è.",
    ),
    _rule(
        THANKS,
        r"^(?:(?:si|ok|va bene|perfetto|ottimo|ah)[,.! ]+)*(?:(?:mille |tante )?grazie(?: mille)?|perfetto|ottimo|esatto|benissimo"
        r"|va benissimo)(?:[,.! ]+(?:per l aiuto|perfetto|ottimo))*[.,! ]*$",
        "Italian: thanks or praise and nothing else",
        "Perfetto, grazie mille!",
        "Grazie, ma non è quella torre.",
    ),
    _rule(
        REJECTS,
        r"^(?:(?:mas|eh|ah|oh|desculpe|desculpa|nao,)[,. ]+)*(?:nao[,.!] ?(?:e|era|foi|quero|queria|isso|isto|esta|eu)\b"
        r"|nao (?:e|era|foi|esta) (?:isso|isto|o|a|bem isso|corret\w|certo|verdade|bom|boa|util|esse|essa)\b"
        r"|nao (?:queria|funciona|funcionou|pedi|respondeu|ajudou|gostei|serve|isso|isto|quero (?:isso|isto|esse|essa|o|a|um|uma))\b"
        r"|nao[.! ]*$|(?:isso|isto)(?: \w+)? (?:nao|esta errado|e falso|errado)|esta errado|errado|falso|eu (?:quis|queria) dizer"
        r"|quis dizer"
        r"|voce (?:errou|nao|esta (?:errad|enganad)[oa])|ainda nao (?:funciona|esta)|continua errado)",
        "Portuguese: no, wrong, that is not so, it does not work",
        "Não, eu quis dizer a torre da igreja.",
        "Não sabia disso, e quem a projetou?",
    ),
    _rule(
        GIVES_UP,
        r"\b(?:esquece|esqueca(?: isso)?|deixa (?:pra la|para la|estar)|nao importa[.! ]*$|eu mesmo faco|desisto|vamos"
        r" falar de outra coisa)",
        "Portuguese: the user gives up",
        "Ah, deixa pra lá.",
        "Deixa o título como está.",
    ),
    _rule(
        THANKS,
        r"^(?:(?:sim|ok|certo|perfeito|otimo|ah)[,.! ]+)*(?:(?:muito )?obrigad[oa]|perfeito|otimo|exato|isso mesmo|excelente)"
        r"(?:[,.! ]+(?:pela ajuda|perfeito|otimo))*[.,! ]*$",
        "Portuguese: thanks or praise and nothing else",
        "Perfeito, muito obrigado!",
        "Obrigado, mas não é essa torre.",
    ),
    _rule(
        THANKS,
        r"^(?:danke|vielen dank|merci(?: beaucoup)?|(?:muchas )?gracias|(?:mille )?grazie|(?:muito )?obrigad[oa])\b[,.! ].{2,60}$",
        "thanks in any of the five, and then nothing against it",
        "Danke, das hilft mir sehr.",
        "Merci, ce n'est pas la tour.",
        unless=r"[?]|\b(?:aber|doch|nicht|noch|kein\w*|leider|trotzdem|falsch|eigentlich|mais|pas|encore|faux|plutot|pero|aunque"
        r"|mal|falta|ma|non|sbagliat\w*|ancora|mas|nao|porem|ainda|errad\w*|[ao]utr[oa]s?|otr[oa]s?|altr[oi]|no)\b",
    ),
)


def without_accents(text: pl.Expr) -> pl.Expr:
    """The text as the records above see it."""
    return (
        text.str.normalize("NFKD")
        .str.replace_all(r"\p{M}", "")
        .str.to_lowercase()
        .str.replace_many(["ß", "œ", "æ"], ["ss", "oe", "ae"])
        .str.replace_all(r"[^a-z0-9.,!?]+", " ")
        .str.strip_chars(" ")
    )


def languages_of(messages: pl.Series) -> pl.DataFrame:
    """Of each message `is_foreign`, not in English, and `is_spoken`, one the records above may speak.

    What is too short to tell passes for English.
    """
    found = pl.DataFrame({"is_foreign": [False], "is_spoken": [True]})
    found = found.select(pl.all().repeat_by(len(messages)).explode()) if len(messages) else found.clear()
    # most messages are plain English: only those without an English word, or with a foreign sign, are looked at closely
    lower = messages.str.to_lowercase()
    maybe = (
        (~lower.str.contains(_SURELY_ENGLISH) | lower.str.contains(_OTHER_WORD + _OTHER_SIGN))
        .fill_null(False)
        .arg_true()
    )
    if not len(maybe):
        return found
    message = pl.col("message")
    plain = without_accents(message.str.replace_all("['’]", ""))
    letters, latin = (message.str.count_matches(kind) for kind in (r"\p{L}", r"\p{Latin}"))
    counted = pl.DataFrame([messages.gather(maybe).rename("message")]).select(
        "message",
        words=message.str.count_matches(r"[\p{L}\p{M}'’]+"),
        is_other_writing=(letters > 0) & (latin < LATIN_SHARE * letters),
        english=plain.str.count_matches(_ENGLISH_WORD),
        is_english=plain.str.contains(_SURELY_ENGLISH),
        others=without_accents(message).str.count_matches(_OTHER_WORD),
    )
    is_spoken = counted["others"] > counted["english"]
    is_foreign = counted["is_other_writing"] | is_spoken
    unsure = ~is_foreign & ~counted["is_english"] & (counted["words"] >= MODEL_WORDS)
    if unsure.any():
        told = languages(counted["message"].filter(unsure))
        is_foreign = is_foreign.scatter(unsure.arg_true(), (told != "en").fill_null(False))
        is_spoken = is_spoken.scatter(unsure.arg_true(), told.is_in(SPOKEN).fill_null(False))
    return found.with_columns(
        found["is_foreign"].scatter(maybe, is_foreign), found["is_spoken"].scatter(maybe, is_spoken | ~is_foreign)
    )


_ENGLISH_WORD = ready(rf"\b(?:{'|'.join(ENGLISH)})\b")
_SURELY_ENGLISH = ready(rf"\b(?:{'|'.join(sorted({*ENGLISH} - {*SHARED}))})\b")
_OTHER_WORD = ready(rf"\b(?:{'|'.join(sorted(set(OTHERS) - _AMBIGUOUS))})\b")
_OTHER_SIGN = r"|[^\x00-\x7f‘’“”–—…]"
