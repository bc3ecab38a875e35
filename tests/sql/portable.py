"""The portable subset of SQL, as a lint over sqlglot's tree: `python -m tests.sql.portable` prints a line for every offence.

The queries of sql/ are written for DuckDB and shall give the same rows on Spark and Sail. What is forbidden here did not run
there, did not scale, or ran with other rows. What a later layer rewrites node by node is allowed: `epoch_us(x)`, bound
parameters (`$x`), lambdas, decimal literals. That a file passes does not prove equal rows: only comparing them does.
"""

import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dagster_project.engines.sql_functions import expanded

SQL_FOLDER = Path(__file__).parents[2] / "sql"
UNSIGNED = {
    exp.DataType.Type.UTINYINT,
    exp.DataType.Type.USMALLINT,
    exp.DataType.Type.UINT,
    exp.DataType.Type.UBIGINT,
    exp.DataType.Type.UINT128,
}
HUGE = {exp.DataType.Type.INT128, exp.DataType.Type.INT256}
ENGINE_HASHES = {"hash", "md5_number", "md5_number_lower", "md5_number_upper"}
RANKINGS = (exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile)
RANGES = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NEQ, exp.Between)
NESTED = (exp.MapFromEntries, exp.Map, exp.VarMap, exp.ToMap, exp.Struct, exp.Array)


class Offence(NamedTuple):
    line: int
    rule: str


def _is_unsigned(node: exp.Expr) -> bool:
    return isinstance(node, exp.DataType) and node.this in UNSIGNED


def _is_huge(node: exp.Expr) -> bool:
    return isinstance(node, exp.DataType) and node.this in HUGE


