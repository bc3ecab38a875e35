"""Configuration: `gristmill.toml`, then `GRISTMILL_<KEY>` from the environment, then the command's own options.

Knows keys, defaults and which are allowed; opens nothing. Every later stage gets a frozen `Config`.
"""

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from dagster_project.errors import GristmillError

SYSTEMS = ("feedback", "distillation", "conversations", "reactions", "sessions")
RATING_SCALES = ("thumbs", "five")


@dataclass(frozen=True)
class SourceFile:
    """One database of a system. Several of them are united by key; their order decides conflicts (F3).

    `label` is what `source_file` says in the tables: the file's name, with its folder only where two share a name, so
    that moving a database to another folder changes no output.
    """

    path: Path
    rating_scale: str = "thumbs"
    label: str = ""
    address: str | None = field(default=None, repr=False)  # of a Postgres database; holds its password, so never shown
    schema: str | None = None  # in that database
    tenant: str | None = None  # whose reactions these are: no column of theirs tells
    project: str | None = None


@dataclass(frozen=True)
class Config:
    """Everything a run may depend on besides its sources, its state and as_of."""

    home: Path
    sources: Mapping[str, tuple[SourceFile, ...]] = field(default_factory=dict)
    min_weight: float = 0.3
    split_key: str = "gristmill"
    ready_score: float = 0.7  # a pending example with at least this score may leave (D6)
    auto_ready: bool = True  # false: only what a person approved leaves
    synthetic_pairs: bool = False  # whether pairs the teacher wrote both sides of leave (D2)
    review_corrections: bool = False  # whether a user's correction waits for a reviewer (D8)
    second_review_share: float = 0.1  # of judged items, how many a second reviewer is asked to judge blind
    review_batch: int = 500  # how many items a batch file holds at most
    similarity_model: str = "wordllama"  # what tells how alike two texts are (signals/similarity.py)
    similarity_threshold: float = 0.8  # a message more alike to the query before repeats it (C2)
    sample_rate: float = 1.0  # share of AI sessions that is looked at (S7)
    satisfaction_shares: Mapping[str, float] = field(default_factory=dict)  # of the overall line (N); empty: equal
    anonymity_k: int = 5  # how many users must share what leaves of a session in the anonymised export (S6)
    token_budget: int = 8000  # tokens a context may have; utilisation there is a part of it (S6)
    busy_timeout_seconds: float = 30.0
    memory_limit_mb: int = 300
    min_free_mb: int = 200

    def rules_hash(self) -> str:
        """Identity of the settings that change what tables hold (G12). Paths and limits do not."""
        rules = {
            "min_weight": self.min_weight, "split_key": self.split_key, "ready_score": self.ready_score,
            "auto_ready": self.auto_ready, "synthetic_pairs": self.synthetic_pairs,
            "review_corrections": self.review_corrections, "anonymity_k": self.anonymity_k,
            "token_budget": self.token_budget,
        }  # fmt: skip
        return hashlib.sha256(json.dumps(rules, sort_keys=True).encode()).hexdigest()[:16]


