"""Rule D7: an attempt that was right is no correction's attempt."""

import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagster_project.columns.right_attempt import AFFIRMED, Affirmation, is_right_attempt

OTTAWA = "The capital of Canada is Ottawa."
LONGER = "It was rather brief. The capital of Canada is Ottawa, which Queen Victoria chose in 1857."


def right(attempt: str | None, answer: str | None, corrections: str | None = None) -> bool:
    texts = (pl.Series([text], dtype=pl.String) for text in (attempt, answer, corrections))
    return is_right_attempt(*texts).item()


def errors(*kinds: str) -> str:
    return json.dumps({"sam_errors": [{"error_type": kind, "what_was_wrong": "x"} for kind in kinds]})


@pytest.mark.parametrize(
    ("attempt", "answer", "corrections", "is_right"),
    [
        (OTTAWA, LONGER, None, True),
        (OTTAWA, LONGER, errors("incomplete"), True),
        (OTTAWA, LONGER, errors("incomplete", "incorrect"), False),
        (OTTAWA, LONGER, errors("factual"), False),
        (OTTAWA, LONGER, '{"sam_errors": "it is wrong"}', False),
        (OTTAWA, LONGER, '{"sam_errors": []}', True),
        (OTTAWA, LONGER, "{}", True),
        ("The capital of Canada is Toronto.", LONGER, None, False),
        (
            "The capital of Canada is Toronto.",
            'You said "The capital of Canada is Toronto." It is Ottawa.',
            None,
            False,
        ),
        ("The capital of Canada is Toronto.", "You said the capital of Canada is Toronto. It is Ottawa.", None, False),
        ("The capital of Canada is Toronto.", "It is a myth that the capital of Canada is Toronto.", None, False),
        ("Toronto", "Toronto is not the capital.", None, False),
        ("Some words.", "Your answer is correct. It is Ottawa.", None, True),
        ("Some words.", "Your answer is correct. It is Ottawa.", errors("incorrect"), False),
        ("Some words.", "It is Ottawa.", '{"sam_errors": ["none"]}', True),
        ("Some words.", "It is Ottawa.", '{"sam_errors": [{"error_type": "none"}]}', True),
        ("Some words.", "It is Ottawa.", '{"sam_errors": []}', False),
        (" ", "Your answer is correct.", None, False),
        (None, "Your answer is correct.", None, False),
        (OTTAWA, None, None, False),
    ],
)
def test_what_shows_that_an_attempt_was_right(attempt: str, answer: str, corrections: str, is_right: bool) -> None:
    assert right(attempt, answer, corrections) is is_right


@pytest.mark.parametrize("way", AFFIRMED)
def test_every_record_affirms_its_example_and_nothing_its_counter_example(way: Affirmation) -> None:
    assert pl.Series([way.example]).str.contains(way.pattern).item()
    assert right("Some words.", way.example)
    assert not right("Some words.", way.counter_example)


TEXTS = (
    st.none()
    | st.text()
    | st.sampled_from([OTTAWA, LONGER, "{}", errors("incomplete"), '{"sam_errors": [null, 1, {}]}'])
)


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=5))
def test_every_row_has_an_answer_of_its_own(rows: list[tuple[str | None, str | None, str | None]]) -> None:
    columns = [pl.Series([row[place] for row in rows], dtype=pl.String) for place in range(3)]
    assert is_right_attempt(*columns).to_list() == [right(*row) for row in rows]
