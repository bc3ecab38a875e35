"""Versions of code, and links to it: to the query or the maker, and to the page that tells of a table."""

import shutil
from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest

from dagster_project import code_identity
from dagster_project.contracts import TABLES
from dagster_project.definitions import defs
from dagster_project.engines import queries
from dagster_project.orchestration import made_by
from dagster_project.systems.feedback.flagged_responses import make_flagged_responses
from dagster_project.systems.sessions.archive import make_archive

ROOT = Path(__file__).parents[2]


def linked(table: str) -> list[str]:
    metadata = defs.resolve_asset_graph().get(dg.AssetKey(table)).metadata
    return [link.label for link in metadata["dagster/code_references"].code_references]


def test_every_table_links_to_what_makes_it_and_to_its_page() -> None:
    graph = defs.resolve_asset_graph()
    for table in (*TABLES, "warehouse"):
        node = graph.get(dg.AssetKey(table))
        made, page = node.metadata["dagster/code_references"].code_references
        assert (Path(made.file_path).is_file(), (ROOT / made.label).is_file()) == (True, True), table
        assert page.label == node.metadata["docs"].value
        assert node.code_version


@pytest.mark.parametrize(
    ("table", "made", "page"),
    [
        ("core__voices", "dagster_project/sql/core/core__voices.sql", "docs/sources/0-feedback.md"),
        ("raw_feedback__entries", "dagster_project/systems/feedback/intake.py", "docs/sources/0-feedback.md"),
        ("core__turn_pairs", "dagster_project/systems/conversations/turn_pairs.py", "docs/sources/1-conversations.md"),
        ("train__preference", "dagster_project/training/release.py", "docs/rules.md"),
        ("warehouse", "dagster_project/orchestration/publication.py", "docs/rules.md"),
    ],
)
def test_links(table: str, made: str, page: str) -> None:
    assert linked(table) == [made, page]


def test_tables_and_sources_are_tagged_with_their_system() -> None:
    graph = defs.resolve_asset_graph()
    for table in ("source_feedback", "raw_feedback__entries", "core__voices"):
        assert graph.get(dg.AssetKey(table)).tags["gristmill/system"] == "feedback"


def test_a_query_has_another_version_with_another_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def versions() -> list[str]:
        return [made_by.code_version(table, None) for table in ("core__voices", "core__answers")]

    voices, answers = versions()
    real = queries.query

    def edited(name: str) -> queries.Query:
        found = real(name)
        return replace(found, sql=f"{found.sql}-- edited\n") if name == "core__voices" else found

    monkeypatch.setattr(queries, "query", edited)
    assert versions()[0] != voices
    assert versions()[1] == answers


def test_a_maker_has_another_version_when_code_it_reaches_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in a lower room: what keys texts is made otherwise when the keys are, and what does not use them is not."""
    package = tmp_path / "dagster_project"
    shutil.copytree(code_identity.FOLDER, package, ignore=shutil.ignore_patterns("__pycache__", "demo"))
    keys = package / "columns" / "text_keys.py"

    def version(maker: made_by.Maker) -> str:
        code_identity._read.cache_clear()
        monkeypatch.setattr(
            made_by, "code_identity", lambda module: code_identity.code_identity.__wrapped__(module, package)
        )
        return made_by.code_version("core__flagged_responses", maker)

    reads, writes = version(make_flagged_responses), version(make_archive)
    keys.write_text(f"{keys.read_text(encoding='utf-8')}# edited\n", encoding="utf-8")
    assert (version(make_flagged_responses) != reads, version(make_archive) == writes) == (True, True)
    code_identity._read.cache_clear()
