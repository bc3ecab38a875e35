"""Whether a message asks again for what the query before it asked for (rule C2: `rephrased`).

No similarity alone holds: models of meaning call questions alike because they share their subject. So a message repeats a
request where the cosine of the two is above the threshold and they share at least half of their words; and it asks for
something new where what was exchanged is a number, a name, or a word that is no synonym of the one it stands for. Two words
are synonyms where the vectors of the built-in model say so, whatever model compares the texts: its cosines of single words
are 0.6 for "purchase" and "buy" and 0.1 for "Rome" and "Paris". A few pairs of opposites and of a series ("Monday",
"Tuesday") lie near each other, too, and some synonyms apart: they are named.
"""

import polars as pl

from dagster_project.columns.similarity import load_model, similarities

SHARED_WORDS = 0.5  # of all words of both: so much must be common
SYNONYM_COSINE = 0.40
STEM = 5  # letters of a word that tell it: "tower" and "towers" are one

_WORD = r"[\p{L}\p{N}_]+"
_NUMBER = r"[0-9][0-9.,:]*"
_NAME = r"[\p{L}\p{N},;:'’] (\p{Lu}[\p{L}\p{N}’'-]+)"  # a capital within a sentence
_NO_NAMES = ("I", "I'm", "I’m", "I'd", "I’d", "I've", "I’ve", "OK", "Ok", "Please")
_QUESTION = (
    r"^(?:(?:and|so|but|well|ok|okay|no|please|hm+)[,. ]+)*(?:(?:in|for|on|at|from|to) )?"
    r"(what|which|who|whom|where|when|why|how (?:many|much|long|far|old|often)|how)\b"
)
# Words whose exchange changes no question: they hold a sentence together or are polite.
SMALL_WORDS = frozenset(
    """a an the this that these those my our your his her their its it he she they them him i we you me us
    is are was were be been am do does did has have had can could would will should may might shall
    and or but so then please just now again also really actually ok okay well no yes hi hello hey thanks thank
    in on at for of to from with by about into as there here some any one ones s t d m re ve ll
    what which who whom how when where why give show tell find get let know want need like say said mean meant id im
    whats wheres hows whos theres""".split()
)
# The same thing to ask for, though the model has them apart. Common words of requests only.
SYNONYMS = tuple(
    frozenset(group.split())
    for group in (
        "begin start commence",
        "buy purchase get order acquire obtain",
        "cheap inexpensive affordable budget economical",
        "choose select pick",
        "explain clarify describe illustrate",
        "flat apartment",
        "gift present",
        "goal purpose aim objective",
        "hotel lodging accommodation place",
        "holiday vacation",
        "idea ideas concept concepts suggestion",
        "improve enhance better upgrade",
        "keep store",
        "letter note message",
        "link connect attach join",
        "make create build construct produce generate",
        "near nearby close",
        "position job post",
        "rent lease hire",
        "result outcome",
        "rules regulations laws",
        "show display list",
        "sofa couch",
        "stop prevent avoid",
        "summarise summarize shorten condense",
        "teacher instructor tutor",
        "topic topics subject subjects theme",
        "trip journey tour",
        "causes produces creates triggers",
        "check verify confirm test",
        "modify change edit alter adjust",
        "cost price fee charge",
        "typical usual common normal",
        "quick fast rapid speedy",
        "finish complete end",
        "smart clever intelligent",
        "large big huge",
        "town city",
        "errors mistakes bugs",
    )
)
# Near each other for the model, and never the same thing to ask for.
SERIES = tuple(
    frozenset(group.split())
    for group in (
        "monday tuesday wednesday thursday friday saturday sunday weekend weekday today tomorrow yesterday tonight",
        "january february march april may june july august september october november december",
        "spring summer autumn winter",
        "morning noon afternoon evening night",
        "breakfast lunch dinner brunch",
        "north south east west northern southern eastern western",
        "one two three four five six seven eight nine ten eleven twelve twenty hundred thousand",
        "first second third fourth fifth last next previous",
        "red blue green yellow black white brown grey gray orange purple pink",
        "cheap expensive cheapest priciest",
        "big small large little bigger smaller largest smallest biggest",
        "high low higher lower highest lowest",
        "old new young older newer younger oldest newest",
        "good bad best worst better worse",
        "fast slow fastest slowest",
        "hot cold warm cool",
        "early late earliest latest earlier later",
        "long short longest shortest",
        "increase decrease raise lower",
        "open close opened closed",
        "start end",
        "begin end",
        "begin finish",
        "start finish",
        "buy sell rent",
        "left right",
        "arrival departure arrive depart",
        "mother father brother sister son daughter uncle aunt husband wife",
        "man woman men women boy girl boys girls",
        "invented discovered",
        "author publisher",
        "import export",
        "win lose won lost",
        "before after",
        "with without",
    )
)


