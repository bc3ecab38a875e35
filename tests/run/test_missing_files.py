"""G13: what was read from a file that is missing stays as it was; the others go on; when it is back all is as if never gone."""

import errno
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dagster_project import config
from dagster_project.config.reachable import is_there
from dagster_project.contracts import TABLES
from dagster_project.errors import GristmillError
from dagster_project.intake.stage import Choice
from dagster_project.intake.whole_tables import read_whole_table
from dagster_project.lake.lake import NO_DAY, Catalog
from dagster_project.lookups.status import status
from dagster_project.registry import DATED_SPECS, open_run
from dagster_project.run import source_changes
from dagster_project.run.mill_run import MillRun
from dagster_project.run.missing_files import missing_since, told
from dagster_project.systems.feedback import schema as schemas
from dagster_project.systems.feedback import source as feedback
from dagster_project.systems.feedback.intake import read_by_day, read_whole
from tests.conftest import change
from tests.systems.feedback.feedback_rows import add_feedback

ENTRIES, RESPONSES, QUARANTINE = "raw_feedback__entries", "raw_feedback__responses", "quarantine__rows"
DAY, NEXT = date(2026, 1, 20), date(2026, 1, 21)
LATE = Choice(as_of=datetime(2026, 3, 1, tzinfo=UTC))  # no day is read again just because it is one of the last three
Row = dict[str, Any]
_numbers = count()


@pytest.fixture(scope="module", autouse=True)
def small_batches() -> Iterator[None]:
    """A batch of typed rows comes before every read."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("BATCH_ROWS", "SCAN_BATCH_ROWS"):
            patch.setattr(f"dagster_project.databases.sqlite.{name}", 64)
        yield


def main(home: Path) -> Path:
    return home / "sources" / "feedback.db"


def fallback(home: Path) -> Path:
    return home / "sources" / "feedback_fallback.db"


def said(name: str, text: str = "x", day: date = DAY, **more: Any) -> Row:
    """A correction; `text` is what it says."""
    return {"feedback_id": name, "feedback_type": "correction", "correction": text, "day": day, **more}


def read(home: Path, choice: Choice = LATE, config_file: Path | None = None, **environ: str) -> MillRun:
    """A run as far as feedback's own tables, published."""
    variables = {f"GRISTMILL_{name.upper()}": value for name, value in environ.items()}
    chosen = config.load(config_file, home, variables)
    with open_run(chosen, choice) as run:
        for made in (*read_whole(run, RESPONSES), *read_by_day(run, ENTRIES)):
            run.made[made.table] = made
            assert made.account is None or made.account.adds_up, made.account
        run.lake.catalog.as_of = run.as_of.isoformat()
        run.lake.catalog.missing = missing_since(run.missing, run.lake.next_publication, run.lake.catalog.as_of)
        if run.lake.is_changed():
            run.lake.commit()
    return run


def lake(home: Path) -> dict[str, Any]:
    """The lake's bytes and what the catalogue says of the sources; not which publication wrote what."""
    catalog = Catalog.read(home / "lake" / "catalog.json")
    files = {
        f"{table}/{partition}": (home / "lake" / table / partition / "part-0.parquet").read_bytes()
        for table, partitions in catalog.tables.items()
        for partition in partitions
    }
    return files | {"sources": catalog.sources}


def rows(home: Path, table: str = ENTRIES) -> list[Row]:
    catalog = Catalog.read(home / "lake" / "catalog.json")
    files = [home / "lake" / table / partition / "part-0.parquet" for partition in catalog.tables.get(table, {})]
    found = pl.concat([pl.read_parquet(path, hive_partitioning=False) for path in files] or [TABLES[table].empty()])
    return found.sort(pl.first()).to_dicts()


def kept(home: Path) -> list[tuple[str, str, str]]:
    return [(row["feedback_id"], row["correction"], row["source_file"]) for row in rows(home)]


def refused(home: Path) -> list[tuple[str, str, str]]:
    return sorted((row["key"], row["source_file"], *row["reasons"]) for row in rows(home, QUARANTINE))


def told_of(home: Path) -> list[list[Row]]:
    """All rows, but for what refused ones looked like: of a missing file's that is no longer known for sure."""
    refused = [{name: value for name, value in row.items() if name != "row"} for row in rows(home, QUARANTINE)]
    return [rows(home), refused]


@contextmanager
def unplugged(*files: Path) -> Iterator[None]:
    """Files moved away as a whole, and put back as they are."""
    for file in files:
        file.rename(file.with_suffix(".away"))
    yield
    for file in files:
        file.with_suffix(".away").rename(file)


