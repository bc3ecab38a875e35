"""Which message follows a turn (C1), what is kept of the source's own status (C3), and days made one by one (G12)."""

import zlib
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagster_project.engines.stored_tables import store_days
from dagster_project.lake.lake import Lake
from dagster_project.systems.conversations import turn_pairs
from dagster_project.systems.conversations.implicit import detect
from dagster_project.systems.conversations.source import DATED
from dagster_project.systems.conversations.turn_pairs import judge, make_turn_pairs
from tests.sql.harness import frame
from tests.systems.conversations.turn_database import AS_OF, NO_MORE, RIGHT, START, WRONG, Row
from tests.tables import table_of

NEW, OLD = DATED
GAP = timedelta(minutes=30)
TICK = timedelta(microseconds=1)
QUESTION = "Which laptops under $1000 are good for video editing?"


class Words:
    """A model of a few lines: a text is the words in it, and two texts without a common one are not alike."""

    name = "words"

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        found = np.zeros((len(texts), 512))
        for place, text in enumerate(texts):
            for word in text.lower().split():
                found[place, zlib.crc32(word.encode()) % 512] += 1
        return found


def turn(number: int, after: timedelta = timedelta(), **more: Any) -> Row:
    """A turn this long after the start of the test's time."""
    user, file = more.get("user_id", "ann"), more.get("source_file", "f.db")
    key = f"{user if user not in (None, '', 'default') else file}/{number}"
    known = {
        "turn_key": key,
        "turn_number": number,
        "user_id": user,
        "session_id": "s",
        "source_file": file,
        "query": QUESTION,
        "response": "Here are three business laptops.",
    }
    at = START + after
    return known | {"occurred_at": at, "event_date": at.date(), "timestamp": at.timestamp()} | more


def judged(*turns: Row, as_of: datetime = AS_OF, threshold: float = 0.8) -> dict[str, Row]:
    rows = frame(NEW, turns).select(turn_pairs.COLUMNS)
    return {row["turn_key"]: row for row in judge(rows, as_of, Words(), threshold).to_dicts()}


def followers(*turns: Row, as_of: datetime = AS_OF) -> dict[str, str | None]:
    """Per turn the one that follows it, or why none does."""
    return {key: row["next_turn_key"] or row["reason"] for key, row in judged(*turns, as_of=as_of).items()}


# --- what follows (C1) ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("gap", "follower"), [(GAP - TICK, "ann/2"), (GAP, "ann/2"), (GAP + TICK, "session_end")])
def test_a_gap_over_30_minutes_ends_the_session(gap: timedelta, follower: str) -> None:
    """C1: over, so that 30 minutes to the microsecond do not."""
    assert followers(turn(1), turn(2, gap))["ann/1"] == follower


@pytest.mark.parametrize(
    ("age", "reason"), [(TICK, "open"), (GAP - TICK, "open"), (GAP, "session_end"), (timedelta(days=9), "session_end")]
)
def test_a_last_turn_is_open_for_30_minutes(age: timedelta, reason: str) -> None:
    """C1: less than 30 minutes before as_of."""
    (row,) = judged(turn(1), as_of=START + age).values()
    assert (row["feedback_status"], row["feedback_confidence"], row["reason"]) == ("neutral", 0.5, reason)
    assert (row["next_turn_key"], row["next_turn_id"], row["next_at"], row["similarity"]) == (None, None, None, None)


def test_a_turn_before_a_pause_is_over_even_if_as_of_is_near() -> None:
    """C1: someone came back after 31 minutes; only the last turn can still be answered."""
    found = followers(turn(1), turn(2, timedelta(minutes=31)), as_of=START + timedelta(minutes=32))
    assert found == {"ann/1": "session_end", "ann/2": "open"}


def test_turns_follow_each_other_by_time_then_by_number() -> None:
    """C1: numbers need not grow with time; of two at one instant the smaller number comes first."""
    minute = timedelta(minutes=1)
    found = followers(turn(7), turn(3, minute), turn(10, 2 * minute), turn(9, 2 * minute))
    assert found == {"ann/7": "ann/3", "ann/3": "ann/9", "ann/9": "ann/10", "ann/10": "session_end"}


