"""Measurements of a running control plane, and the route of its metrics."""

from collections import Counter
from importlib.metadata import version

from fastapi import APIRouter

from deskhand.tools.agents.chats.chats import Chats
from deskhand.tools.control_plane.metrics.api import router
from deskhand.tools.control_plane.metrics.measurements import Measurements
from deskhand.tools.fleet.placement.placement import Placement
from deskhand.tools.store import chats as chat_rows
from deskhand.tools.store import files, messages
from deskhand.tools.store.database import Store

from .cluster import ReadCluster


def metrics_router(store: Store, chats: Chats, fleet: Placement, cluster: ReadCluster) -> APIRouter:
    """Return the route of the metrics."""

    async def measure() -> Measurements:
        states = await store.read(chat_rows.count_by_state)
        queued = await store.read(messages.queued)
        stored = await store.read(files.total_size)
        database = await store.size()
        desktops = Counter[str](one.status for one in await fleet.list())
        return Measurements(
            *(version("deskhand"), states, queued, desktops),
            store_bytes={"database": database, "files": stored},
            spawns=fleet.spawns,
            tool_calls=chats.tool_calls,
            dropped_thinking=await chats.dropped_thinking(),
            costs=chats.costs,
            cluster=await cluster(),
        )

    return router(measure)
