"""Rule C7: what the counts of a rule make of its confidence. Every figure here is worked out by hand."""

import pytest

from dagster_project.systems.conversations.implicit import REASONS
from dagster_project.systems.conversations.implicit_confidence import (
    GOES_ON,
    UNKNOWN_PRIOR,
    figures,
    stored_counts,
    wilson,
)


def test_a_rule_is_shrunk_towards_the_precision_of_its_status() -> None:
    found = figures({"explicit:a": {"one": (90, 100)}, "abandonment:b": {"one": (2, 2)}, "explicit:c": {}})
    prior = 92 / 102  # of all rejections
    assert found["explicit:a"].confidence == pytest.approx((90 + 10 * prior) / 110, abs=1e-6)
    assert found["abandonment:b"].confidence == pytest.approx((2 + 10 * prior) / 12, abs=1e-6)
    assert (found["explicit:a"].n, found["explicit:a"].precision) == (100, 0.9)
    assert found["explicit:c"] == (0, None, 0.0, 1.0, pytest.approx(prior, abs=1e-6))


def test_sources_weigh_the_same_once_a_rule_fired_ten_times_in_them() -> None:
    found = figures({"explicit:a": {"large": (1000, 1000), "small": (5, 10), "tiny": (0, 9)}})["explicit:a"]
    prior = (1.0 + 0.5) / 2
    assert found.precision == 0.75
    assert found.confidence == pytest.approx(((1000 + 10 * prior) / 1010 + (5 + 10 * prior) / 20) / 2, abs=1e-6)
    low, high = wilson(0.75, 4 / (1 / 1000 + 1 / 10))
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-6), pytest.approx(high, abs=1e-6))


def test_where_a_rule_fired_too_seldom_everywhere_its_rows_are_taken_together() -> None:
    assert figures({"accepted:a": {"one": (3, 4), "two": (1, 4)}})["accepted:a"].precision == 0.5


def test_nothing_measured_is_an_even_chance_and_never_sure() -> None:
    found = figures({"explicit:a": {}})["explicit:a"]
    assert (found.confidence, found.low) == (UNKNOWN_PRIOR, 0.0)
    assert wilson(1.0, 4)[0] < 0.60 < wilson(1.0, 5)[0]  # four right out of four are too few for a machine signal


def test_going_on_stays_below_the_gate_whatever_was_measured() -> None:
    found = figures({GOES_ON[0]: {"one": (100, 100)}, "accepted:thanks": {"one": (100, 100)}})
    assert found[GOES_ON[0]].confidence < 0.70 < found["accepted:thanks"].confidence


def test_the_stored_counts_are_of_rules_there_are_and_hold_no_text() -> None:
    for reason, sources in stored_counts().items():
        assert reason in REASONS
        for source, (right, n) in sources.items():
            assert source in ("AB-ReDial", "DBDC3-en-eval", "IFLLM", "SGD-test-acts", "UKP")
            assert 0 <= right <= n and n > 0
    assert set(GOES_ON) <= set(REASONS)
