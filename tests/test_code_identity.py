"""G12: what code a kept result depends on is found by walking from its maker's module, and any edit on the way shows."""

import ast
import shutil
from pathlib import Path

import pytest

from dagster_project import code_identity as walker
from dagster_project.code_identity import FOLDER, code_identity, pipeline_identity, reached

# A small package: `maker` reaches everything but `outside`, each in another way.
PACKAGE = {
    "__init__.py": "",
    "maker.py": "from dagster_project.rules import word\nimport dagster_project.plain\n\n\ndef make():\n    from .late import helper\n",
    "plain.py": "import polars\n",
    "late.py": "from . import sibling\nfrom dagster_project.package import thing\n",
    "sibling.py": "import importlib\n\nTABLE = importlib.import_module('dagster_project.named')\n",
    "named.py": "DATA_FILES = ('words.toml', 'more/*.json')\n",
    "words.toml": "a = 1\n",
    "more/one.json": "{}\n",
    "rules.py": "word = str.lower\n",
    "package/__init__.py": "from dagster_project.package.inner import thing\n",
    "package/inner.py": "from ..deep.down import thing\n",
    "package/beside.py": "thing = 2\n",
    "deep/down.py": "thing = 1\n",
    "outside.py": "from dagster_project.maker import make\n",
    "other.toml": "a = 1\n",
}
OUTSIDE = {"outside.py", "other.toml", "package/beside.py"}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name, text in PACKAGE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture(autouse=True)
def fresh_caches() -> None:
    walker.code_identity.cache_clear()
    walker._read.cache_clear()


def test_imports_are_followed_in_every_form(package: Path) -> None:
    """At any depth, inside functions, relative ones, modules from packages, literal names, names a package passes on."""
    files, libraries = reached(["dagster_project.maker"], package)
    assert {file.relative_to(package).as_posix() for file in files} == set(PACKAGE) - OUTSIDE
    assert libraries == {"polars"}


@pytest.mark.parametrize("name", PACKAGE)
def test_an_edit_shows_where_it_is_reached(package: Path, name: str) -> None:
    before = code_identity("dagster_project.maker", package)
    walker.code_identity.cache_clear()
    walker._read.cache_clear()
    with (package / name).open("a", encoding="utf-8") as file:
        file.write("\n")
    assert (code_identity("dagster_project.maker", package) == before) is (name in OUTSIDE)


def test_another_version_of_a_library_shows(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one it imports, and of one that is part of that; of no other."""

    def identity_with(upgraded: str) -> str:
        monkeypatch.setattr(walker, "_version", lambda name: "999" if name == upgraded else "1")
        walker.code_identity.cache_clear()
        return code_identity("dagster_project.maker", package)

    identities = [identity_with(name) for name in ("nothing", "polars", "polars-runtime-32", "duckdb")]
    assert len(set(identities)) == 3
    assert identities[0] == identities[3]


def test_a_declared_file_that_is_not_there_is_an_error(package: Path) -> None:
    (package / "words.toml").unlink()
    with pytest.raises(FileNotFoundError, match=r"words\.toml"):
        code_identity("dagster_project.maker", package)


# --- the project itself ----------------------------------------------------------------------------------------------

MAKERS = (
    "systems.feedback.intake",
    "systems.distillation.intake",
    "systems.conversations.intake",
    "systems.reactions.intake",
    "systems.sessions.intake",
    "systems.conversations.turn_pairs",
    "systems.conversations.turn_references",
    "systems.distillation.answers",
    "orchestration.sql_tables",
    "systems.sessions.archive",
    "training.release",
    "training.anonymised_export",
)


def files_of(module: str) -> set[str]:
    return {file.relative_to(FOLDER).as_posix() for file in reached([f"dagster_project.{module}"])[0]}


@pytest.mark.parametrize("maker", MAKERS)
def test_what_people_look_at_remakes_nothing(maker: str) -> None:
    """An edit of the command line, the review window, the lookups or the demo must not make a lake again."""
    people = ("cli/", "lookups/", "demo/", "run/source_changes.py", "orchestration/tables.py")
    window = {f"review/{name}.py" for name in ("screen", "sitting", "desk", "review_files", "batch")}
    assert [name for name in files_of(maker) if name.startswith(people) or name in window] == []


def test_a_rule_of_words_is_in_all_that_is_made_of_it() -> None:
    """`word()` decides what is read of feedback, and of turns."""
    for maker in ("feedback.intake", "conversations.turn_pairs", "distillation.answers", "conversations.intake"):
        assert "columns/words.py" in files_of(f"systems.{maker}")


def test_every_kept_result_asks_for_its_own_module() -> None:
    """No maker names another's module, nor a list: `code_identity(__name__)`, but for three results with a maker apart, for
    the log that tells other rules from other days, and for the versions Dagster shows, which are about every maker."""
    calls = {
        f"{path.relative_to(FOLDER)}: {ast.unparse(node)}"
        for path in FOLDER.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "code_identity"
    }
    others = {call for call in calls if not call.endswith("code_identity(__name__)")}
    assert others == {
        "orchestration/made_by.py: code_identity(maker.__module__)",
        "orchestration/publication.py: code_identity(shown_texts.__name__)",
        "run/daily_restatements.py: code_identity(f'dagster_project.systems.{system}.intake')",
        "run/mill_run.py: code_identity(sqlite.__name__)",
        "systems/sessions/intake.py: code_identity(output_edits.__name__)",
    }
    asking = {call.split(": ")[0].removesuffix(".py").replace("/", ".") for call in calls}
    assert asking >= {*MAKERS, "review.review_files", "orchestration.publication"}


def test_no_module_reads_files_of_the_package_without_declaring_them() -> None:
    """But for queries, whose texts are counted by who runs them, what only compares all code with itself, and the walker."""
    modules = reached([f"dagster_project.{maker}" for maker in MAKERS])[0]
    reading = {
        file.relative_to(FOLDER).as_posix()
        for file in modules
        if "__file__" in (text := file.read_text(encoding="utf-8")) and "DATA_FILES" not in text
    }
    assert reading == {
        "engines/queries.py",
        "engines/sql_functions.py",  # formulas, which stand in the queries by the time those are counted
        "run/nothing_new.py",
        "columns/similarity.py",
    }  # the latter: wordllama's own, by its version


def test_the_whole_pipeline(tmp_path: Path) -> None:
    """The manifest's code_hash: an edit of any query or maker shows, one of the command line does not."""
    copy = tmp_path / "dagster_project"
    shutil.copytree(FOLDER, copy, ignore=shutil.ignore_patterns("__pycache__", "demo"))

    def after(edited: str) -> str:
        with (copy / edited).open("a", encoding="utf-8") as file:
            file.write("\n")
        pipeline_identity.cache_clear()
        walker._read.cache_clear()
        return pipeline_identity(copy)

    before = pipeline_identity(copy)
    assert after("cli/run_command.py") == before
    edits = ("sql/core/core__voices.sql", "sql/checks/metric__feedback_daily__adds_up.sql", "columns/edit_distance.py")
    assert len({before, *(after(edited) for edited in edits)}) == 1 + len(edits)
