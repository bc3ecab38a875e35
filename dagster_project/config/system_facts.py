"""What must be known of a system before any of its code is imported, as `systems/<name>/system.toml` says it."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DATA_FILES = ("../systems/*/system.toml",)
FOLDER = Path(__file__).parent.parent / "systems"


@dataclass(frozen=True)
class SystemFacts:
    """A system is called as its folder is."""

    name: str
    order: int  # among the systems, wherever people see them
    sentence: str  # of the setting that names its sources
    has_signals: bool = False  # its users say something (N)
    # what a source may be told besides where it is: name -> its sentence and, if it has them, its default and its words
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    postgres_schema: str | None = None  # where its tables are if nobody says, made from its options
    looks_beside: str | None = None  # `module:function` in its folder: how that looks which it reads beside a database


def _facts(file: Path) -> SystemFacts:
    said = tomllib.loads(file.read_text(encoding="utf-8"))
    return SystemFacts(file.parent.name, **said)


FACTS: dict[str, SystemFacts] = {
    facts.name: facts for facts in sorted(map(_facts, FOLDER.glob("*/system.toml")), key=lambda facts: facts.order)
}
