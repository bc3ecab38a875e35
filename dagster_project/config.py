"""Configuration: `gristmill.toml`, then `GRISTMILL_<KEY>` from the environment, then the command's own options.

Knows keys, defaults and which are allowed; opens nothing. Every later stage gets a frozen `Config`.
"""

import errno
import hashlib
import json
import math
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from dagster_project.errors import GristmillError

# What the system says of a file on a disk that was pulled, or behind a mount whose other end is gone.
UNREACHABLE = frozenset(
    {
        errno.ENOENT, errno.ENOTDIR, errno.ENODEV, errno.ENXIO, errno.EIO, errno.ESTALE, errno.ENOTCONN, errno.ETIMEDOUT,
        errno.EHOSTDOWN, errno.EHOSTUNREACH, errno.ENETUNREACH,
    }
)  # fmt: skip
SYSTEMS = ("feedback", "distillation", "conversations", "reactions", "sessions")
RATING_SCALES = ("thumbs", "five")
LOW_TIERS = ("augmentation", "train", "exclude")


def _rule(default: Any) -> Any:
    """A setting that changes what outputs hold."""
    return field(default=default, metadata={"changes_outputs": True})


def _limit(default: Any, *, is_shown: bool = True) -> Any:
    """One that does not: where things are, how long a run waits, how much it may take."""
    return field(default=default, repr=is_shown, metadata={"changes_outputs": False})


@dataclass(frozen=True)
class SourceFile:
    """One database of a system. Several of them are united by key; their order decides conflicts (F3).

    `label` is what `source_file` says in the tables: the file's name, with its folder only where two share a name, so
    that moving a database to another folder changes no output.
    """

    path: Path = field(metadata={"changes_outputs": False})
    rating_scale: str = _rule("thumbs")
    label: str = _rule("")
    address: str | None = _limit(None, is_shown=False)  # of a Postgres database; holds its password, so never shown
    schema: str | None = _limit(None)  # in that database; its label tells
    tenant: str | None = _rule(None)  # whose reactions these are: no column of theirs tells
    project: str | None = _rule(None)
    order: int = field(default=0, compare=False, metadata={"changes_outputs": False})  # among its system's files


@dataclass(frozen=True)
class Config:
    """Everything a run may depend on besides its sources, its state and as_of.

    Each setting says whether it changes what outputs hold; the manifest's `config_hash` covers those that do.
    """

    home: Path = field(metadata={"changes_outputs": False})
    sources: Mapping[str, tuple[SourceFile, ...]] = field(default_factory=dict, metadata={"changes_outputs": True})
    # Default sources that are not there: missing if the lake holds rows of them, else nobody ever had them (G13).
    absent: Mapping[str, tuple[SourceFile, ...]] = field(
        default_factory=dict, compare=False, metadata={"changes_outputs": False}
    )
    taken_out: frozenset[str] = field(  # systems the user wants nothing of
        default=frozenset(), compare=False, metadata={"changes_outputs": False}
    )
    min_weight: float = _rule(0.3)
    low_tier: str = _rule("augmentation")  # where records of the low tiers go that belong to the training split (F5)
    split_key: str = _rule("gristmill")
    ready_score: float = _rule(0.7)  # a pending example with at least this score may leave (D6)
    auto_ready: bool = _rule(True)  # false: only what a person approved leaves
    synthetic_pairs: bool = _rule(False)  # whether pairs the teacher wrote both sides of leave (D2)
    review_corrections: bool = _rule(False)  # whether a user's correction waits for a reviewer (D8)
    second_review_share: float = _limit(0.1)  # of judged items, how many a second reviewer is asked to judge blind
    review_batch: int = _rule(500)  # how many items a batch file holds at most
    similarity_model: str = _rule("wordllama")  # what tells how alike two texts are (columns/similarity.py)
    similarity_threshold: float = _rule(0.8)  # a message more alike to the query before repeats it (C2)
    sample_rate: float = _rule(1.0)  # share of AI sessions that is looked at (S7)
    satisfaction_shares: Mapping[str, float] = field(  # of the overall line (N); empty: equal
        default_factory=dict, metadata={"changes_outputs": True}
    )
    anonymity_k: int = _rule(5)  # how many users must share what leaves of a session in the anonymised export (S6)
    token_budget: int = _rule(8000)  # tokens a context may have; utilisation there is a part of it (S6)
    busy_timeout_seconds: float = _limit(30.0)
    memory_limit_mb: int = _limit(300)
    min_free_mb: int = _limit(200)

    def rules_hash(self) -> str:
        """Identity of the settings that change what outputs hold (G12)."""
        return hashlib.sha256(json.dumps(_rules(self), sort_keys=True).encode()).hexdigest()[:16]


