"""The head in whole runs (C7, G2, G12): reactions on turns become labels, and any history of runs gives a fresh home's bytes."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dagster_project import config
from dagster_project.intake.stage import Choice
from dagster_project.lake.lake import Lake
from dagster_project.systems.conversations import lookups, why
from tests.histories.comparing import differences
from tests.histories.direct_run import run_directly
from tests.systems.conversations.test_head import pairs as made_up
from tests.systems.conversations.turn_database import Row, add, iso, source, write
from tests.systems.reactions import reaction_database as reactions
from tests.tables import rows

START = datetime(2026, 1, 20, 12, tzinfo=UTC)
PER_DAY = 60


def turns_and_presses(n: int) -> list[tuple[list[Row], Row]]:
    """So many threads of a question, an answer and what was said next; and what the user pressed under the answer."""
    told, rejected = made_up(n)
    found = []
    for number, (pair, is_bad) in enumerate(zip(told.iter_rows(named=True), rejected, strict=True)):
        at = (START + timedelta(days=number // PER_DAY, minutes=5 * (number % PER_DAY))).timestamp()
        who = {"user_id": f"user{number}", "session_id": f"s{number}"}
        texts = ((pair["prev_query"], pair["prev_response"]), (pair["next_message"], "Fine."))
        turns = [
            {"turn_number": place, "timestamp": at + 60 * place, "query": query, "response": response, **who}
            for place, (query, response) in enumerate(texts, 1)
        ]
        pressed = reactions.reaction(
            user_id=who["user_id"],
            conversation_id=who["session_id"],
            turn_id="turn_000001",
            ts=iso(at + 90),
            reaction_="not_ok" if is_bad else "ok",
        )
        found.append((turns, pressed))
    return found


@pytest.mark.slow
def test_any_history_of_runs_gives_the_bytes_of_a_fresh_home(tmp_path: Path) -> None:
    home, fresh = tmp_path / "home", tmp_path / "fresh"
    told = turns_and_presses(320)
    pressed_in = reactions.source(home)
    write(source(home), [turn for turns, _ in told[:170] for turn in turns])
    reactions.write(pressed_in, [pressed for _, pressed in told[:150]])

    def run(where: Path, day: int) -> None:
        environ = {
            "GRISTMILL_CONVERSATIONS": str(source(where)),
            "GRISTMILL_REACTIONS": str(reactions.source(where)),
        }
        run_directly(config.load(home=where, environ=environ), Choice(as_of=START + timedelta(days=day)))

    def state() -> set[tuple[bool, str, int]]:
        return {(row["is_in_use"], row["state"], row["label_count"]) for row in rows(home, "metric__detector_head")}

    run(home, 3)
    assert state() == {(False, "too_few_labels", 150)} and rows(home, "core__head_verdicts") == []
    add(source(home), *(turn for turns, _ in told[170:280] for turn in turns))
    reactions.add(pressed_in, *(pressed for _, pressed in told[150:280]))
    run(home, 5)
    assert state() == {(True, "better_than_the_rules", 200)}
    objections = [row for row in rows(home, "core__turns") if row["reason"] == "head:objects"]
    pressed = {row["turn_key"]: row["label"] for row in rows(home, "core__turn_labels")}
    said = [pressed[row["turn_key"]] for row in objections]
    assert len(objections) > 20 and said.count("rejected") / len(said) >= 0.8
    # machine signals and the signals of all systems follow it
    messages = {row["reason"] for row in rows(home, "core__machine_signals")}
    assert "head:objects" in messages
    signals = {
        row["subject_id"]: row["polarity"] for row in rows(home, "core__signals") if row["system"] == "conversations"
    }
    assert all(signals[row["turn_key"]] == "negative" for row in objections)
    facts = lookups.facts(Lake(home), [objections[0]["turn_key"]])[0]
    assert "by head:objects" in "\n".join(why.tell(facts)) and "rules     alone: " in "\n".join(why.tell(facts))
    assert facts["rules_alone"]["reason"].startswith(("neutral", "accepted"))
    add(source(home), *(turn for turns, _ in told[280:] for turn in turns))
    reactions.add(pressed_in, *(pressed for _, pressed in told[280:]))
    run(home, 8)
    assert state() == {(True, "better_than_the_rules", 300)}
    shutil.copytree(home / "sources", fresh / "sources")
    run(fresh, 8)
    assert differences(home, fresh, (START + timedelta(days=7)).date()) == []
