"""A connection to Postgres that holds one read-only transaction and streams; its errors are one line, without a password."""

import itertools
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

import adbc_driver_postgresql.dbapi as adbc
import polars as pl
import pyarrow as pa

from dagster_project.databases.postgres_address import parse
from dagster_project.databases.postgres_values import literal
from dagster_project.errors import GristmillError

FIRST_ROWS, BATCH_ROWS = 1_024, 16_384
BATCH_BYTES = 16 * 2**20
SETTINGS = {
    "search_path": "pg_catalog, pg_temp",
    "timezone": "UTC",
    "datestyle": "ISO, YMD",
    "intervalstyle": "postgres",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "standard_conforming_strings": "on",
    "synchronize_seqscans": "off",
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
    "cursor_tuple_fraction": "1",
    # a long read is no runaway; what must not wait for ever is a lock
    "statement_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "transaction_timeout": "0",
}
TRY_AGAIN = {"55P03", "40P01", "40001"}  # lock timeout, deadlock, conflict with recovery on a standby
Result = TypeVar("Result")


class PostgresConnection:
    """One transaction, from the first statement to `close`. `path` is the address as it may be shown."""

    def __init__(self, uri: str, busy_timeout_seconds: float) -> None:
        self._address = parse(uri)
        self.path = self._address.safe
        self._numbers = itertools.count()
        self._is_closed = False
        self._connection = self._guarded(lambda: adbc.connect(self._address.conninfo, autocommit=False))
        try:
            self._begin(busy_timeout_seconds)
        except BaseException:
            self.close()
            raise

    def _begin(self, busy_timeout_seconds: float) -> None:
        self.run("set transaction isolation level repeatable read, read only")
        self.run("set local client_encoding to 'UTF8'")
        settings = SETTINGS | {"lock_timeout": str(max(1, int(busy_timeout_seconds * 1000)))}
        values = ", ".join(f"({literal(name)}, {literal(value)})" for name, value in settings.items())
        self.rows(  # older servers do not know all of them
            f"select pg_catalog.set_config(v.name, v.value, true) from (values {values}) v(name, value) "
            "where exists (select 1 from pg_catalog.pg_settings s where lower(s.name) = v.name)"
        )
        (state,) = self.rows(
            "select current_setting('transaction_isolation') as isolation, "
            "current_setting('transaction_read_only') as is_read_only, current_setting('server_encoding') as encoding"
        )
        if (state["isolation"], state["is_read_only"]) != ("repeatable read", "on"):
            raise GristmillError(f"source {self.path} does not keep a read-only transaction; is a pooler in between?")
        self.has_raw_text = state["encoding"] == "SQL_ASCII"  # whose texts may be any bytes

    def close(self) -> None:
        """End the transaction. May be called twice."""
        if not self._is_closed:
            self._is_closed = True
            with suppress(adbc.Error):
                self._connection.close()

    def text(self, value: str) -> str:
        """SQL: a text, as bytes where the database does not vouch for them."""
        return f"convert_to({value}, 'SQL_ASCII')" if self.has_raw_text else value

    def stream(self, query: str, most_rows: int | None = None) -> Iterator[pl.DataFrame]:
        """A query's rows in batches of bounded size, in the order they are stored. Others may run in between."""
        most = most_rows or BATCH_ROWS
        name = f"gristmill_{next(self._numbers)}"
        self.run(f"declare {name} no scroll cursor for {query}")
        rows = min(FIRST_ROWS, most)
        try:
            while True:
                batch = self._guarded(lambda: self._fetched(f"fetch forward {rows} from {name}"))  # noqa: B023
                if batch.height:
                    yield batch
                if batch.height < rows:
                    break
                rows = max(1, min(most, BATCH_BYTES * batch.height // max(1, batch.estimated_size())))
        finally:
            if not self._is_closed:
                with suppress(GristmillError):  # after an error there is no cursor left to close
                    self.run(f"close {name}")

    def _fetched(self, statement: str) -> pl.DataFrame:
        with self._connection.cursor() as cursor:
            cursor.adbc_statement.set_options(**{"adbc.postgresql.use_copy": "false"})
            cursor.execute(statement)
            frame = pl.from_arrow(cursor.fetch_arrow_table())
        assert isinstance(frame, pl.DataFrame)
        return frame

    def rows(self, query: str) -> list[dict[str, Any]]:
        return self._guarded(lambda: self._fetched(query)).to_dicts()

    def run(self, statement: str) -> None:
        def run() -> None:
            with self._connection.cursor() as cursor:
                cursor.execute(statement)

        self._guarded(run)

    def _guarded(self, action: Callable[[], Result]) -> Result:
        """Do something with the database. An error is one line without a password, and drags no other one along."""
        try:
            return action()
        except (adbc.Error, pa.ArrowException, OSError) as error:
            text, code = self._problem(str(error)), getattr(error, "sqlstate", None)
        if code in TRY_AGAIN:  # no SourceLocked: the transaction is over, so another try within this run is in vain
            raise GristmillError(f"source {self.path} is locked by a writer: {text}; run again when it is free")
        raise GristmillError(f"source {self.path}: {text}")

    def _problem(self, text: str) -> str:
        """What the server said, without our query."""
        if "Failed to connect: " in text:
            return self._address.connection_problem(text)
        said = re.search(r"(?:ERROR|FATAL|PANIC):([^\n]*)", text)
        rest = re.sub(r"(?s)\n(\t|Query was).*|.*\[libpq\] ", "", text)
        return self._address.scrubbed(re.sub(r"\. SQLSTATE.*", "", said[1] if said else rest))
