"""What a control plane reads of the nodes of its cluster."""

from collections.abc import Awaitable, Callable
from importlib import import_module

from deskhand.tools.control_plane.metrics.nodes import MeasuredCluster
from deskhand.tools.control_plane.settings import Settings
from deskhand.tools.store.database import Store

ReadCluster = Callable[[], Awaitable[MeasuredCluster | None]]
"""Returns None on one machine."""


def cluster_reader(settings: Settings, store: Store) -> ReadCluster:
    """Return how the nodes of this control plane are read."""

    async def read() -> MeasuredCluster | None:
        if not settings.cluster:
            return None
        # One machine does not load what only a cluster needs.
        records = import_module("deskhand.tools.cluster.placing.records")
        found: MeasuredCluster = await store.read(records.cluster_view)
        return found

    return read
