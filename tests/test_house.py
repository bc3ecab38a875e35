"""The house (docs/architecture.md): rooms in an order, lower ones know nothing of higher ones; held without exceptions."""

import ast
from collections.abc import Iterator
from pathlib import Path

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
MEANINGLESS = {"utils", "helpers", "common", "misc", "base", "manager"}


def modules() -> Iterator[tuple[tuple[str, ...], ast.Module]]:
    """Every module of ours by its place below the package, with its tree; assets/ is linked into it."""
    for file in sorted([*FOLDER.rglob("*.py"), *(FOLDER / "assets").glob("*.py")]):
        place = file.relative_to(FOLDER).with_suffix("").parts
        if place != ("__init__",):
            yield place, ast.parse(file.read_text(encoding="utf-8"))


def imported(tree: ast.Module) -> Iterator[tuple[str, ...]]:
    """The dotted names a module imports, at any depth."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the whole path"
            yield from ((*(node.module or "").split("."), alias.name) for alias in node.names)


def test_every_module_has_a_room() -> None:
    assert {place[0] for place, _ in modules()} == {room for rooms in ORDER for room in rooms}


def test_lower_rooms_know_nothing_of_higher_ones() -> None:
    wrong = [
        f"{'/'.join(place)} imports {'.'.join(name)}"
        for place, tree in modules()
        for name in imported(tree)
        if name[0] == PACKAGE and len(name) > 1 and name[1] != place[0] and LEVEL[name[1]] >= LEVEL[place[0]]
    ]
    assert wrong == []


def test_no_system_knows_another() -> None:
    wrong = [
        f"{'/'.join(place)} imports {'.'.join(name)}"
        for place, tree in modules()
        for name in imported(tree)
        if place[0] == "systems" and name[:2] == (PACKAGE, "systems") and name[2] not in (place[1], "declaration")
    ]
    assert wrong == []


def test_only_orchestration_knows_dagster() -> None:
    knowing = {place[0] for place, tree in modules() for name in imported(tree) if name[0] == "dagster"}
    assert knowing == KNOW_DAGSTER


def test_names_and_docstrings() -> None:
    """A module's docstring says what belongs in it; no name that says nothing."""
    for place, tree in modules():
        assert place[-1] not in MEANINGLESS, place
        assert ast.get_docstring(tree) or place[-1] == "__init__", place
