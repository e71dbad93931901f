"""The rows of desktops and nodes, as the placer reads and writes them; each change is announced."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.store.database import Store
from deskhand.tools.store.rows import desktops, nodes
from deskhand.tools.store.tables.base import database_time
from deskhand.tools.store.tables.desktops import DesktopRow, NodeRow

from .node_view import ClusterView, NodeView, view_of
from .situation import PlacedDesktop, RoomWait

Json = dict[str, Any]


@dataclass(frozen=True)
class Rows:
    """All rows at one moment."""

    now: float
    desktops: tuple[PlacedDesktop, ...]
    orders: Mapping[str, Json]
    """The order of each desktop, for its node."""
    nodes: Mapping[str, NodeRow]


class Records:
    """The rows of a database; ``changed`` is called with the id of each desktop that changes."""

    def __init__(self, store: Store, changed: Callable[[str], None]) -> None:
        self._store = store
        self._changed = changed

    async def read(self) -> Rows:
        """Return all rows."""

        async def work(session: AsyncSession) -> Rows:
            found = await desktops.living(session)
            return Rows(
                await database_time(session),
                tuple([_placed(row) for row in found]),
                {row.id: row.wanted for row in found},
                {row.name: row for row in await nodes.every(session)},
            )

        return await self._store.read(work)

    async def begin_start(self, desktop_id: str, node: str, address: str) -> int:
        """Let a desktop start; return the generation, 0 if it is not wanted any more."""

        async def work(session: AsyncSession) -> int:
            return await desktops.begin_start(session, desktop_id, node, address)

        generation = await self._store.write(work)
        self._changed(desktop_id)
        return generation

    async def move(
        self,
        desktop_id: str,
        before: Collection[str],
        state: str,
        generation: int | None,
        columns: Mapping[str, Any],
    ) -> bool:
        """Change the state of a desktop, if it has one of ``before``, and this generation."""

        async def work(session: AsyncSession) -> bool:
            return await desktops.move(
                session, desktop_id, before, state, generation=generation, **columns
            )

        moved = await self._store.write(work)
        if moved:
            self._changed(desktop_id)
        return moved

    async def explain(self, waits: Mapping[str, RoomWait]) -> None:
        """Record why desktops wait."""

        async def work(session: AsyncSession) -> None:
            for desktop_id, wait in waits.items():
                await desktops.explain(session, desktop_id, wait.reason, wait.full_nodes)

        await self._store.write(work)
        for desktop_id in waits:
            self._changed(desktop_id)

    async def readdress(self, desktop_id: str, node: str, address: str) -> None:
        """Record the new address of a desktop's node."""

        async def work(session: AsyncSession) -> bool:
            return await desktops.readdress(session, desktop_id, node, address)

        if await self._store.write(work):
            self._changed(desktop_id)

    async def seen(self, answers: Mapping[str, Mapping[str, Any]]) -> None:
        """Record that nodes have answered, with their columns."""

        async def work(session: AsyncSession) -> None:
            for name, columns in sorted(answers.items()):
                await nodes.seen(session, name, **columns)

        await self._store.write(work)

    async def mark(self, name: str, reason: str) -> None:
        """Record why a node gets no desktops; empty if it does."""
        await self._store.write(lambda session: nodes.mark(session, name, reason))

    async def fail_node(self, name: str, count: int, reason: str, seconds: float) -> None:
        """Record a failed start; with ``seconds`` the node gets no desktops for so long.

        A ``count`` of 0 records that a start has succeeded.
        """

        async def work(session: AsyncSession) -> None:
            if count:
                await nodes.count_failure(session, name, count)
            else:
                await nodes.change(session, name, failures=0)
            if seconds:
                await nodes.refuse_for(session, name, seconds, reason)

        await self._store.write(work)

    async def clean(self, gone: Collection[str] = ()) -> None:
        """Delete rows of desktops that are long over, and of nodes that are gone."""

        async def work(session: AsyncSession) -> None:
            await desktops.forget_old(session)
            for name in gone:
                await nodes.forget(session, name)

        await self._store.write(work)


async def node_views(session: AsyncSession) -> list[NodeView]:
    """Return all nodes with the numbers of their desktops."""
    counts, now = await desktops.count_by_node(session), await database_time(session)
    return [view_of(row, counts.get(row.name, 0), now) for row in await nodes.every(session)]


async def cluster_view(session: AsyncSession) -> ClusterView:
    """Return all nodes, and how many desktops wait for a place."""
    return ClusterView(tuple(await node_views(session)), await desktops.count_waiting(session))


def _placed(row: DesktopRow) -> PlacedDesktop:
    return PlacedDesktop(
        *(row.id, row.state, row.node, row.address, row.generation),
        wait=RoomWait(row.reason, tuple(row.full_nodes or ())),
        changed_at=row.changed_at,
        workdir=str(row.wanted.get("workdir") or ""),
        profile=str(row.wanted.get("profile") or ""),
    )
