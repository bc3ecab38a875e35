"""Evaluation sets whose items no record may hold, as `[[decontaminate]]` names them. Their files are hashed, not understood."""

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dagster_project.config.source_settings import expanded
from dagster_project.errors import GristmillError

JSON_LINES = (".jsonl", ".ndjson")
SUFFIXES = (*JSON_LINES, ".parquet", ".txt")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class EvaluationSet:
    """Outputs depend on what the files hold and on the names of both, not on where they lie."""

    name: str = field(metadata={"decides_outputs": True})
    files: tuple[Path, ...] = field(metadata={"decides_outputs": False})
    contents: tuple[str, ...] = field(metadata={"decides_outputs": True})  # name and SHA-256 of each file


def evaluation_sets(said: Any, base: Path) -> tuple[EvaluationSet, ...]:
    """The sets a list of tables means; paths are relative to `base`."""
    if not said:
        return ()
    if not isinstance(said, list) or not all(isinstance(table, dict) for table in said):
        raise GristmillError("decontaminate is said in gristmill.toml, as [[decontaminate]] with `name` and `files`")
    sets = tuple(_set(table, base) for table in said)
    names = [one.name for one in sets]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise GristmillError(f"decontaminate names {twice!r} twice")
    return sets


def _set(table: dict[str, Any], base: Path) -> EvaluationSet:
    name, files = table.get("name"), table.get("files")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise GristmillError(f"decontaminate: name must be of letters, digits, `_`, `.` and `-`, not {name!r}")
    if unknown := sorted(set(table) - {"name", "files"}):
        raise GristmillError(f"decontaminate {name!r}: unknown key {unknown[0]!r}")
    files = [files] if isinstance(files, str) else files
    if not isinstance(files, list) or not files or not all(isinstance(file, str) and file for file in files):
        raise GristmillError(f"decontaminate {name!r}: files must be a list of paths")
    paths = tuple(base / expanded(Path(file), f"decontaminate {name!r}") for file in files)
    if len({path.name for path in paths}) != len(paths):
        raise GristmillError(f"decontaminate {name!r} has two files of one name; records could not say which")
    return EvaluationSet(name, paths, tuple(_content(name, path) for path in paths))


def _content(name: str, path: Path) -> str:
    if path.suffix not in SUFFIXES:
        raise GristmillError(f"decontaminate {name!r}: {path} is none of {', '.join(SUFFIXES)}")
    try:
        with path.open("rb") as file:
            return f"{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}"
    except OSError as error:
        raise GristmillError(f"decontaminate {name!r}: {path} cannot be read: {error.strerror}") from error
