"""`gristmill query` answers, and can neither write nor look outside the home."""

import csv
import io
import json
import os
from pathlib import Path

import pytest

from dagster_project import config
from dagster_project.errors import GristmillError
from dagster_project.lookups.warehouse_query import MOST_TABLE_ROWS, answer, as_text
from tests.conftest import complaint, content, copy_home, gristmill

WRITES = [
    "create table stolen as select 1 as a",
    "create view stolen as select 1 as a",
    "create temp table stolen as select 1 as a",
    "insert into metric__feedback_stats select * from metric__feedback_stats",
    "update metric__feedback_stats set total_feedback = 0",
    "delete from metric__feedback_stats",
    "drop table metric__feedback_stats",
    "copy (select 1 as a) to '{home}/stolen.csv'",
    "copy metric__feedback_stats to '{home}/lake/stolen.parquet'",
    "explain analyze copy (select 1 as a) to '{home}/stolen.csv'",
    "explain analyze insert into metric__feedback_stats select * from metric__feedback_stats",
    "explain select 1",
    "explain analyze select 1",
    "export database '{home}/stolen'",
    "attach '{home}/stolen.duckdb'",
    "attach ':memory:' as other",
    "detach warehouse",
    "use memory",
    "set threads = 1",
    "set enable_external_access = true",
    "reset allowed_directories",
    "pragma enable_external_access = true",
    "checkpoint",
    "vacuum",
    "call pragma_version(); drop table metric__feedback_stats",
    "install spatial",
    "load spatial",
    "load '{home}/stolen.duckdb_extension'",
    "select 1; select 2",
    "select 1; drop table metric__feedback_stats",
    "begin",
    "",
    "-- nothing",
]
OUTSIDE = [
    "select * from read_text('/etc/passwd')",
    "select * from read_blob('/etc/passwd')",
    "select * from read_csv('/etc/passwd')",
    "select * from read_json('/etc/passwd')",
    "select * from read_parquet('/etc/passwd')",
    "select * from '/etc/passwd'",
    "select * from '{outside}'",
    "select * from read_csv('{outside}')",
    "select * from read_csv('{home}/../outside.csv')",
    "select * from read_csv('{home}/lake/../../outside.csv')",
    "select * from read_csv('file://{outside}')",
    "select * from glob('/etc/*')",
    "select * from glob('{home}/../*')",
    "select (select content from read_text('/etc/passwd')) as stolen",
    "explain analyze select * from read_text('/etc/passwd')",
    "select * from read_csv('https://example.org/a.csv')",
    "select * from sqlite_scan('/etc/passwd', 'a')",
]


@pytest.fixture(scope="module")
def settings(published_home: Path, tmp_path_factory: pytest.TempPathFactory) -> config.Config:
    """A home of this worker process alone: a leak elsewhere must not show here."""
    home = copy_home(published_home, tmp_path_factory.mktemp("query") / "home")
    return config.load(home=home, environ={})


def shown(settings: config.Config, sql: str, form: str = "csv", seconds: float = 60.0) -> str:
    with answer(settings, sql, seconds) as found:
        return "".join(as_text(found, form))


@pytest.mark.parametrize("sql", WRITES)
def test_cannot_write(settings: config.Config, sql: str) -> None:
    before = content(settings.home)
    with pytest.raises(GristmillError) as refused:
        shown(settings, sql.format(home=settings.home))
    assert "\n" not in str(refused.value)
    after = content(settings.home)
    for path in after.keys() - before.keys():
        (settings.home / path).unlink()  # one leak must not fail the other cases
    assert after == before


@pytest.mark.parametrize("sql", OUTSIDE)
def test_cannot_look_outside_the_home(settings: config.Config, sql: str) -> None:
    outside = settings.home.parent / "outside.csv"
    outside.write_text("a\n1\n", encoding="utf-8")
    with pytest.raises(GristmillError) as refused:
        shown(settings, sql.format(home=settings.home, outside=outside))
    assert "\n" not in str(refused.value)


def test_python_variables_are_no_tables(settings: config.Config) -> None:
    for name in ("config", "sql", "connection", "statements", "pl"):
        with pytest.raises(GristmillError, match="does not exist"):
            shown(settings, f"select * from {name}")


def test_the_home_can_be_read(settings: config.Config) -> None:
    (row,) = json.loads(shown(settings, f"select count(*) as n from glob('{settings.home}/lake/**/*.parquet')", "json"))
    assert row["n"] > 0


NESTED = (
    "select 'é☃ \"x\",y' as text, null::integer as nothing, [1, null, 3] as list, {'a': [1, 2], 'b': null::varchar} as "
    "struct, true as yes, date '2026-01-31' as day, timestamptz '2026-01-31 12:00:00+00' as at, 0.5::double as half"
)