def _rules(value: Any) -> Any:
    """What of a value changes outputs, as JSON has it. Files keep their order: it decides conflicts (F3)."""
    if is_dataclass(value):
        return {f.name: _rules(getattr(value, f.name)) for f in fields(value) if f.metadata["changes_outputs"]}
    if isinstance(value, Mapping):
        return {key: _rules(found) for key, found in value.items()}
    return [_rules(found) for found in value] if isinstance(value, tuple) else value


SETTINGS: dict[str, type] = {
    "min_weight": float,
    "low_tier": str,
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
BOUNDS: dict[str, tuple[float, float]] = {
    "review_batch": (1, 1_000_000),
    "anonymity_k": (1, 1_000_000),
    "token_budget": (1, 2**40),
    "busy_timeout_seconds": (0, 86_400),
    "memory_limit_mb": (64, 2**24),
    "min_free_mb": (0, 2**30),
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
        said = values.get("home", "data")
        if not isinstance(said, str) or not said:
            raise GristmillError(f"home must be a path, not {said!r}")
        home = Path(configured) if configured else base / _expanded(Path(said), "home")
    home = _expanded(home, "home")
    common = {
        "rating_scale": _rating_scale(setting("rating_scale") or "thumbs", "rating_scale"),
        "tenant": setting("tenant"), "project": setting("project"),
    }  # fmt: skip
    sources, absent = {}, {}
    for system in SYSTEMS:
        from_environment = environ.get(f"GRISTMILL_{system.upper()}")
        if from_environment:
            sources[system] = _source_files(system, _separate(from_environment), Path(), common)
        elif system in values:
            sources[system] = _source_files(system, values[system], base, common)
        else:
            folder = home / "sources"
            names = [f"{system}{kind}.db" for kind in ("", "_fallback")]  # SAM's second file, disk unplugged
            places = [str((folder / name).absolute()) for name in names]
            files = [replace(f, path=folder / f.path.name) for f in _source_files(system, places, Path(), common)]
            sources[system] = tuple(file for file in files if is_there(file.path))
            absent[system] = tuple(file for file in files if not is_there(file.path))
    settings = {
        key: _typed(kind, setting(key), f"{key} (GRISTMILL_{key.upper()})")
        for key, kind in SETTINGS.items()
        if setting(key) is not None
    }
    _check_bounds(settings)
    if settings.get("low_tier", LOW_TIERS[0]) not in LOW_TIERS:
        raise GristmillError(f"low_tier must be one of {', '.join(LOW_TIERS)}, not {settings['low_tier']!r}")
    if settings.get("sample_rate") == 0:
        raise GristmillError("sample_rate must be above 0: a sample of nothing tells nothing")
    shares = _satisfaction_shares(setting("satisfaction_shares"))
    taken_out = frozenset(system for system in SYSTEMS if system not in absent and not sources[system])
    return Config(home, sources, absent, taken_out, satisfaction_shares=shares, **settings)


def _check_bounds(settings: Mapping[str, Any]) -> None:
    for key in settings.keys() & {*SHARES}:
        if not 0 <= settings[key] <= 1:
            raise GristmillError(f"{key} must be between 0 and 1, not {settings[key]}")
    for key in settings.keys() & BOUNDS.keys():
        least, most = BOUNDS[key]
        if settings[key] < least:
            raise GristmillError(f"{key} must be at least {least}, not {settings[key]}")
        if settings[key] > most:
            raise GristmillError(f"{key} must be at most {most}, not {settings[key]}")


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
    labels = [
        file.label if names.count(file.label) == 1 else f"{file.label} ({place})" if file.address else str(file.path)
        for place, file in enumerate(files, 1)
    ]
    return tuple(
        replace(file, label=label, order=order) for order, (file, label) in enumerate(zip(files, labels, strict=True))
    )


def _source_file(system: str, uri: str, base: Path, said: Mapping[str, Any]) -> SourceFile:
    places: dict[str, Any] = {name: said.get(name) for name in PLACES.get(system, ())}
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
    return _expanded(Path(uri), "source")


def _expanded(path: Path, what: str) -> Path:
    """`~` and `~somebody` as a shell has them."""
    if "\0" in str(path):
        raise GristmillError(f"{what} {str(path)!r} is no path: it has a NUL character in it")
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise GristmillError(f"{what} {path}: there is no such user, or they have no home") from error


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
        found = kind(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise GristmillError(f"{key} must be {NOUNS[kind]}, not {value!r}") from error
    is_other = isinstance(value, bool) or (kind is int and isinstance(value, float) and found != value)
    if is_other or (isinstance(found, float) and not math.isfinite(found)):
        raise GristmillError(f"{key} must be {NOUNS[kind]}, not {value!r}")
    return found


def is_there(path: Path) -> bool:
    """Whether there is anything at a path, links followed. What we may not look at is there: reading it will tell why."""
    try:
        path.stat()
    except OSError as error:
        return error.errno not in UNREACHABLE
    return True
