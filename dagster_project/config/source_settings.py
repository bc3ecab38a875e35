"""Sources as people write them: a path or an address, a table with `uri`, or a list of either. Opens nothing."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from dagster_project.config.settings import Setting, derived
from dagster_project.config.system_facts import FACTS
from dagster_project.errors import GristmillError

SYSTEMS = tuple(FACTS)
POSTGRES = ("postgresql://", "postgres://")
SCHEMES = ("postgresql", "postgres", "sqlite", "file")  # of the kinds of databases that `databases/opening.py` opens
# What looks like the address of a database and is none we know may hold a password: it is refused and never repeated.
ADDRESS = re.compile(r"\s*([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
KEYWORDS = re.compile(r"\b(?:password|host|dbname)\s*=", re.IGNORECASE)
# A colon separates sources where another one begins behind it; an address has colons of its own.
SEPARATOR = re.compile(rf"{re.escape(os.pathsep)}(?=postgres(?:ql)?://|sqlite:|file:|/(?!/)|\.|~|[^/@:]*$)")


@dataclass(frozen=True)
class SourceFile:
    """One database of a system. Several of them are united by key; their order decides conflicts (F3).

    `label` is what `source_file` says in the tables: the file's name, with its folder only where two share a name, so
    that moving a database to another folder changes no output. `options` are what systems declare in their `system.toml`:
    each is a setting that may be said of all sources, or in the table of one of its system's.
    """

    path: Path = field(metadata={"decides_outputs": False})
    label: str = derived(decides_outputs=True, default="")
    options: Mapping[str, str | None] = derived(
        decides_outputs=True,
        are_parts=True,
        default_factory=lambda: {name: s.default for name, s in OF_A_SOURCE.items()},
    )
    # Of a Postgres database; holds its password, so never shown.
    address: str | None = derived(decides_outputs=False, default=None, repr=False)
    schema: str | None = derived(decides_outputs=False, default=None)  # in that database; its label tells
    order: int = derived(decides_outputs=False, default=0, compare=False)  # among its system's files


OF_A_SOURCE = {
    name: Setting(
        name, str, said.get("default"), said["sentence"], decides_outputs=True, words=tuple(said.get("words", ()))
    )
    for facts in FACTS.values()
    for name, said in facts.options.items()
}
SOURCES = {
    system: Setting(system, tuple, None, facts.sentence, decides_outputs=True) for system, facts in FACTS.items()
}


def separate(sources: str) -> list[str]:
    """Several sources in one environment variable."""
    if "://" in sources.replace("sqlite://", "").replace("file://", "") or KEYWORDS.search(sources):
        return SEPARATOR.split(sources)
    is_address = sources.startswith(("sqlite:", "file:"))  # whose colon separates nothing
    return [sources] if is_address else sources.split(os.pathsep)


def default_source_files(system: str, home: Path, common: Mapping[str, Any]) -> tuple[SourceFile, ...]:
    """What is read of a system nobody names a source of, where it is there."""
    folder = home / "sources"
    names = [f"{system}{kind}.db" for kind in ("", "_fallback")]  # SAM's second file, disk unplugged
    places = [str((folder / name).absolute()) for name in names]
    files = source_files(system, places, Path(), common)
    return tuple(replace(file, path=folder / file.path.name) for file in files)


def source_files(system: str, entries: Any, base: Path, common: Mapping[str, Any]) -> tuple[SourceFile, ...]:
    """The files an entry names. `common` is what is said of all sources, `base` what paths are relative to."""
    files = []
    for entry in entries if isinstance(entries, list) else [entries]:
        table = {"uri": entry} if isinstance(entry, str) else entry
        if not isinstance(table, dict) or not isinstance(table.get("uri"), str | list):
            shown = sorted(entry) if isinstance(entry, dict) else type(entry).__name__
            raise GristmillError(f"source {system!r}: expected a path or a table with `uri`, found {shown!r}")
        if unknown := sorted(set(table) - {"uri", "schema", *FACTS[system].options}):
            raise GristmillError(f"source {system!r}: unknown key {unknown[0]!r}")
        uris = [table["uri"]] if isinstance(table["uri"], str) else table["uri"]
        if not all(isinstance(uri, str) for uri in uris):
            raise GristmillError(f"source {system!r}: expected paths or addresses in `uri`")
        files += [_source_file(system, uri, base, {**common, **table}) for uri in uris if uri]
    places = [(file.address or file.path.resolve(), file.schema) for file in files]
    if len(set(places)) != len(files):
        raise GristmillError(
            f"source {system!r} names the same {'source' if any(f.address for f in files) else 'file'} twice"
        )
    names = [file.label for file in files]
    labels = [
        file.label if names.count(file.label) == 1 else f"{file.label} ({place})" if file.address else str(file.path)
        for place, file in enumerate(files, 1)
    ]
    return tuple(
        replace(file, label=label, order=order) for order, (file, label) in enumerate(zip(files, labels, strict=True))
    )


def _source_file(system: str, uri: str, base: Path, said: Mapping[str, Any]) -> SourceFile:
    own = FACTS[system].options
    options: dict[str, Any] = {name: said[name] if name in own else s.default for name, s in OF_A_SOURCE.items()}
    for name, value in {**options, "schema": said.get("schema")}.items():
        if value is not None and not (isinstance(value, str) and value):
            raise GristmillError(f"source {system!r}: {name} must be a text, not {value!r}")
        if name in own and value is not None:
            OF_A_SOURCE[name].parsed(value, f"{system}.{name}")
    scheme = ADDRESS.match(uri)
    if KEYWORDS.search(uri) and not scheme:
        raise GristmillError(f"source {system!r}: write the database's address as postgresql://user@host:port/database")
    if scheme and scheme[1].lower() not in SCHEMES:
        raise GristmillError(
            f"source {system!r}: unknown kind of address {scheme[1]!r}://; use a path or postgresql://..."
        )
    if scheme and scheme[1].lower().startswith("postgres"):
        uri = f"postgresql://{uri[scheme.end() :].strip()}"
    if not uri.startswith(POSTGRES):
        path = base / _path(uri)
        return SourceFile(path, path.name, options)
    schema, usual = said.get("schema"), FACTS[system].postgres_schema
    if schema is None and usual and all(options[name] for name in own):
        schema = usual.format(**options)
    database = unquote(urlsplit(uri).path.strip("/")) or "postgres"
    return SourceFile(Path(database), f"{database}.{schema or 'public'}", options, uri, schema)


def _path(uri: str) -> Path:
    """A path, or the address of a local SQLite file with the scheme sqlite or file."""
    for scheme in ("sqlite:///", "file://", "file:"):
        if uri.startswith(scheme):
            return Path(unquote(uri.removeprefix(scheme).split("?")[0]))
    return expanded(Path(uri), "source")


def expanded(path: Path, what: str) -> Path:
    """`~` and `~somebody` as a shell has them."""
    if "\0" in str(path):
        raise GristmillError(f"{what} {str(path)!r} is no path: it has a NUL character in it")
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise GristmillError(f"{what} {path}: there is no such user, or they have no home") from error
