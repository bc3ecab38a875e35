"""The anonymised export of whole runs on a database (S6): what is in time, what is kept, what a release says of it."""

import hashlib
import json
import random
import sqlite3
from collections import Counter
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dagster_project.contracts.anonymised_columns import FIELDS
from dagster_project.training.anonymised import anonymise
from tests.conftest import change, content, copy_home, made_once, run
from tests.tables import table
from tests.training.test_anonymised import WEEKS, Combination, K, World, after, combinations, population, session

pytestmark = pytest.mark.slow

TABLES = """
create table ai_sessions (id text primary key, tenant_id text not null, workspace_id text not null, slice_id text,
    user_id text not null, context_document_ids text not null, context_token_count integer not null,
    context_compiled_at text, query_hash text, started_at text not null, ended_at text, created_at text);
create table session_feedback (id text primary key, tenant_id text not null, session_id text not null,
    rating text not null, error_categories text, missing_context text, comment text, accuracy_score integer,
    completeness_score integer, style_match_score integer, review_verdict text, edit_distance integer,
    output_issues text, submitted_at text, submitted_by text not null);
create table context_nodes (id text primary key, tenant_id text, type text, layer text, name text, freshness text,
    token_count integer, deleted_at text);
"""
NAME = "anonymized_feedback"


def source(home: Path) -> Path:
    return home / "sources" / "sessions.db"


def write_source(path: Path, world: World) -> None:
    """The population in several tenants, rows in no order; documents of each type, one of no type and one nobody knows."""
    dice = random.Random(3)
    types = sorted({t for s in world.sessions for t in s["context_types"]})
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as database:
        database.executescript(TABLES)
        nodes = [(f"{t}-{n}", "t0", t.upper() if n else t) for t in types for n in range(3)] + [("blank", "t0", " ")]
        database.executemany("insert into context_nodes (id, tenant_id, type) values (?, ?, ?)", nodes)
        for number, s in dice.sample(list(enumerate(world.sessions)), len(world.sessions)):
            tenant = f"t{hash_of(s['user_id']) % 7}"
            documents = [f"{t}-{dice.randrange(3)}" for t in s["context_types"]] + ["blank"] * (number % 2) + ["gone"]
            database.execute(
                "insert into ai_sessions (id, tenant_id, workspace_id, user_id, context_document_ids, context_token_count, "
                "started_at) values (?, ?, 'w', ?, ?, ?, ?)",
                (
                    f"s{number}",
                    tenant,
                    s["user_id"] or "default",
                    json.dumps(documents),
                    s["context_token_count"],
                    text(s["started_at"]),
                ),
            )
            add_feedback(database, f"f{number}", tenant, f"s{number}", s)
        database.commit()


def hash_of(user: str | None) -> int:
    return int(hashlib.sha256((user or "").encode()).hexdigest()[:6], 16)


def text(moment: datetime) -> str:
    return moment.replace(tzinfo=None).isoformat(" ")


def add_feedback(database: sqlite3.Connection, key: str, tenant: str, session_id: str, s: dict[str, Any]) -> None:
    database.execute(
        "insert into session_feedback (id, tenant_id, session_id, rating, error_categories, accuracy_score, "
        "completeness_score, style_match_score, edit_distance, submitted_at, submitted_by) "
        "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'reviewer')",
        (
            key,
            tenant,
            session_id,
            s["rating"].upper(),
            json.dumps([c.upper() for c in s["error_categories"]]),
            s["accuracy_score"],
            s["completeness_score"],
            s["style_match_score"],
            s["edit_distance_pct"],
            text(s["submitted_at"]),
        ),
    )


def release(home: Path, as_of: datetime, *arguments: str, **settings: str) -> Path:
    """A run, and where its release is."""
    run(home, "--as-of", as_of.isoformat(), *arguments, env={f"GRISTMILL_{k.upper()}": v for k, v in settings.items()})
    day = (as_of - timedelta(microseconds=1)).strftime("%Y%m%d")
    return max((home / "exports").glob(f"{day}*"), key=lambda path: path.name)


