"""A Postgres schema as a source: typed frames from one read-only transaction, in the shape `sqlite.py` gives them (G5).

Everything is read in one repeatable-read transaction through cursors, so that rows can be looked up while a table is
streaming and all of it is one state of the database. The search path is never trusted: every table is named with its
schema. No message carries a password, whatever libpq says.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import timedelta
from types import TracebackType

import polars as pl

from dagster_project.columns.instants import EPOCH, day_numbers, epoch_seconds
from dagster_project.contracts.source_table import TableSpec
from dagster_project.databases.fingerprint_cache import FingerprintCache, Fingerprints
from dagster_project.databases.postgres_connection import PostgresConnection
from dagster_project.databases.postgres_tables import Table, look_up
from dagster_project.databases.postgres_values import decoded, json_object, json_value, literal
from dagster_project.databases.source_database import BUSY_TIMEOUT_SECONDS
from dagster_project.databases.sqlite_values import FEW_COLUMNS, TableShape, batched, decode_or_mark
from dagster_project.errors import GristmillError

SCAN_BATCH_ROWS = 65_536
DIGEST_SIZE = 2**61
DEFAULT_SCHEMA = "public"
EMPTY_LOOK = pl.DataFrame(schema=dict.fromkeys(("day", "rows", "lowest", "highest", "digest"), pl.Int64))


class PostgresDatabase:
    """One schema of a Postgres database inside one read-only transaction (G4)."""

    def __init__(self, uri: str, schema: str | None = None, busy_timeout_seconds: float = BUSY_TIMEOUT_SECONDS) -> None:
        self.schema = schema or DEFAULT_SCHEMA
        self.identity: list[int] = []  # nothing tells from outside whether a database changed
        self._tables: dict[str, Table] = {}
        self._undated: dict[str, list[int]] = {}
        self._connection = PostgresConnection(uri, busy_timeout_seconds)
        self.path = self._connection.path
        try:
            self._names = self._table_names()
        except BaseException:
            self.close()
            raise
        self.tables = set(self._names)

    def _table_names(self) -> dict[str, str]:
        """The schema's tables by their names in lower case. Where two differ in case only, ours is the one in lower case."""
        schemas = self._connection.rows(
            "select oid::int8 as oid, has_schema_privilege(oid, 'usage') as is_open from pg_namespace "
            f"where nspname = {literal(self.schema)}"
        )
        if not schemas:
            raise GristmillError(f"source {self.path} has no schema {self.schema!r}")
        if not schemas[0]["is_open"]:
            raise GristmillError(f"source {self.path} does not let this user into schema {self.schema!r}")
        found = self._connection.rows(
            "select relname::text as name from pg_class where relkind in ('r', 'p', 'v', 'm', 'f') "
            f"and relnamespace = {schemas[0]['oid']} order by relname"
        )
        names: dict[str, str] = {}
        for name in (row["name"] for row in found):
            if name.lower() not in names or name == name.lower():
                names[name.lower()] = name
        return names

    def __enter__(self) -> "PostgresDatabase":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the read transaction. May be called twice."""
        self._connection.close()

    def shape(self, spec: TableSpec) -> TableShape:
        """The table's columns against the expected ones. A missing table or required column ends the run (G5)."""
        return self._table(spec).shape

    def _table(self, spec: TableSpec) -> Table:
        if _key(spec) not in self._tables:
            if spec.name not in self.tables:
                raise GristmillError(f"{self.path} has no table {spec.name!r} in schema {self.schema!r}")
            self._tables[_key(spec)] = look_up(
                spec,
                self.schema,
                self._names[spec.name],
                self.path,
                self._connection.has_raw_text,
                self._connection.rows,
            )
        return self._tables[_key(spec)]

    # --- what changed (G7) ---------------------------------------------------------------------------------------

    def fingerprints(self, spec: TableSpec) -> pl.DataFrame:
        """Per day (null = no valid event time): rows, lowest and highest rowid, and a hash of what is edited in place."""
        table = self._table(spec)
        parts = [table.rowid.key.sql if table.rowid.key else "ctid"]
        parts += [column.sql for column in map(table.column, spec.edited) if column]
        parts += [f"octet_length({column.sql}::text)" for column in map(table.column, spec.measured) if column]
        # a record's text is unambiguous: null, an empty text and a comma are told apart
        digest = f'hashtextextended(row({", ".join(parts)})::text collate "C", 0) as digest'
        if table.day is None:
            return self._fingerprints_of_texts(spec, table, digest)
        query = (
            "select day, count(*)::int8 as rows, min(rowid) as lowest, max(rowid) as highest, "
            f"mod(sum(digest), {DIGEST_SIZE})::int8 as digest from (select {table.rowid.sql} as rowid, "
            f"{table.day} as day, {digest} {self._from(spec)} offset 0) t group by day order by day nulls last"
        )
        found = pl.concat([EMPTY_LOOK, *self._connection.stream(query)])
        self._undated[_key(spec)] = []
        if spec.event_time and found["day"].null_count():
            undated = f"select {table.rowid.sql} as rowid {self._from(spec, f'({table.day}) is null')}"
            self._undated[_key(spec)] = [
                rowid for batch in self._connection.stream(undated) for rowid in batch["rowid"]
            ]
        return found

    def _fingerprints_of_texts(self, spec: TableSpec, table: Table, digest: str) -> pl.DataFrame:
        """The same where event times are texts, which only we can place on a day."""
        assert spec.event_time is not None
        moment = table.readings[spec.event_time].value
        query = f"select {table.rowid.sql} as rowid, {moment} as moment, {digest} {self._from(spec)}"
        partial, undated = [EMPTY_LOOK], []
        for batch in self._connection.stream(query, SCAN_BATCH_ROWS):
            moments = decode_or_mark(batch, "moment")["moment"] if self._connection.has_raw_text else batch["moment"]
            placed = batch.with_columns(day_numbers(pl.lit(epoch_seconds(moments))).alias("day"))
            undated += placed.filter(pl.col("day").is_null())["rowid"].to_list()
            partial.append(
                placed.group_by("day").agg(
                    pl.len().cast(pl.Int64).alias("rows"),
                    pl.col("rowid").min().alias("lowest"),
                    pl.col("rowid").max().alias("highest"),
                    (pl.col("digest") % 2**40).sum().alias("digest"),
                )
            )
        self._undated[_key(spec)] = undated
        return (
            pl.concat(partial)
            .group_by("day")
            .agg(pl.col("rows").sum(), pl.col("lowest").min(), pl.col("highest").max(), pl.col("digest").sum())
            .sort("day", nulls_last=True)
        )

    def look(self, spec: TableSpec, cache: FingerprintCache) -> Fingerprints:
        """The fingerprints as plain rows. Never from the cache: no counter of Postgres's proves that nothing changed."""
        days = [list(row) for row in self.fingerprints(spec).iter_rows()]
        return Fingerprints(days, self._undated[_key(spec)])

    def undated_rowids(self, spec: TableSpec) -> list[int]:
        """The rows without a valid event time, noted when the fingerprints were taken in this transaction."""
        if _key(spec) not in self._undated:
            self.fingerprints(spec)
        return self._undated[_key(spec)]

    # --- rows ----------------------------------------------------------------------------------------------------

    def read_days(self, spec: TableSpec, days: Sequence[int], lowest: int, highest: int) -> Iterator[pl.DataFrame]:
        """The rows of these days (as day numbers), which all lie between two rowids."""
        table = self._table(spec)
        between = table.rowid.between(lowest, highest)
        if table.day is not None:
            numbers = ",".join(str(day) for day in days)
            yield from self._read(spec, between, f"({table.day}) = any('{{{numbers}}}'::int8[])")
            return
        assert spec.event_time is not None
        start = f"left(ltrim({table.known[spec.event_time].sql}::text), 10)"
        near = {str(EPOCH + timedelta(days=day + shift)) for day in days for shift in (-1, 0, 1)}
        dates = literal("{" + ",".join(sorted(near)) + "}")
        is_near = f"({start} = any({dates}::text[]) or {start} !~ '^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}$')"
        for batch in self._read(spec, between, is_near):
            if (meant := batch.filter(day_numbers(pl.col(spec.event_time)).is_in(list(days)))).height:
                yield meant

    def read_all(self, spec: TableSpec) -> Iterator[pl.DataFrame]:
        yield from self._read(spec)

    def read_rows(self, spec: TableSpec, rowids: Sequence[int]) -> Iterator[pl.DataFrame]:
        yield from self._read(spec, self._table(spec).rowid.among(rowids))

    def originals(self, spec: TableSpec, rowids: Sequence[int]) -> pl.DataFrame:
        """`source_rowid` and the row as stored, as JSON (G11); a rowid that is gone gives no row."""
        table = self._table(spec)
        row = self._connection.text(json_object(table.columns))
        source = self._from(spec, table.rowid.among(rowids))
        frames = list(self._connection.stream(f"select {table.rowid.sql} as source_rowid, {row} as row {source}"))
        if self._connection.has_raw_text:
            frames = [decode_or_mark(frame, "row") for frame in frames]
        rows = pl.concat([pl.DataFrame(schema={"source_rowid": pl.Int64, "row": pl.String}), *frames])
        broken = rows.filter(pl.col("row").is_null())["source_rowid"].to_list()
        if broken:  # some text is not UTF-8: take these few rows apart value by value
            repaired = {"source_rowid": broken, "row": [self._original_with_hex(spec, rowid) for rowid in broken]}
            rows = rows.filter(pl.col("row").is_not_null()).vstack(pl.DataFrame(repaired))
        return rows.sort("source_rowid")

    def _original_with_hex(self, spec: TableSpec, rowid: int) -> str:
        table = self._table(spec)
        original = {}
        for few in batched(table.columns, FEW_COLUMNS):
            values = ", ".join(
                f"{self._connection.text(json_value(column))} as v{n}, "
                f"encode({self._connection.text(f'{column.sql}::text')}, 'hex') as h{n}"
                for n, column in enumerate(few)
            )
            (row,) = self._connection.rows(f"select {values} {self._from(spec, table.rowid.among([rowid]))}")
            for n, column in enumerate(few):
                try:
                    original[column.name] = json.loads(row[f"v{n}"].decode())
                except UnicodeDecodeError:
                    original[column.name] = {"$hex": row[f"h{n}"]}
        return json.dumps(original, ensure_ascii=False, separators=(",", ":"))

    def _read(self, spec: TableSpec, *conditions: str) -> Iterator[pl.DataFrame]:
        table = self._table(spec)
        flags = {column: how.flag for column, how in table.readings.items() if how.flag}
        unknown = [column for column in table.columns if column.name in table.shape.unknown]
        extra = "null::text"
        if unknown:
            is_there = " or ".join(f"{column.sql} is not null" for column in unknown)
            extra = f"case when {is_there} then {self._connection.text(json_object(unknown))} end"
        selected = [
            f"{table.rowid.sql} as rowid",
            *(f"{how.value} as c{n}" for n, how in enumerate(table.readings.values())),
            *(f"{flag} as f{n}" for n, flag in enumerate(flags.values())),
            f"{extra} as extra",
        ]
        for batch in self._connection.stream(f"select {', '.join(selected)} {self._from(spec, *conditions)}"):
            yield decoded(batch, spec, table.readings, list(flags))

    def _from(self, spec: TableSpec, *conditions: str) -> str:
        """SQL: the table, or the part of it that is ours, and these conditions."""
        own = [f"({spec.where_postgres})"] if spec.where_postgres else []
        return f"from {self._table(spec).source} where {' and '.join([*own, *conditions]) or 'true'}"


def _key(spec: TableSpec) -> str:
    """Two specs may read one table, each in its own way."""
    return f"{spec.name} {spec.event_time} {dict(spec.columns)} {spec.left_behind}"
