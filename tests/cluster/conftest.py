"""What the tests of several control planes share."""

from collections.abc import Iterator

import pytest

from tests.postgres_server import PostgresServer, binaries, postgres_server


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgresServer]:
    """A private server for all tests."""
    yield from _server()


@pytest.fixture
def database(postgresql: PostgresServer) -> str:
    """The URL of an empty database."""
    return postgresql.database()


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    """A server of the test's own, which it stops and starts."""
    yield from _server()


def _server() -> Iterator[PostgresServer]:
    if binaries() is None:
        pytest.skip("the package postgresql is not installed")
    with postgres_server() as made:
        yield made
