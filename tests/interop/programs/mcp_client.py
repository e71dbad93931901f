"""The SDK's client in both eras: `http URL TOKEN`, or `stdio COMMAND OPTION...`."""

import asyncio
import os
import sys
from contextlib import AsyncExitStack

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

CLICK = {"action": "left_click", "coordinate": [640, 300]}


async def check(how: str, arguments: list[str], era: str) -> None:
    async with AsyncExitStack() as stack:
        if how == "http":
            url, token = arguments
            headers = {"Authorization": f"Bearer {token}"}
            http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=60))
            connected = streamable_http_client(f"{url}/mcp?pictures=on", http_client=http)
        else:
            command, *options = arguments
            server = StdioServerParameters(command=command, args=options, env=dict(os.environ))
            connected = stdio_client(server)
        client = await stack.enter_async_context(Client(connected, mode=era))
        tools = (await client.list_tools()).tools
        assert len(tools) in (13, 18), tools
        ran = await client.call_tool("execute", {"command": "echo $((6*7))"})
        assert ran.structured_content["output"] == "42\n", ran
        acted = await client.call_tool("computer_act", {"actions": [CLICK]})
        assert [block.type for block in acted.content] == ["text", "image"], acted
        if len(tools) == 18:
            listed = await client.call_tool("list_agents", {})
            assert not listed.is_error, listed
        assert (await client.list_prompts()).prompts[0].name == "use_a_computer"
        found = await client.read_resource("deskhand://desktop/screenshot")
        assert str(found.contents[0].mime_type).startswith("image/")
        print(f"{how} {era}: {client.protocol_version}")


for one in ("legacy", "auto"):
    asyncio.run(check(sys.argv[1], sys.argv[2:], one))
