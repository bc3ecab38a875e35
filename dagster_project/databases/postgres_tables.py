"""What a Postgres schema has of a table we expect: its columns with their types, and what a row is found again by."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dagster_project.contracts.source_table import TableSpec
from dagster_project.databases.postgres_values import WHOLE, Column, Reading, day_number, family, literal, reading
from dagster_project.databases.sqlite_values import TableShape, quoted
from dagster_project.errors import GristmillError

LAST_BLOCK = 2**32 - 1
COLUMNS = """
with recursive resolved(attnum, type) as (
    select attnum, atttypid from pg_attribute where attrelid = {oid} and attnum > 0 and not attisdropped
    union all
    select r.attnum, t.typbasetype from resolved r join pg_type t on t.oid = r.type where t.typtype = 'd'
)
select a.attname::text as name, format_type(a.atttypid, a.atttypmod) as declared, a.attnotnull as is_required,
    t.typname::text as type_name, t.typtype::text as type_kind, t.typcategory::text as category,
    a.attnum::int8 as place
from resolved r join pg_type t on t.oid = r.type and t.typtype <> 'd'
join pg_attribute a on a.attrelid = {oid} and a.attnum = r.attnum
order by a.attnum
"""
UNIQUE_COLUMNS = """
select indkey[0]::int8 as place, indisprimary as is_primary from pg_index
where indrelid = {oid} and indisunique and indisvalid and indimmediate and indnkeyatts = 1 and indpred is null
    and indexprs is null
order by indisprimary desc
"""


@dataclass(frozen=True)
class RowId:
    """What `source_rowid` is in a table: an integer key, or the row's place (block * 65536 + line)."""

    key: Column | None

    @property
    def sql(self) -> str:
        return f"{self.key.sql}::int8" if self.key else "('x' || encode(tidsend(ctid), 'hex'))::bit(48)::int8"

    def among(self, rowids: Sequence[int]) -> str:
        if self.key:
            return f"{self.key.sql} = any('{{{','.join(str(rowid) for rowid in rowids)}}}'::int8[])"
        places = ",".join(f'"{_place(rowid)}"' for rowid in rowids if 0 <= rowid >> 16 <= LAST_BLOCK)
        return f"ctid = any('{{{places}}}'::tid[])"

    def between(self, lowest: int, highest: int) -> str:
        if self.key:
            return f"{self.key.sql} between ({lowest})::int8 and ({highest})::int8"
        return f"ctid >= '{_place(lowest)}'::tid and ctid <= '{_place(highest)}'::tid"


def _place(rowid: int) -> str:
    return f"({rowid >> 16},{rowid & 0xFFFF})"


@dataclass(frozen=True)
class Table:
    """One table as it is."""

    source: str  # as it stands after `from`, with its schema
    columns: Sequence[Column]  # all but those left behind, as they are stored
    known: Mapping[str, Column]  # expected column -> the table's
    shape: TableShape
    rowid: RowId
    readings: Mapping[str, Reading] = field(default_factory=dict)
    day: str | None = None  # SQL; None where only we can say what day a row is of

    def column(self, name: str | None) -> Column | None:
        return self.known.get(name) if name else None


def look_up(
    spec: TableSpec, schema: str, name: str, label: str, has_raw_text: bool, rows: Callable[[str], list[dict[str, Any]]]
) -> Table:
    """Everything a read of the table depends on. A missing required column ends the run (G5)."""
    source = f"{quoted(schema)}.{quoted(name)}"
    where = f"relnamespace = (select oid from pg_namespace where nspname = {literal(schema)})"
    (relation,) = rows(
        f"select oid::int8 as oid, relkind::text as kind, exists(select 1 from pg_inherits where inhparent = c.oid) "
        f"as has_children from pg_class c where relname = {literal(name)} and {where}"
    )
    found = rows(COLUMNS.format(oid=relation["oid"]))
    every = [Column(r["name"], r["declared"], family(r["type_name"], r["type_kind"], r["category"])) for r in found]
    by_name: dict[str, Column] = {}
    for column in every:  # where two differ in case only, ours is the one in lower case
        if column.name.lower() not in by_name or column.name == column.name.lower():
            by_name[column.name.lower()] = column
    missing = tuple(column for column in spec.columns if column not in by_name)
    for column in spec.required:
        if column in missing:
            raise GristmillError(f"{label}: table {spec.name!r} has no column {column!r}")
    known = {column: by_name[column] for column in spec.columns if column in by_name}
    chosen = {by_name[column].name for column in {*spec.columns, *spec.left_behind} if column in by_name}
    unknown = tuple(column.name for column in every if column.name not in chosen)
    left_behind = {by_name[column].name for column in spec.left_behind if column in by_name}
    unique = rows(UNIQUE_COLUMNS.format(oid=relation["oid"]))
    rowid = _rowid(found, every, unique, relation, source, f"{label}: table {spec.name!r}", rows)
    return Table(
        source=source,
        columns=[column for column in every if column.name not in left_behind],
        known=known,
        shape=TableShape({name: column.declared for name, column in known.items()}, missing, unknown, rowid.sql),
        rowid=rowid,
        readings={
            name: reading(column, spec.columns[name], name == spec.event_time, has_raw_text)
            for name, column in known.items()
        },
        day=day_number(known.get(spec.event_time or ""), spec.columns.get(spec.event_time or "")),
    )


def _rowid(
    found: Sequence[Mapping[str, Any]],
    columns: Sequence[Column],
    unique: Sequence[Mapping[str, Any]],
    relation: Mapping[str, Any],
    source: str,
    label: str,
    rows: Callable[[str], list[dict[str, Any]]],
) -> RowId:
    by_place = {row["place"]: (column, row) for row, column in zip(found, columns, strict=True)}
    is_plain = relation["kind"] == "r" and not relation["has_children"]
    is_inherited = relation["kind"] == "r" and relation["has_children"]  # its keys are not those of its children
    for index in [] if is_inherited else unique:
        column, row = by_place.get(index["place"], (None, {}))
        if column and column.family in WHOLE and row["is_required"] and (index["is_primary"] or column.name == "id"):
            return RowId(column)
    if is_plain:
        return RowId(None)
    for column in columns:  # a view or a partitioned table cannot promise that its ids are unique: count them
        if column.name == "id" and column.family in WHOLE:
            (counted,) = rows(f"select count(*) = count(distinct id) as is_key from {source}")
            if counted["is_key"]:
                return RowId(column)
    what = "inherited" if is_inherited else {"p": "partitioned", "f": "foreign"}.get(relation["kind"], "a view")
    raise GristmillError(f"{label} is {what} and has no integer key `id`: its rows cannot be told apart")
