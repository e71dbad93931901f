"""Queries on the database of a deployment, from tests with or without a loop of their own."""

from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg
from anyio.from_thread import BlockingPortal, start_blocking_portal


class Queries:
    """One connection, opened again after a restart of the server.

    A program for each query, as often as a test looks, would take more of the processor than what
    is tested.
    """

    def __init__(self, url: str, portal: BlockingPortal) -> None:
        self._url = url
        self._portal = portal
        self._connection: asyncpg.Connection | None = None

    def rows(self, query: str) -> list[list[str]]:
        """Return what a query finds, as texts; NULL is empty."""
        return self._portal.call(self._rows, query)

    def close(self) -> None:
        """Close the connection, also one whose server is gone."""
        if self._connection is not None:
            self._portal.call(self._connection.terminate)

    async def _rows(self, query: str) -> list[list[str]]:
        if self._connection is None or self._connection.is_closed():
            self._connection = await asyncpg.connect(self._url)
        found = await self._connection.fetch(query)
        return [["" if value is None else str(value) for value in row] for row in found]


@contextmanager
def queries(url: str) -> Iterator[Queries]:
    """Ask the database at a URL until the block ends."""
    with start_blocking_portal() as portal:
        made = Queries(url, portal)
        try:
            yield made
        finally:
            made.close()
