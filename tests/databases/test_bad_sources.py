"""A source that cannot be read: one clear line that names it, exit code 1, nothing published is touched (G5)."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import change, complaint, finish, gristmill, main_source, published_content, start

pytestmark = pytest.mark.slow


def directory(source: Path) -> str:
    source.unlink()
    source.mkdir()
    return "not a file"


def other_file(source: Path) -> str:
    source.write_text("feedback_id,rating\n1,1\n" * 1000, encoding="utf-8")
    return "not an SQLite database"


def empty_file(source: Path) -> str:
    source.write_bytes(b"")
    return "no table 'feedback'"


def truncated(source: Path) -> str:
    os.truncate(source, source.stat().st_size - 100)
    return "is cut short"


def pipe(source: Path) -> str:
    source.unlink()
    os.mkfifo(source)
    return "not a file"


def corrupted(source: Path) -> str:
    data = bytearray(source.read_bytes())
    data[4096 * 3 :] = b"\xa5" * (len(data) - 4096 * 3)
    source.write_bytes(data)
    return "malformed"


def without_table(source: Path) -> str:
    change(source, "alter table feedback rename to answers")
    return "no table 'feedback'"


def without_column(source: Path) -> str:
    change(source, "alter table feedback rename column original_query to question")
    return "no column 'original_query'"


def unreadable(source: Path) -> str:
    source.chmod(0)
    return "Permission denied"


BREAKAGES = [directory, other_file, empty_file, truncated, pipe, corrupted, without_table, without_column]
if os.geteuid() != 0:  # root may read everything
    BREAKAGES.append(unreadable)


@pytest.mark.parametrize("breakage", BREAKAGES)
def test_a_bad_source_is_one_line(published: Path, breakage: Callable[[Path], str]) -> None:
    source = main_source(published)
    with closing(sqlite3.connect(source)) as database:
        assert database.execute("pragma journal_mode = delete").fetchone() == ("delete",)
    before = published_content(published)
    expected = breakage(source)
    done = gristmill(published, "run", "--full", env={"GRISTMILL_FEEDBACK": str(source)})
    line = complaint(done)
    assert str(source) in line
    assert expected in line
    assert done.stdout == ""
    assert published_content(published) == before


def test_no_source_at_all(tmp_path: Path) -> None:
    line = complaint(gristmill(tmp_path / "home", "run"))
    assert "GRISTMILL_FEEDBACK" in line
    assert not (tmp_path / "home").exists()


def test_a_bad_source_in_a_process_of_its_own(published: Path) -> None:
    """What other tests call in their own process says no more than this one line."""
    source = main_source(published)
    expected = without_column(source)
    done = finish(start(published, "run", "--full"))
    assert expected in complaint(done)
    assert done.stdout == ""