def test_a_session_is_one_persons() -> None:
    """C1: per (user_id, session_id), interleaved; the same session_id of several users are several sessions."""
    rows = [
        turn(1, timedelta(minutes=0)),
        turn(1, timedelta(minutes=1), user_id="bob"),
        turn(2, timedelta(minutes=2), session_id="t"),
        turn(3, timedelta(minutes=3)),
        turn(2, timedelta(minutes=4), user_id="bob"),
        turn(4, timedelta(minutes=5), session_id="t"),
    ]
    assert followers(*rows) == {
        "ann/1": "ann/3",
        "bob/1": "bob/2",
        "ann/2": "ann/4",
        "ann/3": "session_end",
        "bob/2": "session_end",
        "ann/4": "session_end",
    }


@pytest.mark.parametrize("unknown", ["", "default", None])
def test_unknown_users_and_sessions(unknown: str | None) -> None:
    """G9: '' and 'default' are nobody; unknown users of one file are taken together, those of another are not."""
    minute = timedelta(minutes=1)
    rows = [
        turn(1, user_id=unknown),
        turn(2, minute, user_id=None),
        turn(3, 2 * minute, user_id="default", source_file="g.db"),
        turn(4, 3 * minute, session_id=unknown),
        turn(5, 4 * minute, session_id="default"),
        turn(6, 5 * minute, session_id="?"),
    ]
    found = judged(*rows)
    assert {key: row["next_turn_key"] for key, row in found.items()} == {
        "f.db/1": "f.db/2",
        "f.db/2": None,
        "g.db/3": None,
        "ann/4": "ann/5",
        "ann/5": None,
        "ann/6": None,
    }
    assert found["f.db/1"]["user_id"] is None and found["ann/4"]["session_id"] is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a / b", "c"), ("a", "b / c")),
        (("file:f.db", "s"), (None, "s")),
        (("a\\", "c"), ("a", "c")),
        (("a", "?"), ("a", None)),
        (("a", "\\?"), ("a", "?")),
        (("a\\ / b", "c"), ("a\\", "b / c")),
    ],
)
def test_odd_names_of_users_and_sessions_are_kept_apart(one: tuple[str, str], other: tuple[str, str]) -> None:
    """C1: (user_id, session_id) is a pair, whatever signs are in it."""
    rows = [turn(number, user_id=user, session_id=session) for number, (user, session) in enumerate((one, other), 1)]
    assert len({row["thread_id"] for row in judged(*rows).values()}) == 2


def test_nothing_to_judge_gives_nothing() -> None:
    assert judged() == {}


# --- what it says ----------------------------------------------------------------------------------------------------------


def test_the_next_message_tells() -> None:
    """C2: explicit, repeated, thanks, given up; a blank message tells nothing; the message is the next turn's query."""
    messages = [QUESTION, WRONG, QUESTION, f"{QUESTION} please", RIGHT, NO_MORE, "  ", None, QUESTION]
    rows = [turn(n, timedelta(minutes=n), query=message) for n, message in enumerate(messages)]
    found = list(judged(*rows).values())
    assert [(row["feedback_status"], row["correction_type"]) for row in found[:1]] == [("rejected", "explicit")]
    assert [(row["feedback_status"], row["correction_type"], row["similarity"]) for row in found[2:4]] == [
        ("rejected", "rephrased", round(9 / (9 * 10) ** 0.5, 4)),
        ("accepted", None, 0.0),
    ]
    assert (found[4]["feedback_status"], found[4]["correction_type"]) == ("rejected", "abandonment")
    assert [row["reason"] for row in found[5:7]] == ["no_text", "no_text"]
    assert [row["feedback_status"] for row in found[5:7]] == ["neutral", "neutral"]
    assert found[7]["similarity"] is None  # the turn before has no text of its own
    assert [row["next_turn_id"] for row in found] == [*(f"turn_00000{n}" for n in range(1, 9)), None]


def test_the_threshold_and_the_intents_decide_about_repetitions() -> None:
    """C2: more alike than the threshold; when both intents are known they must agree."""
    again = f"{QUESTION} please"
    rows = [turn(1, intent="commerce"), turn(2, timedelta(minutes=1), query=again, intent="commerce")]
    similarity = judged(*rows)["ann/1"]["similarity"]
    assert similarity == round(9 / (9 * 10) ** 0.5, 4)
    assert judged(*rows, threshold=similarity - 0.0001)["ann/1"]["correction_type"] == "rephrased"
    assert judged(*rows, threshold=similarity)["ann/1"]["correction_type"] is None
    rows[1]["intent"] = "recipe"
    assert judged(*rows)["ann/1"]["correction_type"] is None
    rows[1]["intent"] = None
    assert judged(*rows)["ann/1"]["correction_type"] == "rephrased"


