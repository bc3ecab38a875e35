"""T6: of records that say almost the same only the first in T2's order stays, and who leaves names it."""

import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import polars_hash
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagster_project.columns.alike import alike_form
from dagster_project.columns.minhash import signatures
from dagster_project.training import near_duplicates as module
from dagster_project.training.near_duplicates import FIELDS, near_duplicates

SCHEMA = dict.fromkeys(("id", "format", "label", *FIELDS), pl.String) | {"group": pl.Int64}


def marks(texts: pl.DataFrame) -> pl.DataFrame:
    """form_hash, and the signatures of the prompt and of all answers together."""
    forms = [alike_form(texts[name]) for name in FIELDS]
    told = pl.DataFrame(forms).select(pl.concat_str(pl.all().fill_null(""), separator="\x00").alias("told"))
    digest = polars_hash.col("told").chash.sha2_256().str.head(16).alias("form_hash")
    return told.select(digest).with_columns(
        signatures(forms[0]).alias("prompt_signature"), signatures(*forms[1:]).alias("answer_signature")
    )


def found(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Who leaves, and for whom; rows are the best first."""
    table = pl.DataFrame([{"format": "instruction", "group": 0} | row for row in rows], schema=SCHEMA)
    asked: list[int] = []

    def texts(group: int, ids: pl.Series) -> pl.DataFrame:
        asked.append(group)
        return table.filter(pl.col("group") == group, pl.col("id").is_in(ids.implode())).select("id", *FIELDS).reverse()

    records = table.drop(FIELDS).with_row_index("place").hstack(marks(table)).reverse()
    with tempfile.TemporaryDirectory() as folder:
        told = near_duplicates(records, texts, Path(folder))
    assert asked == sorted(set(asked))  # each group of days once, one after the other
    assert told["id"].is_sorted()
    return dict(told.iter_rows())


def shingles(text: str) -> set[str]:
    return {text[place : place + 5] for place in range(max(1, len(text) - 4))}


def by_hand(rows: list[dict[str, Any]]) -> dict[str, str]:
    forms = {
        row["id"]: [shingles(form) for form in alike_form(pl.Series([row.get(name) or "" for name in FIELDS]))]
        for row in rows
    }

    def are_alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
        return (one.get("format"), one.get("label")) == (other.get("format"), other.get("label")) and all(
            5 * len(left & right) >= 4 * len(left | right)
            for left, right in zip(forms[one["id"]], forms[other["id"]], strict=True)
        )

    staying: list[dict[str, Any]] = []
    leaving = {}
    for row in rows:
        survivor = next((better for better in staying if are_alike(row, better)), None)
        if survivor is None:
            staying.append(row)
        else:
            leaving[row["id"]] = survivor["id"]
    return leaving


PROMPT = "How do I keep tomatoes alive on a balcony that gets no sun before noon?"
ANSWER = "Water them early, shield them from wind, and turn the pots every week so that all sides get light. Feed them monthly."


def record(id: str, prompt: str = PROMPT, answer: str = ANSWER, **others: Any) -> dict[str, Any]:
    return {"id": id, "prompt": prompt, "answer": answer} | others


def test_a_near_copy_names_the_better_one() -> None:
    assert found([record("z"), record("a", PROMPT.upper(), ANSWER + " Yes.")]) == {"a": "z"}


def test_every_field_counts_by_itself() -> None:
    """A long answer that is the same does not make up for another prompt, nor one side of a pair for the other."""
    assert found([record("a"), record("b", prompt="How do I keep a cat on a balcony?")]) == {}
    assert found([record("a"), record("b", answer="Do not. Tomatoes need the sun of the morning.")]) == {}
    pair = {"format": "preference", "rejected": "No idea, ask somebody who knows about plants."}
    other = {"format": "preference", "rejected": "It is a matter of luck, I would say, and of the weather."}
    assert found([record("a", **pair), record("b", **other)]) == {}
    assert found([record("a", **pair), record("b", **pair)]) == {"b": "a"}
    turned = {"format": "preference", "answer": pair["rejected"], "rejected": ANSWER}
    assert found([record("a", **pair), record("b", **turned)]) == {}


def test_other_formats_and_labels_are_not_compared() -> None:
    rows = [record("a"), record("b", format="unpaired", label="true"), record("c", format="unpaired", label="false")]
    assert found(rows) == {}
    assert found([*rows, record("d", format="unpaired", label="false")]) == {"d": "c"}


def numbers(first: int, count: int) -> str:
    return "".join(map(chr, range(0x4E00 + first, 0x4E00 + first + count)))


def test_no_chains() -> None:
    """Each is alike to the next only: the second leaves for the first, the third has nobody to name."""
    rows = [record(f"r{n}", answer=numbers(10 * n, 104)) for n in range(5)]
    assert found(rows) == {"r1": "r0", "r3": "r2"}


def test_the_first_survivor_is_named_even_if_another_was_found_before() -> None:
    rows = [
        record("a", answer=numbers(0, 104)),
        record("b", answer=numbers(14, 104)),
        record("c", answer=numbers(7, 104)),
    ]
    assert found(rows) == {"c": "a"}


def test_equal_ones_leave_with_the_one_they_are_equal_to() -> None:
    rows = [
        record("a", answer=numbers(0, 104)),
        record("b", answer=numbers(10, 104)),
        record("c", answer=numbers(10, 104) + "!"),
        record("d", answer=numbers(20, 104)),
        record("e", answer=numbers(20, 104)),
    ]
    assert found(rows) == {"b": "a", "c": "a", "e": "d"}


def test_nothing_and_next_to_nothing() -> None:
    assert found([]) == {}
    assert found([record("a", "", "")]) == {}
    assert found([record("a", "", ""), record("b", "?", "..."), record("c", "x", "")]) == {"b": "a"}


def test_thousands_of_a_kind_are_compared_with_the_one_that_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not with each other: that would be four million pairs."""
    compared = []
    before = module._Forms._some
    monkeypatch.setattr(module._Forms, "_some", lambda self, pairs: compared.append(len(pairs)) or before(self, pairs))
    rows = [record(f"{n:04}", answer=f"{ANSWER} {ANSWER[::-1]} {n}", group=n % 3) for n in range(3_000)]
    assert found(rows) == {f"{n:04}": "0000" for n in range(1, 3_000)}
    assert sum(compared) < 6_000


WORDS = ["tomato ", "water ", "sun", "日本語", " and", "x", ". ", "every week ", "balcony "]
LONG = st.lists(st.sampled_from(WORDS), max_size=3).map("".join).map(lambda end: ANSWER + end)
ROWS = st.lists(
    st.tuples(
        st.sampled_from([PROMPT, PROMPT[:-9], PROMPT[:40]]),
        LONG
        | st.tuples(st.integers(0, 60), st.integers(20, 60)).map(lambda cut: (ANSWER * 2)[cut[0] : cut[0] + cut[1]]),
        st.sampled_from([None, None, "true"]),
        st.integers(0, 2),
    ),
    max_size=25,
)


@given(cases=ROWS, turn=st.sampled_from([1, 2, 5, 64]))
def test_who_leaves_is_as_if_one_compared_one_by_one(cases: list[tuple[str, str, str | None, int]], turn: int) -> None:
    rows = [
        record(f"r{number * 7 % 31:02}", prompt, answer, label=label, group=group)
        for number, (prompt, answer, label, group) in enumerate(cases)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FIRST_TURN", turn)
        assert found(rows) == by_hand(rows)
