"""The warehouse reads the files of the home it lies in, wherever that is; one to be carried away needs no home at all."""

import shutil
from pathlib import Path

import duckdb
import pytest

from tests.conftest import complaint, content, copy_home, gristmill
from tests.warehouse.conftest import opened

pytestmark = pytest.mark.slow
QUESTION = """select (select count(*) from raw_feedback__entries), (select count(*) from core__feedback where status = 'active'),
    (select count(*) from signals), (select sum(feedback_count) from metric__feedback_daily),
    (select count(*) from core.core__voices), (select count(*) from quarantine), (select count(*) from train__unpaired)"""


@pytest.fixture
def copied(published_home: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A home that has published where it lies, and a plain copy of it elsewhere."""
    original = copy_home(published_home, tmp_path / "original [1]")
    return original, Path(shutil.copytree(original, tmp_path / "elsewhere" / "copy's", symlinks=True))


def answer(home: Path) -> list[tuple[int, ...]]:
    with opened(home) as connection:
        return connection.sql(QUESTION).fetchall()


def test_a_copied_home_reads_its_own_files(copied: tuple[Path, Path]) -> None:
    """Also where the original goes on, is emptied, or is gone; from the command and from any client."""
    original, copy = copied
    expected = answer(original)
    assert expected[0][0] > 0 and answer(copy) == expected
    for file in (original / "snapshots").rglob("*.parquet"):
        file.unlink()
        file.write_bytes(b"something else")
    assert answer(copy) == expected
    done = gristmill(copy, "query", QUESTION, "--format", "csv")
    assert done.stdout.splitlines()[1] == ",".join(str(n) for n in expected[0])
    shutil.rmtree(original)
    assert answer(copy) == expected
    moved = copy.rename(copy.with_name("moved"))
    assert answer(moved) == expected


def test_who_attaches_the_file_never_reads_another_home(copied: tuple[Path, Path]) -> None:
    original, copy = copied
    expected = answer(original)
    question = QUESTION.replace("from ", "from w.")
    with duckdb.connect() as connection:
        connection.execute(f"attach '{original / 'warehouse.duckdb'!s}' as w (read_only)")
        assert connection.sql(question).fetchall() == expected
    with duckdb.connect() as connection:
        connection.execute("attach '{}' as w (read_only)".format(str(copy / "warehouse.duckdb").replace("'", "''")))
        with pytest.raises(duckdb.Error, match="set variable gristmill_home"):
            connection.sql(question).fetchall()
        connection.execute("set variable gristmill_home = '{}'".format(str(copy).replace("'", "''")))
        assert connection.sql(question).fetchall() == expected


def test_a_temporary_folder_of_ones_own_changes_nothing(copied: tuple[Path, Path], tmp_path: Path) -> None:
    original, _ = copied
    expected = answer(original)
    with opened(original, temp_directory=str(tmp_path / "spill")) as connection:
        assert connection.sql(QUESTION).fetchall() == expected


def test_one_file_with_everything_in_it(published: Path, tmp_path: Path) -> None:
    expected, before = answer(published), content(published)
    file = tmp_path / "carried" / "everything.duckdb"
    assert "no folder" in complaint(gristmill(published, "warehouse", "--portable", str(file)))
    file.parent.mkdir()
    done = gristmill(published, "warehouse", "--portable", str(file))
    assert done.returncode == 0, done.stderr
    assert "everything of publication 1" in done.stdout
    assert content(published) == before
    assert "not written over" in complaint(gristmill(published, "warehouse", "--portable", str(file)))
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    with opened(published) as connection:
        names = connection.sql(
            "select schema_name, table_name, column_name, data_type from duckdb_columns() order by all"
        ).fetchall()
    shutil.rmtree(published)
    with duckdb.connect(str(file), read_only=True) as connection:
        assert connection.sql(QUESTION).fetchall() == expected
        assert (
            connection.sql(
                "select schema_name, table_name, column_name, data_type from duckdb_columns() order by all"
            ).fetchall()
            == names
        )
        assert connection.sql("select count(*) from duckdb_views() where sql like '%read_parquet%'").fetchall() == [
            (0,)
        ]


def test_where_it_is(published_home: Path, tmp_path: Path) -> None:
    said = gristmill(published_home, "warehouse").stdout
    assert str(published_home / "warehouse.duckdb") in said and "publication 1" in said
    assert "run" in complaint(gristmill(tmp_path / "nothing", "warehouse"))