def test_the_detector_is_asked_about_just_these_pairs() -> None:
    """The status, confidence, type and reason are the detector's own, row for row."""
    rows = [
        turn(1),
        turn(2, timedelta(minutes=1), query=WRONG, response=None),
        turn(3, timedelta(minutes=2), query=RIGHT),
    ]
    found = judged(*rows)
    pairs = pl.DataFrame(
        {
            "prev_query": [QUESTION, WRONG],
            "prev_response": [rows[0]["response"], None],
            "next_message": [WRONG, RIGHT],
            "similarity": [found["ann/1"]["similarity"], found["ann/2"]["similarity"]],
            "prev_intent": [None, None],
            "next_intent": [None, None],
        },
        schema_overrides={"prev_intent": pl.String, "next_intent": pl.String},
    )
    expected = detect(pairs, 0.8).to_dicts()
    assert [{name: found[f"ann/{n}"][name] for name in expected[0]} for n in (1, 2)] == expected


@pytest.mark.parametrize(
    ("stored", "status"),
    [
        (" Rejected ", "rejected"),
        ("ACCEPTED", "accepted"),
        ("neutral", "neutral"),
        ("angry", None),
        ("", None),
        (None, None),
    ],
)
def test_the_sources_own_status_is_kept_beside_ours(stored: str | None, status: str | None) -> None:
    """C3, G8: trimmed and in lower case; what it does not know is nothing; its confidence stays its own."""
    (row,) = judged(turn(1, user_feedback_status=stored, feedback_confidence=0.25)).values()
    assert (row["source_status"], row["source_confidence"], row["feedback_confidence"]) == (status, 0.25, 0.5)


def test_messages_that_point_back_say_something_by_themselves() -> None:
    """C6: what they say without the turn before them is kept beside what the pair says."""
    back = "The laptop list you gave me yesterday was wrong, that's not what I asked for"
    found = judged(turn(1), turn(2, timedelta(hours=2), query=back))
    assert [row["refers_back"] for row in found.values()] == [False, True]
    assert (found["ann/1"]["said_status"], found["ann/2"]["said_status"]) == (None, "rejected")
    assert found["ann/1"]["reason"] == "session_end"


# --- days, kept (G12) --------------------------------------------------------------------------------------------------------


class Days:
    """Raw turns in a lake, and core__turn_pairs made from them without a run."""

    def __init__(self, folder: Path) -> None:
        self.lake = Lake(folder)

    def store(self, rows: Iterable[Row], table: str = NEW) -> None:
        """These are all rows of the table now."""
        rows = list(rows)
        kept = {f"event_date={row['event_date']}" for row in rows}
        for partition in [name for name in self.lake.partitions(table) if name not in kept]:
            self.lake.drop(table, partition)
        if rows:
            store_days(self.lake, table, frame(table, rows).sort("event_date", "turn_key"))

    def make(self, as_of: datetime = AS_OF, threshold: float = 0.8) -> int:
        chosen = SimpleNamespace(
            similarity_model="tests.systems.conversations.test_turn_pairs:Words",
            similarity_threshold=threshold,
            split_key="g",
        )
        run: Any = SimpleNamespace(lake=self.lake, config=chosen, as_of=as_of, report=lambda table, rows: None)
        (made,) = make_turn_pairs(run)
        self.lake.commit()
        self.lake.sweep()
        self.lake = Lake(self.lake.home)
        return made.told["made_again"]

    @property
    def pairs(self) -> list[Row]:
        return table_of(self.lake, "core__turn_pairs").sort("turn_key").to_dicts()

    @property
    def followers(self) -> dict[str, str]:
        return {row["turn_key"]: row["next_turn_key"] or row["reason"] for row in self.pairs}


def night(*minutes: float) -> list[Row]:
    """Turns so many minutes after midnight of 2026-01-21."""
    return [turn(n, timedelta(hours=12, minutes=minute)) for n, minute in enumerate(minutes, 1)]


def test_a_pair_over_midnight_belongs_to_the_first_turns_day(tmp_path: Path) -> None:
    """C1: and a turn that arrives after midnight makes just that day again."""
    days = Days(tmp_path)
    turns = night(-600, -20, 9, 300)
    days.store(turns[:2])
    assert days.make() == 2 and days.followers == {"ann/1": "session_end", "ann/2": "session_end"}
    days.store(turns)
    assert days.make() == 4  # both days: the new one, and the one before it
    assert days.followers == {"ann/1": "session_end", "ann/2": "ann/3", "ann/3": "session_end", "ann/4": "session_end"}
    assert {row["turn_key"]: row["event_date"] for row in days.pairs}["ann/2"] == date(2026, 1, 20)
    assert days.make() == 0
    days.store([*turns[:2], turns[3]])
    assert days.make() == 3 and days.followers["ann/2"] == "session_end"


