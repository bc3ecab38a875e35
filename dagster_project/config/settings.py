"""What a setting is. Each is declared once, as a field of `Config` or an option of a system, and all else comes from there: its key and
its environment variable, what it may be, the hash of the rules, the parameters of SQL files, `gristmill config`, the README.

The settings themselves stand where their values are held, in `config/__init__.py`, `source_settings.py` and `systems/<name>/system.toml`.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, get_origin

from dagster_project.errors import GristmillError

PREFIX = "GRISTMILL_"
NOUNS = {float: "a number", int: "a whole number", str: "a text", bool: "true or false"}
SWITCH_WORDS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
SHARE = (0, 1)


@dataclass(frozen=True)
class Setting:
    """One declaration. `sentence` is what people read of it, here and in the README."""

    name: str
    kind: Any  # its type; of a list of sources `tuple`
    default: Any
    sentence: str
    decides_outputs: bool  # whether tables and files hold something else if it changes (G12)
    is_sql_parameter: bool = False
    bounds: tuple[float, float] | None = None
    words: tuple[str, ...] = ()
    not_zero_because: str = ""
    reader: Callable[..., Any] | None = None  # of what is neither a number nor a text
    is_in_file: bool = True  # false: only the environment can say it
    is_placed: bool = False  # its reader is told what paths are relative to, too

    @property
    def variable(self) -> str:
        """Its name in the environment."""
        return PREFIX + self.name.upper()

    @property
    def most(self) -> float | None:
        return self.bounds[1] if self.bounds else None

    @property
    def allowed(self) -> str:
        """What it may be, for people: an upper bound only where somebody might think of more."""
        if self.words:
            return ", ".join(self.words)
        if self.bounds is None:
            return NOUNS[bool] if self.kind is bool else ""
        if self.bounds == SHARE:
            return "above 0, at most 1" if self.not_zero_because else "0 to 1"
        return f"at least {self.bounds[0]}"

    def is_unsaid(self, variable: str | None) -> bool:
        """An empty variable names no place and no word; as a text it is one, and as a number a mistake."""
        is_place_or_list = (get_origin(self.kind) or self.kind) in (Path, tuple)
        return variable is None or (not variable and (is_place_or_list or bool(self.words)))

    def parsed(self, value: Any, key: str | None = None, base: Path = Path()) -> Any:
        """The value a file or a variable means; what it may not be is a one-line error that names `key`."""
        if self.reader:
            return self.reader(value, base) if self.is_placed else self.reader(value)
        key = key or self.name
        if self.words:
            if value not in self.words:
                raise GristmillError(f"{key} must be one of {', '.join(self.words)}, not {value!r}")
            return value
        found = typed(self.kind, value, f"{key} ({self.variable})")
        if self.bounds:
            check_bounds(key, found, self.bounds)
        if self.not_zero_because and found == 0:
            raise GristmillError(f"{key} must be above 0: {self.not_zero_because}")
        return found


def about(sentence: str, *, decides_outputs: bool = True, **more: Any) -> dict[str, Any]:
    """The declaration of a setting, as metadata of its field. `more` are those of `Setting`."""
    return {"decides_outputs": decides_outputs, "setting": {"sentence": sentence, **more}}


def declared(default: Any, sentence: str, **more: Any) -> Any:
    """A field that is a setting. `more` are those of `about`."""
    if isinstance(default, Mapping):
        return field(default_factory=lambda: dict(default), metadata=about(sentence, **more))
    return field(default=default, metadata=about(sentence, **more))


def derived(*, decides_outputs: bool, are_parts: bool = False, **more: Any) -> Any:
    """A field that no setting sets as such: it is found out from them. Where it `are_parts` of what has it, a mapping, each
    counts like a field of its own. `more` are those of `dataclasses.field`."""
    return field(metadata={"decides_outputs": decides_outputs, "are_parts": are_parts}, **more)


def settings_of(holder: type) -> dict[str, Setting]:
    """The settings that are declared as fields of a dataclass."""
    return {f.name: _setting(f) for f in fields(holder) if "setting" in f.metadata}


def _setting(found: Field[Any]) -> Setting:
    default = found.default if found.default_factory is MISSING else found.default_factory()
    said = {"default": default, "decides_outputs": found.metadata["decides_outputs"], **found.metadata["setting"]}
    return Setting(name=found.name, kind=found.type, **said)


def deciding(value: Any) -> Any:
    """What of a value decides outputs, as JSON has it. Files keep their order: it decides conflicts (F3)."""
    if is_dataclass(value):
        found: dict[str, Any] = {}
        for f in (f for f in fields(value) if f.metadata["decides_outputs"]):
            said = deciding(getattr(value, f.name))
            found |= said if f.metadata.get("are_parts") else {f.name: said}
        return found
    if isinstance(value, Mapping):
        return {key: deciding(found) for key, found in value.items()}
    return [deciding(found) for found in value] if isinstance(value, tuple) else value


def check_bounds(key: str, value: float, bounds: tuple[float, float]) -> None:
    least, most = bounds
    if bounds == SHARE and not least <= value <= most:
        raise GristmillError(f"{key} must be between {least} and {most}, not {value}")
    if value < least:
        raise GristmillError(f"{key} must be at least {least}, not {value}")
    if value > most:
        raise GristmillError(f"{key} must be at most {most}, not {value}")


def typed(kind: type, value: Any, key: str) -> Any:
    """The value as its type has it; nothing is cut to fit, and infinity is no number."""
    if kind is bool:
        found = value if isinstance(value, bool) else SWITCH_WORDS.get(str(value).strip().lower())
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
