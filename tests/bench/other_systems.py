"""The other systems, each by itself: everything its rows go through, then again with nothing new."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from dagster_project.demo.conversations.sources import write_turns
from dagster_project.demo.distillation.sources import write_distillation
from dagster_project.demo.reactions.sources import write_reactions
from dagster_project.demo.sessions.sources import write_sessions
from tests.bench.bars import Results
from tests.bench.databases import DAYS, FOLDER, LAST_DAY
from tests.bench.feedback import empty, mill, show


def write_distilled(folder: Path, interactions: int) -> None:
    write_distillation(folder / "distillation.db", interactions, seed=7, days=DAYS, last_day=LAST_DAY, text_bytes=2000)


def write_conversations(folder: Path, turns: int) -> None:
    write_turns(folder, turns, seed=7, days=DAYS, last_day=LAST_DAY, is_bench=True)


def write_ai_sessions(folder: Path, sessions: int) -> None:
    write_sessions(folder, sessions, seed=7, is_bench=True)


def write_conv_messages(folder: Path, reactions: int) -> None:
    write_reactions(folder, reactions, seed=7, is_bench=True)


# How a system's demo database is written, how many rows, what a row is called.
OTHERS: dict[str, tuple[Callable[[Path, int], object], int, str]] = {
    "distillation": (write_distilled, 200_000, "interactions"),
    "conversations": (write_conversations, 1_000_000, "turns"),
    "reactions": (write_conv_messages, 1_000_000, "reactions"),
    "sessions": (write_ai_sessions, 1_000_000, "sessions"),
}


def system(results: Results, name: str) -> None:
    """`TURNS=0` and the like leave a system out."""
    write, usual, noun = OTHERS[name]
    count = int(os.environ.get(noun.upper(), usual))
    if not count:
        return
    print(f"\n{count:,} {noun}", flush=True)
    folder, home = FOLDER / f"{name}_{count}", empty(f"home_{name}_{count}")
    if not folder.exists():
        temporary = folder.with_suffix(".part")
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir()
        write(temporary, count)
        temporary.rename(folder)
    first = mill(home, folder / f"{name}.db", system=name)
    show(results, "(d) gristmill run", first)
    if count == usual:  # its bar is a figure in seconds
        results.put(noun, first.cpu)
    print(f"    {count / first.cpu:,.0f} {noun} per second of CPU", flush=True)
    show(results, "    again, nothing new", mill(home, folder / f"{name}.db", system=name))
