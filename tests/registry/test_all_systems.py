"""The demo of all five systems through the real command: everything is there, and the same input gives the same bytes."""

import json
from pathlib import Path

import pytest

from dagster_project.config import SYSTEMS
from tests.conftest import UNPUBLISHED, content, gristmill, run
from tests.tables import table


def parquet(home: Path) -> dict[str, bytes]:
    return {name: stored for name, stored in content(home / "lake").items() if name.endswith(".parquet")}


@pytest.mark.slow
def test_five_systems_together(tmp_path: Path) -> None:
    """G2, G3, N: two homes made from the same demo agree to the byte, whatever memory the engine has and however many
    workers there are, and a second run changes none."""
    homes = [tmp_path / name for name in ("one", "other")]
    for home, workers, memory in zip(homes, ("1", "4"), ("64", "1000"), strict=True):
        done = gristmill(home, "demo", "--rows", "1500")
        assert done.returncode == 0, done.stderr
        told = run(home, env={"GRISTMILL_MEMORY_LIMIT_MB": memory, "GRISTMILL_WORKERS": workers}).stdout
        for system in SYSTEMS:
            assert f"  {system:<13} read " in told
    one, other = homes
    assert parquet(one) == parquet(other)
    assert content(one / "exports") == content(other / "exports")
    before = content(one, UNPUBLISHED)
    run(one)
    assert content(one, UNPUBLISHED) == before
    signals = table(one, "core__signals")
    assert set(signals["system"]) == {*SYSTEMS} - {"distillation"}
    calibration = json.loads(gristmill(one, "query", "from metric__detector_calibration", "--format", "json").stdout)
    assert {row["compared_with"] for row in calibration} == {"ratings", "reactions"}
