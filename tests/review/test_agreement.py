"""Cohen's kappa with n and a 95 % interval, from blind verdicts on the same texts."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagster_project.review.agreement import Agreement, agreement, as_json, by_pair, cohens_kappa, judged_twice
from dagster_project.review.decisions import Decision, Decisions

COUNTS = st.integers(0, 40)


def pairs(home: Path, *lines: str) -> list[tuple[str, ...]]:
    """'ana approved a', with `seen` behind it for a verdict given after seeing another, `other` for one on other texts."""
    decisions = Decisions(home)
    for line in lines:
        who, verdict, example, *remarks = line.split()
        decisions.append(
            Decision(example, verdict, who, "", "other" if "other" in remarks else "same", "seen" not in remarks)
        )
    return judged_twice(decisions.log()).rows()


def test_the_textbook_table() -> None:
    """Both yes 20, only one yes 5 and 10, both no 15: kappa 0.4; the interval is near the large-sample one (0.15 to 0.65)."""
    found = cohens_kappa(20, 5, 10, 15)
    assert (found.n, found.agreed, found.kappa) == (50, 35, 0.4)
    assert found.low == pytest.approx(0.14, abs=0.02)
    assert found.high == pytest.approx(0.62, abs=0.02)
    assert found.text == (
        f"Cohen's kappa 0.40, 95 % interval {found.low:.2f} to {found.high:.2f}; 35 of 50 verdicts agree (n = 50)"
    )


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (
            (0, 0, 0, 0),
            Agreement(0, 0, None, None, None, "no example was judged by two people yet: too few for Cohen's kappa"),
        ),
        (
            (1, 0, 0, 0),
            Agreement(1, 1, None, None, None, "one example was judged by two people: too few for Cohen's kappa"),
        ),
        (
            (0, 1, 0, 0),
            Agreement(1, 0, None, None, None, "one example was judged by two people: too few for Cohen's kappa"),
        ),
        (
            (12, 0, 0, 0),
            Agreement(
                12,
                12,
                None,
                None,
                None,
                "12 of 12 verdicts agree (n = 12), all of them approved: without a second kind Cohen's kappa is not defined",
            ),
        ),
        (
            (0, 0, 0, 3),
            Agreement(
                3,
                3,
                None,
                None,
                None,
                "3 of 3 verdicts agree (n = 3), all of them rejected: without a second kind Cohen's kappa is not defined",
            ),
        ),
    ],
)
def test_where_kappa_is_not_defined_a_sentence_says_why(cells: tuple[int, int, int, int], expected: Agreement) -> None:
    assert cohens_kappa(*cells) == expected


def test_full_agreement_has_an_interval_that_shrinks_with_n() -> None:
    few, many = cohens_kappa(3, 0, 0, 3), cohens_kappa(60, 0, 0, 60)
    assert (few.kappa, few.high, many.kappa, many.high) == (1, 1, 1, 1)
    assert few.low is not None and many.low is not None
    assert few.low < 0.5
    assert 0.9 < many.low < 1


def test_full_disagreement() -> None:
    found = cohens_kappa(0, 5, 5, 0)
    assert found.kappa == found.low == -1
    assert found.high is not None and found.high < 0


@given(COUNTS, COUNTS, COUNTS, COUNTS)
@settings(max_examples=25)
def test_laws_of_kappa(both: int, only_first: int, only_second: int, neither: int) -> None:
    """It does not matter who is first or which verdict comes first; the estimate is in its interval, the interval in -1..1."""
    found = cohens_kappa(both, only_first, only_second, neither)
    assert found.n == both + only_first + only_second + neither
    if found.kappa is not None and found.low is not None and found.high is not None:
        assert -1 <= found.low <= found.kappa <= found.high <= 1
        assert found == cohens_kappa(both, only_first, only_second, neither)
    assert cohens_kappa(both, only_second, only_first, neither).kappa == found.kappa
    assert cohens_kappa(neither, only_second, only_first, both).kappa == found.kappa


# --- which verdicts are compared ---------------------------------------------------------------------------------

BOTH = ("a", "ana", "approved", "bob", "rejected")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["ana approved a"], []),
        (["ana approved a", "ana rejected a"], []),
        (["ana approved a", "bob rejected a"], [BOTH]),
        (["ana approved a", "bob rejected a", "bob approved a seen"], [BOTH]),  # after they knew that they differ
        (["ana approved a", "bob rejected a", "bob undone a seen"], [BOTH]),
        (["ana approved a", "bob approved a", "bob rejected a"], [BOTH]),  # a slip, corrected blind
        (["ana approved a", "bob rejected a", "bob undone a"], []),
        (["ana approved a", "bob rejected a", "eve approved a"], [BOTH]),  # the first two
        (["ana approved a", "bob rejected a", "bob noted a"], [BOTH]),
        (["ana approved a", "bob rejected a other"], []),
        (["ana approved a other", "bob rejected a", "eve approved a"], [("a", "bob", "rejected", "eve", "approved")]),
    ],
)
def test_which_verdicts_are_compared(tmp_path: Path, lines: list[str], expected: list[tuple[str, ...]]) -> None:
    assert pairs(tmp_path, *lines) == expected


def test_agreement_over_all_and_by_pair_of_people(tmp_path: Path) -> None:
    pairs(
        tmp_path,
        *("ana approved a", "bob approved a", "bob rejected b", "ana rejected b", "ana approved c", "bob rejected c"),
        *("eve approved d", "ana approved d"),
    )
    twice = judged_twice(Decisions(tmp_path).log())
    found = agreement(twice)
    assert (found.n, found.agreed, found.kappa) == (4, 3, 0.5)
    assert [(one, other, part.n, part.agreed, part.kappa) for one, other, part in by_pair(twice)] == [
        ("ana", "bob", 3, 2, 0.4),
        ("ana", "eve", 1, 1, None),
    ]
    assert [part["reviewers"] for part in as_json(twice)["pairs"]] == [["ana", "bob"], ["ana", "eve"]]
    assert as_json(twice)["n"] == 4
