"""A source table as typed frames: read-only, from one consistent transaction, whatever its rows hold.

SQLite columns hold any type, so reading is optimistic, then careful. The fast path streams through ADBC with the
expected types nailed down by typed rows in front; it fails loudly at the first value of another type, or its bytes do
not validate as UTF-8. Then just that stretch is read again with `typeof()` beside each value, and reading goes on
behind it. Both paths give the same columns: `source_rowid`, the expected ones, `extra` and `problems`.
What the columns mean is in `sources/`; which rows are refused is in `quarantine.py`.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from urllib.parse import quote

import adbc_driver_sqlite.dbapi as adbc
import polars as pl
import pyarrow as pa

from dagster_project.errors import GristmillError

BATCH_ROWS = 4_096
SCAN_BATCH_ROWS = 65_536
CAREFUL_ROWS, MOST_CAREFUL_ROWS = 1_024, 65_536
POLARS_TYPES = {"text": pl.String, "integer": pl.Int64, "real": pl.Float64}
SAMPLE_VALUES = {"text": "''", "integer": "0", "real": "0.0"}
GOOD_TYPES = {"text": "('text', 'blob')", "integer": "('integer')", "real": "('real', 'integer')"}

# Valid event times (G1) in seconds; half a microsecond lower because instants are rounded to microseconds.
HALF_MICROSECOND = 0.0000005
FIRST_SECOND = 946_684_800 - HALF_MICROSECOND  # 2000-01-01
LAST_SECOND = 4_102_444_800 - HALF_MICROSECOND  # 2100-01-01


@dataclass(frozen=True)
class TableSpec:
    """What we expect of one source table. `sources/<system>.py` has one for each."""

    system: str
    name: str
    columns: Mapping[str, str]  # column -> text | integer | real
    required: tuple[str, ...]
    key: str
    event_time: str | None = None
    edited: tuple[str, ...] = ()  # small columns the source edits in place: part of a day's fingerprint (G7)
    measured: tuple[str, ...] = ()  # long texts of which the fingerprint takes the length only
    left_behind: tuple[str, ...] = ()  # known columns we do not read


@dataclass(frozen=True)
class TableShape:
    """What a database really has of a table: our columns under its spelling, their declarations, and strangers."""

    present: Mapping[str, str]  # expected column -> declared type
    missing: tuple[str, ...]
    unknown: tuple[str, ...]


class SqliteDatabase:
    """One SQLite file inside one transaction. Never changes it unless opened as `writable` (G4, F10)."""

    def __init__(self, path: Path, busy_timeout_seconds: float = 30.0, writable: bool = False) -> None:
        self.path = path
        _check_is_sqlite(path)
        try:
            self._connection = adbc.connect(f"file:{quote(str(path.absolute()))}?mode={'rw' if writable else 'ro'}")
            self._run(f"pragma busy_timeout = {int(busy_timeout_seconds * 1000)}")
            self.tables = {row["name"].lower() for row in self._rows("select name from sqlite_schema where type = 'table'")}
        except (adbc.Error, OSError) as error:
            raise _source_error(path, error) from error

    def __enter__(self) -> "SqliteDatabase":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def shape(self, spec: TableSpec) -> TableShape:
        """The table's columns against the expected ones. A missing table or required column ends the run (G5)."""
        if spec.name not in self.tables:
            raise GristmillError(f"{self.path} has no table {spec.name!r}")
        found = self._rows("select name, type from pragma_table_info(?)", [spec.name])
        declared = {row["name"].lower(): row["type"] or "" for row in found}
        present = {name: declared[name] for name in spec.columns if name in declared}
        missing = tuple(name for name in spec.columns if name not in declared)
        for name in spec.required:
            if name in missing:
                raise GristmillError(f"{self.path}: table {spec.name!r} has no column {name!r}")
        unknown = tuple(row["name"] for row in found if row["name"].lower() not in {*spec.columns, *spec.left_behind})
        return TableShape(present, missing, unknown)

    # --- what changed (G7) ---------------------------------------------------------------------------------------

    def fingerprints(self, spec: TableSpec) -> pl.DataFrame:
        """Per day (null = no valid event time): rows, lowest and highest rowid, and a hash of what is edited in place."""
        shape = self.shape(spec)
        parts = [_name(column) for column in spec.edited if column in shape.present]
        parts += [f"octet_length({_name(column)})" for column in spec.measured if column in shape.present]
        query = (
            f"select rowid as source_rowid, {day_number(spec.event_time)} as day, "
            f"cast(concat_ws('|', {', '.join(parts) or 'null'}) as blob) as small from {_name(spec.name)} not indexed"
        )
        types = {"source_rowid": "0", "day": "0", "small": "x''"}
        row_hash = pl.struct("source_rowid", "day", "small").hash(seed=0) % 1_099_511_627_689
        partial = [
            batch.group_by("day").agg(
                pl.len().cast(pl.Int64).alias("rows"),
                pl.col("source_rowid").min().alias("lowest"),
                pl.col("source_rowid").max().alias("highest"),
                row_hash.sum().cast(pl.Int64).alias("digest"),
            )
            for batch in self._stream(query, types, [], SCAN_BATCH_ROWS)
        ]
        empty = pl.DataFrame(schema=dict.fromkeys(("day", "rows", "lowest", "highest", "digest"), pl.Int64))
        return (
            pl.concat([empty, *partial])
            .group_by("day")
            .agg(pl.col("rows").sum(), pl.col("lowest").min(), pl.col("highest").max(), pl.col("digest").sum())
            .sort("day", nulls_last=True)
        )

    def undated_rowids(self, spec: TableSpec) -> list[int]:
        query = f"select rowid as source_rowid from {_name(spec.name)} not indexed where {day_number(spec.event_time)} is null"
        batches = self._stream(query, {"source_rowid": "0"}, [], SCAN_BATCH_ROWS)
        return [rowid for batch in batches for rowid in batch["source_rowid"].to_list()]

    # --- rows ----------------------------------------------------------------------------------------------------

    def read_days(self, spec: TableSpec, days: Sequence[int], lowest: int, highest: int) -> Iterator[pl.DataFrame]:
        """The rows of these days (as day numbers), which all lie between two rowids."""
        condition = f"rowid <= ? and {day_number(spec.event_time)} in (select value from json_each(?))"
        yield from self._read(spec, condition, [highest, json.dumps(list(days))], after=lowest - 1)

    def read_all(self, spec: TableSpec) -> Iterator[pl.DataFrame]:
        yield from self._read(spec, "true", [])

    def read_rows(self, spec: TableSpec, rowids: Sequence[int]) -> Iterator[pl.DataFrame]:
        yield from self._read(spec, "rowid in (select value from json_each(?))", [json.dumps(list(rowids))])

    def originals(self, spec: TableSpec, rowids: Sequence[int]) -> pl.DataFrame:
        """`source_rowid` and the row as stored, as JSON (G11); a rowid that is gone gives no row."""
        columns = [row["name"] for row in self._rows("select name from pragma_table_info(?)", [spec.name])]
        source = f"from {_name(spec.name)} where rowid in (select value from json_each(?))"
        query = f"select rowid as source_rowid, cast({_json_object(columns)} as blob) as row {source}"
        parameters = [json.dumps(list(rowids))]
        types = {"source_rowid": "0", "row": "x''"}
        frames = [_decode_or_mark(batch, "row") for batch in self._stream(query, types, parameters, BATCH_ROWS)]
        rows = pl.concat([pl.DataFrame(schema={"source_rowid": pl.Int64, "row": pl.String}), *frames])
        broken = rows.filter(pl.col("row").is_null())["source_rowid"].to_list()
        if broken:  # some text is not UTF-8: take these few rows apart value by value
            repaired = pl.DataFrame(
                {"source_rowid": broken, "row": [self._original_with_hex(spec, columns, rowid) for rowid in broken]}
            )
            rows = rows.filter(pl.col("row").is_not_null()).vstack(repaired)
        return rows.sort("source_rowid")

    def _original_with_hex(self, spec: TableSpec, columns: Sequence[str], rowid: int) -> str:
        values = {}
        for column in columns:
            where = f"from {_name(spec.name)} where rowid = ?"
            value = f"cast({_json_value(column)} as blob)"
            (row,) = self._rows(f"select {value} as v, lower(hex({_name(column)})) as h {where}", [rowid])
            try:
                values[column] = json.loads(row["v"].decode())
            except UnicodeDecodeError:
                values[column] = {"$hex": row["h"]}
        return json.dumps(values, ensure_ascii=False, separators=(",", ":"))

    def _read(
        self, spec: TableSpec, condition: str, parameters: list[object], after: int | None = None
    ) -> Iterator[pl.DataFrame]:
        """All rows that meet the condition, in rowid order: fast while it goes well, careful where it does not."""
        shape = self.shape(spec)
        fast, careful = _fast_query(spec, shape), _careful_query(spec, shape)
        types = {"source_rowid": "0", **{c: SAMPLE_VALUES[spec.columns[c]] for c in shape.present}, "extra": "''"}
        where = f" from {_name(spec.name)} not indexed where rowid > ? and {condition}"
        last = -(2**63) if after is None else after
        stretch = CAREFUL_ROWS
        while True:
            try:
                for batch in self._stream(fast + where, types, [last, *parameters], BATCH_ROWS, validate=True):
                    yield _with_problems(batch, spec, shape)
                    last, stretch = int(batch["source_rowid"][-1]), CAREFUL_ROWS
                return
            except _UnexpectedValue:
                limited = f"{careful}{where} order by rowid limit {stretch}"
                rows = pa.Table.from_batches(list(self._batches(limited, _careful_types(spec, shape), [last, *parameters])))
                if rows.num_rows:
                    batch = _decode_careful(rows, spec, shape)
                    yield batch
                    last = int(batch["source_rowid"][-1])
                if rows.num_rows < stretch:
                    return
                stretch = min(stretch * 4, MOST_CAREFUL_ROWS)

    # --- write-back ----------------------------------------------------------------------------------------------

    def hold_for_writing(self, table: str) -> None:
        """Take the write lock before anything is read, so that what is compared is what is changed."""
        self._run(f"update {_name(table)} set rowid = rowid where false")

    def update_rows(self, table: str, rows: pl.DataFrame) -> None:
        """Set columns of rows by `source_rowid`, and commit."""
        columns = [column for column in rows.columns if column != "source_rowid"]
        with self._connection.cursor() as cursor:
            cursor.adbc_ingest("gristmill_updates", rows.to_arrow(), mode="create", temporary=True)
        assignments = ", ".join(f"{_name(column)} = u.{_name(column)}" for column in columns)
        self._run(
            f"update {_name(table)} set {assignments} from temp.gristmill_updates as u "
            f"where {_name(table)}.rowid = u.source_rowid"
        )
        self._connection.commit()

    # --- ADBC ----------------------------------------------------------------------------------------------------

    def _batches(self, query: str, types: Mapping[str, str], parameters: list[object], batch_rows: int = BATCH_ROWS):
        """Arrow batches of a query. ADBC takes a column's type from its first batch, so that one is ours alone."""
        sample = ", ".join(f"{value} as {_name(column)}" for column, value in types.items())
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
            raise _source_error(self.path, error) from error
        finally:
            cursor.close()

    def _stream(
        self, query: str, types: Mapping[str, str], parameters: list[object], batch_rows: int, validate: bool = False
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

    def _rows(self, query: str, parameters: list[object] | None = None) -> list[dict]:
        with self._connection.cursor() as cursor:
            cursor.execute(query, parameters or [])
            return cursor.fetch_arrow_table().to_pylist()

    def _run(self, statement: str) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(statement)
            cursor.fetchall()


class _UnexpectedValue(Exception):
    """The fast path met a value that is not of its column's type, or text that is not UTF-8."""


def day_number(column: str | None) -> str:
    """SQL: the UTC day of an epoch value as days since 1970, null without a valid one (G1, G6)."""
    if column is None:
        return "null"
    value = f"+{_name(column)}"  # the plus keeps a TEXT affinity from turning the comparison into one of texts
    return (
        f"case when {value} >= {FIRST_SECOND!r} and {value} < {LAST_SECOND!r} "
        f"then cast(({value} + {HALF_MICROSECOND!r}) / 86400 as integer) "
        f"when {value} >= {FIRST_SECOND * 1000!r} and {value} < {LAST_SECOND * 1000!r} "
        f"then cast(({value} / 1000.0 + {HALF_MICROSECOND!r}) / 86400 as integer) end"
    )


def _fast_query(spec: TableSpec, shape: TableShape) -> str:
    selected = ["rowid as source_rowid"]
    for column, declared in shape.present.items():
        name = _name(column)
        if spec.columns[column] == "text" and not re.search("CHAR|CLOB|TEXT", declared.upper()):
            # ADBC would print a number as text here; without a text affinity numbers can be stored. Bytes that are
            # no UTF-8 send the stretch to the careful path.
            selected.append(f"case when typeof({name}) in ('integer', 'real') then cast(x'ff' as text) else {name} end as {name}")
        else:
            selected.append(name)
    selected.append(f"{_json_object(shape.unknown) if shape.unknown else 'null'} as extra")
    return f"select {', '.join(selected)}"


def _careful_query(spec: TableSpec, shape: TableShape) -> str:
    """Each value where its type is right (text as bytes), and each type."""
    selected = ["rowid as source_rowid"]
    for column in shape.present:
        name, kind = _name(column), spec.columns[column]
        value = f"cast({name} as blob)" if kind == "text" else name
        selected.append(f"case when typeof({name}) in {GOOD_TYPES[kind]} then {value} end as {name}")
        selected.append(f"typeof({name}) as {_name(column + ' type')}")
    selected.append(f"cast({_json_object(shape.unknown) if shape.unknown else 'null'} as blob) as extra")
    return f"select {', '.join(selected)}"


def _careful_types(spec: TableSpec, shape: TableShape) -> dict[str, str]:
    types = {"source_rowid": "0"}
    for column in shape.present:
        types[column] = "x''" if spec.columns[column] == "text" else SAMPLE_VALUES[spec.columns[column]]
        types[f"{column} type"] = "''"
    return types | {"extra": "x''"}


def _decode_careful(rows: pa.Table, spec: TableSpec, shape: TableShape) -> pl.DataFrame:
    frame = pl.from_arrow(rows)
    assert isinstance(frame, pl.DataFrame)
    problems = []
    for column in shape.present:
        stored = pl.col(f"{column} type")
        wrong = ~stored.is_in([*re.findall(r"\w+", GOOD_TYPES[spec.columns[column]]), "null"])
        if spec.columns[column] == "text":
            decoded = _decode_or_mark(frame.select(column), column)[column]
            undecodable = frame[column].is_not_null() & decoded.is_null()
            frame = frame.with_columns(decoded, undecodable.alias(f"{column} undecodable"))
            bad = pl.col(f"{column} undecodable")
            wrong = wrong | (bad & (stored == "blob"))
            problems.append(pl.when(bad & (stored == "text")).then(pl.lit(f"bad_text:{column}")))
        problems.append(pl.when(wrong).then(pl.lit(f"wrong_type:{column}")))
    extra = _decode_or_mark(frame.select("extra"), "extra")["extra"]
    problems.append(pl.when(extra.is_null() & frame["extra"].is_not_null()).then(pl.lit("bad_text:extra")))
    frame = frame.with_columns(extra, pl.concat_list(problems).list.drop_nulls().alias("problems"))
    return _with_problems(frame, spec, shape)


def _decode_or_mark(frame: pl.DataFrame, column: str) -> pl.DataFrame:
    """Binary to text; what is not UTF-8 becomes null."""
    values = frame[column].to_arrow()
    try:
        return frame.with_columns(pl.Series(column, values.cast(pa.large_string()), dtype=pl.String))
    except pa.ArrowInvalid:  # value by value: only in a stretch that is known to hold bad bytes
        return frame.with_columns(pl.Series(column, [_text_or_none(value) for value in frame[column]], dtype=pl.String))


def _text_or_none(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None


def _with_problems(frame: pl.DataFrame, spec: TableSpec, shape: TableShape) -> pl.DataFrame:
    """The expected columns in order, plus `problems`: what the values' own types and bytes are refused for (G5)."""
    if "problems" not in frame.columns:
        frame = frame.with_columns(pl.lit([], dtype=pl.List(pl.String)).alias("problems"))
    found = [
        pl.when(pl.col(column).str.contains("\0", literal=True)).then(pl.lit(f"bad_text:{column}"))
        for column in shape.present
        if spec.columns[column] == "text"
    ]
    found += [
        pl.when(pl.col(column).is_finite().not_()).then(pl.lit(f"not_finite:{column}"))
        for column in shape.present
        if spec.columns[column] == "real"
    ]
    marks = frame.select(pl.coalesce(found).is_not_null().any()).item() if found else False
    if marks:
        frame = frame.with_columns(pl.concat_list("problems", *found).list.drop_nulls().alias("problems"))
    return frame.select(
        "source_rowid",
        *(
            pl.col(column) if column in shape.present else pl.lit(None, dtype=POLARS_TYPES[kind]).alias(column)
            for column, kind in spec.columns.items()
        ),
        pl.col("extra").cast(pl.String),
        "problems",
    )


def _json_object(columns: Sequence[str]) -> str:
    """SQL: a row as JSON text, exact: integers as they are, reals to the last bit, what JSON cannot say as {"$...": }."""
    pairs = [_literal(json.dumps(column, ensure_ascii=False) + ":") + f" || {_json_value(column)}" for column in columns]
    return "'{' || " + " || ',' || ".join(pairs) + " || '}'"


def _json_value(column: str) -> str:
    name = _name(column)
    return (
        f"case typeof({name}) when 'null' then 'null' when 'integer' then cast({name} as text) "
        f"when 'text' then json_quote({name}) when 'blob' then '{{\"$hex\":\"' || lower(hex({name})) || '\"}}' "
        f"else case when {name} = 9e999 then '{{\"$float\":\"inf\"}}' when {name} = -9e999 then '{{\"$float\":\"-inf\"}}' "
        f"when cast(printf('%!.15g', {name}) as real) = {name} then printf('%!.15g', {name}) "
        f"else printf('%!.17g', {name}) end end"
    )


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _check_is_sqlite(path: Path) -> None:
    """Looked at before SQLite opens the file: closing a handle of our own later would drop SQLite's locks."""
    if not path.exists():
        raise GristmillError(f"source {path} does not exist")
    if not path.is_file():
        raise GristmillError(f"source {path} is not a file")
    try:
        with path.open("rb") as file:
            header = file.read(16)
    except OSError as error:
        raise GristmillError(f"source {path} cannot be read: {error.strerror}") from error
    if header and header != b"SQLite format 3\0":
        raise GristmillError(f"source {path} is not an SQLite database")


def _source_error(path: Path, error: Exception) -> GristmillError:
    text = " ".join(str(error).split())
    return SourceLocked(f"source {path} is locked by a writer: {text}") if "lock" in text else GristmillError(f"source {path}: {text}")


class SourceLocked(GristmillError):
    """Worth another try in a while."""
