"""Every config of the card loads with `load_dataset(folder, config)`, the anonymised one too (outputs.md)."""

import json
import subprocess
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dagster_project.columns.templates import IDENTITY
from dagster_project.contracts import TABLES
from dagster_project.contracts.anonymised_columns import FIELDS as ANONYMISED_FIELDS
from dagster_project.contracts.formats import FIELDS
from dagster_project.training.anonymised import Counts
from dagster_project.training.anonymised_export import AnonymisedExport, write_files
from dagster_project.training.anonymised_weeks import KeptWeek
from dagster_project.training.dataset_card import dataset_card
from dagster_project.training.dataset_info import dataset_info
from dagster_project.training.record_figures import RecordFigures, tally
from dagster_project.training.record_lines import json_lines
from tests.conftest import environment

pytestmark = pytest.mark.trainers
PYTHON = Path(__file__).parents[3] / ".venv-trainers/bin/python"
SCRIPT = Path(__file__).with_name("loaded_configs.py")
VALUES: dict[Any, Any] = {pl.String: "word", pl.Float64: 0.4, pl.Boolean: True, pl.Int64: 2}
ROWS = {"train": 3, "validation": 1, "test": 1, "augmentation": 2}


def records(format: str, split: str) -> pl.DataFrame:
    """What may be null is so throughout training: the loader would guess its type from there."""
    schema = TABLES[f"train__{format}"].polars_schema
    nullable = TABLES[f"train__{format}"].columns
    names = (*FIELDS[format], *IDENTITY)
    row = {name: ["f"] if schema[name] == pl.List(pl.String) else VALUES[schema[name].base_type()] for name in names}
    row |= {name: None for name in names if nullable[name] and split == "train"} | {"tier": "low", "domain": "code"}
    rows = pl.DataFrame([row] * ROWS[split], schema={name: schema[name] for name in names})
    return rows.with_columns(pl.Series("id", [f"{split}{n}" for n in range(rows.height)]), split=pl.lit(split))


def anonymised() -> AnonymisedExport:
    row = dict.fromkeys(ANONYMISED_FIELDS) | {
        "contextCategories": [],
        "rating": "positive",
        "errorCategories": [],
    }
    scored = row | {"qualityScores": {"accuracy": 33.0, "completeness": 0.0, "styleMatch": 66.0}}
    rows = pl.DataFrame([row, scored], schema=ANONYMISED_FIELDS).with_columns(pl.lit(5).alias("session_count"))
    week = KeptWeek(date(2026, 1, 5), rows, Counts(sessions=10, exported=10), 5, 8000)
    return AnonymisedExport(rows, (week,))


def release(folder: Path, left_out: int = 0) -> Path:
    """A release with every format, every split and both anonymised files; without some records of each training file."""
    files, figures = {}, RecordFigures()
    folder.mkdir(parents=True)
    for format in FIELDS:
        for split in ROWS:
            name = f"{format}_20260131{'' if split == 'train' else f'.{split}'}.jsonl"
            rows = records(format, split)
            rows = rows[left_out:] if split == "train" else rows
            count = rows.height
            figures.add(tally(format, rows))
            lines = json_lines(rows.select(*FIELDS[format], *IDENTITY))
            (folder / name).write_bytes(lines)
            files[name] = {"format": format, "split": split, "rows": count, "sha256": sha256(lines).hexdigest()}
    files |= {name: entry | {"rows": 10} for name, entry in write_files(anonymised(), folder).items()}
    told = {"release_date": "2026-01-31", "files": files, "anonymised": {"weeks": 1}, "figures": figures.by_format()}
    (folder / "manifest.json").write_text(json.dumps(told))
    (folder / "dataset_info.json").write_text(json.dumps(dataset_info(told)))
    rights = {"licence": 'ask: us, "first"', "consent": "yes | no"}
    (folder / "README.md").write_text(dataset_card(told | {"rights": rights}))
    return folder


def loaded_from(*folders: Path) -> list[dict[str, Any]]:
    assert PYTHON.is_file(), "the trainers are not installed: make test-trainers does that"
    command = [str(PYTHON), str(SCRIPT), *map(str, folders)]
    done = subprocess.run(
        command, cwd=folders[0], env=environment(PYTHONPATH=""), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    return [told[str(folder)] for folder in folders]


def test_every_config_loads_and_another_release_of_the_same_name_gives_its_own(tmp_path: Path) -> None:
    """The loader keeps what it read under a folder's last name and the card's words about a config."""
    loaded, other = loaded_from(release(tmp_path / "a/20260131"), release(tmp_path / "b/20260131", left_out=1))
    for format in FIELDS:
        assert {split: found["rows"] for split, found in other[format].items()} == ROWS | {"train": 2}
        assert other[format]["train"]["first"]["id"] == "train1"
    assert loaded.keys() == {*FIELDS, "anonymized_feedback"}
    for format in FIELDS:
        assert {split: found["rows"] for split, found in loaded[format].items()} == ROWS
        for split, found in loaded[format].items():
            assert found["first"] == records(format, split).select(*FIELDS[format], *IDENTITY).row(0, named=True)
    found = loaded["anonymized_feedback"]["train"]
    assert (found["rows"], [*found["first"]]) == (10, [*ANONYMISED_FIELDS])
