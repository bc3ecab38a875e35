"""`gristmill config`: every setting, its value and where it comes from, and no password."""

import json
from pathlib import Path
from typing import Any

import pytest

from dagster_project.cli.config_command import config_lines, settings_in_force
from dagster_project.config import SETTINGS, SYSTEMS, everything_said
from tests.conftest import complaint, gristmill


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder without configuration."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shown(home: Path, *arguments: str, **env: str) -> str:
    done = gristmill(home, *arguments, env={f"GRISTMILL_{key.upper()}": value for key, value in env.items()})
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def row(text: str, key: str) -> list[str]:
    """The cells of a setting's line."""
    (line,) = [line for line in text.splitlines() if line.split("  ")[0] == key]
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


def entries(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {entry["key"]: entry for entry in [*found["settings"], *found["sources"]]}


def test_every_setting_with_its_value_and_its_sentence(folder: Path) -> None:
    """Where nothing is published, and without making anything."""
    text = shown(folder / "home", "config")
    for key, setting in SETTINGS.items():
        assert row(text, key)[-1] == setting.sentence
    assert row(text, "min_weight")[:3] == ["min_weight", "0.3", "default"]
    assert row(text, "auto_ready")[1] == "true"
    assert row(text, "satisfaction_shares")[1] == row(text, "feedback")[1] == "-"
    assert not (folder / "home").exists()


def test_where_each_comes_from(folder: Path) -> None:
    """A later one wins: the file, the environment, the command's options."""
    (folder / "gristmill.toml").write_text(
        'home = "mill"\nmin_weight = 0.5\nready_score = 0.5\nsessions = []\nfeedback = "f.db"', encoding="utf-8"
    )
    text = shown(folder / "home", "config", ready_score="0.9", reactions="r.db", tenant="acme", project="web")
    assert row(text, "min_weight")[1:3] == ["0.5", "gristmill.toml"]
    assert row(text, "ready_score")[1:3] == ["0.9", "GRISTMILL_READY_SCORE"]
    assert row(text, "home")[1:3] == [str(folder / "home"), "--home"]
    assert row(text, "config")[1:3] == ["gristmill.toml", "default"]
    assert row(text, "sessions")[1:3] == ["taken out", "gristmill.toml"]
    assert row(text, "feedback")[1:3] == ["f.db (not there)", "gristmill.toml"]
    assert row(text, "reactions")[1:3] == ["r.db (tenant acme, project web, not there)", "GRISTMILL_REACTIONS"]


def test_the_file_that_is_named(folder: Path) -> None:
    for name in ("one", "two"):
        (folder / f"{name}.toml").write_text(f'split_key = "{name}"', encoding="utf-8")
    one = str(folder / "one.toml")
    assert row(shown(folder / "home", "config", config=one), "config")[1:3] == [one, "GRISTMILL_CONFIG"]
    text = shown(folder / "home", "--config", "two.toml", "config", config=one)
    assert row(text, "config")[1:3] == ["two.toml", "--config"]
    assert row(text, "split_key")[1:3] == ["two", "two.toml"]


def test_a_row_for_every_file(folder: Path) -> None:
    sources = folder / "home" / "sources"
    sources.mkdir(parents=True)
    for name in ("feedback.db", "feedback_fallback.db"):
        (sources / name).touch()
    lines = shown(folder / "home", "config", rating_scale="five").splitlines()
    place = next(place for place, line in enumerate(lines) if line.startswith("feedback"))
    assert f"{sources / 'feedback.db'} (rating_scale five)  " in lines[place]
    assert lines[place + 1].strip() == f"{sources / 'feedback_fallback.db'} (rating_scale five)"


@pytest.mark.parametrize(
    ("uri", "place"),
    [
        ("postgresql://u:Sup3rS3cret@h:5432/one", "postgresql://u:***@h:5432/one"),
        ("postgresql://h/one?user=u&password=Sup3rS3cret", "postgresql://u:***@h/one"),
        ("postgresql://u:pw/Sup3rS3cret@h/one", "postgresql://***"),
        ("postgresql://u:pw@Sup3rS3cret@h/one", "postgresql://***"),
    ],
)
def test_no_password_is_shown(folder: Path, uri: str, place: str) -> None:
    for arguments in (["config"], ["config", "--json"]):
        text = shown(folder / "home", *arguments, sessions=uri)
        assert "Sup3rS3cret" not in text
        assert place in text


def test_for_programs(folder: Path) -> None:
    found = json.loads(shown(folder / "home", "config", "--json", satisfaction_shares="feedback=1", sessions="s.db"))
    told = entries(found)
    assert told.keys() == SETTINGS.keys()
    assert [source["key"] for source in found["sources"]] == [*SYSTEMS]
    assert told["satisfaction_shares"]["value"] == {"feedback": 1.0}
    assert told["satisfaction_shares"]["from"] == "GRISTMILL_SATISFACTION_SHARES"
    assert (told["memory_limit_mb"]["value"], told["memory_limit_mb"]["decides_outputs"]) == (300, False)
    assert [(file["place"], file["is_there"]) for file in told["sessions"]["files"]] == [("s.db", False)]


def test_a_line_never_wraps_on_a_terminal() -> None:
    found = settings_in_force(everything_said(environ={"GRISTMILL_SESSIONS": "long/" * 40 + "s.db"}))
    for columns in (20, 80):
        assert max(map(len, config_lines(found, columns))) == columns


def test_what_cannot_be_meant_is_one_line(folder: Path) -> None:
    for env in ({"GRISTMILL_MIN_WIEGHT": "0.5"}, {"GRISTMILL_MIN_WEIGHT": "heavy"}):
        assert "GRISTMILL_MIN_WEIGHT" in complaint(gristmill(folder / "home", "config", env=env))
