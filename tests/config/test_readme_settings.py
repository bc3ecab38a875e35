"""The README tells the same of the settings as their declarations do."""

import re
import tomllib
from pathlib import Path

import pytest

from dagster_project.config import SETTINGS, Config, load
from dagster_project.config.settings import Setting

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def declared_row(setting: Setting) -> str:
    """A line of the README's table. One only the environment can say stands there with its variable's name."""
    key = setting.name if setting.is_in_file else setting.variable
    default = setting.default if setting.default not in (None, {}, ()) else ""
    shown = ", ".join(default) if isinstance(default, tuple) else str(default)
    shown = shown.lower() if isinstance(default, bool) else shown
    cells = [f"`{key}`", f"`{shown}`" if shown else "", setting.allowed, setting.sentence]
    return f"| {' | '.join(cells)} |"


def test_the_table_of_settings_is_that_of_the_declarations() -> None:
    """If this fails, the table to put into the README is the one expected here."""
    table = re.search(r"\| key \| default \| may be \| \|\n\|---\|---\|---\|---\|\n((?:\|.*\n)+)", README)
    assert table
    assert table[1].splitlines() == [declared_row(setting) for setting in SETTINGS.values()]


def test_no_variable_is_named_that_is_none() -> None:
    named = set(re.findall(r"GRISTMILL_[A-Z_]+", README))
    assert named <= {setting.variable for setting in SETTINGS.values()}


def test_the_example_can_be_read_and_shows_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example = re.search(r"```toml\n(.*?)```", README, re.DOTALL)
    assert example
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "gristmill.toml"
    file.write_text(example[1], encoding="utf-8")
    config, default = load(file, environ={}), Config(tmp_path / "data")
    for key in tomllib.loads(example[1]).keys() - config.sources.keys():
        assert getattr(config, key) == getattr(default, key), key