SETTINGS: dict[str, type] = {
    "min_weight": float,
    "split_key": str,
    "ready_score": float,
    "auto_ready": bool,
    "synthetic_pairs": bool,
    "review_corrections": bool,
    "second_review_share": float,
    "review_batch": int,
    "similarity_model": str,
    "similarity_threshold": float,
    "sample_rate": float,
    "anonymity_k": int,
    "token_budget": int,
    "busy_timeout_seconds": float,
    "memory_limit_mb": int,
    "min_free_mb": int,
}
LEAST = {
    "review_batch": 1,
    "anonymity_k": 1,
    "token_budget": 1,
    "busy_timeout_seconds": 0,
    "memory_limit_mb": 64,
    "min_free_mb": 0,
}
SHARES = ("min_weight", "ready_score", "second_review_share", "similarity_threshold", "sample_rate")
SHARES_TOLERANCE = 1e-6
NOUNS = {float: "a number", int: "a whole number", str: "a text", bool: "true or false"}
POSTGRES = ("postgresql://", "postgres://")
PLACES = {"reactions": ("tenant", "project")}  # what a source must be told besides where it is
KEYS = {"home", "rating_scale", "satisfaction_shares", "tenant", "project", *SYSTEMS, *SETTINGS}
# What looks like the address of a database and is none we know may hold a password: it is refused and never repeated.
ADDRESS = re.compile(r"\s*([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
KEYWORDS = re.compile(r"\b(?:password|host|dbname)\s*=", re.IGNORECASE)
# A colon separates sources where another one begins behind it; an address has colons of its own.
SEPARATOR = re.compile(rf"{re.escape(os.pathsep)}(?=postgres(?:ql)?://|sqlite:|file:|/(?!/)|\.|~|[^/@:]*$)")


def load(config_file: Path | None = None, home: Path | None = None, environ: Mapping[str, str] | None = None) -> Config:
    """Read the configuration. An unknown key, a wrong type or a named file that is not there is a one-line error."""
    environ = os.environ if environ is None else environ
    file = config_file or (Path(environ["GRISTMILL_CONFIG"]) if environ.get("GRISTMILL_CONFIG") else None)
    if file is not None and not file.is_file():
        raise GristmillError(f"configuration file {file} does not exist")
    file = file or Path("gristmill.toml")
    values: dict[str, Any] = _read_toml(file) if file.is_file() else {}
    base = file.parent if file.is_file() else Path()
    if unknown := sorted(set(values) - KEYS):
        raise GristmillError(f"{file}: unknown key {unknown[0]!r}; known keys are {', '.join(sorted(KEYS))}")

    def setting(key: str) -> Any:
        return environ.get(f"GRISTMILL_{key.upper()}", values.get(key))

    if home is None:
        configured = environ.get("GRISTMILL_HOME") or None
        home = Path(configured) if configured else base / str(values.get("home", "data"))
    common = {
        "rating_scale": _rating_scale(setting("rating_scale") or "thumbs", "rating_scale"),
        "tenant": setting("tenant"), "project": setting("project"),
    }  # fmt: skip
    sources = {}
    for system in SYSTEMS:
        from_environment = environ.get(f"GRISTMILL_{system.upper()}")
        if from_environment:
            sources[system] = _source_files(system, _separate(from_environment), Path(), common)
        elif system in values:
            sources[system] = _source_files(system, values[system], base, common)
        else:
            folder = home / "sources"
            defaults = [
                folder / f"{system}{kind}.db" for kind in ("", "_fallback")
            ]  # SAM's second file, disk unplugged
            found = [str(path.absolute()) for path in defaults if path.exists()]
            sources[system] = tuple(
                replace(file, path=folder / file.path.name) for file in _source_files(system, found, Path(), common)
            )
    settings = {
        key: _typed(kind, setting(key), f"{key} (GRISTMILL_{key.upper()})")
        for key, kind in SETTINGS.items()
        if setting(key) is not None
    }
    for key in SHARES:
        if not 0 <= settings.get(key, 0) <= 1:
            raise GristmillError(f"{key} must be between 0 and 1, not {settings[key]}")
    for key, least in LEAST.items():
        if settings.get(key, least) < least:
            raise GristmillError(f"{key} must be at least {least}, not {settings[key]}")
    if settings.get("sample_rate") == 0:
        raise GristmillError("sample_rate must be above 0: a sample of nothing tells nothing")
    shares = _satisfaction_shares(setting("satisfaction_shares"))
    return Config(home=home, sources=sources, satisfaction_shares=shares, **settings)


def _satisfaction_shares(said: Any) -> Mapping[str, float]:
    """A table of system = share; in the environment as `feedback=0.5,sessions=0.5`. Systems not named have none."""
    if not said:
        return {}
    if isinstance(said, str):
        parts = [part.partition("=") for part in said.split(",")]
        said = {system.strip(): share.strip() for system, _, share in parts}
    if not isinstance(said, dict):
        raise GristmillError("satisfaction_shares must be a table such as { feedback = 0.5, sessions = 0.5 }")
    shares = {}
    for system, share in said.items():
        if system not in SYSTEMS:
            raise GristmillError(f"satisfaction_shares: {system!r} is none of {', '.join(SYSTEMS)}")
        shares[system] = _typed(float, share, f"satisfaction_shares.{system}")
        if not 0 <= shares[system] <= 1:
            raise GristmillError(f"satisfaction_shares.{system} must be between 0 and 1, not {shares[system]}")
    if abs(sum(shares.values()) - 1) > SHARES_TOLERANCE:
        raise GristmillError(f"satisfaction_shares must add up to 1, not {sum(shares.values()):g}")
    return shares


def _read_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise GristmillError(f"{file} is not valid TOML: {error}") from error


def _separate(sources: str) -> list[str]:
    """Several sources in one environment variable."""
    if "://" in sources.replace("sqlite://", "").replace("file://", "") or KEYWORDS.search(sources):
        return SEPARATOR.split(sources)
    is_address = sources.startswith(("sqlite:", "file:"))  # whose colon separates nothing
    return [sources] if is_address else sources.split(os.pathsep)


def _source_files(system: str, entries: Any, base: Path, common: Mapping[str, Any]) -> tuple[SourceFile, ...]:
    """A source is a path or an address, a table with `uri`, or a list of either."""
    files = []
    for entry in entries if isinstance(entries, list) else [entries]:
        table = {"uri": entry} if isinstance(entry, str) else entry
        if not isinstance(table, dict) or not isinstance(table.get("uri"), str | list):
            shown = sorted(entry) if isinstance(entry, dict) else type(entry).__name__
            raise GristmillError(f"source {system!r}: expected a path or a table with `uri`, found {shown!r}")
        if unknown := sorted(set(table) - {"uri", "rating_scale", "schema", *PLACES.get(system, ())}):
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
    return tuple(
        file
        if names.count(file.label) == 1
        else replace(file, label=f"{file.label} ({order})" if file.address else str(file.path))
        for order, file in enumerate(files, 1)
    )


def _source_file(system: str, uri: str, base: Path, said: Mapping[str, Any]) -> SourceFile:
    places = {name: said.get(name) for name in PLACES.get(system, ())}
    for name, value in {**places, "schema": said.get("schema")}.items():
        if value is not None and not (isinstance(value, str) and value):
            raise GristmillError(f"source {system!r}: {name} must be a text, not {value!r}")
    scale = _rating_scale(said["rating_scale"], f"{system}.rating_scale")
    scheme = ADDRESS.match(uri)
    if KEYWORDS.search(uri) and not scheme:
        raise GristmillError(f"source {system!r}: write the database's address as postgresql://user@host:port/database")
    if scheme and scheme[1].lower() not in ("postgresql", "postgres", "sqlite", "file"):
        raise GristmillError(
            f"source {system!r}: unknown kind of address {scheme[1]!r}://; use a path or postgresql://..."
        )
    if scheme and scheme[1].lower().startswith("postgres"):
        uri = f"postgresql://{uri[scheme.end() :].strip()}"
    if not uri.startswith(POSTGRES):
        path = base / _path(uri)
        return SourceFile(path, scale, path.name, **places)
    schema = said.get("schema")
    if schema is None and all(places.values()) and places:
        schema = "kdcube_" + "_".join(str(place) for place in places.values())  # sources.md, reactions
    database = unquote(urlsplit(uri).path.strip("/")) or "postgres"
    return SourceFile(Path(database), scale, f"{database}.{schema or 'public'}", uri, schema, **places)


def _path(uri: str) -> Path:
    """A path, or the address of a local SQLite file with the scheme sqlite or file."""
    for scheme in ("sqlite:///", "file://", "file:"):
        if uri.startswith(scheme):
            return Path(unquote(uri.removeprefix(scheme).split("?")[0]))
    return Path(uri).expanduser()


def _rating_scale(value: Any, key: str) -> str:
    if value not in RATING_SCALES:
        raise GristmillError(f"{key} must be one of {', '.join(RATING_SCALES)}, not {value!r}")
    return str(value)


def _typed(kind: type, value: Any, key: str) -> Any:
    if kind is bool:
        words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        found = value if isinstance(value, bool) else words.get(str(value).strip().lower())
        if found is None:
            raise GristmillError(f"{key} must be {NOUNS[kind]}, not {value!r}")
        return found
    try:
        return kind(value)
    except (TypeError, ValueError) as error:
        raise GristmillError(f"{key} must be {NOUNS[kind]}, not {value!r}") from error
