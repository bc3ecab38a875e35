"""What the documentation names is there: files, make targets, commands, tables, rules; and every command is documented."""

import ast
import fnmatch
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import typer

from dagster_project.cli import app

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "docs" / "sources").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
ROOMS = ("dagster_project", "assets", "sql", "tests", "docs")
CITING = (".py", ".sql", ".toml")
# The user's own files, and those a source or a home has.
USERS_OWN = {"gristmill.toml", "context.md", "response.md"}
LINK = re.compile(r"\]\(([^)\s]+)\)")
MAKE = re.compile(r"\bmake ([a-z][a-z-]*)")
GRISTMILL = re.compile(r"\bgristmill (?:--[a-z]+ \S+ )*([a-z]+)(?: ([a-z]+)\b)?")
TABLE = re.compile(r"\b(?:raw_[a-z]+|core|metric|train|archive|quarantine)__[a-z_]+\b")
FILE = re.compile(r"[\w./<>*-]+\.(?:py|sql|toml|md)")
RULE = re.compile(r"\b[GFDMCRST][1-9][0-9]?\b")


def code(text: str) -> Iterator[str]:
    """What stands in a page as code: fenced blocks, and spans with their line breaks as spaces."""
    yield from FENCED.findall(text)
    for span in SPAN.finditer(FENCED.sub("", text)):
        yield " ".join(span[2].split("\n"))


def docstrings(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
            yield text


def links(text: str) -> list[str]:
    """Relative links without their anchors; what stands in code is none."""
    targets = LINK.findall(SPAN.sub("", FENCED.sub("", text)))
    return [target.partition("#")[0] for target in targets if not re.match(r"[a-z]+:|#", target)]


def commands() -> dict[str, set[str]]:
    """Every command of the application; of a group its own commands."""
    top = typer.main.get_command(app)
    assert isinstance(top, click.Group)
    return {
        name: set(found.commands) if isinstance(found, click.Group) else set() for name, found in top.commands.items()
    }


def said(*pages: Path) -> list[str]:
    return [piece for page in pages for piece in code(page.read_text("utf-8"))]


def test_code_and_links_are_told_apart():
    page = "See [rules](docs/rules.md#time), [web](https://a.example), `[x](y)`, `make\nbench`.\n```\n[a](b)\n```\n"
    assert links(page) == ["docs/rules.md"]
    assert list(code(page)) == ["```\n[a](b)\n```", "[x](y)", "make bench"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path):
    assert [link for link in links(page.read_text("utf-8")) if not (page.parent / link).exists()] == []


def test_every_make_target_named_is_one():
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = {target for piece in said(*PAGES) for target in MAKE.findall(piece)}
    assert "run" in named
    assert named - targets == set()


def test_every_command_named_is_one():
    known = commands()
    named = {match for piece in said(*PAGES) for match in GRISTMILL.findall(piece)}
    assert ("review", "list") in named
    assert {verb for verb, _ in named} - known.keys() == set()
    assert {(verb, part) for verb, part in named if part and known[verb] and part not in known[verb]} == set()


def test_every_command_is_documented():
    named = {match for piece in said(*PAGES) for match in GRISTMILL.findall(piece)}
    verbs = {verb for verb, _ in named}
    assert [verb for verb in commands() if verb not in verbs] == []


@pytest.mark.parametrize("group", [name for name, parts in commands().items() if parts])
def test_every_command_of_a_group_is_documented(group: str):
    """As `review list`, or as `next` in a paragraph about `review`."""
    paragraphs = [list(code(text)) for page in PAGES for text in page.read_text("utf-8").split("\n\n")]
    about = [piece for pieces in paragraphs if any(re.search(rf"\b{group}\b", p) for p in pieces) for piece in pieces]
    told = {part for piece in about for part in re.findall(rf"(?:\b{group} |^)([a-z]+)\b", piece)}
    assert commands()[group] - told == set()


def test_every_document_that_is_cited_has_a_page():
    files = [*(ROOT / "dagster_project").rglob("*.py"), *(ROOT / "assets").glob("*.py"), *(ROOT / "sql").rglob("*.sql")]
    cited = {number for file in files for number in re.findall(r"\b[Ss]eed (\d)\b", file.read_text("utf-8"))}
    assert cited >= {"0", "4"}
    assert cited - {page.name[0] for page in SOURCES} == set()


def test_tables_named_by_the_pages_on_the_documents_are_there():
    written = "\n".join(file.read_text("utf-8") for file in (ROOT / "dagster_project").rglob("*.py"))
    known = set(re.findall(r"[\"']([a-z_]+__[a-z_]+)[\"']", written))
    named = {table for page in SOURCES for table in TABLE.findall(page.read_text("utf-8"))}
    assert "core__feedback" in named
    assert named - known == set()


def test_rules_named_by_the_pages_on_the_documents_are_in_the_rules():
    rules = {rule for page in (ROOT / "docs").glob("*.md") for rule in RULE.findall(page.read_text("utf-8"))}
    named = {rule for page in SOURCES for rule in RULE.findall(page.read_text("utf-8"))}
    assert named >= {"F4", "S6"}
    assert named - rules == set()


def test_no_page_names_anybodys_machine():
    for page in PAGES:
        assert re.findall(r"/Users/|/Volumes/|/home/", page.read_text("utf-8")) == [], page.name


def test_every_file_named_is_there():
    """In the pages and in the docstrings of our code: a path, or its end; `<name>` is any name."""
    files = [f"/{path.relative_to(ROOT)}" for room in ROOMS for path in (ROOT / room).rglob("*") if path.is_file()]
    files += [f"/{path.name}" for path in ROOT.iterdir()]
    named = {piece.strip() for page in PAGES for piece in code(page.read_text("utf-8"))}
    for path in ROOT.glob("dagster_project/**/*.py"):
        for text in docstrings(path):
            named |= {span[2] for span in SPAN.finditer(text)}
    named = {name for name in named if FILE.fullmatch(name)}
    assert "intake/quarantine.py" in named and "systems/<name>/system.toml" in named
    wanted = {name: re.sub(r"<\w+>", "*", name) for name in named - USERS_OWN}
    assert sorted(name for name, like in wanted.items() if not fnmatch.filter(files, f"*/{like}")) == []


def test_a_walk_is_short():
    """From a source's row to what is made of it, at most twelve files, none of them twice; each is one file of ours."""
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    told = page.partition("## Three walks")[2].partition("\n## ")[0]
    _, *pieces = re.split(r"^\*\*(.+)\*\*$", told, flags=re.MULTILINE)
    steps = [re.findall(r"^\d+\. `(.+?)`", walk, re.MULTILINE) for walk in pieces[1::2]]
    assert pieces[::2] == ["A feedback row", "A turn", "An AI session"]
    assert all(8 <= len(set(files)) == len(files) <= 12 for files in steps)
    paths = [path for room in ("assets", "dagster_project", "sql") for path in (ROOT / room).rglob("*.*")]
    found = {file: [path for path in paths if path.match(file)] for files in steps for file in files}
    assert {file: those for file, those in found.items() if len(those) != 1} == {}


def test_what_a_clone_has_not_is_not_cited():
    files = [path for room in ("dagster_project", "sql") for path in (ROOT / room).rglob("*") if path.suffix in CITING]
    cited = [
        path.name for path in files if re.search(r"(?<!/)\bsources\.md\b|\bsemantics [A-Z]", path.read_text("utf-8"))
    ]
    assert cited == []