def _is_engine_hash(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.lower() in ENGINE_HASHES


def _is_ordered_aggregate(node: exp.Expr) -> bool:
    return isinstance(node, exp.Order) and isinstance(node.parent, exp.Func)


def _is_json_of_text(node: exp.Expr) -> bool:
    if isinstance(node, exp.Anonymous) and node.name.lower() == "to_json":
        return not isinstance(node.expressions[0], NESTED)
    return isinstance(node, exp.DataType) and node.this == exp.DataType.Type.JSON


def _is_open_division(node: exp.Expr) -> bool:
    """The denominator is neither a number nor `nullif(..., 0)`."""
    if not isinstance(node, (exp.Div, exp.IntDiv, exp.Mod)):
        return False
    below = node.expression
    while isinstance(below, (exp.Paren, exp.Cast, exp.Neg)):
        below = below.this
    if isinstance(below, exp.Nullif):
        return not (below.expression.is_number and float(below.expression.name) == 0)
    return not (below.is_number and float(below.name) != 0)


def _is_unnamed_group(node: exp.Expr) -> bool:
    return isinstance(node, exp.Group) and (
        bool(node.args.get("all")) or any(one.is_number for one in node.expressions)
    )


def _is_tuple_in_query(node: exp.Expr) -> bool:
    return isinstance(node, exp.In) and bool(node.args.get("query")) and isinstance(node.this.unnest(), exp.Tuple)


def _is_not_in_query(node: exp.Expr) -> bool:
    return (
        isinstance(node, exp.Not) and isinstance(found := node.this.unnest(), exp.In) and bool(found.args.get("query"))
    )


def _is_correlated_range(node: exp.Expr) -> bool:
    """A query within an expression that compares an outer column otherwise than by `=`."""
    if not isinstance(node, exp.Select) or not _is_in_expression(node):
        return False
    known = {source.alias_or_name for source in node.find_all(exp.Table, exp.Subquery)}
    return any(
        column.table and column.table not in known
        for comparison in node.find_all(*RANGES)
        for column in comparison.find_all(exp.Column)
    )


def _is_in_expression(query: exp.Select) -> bool:
    around = query.parent
    while isinstance(around, (exp.Subquery, exp.SetOperation, exp.Paren)):
        around = around.parent
    return around is not None and not isinstance(around, (exp.From, exp.Join, exp.CTE, exp.Lateral))


def _is_pivot(node: exp.Expr) -> bool:
    return isinstance(node, exp.Pivot)


def _is_filtered_window(node: exp.Expr) -> bool:
    return isinstance(node, exp.Window) and isinstance(node.this, exp.Filter)


def _is_star_beside_qualify(node: exp.Expr) -> bool:
    return isinstance(node, exp.Select) and bool(node.args.get("qualify")) and node.is_star


def _is_global_rank(node: exp.Expr) -> bool:
    """One order over all rows, which one worker has to make, unless only its first rows are wanted."""
    if not isinstance(node, exp.Window) or not isinstance(node.this, RANKINGS):
        return False
    query = node.find_ancestor(exp.Select)
    named = {window.name: window for window in (query.args.get("windows") or [])} if query else {}
    if (named.get(node.alias) or node).args.get("partition_by"):
        return False
    is_first_few = bool(node.find_ancestor(exp.Qualify)) and isinstance(node.parent, (exp.EQ, exp.LT, exp.LTE))
    return not is_first_few and not (query and query.args.get("limit"))


def _says_materialized(node: exp.Expr) -> bool:
    return isinstance(node, exp.CTE) and node.args.get("materialized") is not None


def _is_overlap(node: exp.Expr) -> bool:
    return isinstance(node, (exp.ArrayOverlaps, exp.ArrayContainsAll, exp.ArrayContainedBy))


def _is_escape_string(node: exp.Expr) -> bool:
    return isinstance(node, exp.ByteString)


def _is_star_of_a_table(node: exp.Expr) -> bool:
    """`*` or `t.*` from a table, not from a step of the query."""
    if not isinstance(node, exp.Select):
        return False
    steps = {step.alias for step in node.root().find_all(exp.CTE)}
    sources = [node.args.get("from_"), *(node.args.get("joins") or [])]
    tables = {s.this.alias_or_name for s in sources if s and isinstance(s.this, exp.Table) and s.this.name not in steps}
    stars = (one for one in node.expressions if one.is_star and not isinstance(one, exp.Func))
    return any((one.table in tables) if isinstance(one, exp.Column) else bool(tables) for one in stars)


def _is_no_query(node: exp.Expr) -> bool:
    return node.parent is None and not isinstance(node, exp.Query)


RULES: dict[str, Callable[[exp.Expr], bool]] = {
    "one select a file: no DDL, no copy": _is_no_query,
    "keys are signed: no unsigned types": _is_unsigned,
    "no hugeint: decimal(38, 0), or show that a bigint is enough": _is_huge,
    "no hash of the engine's: each engine has another": _is_engine_hash,
    "no order by inside an aggregate: qualify row_number(), or sort a list of structs": _is_ordered_aggregate,
    "no to_json of a bare text, no cast to json: to_json of a map or a struct": _is_json_of_text,
    "every division is by a number or by nullif(..., 0)": _is_open_division,
    "group by names its columns": _is_unnamed_group,
    "no tuple in (select ...): join": _is_tuple_in_query,
    "no not in (select ...): anti join": _is_not_in_query,
    "no correlated subquery with a range: join": _is_correlated_range,
    "no pivot or unpivot: unnest a list of structs": _is_pivot,
    "no filter ... over: count(if(..., 1, null)) over": _is_filtered_window,
    "no * beside qualify: name the columns": _is_star_beside_qualify,
    "no rank over all rows: partition it, in two steps, or keep the first few": _is_global_rank,
    "no materialized, no not materialized": _says_materialized,
    "no list_has_any, no list_has_all: list_contains": _is_overlap,
    "no e'...' strings: chr(n)": _is_escape_string,
    "no select * from a table": _is_star_of_a_table,
}
NO_LEN = "no len: array_length of a list, length of a text"
UNREADABLE = "cannot be read"


def offences(sql: str) -> list[Offence]:
    """What is not portable in the text of a query, in the order of its lines."""
    try:
        trees = sqlglot.parse(sql, read="duckdb")
        tokens = sqlglot.tokenize(sql, read="duckdb")
    except SqlglotError as error:
        return [Offence(1, f"{UNREADABLE}: {str(error).splitlines()[0]}")]
    found = {Offence(_line(sql, _start(node)), rule) for tree in trees if tree for node, rule in _offending(tree)}
    # `len` and `length` are one node in the tree
    found |= {
        Offence(_line(sql, word.start), NO_LEN)
        for word, sign in pairwise(tokens)
        if word.text.lower() == "len" and sign.text == "("
    }
    if len(trees) != 1:
        found.add(Offence(1, next(iter(RULES))))
    return sorted(found)


def _offending(tree: exp.Expr) -> Iterator[tuple[exp.Expr, str]]:
    for node in tree.walk():
        for rule, is_offence in RULES.items():
            if is_offence(node):
                yield node, rule


def _start(node: exp.Expr) -> int:
    """Of the first name in it, else of what it is in: only names know where they are."""
    here: exp.Expr | None = node
    while here is not None:
        if starts := [one.meta["start"] for one in here.walk() if "start" in one.meta]:
            return min(starts)
        here = here.parent
    return 0


def _line(sql: str, start: int) -> int:
    return sql.count("\n", 0, start) + 1  # sqlglot's own line numbers run ahead after comments


def main() -> int:
    count = 0
    for path in sorted(path for path in SQL_FOLDER.glob("*/*.sql") if path.parent.name != "examples"):
        for offence in offences(expanded(path.read_text(encoding="utf-8"))):
            print(f"{path.relative_to(SQL_FOLDER.parent)}:{offence.line} {offence.rule}")
            count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
