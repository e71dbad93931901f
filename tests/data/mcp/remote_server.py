"""A server of the official SDK: `remote_server.py http|sse ADDRESS PORT`."""

import asyncio
import sys
from pathlib import Path

from mcp.server import MCPServer
from mcp.server.mcpserver import Context

server = MCPServer("remote", log_level="CRITICAL")


@server.tool()
def echo(text: str) -> str:
    """Return the text."""
    return text


@server.tool()
async def caller(context: Context) -> str:
    """Return the address of the caller, and its key."""
    request = context.request_context.request
    assert request is not None
    return f"{request.client.host} {request.headers.get('x-key')}"


@server.tool()
async def hang(text: str) -> str:
    """Write a file of this name, and answer never."""
    await asyncio.to_thread(Path(text).touch)
    await asyncio.Event().wait()
    return text


transport, address, port = sys.argv[1:]
if transport == "sse":
    server.run(transport="sse", host=address, port=int(port))
else:
    server.run(transport="streamable-http", host=address, port=int(port))
