"""The command as people install it: from a wheel, into an environment of its own, used in an empty folder."""

import json
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.conftest import environment

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parent.parent
NOT_SOURCE = shutil.ignore_patterns(".*", "data", "build", "*.egg-info", "__pycache__", "node_modules")


def must(*command: str | Path, folder: Path) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=environment(PYTHONPATH=""),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source, built = tmp_path_factory.mktemp("source") / "gristmill", tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, source, symlinks=True, ignore=NOT_SOURCE)
    build = ("wheel", ".", "--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--wheel-dir", built)
    must(sys.executable, "-m", "pip", *build, folder=source)
    (found,) = built.glob("gristmill-*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of an environment with the wheel and the libraries of this one, but without this checkout."""
    folder = tmp_path_factory.mktemp("environment")
    must(sys.executable, "-m", "venv", "--without-pip", folder, folder=folder)
    python = folder / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", "--quiet")
    must(*pip, wheel, folder=folder)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return folder / "bin"


def test_a_wheel_holds_everything_under_one_name(wheel: Path) -> None:
    """Every .py, .sql and .toml file of the project, and no top-level package but ours."""
    files = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert {name.split("/")[0] for name in files} == {"dagster_project"}
    for folder, place in (("dagster_project", ""), ("assets", "assets"), ("sql", "sql")):
        needed = [path for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".sql", ".toml")]
        assert needed
        assert {str(Path("dagster_project", place, path.relative_to(ROOT / folder))) for path in needed} <= files


def test_the_installed_command_in_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    gristmill = installed / "gristmill"
    told = must(installed / "python", "-c", "import dagster_project; print(dagster_project.__file__)", folder=tmp_path)
    assert Path(told.strip()).is_relative_to(installed.parent)
    must(gristmill, "demo", "--rows", "200", folder=tmp_path)
    must(gristmill, "run", folder=tmp_path)
    asked = must(gristmill, "query", "select count(*) as n from core__feedback", "--format", "json", folder=tmp_path)
    assert json.loads(asked)[0]["n"] > 0
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_dagster_loads_the_installed_definitions(installed: Path, tmp_path: Path) -> None:
    """What `gristmill dev` shows; and nobody's environment gets a package called `assets`."""
    validate = ("-m", "dagster", "definitions", "validate", "-m", "dagster_project.definitions")
    must(installed / "python", *validate, folder=tmp_path)
    find = "import importlib.util as u; print([u.find_spec(name) for name in ('assets', 'sql')])"
    assert must(installed / "python", "-P", "-c", find, folder=tmp_path) == "[None, None]\n"
