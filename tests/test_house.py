"""The house (docs/architecture.md): rooms in an order, lower ones know nothing of higher ones."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from dagster_project.registry import SYSTEMS

PACKAGE = "dagster_project"
FOLDER = Path(__file__).parent.parent / PACKAGE
# Rooms on one line do not know each other, nor anything below the line.
ORDER = (
    ("errors",),
    ("columns",),
    ("contracts",),
    ("config",),
    ("lake",),
    ("engines",),
    ("databases",),
    ("intake",),
    ("code_identity",),
    ("run",),
    ("systems",),
    ("registry",),
    ("training", "review", "writeback"),
    ("lookups",),
    ("demo",),
    ("orchestration",),
    ("assets",),
    ("definitions",),
    ("cli",),
)
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}
KNOW_DAGSTER = {"orchestration", "assets", "definitions"}
# Where a rule is about certain systems, or a verb asks one system's own question: these may name them.
MEETINGS = {
    "cli/evaluate_command": "measures the detector of conversations on labels",
    "cli/strategies_command": "strategies are those of turns",
    "cli/report_command": "answers as the documents of feedback and reactions do",
    "review/labels": "labels are of turns, and what is missing is what their detector needs (C7)",
    "review/label_tables": "which verdicts on turns hold is a table about turns (C7)",
    "review/review_files": "approved distilled examples leave as a file (D8)",
    "review/items": "`feedback` is what users said of an item, a name of seed 2's",
    "review/settling": "flags and answers rated down are settled by a person (F12)",
    "review/decision_tables": "an approval lapses with the texts it was given for (D8)",
    "review/texts": "the texts of distilled examples and users' corrections (D8)",
    "review/user_remarks": "what users said of a distilled example (M1)",
    "training/examples": "records are made of feedback and of distilled examples (T1)",
    "training/kept_traits": "what a release must know of the texts of both (T1, T8)",
    "training/source_texts": "where the texts of both lie",
    "training/rated_sessions": "the anonymised export is of AI sessions (S6)",
    "training/release": "what a release of such records is made from (T5)",
}
# An import by string of what `system.toml` declares: nothing else of the system is loaded.
DECLARED = {("run/nothing_new", "dagster_project.systems")}
MEANINGLESS = {"utils", "helpers", "common", "misc", "base", "manager"}


@cache
def modules() -> list[tuple[tuple[str, ...], ast.Module]]:
    """Every module of ours by its place below the package, with its tree; assets/ is linked into it."""
    files = sorted([*FOLDER.rglob("*.py"), *(FOLDER / "assets").glob("*.py")])
    places = [(file.relative_to(FOLDER).with_suffix("").parts, file) for file in files]
    return [(place, ast.parse(file.read_text("utf-8"))) for place, file in places if place != ("__init__",)]


def imported(tree: ast.Module) -> Iterator[tuple[str, ...]]:
    """The dotted names a module imports, at any depth."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the whole path"
            yield from ((*(node.module or "").split("."), alias.name) for alias in node.names)
        elif isinstance(node, ast.Call) and (name := by_string(node)):
            yield name


def by_string(call: ast.Call) -> tuple[str, ...] | None:
    """What `import_module` is called with, as far as it is written down: of an f-string what stands before its first value."""
    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if called not in ("import_module", "__import__") or not call.args:
        return None
    said = call.args[0].values[0] if isinstance(call.args[0], ast.JoinedStr) else call.args[0]
    text = said.value if isinstance(said, ast.Constant) and isinstance(said.value, str) else ""
    name = tuple(text.rstrip(".").split("."))
    return name if name[0] == PACKAGE else None


def test_imports_by_string_are_seen() -> None:
    code = "import_module('dagster_project.cli'), importlib.import_module(f'dagster_project.systems.{x}'), import_module(y)"
    assert [*imported(ast.parse(code))] == [(PACKAGE, "cli"), (PACKAGE, "systems")]


def test_every_module_has_a_room() -> None:
    assert {place[0] for place, _ in modules()} == {room for rooms in ORDER for room in rooms}


