"""The folder an export is written to: whole or not at all, and never over what an export did not write."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dagster_project.errors import GristmillError
from dagster_project.lake.placing import exchange, sync, sync_folder

ABOUT = "export.json"
MADE_BY = "gristmill export"


@contextmanager
def whole_folder(place: Path) -> Iterator[Path]:
    """A folder to fill; it takes its place when all went well, else it is gone."""
    place = place.absolute()
    _check(place)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        filled = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    except OSError as error:
        raise GristmillError(f"--out {place}: {error.strerror or error}") from error
    try:
        yield filled
        sync(filled)
        _check(place)
        exchange(filled, place)
        sync_folder(place.parent)
    finally:
        # what stood there before, or what was left half made
        for rest in (filled, filled.with_name(f"{place.name}.old")):
            shutil.rmtree(rest, ignore_errors=True)


def _check(place: Path) -> None:
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        raise GristmillError(f"--out {place} is no folder; nothing was written")
    if not place.exists():
        return
    held = {path.name for path in place.iterdir()}
    if held and (strange := sorted(held - _own(place))):
        raise GristmillError(f"--out {place} holds {strange[0]}, which no export wrote: name another folder")


def _own(place: Path) -> set[str]:
    """The files the folder's own `export.json` names."""
    try:
        about = json.loads((place / ABOUT).read_text(encoding="utf-8"))
        return {ABOUT, *about["files"], *about["beside"]} if about["made_by"] == MADE_BY else set()
    except (OSError, ValueError, KeyError, TypeError):
        return set()