def repeats(rows: pl.DataFrame) -> pl.Series:
    """Which of these rows' `next_message` ask for the same as their `prev_query`. The rows are alike by their cosine."""
    words = {side: _words(pl.col(side)) for side in ("prev_query", "next_message")}
    sides = rows.select("prev_query", "next_message").with_columns(
        **{f"{side}_words": found for side, found in words.items()},
        **{
            f"{side}_stems": found.list.eval(pl.element().str.head(STEM)).list.unique() for side, found in words.items()
        },
    )
    shared = pl.col("prev_query_stems").list.set_intersection("next_message_stems").list.len()
    every = pl.col("prev_query_stems").list.set_union("next_message_stems").list.len()
    sides = sides.with_columns(
        is_near=(shared >= SHARED_WORDS * every) & (every > 0),
        gone=_exchanged("prev_query", "next_message"),
        come=_exchanged("next_message", "prev_query"),
    )
    return sides["is_near"] & ~asks_for_another(sides)


def asks_for_another(sides: pl.DataFrame) -> pl.Series:
    """Where the thing asked for was exchanged: a number, a name, a word that is no synonym, another kind of question."""
    others = [_exchanged_marks(_NUMBER, pl.col("prev_query"), pl.col("next_message"))]
    names = (
        pl.col(side).str.extract_all(_NAME).list.eval(pl.element().str.slice(2))
        for side in ("prev_query", "next_message")
    )
    before, after = (found.list.set_difference(pl.lit(list(_NO_NAMES))) for found in names)
    query, message = (pl.col(side).str.to_lowercase() for side in ("prev_query", "next_message"))
    # a name is exchanged where the other text has it in no spelling
    others.append(
        (before.list.eval(pl.element().str.to_lowercase()).list.set_difference("next_message_words").list.len() > 0)
        & (after.list.eval(pl.element().str.to_lowercase()).list.set_difference("prev_query_words").list.len() > 0)
    )
    kinds = (text.str.extract(_QUESTION) for text in (query, message))
    kind_before, kind_after = kinds
    # "which" and "what" ask alike, and so may any two once the words are nearly the same
    others.append(
        (kind_before.replace("which", "what") != kind_after.replace("which", "what")).fill_null(False)
        & (pl.col("come").list.len() >= 2)
    )
    found = sides.select(pl.any_horizontal(*(other.fill_null(False) for other in others))).to_series()
    both = (pl.col("gone").list.len() > 0) & (pl.col("come").list.len() > 0)
    asked = sides.select(both).to_series() & ~found
    if not asked.any():
        return found
    phrases = sides.filter(asked).select(
        *(pl.col(side).list.join(" ") for side in ("gone", "come")),
        in_series=_in_one_of(SERIES),
        named_synonyms=_in_one_of(SYNONYMS),
    )
    cosines = similarities(phrases["gone"], phrases["come"], load_model("wordllama"))
    no_synonym = ~phrases["named_synonyms"] & (phrases["in_series"] | (cosines < SYNONYM_COSINE).fill_null(True))
    return found.scatter(asked.arg_true(), no_synonym)


def _words(text: pl.Expr) -> pl.Expr:
    return text.str.to_lowercase().str.replace_all(r"['’]", "").str.extract_all(_WORD)


def _exchanged(side: str, other: str) -> pl.Expr:
    """The words with a meaning of their own that this text has and the other has in no form, in their order."""
    own = pl.col(f"{side}_words").list.set_difference(pl.lit(sorted(SMALL_WORDS)))
    kept = own.list.eval(pl.element().filter(pl.element().is_not_null()))
    # two steps, since a list's expression sees one list: the stems of the other stand behind a bar
    return (
        pl.concat_list(kept.list.join(" "), pl.col(f"{other}_stems").list.join(" "))
        .list.eval(
            pl.element()
            .first()
            .str.split(" ")
            .explode()
            .filter(
                ~pl.element()
                .first()
                .str.split(" ")
                .explode()
                .str.head(STEM)
                .is_in(pl.element().last().str.split(" ").explode().implode())
            )
        )
        .list.eval(pl.element().filter(pl.element() != ""))
    )


def _exchanged_marks(pattern: str, query: pl.Expr, message: pl.Expr) -> pl.Expr:
    before, after = (
        text.str.extract_all(pattern).list.eval(pl.element().str.strip_chars(".,:")) for text in (query, message)
    )
    return (after.list.set_difference(before).list.len() > 0) & (before.list.set_difference(after).list.len() > 0)


def _in_one_of(groups: tuple[frozenset[str], ...]) -> pl.Expr:
    """Whether a word of one of the groups was exchanged for another of it."""
    return pl.any_horizontal(_has_one_of("gone", group) & _has_one_of("come", group) for group in groups)


def _has_one_of(words: str, group: frozenset[str]) -> pl.Expr:
    """No set operation with a literal: in Polars 2.1 one panics where rows were filtered."""
    return pl.col(words).list.eval(pl.element().is_in(sorted(group))).list.any()
