"""Definitions whose partitions begin where these tests want them: at the first day of a lake, and not by today's date."""

import json
import tempfile
from pathlib import Path

import pytest

from dagster_project.lake.lake import FORMAT

BEGIN = "2026-01-01"


def write_lake(home: Path, *days: str) -> Path:
    """A home whose catalogue says that it holds these days of feedback."""
    (home / "lake").mkdir(parents=True)
    file = {"rows": 1, "bytes": 1, "version": 1}
    files = {f"event_date={day}": file for day in (*days, "__HIVE_DEFAULT_PARTITION__")}
    told = {"format": FORMAT, "publication": 1, "tables": {"raw_feedback__entries": files}}
    (home / "lake" / "catalog.json").write_text(json.dumps(told), encoding="utf-8")
    return home


with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
    patch.setenv("GRISTMILL_HOME", str(write_lake(Path(folder) / "home", BEGIN)))
    from dagster_project import definitions  # noqa: F401