def write(file: Path, found: Iterable[Row]) -> None:
    """A file that holds these rows and no others. Whatever was there, its fingerprint is another one (G7)."""
    file.unlink(missing_ok=True)
    add_feedback(file, *({**row, "processed_at": float(next(_numbers))} for row in found))


# --- its rows stay -----------------------------------------------------------------------------------------------


def test_a_missing_file_keeps_its_rows_and_the_other_one_goes_on(tmp_path: Path) -> None:
    """A day changed in the file that is there, another became its own, one row vanished, and nothing of the missing one."""
    write(main(tmp_path), [said("a1"), said("a2", day=NEXT), said("a3", feedback_type="?"), said("a4", timestamp=None)])
    write(fallback(tmp_path), [said("b1"), said("b2")])
    before = read(tmp_path)
    assert not before.missing
    with unplugged(main(tmp_path)):
        write(fallback(tmp_path), [said("b1", "y"), said("b3", day=NEXT)])
        run = read(tmp_path)
        assert kept(tmp_path) == [
            ("a1", "x", "feedback.db"),
            ("a2", "x", "feedback.db"),
            ("b1", "y", "feedback_fallback.db"),
            ("b3", "x", "feedback_fallback.db"),
        ]
        assert refused(tmp_path) == [
            ("a3", "feedback.db", "unknown:feedback_type"),
            ("a4", "feedback.db", "missing:timestamp"),
        ]
        account = run.accounts[ENTRIES]
        assert (account.read, account.kept, account.quarantined, account.copies) == (6, 4, 2, 0)
        published = lake(tmp_path)
        assert read(tmp_path).lake.published.publication == 2
        assert lake(tmp_path) == published
    read(tmp_path)
    fresh = shutil.copytree(tmp_path / "sources", tmp_path / "fresh" / "sources").parent
    read(fresh)
    assert lake(tmp_path) == lake(fresh)


def test_copies_and_conflicts_with_a_missing_file(tmp_path: Path) -> None:
    """F3: its rows meet those of the other file as if it were there; those that only the lost copy told are not lost."""
    write(main(tmp_path), [said("copy"), said("loser"), said("winner", day=NEXT), said("alone")])
    write(fallback(tmp_path), [said("copy"), said("loser", "y"), said("winner", "y"), said("own")])
    read(tmp_path)
    conflicts = [
        ("loser", "feedback.db", "conflict:feedback_id"),
        ("winner", "feedback_fallback.db", "conflict:feedback_id"),
    ]
    assert kept(tmp_path) == [
        ("alone", "x", "feedback.db"),
        ("copy", "x", "feedback_fallback.db"),
        ("loser", "y", "feedback_fallback.db"),
        ("own", "x", "feedback_fallback.db"),
        ("winner", "x", "feedback.db"),
    ]
    assert refused(tmp_path) == conflicts
    at_first = lake(tmp_path)
    own = shutil.copy2(fallback(tmp_path), tmp_path / "own.db")
    with unplugged(main(tmp_path)):
        write(fallback(tmp_path), [said("alone", "y"), said("loser", "y"), said("winner", "y"), said("own")])
        account = read(tmp_path).accounts[ENTRIES]
        assert kept(tmp_path) == [
            ("alone", "y", "feedback_fallback.db"),  # the same time, the later file
            ("copy", "x", "feedback.db"),  # the file that is there has it no longer
            ("loser", "y", "feedback_fallback.db"),
            ("own", "x", "feedback_fallback.db"),
            ("winner", "x", "feedback.db"),
        ]
        assert refused(tmp_path) == [("alone", "feedback.db", "conflict:feedback_id"), *conflicts]
        assert (account.read, account.kept, account.quarantined, account.copies) == (8, 5, 3, 0)
        shutil.copy2(own, fallback(tmp_path))
        read(tmp_path)
        assert kept(tmp_path)[0] == ("alone", "x", "feedback.db")
        assert refused(tmp_path) == conflicts
    read(tmp_path)
    assert lake(tmp_path) == at_first


ROWS = st.lists(
    st.builds(
        said,
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from(["x", "y"]),
        st.sampled_from([DAY, NEXT]),
        processed=st.sampled_from([0, 1]),
        rating=st.sampled_from([1, 1, 1, 7]),
    ),
    max_size=4,
)


