"""The tools of Deskhand's MCP server as a list of LangChain tools."""

import asyncio
import sys
from typing import Any

import httpx2
from mcp import Client, types
from mcp.client.streamable_http import streamable_http_client

USAGE = "usage: python examples/langchain_tools.py URL TOKEN, of a desktop or a control plane"
try:
    from langchain_core.tools import StructuredTool
except ModuleNotFoundError as missing:
    sys.exit(f"{USAGE}; needs the package langchain-core ({missing})")


def langchain_tool(client: Client, tool: types.Tool) -> StructuredTool:
    """Return a tool whose content is a list of texts and images for the model."""

    async def call(**arguments: Any) -> list[dict[str, Any]]:
        result = await client.call_tool(tool.name, arguments)
        return [
            {"type": "text", "text": block.text}
            if isinstance(block, types.TextContent)
            else {"type": "image", "mime_type": block.mime_type, "base64": block.data}
            for block in result.content
            if isinstance(block, types.TextContent | types.ImageContent)
        ]

    return StructuredTool(
        name=tool.name,
        description=tool.description or "",
        args_schema=tool.input_schema,
        coroutine=call,
    )


async def main(url: str, token: str) -> None:
    """Print the names of the tools, for `create_agent(model, tools)`, and a call's content."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
    ):
        tools = [langchain_tool(client, tool) for tool in (await client.list_tools()).tools]
        sys.stdout.write(f"{' '.join(tool.name for tool in tools)}\n")
        execute = next(tool for tool in tools if tool.name == "execute")
        sys.stdout.write(f"{await execute.ainvoke({'command': 'echo hello'})}\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(USAGE)
    asyncio.run(main(*sys.argv[1:]))
