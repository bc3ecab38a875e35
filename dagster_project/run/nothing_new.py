"""Whether a run could find anything new (G7), told from how things look from outside, before anything large is imported.

A run that went well leaves a picture of all it depends on (sources, state, settings, our own code, the versions of libraries)
and of all it made. While that picture is true, another run would change nothing, so it ends at once. What cannot be told from
outside (a Postgres database, a missing file, a model of the user's own) leaves no picture. It lies under `<home>/runs` and may
be removed: it is no output, and a run without it comes to the same.
"""

import contextlib
import hashlib
import json
import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from importlib import import_module
from pathlib import Path

from dagster_project.config import OF_A_RUN, Config
from dagster_project.config.system_facts import FACTS
from dagster_project.databases.sqlite_file import beside, identity, is_settled
from dagster_project.lake.placing import Move, write_atomically

PACKAGE = Path(__file__).parent.parent
CODE = (".py", ".sql", ".toml", ".json")
MADE = ("lake", "exports", "pending_review", "approved", "warehouse.duckdb", "warehouse.duckdb.wal", "commit.json")
OWN_MODEL: str = OF_A_RUN["similarity_model"].default  # the one model whose code is counted among the libraries


@dataclass(frozen=True)
class Picture:
    """What a run that went well left. `next_day` is the first day a source holds that is not before as_of."""

    inputs: str
    state: str
    made: str
    as_of: str
    asked_as_of: str | None
    next_day: str | None
    publication: int
    snapshot: int
    release: str | None

    def holds_for(self, asked_as_of: datetime | None, today: date) -> bool:
        """Whether a run today with this as_of would have the same one: rows that waited for their day to be over may have come."""
        if (asked_as_of.isoformat() if asked_as_of else None) != self.asked_as_of:
            return False
        return asked_as_of is not None or self.next_day is None or today <= date.fromisoformat(self.next_day)


def look_at_inputs(config: Config) -> str | None:
    """All that a run reads besides the state, as it looks now; None where that does not tell everything."""
    files = [file for files in config.sources.values() for file in files]
    if any(file.address for file in files) or config.similarity_model != OWN_MODEL:
        return None
    looks = [repr(config), sys.version, unicodedata.unidata_version, *_installed(), *_code()]
    for file in files:
        identified = identity(file.path)
        if not is_settled(identified):
            return None
        looks += [str(file.path.resolve()), str(identified), _look(beside(file.path, "-journal"))]
    looks += _texts_beside(config)
    return _digest(looks)


def look_at_state(home: Path) -> dict[str, str]:
    """Every file of the state by its path, with how it looks: a run reads them, and puts some of them there itself."""
    state = home / "state"
    return {str(state / name): look for name, look in _below(state)} if state.is_dir() else {}


def is_own_work(before: Mapping[str, str], after: Mapping[str, str], moves: Iterable[Move]) -> bool:
    """Whether the state differs by nothing but what the run put there: what somebody else did meanwhile it has not read."""
    own = {str(path) for _, target in moves for path in (target, *(target.rglob("*") if target.is_dir() else ()))}
    return all(before.get(path) == after.get(path) for path in {*before, *after} - own)


def of_state(looks: Mapping[str, str]) -> str:
    return _digest([*looks.values()])


def look_at_what_was_made(home: Path, snapshot: int) -> str:
    """Everything a run writes and somebody may remove, cut short or write into."""
    return _digest([look for name in (*MADE, f"snapshots/{snapshot}") for _, look in _below(home / name)])


def latest(home: Path) -> Picture | None:
    """What the last run that went well left, if it is there and can be read."""
    try:
        return Picture(**json.loads(_place(home).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def is_true(picture: Picture, config: Config, asked_as_of: datetime | None, today: date) -> bool:
    """Whether nothing has changed since. Who asks holds the home."""
    return (
        picture.holds_for(asked_as_of, today)
        and picture.inputs == look_at_inputs(config)
        and picture.state == of_state(look_at_state(config.home))
        and picture.made == look_at_what_was_made(config.home, picture.snapshot)
    )


def remember(home: Path, picture: Picture | None) -> None:
    """Leave a picture for the next run, or none."""
    with contextlib.suppress(OSError):  # without one the next run goes the long way, to the same end
        if picture is None:
            _place(home).unlink(missing_ok=True)
        else:
            write_atomically(_place(home), json.dumps(picture.__dict__))


def _place(home: Path) -> Path:
    return home / "runs" / "unchanged.json"


def _installed() -> list[str]:
    """Every library by name and version, as its folder is called."""
    folders = [Path(entry) for entry in sys.path if entry.endswith("-packages")]
    return sorted(path.name for folder in folders if folder.is_dir() for path in folder.glob("*-info"))


def _code() -> Iterator[str]:
    """All of ours, more than the pipeline needs: simple, and never too little."""
    for name, _ in _below(PACKAGE):
        if name.endswith(CODE):
            yield f"{name} {hashlib.sha256((PACKAGE / name).read_bytes()).hexdigest()}"


def _texts_beside(config: Config) -> Iterator[str]:
    """Of systems whose texts lie beside their database, how those look: as each system's own code sees them."""
    for system, facts in FACTS.items():
        if facts.looks_beside and config.sources.get(system):
            module, _, name = facts.looks_beside.partition(":")
            look = getattr(import_module(f"dagster_project.systems.{system}.{module}"), name)
            yield from (look(file.path) for file in config.sources[system])


def _below(path: Path) -> list[tuple[str, str]]:
    """A file, or every file below a folder, by its name in it, with how it looks; links are followed."""
    if not path.is_dir():
        return [("", f"{path.name} {_look(path)}")]
    found = []
    for folder, folders, names in os.walk(path, followlinks=True):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in names:
            full = Path(folder, name)
            inner = str(full.relative_to(path))
            found.append((inner, f"{path.name}/{inner} {_look(full)}"))
    return sorted(found)


def _look(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return "none"
    return f"{status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"


def _digest(looks: list[str]) -> str:
    return hashlib.sha256("\n".join(looks).encode(errors="surrogateescape")).hexdigest()
