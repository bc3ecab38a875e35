"""A source table as typed frames: read-only, from one consistent transaction, whatever its rows hold.

SQLite columns hold any type, so reading is optimistic, then careful. The fast path streams through ADBC with the
expected types nailed down by typed rows in front; it fails loudly at the first value of another type, or its bytes do
not validate as UTF-8. Then just that stretch is read again with `typeof()` beside each value, and reading goes on
behind it. Both paths give the same columns: `source_rowid`, the expected ones, `extra` and `problems`.
What the columns mean is in `systems/<name>/source.py`; which rows are refused is in `schema.py` beside it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from urllib.parse import quote

import adbc_driver_sqlite.dbapi as adbc
import polars as pl
import pyarrow as pa

from dagster_project.columns.instants import EPOCH, day_numbers, epoch_seconds
from dagster_project.contracts.source_table import TableSpec
from dagster_project.databases.fingerprint_cache import FingerprintCache, Fingerprints, identity
from dagster_project.databases.source_database import BUSY_TIMEOUT_SECONDS
from dagster_project.databases.sqlite_file import check_is_sqlite, check_is_whole, source_error
from dagster_project.databases.sqlite_values import (
    FEW_COLUMNS,
    SAMPLE_VALUES,
    TableShape,
    batched,
    careful_query,
    careful_types,
    day_number,
    decode_careful,
    decode_or_mark,
    fast_query,
    json_object,
    json_value,
    near_days,
    quoted,
    time_text,
    with_problems,
)
from dagster_project.errors import GristmillError

BATCH_ROWS = 16_384
SCAN_BATCH_ROWS = 65_536
# Generated columns (2 and 3) are columns like all others; those a virtual table hides (1) are none.
COLUMNS = "select name, type from pragma_table_xinfo(?) where hidden <> 1"
FIRST_ROWID, LAST_ROWID = -(2**63), 2**63 - 1
CAREFUL_ROWS, MOST_CAREFUL_ROWS = 1_024, 16_384


class SqliteDatabase:
    """One SQLite file inside one transaction. Never changes it unless opened as `writable` (G4, F10)."""

    def __init__(self, path: Path, busy_timeout_seconds: float = BUSY_TIMEOUT_SECONDS, writable: bool = False) -> None:
        self.path = path
        self._shapes: dict[str, TableShape] = {}
        self._undated: dict[str, list[int]] = {}
        self.identity = identity(path)  # as it was before the transaction begins
        check_is_sqlite(path)
        with self._errors():
            self._connection = adbc.connect(f"file:{quote(str(path.absolute()))}?mode={'rw' if writable else 'ro'}")
        try:
            self._begin(busy_timeout_seconds)
        except BaseException:
            self.close()
            raise

    def _begin(self, busy_timeout_seconds: float) -> None:
        """The first look at a table begins the transaction; from then on the file stays as it is for us."""
        self._run(f"pragma busy_timeout = {int(busy_timeout_seconds * 1000)}")
        (encoding,) = (row["encoding"] for row in self._rows("select encoding from pragma_encoding"))
        if encoding != "UTF-8":
            raise GristmillError(f"source {self.path} is stored in {encoding}; only UTF-8 databases can be read")
        self.tables = {row["name"].lower() for row in self._rows("select name from sqlite_schema where type = 'table'")}
        (size,) = self._rows("select page_size, page_count from pragma_page_size, pragma_page_count")
        check_is_whole(self.path, size["page_size"], size["page_count"])

    def __enter__(self) -> "SqliteDatabase":
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
        if spec.reading not in self._shapes:
            self._shapes[spec.reading] = self._look_at(spec)
        return self._shapes[spec.reading]

    def _look_at(self, spec: TableSpec) -> TableShape:
        if spec.name not in self.tables:
            raise GristmillError(f"{self.path} has no table {spec.name!r}")
        found = self._rows(COLUMNS, [spec.name])
        declared = {row["name"].lower(): row["type"] or "" for row in found}
        present = {name: declared[name] for name in spec.columns if name in declared}
        missing = tuple(name for name in spec.columns if name not in declared)
        for name in spec.required:
            if name in missing:
                raise GristmillError(f"{self.path}: table {spec.name!r} has no column {name!r}")
        unknown = tuple(row["name"] for row in found if row["name"].lower() not in {*spec.columns, *spec.left_behind})
        if any(row["wr"] for row in self._rows("select wr from pragma_table_list(?)", [spec.name])):
            raise GristmillError(f"{self.path}: table {spec.name!r} was made WITHOUT ROWID, which we cannot read")
        rowids = [name for name in ("rowid", "_rowid_", "oid") if name not in declared]
        if not rowids:
            raise GristmillError(
                f"{self.path}: table {spec.name!r} has columns called rowid, _rowid_ and oid: no rowid is left"
            )
        return TableShape(present, missing, unknown, rowids[0])

    # --- what changed (G7) ---------------------------------------------------------------------------------------

    def fingerprints(self, spec: TableSpec) -> pl.DataFrame:
        """Per day (null = no valid event time): rows, lowest and highest rowid, and a hash of what is edited in place."""
        shape = self.shape(spec)
        parts = [f"ifnull({quoted(column)}, '-')" for column in spec.edited if column in shape.present]
        parts += [f"ifnull(octet_length({quoted(column)}), '-')" for column in spec.measured if column in shape.present]
        when = (
            f"{time_text(spec.event_time or '')} as moment"
            if spec.has_time_texts
            else f"{day_number(spec.event_time)} as day"
        )
        query = (
            f"select {shape.rowid} as source_rowid, {when}, "
            f"cast(concat_ws('|', {', '.join(parts) or 'null'}) as blob) as small "
            f"from {quoted(spec.name)} not indexed where {spec.where or 'true'}"
        )
        types = {"source_rowid": "0", **({"moment": "''"} if spec.has_time_texts else {"day": "0"}), "small": "x''"}
        row_hash = pl.struct("source_rowid", "day", "small").hash(seed=0) % 1_099_511_627_689
        empty = pl.DataFrame(schema=dict.fromkeys(("day", "rows", "lowest", "highest", "digest"), pl.Int64))
        partial, undated = [empty], []
        for batch in self._stream(query, types, [], SCAN_BATCH_ROWS):
            if spec.has_time_texts:
                batch = batch.with_columns(day_numbers(pl.lit(epoch_seconds(batch["moment"]))).alias("day"))  # noqa: PLW2901
            if spec.event_time:
                undated += batch.filter(pl.col("day").is_null())["source_rowid"].to_list()
            partial.append(
                batch.group_by("day").agg(
                    pl.len().cast(pl.Int64).alias("rows"),
                    pl.col("source_rowid").min().alias("lowest"),
                    pl.col("source_rowid").max().alias("highest"),
                    row_hash.sum().cast(pl.Int64).alias("digest"),
                )
            )
        self._undated[spec.reading] = undated
        return (
            pl.concat(partial)
            .group_by("day")
            .agg(pl.col("rows").sum(), pl.col("lowest").min(), pl.col("highest").max(), pl.col("digest").sum())
            .sort("day", nulls_last=True)
        )

    def look(self, spec: TableSpec, cache: FingerprintCache) -> Fingerprints:
        """The fingerprints as plain rows, from the cache where the file is as it was."""
        found = cache.get(self.path, spec)
        if found is None:
            days = [list(row) for row in self.fingerprints(spec).iter_rows()]
            found = Fingerprints(days, self._undated[spec.reading], self.identity)
            cache.put(self.path, spec, found)
        self._undated[spec.reading] = found.undated
        return found

    def undated_rowids(self, spec: TableSpec) -> list[int]:
        """The rows without a valid event time, noted when the fingerprints were taken in this transaction."""
        if spec.reading not in self._undated:
            self.fingerprints(spec)
        return self._undated[spec.reading]

    # --- rows ----------------------------------------------------------------------------------------------------

    def read_days(self, spec: TableSpec, days: Sequence[int], lowest: int, highest: int) -> Iterator[pl.DataFrame]:
        """The rows of these days (as day numbers), which all lie between two rowids."""
        if spec.has_time_texts:
            assert spec.event_time is not None
            near = {str(EPOCH + timedelta(days=day + shift)) for day in days for shift in (-1, 0, 1)}
            condition = f"{self.shape(spec).rowid} <= ? and {near_days(spec.event_time)}"
            is_meant = day_numbers(pl.col(spec.event_time)).is_in(list(days))
            for batch in self._read(spec, condition, [highest, json.dumps(sorted(near))], next_rowid=lowest):
                yield batch.filter(is_meant)
            return
        condition = (
            f"{self.shape(spec).rowid} <= ? and {day_number(spec.event_time)} in (select value from json_each(?))"
        )
        yield from self._read(spec, condition, [highest, json.dumps(list(days))], next_rowid=lowest)

    def read_all(self, spec: TableSpec) -> Iterator[pl.DataFrame]:
        yield from self._read(spec, "true", [])

    def shared_numbers(self, spec: TableSpec, number: str, within: str) -> tuple[list[int], list[tuple[int, str]]]:
        """The whole numbers several rows have, and those several rows have within the same group ('' where it is unknown)."""
        column, table = quoted(number), f"from {quoted(spec.name)} where typeof({quoted(number)}) = 'integer'"
        group = (
            f"ifnull(nullif(cast({quoted(within)} as text), 'default'), '')"
            if within in self.shape(spec).present
            else "''"
        )
        # bytes that are no text stand for nobody's group
        group = f"case when typeof({group}) = 'text' then cast(cast({group} as text) as blob) end"
        numbers = f"select {column} as n {table} group by 1 having count(*) > 1 order by 1"
        pairs = f"select {column} as n, {group} as g {table} group by 1, 2 having count(*) > 1 order by 1, 2"
        found = [n for batch in self._stream(numbers, {"n": "0"}, [], BATCH_ROWS) for n in batch["n"].to_list()]
        twins = [
            row
            for batch in self._stream(pairs, {"n": "0", "g": "x''"}, [], BATCH_ROWS)
            for row in decode_or_mark(batch, "g").drop_nulls().iter_rows()
        ]
        return found, twins

    def read_rows(self, spec: TableSpec, rowids: Sequence[int]) -> Iterator[pl.DataFrame]:
        condition = f"{self.shape(spec).rowid} in (select value from json_each(?))"
        yield from self._read(spec, condition, [json.dumps(list(rowids))])

    def originals(self, spec: TableSpec, rowids: Sequence[int]) -> pl.DataFrame:
        """`source_rowid` and the row as stored, as JSON (G11); a rowid that is gone gives no row."""
        columns = [row["name"] for row in self._rows(COLUMNS, [spec.name])]
        rowid = self.shape(spec).rowid
        source = f"from {quoted(spec.name)} where {rowid} in (select value from json_each(?))"
        query = f"select {rowid} as source_rowid, cast({json_object(columns)} as blob) as row {source}"
        parameters = [json.dumps(list(rowids))]
        types = {"source_rowid": "0", "row": "x''"}
        frames = [decode_or_mark(batch, "row") for batch in self._stream(query, types, parameters, BATCH_ROWS)]
        rows = pl.concat([pl.DataFrame(schema={"source_rowid": pl.Int64, "row": pl.String}), *frames])
        broken = rows.filter(pl.col("row").is_null())["source_rowid"].to_list()
        if broken:  # some text is not UTF-8: take these few rows apart value by value
            repaired = pl.DataFrame(
                {"source_rowid": broken, "row": [self._original_with_hex(spec, columns, rowid) for rowid in broken]}
            )
            rows = rows.filter(pl.col("row").is_not_null()).vstack(repaired)
        return rows.sort("source_rowid")

    def _original_with_hex(self, spec: TableSpec, columns: Sequence[str], rowid: int) -> str:
        original = {}
        for few in batched(columns, FEW_COLUMNS):
            values = ", ".join(
                f"cast({json_value(column)} as blob) as v{n}, lower(hex({quoted(column)})) as h{n}"
                for n, column in enumerate(few)
            )
            (row,) = self._rows(f"select {values} from {quoted(spec.name)} where {self.shape(spec).rowid} = ?", [rowid])
            for n, column in enumerate(few):
                try:
                    original[column] = json.loads(row[f"v{n}"].decode())
                except UnicodeDecodeError:
                    original[column] = {"$hex": row[f"h{n}"]}
        return json.dumps(original, ensure_ascii=False, separators=(",", ":"))

    def _read(
        self, spec: TableSpec, condition: str, parameters: Sequence[object], next_rowid: int = FIRST_ROWID
    ) -> Iterator[pl.DataFrame]:
        """All rows that meet the condition, in rowid order: fast while it goes well, careful where it does not."""
        shape = self.shape(spec)
        fast, careful = fast_query(spec, shape), careful_query(spec, shape)
        types = {"source_rowid": "0", **{c: SAMPLE_VALUES[spec.columns[c]] for c in shape.present}, "extra": "''"}
        where = (
            f" from {quoted(spec.name)} not indexed where {shape.rowid} >= ? and {condition} and {spec.where or 'true'}"
        )
        stretch = CAREFUL_ROWS
        while next_rowid <= LAST_ROWID:
            try:
                for batch in self._stream(fast + where, types, [next_rowid, *parameters], BATCH_ROWS, validate=True):
                    yield with_problems(batch, spec, shape)
                    next_rowid, stretch = int(batch["source_rowid"][-1]) + 1, CAREFUL_ROWS
                return
            except _UnexpectedValue:
                limited = f"{careful}{where} order by {shape.rowid} limit {stretch}"
                rows = pa.Table.from_batches(
                    list(self._batches(limited, careful_types(spec, shape), [next_rowid, *parameters], CAREFUL_ROWS))
                )
                if rows.num_rows:
                    batch = decode_careful(rows, spec, shape)
                    yield batch
                    next_rowid = int(batch["source_rowid"][-1]) + 1
                if rows.num_rows < stretch:
                    return
                stretch = min(stretch * 4, MOST_CAREFUL_ROWS)

    # --- write-back ----------------------------------------------------------------------------------------------

    def hold_for_writing(self, spec: TableSpec) -> None:
        """Take the write lock before anything is read, so that what is compared is what is changed."""
        key = quoted(spec.key)
        self._run(f"update {quoted(spec.name)} set {key} = {key} where false")

    def update_rows(self, spec: TableSpec, rows: pl.DataFrame) -> None:
        """Set columns of rows by `source_rowid`, and commit."""
        table = quoted(spec.name)
        columns = [column for column in rows.columns if column != "source_rowid"]
        with self._connection.cursor() as cursor:
            cursor.adbc_ingest("gristmill_updates", rows.to_arrow(), mode="create", temporary=True)
        assignments = ", ".join(f"{quoted(column)} = u.{quoted(column)}" for column in columns)
        self._run(
            f"update {table} set {assignments} from temp.gristmill_updates as u "
            f"where {table}.{self.shape(spec).rowid} = u.source_rowid"
        )
        self._connection.commit()

    # --- ADBC ----------------------------------------------------------------------------------------------------

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """What the driver complains of is one line that names the file."""
        try:
            yield
        except (adbc.Error, OSError, pa.ArrowInvalid) as error:
            raise source_error(self.path, error) from error

    def _batches(
        self, query: str, types: Mapping[str, str], parameters: Sequence[object], batch_rows: int = BATCH_ROWS
    ):
        """Arrow batches of a query. ADBC takes a column's type from its first batch, so that one is ours alone."""
        sample = ", ".join(f"{value} as {quoted(column)}" for column, value in types.items())
        typed = (
            f"with recursive n(i) as (select 1 union all select i + 1 from n where i < {batch_rows}) "
            f"select {sample} from n union all select * from ({query})"
        )
        cursor = self._connection.cursor()
        try:
            cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": str(batch_rows)})
            cursor.execute(typed, parameters)
            reader = cursor.fetch_record_batch()
            next(reader)
            yield from reader
        except (adbc.Error, OSError, pa.ArrowInvalid) as error:
            if "Type mismatch" in str(error):
                raise _UnexpectedValue from error
            raise source_error(self.path, error) from error
        finally:
            cursor.close()

    def _stream(
        self,
        query: str,
        types: Mapping[str, str],
        parameters: Sequence[object],
        batch_rows: int,
        validate: bool = False,
    ) -> Iterator[pl.DataFrame]:
        for batch in self._batches(query, types, parameters, batch_rows):
            if validate:
                try:
                    batch.validate(full=True)
                except pa.ArrowInvalid as error:
                    raise _UnexpectedValue from error
            frame = pl.from_arrow(batch)
            assert isinstance(frame, pl.DataFrame)
            if frame.height:
                yield frame

    def _rows(self, query: str, parameters: Sequence[object] | None = None) -> list[dict]:
        with self._errors(), self._connection.cursor() as cursor:
            cursor.execute(query, parameters or [])
            return cursor.fetch_arrow_table().to_pylist()

    def _run(self, statement: str) -> None:
        with self._errors(), self._connection.cursor() as cursor:
            cursor.execute(statement)
            cursor.fetchall()


class _UnexpectedValue(Exception):
    """The fast path met a value that is not of its column's type, or text that is not UTF-8."""