def test_json(published_home: Path) -> None:
    done = gristmill(published_home, "query", NESTED, "--format", "json")
    assert done.returncode == 0, done.stderr
    assert "é☃" in done.stdout
    assert json.loads(done.stdout) == [
        {
            "text": 'é☃ "x",y',
            "nothing": None,
            "list": [1, None, 3],
            "struct": {"a": [1, 2], "b": None},
            "yes": True,
            "day": "2026-01-31",
            "at": "2026-01-31 12:00:00+00:00",
            "half": 0.5,
        }
    ]


def test_csv(published_home: Path) -> None:
    done = gristmill(published_home, "query", NESTED, "--format", "csv")
    assert done.returncode == 0, done.stderr
    (row,) = csv.DictReader(io.StringIO(done.stdout))
    assert (row["text"], row["nothing"], row["yes"], row["day"]) == ('é☃ "x",y', "", "true", "2026-01-31")
    assert json.loads(row["list"]) == [1, None, 3]
    assert json.loads(row["struct"]) == {"a": [1, 2], "b": None}


def test_table_shows_every_row_and_column(published_home: Path) -> None:
    done = gristmill(published_home, "query", "select i as number, 'é☃' as word, [i] as list from range(200) r(i)")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("é☃") == 200
    assert "199" in done.stdout
    assert done.stdout.rstrip().endswith("200 rows")


def test_json_is_json_whatever_the_numbers(settings: config.Config) -> None:
    numbers = "select 'nan'::double as a, 'inf'::double as b, 170141183460469231731::hugeint as c"

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    (row,) = json.loads(shown(settings, numbers, "json"), parse_constant=refuse)
    assert row["a"] is None
    assert int(row["c"]) == 170141183460469231731


@pytest.mark.parametrize(
    "sql",
    [
        "select sum(rating) as total, count(*) as n from core__feedback",
        "select interval 3 day as span, time '10:00' as clock, 1.25::decimal(9, 2) as price, 'a'::blob as bytes",
        "select 1 as a, 2 as a",
        "select * from core__feedback where false",
        "select map {'k': 1} as m, uuid() as id",
        "describe core__feedback",
        "show tables",
    ],
)
@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_every_type_can_be_shown(settings: config.Config, sql: str, form: str) -> None:
    assert shown(settings, sql, form)


def test_a_sum_is_a_number_in_json(settings: config.Config) -> None:
    (row,) = json.loads(shown(settings, "select sum(1) as total from range(5)", "json"))
    assert row == {"total": 5}


@pytest.mark.parametrize("sql", ["select nope", "selec 1", "drop table core__responses"])
def test_errors_are_one_line(published_home: Path, sql: str) -> None:
    complaint(gristmill(published_home, "query", sql))


def test_wrong_format_and_no_warehouse(published_home: Path, tmp_path: Path) -> None:
    assert "xml" in complaint(gristmill(published_home, "query", "select 1", "--format", "xml"))
    assert "run" in complaint(gristmill(tmp_path / "nothing", "query", "select 1"))
    assert not os.path.lexists(tmp_path / "nothing")


# --- limits ------------------------------------------------------------------------------------------------------


def test_a_question_that_takes_too_long_is_one_line(published_home: Path) -> None:
    endless = "select count(*) from range(100000000) a, range(100000000) b where (a.range * b.range) % 7 = 3"
    line = complaint(gristmill(published_home, "query", endless, "--timeout", "0.5"))
    assert "longer than 0.5 seconds" in line
    assert "--timeout" in line


def test_time_is_counted_while_rows_are_fetched_too(settings: config.Config) -> None:
    endless = "select a.range from range(100000000) a, range(100000000) b where (a.range * b.range) % 1000003 = 3"
    with pytest.raises(GristmillError, match="longer than"):
        shown(settings, endless, "csv", seconds=0.5)


def test_a_question_that_needs_too_much_memory_is_one_line(settings: config.Config) -> None:
    with pytest.raises(GristmillError, match="more than 1000 MB"):
        shown(settings, "select list(range || 'a long text that fills memory') from range(60000000)")


def test_a_long_answer_comes_whole_but_for_a_table(settings: config.Config) -> None:
    """A table is for a person; who wants all takes csv or json, which come in pieces."""
    rows = MOST_TABLE_ROWS + 5_000
    sql = f"select range as n from range({rows})"
    assert shown(settings, sql, "csv").count("\n") == rows + 1
    assert [row["n"] for row in json.loads(shown(settings, sql, "json"))] == list(range(rows))
    told = shown(settings, sql, "table").splitlines()
    assert told[-1] == f"the first {MOST_TABLE_ROWS} rows; --format csv or json gives all"
    assert json.loads(shown(settings, "select 1 as a where false", "json")) == []