@pytest.mark.slow
@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(gone=ROWS, there=st.lists(ROWS, min_size=2, max_size=3), is_later=st.booleans())
@example(
    gone=[said("a"), said("a", "y")],
    there=[[said("a"), said("a", "y", NEXT)], [], [said("a", "y", NEXT)]],
    is_later=True,
)
@example(
    gone=[said("a", day=NEXT)], there=[[said("a", day=NEXT)], [said("a", "y", NEXT), said("a")], []], is_later=False
)
def test_a_missing_file_loses_nothing_whatever_the_other_one_does(
    tmp_path_factory: pytest.TempPathFactory, gone: list[Row], there: list[list[Row]], is_later: bool
) -> None:
    """What is published while it is missing depends on what it gave and on what is there now, not on the runs between;
    no row of it disappears; and when it is back, everything is as in a home that never ran without it."""
    home = tmp_path_factory.mktemp("home")
    missing, other = (fallback(home), main(home)) if is_later else (main(home), fallback(home))
    write(missing, gone)
    write(other, there[0])
    read(home)
    valid = {row["feedback_id"] for row in gone if row.get("rating") != 7}
    direct = shutil.copytree(home, home.with_name(f"{home.name} direct"))
    with unplugged(missing):
        for found in there[1:]:
            write(other, found)
            read(home)
            assert valid <= {row["feedback_id"] for row in rows(home)}
        (direct / missing.relative_to(home)).unlink()
        shutil.copy2(other, direct / other.relative_to(home))
        read(direct)
        assert told_of(home) == told_of(direct)
    read(home)
    fresh = shutil.copytree(home / "sources", home.with_name(f"{home.name} fresh") / "sources").parent
    read(fresh)
    assert lake(home) == lake(fresh)


@pytest.mark.parametrize("is_united", [True, False])
def test_tables_without_days_stay_too(tmp_path: Path, is_united: bool) -> None:
    """What `responses` of a missing file knew still makes feedback on it no orphan (F1), and meets the other file's (F3)."""
    for file, names in ((main(tmp_path), ("r1", "r2", "r3")), (fallback(tmp_path), ("r1", "r4"))):
        add_feedback(file, {"day": DAY, "feedback_id": f"{file.stem} 1", "response_id": names[-1]})
        change(file, "create table responses (response_id text, session_id text)")
        change(
            file,
            *(f"insert into responses values ('{name}', 's')" for name in names),
            "insert into responses values ('', '')",
        )
    spec = feedback.RESPONSES

    def responses() -> tuple[list[tuple[str, str]], list[str]]:
        with open_run(config.load(home=tmp_path, environ={}), LATE) as run:
            account = read_whole_table(
                run, RESPONSES, spec, schemas.RESPONSES, is_united, "", feedback.canonical_response
            )
            assert account.adds_up, account
            run.lake.commit()
        found = [(row["response_id"], row["source_file"]) for row in rows(tmp_path, RESPONSES)]
        return sorted(found), [row["source_file"] for row in rows(tmp_path, QUARANTINE)]

    assert responses()[1] == ["feedback.db", "feedback_fallback.db"]
    before = lake(tmp_path)
    with unplugged(main(tmp_path)):
        assert responses() and lake(tmp_path) == before
        change(
            fallback(tmp_path),
            "delete from responses where response_id = 'r1'",
            "insert into responses values ('r5', 's')",
        )
        own = [("r4", "feedback_fallback.db"), ("r5", "feedback_fallback.db")]
        assert responses() == (
            [*((name, "feedback.db") for name in ("r1", "r2", "r3")), *own],
            ["feedback.db", "feedback_fallback.db"],
        )
    after = responses()
    fresh = shutil.copytree(tmp_path / "sources", tmp_path / "fresh" / "sources").parent
    with open_run(config.load(home=fresh, environ={}), LATE) as run:
        read_whole_table(run, RESPONSES, spec, schemas.RESPONSES, is_united, "", feedback.canonical_response)
        run.lake.commit()
    assert after[0] and lake(tmp_path) == lake(fresh)


def test_feedback_on_a_response_only_the_missing_file_knew_is_no_orphan(tmp_path: Path) -> None:
    write(main(tmp_path), [said("a1", response_id="r1")])
    change(main(tmp_path), "create table responses (response_id text)", "insert into responses values ('r1'), ('r2')")
    write(fallback(tmp_path), [said("b1", response_id="r2"), said("b2", response_id="r9")])
    read(tmp_path)
    assert refused(tmp_path) == [("b2", "feedback_fallback.db", "orphan:response_id")]
    with unplugged(main(tmp_path)):
        write(
            fallback(tmp_path),
            [said("b1", response_id="r2"), said("b3", response_id="r1"), said("b2", response_id="r9")],
        )
        read(tmp_path)
        assert [name for name, _, _ in kept(tmp_path)] == ["a1", "b1", "b3"]
        assert refused(tmp_path) == [("b2", "feedback_fallback.db", "orphan:response_id")]


