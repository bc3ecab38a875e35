"""A conversation in JSON is judged by what its turns say, however its encoder wrote them (T7, T8)."""

from typing import cast

import polars as pl
import pytest

from dagster_project.training.decontamination import EvaluationIndex
from dagster_project.training.record_traits import MASKED_KEYS, traits

ITEM = "Zwölf müde Jäger führen früh übers Moor und hörten fünf Kühe über Käse klönen"


def _told(context: str, evaluation: EvaluationIndex | None = None) -> dict[str, object]:
    rows = pl.DataFrame(
        {
            "origin_id": ["f1"],
            "context": [context],
            "query": ["Go on."],
            "answer": ["Gladly."],
            "better": pl.Series([None], dtype=pl.String),
            "note": pl.Series([None], dtype=pl.String),
            "is_better_taught": [False],
            "is_correction": [False],
        }
    )
    found = traits(rows, lambda some: some.select(pl.lit("key").alias(name) for name in MASKED_KEYS), (), evaluation)
    return found.row(0, named=True)


@pytest.mark.parametrize(
    ("content", "has_items", "has_tokens"),
    [
        (r"Call \u002B49 30 1234 5678", True, False),  # as encoders for the web write a plus
        (r"api_key = \u0022QLd2DO7MHBg0fIewuFXEMl5Rf1DPbalz\u0022", True, False),
        (r"jo\u0040mail.org", True, False),
        (r"postgresql:\/\/svc:GhftqRbK3hUnyR@db.corp.net\/prod", True, False),
        (r"\u003c|im_start|\u003e", False, True),
        (r"a \u003C\uff5cAssistant\uff5c\u003E b", False, True),
        (r"stop <\/s> here", False, True),
        (r"2 \u002B 2 \u003c 5, and\/or \u00e4", False, False),
    ],
)
def test_no_escape_hides_what_a_turn_says(content: str, has_items: bool, has_tokens: bool) -> None:
    told = _told(f'[{{"role": "user", "content": "{content}"}}, {{"role": "assistant", "content": "Yes."}}]')
    assert (told["has_items"], told["asked_has_tokens"]) == (has_items, has_tokens)


def test_an_exchange_is_as_long_as_its_answer_is_written() -> None:
    """T3: 40 characters, of which 8 stay without punctuation."""
    answers = [f"Boil it well! {'*' * 26}", f"Boil it well! {'*' * 25}", f"Boil! {'*' * 34}"]
    told = [
        _told(f'[{{"role": "user", "content": "An egg?"}}, {{"role": "assistant", "content": "{a}"}}]') for a in answers
    ]
    assert [len(cast(list, one["earlier_exchanges"])) for one in told] == [1, 0, 0]


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize("text", [ITEM.replace(" Moor", r"\nMoor"), ascii(ITEM)[1:-1].replace(r"\x", r"\u00")])
def test_an_item_is_found_in_every_turn_across_escapes(role: str, text: str) -> None:
    """A break of lines is no letter n, and an umlaut no number (T1, contaminated)."""
    evaluation = EvaluationIndex(pl.DataFrame({"item": ["exam:1"], "text": [ITEM]}))
    context = f'[{{"role": "user", "content": "Hm?"}}, {{"role": "{role}", "content": "{text}"}}]'
    assert _told(context, evaluation)["asked_item"] == "exam:1"
    assert _told(context.replace("Zw", "Y").replace("Moor", "Feld"), evaluation)["asked_item"] is None
