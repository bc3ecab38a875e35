"""T3: what belongs together stands in one split; found exactly, the same from scratch and from one call to the next."""

from collections import defaultdict
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagster_project.columns.alike import alike_form, longest_sentences
from dagster_project.training import components as module
from dagster_project.training.alike_prompts import alike_pairs
from dagster_project.training.components import SPLITS, Components, components

NO_EXCHANGES = pl.DataFrame(schema={"prompt_key": pl.String, "exchange": pl.Int64, "is_earlier": pl.Boolean})


def table(texts: dict[str, str], splits: dict[str, str] | None = None) -> pl.DataFrame:
    """Prompts by key; those not in `splits` are train by their own hash."""
    prompts = pl.Series(list(texts.values()), dtype=pl.String)
    return pl.DataFrame(
        {
            "prompt_key": pl.Series(list(texts), dtype=pl.String),
            "form": alike_form(prompts),
            "sentence": longest_sentences(prompts),
            "own_split": pl.Series([(splits or {}).get(key, "train") for key in texts], dtype=pl.String),
        }
    )


def exchanges(*rows: tuple[str, int, bool]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=NO_EXCHANGES.schema, orient="row")


def groups(found: Components) -> dict[str, tuple[str, str]]:
    return {key: (component, split) for key, component, split, *_ in found.prompts.iter_rows()}


# --- pairs ------------------------------------------------------------------------------------------------------------


def shingles(text: str) -> set[str]:
    return {text[place : place + 5] for place in range(max(1, len(text) - 4))}


def is_alike(one: str, other: str) -> bool:
    left, right = shingles(one), shingles(other)
    return 10 * len(left & right) >= 7 * len(left | right)


PIECES = ["what is ", "the capital ", "of france ", "日本語で", "a", "b", "xyz", "please tell me about ", "1", "é"]
FORMS = st.lists(st.sampled_from(PIECES), max_size=9).map("".join)
MANY = st.lists(FORMS, max_size=25, unique=True)


@given(forms=MANY, new=st.lists(st.booleans(), min_size=25, max_size=25))
def test_pairs_are_those_of_comparing_all_with_all(forms: list[str], new: list[bool]) -> None:
    expected = {pair for pair in combinations(range(len(forms)), 2) if is_alike(*(forms[place] for place in pair))}
    series, is_new = pl.Series(forms, dtype=pl.String), np.array(new[: len(forms)], bool)

    def found(is_new: np.ndarray | None) -> list[tuple[int, ...]]:
        pieces = alike_pairs(series, is_new)
        return sorted(
            tuple(sorted(pair)) for left, right in pieces for pair in zip(left.tolist(), right.tolist(), strict=True)
        )

    assert found(None) == sorted(expected)
    assert found(is_new) == sorted(pair for pair in expected if is_new[[*pair]].any())


