"""Configuration: `gristmill.toml`, then `GRISTMILL_<KEY>` from the environment, then the command's own options.

Every later stage gets a frozen `Config`. A setting is declared by its field there (`run_settings.py`), or in `source_settings.py`
if it is one of a source; nowhere else is there a list of them. Opens nothing but the file, and the evaluation sets it names.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from dagster_project.config.reachable import is_there
from dagster_project.config.run_settings import OF_A_RUN as OF_A_RUN
from dagster_project.config.run_settings import Config as Config
from dagster_project.config.settings import PREFIX, Setting
from dagster_project.config.source_settings import (
    OF_A_SOURCE,
    SOURCES,
    SYSTEMS,
    default_source_files,
    expanded,
    separate,
    source_files,
)
from dagster_project.config.source_settings import (
    SourceFile as SourceFile,
)
from dagster_project.errors import GristmillError

DEFAULT = "default"
FILE = Path("gristmill.toml")


OF_THE_ENVIRONMENT = {
    "config": Setting(
        "config",
        Path,
        None,
        "The file with settings; without it `gristmill.toml` where the command is started, if there is one.",
        decides_outputs=False,
        is_in_file=False,
    ),
    "reviewer": Setting(
        "reviewer",
        str,
        None,
        "Who judges in `gristmill review` and `gristmill label`; without it your login name.",
        decides_outputs=False,
        is_in_file=False,
    ),
}
SETTINGS: dict[str, Setting] = {
    "home": OF_A_RUN["home"],
    **SOURCES,
    **OF_A_SOURCE,
    **OF_A_RUN,
    **OF_THE_ENVIRONMENT,
}
KEYS = {name for name, setting in SETTINGS.items() if setting.is_in_file}


@dataclass(frozen=True)
class Said:
    """A setting as somebody said it, not yet understood."""

    value: Any
    origin: str = DEFAULT  # or a file, a variable, an option
    base: Path = Path()  # what paths in it are relative to


def load(config_file: Path | None = None, home: Path | None = None, environ: Mapping[str, str] | None = None) -> Config:
    """Read the configuration. An unknown key, a wrong type or a named file that is not there is a one-line error."""
    return understood(everything_said(config_file, home, environ))


def everything_said(
    config_file: Path | None = None, home: Path | None = None, environ: Mapping[str, str] | None = None
) -> dict[str, Said]:
    """Every setting and who has the last word on it: the default, the file, the environment, the command's options."""
    environ = os.environ if environ is None else environ
    _check_variables(environ)
    said_by_variable = {
        name: Said(environ[setting.variable], setting.variable)
        for name, setting in SETTINGS.items()
        if not setting.is_unsaid(environ.get(setting.variable))
    }
    named = Said(config_file, "--config") if config_file else said_by_variable.pop("config", None)
    file = Said(FILE) if named is None and FILE.is_file() else named
    path, values = (Path(file.value), _read_toml(Path(file.value))) if file else (None, {})
    base = path.parent if path else Path()
    return {
        **{name: Said(setting.default, base=base) for name, setting in SETTINGS.items()},
        **{name: Said(value, str(path), base) for name, value in values.items()},
        **said_by_variable,
        **({"home": Said(home, "--home")} if home is not None else {}),
        **({"config": file} if file else {}),
    }


def _check_variables(environ: Mapping[str, str]) -> None:
    """A misspelt variable would leave its setting as it is, and nobody would know."""
    known = {setting.variable for setting in SETTINGS.values()}
    for variable in sorted(name for name in environ if name.startswith(PREFIX) and name not in known):
        near = get_close_matches(variable.removeprefix(PREFIX).lower(), SETTINGS, n=1)
        hint = (
            f"did you mean {SETTINGS[near[0]].variable}?" if near else f"known keys are {', '.join(sorted(SETTINGS))}"
        )
        raise GristmillError(f"{variable} is no setting; {hint}")


def _read_toml(file: Path) -> dict[str, Any]:
    if not file.is_file():
        raise GristmillError(f"configuration file {file} does not exist")
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise GristmillError(f"{file} is not valid TOML: {error}") from error
    if unknown := sorted(set(values) - KEYS):
        raise GristmillError(f"{file}: unknown key {unknown[0]!r}; known keys are {', '.join(sorted(KEYS))}")
    return values


def understood(said: Mapping[str, Said]) -> Config:
    """The configuration that was meant by all that was said."""
    home = home_said(said["home"])
    common = {name: said[name].value for name in OF_A_SOURCE}
    for name, value in common.items():
        if value != OF_A_SOURCE[name].default:
            OF_A_SOURCE[name].parsed(value)
    sources, absent = {}, {}
    for system in SYSTEMS:
        named = said[system]
        if named.value is None:
            files = default_source_files(system, home, common)
            sources[system] = tuple(file for file in files if is_there(file.path))
            absent[system] = tuple(file for file in files if not is_there(file.path))
        else:
            is_variable = named.origin == SOURCES[system].variable
            entries = separate(named.value) if is_variable else named.value
            sources[system] = source_files(system, entries, named.base, common)
    taken_out = frozenset(system for system in SYSTEMS if system not in absent and not sources[system])
    others = {
        name: setting.parsed(said[name].value, base=said[name].base)
        for name, setting in OF_A_RUN.items()
        if name != "home"
    }
    return Config(home, sources, absent, taken_out, **others)


def home_said(said: Said) -> Path:
    """The home, which can be told also where other settings are wrong."""
    if not isinstance(said.value, str | Path) or not said.value:
        raise GristmillError(f"home must be a path, not {said.value!r}")
    return said.base / expanded(Path(said.value), "home")