def left(folder: Path) -> Counter[Combination]:
    """What is in a release, read from both files."""
    rows = pl.read_parquet(folder / f"{NAME}.parquet")
    assert rows.schema == FIELDS and rows.equals(rows.sort(*FIELDS))
    lines = (folder / f"{NAME}.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    assert [json.loads(line) for line in lines] == rows.to_dicts()
    return combinations(rows)


def expected(world: World, weeks: int, k: int = K) -> Counter[Combination]:
    return sum((combinations(anonymise(world.rows(monday), k).rows) for monday in WEEKS[:weeks]), Counter())


def told(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home after a release that covers three weeks. Not to be changed."""
    with made_once(tmp_path_factory, "sessions_home") as (home, is_new):
        if is_new:
            write_source(source(home), population())
            release(home, after(3))
        return home


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    return copy_home(made, tmp_path / "home")


def latest(home: Path) -> Path:
    return max((home / "exports").iterdir(), key=lambda path: path.name)


def test_a_release_has_what_may_leave(made: Path) -> None:
    """Whole weeks that closed, feedback in time; the manifest counts files and what was suppressed; the lake has the same."""
    folder = latest(made)
    found, manifest = left(folder), told(folder)
    assert found == expected(population(), 3)
    for kind in ("jsonl", "parquet"):
        data = (folder / f"{NAME}.{kind}").read_bytes()
        entry = manifest["files"][f"{NAME}.{kind}"]
        assert (entry["rows"], entry["bytes"]) == (found.total(), len(data))
        assert entry["sha256"] == hashlib.sha256(data).hexdigest()
    summary = manifest["anonymised"]
    assert (summary["k"], summary["token_budgets"], summary["weeks"]) == (K, [8000], 3)
    assert summary["sessions"] == sum(population().rows(m).height for m in WEEKS[:3])
    assert summary["sessions"] == summary["exported"] + summary["suppressed"]
    assert summary["exported"] == found.total()
    assert combinations(table(made, "train__anonymised").drop("release_date")) == found
    assert f"path: {NAME}.jsonl" in (folder / "README.md").read_text(encoding="utf-8")


def test_a_second_run_changes_no_byte(home: Path) -> None:
    before = content(home, ["runs", "lock"])
    release(home, after(3))
    assert content(home, ["runs", "lock"]) == before


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_later_rating_is_not_seen(home: Path, is_kept: bool) -> None:
    """Rated again after the week closed: what counted then counts, also for a home that makes the week only now."""
    if not is_kept:
        source_only = home.with_name("new")
        (source_only / "sources").mkdir(parents=True)
        source(home).rename(source(source_only))
        home = source_only
    late = closes = after(2)
    with closing(sqlite3.connect(source(home))) as database:
        for number, s in enumerate(population().sessions):
            if s["started_at"] < closes - timedelta(days=21) and number % 2:
                again = {**s, **session(None, rating="negative", context_types=["adr"]), "submitted_at": late}
                tenant = f"t{hash_of(s['user_id']) % 7}"
                add_feedback(database, f"again{number}", tenant, f"s{number}", again)
        database.commit()
    assert left(release(home, after(3) + timedelta(days=1), "--full")) == expected(population(), 3)


def test_nothing_shows_what_happened_since(home: Path) -> None:
    """People deleted, ratings changed, documents retyped: the weeks that left stay, and so does the state's every byte."""
    before, state = left(latest(home)), content(home / "state" / "anonymised")
    assert sorted(state) == ["2026-W02.parquet", "2026-W03.parquet", "2026-W04.parquet"]
    change(
        source(home),
        "delete from session_feedback where session_id in (select id from ai_sessions where user_id = 'user-1')",
        "delete from ai_sessions where user_id = 'user-1'",
        "update session_feedback set rating = 'negative' where rowid % 9 = 0",
        "update context_nodes set type = 'memo' where id = 'adr-1'",
    )
    assert left(release(home, after(3) + timedelta(days=1), "--full")) == before
    later = left(release(home, after(4)))
    assert not before - later
    assert min((later - before).values()) >= K
    assert state.items() <= content(home / "state" / "anonymised").items()


def test_a_run_in_the_past(home: Path) -> None:
    """G2: fewer weeks, as they left; the state is not touched, and a week it does not have does not appear."""
    state = content(home / "state")
    change(source(home), "delete from session_feedback where rowid % 2")
    assert left(release(home, after(2))) == expected(population(), 2)
    assert content(home / "state") == state
    (home / "state" / "anonymised" / "2026-W02.parquet").unlink()
    folder = release(home, after(2))
    assert folder.name.endswith(".2")
    assert left(folder) == combinations(anonymise(population().rows(WEEKS[1])).rows)
    assert told(folder)["anonymised"]["weeks"] == 1


def test_archived_sessions_count(home: Path) -> None:
    """S3: sessions the source has deleted since they were archived leave with their week, if it has not left before."""
    release(home, after(4) + timedelta(days=120))
    early = "from ai_sessions where started_at < '2026-01-20'"
    change(source(home), f"delete from session_feedback where session_id in (select id {early})", f"delete {early}")
    for path in (home / "state" / "anonymised").iterdir():
        path.unlink()
    folder = release(home, after(4) + timedelta(days=121), "--full")
    assert left(folder) == expected(population(), 4)
    assert told(folder)["anonymised"]["weeks"] == 4


def test_settings(made: Path, tmp_path: Path) -> None:
    """k = 1 lets everybody's rows out; the budget is what utilisation is a part of."""
    home = tmp_path / "home"
    (home / "sources").mkdir(parents=True)
    source(home).write_bytes(source(made).read_bytes())
    folder = release(home, after(3), anonymity_k="1", token_budget="4000")
    worlds = [anonymise(population().rows(m), 1, 4000).rows for m in WEEKS[:3]]
    assert left(folder) == combinations(pl.concat(worlds))
    assert told(folder)["anonymised"]["k"] == 1
    assert Counter(left(folder).values())[1] > 500


def test_a_run_that_fails_keeps_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The state is written with the publication or not at all."""
    before = content(home / "state")

    def fail(*_: object) -> None:
        raise OSError(28, "no space left")

    with monkeypatch.context() as broken:
        broken.setattr("dagster_project.engines.warehouse_file.build_warehouse", fail)
        with pytest.raises(AssertionError):
            release(home, after(4))
    assert content(home / "state") == before
    release(home, after(4))
    assert len(content(home / "state" / "anonymised")) == 4
