"""`gristmill config`: the settings in force, where each comes from, and the sources, without their passwords."""

import json
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from rich.cells import cell_len

from dagster_project.columns.printable import cut, one_line
from dagster_project.config import SETTINGS, Config, Said, understood
from dagster_project.config.reachable import is_there
from dagster_project.config.source_settings import OF_A_SOURCE, SOURCES, SourceFile
from dagster_project.databases.postgres_address import UNREADABLE, safe_uri
from dagster_project.run.calling import shown

Row = tuple[str, str, str, str]  # key, value, from, sentence
HOOKS = ("on_failure", "on_alert")  # addresses in them may be secrets
PLACES = ("config", "home")  # shown with the sources: their values are as long


def settings_in_force(said: Mapping[str, Said]) -> dict[str, Any]:
    """All there is to know of the configuration. What cannot be meant is the same error as for any other command."""
    config = understood(said)
    return {
        "config_hash": config.rules_hash(),
        "settings": [_setting(key, said[key], config) for key in SETTINGS if key not in SOURCES],
        "sources": [_source(system, said[system], config) for system in SOURCES],
    }


def _setting(key: str, said: Said, config: Config) -> dict[str, Any]:
    setting = SETTINGS[key]
    value = getattr(config, key, said.value)  # what is said of all sources is no field of the configuration
    return {
        "key": key,
        "variable": setting.variable,
        "value": _plain(shown(value) if key in HOOKS else value),
        "default": _plain(setting.default),
        "from": said.origin,
        "allowed": setting.allowed,
        "decides_outputs": setting.decides_outputs,
        "sentence": setting.sentence,
    }


def _plain(value: Any) -> Any:
    """As JSON has it, without what nobody said."""
    if is_dataclass(value):
        named = {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
        return {name: found for name, found in named.items() if found is not None}
    if isinstance(value, Mapping):
        return {key: _plain(found) for key, found in value.items()}
    if isinstance(value, tuple):
        return [_plain(found) for found in value]
    return str(value) if isinstance(value, Path) else value


def _source(system: str, said: Said, config: Config) -> dict[str, Any]:
    return {
        "key": system,
        "variable": SOURCES[system].variable,
        "files": [_file(file) for file in config.sources[system]],
        "is_taken_out": system in config.taken_out,
        "from": said.origin,
        "sentence": SOURCES[system].sentence,
    }


def _file(file: SourceFile) -> dict[str, Any]:
    """Of an address only what may be shown; whether a server answers is not tried."""
    place = safe_uri(file.address) if file.address else str(file.path)
    return {
        "place": place,
        "is_there": None if file.address else is_there(file.path),
        "schema": file.schema,
        "label": None if place == UNREADABLE else file.label,  # it may be a piece of a password then
        **file.options,
    }


def config_lines(found: Mapping[str, Any], columns: int | None) -> Iterator[str]:
    """The same for a person, in two tables: places, then what is done there. A line that is too long is cut, not wrapped."""
    settings = [(entry["key"], _shown(entry["value"]), entry["from"], entry["sentence"]) for entry in found["settings"]]
    places = [row for row in settings if row[0] in PLACES]
    for source in found["sources"]:
        places += _source_rows(source)
    others = [row for row in settings if row[0] not in PLACES]
    yield from _table(("place", "where", "from", "what it is"), places, columns)
    yield ""
    yield from _table(("setting", "value", "from", "what it does"), others, columns)


def _source_rows(source: Mapping[str, Any]) -> Iterator[Row]:
    """A row for each file; what is the same for all of them stands in the first."""
    nothing = "taken out" if source["is_taken_out"] else "-"
    key, origin, sentence = source["key"], source["from"], source["sentence"]
    for place in [_place(file) for file in source["files"]] or [nothing]:
        yield key, place, origin, sentence
        key = origin = sentence = ""


def _place(file: Mapping[str, Any]) -> str:
    said = [f"schema {file['schema']}"] if file["schema"] else []
    said += [f"{name} {file[name]}" for name, setting in OF_A_SOURCE.items() if file[name] != setting.default]
    if file["is_there"] is False:
        said.append("not there")
    return file["place"] + (f" ({', '.join(said)})" if said else "")


def _shown(value: Any) -> str:
    """As it would be written in the environment; of what only a file can say, the names."""
    if value is None or value in ({}, []):
        return "-"
    if isinstance(value, list):
        return ",".join(entry if isinstance(entry, str) else entry["name"] for entry in value)
    if isinstance(value, Mapping) and all(isinstance(said, Mapping) for said in value.values()):
        return "; ".join(f"{name}: {', '.join(said)}" for name, said in value.items())
    if isinstance(value, Mapping):
        return ",".join(f"{name}={share}" for name, share in value.items())
    return json.dumps(value) if isinstance(value, bool) or value == "" else str(value)


def _table(heading: Row, rows: Iterable[Row], columns: int | None) -> Iterator[str]:
    lines = [heading, *([one_line(cell) for cell in row] for row in rows)]
    widths = [max(cell_len(line[place]) for line in lines) for place in range(len(heading))]
    for line in lines:
        cells = (cell + " " * (width - cell_len(cell)) for cell, width in zip(line, widths, strict=True))
        text = "  ".join(cells).rstrip()
        yield text if columns is None else cut(text, columns)


def screen_columns() -> int | None:
    """How wide the terminal is; whatever else reads the lines gets them whole."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
