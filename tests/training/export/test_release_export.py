"""The command, on a release that a run made: every target takes every record of it."""

import json
from pathlib import Path

import polars as pl
import pytest

from dagster_project.contracts.formats import FIELDS
from dagster_project.lake.lake import PART
from dagster_project.training.export.targets import TARGETS
from tests.conftest import gristmill
from tests.training.export.test_targets import all_faults

pytestmark = pytest.mark.slow
TEXTS = {
    "preference": ("prompt",),
    "unpaired": ("prompt",),
    "instruction": ("instruction", "output"),
    "cot": ("instruction", "output"),
    "correction": ("input", "instruction", "error_type", "output"),
}


def turn(role: str, column: str) -> pl.Expr:
    return pl.struct(pl.lit(role).alias("role"), pl.col(column).fill_null("That is not right.").alias("content"))


def with_messages(home: Path) -> None:
    """A release made before records had `messages` gets some; one that has them is left as it is."""
    for file in sorted(home.glob(f"snapshots/*/train__*/release_date=*/split=*/{PART}")):
        rows = pl.read_parquet(file, hive_partitioning=False)
        format = file.parts[-4].removeprefix("train__")
        if "messages" not in rows.columns and format in TEXTS:
            turns = [turn(("user", "assistant")[n % 2], column) for n, column in enumerate(TEXTS[format])]
            name = pl.lit(f"{rows['release_date'][0]:%Y%m%d}").alias("release")
            rows = rows.with_columns(pl.concat_list(turns).alias("messages"), name)
            file.unlink()  # it is a hard link to the lake's
            rows.write_parquet(file)


@pytest.mark.parametrize("target", TARGETS)
def test_every_record_of_a_release(published: Path, tmp_path: Path, target: str) -> None:
    with_messages(published)
    for format in FIELDS:
        out = tmp_path / format
        done = gristmill(published, "export", format, "--to", target, "--out", str(out), "--augmentation")
        if format in TARGETS[target].refusals:
            assert done.returncode == 2
            assert f"{target} cannot take unpaired" in done.stderr
            assert done.stderr.count("\n") == 1
            continue
        assert done.returncode == 0, done.stderr
        files = json.loads((out / "export.json").read_text(encoding="utf-8"))["files"]
        shapes = len(TARGETS[target].shapes[format])
        exported = sum(entry["rows"] for entry in files.values())
        held = json.loads(next(published.glob("exports/*/manifest.json")).read_text(encoding="utf-8"))
        assert exported == held["exported"]["format"][format] * shapes
        if target != "parquet":
            assert list(all_faults(out, target, format, least=1)) == []
