"""Who is offered what, and one person's walk through it."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagster_project.columns.content_hashes import JUDGED, content_hashes, shown
from dagster_project.errors import GristmillError
from dagster_project.review.assignment import is_second_look, offers
from dagster_project.review.decisions import Decision, Decisions
from dagster_project.review.items import ReviewItem, content_hash, items_from_frame
from dagster_project.review.sitting import Sitting, Voice
from tests.review.queue_of_tests import item, queue

EVERYTHING = queue("a", "b", "c", "d")


def say(decisions: Decisions, *lines: str, items: list[ReviewItem] = EVERYTHING) -> None:
    hashes = {one.id: one.content_hash for one in items}
    for line in lines:
        who, verdict, example = line.split()
        decisions.append(Decision(example, verdict, who, f"{who} knows", hashes[example]))


def offered(decisions: Decisions, reviewer: str, share: float) -> tuple[str, str]:
    """Ids that are offered, and those of them with the verdicts so far."""
    found = offers(EVERYTHING, decisions, reviewer, share)
    return "".join(EVERYTHING[p].id for p in found.positions), "".join(
        EVERYTHING[p].id for p in sorted(found.with_verdicts)
    )


@pytest.mark.parametrize(
    ("lines", "share", "to_ana", "to_bob", "to_eve"),
    [
        ([], 1, ("abcd", ""), ("abcd", ""), ("abcd", "")),
        (["ana approved a"], 0, ("bcd", ""), ("bcd", ""), ("bcd", "")),
        (["ana approved a"], 1, ("bcd", ""), ("abcd", ""), ("abcd", "")),  # a blind second look
        (["ana approved a", "bob approved a"], 1, ("bcd", ""), ("bcd", ""), ("bcd", "")),
        (["ana approved a", "bob rejected a"], 1, ("abcd", "a"), ("abcd", "a"), ("abcd", "")),  # who judged it sees why
        (["ana approved a", "bob rejected a", "eve rejected a"], 1, ("bcd", ""), ("bcd", ""), ("bcd", "")),
        (["ana approved a", "ana undone a", "ana noted b"], 0, ("abcd", ""), ("abcd", ""), ("abcd", "")),
    ],
)
def test_who_is_offered_what(
    tmp_path: Path,
    lines: list[str],
    share: float,
    to_ana: tuple[str, str],
    to_bob: tuple[str, str],
    to_eve: tuple[str, str],
) -> None:
    decisions = Decisions(tmp_path)
    say(decisions, *lines)
    assert [offered(decisions, who, share) for who in ("ana", "bob", "eve")] == [to_ana, to_bob, to_eve]


def test_texts_that_changed_are_offered_again(tmp_path: Path) -> None:
    decisions = Decisions(tmp_path)
    say(decisions, "ana approved a", "ana rejected b", items=[item("a", answer="as it was"), item("b", attempt=None)])
    assert offered(decisions, "ana", 0) == ("abcd", "")


def test_the_share_of_second_looks_is_the_one_asked_for() -> None:
    ids = [f"example {number}" for number in range(20_000)]
    chosen = {share: {one for one in ids if is_second_look(one, share)} for share in (0, 0.1, 0.5, 1)}
    assert [len(chosen[share]) for share in (0, 1)] == [0, 20_000]
    assert 1_850 < len(chosen[0.1]) < 2_150
    assert chosen[0.1] < chosen[0.5]  # a larger share adds, and takes none away


# --- a walk ------------------------------------------------------------------------------------------------------


def start(home: Path, reviewer: str = "ana", **more: Any) -> Sitting:
    return Sitting(EVERYTHING, Decisions(home), reviewer, **more)


def lines(home: Path) -> list[tuple[str, str, str]]:
    return Decisions(home).log().select("reviewer", "verdict", "example_id").rows()


def at(sitting: Sitting) -> str | None:
    return sitting.item.id if sitting.item else None


def test_deciding_skipping_and_the_end(tmp_path: Path) -> None:
    sitting = start(tmp_path)
    assert (at(sitting), sitting.left) == ("a", 4)
    sitting.decide("approved")
    assert lines(tmp_path) == [("ana", "approved", "a")]  # on disk before anything else happens
    sitting.decide("rejected")
    sitting.skip()
    assert (at(sitting), sitting.left) == ("d", 1)
    sitting.decide("approved")
    assert (at(sitting), sitting.left) == (None, 0)
    sitting.decide("approved")  # of nothing: nothing
    sitting.keep_note("of nothing")
    assert lines(tmp_path) == [("ana", "approved", "a"), ("ana", "rejected", "b"), ("ana", "approved", "d")]
    assert dict(sitting.counts) == {"approved": 2, "rejected": 1, "skipped": 1}
    assert at(start(tmp_path)) == "c"  # what was skipped waits for the next sitting


def test_back_and_a_change_of_mind(tmp_path: Path) -> None:
    sitting = start(tmp_path)
    assert not sitting.back()
    sitting.decide("approved")
    sitting.skip()
    assert sitting.back()
    assert (at(sitting), sitting.own_voice()) == ("b", None)
    assert sitting.back()
    assert (at(sitting), sitting.own_voice()) == ("a", Voice("ana", "approved"))
    sitting.decide("rejected")
    assert at(sitting) == "c"
    assert dict(sitting.counts) == {"rejected": 1, "skipped": 1}
    assert lines(tmp_path) == [("ana", "approved", "a"), ("ana", "rejected", "a")]


def test_undo_takes_back_one_verdict_after_the_other(tmp_path: Path) -> None:
    sitting = start(tmp_path)
    assert not sitting.undo()
    sitting.decide("approved")
    sitting.back()
    sitting.decide("rejected")
    assert sitting.undo()
    assert (at(sitting), sitting.own_voice()) == ("a", Voice("ana", "approved"))  # what she had said before
    assert dict(sitting.counts) == {"approved": 1}
    assert sitting.undo()
    assert (at(sitting), sitting.own_voice()) == ("a", Voice("ana"))
    assert not sitting.undo()
    assert Decisions(tmp_path).current().is_empty()
    assert (sitting.left, dict(sitting.counts)) == (4, {})


def test_a_note_is_kept_at_once_and_goes_with_the_verdict(tmp_path: Path) -> None:
    sitting = start(tmp_path)
    sitting.keep_note("ask Eve")
    assert start(tmp_path).own_voice() == Voice("ana", None, "ask Eve")
    sitting.decide("approved")
    sitting.back()
    sitting.keep_note("asked her")
    assert Decisions(tmp_path).current().select("example_id", "verdict", "note").rows() == [
        ("a", "approved", "asked her")
    ]
    sitting.undo()
    assert sitting.own_voice() == Voice("ana", None, "asked her")


def test_what_others_decide_meanwhile_is_not_offered(tmp_path: Path) -> None:
    sitting = start(tmp_path, share=0)
    say(Decisions(tmp_path), "bob approved b", "bob rejected c")
    sitting.decide("approved")
    assert (at(sitting), sitting.left) == ("d", 1)


def test_a_second_reviewer_does_not_see_the_first_verdict_until_both_differ(tmp_path: Path) -> None:
    say(Decisions(tmp_path), "ana approved a")
    second = start(tmp_path, "bob", share=1)
    assert (at(second), second.own_voice(), second.shown_verdicts()) == ("a", None, [])
    second.decide("rejected")
    second.back()
    assert second.shown_verdicts() == []  # still blind: a slip corrected now is still an independent verdict
    second.decide("rejected")
    assert Decisions(tmp_path).log()["is_blind"].to_list() == [True, True, True]
    for reviewer, other in (("ana", Voice("bob", "rejected")), ("bob", Voice("ana", "approved", "ana knows"))):
        later = start(tmp_path, reviewer, share=1)
        assert (at(later), later.shown_verdicts()) == ("a", [other])
    third = start(tmp_path, "eve", share=1)
    assert (at(third), third.shown_verdicts()) == ("a", [])
    later.decide("approved")
    assert Decisions(tmp_path).log()["is_blind"].to_list() == [True, True, True, False]
    assert Decisions(tmp_path).current()["verdict"].to_list() == ["approved"]


def test_what_cannot_be_saved_does_not_move_on(tmp_path: Path) -> None:
    sitting = start(tmp_path)
    (tmp_path / "state").write_text("in the way", encoding="utf-8")
    for attempt in (lambda: sitting.decide("approved"), lambda: sitting.keep_note("note")):
        with pytest.raises(GristmillError, match="not saved"):
            attempt()
    assert (at(sitting), sitting.left, dict(sitting.counts)) == ("a", 4, {})


# --- items -------------------------------------------------------------------------------------------------------


def test_items_come_in_the_order_of_their_rank() -> None:
    rows = pl.DataFrame(
        {
            "id": ["y", "x"],
            "kind": ["example", "correction"],
            "domain": ["code", "code"],
            "query": ["q", "r"],
            "context": [None, "c"],
            "attempt": ["s", None],
            "answer": ["t", "u"],
            "flags": [["refusal"], None],
            "score": [0.5, None],
            "reasons": [["low_score"], []],
            "feedback": [None, None],
            "rank": [2, 1],
            "more": [1, 2],
        },
        schema_overrides={"context": pl.String, "feedback": pl.List(pl.String)},
    )
    expected = [
        ReviewItem("x", "correction", "code", "r", "c", None, "u", [], None, [], [], 1),
        ReviewItem("y", "example", "code", "q", None, "s", "t", ["refusal"], 0.5, ["low_score"], [], 2),
    ]
    assert items_from_frame(rows) == expected
    assert [one.rank for one in items_from_frame(rows.drop("rank"))] == [1, 2]
    assert items_from_frame(rows.clear()) == []


TEXTS = st.text(st.characters(codec="utf-8"))


@given(st.lists(st.tuples(TEXTS, TEXTS, st.none() | TEXTS), min_size=1))
def test_the_hash_of_what_was_seen_is_the_same_one_by_one_and_in_columns(
    texts: list[tuple[str, str, str | None]],
) -> None:
    rows = pl.DataFrame(
        [(str(number), *parts) for number, parts in enumerate(texts)],
        schema=dict.fromkeys(("id", "query", "answer", "attempt"), pl.String),
        orient="row",
    )
    hashes = content_hashes(rows)["content_hash"].to_list()
    seen = shown(rows, *JUDGED).select("query", "answer", "attempt").rows()  # "2000::0" is an address
    assert hashes == [content_hash(*parts) for parts in seen]
    assert len(set(hashes)) == len(set(seen))
