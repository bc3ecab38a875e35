"""A home may lie anywhere: what looks like a pattern in its path is just its name, and its engine sees nothing else."""

import ast
import shutil
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from dagster_project.contracts.layout import FileLayout
from dagster_project.engines import queries
from dagster_project.lake import parquet
from dagster_project.lake.lake import Lake
from dagster_project.lake.lock import make_home
from tests.conftest import complaint, content, copy_home, gristmill, run

LAYOUT = FileLayout(pa.schema([("n", pa.int64())]), [], [], {"n": "snappy"})
NAMES = ["a*b", "a[b", "a[x]b", "a[!x]b", "**", "a]b", "a{x,y}b", "it's %41 #1", "é☃ 中"]
PACKAGE = Path(parquet.__file__).parent


def lake_with(home: Path, *numbers: int) -> Lake:
    lake = Lake(home)
    with lake.replacing("table", "day=1", LAYOUT) as writer:
        writer.write(pa.table({"n": numbers}, LAYOUT.schema))
    lake.commit()
    return lake


@pytest.mark.parametrize("name", NAMES)
def test_only_the_homes_own_files_are_read(tmp_path: Path, name: str) -> None:
    """Beside it lie homes that its name would match if it were a pattern."""
    for other in ("axb", "aXb", "ayb", "a"):
        lake_with(tmp_path / other, 99)
    lake = lake_with(tmp_path / name, 1, 2)
    files = lake.files("table")
    assert parquet.read(files)["n"].to_list() == [1, 2]
    assert parquet.read(files[0], columns=["n"])["n"].to_list() == [1, 2]
    assert parquet.scan(files).collect()["n"].to_list() == [1, 2]
    with queries.engine(lake, 100) as connection:
        read = "select n from read_parquet('{}') order by n"
        by_name = parquet.as_pattern(files[0]).replace("'", "''")
        assert connection.execute(read.format(by_name)).fetchall() == [(1,), (2,)]
        below = parquet.as_pattern(lake.folder).replace("'", "''")
        assert connection.execute(read.format(f"{below}/**/*.parquet")).fetchall() == [(1,), (2,)]
        target = str(lake.staging / "copy.parquet")
        connection.execute("copy (select 3 as n) to '{}' (format parquet)".format(target.replace("'", "''")))
    assert parquet.read(Path(target))["n"].to_list() == [3]


@pytest.mark.parametrize("name", ["a\\b", "a?b"])
def test_what_duckdb_cannot_do_is_refused_before_anything_is_made(tmp_path: Path, name: str) -> None:
    """It takes the one for a separator, and writes the log of a database before the other."""
    assert f"a path with {name[1]}" in complaint(gristmill(tmp_path / name, "demo"))
    assert list(tmp_path.iterdir()) == []


def test_files_are_read_by_their_names_only() -> None:
    """Polars takes names for patterns: `parquet` is the one place that opens files by name."""
    calls = {
        f"{path.relative_to(PACKAGE.parent)}:{node.lineno}"
        for folder in (PACKAGE, PACKAGE / "assets")
        for path in folder.rglob("*.py")
        if path != PACKAGE / "parquet.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in ("scan_parquet", "read_parquet", "scan_csv", "read_csv")
        if isinstance(node.value, ast.Name) and node.value.id == "pl"
    }
    assert calls == set()


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    make_home(tmp_path / "home")
    (tmp_path / "secret.csv").write_text("a\n1\n", encoding="utf-8")
    (tmp_path / "home2").mkdir()
    (tmp_path / "home2" / "secret.csv").write_text("a\n1\n", encoding="utf-8")
    return Lake(tmp_path / "home")


@pytest.mark.parametrize(
    "sql",
    [
        "select * from read_csv('{around}/secret.csv')",
        "select * from '{around}/secret.csv'",
        "select * from read_text('{around}/home/../secret.csv')",
        "select * from read_csv('{around}/home2/secret.csv')",
        "select * from glob('{around}/*')",
        "select * from read_csv('https://example.org/a.csv')",
        "copy (select 1 as a) to '{around}/stolen.csv'",
        "attach '{around}/stolen.duckdb'",
        "install httpfs",
        "load httpfs",
        "set enable_external_access = true",
        "set allowed_directories = ['/']",
        "set memory_limit = '100GB'",
        "select * from lake",
    ],
)
def test_the_engine_of_a_run_reaches_nothing_but_the_home(lake: Lake, tmp_path: Path, sql: str) -> None:
    before = content(tmp_path, ["home"])
    with queries.engine(lake, 100) as connection, pytest.raises(duckdb.Error) as refused:
        connection.execute(sql.format(around=tmp_path)).fetchall()
    assert "connect" not in str(refused.value).lower()  # nobody was even called
    assert content(tmp_path, ["home"]) == before


def test_the_engine_spills_under_staging(lake: Lake) -> None:
    """More rows than its memory holds: it still answers, and leaves no file elsewhere."""
    with queries.engine(lake, 60) as connection:
        sql = "select count(*) from (select range, md5(range::varchar) as text from range(1_500_000) order by text)"
        assert connection.execute(sql).fetchone() == (1_500_000,)
        rows = connection.execute(
            "select * from (select range, md5(range::varchar) t from range(1_500_000)) order by t"
        )
        assert rows.fetchone() is not None
        assert list((lake.staging / "duckdb").iterdir())


@pytest.mark.slow
def test_a_whole_run_in_a_home_with_a_strange_name(demo_home: Path, published_home: Path, tmp_path: Path) -> None:
    """Every stage and the warehouse's views; a sibling home that the name would match changes nothing."""
    home = tmp_path / "it's a*h[o]me {x}"
    copy_home(demo_home, home)
    shutil.copytree(published_home, tmp_path / "it's abhome {x}")
    run(home)
    for part in ("lake", "exports"):
        assert content(home / part) == content(published_home / part)
    counts = "select count(*), count(distinct feedback_id) from raw_feedback__entries"
    asked = [gristmill(each, "query", counts, "--format", "csv") for each in (home, published_home)]
    assert [done.returncode for done in asked] == [0, 0], asked[0].stderr
    assert asked[0].stdout == asked[1].stdout