@pytest.mark.parametrize(("last", "first", "follows"), [(-30, 0, True), (-0.001, 29.999, True), (-29, 1.001, False)])
def test_the_half_hour_after_midnight_to_the_minute(tmp_path: Path, last: float, first: float, follows: bool) -> None:
    days = Days(tmp_path)
    days.store(night(last, first))
    days.make()
    assert (days.followers["ann/1"] == "ann/2") == follows


def test_a_turn_at_or_after_as_of_is_not_there(tmp_path: Path) -> None:
    """G2, C1: it neither counts nor tells; the same day again when its time has come."""
    days = Days(tmp_path)
    days.store([turn(1), turn(2, timedelta(minutes=10)), turn(3, timedelta(days=3))])
    assert days.make(START + timedelta(minutes=10)) == 1 and days.followers == {"ann/1": "open"}
    assert days.make(START + timedelta(minutes=10) + TICK) == 2 and days.followers == {
        "ann/1": "ann/2",
        "ann/2": "open",
    }
    assert days.make(START + timedelta(minutes=40) + TICK) == 2
    assert days.followers == {"ann/1": "ann/2", "ann/2": "session_end"}
    assert days.make(START - timedelta(days=1)) == 0 and days.followers == {}


def test_an_open_turn_before_midnight_is_judged_again_the_next_day(tmp_path: Path) -> None:
    """C1, G12: as_of decides about the last half hour of a day, and about no day before that."""
    days = Days(tmp_path)
    days.store([turn(9, timedelta(days=-3)), *night(-10)])
    midnight = datetime(2026, 1, 21, tzinfo=UTC)
    assert days.make(midnight) == 2 and days.followers == {"ann/9": "session_end", "ann/1": "open"}
    assert days.make(midnight + timedelta(hours=1)) == 1 and days.followers["ann/1"] == "session_end"
    assert days.make(midnight + timedelta(days=9)) == 0


def test_another_threshold_judges_again(tmp_path: Path) -> None:
    """G12: kept results carry the settings that made them."""
    days = Days(tmp_path)
    days.store([turn(1), turn(2, timedelta(minutes=1))])
    assert [days.make(), days.make(), days.make(threshold=0.9), days.make(threshold=0.9)] == [2, 0, 2, 0]


def test_a_turn_of_both_tables_is_one(tmp_path: Path) -> None:
    """One row a key: the older table's copy is left out, also where its day or its user's name differs."""
    days = Days(tmp_path)
    days.store([turn(1), turn(2, timedelta(minutes=1), user_id=None), turn(3, timedelta(minutes=2))])
    # the older table knows no users: turn 1 is ann's, written down a second later; turn 2 has the same key on another day
    copy = turn(1, timedelta(seconds=1), user_id=None)
    days.store([copy, turn(2, timedelta(days=5), user_id=None), turn(4, timedelta(minutes=3), user_id=None)], OLD)
    days.make()
    assert days.followers == {"ann/1": "ann/3", "ann/3": "session_end", "f.db/2": "f.db/4", "f.db/4": "session_end"}
    assert days.make() == 0
    days.store([turn(3, timedelta(minutes=2))])  # gone from the newer table: the older one's rows count
    assert days.make() > 0
    assert days.followers == {
        "ann/3": "session_end",
        "f.db/1": "f.db/4",
        "f.db/2": "session_end",
        "f.db/4": "session_end",
    }


def test_copies_are_of_one_person_one_session_and_one_time(tmp_path: Path) -> None:
    """Another user, session, file or month: another turn."""
    days = Days(tmp_path)
    days.store([turn(1)])
    others = [
        turn(1, user_id="bob"),
        turn(1, user_id=None, session_id="t"),
        turn(1, user_id=None, source_file="g.db"),
        turn(1, timedelta(days=2), user_id=None, source_file="f.db", session_id="s", turn_key="f.db/later"),
    ]
    days.store(others, OLD)
    days.make()
    assert sorted(days.followers) == ["ann/1", "bob/1", "f.db/1", "f.db/later", "g.db/1"]


