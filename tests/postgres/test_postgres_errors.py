"""What goes wrong with a Postgres source is one clear line, and never holds a password."""

import os
import signal
import socket
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dagster_project.contracts.source_table import TableSpec
from dagster_project.databases import postgres_connection
from dagster_project.databases.postgres import PostgresDatabase
from dagster_project.databases.postgres_address import parse, safe_uri
from dagster_project.errors import GristmillError
from tests.postgres.server import (
    OWNER,
    OWNER_PASSWORD,
    READER,
    READER_PASSWORD,
    Schema,
    Server,
    running_server,
)

SPEC = TableSpec(
    system="test",
    name="things",
    columns={"key": "text", "at": "time", "note": "text"},
    required=("key", "at"),
    key="key",
    event_time="at",
)
SECRETS = (READER_PASSWORD, quote(READER_PASSWORD, safe=""), "wr0ng-p4ss", OWNER_PASSWORD)


@contextmanager
def complaint() -> Iterator[list[str]]:
    """The one line an action must fail with. Nothing that a log could print of the error holds a secret."""
    lines: list[str] = []
    with pytest.raises(GristmillError) as error:
        yield lines
    lines.append(str(error.value))
    assert "\n" not in lines[0]
    assert error.value.__cause__ is None
    assert error.value.__context__ is None
    printed = "".join(traceback.format_exception(error.value)) + repr(error.value)
    for secret in SECRETS:
        assert secret not in "\n".join(line for line in printed.splitlines() if not line.startswith("    "))
    for noise in ("Traceback", "SQLSTATE", "Query was", "libpq"):
        assert noise not in lines[0]


def test_connections_that_fail(server: Server) -> None:
    """A wrong password, user, database, host and port."""
    label = "postgresql://reader:***@127.0.0.1"
    with complaint() as line:
        PostgresDatabase(server.uri(password="wr0ng-p4ss"))
    assert line == [f'source {label}:{server.port}/main: FATAL: password authentication failed for user "reader"']
    with complaint() as line:
        PostgresDatabase(server.uri(password=None))
    assert line == [f"source postgresql://reader@127.0.0.1:{server.port}/main: fe_sendauth: no password supplied"]
    with complaint() as line:
        PostgresDatabase(server.uri(user="nobody"))
    assert 'password authentication failed for user "nobody"' in line[0]
    with complaint() as line:
        PostgresDatabase(server.uri(database="nowhere"))
    assert line == [f'source {label}:{server.port}/nowhere: FATAL: database "nowhere" does not exist']
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        with complaint() as line:
            PostgresDatabase(server.uri(port=port))
    assert line == [f"source {label}:{port}/main: Connection refused"]
    with complaint() as line:
        PostgresDatabase(f"postgresql://{READER}:wr0ng-p4ss@no.such.host.invalid/main")
    assert "could not translate host name" in line[0]


def test_addresses_that_are_misread(server: Server) -> None:
    """libpq quotes what it cannot read; these never reach it, or are not repeated."""
    host = f"127.0.0.1:{server.port}/main"
    for uri in (
        f"postgresql://reader:wr0ng-p4ss@more@{host}",
        f"postgresql://reader:a/wr0ng-p4ss@{host}",
        f"postgresql://reader:wr0ng-p4ss%zz@{host}",
        f"postgresql://reader@{host}?password=a&wr0ng-p4ss",
        f"postgresql://reader@{host}?password=a&wr0ng-p4ss=1",
        f"postgresql://reader@{host}?sslmode=wr0ng-p4ss",
        f"postgresql://reader@{host}?sslpassword=wr0ng-p4ss&port=x",
        "host=127.0.0.1 password=a wr0ng-p4ss",
        "host=127.0.0.1 password='a wr0ng-p4ss",
        "wr0ng-p4ss",
        "",
    ):
        with complaint():
            PostgresDatabase(uri)


def test_a_password_from_the_environment(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "wr0ng-p4ss")
    with complaint():
        PostgresDatabase(server.uri(password=None))
    assert "wr0ng-p4ss" not in parse(server.uri(password=None)).scrubbed("it was wr0ng-p4ss")


def test_every_way_to_give_the_password_works(schema: Schema) -> None:
    schema.execute("create table things (key text, at timestamptz)")
    port = schema.server.port
    escaped = READER_PASSWORD.replace("\\", "\\\\").replace("'", "\\'")
    for uri in (
        schema.server.uri(),
        f"postgres://127.0.0.1:{port}/main?user={READER}&password={quote(READER_PASSWORD, safe='')}&connect_timeout=5",
        f"host=127.0.0.1 port={port} user={READER} dbname=main password='{escaped}'",
    ):
        with PostgresDatabase(uri, schema.name) as database:
            assert list(database.read_all(SPEC)) == []
            assert database.path == f"postgresql://{READER}:***@127.0.0.1:{port}/main"
            assert all(secret not in repr(vars(database)) + repr(vars(database._connection)) for secret in SECRETS)


def test_what_is_not_there(schema: Schema) -> None:
    label = safe_uri(schema.server.uri())
    with complaint() as line:
        PostgresDatabase(schema.server.uri(), "nowhere")
    assert line == [f"source {label} has no schema 'nowhere'"]
    with schema.open() as database, complaint() as line:
        database.shape(SPEC)
    assert line == [f"{label} has no table 'things' in schema '{schema.name}'"]
    schema.execute("create table things (key text)")
    with schema.open() as database, complaint() as line:
        list(database.read_all(SPEC))
    assert line == [f"{label}: table 'things' has no column 'at'"]


