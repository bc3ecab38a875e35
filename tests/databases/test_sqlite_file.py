"""A SQLite file that is not whole, or not one at all, is one line that names it and never fewer rows (G3, G5)."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from dagster_project.contracts.source_table import TableSpec
from dagster_project.databases.sqlite import SqliteDatabase
from dagster_project.databases.sqlite_file import SourceLocked, identity, source_error
from dagster_project.errors import GristmillError

SPEC = TableSpec(system="test", name="things", columns={"key": "text"}, required=("key",), key="key")
ROWS = 500
MARKED_VALID_AT = 92  # offset of the number that says whether the header's page count can be trusted


def rows(path: Path) -> int:
    with SqliteDatabase(path, 0.1) as database:
        return sum(batch.height for batch in database.read_all(SPEC))


def complaint(path: Path) -> str:
    with pytest.raises(GristmillError) as told:
        rows(path)
    line = str(told.value)
    assert "\n" not in line
    assert str(path) in line
    return line


@contextmanager
def writing(path: Path, *statements: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that is in the middle of a change."""
    code = (
        "import sqlite3, sys\ndatabase = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "for statement in sys.argv[2:]: database.execute(statement)\nprint('ready', flush=True)\nsys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(path), *statements]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        yield writer
        writer.kill()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "block.db"  # a name with "lock" in it
    with closing(sqlite3.connect(path)) as database:
        database.execute("create table things (key text)")
        database.executemany("insert into things values (?)", [(f"{n:0200}",) for n in range(ROWS)])
        database.commit()
    assert rows(path) == ROWS
    return path


@pytest.mark.parametrize("cut", [1, 100, 4095])
@pytest.mark.parametrize("is_count_valid", [True, False])
def test_a_torn_last_page_is_an_error_and_not_a_lost_row(source: Path, cut: int, is_count_valid: bool) -> None:
    """SQLite would pad the page with zeros and read a row less, or one without its values."""
    os.truncate(source, source.stat().st_size - cut)
    if not is_count_valid:  # as software leaves it that does not know the header's page count
        with source.open("r+b") as file:
            file.seek(MARKED_VALID_AT)
            file.write(b"\0\0\0\0")
    assert "is cut short" in complaint(source)


def test_missing_pages_are_an_error(source: Path) -> None:
    os.truncate(source, source.stat().st_size - 3 * 4096)
    assert "is cut short" in complaint(source)


def test_a_page_that_cannot_be_read_in_the_middle_of_a_table_is_an_error(source: Path) -> None:
    with source.open("r+b") as file:
        file.seek(4096 * 8)
        file.write(b"\xa5" * 4096)
    assert complaint(source).endswith("database disk image is malformed")


def test_a_file_is_shorter_than_its_pages_while_they_are_in_the_write_ahead_log(source: Path) -> None:
    with closing(sqlite3.connect(source)) as writer:
        writer.execute("pragma journal_mode = wal")
        writer.execute("pragma wal_autocheckpoint = 0")
        writer.executemany("insert into things values (?)", [(f"{n:0200}",) for n in range(ROWS)])
        writer.commit()
        assert rows(source) == 2 * ROWS
        size = source.stat().st_size
        assert size < 2 * ROWS * 200
        copy = source.with_name("copy.db")
        shutil.copy(source, copy)
        shutil.copy(f"{source}-wal", f"{copy}-wal")
    os.truncate(copy, 4096 * 9)  # pages that are in neither
    assert "is cut short" in complaint(copy)


def test_a_hot_journal_is_one_line_that_says_what_to_do(source: Path) -> None:
    """A writer died in the middle of a change. We open read-only (G4) and cannot roll it back."""
    with writing(source, "pragma cache_size = 1", "begin", "update things set key = key || 'x'") as writer:
        writer.kill()
    assert source.with_name("block.db-journal").stat().st_size
    line = complaint(source)
    assert "block.db-journal" in line
    assert "`sqlite3 block.db .tables`" in line
    with closing(sqlite3.connect(source)) as database:  # which is what that does
        database.execute("select count(*) from things").fetchall()
    assert rows(source) == ROWS


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.db")
    assert complaint(tmp_path / "pipe.db").endswith("is not a file")


def test_a_locked_file_is_worth_another_try(source: Path) -> None:
    with (
        writing(source, "begin exclusive"),
        pytest.raises(SourceLocked, match=r"is locked by a writer: database is locked$"),
    ):
        rows(source)


@pytest.mark.parametrize(
    "text", ["database disk image is malformed", "no such column: is_blocked", "unable to open database file"]
)
def test_other_errors_are_not_taken_for_locks(text: str) -> None:
    error = source_error(Path("block.db"), OSError(f"INTERNAL: [SQLite] Failed to step query: {text} query: select 1"))
    assert not isinstance(error, SourceLocked)
    assert str(error) == f"source block.db: {text}"


def test_the_log_of_a_linked_file_lies_beside_what_the_link_leads_to(source: Path, tmp_path: Path) -> None:
    """Else a change that is only in the log would not be seen through the link (G7)."""
    link = tmp_path / "elsewhere" / "linked.db"
    link.parent.mkdir()
    link.symlink_to(source)
    with closing(sqlite3.connect(source)) as writer:
        writer.execute("pragma journal_mode = wal")
        before = identity(link)
        writer.execute("insert into things values ('new')")
        writer.commit()
        assert identity(link) != before
        assert rows(link) == ROWS + 1