# --- the rules it was read with ----------------------------------------------------------------------------------


def test_rows_of_a_missing_file_are_not_judged_again(tmp_path: Path) -> None:
    """G12: other settings read again what can be read; when the file is back its rows are judged by them, too."""
    write(main(tmp_path), [said("a1", rating=-1), said("a2", day=NEXT, rating=5)])
    write(fallback(tmp_path), [said("b1", rating=-1), said("b2", rating=5)])
    read(tmp_path)
    thumbs, five = ["a1", "b1"], ["a2", "b2"]
    assert [name for name, _, _ in kept(tmp_path)] == thumbs
    with unplugged(main(tmp_path)):
        account = read(tmp_path, rating_scale="five").accounts[ENTRIES]
        assert [name for name, _, _ in kept(tmp_path)] == ["a1", "b2"]
        assert [row["rating_scale"] for row in rows(tmp_path)] == ["thumbs", "five"]
        assert account.days_read == [DAY, NEXT]
    read(tmp_path, rating_scale="five")
    assert [name for name, _, _ in kept(tmp_path)] == five
    fresh = shutil.copytree(tmp_path / "sources", tmp_path / "fresh" / "sources").parent
    read(fresh, rating_scale="five")
    assert lake(tmp_path) == lake(fresh)


def test_full_reads_what_there_is(tmp_path: Path) -> None:
    write(main(tmp_path), [said("a1"), said("a2", day=NEXT), said("a3", rating=7), said("copy")])
    write(fallback(tmp_path), [said("b1"), said("copy")])
    read(tmp_path)
    before = {name: data for name, data in lake(tmp_path).items() if name != "sources"}
    with unplugged(main(tmp_path)):
        read(tmp_path, Choice(as_of=LATE.as_of, full=True))
        assert {name: data for name, data in lake(tmp_path).items() if name != "sources"} == before


@pytest.mark.parametrize("day", [DAY, NEXT, None])
def test_damage_to_what_only_the_lake_has_ends_the_run(tmp_path: Path, day: date | None) -> None:
    """Rows of a missing file cannot be read again: one line, until it is there. Others are made again as always."""
    write(main(tmp_path), [said("a1"), said("a2", timestamp=None)])
    write(fallback(tmp_path), [said("b1"), said("b2", day=NEXT)])
    read(tmp_path)
    before = lake(tmp_path)
    partition = f"{ENTRIES}/event_date={day}" if day else f"{QUARANTINE}/{ENTRIES}/{NO_DAY}"
    os.truncate(tmp_path / "lake" / partition / "part-0.parquet", 100)
    with unplugged(main(tmp_path)):
        if day == NEXT:
            read(tmp_path)
            assert kept(tmp_path)[-1] == ("b2", "x", "feedback_fallback.db")
        else:
            with pytest.raises(
                GristmillError, match=f"{partition} of the lake is damaged and held rows of {main(tmp_path)}"
            ):
                read(tmp_path)
    read(tmp_path)
    assert lake(tmp_path) == before


# --- what is missing, and since when -----------------------------------------------------------------------------


def test_missing_since_the_first_publication_without_it(tmp_path: Path) -> None:
    """The run and `status` say it; back again it is not missing any more."""
    write(main(tmp_path), [said("a1")])
    write(fallback(tmp_path), [said("b1")])
    read(tmp_path)
    with unplugged(main(tmp_path)):
        first = read(tmp_path)
        add_feedback(fallback(tmp_path), said("b2"))
        second = read(tmp_path)
        line = (
            f"feedback: {main(tmp_path)} is missing since publication 2 (as of 2026-03-01 00:00 UTC); "
            "what was read from it stays as it was"
        )
        for run in (first, second):
            assert told(run.missing, run.lake.published) == [line]
        assert second.lake.published.publication == 3
        assert not any(found.is_alone for found in second.missing)
        assert status(config.load(home=tmp_path, environ={}))["missing"] == [line]
    assert read(tmp_path).lake.published.missing == {}


def test_what_waits_while_a_file_is_missing(tmp_path: Path) -> None:
    """G7: for the sensor and `status` only what is there can have changed."""
    write(main(tmp_path), [said("a1"), said("a2", day=NEXT)])
    write(fallback(tmp_path), [said("b1")])
    read(tmp_path)
    chosen = config.load(home=tmp_path, environ={})
    assert source_changes.changed_days(chosen, DATED_SPECS) == {}
    with unplugged(main(tmp_path)):
        assert source_changes.changed_days(config.load(home=tmp_path, environ={}), DATED_SPECS) == {}
        add_feedback(fallback(tmp_path), said("b2", day=NEXT))
        assert [*source_changes.changed_days(config.load(home=tmp_path, environ={}), DATED_SPECS)] == [NEXT]


