"""The demo of all five systems: what `gristmill demo` writes, and what it says about it, one line a system."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from random import Random

from dagster_project.config import Config
from dagster_project.demo import (
    distill_hazards,
    hazards,
    reaction_hazards,
    reaction_sources,
    session_sources,
    turn_files,
    turn_hazards,
    turn_sources,
)
from dagster_project.demo.belongings import Belongings
from dagster_project.demo.distillation import write_distillation
from dagster_project.demo.feedback import LAST_DAY, write_feedback_files
from dagster_project.demo.reaction_sources import write_reactions
from dagster_project.demo.session_sources import write_sessions
from dagster_project.demo.turn_followed import FollowedTurns
from dagster_project.demo.turn_sources import write_turns
from dagster_project.errors import GristmillError
from dagster_project.lake.lock import home_lock

DAYS = 90
MOST_FOLLOWED = 200  # turns that somebody also reacts to

Counts = Mapping[str, int]


def is_wanted(config: Config) -> bool:
    """Whether there is nothing to run on: no source configured, none in the usual place, nothing read before."""
    folder = config.home / "sources"
    if any(file.address or file.path.parent != folder for files in config.sources.values() for file in files):
        return False
    belongings = Belongings(folder)
    return belongings.is_half_done or not (belongings.has_sources() or _holds_a_lake(config.home))


def write_demo(config: Config, rows: int, seed: int, force: bool, say: Callable[[str], None]) -> None:
    """Write the demo under `<home>/sources`, over an earlier demo at most."""
    folder = config.home / "sources"
    with home_lock(config.home):
        belongings = Belongings(folder)
        changed = belongings.check(force)
        if _holds_a_lake(config.home) and not (belongings.is_recorded or belongings.has_sources() or force):
            raise GristmillError(
                f"{config.home} holds what was read from other sources; nothing was touched: choose another --home, or use --force"
            )
        for path in changed:
            say(f"replacing {path}, which was changed since the demo was written")
        try:
            with belongings.staging() as staging:
                told = list(_write_systems(staging, rows, seed))
                belongings.replace(staging, {"rows": rows, "seed": seed}, force)
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or error
            raise GristmillError(f"cannot write the demo to {folder}: {reason}") from error
    for system, what in told:
        say(f"{folder / f'{system}.db'}: {what}")


def _write_systems(folder: Path, rows: int, seed: int) -> Iterator[tuple[str, str]]:
    """Write one system after the other and tell of each: how much, from when, and what is in it to be found."""
    feedback = folder / "feedback.db"
    n = write_feedback_files(folder, rows, seed)
    private = sum(count for name, count in n.items() if name.startswith("private_"))
    yield (
        "feedback",
        f"{rows:,} rows, {_since(DAYS)}; {n.get('bad_model', 0):,} on a bad roll-out in December, "
        f"{n.get('through_the_api', 0):,} through the API, {private} with things to mask, "
        f"{_bad(n, {*hazards.DAMAGE, hazards.ORPHAN})}",
    )
    n = write_distillation(folder / "distillation.db", rows // 5, seed, feedback=feedback)
    linked = sum(count for name, count in n.items() if name.startswith("linked_"))
    dirt = {*distill_hazards.all_hazards((), ()), *distill_hazards.PAIR_HAZARDS}
    yield (
        "distillation",
        f"{rows // 5:,} interactions, {_since(DAYS)}; {n.get('in_several_generations', 0)} in several tables at once, "
        f"{linked} that users judged, {_bad(n, dirt)}",
    )
    followed = FollowedTurns(min(MOST_FOLLOWED, rows // 40), Random(f"{seed}:followed"))
    n = write_turns(folder, rows // 3, seed, feedback=feedback, followed=followed)
    dirt = {*turn_hazards.DAMAGE, *turn_files.FOLDER_HAZARDS.values(), *turn_sources.OLDER_HAZARDS.values()}
    yield (
        "conversations",
        f"{rows // 3:,} turns and {n['rows_fallback']:,} in an older file, {_since(DAYS)}; {n.get('rated', 0)} rated by button too, "
        f"texts in {n.get('transcripts', 0)} transcripts and {n.get('folders', 0)} folders, {_bad(n, dirt)}",
    )
    n = write_reactions(folder, rows // 4, seed, turns=followed.chosen)
    yield (
        "reactions",
        f"{rows // 4:,} among {n['rows']:,} messages, {_since(reaction_sources.DAYS)}; "
        f"{n.get('about_a_turn_of_conversations', 0)} on turns of conversations, {n.get('changed_mind', 0)} changes of mind, "
        f"{_bad(n, reaction_hazards.HAZARDS)}",
    )
    n = write_sessions(folder, rows // 2, seed)
    dirt = {*session_sources.SESSION_HAZARDS, *session_sources.FEEDBACK_HAZARDS, "orphan", "other_tenant"}
    yield (
        "sessions",
        f"{rows // 2:,} sessions of 8 tenants, {_since(session_sources.DAYS)}; {n.get('feedback', 0):,} with feedback, "
        f"{n.get('late_feedback', 0)} of it days or months late, {_bad(n, dirt)}",
    )


def _since(days: int) -> str:
    return f"{LAST_DAY - timedelta(days=days - 1)} to {LAST_DAY}"


def _bad(counts: Counts, names: Iterable[str]) -> str:
    found = [counts[name] for name in set(names) if counts.get(name)]
    return f"{sum(found)} bad rows of {len(found)} kinds"


def _holds_a_lake(home: Path) -> bool:
    lake = home / "lake"
    return lake.is_dir() and any(lake.iterdir())
