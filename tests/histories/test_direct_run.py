"""The histories' way to run is that of `gristmill run`: the same bytes, and the same refusal to publish."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from dagster_project import config
from dagster_project.intake.stage import Choice
from dagster_project.lake.lake import Lake
from tests.conftest import run
from tests.histories.comparing import differences
from tests.histories.direct_run import Ended, run_directly
from tests.histories.history import History

AS_OF = datetime(2026, 2, 1, tzinfo=UTC)


@pytest.mark.slow
def test_it_makes_what_the_command_makes(demo_home: Path, tmp_path: Path) -> None:
    sources = {
        f"GRISTMILL_{system.upper()}": str(demo_home / "sources" / f"{system}.db")
        for system in ("feedback", "distillation")
    }
    by_command, directly = tmp_path / "command" / "home", tmp_path / "direct" / "home"
    by_command.parent.mkdir()
    run(by_command, "--as-of", AS_OF.isoformat(), env=sources)
    mill = run_directly(config.load(home=directly, environ=sources), Choice(as_of=AS_OF))
    assert differences(by_command, directly, mill.release_date) == []
    assert {*Lake(by_command).catalog.tables} == {*Lake(directly).catalog.tables}


def test_a_run_that_is_ended_publishes_nothing(tmp_path: Path) -> None:
    history = History(19, tmp_path)
    history.grow(2)
    with pytest.raises(Ended):
        run_directly(history.config(tmp_path / "home"), Choice(as_of=AS_OF), ends_before=1)
    assert not (tmp_path / "home" / "lake").exists()