def test_days_of_a_missing_file_count_for_as_of(tmp_path: Path) -> None:
    """G2: the end of the newest day any source holds, or the lake holds from a file that is missing."""
    write(main(tmp_path), [said("a1", day=NEXT + timedelta(days=3))])
    write(fallback(tmp_path), [said("b1")])
    end = datetime(2026, 1, 25, tzinfo=UTC)
    assert read(tmp_path, Choice()).as_of == end
    with unplugged(main(tmp_path)):
        assert read(tmp_path, Choice()).as_of == end


@pytest.mark.parametrize("how", ["link", "mount"])
def test_a_default_source_on_a_disk(tmp_path: Path, how: str) -> None:
    """A link whose target is gone, or a folder that is a mount point without its disk."""
    home, disk = tmp_path / "home", tmp_path / "disk"
    write(disk / "feedback.db", [said("a1")])
    if how == "link":
        (home / "sources").mkdir(parents=True)
        main(home).symlink_to(disk / "feedback.db")
    else:
        home.mkdir()
        (home / "sources").symlink_to(disk)
    read(home)
    disk.rename(tmp_path / "drawer")
    disk.mkdir()
    run = read(home)
    assert [str(found) for found in run.missing] == [
        f"feedback: {main(home)} is missing by now; what was read from it stays as it was"
    ]
    assert kept(home) == [("a1", "x", "feedback.db")]
    disk.rmdir()
    (tmp_path / "drawer").rename(disk)
    assert read(home).missing == []


def test_the_label_does_not_depend_on_which_files_are_there(tmp_path: Path) -> None:
    """Two files of one name in two folders, of which one is missing from the first."""
    home, names = tmp_path / "home", [tmp_path / disk / "feedback.db" for disk in ("one", "two")]
    write(names[1], [said("b1")])
    run = read(home, feedback=os.pathsep.join(map(str, names)))
    assert [(found.file.label, found.is_held, found.is_alone) for found in run.missing] == [
        (str(names[0]), False, False)
    ]
    assert str(run.missing[0]).endswith("nothing was ever read from it")
    write(names[0], [said("a1")])
    read(home, feedback=os.pathsep.join(map(str, names)))
    assert [(name, file) for name, _, file in kept(home)] == [("a1", str(names[0])), ("b1", str(names[1]))]


def test_nothing_to_read_and_nothing_to_keep(tmp_path: Path) -> None:
    """One line, and no home is made."""
    with pytest.raises(
        GristmillError, match="none of the configured sources is there, and nothing was ever read"
    ) as error:
        read(tmp_path / "home", feedback=str(tmp_path / "a.db"), sessions=str(tmp_path / "b.db"))
    assert str(error.value).endswith(f": {tmp_path / 'a.db'}, {tmp_path / 'b.db'}")
    assert not (tmp_path / "home").exists()


def test_a_default_source_nobody_ever_had_is_not_missing(tmp_path: Path) -> None:
    write(main(tmp_path), [said("a1")])
    assert read(tmp_path).missing == []


def test_a_system_that_is_taken_out_is_gone(tmp_path: Path) -> None:
    """`feedback = []`: its rows vanish like those of any source that was removed, whether or not its file is there."""
    write(main(tmp_path), [said("a1"), said("a2", rating=7)])
    write(fallback(tmp_path), [said("a1")])
    read(tmp_path)
    file = tmp_path / "gristmill.toml"
    file.write_text("feedback = []", encoding="utf-8")
    with unplugged(main(tmp_path)):
        read(tmp_path, config_file=file)
    assert rows(tmp_path) == rows(tmp_path, QUARANTINE) == []
    assert [name for name in lake(tmp_path) if name.startswith("intake__")] == []


def test_a_file_we_may_not_look_at_is_no_missing_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Permission denied is an error that names it: nobody unplugged it."""
    write(main(tmp_path), [said("a1")])

    def stat(path: Path, **_: Any) -> os.stat_result:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "stat", stat)
    assert is_there(main(tmp_path))


@pytest.mark.parametrize("code", [errno.ENOENT, errno.ENOTCONN, errno.EIO, errno.ESTALE])
def test_a_disk_that_does_not_answer_is_missing(code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stat(path: Path, **_: Any) -> os.stat_result:
        raise OSError(code, os.strerror(code), str(path))

    monkeypatch.setattr(Path, "stat", stat)
    assert not is_there(tmp_path)
