"""Measurements of a running control plane, and the route of its metrics."""

import asyncio
from collections import Counter
from importlib.metadata import version
from pathlib import Path

from fastapi import APIRouter

from deskhand.tools.agents.chats.chats import Chats
from deskhand.tools.control_plane.metrics.api import router
from deskhand.tools.control_plane.metrics.measurements import Measurements
from deskhand.tools.fleet.fleet import Fleet
from deskhand.tools.store import chats as chat_rows
from deskhand.tools.store import files, messages
from deskhand.tools.store.database import Store

_DATABASE = ("deskhand.db", "deskhand.db-wal")


def metrics_router(data: Path, store: Store, chats: Chats, fleet: Fleet) -> APIRouter:
    """Return the route of the metrics; ``data`` is the data directory."""

    async def measure() -> Measurements:
        states = await store.read(chat_rows.count_by_state)
        queued = await store.read(messages.queued)
        stored = await store.read(files.total_size)
        database = await asyncio.to_thread(_sizes, data)
        desktops = Counter[str](one.status for one in await fleet.list())
        return Measurements(
            *(version("deskhand"), states, queued, desktops),
            store_bytes={"database": database, "files": stored},
            spawns=fleet.spawns,
            tool_calls=chats.tool_calls,
            dropped_thinking=await chats.dropped_thinking(),
            costs=chats.costs,
        )

    return router(measure)


def _sizes(data: Path) -> int:
    present = (data / name for name in _DATABASE)
    return sum(path.stat().st_size for path in present if path.exists())
