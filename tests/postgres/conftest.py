"""One Postgres per worker process of a test session, and a schema of its own for every test."""

import itertools
from collections.abc import Callable, Iterator

import pytest

from tests.postgres.server import Schema, Server, running_server

_numbers = itertools.count()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/postgres/" in item.path.as_posix():
            item.add_marker("postgres")


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A running server. Where none can be started these tests fail; they are never left out in silence."""
    with running_server() as found:
        yield found


@pytest.fixture
def new_schema(server: Server) -> Callable[..., Schema]:
    """Makes schemas; each is new."""

    def make(database: str = "main") -> Schema:
        schema = Schema(server, f"test_{next(_numbers)}", database)
        server.execute(
            f"create schema {schema.name}", f"grant usage on schema {schema.name} to reader", database=database
        )
        return schema

    return make


@pytest.fixture
def schema(new_schema: Callable[..., Schema]) -> Schema:
    return new_schema()
