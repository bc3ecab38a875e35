"""A setting that nothing heeds yet is refused: who says it relies on it."""

from pathlib import Path

import pytest

from dagster_project import config as configuration
from dagster_project.errors import GristmillError
from dagster_project.registry import open_run

SAID = {
    "recipe": "[recipe.cot]\nmin_weight = 0.5\n",
    "decontaminate": '[[decontaminate]]\nname = "e"\nfiles = ["e.txt"]\n',
}


@pytest.mark.parametrize("name", SAID)
def test_a_run_refuses_it(tmp_path: Path, name: str) -> None:
    """T1: no record leaves that a recipe or an evaluation set rules out."""
    (tmp_path / "e.txt").write_text("What is the capital of France?\n", encoding="utf-8")
    file = tmp_path / "gristmill.toml"
    file.write_text(SAID[name], encoding="utf-8")
    config = configuration.load(file, tmp_path / "home")
    with pytest.raises(GristmillError, match=f"{name} is understood, but no release heeds it"), open_run(config):
        pass
    assert not (tmp_path / "home" / "lake").exists()
