"""What code a kept result depends on (G12): found by walking from the module that defines its maker, never by a list.

Everything of ours that module imports counts, at any depth, also inside functions; and the versions of the libraries
met on the way, of those they are made of, and of Python. Whole files count, comments too: simple, and never too little.
A module that reads a file beside it says so in `DATA_FILES = ("name.toml", "*.json")`, relative to its own folder. A query's
text is counted by who runs it.
"""

import ast
import hashlib
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import metadata
from importlib.util import resolve_name
from pathlib import Path

PACKAGE = "dagster_project"
FOLDER = Path(__file__).parent
IMPORTERS = ("import_module", "__import__")
DECLARATION = "DATA_FILES"


@cache
def code_identity(module: str, folder: Path = FOLDER) -> str:
    """Of a maker: `code_identity(__name__)`. `folder` is where the package lies."""
    return _identity(*reached([module], folder), folder)


@cache
def pipeline_identity(folder: Path = FOLDER) -> str:
    """Of all that is made: every asset, every system (the registry finds those by their folders), every query."""
    assets = [f"{PACKAGE}.assets.{path.stem}" for path in sorted((folder / "assets").glob("*.py"))]
    systems = [f"{PACKAGE}.systems.{path.parent.name}.system" for path in sorted(folder.glob("systems/*/system.py"))]
    files, libraries = reached(assets + systems, folder)
    return _identity(files | set((folder / "sql").glob("**/*.sql")), libraries, folder)


def reached(modules: Iterable[str], folder: Path = FOLDER) -> tuple[set[Path], set[str]]:
    """The files of ours these modules are made of, and the libraries they import."""
    files: set[Path] = set()
    libraries: set[str] = set()
    names, waiting = set(modules), list(modules)
    while waiting:
        name = waiting.pop()
        if name.split(".")[0] != PACKAGE:
            libraries.add(name.split(".")[0])
            continue
        for file in _files_of(name, folder):
            if file not in files:
                imported, data = _read(file, folder)
                files |= {file, *data}
                waiting += imported - names
                names |= imported
    return files, libraries - {*sys.stdlib_module_names, ""}


@cache
def _files_of(name: str, folder: Path) -> tuple[Path, ...]:
    """The modules that importing a dotted name runs: its packages, then itself; what is no module is a name in the last."""
    place, found = folder, []
    for part in ["", *name.split(".")[1:]]:
        place = place / part
        file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        if file.exists():
            found.append(file)
    return tuple(found)


@cache
def _read(file: Path, folder: Path) -> tuple[frozenset[str], frozenset[Path]]:
    """The dotted names a module imports, and the data files it declares."""
    parts = [PACKAGE, *file.relative_to(folder).with_suffix("").parts]
    package = ".".join(parts[:-1])
    names: set[str] = set()
    data: set[Path] = set()
    source = file.read_bytes()
    # imports are statements; of what stands within those, which is nine nodes of ten (half a second of all files), only a
    # module that imports by calling has anything to say
    nodes = ast.walk if any(name.encode() in source for name in IMPORTERS) else _statements
    for node in nodes(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            names |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Call) and _called(node) in IMPORTERS and node.args:
            if isinstance(found := node.args[0], ast.Constant) and isinstance(found.value, str):
                names.add(resolve_name(found.value, package))
        elif isinstance(node, ast.Assign) and [getattr(name, "id", "") for name in node.targets] == [DECLARATION]:
            data |= set(_declared(file, ast.literal_eval(node.value)))
    return frozenset(names), frozenset(data)


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """All statements of a module, at any depth, and what holds statements without being one."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, field, None)
            waiting += inner if isinstance(inner, list) else []  # the body of a lambda is an expression


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _declared(file: Path, patterns: Iterable[str]) -> Iterator[Path]:
    for pattern in patterns:
        found = sorted(file.parent.glob(pattern))
        if not found:
            raise FileNotFoundError(f"{file.name} declares {pattern!r} in {DECLARATION}, and there is no such file")
        yield from found


def _identity(files: Iterable[Path], libraries: Iterable[str], folder: Path) -> str:
    python = f"{sys.version_info.major}.{sys.version_info.minor} {unicodedata.unidata_version}"
    parts = [python, *_versions(libraries)]
    for name, file in sorted((file.relative_to(folder).as_posix(), file) for file in files):
        parts.append(f"{name} {hashlib.sha256(file.read_bytes()).hexdigest()}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _versions(libraries: Iterable[str]) -> list[str]:
    """The installed versions of these libraries, and of what they require themselves: a model needs its tokenizer."""
    found = {distribution for library in libraries for distribution in _distributions(library)}
    required = {
        match[0]
        for distribution in found
        for line in _requires(distribution)
        if "extra" not in line.partition(";")[2] and (match := re.match(r"[\w.-]+", line))
    }
    versions = {name.lower().replace("_", "-"): _version(name) for name in found | required}
    return [f"{name} {version}" for name, version in sorted(versions.items()) if version]


@cache
def _distributions(library: str) -> tuple[str, ...]:
    """What installed a module: nearly always a distribution of its own name; looking through all takes a while."""
    return (library,) if _version(library) else tuple(metadata.packages_distributions().get(library, ()))


@cache
def _requires(distribution: str) -> tuple[str, ...]:
    return tuple(metadata.requires(distribution) or ())


@cache
def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
