"""G12: after an edit of our code, an old home and a fresh one with the same state hold the same bytes."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from dagster_project.code_identity import FOLDER
from tests.conftest import content, environment, gristmill

# Records by release; one that another of its day has followed has a number after the day, and so has what it left out.
RECORDS = re.compile(
    r"train__(?:(?:instruction|cot|correction|preference|unpaired)/release_date=\d{4}-\d\d-\d\d(\.\d+)?/|excluded_earlier(/))"
)
COMMAND = "import sys; from dagster_project.cli import main; sys.exit(main())"
# Edits of the kind people make, the widest first: what a later one makes again must not hide what an earlier one left.
EDITS = (
    # what a word of a vocabulary is, for feedback and for turns
    ("columns/words.py", ".str.to_lowercase()", '.str.to_lowercase().str.replace("^(?:code|rejected)$", "neutral")'),
    # a figure that is kept from run to run, deep below its maker
    ("columns/edit_distance.py", "* 100 + 0.5", "* 100 + 0.9"),
    # the text of what leaves
    ("columns/templates.py", "Corrected answer", "Better answer"),
    # a query
    ("sql/metric/metric__turn_daily.sql", "correction_type = 'explicit'", "correction_type = 'rephrased'"),
)


def run_with(code: Path, home: Path) -> None:
    """A run by the package in a folder, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "--home", str(home), "run"],
        capture_output=True,
        text=True,
        check=False,
        cwd=home.parent,
        env=environment(PYTHONPATH=str(code)),
    )
    assert done.returncode == 0, done.stderr


def lake(home: Path) -> dict[str, bytes]:
    """But for the records of releases: they carry their release's name, whose number says how many came before (T5)."""
    files = {name: held for name, held in content(home / "lake").items() if name.endswith(".parquet")}
    return {name: held for name, held in files.items() if not RECORDS.match(name)}


def newest_records(home: Path) -> dict[str, pl.DataFrame]:
    """Those, of the newest release, without its name."""
    names = [str(path.relative_to(home / "lake")) for path in (home / "lake").rglob("*.parquet")]
    newest = [name for name in names if (found := RECORDS.match(name)) and not any(found.groups())]
    return {name: pl.read_parquet(home / "lake" / name, hive_partitioning=False).drop("release") for name in newest}


def newest_release(home: Path) -> dict[str, bytes]:
    """The records: a release is written once, so the old home has a further one of the same day (T5)."""
    newest = max((home / "exports").iterdir(), key=lambda folder: (len(folder.name), folder.name))
    return {name: held for name, held in content(newest).items() if name.endswith(".jsonl")}


@pytest.mark.slow
def test_an_old_home_and_a_fresh_one_after_edits(tmp_path: Path) -> None:
    """Nothing of what was kept survives an edit of what made it."""
    code, old, fresh = tmp_path / "code", tmp_path / "old", tmp_path / "fresh"
    shutil.copytree(FOLDER, code / "dagster_project", ignore=shutil.ignore_patterns("__pycache__"))
    assert gristmill(old, "demo", "--rows", "300").returncode == 0
    run_with(code, old)
    for name, before, after in EDITS:
        held = lake(old)
        file = code / "dagster_project" / name
        text = file.read_text(encoding="utf-8")
        assert before in text
        file.write_text(text.replace(before, after), encoding="utf-8")
        run_with(code, old)
        assert lake(old) != held, f"the edit of {name} shows nowhere"
    fresh.mkdir()
    for part in ("sources", "state"):
        shutil.copytree(old / part, fresh / part)
    run_with(code, fresh)
    assert lake(old) == lake(fresh)
    assert newest_release(old) == newest_release(fresh)
    records, fresh_records = newest_records(old), newest_records(fresh)
    assert records.keys() == fresh_records.keys()
    assert all(records[name].equals(fresh_records[name]) for name in records)