def test_a_copy_over_midnight_is_left_out_on_both_sides(tmp_path: Path) -> None:
    """The older table wrote it down a moment later, which was the next day."""
    days = Days(tmp_path)
    just_before, just_after = night(-0.01, 0.01)
    days.store([just_before])
    days.store([{**just_after, "turn_number": 1, "user_id": None, "turn_key": "f.db/1"}], OLD)
    days.make()
    assert days.followers == {"ann/1": "session_end"}


# --- laws --------------------------------------------------------------------------------------------------------------------

MESSAGES = (QUESTION, WRONG, RIGHT, NO_MORE, "", None)
TURN = st.fixed_dictionaries(
    {
        "minutes": st.sampled_from([0, 10, 29, 30, 31, 690, 700, 710, 719, 720, 721, 730, 749, 750, 751, 1440, 2200]),
        "user_id": st.sampled_from(["ann", "bob", None]),
        "session_id": st.sampled_from(["s", "t", "default"]),
        "query": st.sampled_from(MESSAGES),
    }
)


def numbered(rows: list[Row]) -> list[Row]:
    names = ("user_id", "session_id", "query")
    return [
        turn(number, timedelta(minutes=row["minutes"]), **{name: row[name] for name in names})
        for number, row in enumerate(rows, 1)
    ]


TURNS = st.lists(TURN, max_size=14).map(numbered)
AS_OFS = st.sampled_from([START + timedelta(minutes=minutes) for minutes in (5, 720, 735, 750, 760, 99_999)])


@pytest.mark.slow
@settings(max_examples=40)
@given(turns=TURNS, data=st.data())
def test_the_order_of_rows_does_not_matter(turns: list[Row], data: st.DataObject) -> None:
    """C1 orders by time and number, never by place."""
    assert judged(*data.draw(st.permutations(turns))) == judged(*turns)


@settings(max_examples=40)
@given(turns=TURNS)
def test_every_turn_is_there_once_and_follows_at_most_one(turns: list[Row]) -> None:
    """C1: threads are chains."""
    found = judged(*turns)
    assert sorted(found) == sorted(row["turn_key"] for row in turns)
    following = [row["next_turn_key"] for row in found.values() if row["next_turn_key"]]
    assert len(following) == len(set(following))
    for row in found.values():
        assert (row["next_turn_key"] is None) == (row["reason"] in ("open", "session_end"))
        if row["next_turn_key"]:
            after = found[row["next_turn_key"]]
            assert after["thread_id"] == row["thread_id"]
            assert timedelta() <= after["occurred_at"] - row["occurred_at"] <= GAP


@pytest.mark.slow
@settings(max_examples=25)
@given(turns=TURNS, as_of=AS_OFS)
def test_days_made_one_by_one_are_those_made_together(turns: list[Row], as_of: datetime) -> None:
    """G12: and both are what the turns before as_of give when judged at once."""
    expected = judged(*(row for row in turns if row["occurred_at"] < as_of), as_of=as_of)
    kept = [
        {name: expected[key][name] for name in ("next_turn_key", "reason", "feedback_status")}
        for key in sorted(expected)
    ]
    for together in (1, 50_000):
        with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
            patch.setattr(turn_pairs, "GROUP_TURNS", together)
            days = Days(Path(folder))
            days.store(turns)
            days.make(as_of)
            assert [{name: row[name] for name in kept[0]} for row in days.pairs] == kept
            assert days.make(as_of) == 0


@pytest.mark.slow
@settings(max_examples=25)
@given(turns=TURNS, cuts=st.lists(st.integers(0, 14), max_size=3), as_of=AS_OFS)
def test_turns_that_come_and_go_leave_what_a_first_run_would_make(
    turns: list[Row], cuts: list[int], as_of: datetime
) -> None:
    """G12: whatever was made before, the pairs are those of the turns there are now."""
    with TemporaryDirectory() as folder, TemporaryDirectory() as other:
        days, fresh = Days(Path(folder)), Days(Path(other))
        for cut in cuts:
            days.store(turns[cut:])
            days.make(as_of)
        days.store(turns)
        days.make(as_of)
        fresh.store(turns)
        fresh.make(as_of)
        assert days.pairs == fresh.pairs


def test_the_chain_of_one_thread() -> None:
    """C1: forty turns five minutes apart are thirty-nine pairs."""
    rows = [turn(n, timedelta(minutes=5 * n)) for n in range(40)]
    assert followers(*rows) == {one["turn_key"]: two["turn_key"] for one, two in pairwise(rows)} | {
        "ann/39": "session_end"
    }