def test_seven_tenths_are_enough() -> None:
    """7 of 10 shingles in common; of 69 and 99 it is just too little."""
    numbers = "".join(map(chr, range(0x4E00, 0x4E00 + 200)))
    seven, of_ten = numbers[:11], numbers[:14]  # 7 and 10 shingles
    below, above = numbers[:73], numbers[:103]  # 69 and 99
    left_right = [(left.tolist(), right.tolist()) for left, right in alike_pairs(pl.Series([seven, of_ten]))]
    assert left_right == [([0], [1])]
    assert list(alike_pairs(pl.Series([below, above]))) == []


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 9, 10, 14, 20, 28, 39, 40, 56, 80, 110, 160, 300, 1000])
def test_no_pair_at_seven_tenths_is_overlooked(size: int) -> None:
    """T6: 400 pairs of prompts of every size, each pair just at 0.7, among each other; what they share stands anywhere."""
    rng, pairs = np.random.default_rng(size), []
    for number in range(400):
        smaller = size - number % 4 * max(1, size // 12)  # as large as the other, or down to seven tenths of it
        shared = -(-7 * (size + smaller) // 17)
        if smaller < 1 or shared > smaller:
            smaller, shared = size, -(-14 * size // 17)
        common, one, other = (rng.integers(0x4E00, 0x9FA5, count) for count in (shared + 4, size, size))
        pairs += ["".join(map(chr, [*common, *rest])) for rest in (one[: size - shared], other[: smaller - shared])]
    forms = [
        form for form, again in zip(pairs[::2], pairs[1::2], strict=True) if form != again for form in (form, again)
    ]
    found = {
        (*sorted(pair),) for left, right in alike_pairs(pl.Series(forms)) for pair in zip(left, right, strict=True)
    }
    assert found == {(place, place + 1) for place in range(0, len(forms), 2)}


# --- components -------------------------------------------------------------------------------------------------------


def test_equal_forms_and_near_ones_belong_together() -> None:
    texts = {
        "b": "What is the capital of France?",
        "a": "“what IS the cap\u200bital of france”",
        "c": "What is the capital of France, now???",
        "d": "How long do I boil an egg?",
    }
    found = components(table(texts, {"a": "test", "c": "validation", "d": "test"}), NO_EXCHANGES)
    assert found.prompts.rows() == [
        ("a", "a", "train", "test", "a"),
        ("b", "a", "train", "train", "a"),
        ("c", "a", "train", "validation", "a"),
        ("d", "d", "test", "test", "d"),
    ]
    assert (found.crossing.height, found.templates) == (0, {"sentences": 0, "exchanges": 0})


LONG = "Tell me everything there is about the river Danube"  # 9 words
OTHER = ["apples", "violins", "Zanzibar", "tax law", "knitting", "football", "volcanoes", "moths", "jazz", "glue"]


def sharing(count: int) -> dict[str, str]:
    """So many prompts, each with more of its own than it shares."""
    own = "".join(map(chr, range(0x4E00, 0x4E00 + 80 * count)))
    return {
        f"p{number:03}": f"{own[80 * number :][:40]}. {LONG}! {own[80 * number + 40 :][:40]}" for number in range(count)
    }


def test_the_same_longest_sentence_ties_twenty_prompts_and_not_one_more() -> None:
    twenty = components(table(sharing(20), {"p007": "test"}), NO_EXCHANGES)
    assert set(groups(twenty).values()) == {("p000", "train")}
    assert twenty.templates == {"sentences": 0, "exchanges": 0}
    more = components(table(sharing(21), {"p007": "test"}), NO_EXCHANGES)
    assert groups(more) == {key: (key, "test" if key == "p007" else "train") for key in sharing(21)}
    assert more.templates == {"sentences": 1, "exchanges": 0}


def test_the_same_prompt_in_other_clothes_makes_no_template() -> None:
    texts = sharing(20) | {f"q{number}": text + "?" * number for number, text in enumerate(sharing(20).values())}
    assert set(groups(components(table(texts), NO_EXCHANGES)).values()) == {("p000", "train")}


def test_an_earlier_exchange_ties_a_record_to_the_one_it_is() -> None:
    texts = {
        "a": "And in winter?",
        "b": "How warm is Rome in summer?",
        "c": "What then?",
        "d": "Unrelated",
        "e": "Why so",
    }
    told = exchanges(("b", 1, False), ("a", 1, True), ("c", 1, True), ("d", 2, True), ("e", 2, True), ("d", 3, False))
    found = components(table(texts, {"b": "test", "a": "validation", "c": "test", "d": "test", "e": "train"}), told)
    assert groups(found) == {
        "a": ("a", "validation"),
        "b": ("a", "validation"),
        "c": ("a", "validation"),
        "d": ("d", "test"),  # nobody's own exchange ties nobody
        "e": ("e", "train"),
    }


def test_an_exchange_of_more_than_twenty_prompts_is_a_template() -> None:
    texts = {f"p{number:02}": f"{OTHER[number % 10]}{number} {chr(0x4E00 + number) * 9}" for number in range(21)}
    told = [(key, 5, number > 0) for number, key in enumerate(texts)]
    splits = {"p03": "test"}
    tied = components(table(texts, splits), exchanges(*told[:20]))
    assert [key for key, (component, _) in groups(tied).items() if component != "p00"] == ["p20"]
    free = components(table(texts, splits), exchanges(*told))
    assert groups(free)["p03"] == ("p03", "test")
    assert free.templates == {"sentences": 0, "exchanges": 1}


def chain(count: int) -> dict[str, str]:
    """Each prompt alike to the next ones only, so that all hang together."""
    numbers = "".join(map(chr, range(0x4E00, 0x4E00 + 10 * count + 100)))
    return {f"c{number:03}": numbers[10 * number : 10 * number + 100] for number in range(count)}


def test_a_large_component_is_cut_back_and_what_crosses_is_told() -> None:
    """51 prompts of 60 hang together by likeness alone. Equal forms and exchanges still hold after the cut."""
    chained, rest = chain(51), {f"r{number}": chr(0x7E00 + number) * 9 for number in range(8)}
    texts = chained | rest | {"x": f"({chained['c050']})"}
    splits = {
        "c010": "test",
        "c030": "validation",
        "c031": "test",
        "c050": "validation",
        "c020": "test",
        "c011": "test",
    }
    told = exchanges(("c020", 9, True), ("r0", 9, False))
    found = components(table(texts, splits), told)
    parts = groups(found)
    assert parts["c010"] == ("c010", "test")
    assert parts["c020"] == parts["r0"] == ("c020", "train")
    assert parts["c050"] == parts["x"] == ("c050", "train")
    assert found.crossing.rows() == [(key, "jaccard") for key in ("c010", "c011", "c030", "c031")]
    assert set(found.prompts.filter(pl.col("prompt_key").is_in(chained.keys()))["alike_group"]) == {"c000"}


def test_fifty_prompts_are_not_cut_nor_is_a_hundredth() -> None:
    fifty = components(table(chain(50), {"c010": "test"}), NO_EXCHANGES)
    assert set(groups(fifty).values()) == {("c000", "train")}
    many = chain(51) | {
        f"r{number:04}": "".join(map(chr, range(0x6E00 + number, 0x6E05 + number))) for number in range(5_049)
    }
    assert {part for key, part in groups(components(table(many), NO_EXCHANGES)).items() if key[0] == "c"} == {
        ("c000", "train")
    }
    del many["r0000"]
    assert len({part for key, part in groups(components(table(many), NO_EXCHANGES)).items() if key[0] == "c"}) == 51


def test_a_cut_sentence_that_crosses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGE_PROMPTS", 5)
    found = components(table(sharing(6), {"p003": "test"}), NO_EXCHANGES)
    assert groups(found)["p003"] == ("p003", "test")
    assert found.crossing.rows() == [("p003", "sentence")]


# --- laws -------------------------------------------------------------------------------------------------------------

SENTENCES = ["one two three four five six seven eight", "eight seven six five four three two one zero"]
TEXTS = st.lists(st.sampled_from([*PIECES, *(f". {text}. " for text in SENTENCES)]), max_size=7).map("".join)
CASES = st.lists(
    st.tuples(TEXTS, st.sampled_from(SPLITS), st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=2)),
    max_size=22,
)
Cases = list[tuple[str, str, list[tuple[int, bool]]]]


def tables(cases: Cases) -> tuple[pl.DataFrame, pl.DataFrame]:
    keys = [f"{number * 7 % 23:02}" for number in range(len(cases))]
    told = [(key, *one) for key, case in zip(keys, cases, strict=True) for one in case[2]]
    texts = {key: case[0] for key, case in zip(keys, cases, strict=True)}
    splits = {key: case[1] for key, case in zip(keys, cases, strict=True)}
    return table(texts, splits), exchanges(*told)


def by_hand(prompts: pl.DataFrame, told: pl.DataFrame, template: int, large: int) -> tuple[dict, set[str]]:
    """The rule pair by pair: component and split of every prompt, and the evaluation prompts that a cut edge crosses to."""
    form, sentence, own = (
        {row["prompt_key"]: row[name] for row in prompts.to_dicts()} for name in ("form", "sentence", "own_split")
    )
    at: dict[object, set[str]] = defaultdict(set)
    for key, text in sentence.items():
        if text is not None:
            at[text].add(key)
    roles: dict[tuple[int, bool], set[str]] = defaultdict(set)
    for key, exchange, is_earlier in told.iter_rows():
        at[exchange].add(key)
        roles[exchange, is_earlier].add(key)

    def ties(met: object) -> bool:
        return len({form[key] for key in at[met]}) <= template

    firm, loose = set(), set()
    for pair in combinations(sorted(form), 2):
        one, other = pair
        if form[one] == form[other] or any(
            ties(exchange) and one in roles[exchange, is_one] and other in roles[exchange, not is_one]
            for exchange, is_one in list(roles)
        ):
            firm.add(pair)
        if is_alike(form[one], form[other]) or (
            sentence[one] is not None and sentence[one] == sentence[other] and ties(sentence[one])
        ):
            loose.add(pair)

    def parts(edges: set[tuple[str, ...]]) -> dict[str, str]:
        name = {key: key for key in form}
        for _ in form:
            for one, other in edges:
                name[one] = name[other] = min(name[one], name[other])
        return name

    whole, held = parts(firm | loose), parts(firm)
    size = {name: list(whole.values()).count(name) for name in whole.values()}
    is_cut = {key: size[whole[key]] > large and size[whole[key]] * 100 > len(form) for key in form}
    component = {key: held[key] if is_cut[key] else whole[key] for key in form}
    split = {key: min((own[k] for k in form if component[k] == component[key]), key=SPLITS.index) for key in form}
    crossing = {
        max(pair, key=lambda key: SPLITS.index(split[key]))
        for pair in loose - firm
        if is_cut[pair[0]] and split[pair[0]] != split[pair[1]]
    }
    return {key: (component[key], split[key]) for key in form}, crossing


@given(cases=CASES, template=st.integers(1, 5), large=st.integers(1, 9))
def test_components_are_those_of_the_rule_pair_by_pair(cases: Cases, template: int, large: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "TEMPLATE_PROMPTS", template)
        patch.setattr(module, "LARGE_PROMPTS", large)
        prompts, told = tables(cases)
        found = components(prompts, told)
        expected, crossing = by_hand(prompts, told, template, large)
    assert groups(found) == expected
    assert set(found.crossing["prompt_key"]) == crossing


@given(cases=CASES, order=st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(cases: Cases, order) -> None:
    prompts, told = tables(cases)
    found = components(prompts, told)
    places = list(range(len(cases)))
    order.shuffle(places)
    turned = components(prompts[places], told.reverse())
    assert turned.prompts.equals(found.prompts) and turned.crossing.equals(found.crossing)


@given(cases=CASES, first=st.integers(0, 22), second=st.integers(0, 22))
def test_from_call_to_call_is_as_from_scratch(cases: Cases, first: int, second: int) -> None:
    """Also when prompts are gone: `known` then no longer says what holds."""
    prompts, told = tables(cases)
    earlier = components(prompts.head(first), told).prompts.select("prompt_key", "alike_group")
    for now in (prompts, prompts.tail(second)):
        found, scratch = components(now, told, earlier), components(now, told)
        assert found.prompts.equals(scratch.prompts) and found.crossing.equals(scratch.crossing)


# --- pinned prompts, and components that stay whole ---------------------------------------------------------------------


def test_a_component_with_a_pinned_prompt_takes_its_split() -> None:
    """T3, `eval_set = "pin"`: also where another of its prompts is train by hash; the first of validation and test wins."""
    texts = {
        "a": "What is the capital of France today",
        "b": "what is the capital of France, today?",
        "c": "Something else",
        "d": "Nothing like it",
    }
    pinned = pl.DataFrame({"prompt_key": ["a", "d", "gone"], "split": ["test", "validation", "test"]})
    found = groups(components(table(texts, {"c": "validation"}), NO_EXCHANGES, pinned=pinned))
    assert found == {"a": ("a", "test"), "b": ("a", "test"), "c": ("c", "validation"), "d": ("d", "validation")}


def test_a_large_component_can_stay_whole() -> None:
    """T3, `split_by`: what crosses is then told by components alone."""
    texts = {f"p{n:03}": f"Translate the following sentence into French for me: word {n:03}" for n in range(60)}
    cut, whole = (components(table(texts), NO_EXCHANGES, is_cut_back=is_cut) for is_cut in (True, False))
    assert whole.prompts["component"].n_unique() == 1 < cut.prompts["component"].n_unique()
    assert whole.crossing.is_empty()