def test_what_is_forbidden(schema: Schema) -> None:
    label = safe_uri(schema.server.uri())
    schema.execute("create table things (key text, at timestamptz, note text)")
    schema.server.execute(f"revoke all on {schema.name}.things from reader")
    with schema.open() as database, complaint() as line:
        database.fingerprints(SPEC)
    assert line == [f"source {label}: permission denied for table things"]
    schema.server.execute(f"revoke all on schema {schema.name} from reader")
    with complaint() as line:
        schema.open()
    assert line == [f"source {label} does not let this user into schema '{schema.name}'"]


def test_after_an_error_nothing_more_is_read(schema: Schema) -> None:
    schema.execute("create table things (key text, at timestamptz, note text)")
    broken = replace(SPEC, part="none", where_postgres="1 / 0 > 0")
    with schema.open() as database:
        with complaint() as line:
            list(database.read_all(broken))
        assert line[0].endswith(": division by zero")
        with complaint():
            database.fingerprints(SPEC)


def test_the_connection_is_cut_in_the_middle(schema: Schema, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_connection, "BATCH_ROWS", 2)
    schema.execute(
        "create table things (key text, at timestamptz)",
        "insert into things select n, now() from generate_series(1, 9) n",
    )
    with schema.open() as database:
        stream = database.read_all(SPEC)
        next(stream)
        pid = database._connection.rows("select pg_backend_pid() as pid")[0]["pid"]
        schema.server.ask(f"select pg_terminate_backend({pid}, 5000)")
        with complaint() as line:
            list(stream)
        assert line == [f"source {database.path}: terminating connection due to administrator command"]
        with complaint():
            database.fingerprints(SPEC)


def test_the_server_dies_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server of its own, killed while a table is read: one line, now and on the next try."""
    monkeypatch.setattr(postgres_connection, "BATCH_ROWS", 2)
    with running_server() as doomed:
        doomed.execute("create table things as select n::text as key, now() as at from generate_series(1, 9) n")
        with PostgresDatabase(doomed.uri(OWNER, OWNER_PASSWORD)) as database:
            stream = database.read_all(SPEC)
            next(stream)
            os.kill(doomed.pid, signal.SIGQUIT)
            with complaint() as line:
                list(stream)
            assert line[0].startswith(f"source {database.path}: ")
            with complaint():
                database.originals(SPEC, [1])
        with complaint():
            PostgresDatabase(doomed.uri(OWNER, OWNER_PASSWORD))


def test_a_pooler_that_keeps_no_transaction(schema: Schema, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a transaction there is no snapshot: refused, not read anyway."""
    connect = postgres_connection.adbc.connect

    def careless(uri: str, **_: Any) -> Any:
        return connect(uri, autocommit=True)

    monkeypatch.setattr(postgres_connection.adbc, "connect", careless)
    with complaint() as line:
        schema.open()
    assert "does not keep a read-only transaction" in line[0]


# --- addresses -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("postgresql://u:pw@h:5432/d", "postgresql://u:***@h:5432/d"),
        ("postgres://u:pw@h/d?sslmode=require", "postgresql://u:***@h/d"),
        ("postgresql://u@h/d", "postgresql://u@h/d"),
        ("postgresql://h/d", "postgresql://h/d"),
        ("postgresql://u:@h/d", "postgresql://u@h/d"),
        ("postgresql://u:p%40w%2F@h/d", "postgresql://u:***@h/d"),
        ("postgresql://u@h/d?password=pw&sslmode=disable", "postgresql://u:***@h/d"),
        ("postgresql://u@h/d?sslpassword=pw", "postgresql://u:***@h/d"),
        ("postgresql://u:p:w?#@[::1]:5432,h2:5433/d", "postgresql://u:***@[::1]:5432,h2:5433/d"),
        ("postgresql:///d?host=/run/pg&user=u&port=5433", "postgresql://u@/run/pg:5433/d"),
        ("host=h user=u password=pw dbname=d", "postgresql://u:***@h/d"),
        ("host = h port=1 user=u password = 'p\\'w x' dbname='d'", "postgresql://u:***@h:1/d"),
        ("password=p\\ w host=h", "postgresql://:***@h/"),
        ("postgresql://u:p@w@h/d", "postgresql://***"),
        ("nonsense", "postgresql://***"),
    ],
)
def test_what_an_address_is_called(uri: str, expected: str) -> None:
    assert safe_uri(uri) == expected


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=8, max_size=20))
@example("p@ss/w:rd")
@example("'; drop table x")
@example("%41%42%43%44")
def test_no_password_is_ever_shown(password: str) -> None:
    """Whatever it is made of, in an address of each form, and in a message that repeats it."""
    percent = quote(password, safe="")
    escaped = password.replace("\\", "\\\\").replace("'", "\\'")
    for uri in (
        f"postgresql://u:{percent}@h/d",
        f"postgresql://h/d?user=u&password={percent}",
        f"host=h user=u dbname=d password='{escaped}'",
    ):
        address = parse(uri)
        assert address.safe == "postgresql://u:***@h/d"
        assert password not in repr(address)
        for shown in (password, percent, uri):
            message = address.scrubbed(f"it says {shown} somewhere")
            assert " ".join(password.split()) not in message or not password.strip()
            assert percent not in message


def test_short_passwords_leave_messages_readable() -> None:
    address = parse("postgresql://u:a@h/d")
    assert address.scrubbed("a table a1 has no column 'a'") == "*** table a1 has no column '***'"
