"""Modules that a control plane loads when a request needs them, and not for its start."""

import importlib
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from deskhand.desktop.mcp.api import CallerOf
from deskhand.tools.control_plane.ports import Chats
from deskhand.tools.store.ownership import ChatOwnership
from deskhand.vncbridge.openapi.document import ApiOperations

Load = Callable[[str], Any]


def mcp_callers(
    chats: Chats, owning: ChatOwnership, base_url: str, load: Load = importlib.import_module
) -> CallerOf:
    """Load the calls of MCP's tools; see `McpEndpoint`."""
    found: CallerOf = load("deskhand.tools.mcp.plane_calls").PlaneCallers(chats, owning, base_url)
    return found


def plane_moments(
    certificates: Path,
    host: str,
    port: int,
    peers: Callable[[], Awaitable[object]],
    load: Load = importlib.import_module,
) -> AbstractAsyncContextManager[Any]:
    """Load and open the events of the moment between control planes; see `PlaneMoments`."""
    found: AbstractAsyncContextManager[Any] = load("deskhand.tools.cluster.moments").plane_moments(
        certificates, host, port, peers
    )
    return found


def node_desktops(load: Load = importlib.import_module) -> Any:
    """Load the module of the desktops on nodes."""
    return load("deskhand.tools.control_plane.service.node_desktops")


def operations(load: Load = importlib.import_module) -> ApiOperations:
    """Load names and answers of the operations, for the OpenAPI document."""
    found: ApiOperations = load("deskhand.tools.control_plane.openapi.operations").OPERATIONS
    return found