def test_lower_rooms_know_nothing_of_higher_ones() -> None:
    wrong = [
        f"{'/'.join(place)} imports {'.'.join(name)}"
        for place, tree in modules()
        for name in imported(tree)
        if name[0] == PACKAGE and len(name) > 1 and name[1] != place[0] and LEVEL[name[1]] >= LEVEL[place[0]]
        if ("/".join(place), ".".join(name)) not in DECLARED
    ]
    assert wrong == []


def test_no_system_knows_another() -> None:
    """Nor does a system's demo."""
    wrong = [
        f"{'/'.join(place)} imports {'.'.join(name)}"
        for place, tree in modules()
        for name in imported(tree)
        if place[0] in ("systems", "demo") and {*place[1:2]} & {*SYSTEMS}
        if name[:2] in {(PACKAGE, "systems"), (PACKAGE, "demo")} and {*name[2:3]} & {*SYSTEMS} - {place[1]}
    ]
    assert wrong == []


def named_systems(tree: ast.Module) -> set[str]:
    """What a module says of single systems: their modules, their names and their tables, but not in what it says to people."""
    tables = {table for system in SYSTEMS.values() for table in system.tables}
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and isinstance(node.body[0], ast.Expr)
    }
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
    ]
    return {
        *(text for text in texts if text in SYSTEMS),
        *(word for text in texts for word in re.findall(r"\w+", text) if word in tables),
        *(".".join(name) for name in imported(tree) if name[:2] == (PACKAGE, "systems") and {*name[2:3]} & {*SYSTEMS}),
    }


def test_generic_modules_name_no_system() -> None:
    """But for `MEETINGS`, which are all needed."""
    naming = {
        "/".join(place): found
        for place, tree in modules()
        if place[0] not in ("systems", "assets") and place[:2] not in {("demo", name) for name in SYSTEMS}
        if (found := named_systems(tree))
    }
    assert naming.keys() == MEETINGS.keys(), {place: naming[place] for place in naming.keys() - MEETINGS.keys()}


def test_only_orchestration_knows_dagster() -> None:
    knowing = {place[0] for place, tree in modules() for name in imported(tree) if name[0] == "dagster"}
    assert knowing <= KNOW_DAGSTER


def test_nothing_private_of_dagster_is_imported() -> None:
    """Neither by us nor by tests: what Dagster does not promise changes without a word."""
    ours = [tree for _, tree in modules()]
    texts = [file.read_text(encoding="utf-8") for file in (FOLDER.parent / "tests").rglob("*.py")]
    tests = [ast.parse(text) for text in texts if re.search(r"\bdagster(?!_project\b)", text)]
    names = {name for tree in (*ours, *tests) for name in imported(tree)}
    private = {name for name in names if name[0].startswith("dagster") and name[0] != PACKAGE}
    assert not [".".join(name) for name in private if any(part.startswith("_") for part in name)]


def test_names_and_docstrings() -> None:
    """A module's docstring says what belongs in it; no name that says nothing."""
    for place, tree in modules():
        assert place[-1] not in MEANINGLESS, place
        assert ast.get_docstring(tree) or place[-1] == "__init__", place


def test_the_formatter_has_its_way() -> None:
    """What one would rather see in columns is data, and has a file of its own."""
    folders = [FOLDER, FOLDER.parent / "assets", FOLDER.parent / "tests"]
    exempt = re.compile(r"# fmt: " + r"(skip|off)")
    files = [file for folder in folders for file in folder.rglob("*.py") if exempt.search(file.read_text("utf-8"))]
    assert files == []


def test_every_system_is_called_as_its_folder_and_described() -> None:
    """Its document is in docs/sources, and the list there names it."""
    listed = (FOLDER.parent / "docs/sources/README.md").read_text(encoding="utf-8")
    for name, system in SYSTEMS.items():
        assert system.name == name
        assert (FOLDER.parent / "docs/sources" / system.document).is_file() and f"({system.document})" in listed
