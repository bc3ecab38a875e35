"""The reactions demo: the same for the same seed, exact in number, with everything it promises."""

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dagster_project.demo.conversations.followed import FollowedTurns
from dagster_project.demo.conversations.sources import write_turns
from dagster_project.demo.reactions.hazards import HAZARDS
from dagster_project.demo.reactions.sources import FILE, PATTERNS, write_reactions
from tests.oracle import reactions_oracle as oracle
from tests.systems.reactions.reaction_database import AS_OF, derive

REACTIONS = 1500
PROMISED = ("orphan_turn", "historical_tag", "short_lived", "no_turn_column", "origin_in_meta", "origin_in_tag")
FORMS = ("text_repr", "text_json", "text_bare", "text_nested")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, int]]:
    home = tmp_path_factory.mktemp("demo")
    return home, write_reactions(home / "sources", REACTIONS, 1)


def rows(path: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as database:
        database.text_factory = bytes
        return database.execute("select * from conv_messages order by id").fetchall()


def test_same_seed_same_rows(demo: tuple[Path, dict[str, int]], tmp_path: Path) -> None:
    home, planted = demo
    assert write_reactions(tmp_path, REACTIONS, 1) == planted
    assert rows(tmp_path / FILE) == rows(home / "sources" / FILE)
    assert write_reactions(tmp_path / "other", REACTIONS, 2) != planted


@pytest.mark.parametrize("wanted", [0, 1, 7, 299, 301])
@pytest.mark.parametrize("is_bench", [False, True])
def test_the_number_is_exact(wanted: int, is_bench: bool, tmp_path: Path) -> None:
    write_reactions(tmp_path, wanted, 3, is_bench=is_bench)
    with closing(sqlite3.connect(tmp_path / FILE)) as database:
        (found,) = database.execute(
            "select count(*) from conv_messages where tags like '%turn.log.reaction%'"
        ).fetchone()
    assert found == wanted


def test_everything_is_planted(demo: tuple[Path, dict[str, int]]) -> None:
    assert [name for name in (*PATTERNS, *HAZARDS, *PROMISED, *FORMS) if not demo[1].get(name)] == []


def test_the_pipeline_finds_what_is_planted(demo: tuple[Path, dict[str, int]]) -> None:
    home, planted = demo
    derived = derive(home, AS_OF)
    expected = oracle.judge(home / "sources" / FILE, AS_OF)
    assert {int(key or 0): reasons for key, reasons in derived.reasons.items()} == expected.refused
    accepted = ("back_dated", "future_dated", "ts_milliseconds")
    assert len(expected.refused) == sum(planted[name] for name in HAZARDS if name not in accepted)
    why = Counter(derived.why.values())
    assert why == Counter(row["inactive_reason"] for row in expected.reactions.values())
    assert set(why) == {None, "superseded", "cleared", "low_confidence", "no_text", "copy", "expired"}
    assert derived.accounts["raw_reactions__reactions"].waiting == planted["future_dated"]
    assert len(derived.tables["metric__reaction_daily"]) >= 90


def test_reactions_to_turns_of_the_other_demo(tmp_path: Path) -> None:
    """They are what the detector's confidence is held against: most people press what they say next."""
    followed = FollowedTurns(60, Random(1))
    write_turns(tmp_path, 1200, 1, followed=followed)
    assert len(followed.chosen) == len({(turn.user_id, turn.turn_id) for turn in followed.chosen}) == 60
    assert 8 < sum(turn.is_rejected for turn in followed.chosen) < 40
    planted = write_reactions(tmp_path, 400, 1, turns=followed.chosen)
    assert planted["about_a_turn_of_conversations"] == 60
    with closing(sqlite3.connect(tmp_path / "conversations.db")) as database:
        database.execute("attach ? as r", [str(tmp_path / FILE)])
        found = database.execute(
            "select m.conversation_id, m.turn_id, instr(m.text, 'not_ok') > 0 from r.conv_messages m join turns t "
            "on t.session_id = m.conversation_id and t.user_id = m.user_id "
            "and m.turn_id = printf('turn_%06d', t.turn_number) where m.tags like '%turn.log.reaction%'"
        ).fetchall()
    assert len(found) >= 55  # a few are damaged
    rejected = {(turn.session_id, turn.turn_id): turn.is_rejected for turn in followed.chosen}
    agreeing = sum(rejected[session, turn] == is_not_ok for session, turn, is_not_ok in found)
    assert agreeing / len(found) > 0.85
