"""The lint of the portable subset: what it finds, what it lets pass, and that every query is in it."""

from pathlib import Path

import pytest

from tests.sql import portable
from tests.sql.portable import NO_LEN, RULES, offences

FILES = sorted(portable.SQL_FOLDER.glob("*/*.sql"))
# rule -> what breaks it, and what says the same within it
SNIPPETS = {
    "one select a file: no DDL, no copy": ("copy t to 'x.parquet'", "select a from t union all select b from u"),
    "keys are signed: no unsigned types": ("select a::ubigint as key from t", "select a::bigint as key from t"),
    "no hugeint: decimal(38, 0), or show that a bigint is enough": (
        "select sum(a::hugeint) as a from t",
        "select sum(a::decimal(38, 0)) as a from t",
    ),
    "no hash of the engine's: each engine has another": (
        "select hash(a, b) as id from t",
        "select md5(a) as id from t",
    ),
    "no order by inside an aggregate: qualify row_number(), or sort a list of structs": (
        "select list(a order by b) as a from t group by c",
        "select list_sort(list({b: b, a: a})) as a from t group by c",
    ),
    "no to_json of a bare text, no cast to json: to_json of a map or a struct": (
        "select to_json(a) as a from t",
        "select to_json(map_from_entries(a)) as a from t",
    ),
    "every division is by a number or by nullif(..., 0)": (
        "select a // b as a from t",
        "select a // nullif(b, 0) / 1e6 as a from t",
    ),
    "group by names its columns": (
        "select a, count(*) as n from t group by all",
        "select a, count(*) as n from t group by a",
    ),
    "no tuple in (select ...): join": (
        "select a from t where (a, b) in (select (a, b) from u)",
        "select a from t semi join u using (a, b)",
    ),
    "no not in (select ...): anti join": (
        "select a from t where a not in (select a from u)",
        "select a from t anti join u using (a) where a not in ('x', 'y')",
    ),
    "no correlated subquery with a range: join": (
        "select (select sum(u.n) from u where u.a = t.a and u.b < t.b) as n from t",
        "select (select sum(u.n) from u where u.a = t.a and u.b < 5) as n from t",
    ),
    "no pivot or unpivot: unnest a list of structs": (
        "with long as (unpivot t on a, b into name n value v) select n, v from long",
        "select unnest([{n: 'a', v: a}, {n: 'b', v: b}]) as pair from t",
    ),
    "no filter ... over: count(if(..., 1, null)) over": (
        "select count(*) filter (where a) over (partition by b) as n from t",
        "select count(if(a, 1, null)) over (partition by b) as n, count(*) filter (where a) as m from t",
    ),
    "no * beside qualify: name the columns": (
        "with t as (select a, b from u) select t.* from t qualify row_number() over (partition by a order by b) = 1",
        "with t as (select a, b from u) select a, b from t qualify row_number() over (partition by a order by b) = 1",
    ),
    "no rank over all rows: partition it, in two steps, or keep the first few": (
        "select row_number() over best as rank from t window best as (order by a desc)",
        "select row_number() over best as rank from t window best as (partition by b order by a desc)",
    ),
    "no materialized, no not materialized": (
        "with t as not materialized (select a from u) select a from t",
        "with t as (select a from u) select a from t",
    ),
    "no list_has_any, no list_has_all: list_contains": (
        "select list_has_any(a, ['x']) as a from t",
        "select list_contains(a, 'x') as a from t",
    ),
    "no e'...' strings: chr(n)": (r"select trim(a, e' \t') as a from t", "select trim(a, ' ' || chr(9)) as a from t"),
    "no select * from a table": (
        "with u as (select a from v) select t.* from t left join u using (a)",
        "with u as (select a from v) select u.*, count(*) over (partition by t.a) as n from t left join u using (a)",
    ),
    NO_LEN: ("select len(a) as n from t", "select array_length(a) as n, length(b) as m from t"),
}
TWO_OFFENCES = """-- what

-- and why
with t as (
    select a, b from u
)

select
    -- how much
    a / b as c,
    len(a) as n
from t
"""


def rules_of(sql: str) -> set[str]:
    return {offence.rule for offence in offences(sql)}


def test_every_rule_has_its_snippets() -> None:
    assert set(SNIPPETS) == {*RULES, NO_LEN}


@pytest.mark.parametrize("rule", SNIPPETS)
def test_finds_what_breaks_a_rule_and_nothing_else(rule: str) -> None:
    offending, fine = SNIPPETS[rule]
    assert rules_of(offending) == {rule}
    assert rules_of(fine) == set()


@pytest.mark.parametrize(
    "sql",
    [
        "select a from t group by 1",
        "select a / (1 + b) as a from t",
        "select a / 0 as a from t",
        "select a % b as a from t",
        "select a / nullif(b, 1) as a from t",
        "select $shares::json as shares",
        "select first(a order by b) filter (where c) as a from t",
        "select string_agg(a, ',' order by b) as a from t",
        "select * from t",
        "select a from t where not (a in (select a from u))",
        "select a from t where exists (select 1 from u where u.a between t.a and t.b)",
        "select rank() over (order by a) as place from t",
        "select a from t; select b from t",
        "create table t as select 1 as a",
        "select a::uinteger as a, b[] from t",
        "select from where",
    ],
)
def test_finds_other_ways_to_say_it(sql: str) -> None:
    assert len(offences(sql)) >= 1


@pytest.mark.parametrize(
    "sql",
    [
        "select row_number() over (order by a) as place from t limit 10",
        "select a from t qualify row_number() over (order by a) <= 10",
        "select epoch_us($as_of) / -1e6 as a, b / 100.0::double as b",
        "with t as (select a from u) select *, a + 1 as b from t",
    ],
)
def test_lets_pass_what_is_limited_or_rewritten_later(sql: str) -> None:
    assert offences(sql) == []


def test_says_file_line_and_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sql" / "core").mkdir(parents=True)
    (tmp_path / "sql" / "core" / "core__x.sql").write_text(TWO_OFFENCES, encoding="utf-8")
    monkeypatch.setattr(portable, "SQL_FOLDER", tmp_path / "sql")
    assert portable.main() == 1
    assert capsys.readouterr().out.splitlines() == [
        "sql/core/core__x.sql:10 every division is by a number or by nullif(..., 0)",
        f"sql/core/core__x.sql:11 {NO_LEN}",
    ]


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_every_query_is_portable(path: Path) -> None:
    assert offences(path.read_text(encoding="utf-8")) == []
