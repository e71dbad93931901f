"""MCP on standard input and output, until the input ends or a signal comes."""

import asyncio
import os
import signal
from importlib.metadata import version

from deskhand.desktop.mcp.ports import McpCaller, ToolCalls
from deskhand.desktop.mcp.selection import ToolSelection
from deskhand.desktop.mcp.server import McpServer

from .proxied_desktop import NamedDesktopCalls
from .relay import RelayedCalls
from .stdio_plane import StdioPlane

OF_CHAT = ("own", "none")
"""Values of ``--desktop`` that name no desktop."""


async def serve(connection: StdioPlane, desktop: str, selection: ToolSelection) -> None:
    """Serve one host; the control plane is sought or started at the first call that needs it."""
    caller = McpCaller("stdio", tool_calls(connection, desktop, selection))
    server = McpServer(lambda _: caller, version("deskhand"))
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    serving = asyncio.create_task(server.serve_stdio(), name="serve")
    stopping = asyncio.create_task(stopped.wait(), name="stop")
    try:
        await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopping.cancel()
        await connection.close()
    if not serving.done():
        # A thread waits for the next line of input, which nothing else can end.
        os._exit(0)
    await serving


def tool_calls(connection: StdioPlane, desktop: str, selection: ToolSelection) -> ToolCalls:
    """Return the tools: those of this process's chat, or of a named desktop."""
    if desktop in OF_CHAT:
        return RelayedCalls(connection, selection)
    return NamedDesktopCalls(connection, desktop, selection)
