"""A home with all five systems, for tests of what analysts see."""

from pathlib import Path

import duckdb
import pytest

from tests.conftest import gristmill, made_once, run


@pytest.fixture(scope="session")
def asked_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small demo of all systems, run a week early and then again, so that there are two releases. Not to be changed."""
    with made_once(tmp_path_factory, "asked_home") as (home, is_new):
        if is_new:
            done = gristmill(home, "demo", "--rows", "800")
            assert done.returncode == 0, done.stderr
            run(home, "--as-of", "2026-01-25")
            run(home)
        return home


def opened(home: Path, **config: str) -> duckdb.DuckDBPyConnection:
    """The warehouse as any client opens it."""
    return duckdb.connect(str(home / "warehouse.duckdb"), read_only=True, config=dict(config))
