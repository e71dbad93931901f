"""Compare a click with its settled image over MCP with our own routes: ``python -m bench.mcp``.

In turns: the route of a desktop, its ``/mcp``, the route through a control plane, and a process on
standard input and output in front of that control plane. Also the time until such a process has
listed its tools without a control plane, and the memory of a desktop over 200 calls.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
import psutil
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from bench.tables import save
from tests.system.services import DESKHAND, Service, service

TURNS = 40
STARTS = 5
CALLS = 200
MIB = 1024 * 1024

Click = Callable[[int], Awaitable[Any]]


def action(turn: int) -> dict[str, Any]:
    """Return a click; two neighbouring points, so that the pointer changes the picture."""
    return {"action": "left_click", "coordinate": [640 + turn % 2 * 40, 300]}


def by_route(http: httpx2.AsyncClient, path: str, chat: str = "") -> Click:
    """Return a click with its settled image over our own route."""

    async def click(turn: int) -> Any:
        # As many milliseconds of rest as over MCP.
        body = {**action(turn), "observe": {"settle": {"max_ms": 3000}}}
        headers = {"Deskhand-Chat-Id": chat} if chat else {}
        answer = await http.post(path, json=body, headers=headers)
        assert answer.json()["screenshot_data"]

    return click


def by_mcp(client: Client) -> Click:
    """Return the same over MCP."""

    async def click(turn: int) -> Any:
        found = await client.call_tool("computer_act", {"actions": [action(turn)]})
        assert len(found.content) == 2, found

    return click


async def taken(ways: dict[str, Click]) -> dict[str, dict[str, float]]:
    """Return the milliseconds of each way, measured in turns: the median and the quickest.

    The quickest shows what a way costs while other work keeps the machine busy.
    """
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(TURNS):
        for name, click in ways.items():
            began = time.perf_counter()
            # Each way clicks at both points, so that none finds the pointer of another.
            await click(2 * turn)
            await click(2 * turn + 1)
            spent[name].append((time.perf_counter() - began) * 500)
    return {
        "median": {name: round(median(each), 1) for name, each in spent.items()},
        "quickest": {name: round(min(each), 1) for name, each in spent.items()},
    }


def more(spent: dict[str, dict[str, float]], name: str) -> dict[str, float]:
    """Return how much longer a way takes than the route."""
    return {kind: round(each[name] - each["route"], 1) for kind, each in spent.items()}


@asynccontextmanager
async def http_of(found: Service) -> AsyncIterator[httpx2.AsyncClient]:
    headers = {"Authorization": f"Bearer {found.token}"}
    async with httpx2.AsyncClient(base_url=found.url, headers=headers, timeout=60) as http:
        yield http


def mcp_over(http: httpx2.AsyncClient, found: Service, era: str) -> Client:
    return Client(
        streamable_http_client(f"{found.url}/mcp?pictures=on", http_client=http), mode=era
    )


def stdio(environment: dict[str, str]) -> Client:
    server = StdioServerParameters(
        command=DESKHAND, args=["mcp", "--pictures", "on"], env={**os.environ, **environment}
    )
    return Client(stdio_client(server))


async def on_desktop(desktop: Service) -> dict[str, Any]:
    """Compare the route of a desktop with its ``/mcp``, and measure its memory."""
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(http_of(desktop))
        route = by_route(http, "/api/v0/desktop/action")
        new, old = [
            by_mcp(await stack.enter_async_context(mcp_over(http, desktop, era)))
            for era in ("auto", "legacy")
        ]
        for click in (route, new, old):
            await click(0)
        spent = await taken({"route": route, "mcp": new, "mcp_initialize": old})
        before = memory(desktop)
        for turn in range(CALLS):
            await new(turn)
        grown = memory(desktop) - before
    return {**spent, "more": more(spent, "mcp"), "grown_mib": round(grown, 1)}


async def on_stdio(plane: Service, data: Path) -> dict[str, Any]:
    """Compare the route through a control plane with a process on standard input and output."""
    environment = {"DESKHAND_URL": plane.url, "DESKHAND_TOKEN": plane.token}
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(http_of(plane))
        client = await stack.enter_async_context(stdio(environment))
        await client.call_tool("computer_look", {})
        (chat,) = plane.get("/api/v0/chats")["chats"]
        path = f"/api/v0/desktops/{chat['desktop_id']}/desktop/action"
        ways = {"route": by_route(http, path, chat["id"]), "stdio": by_mcp(client)}
        for click in ways.values():
            await click(0)
        spent = await taken(ways)
    return {**spent, "more": more(spent, "stdio")}


async def start(data: Path) -> float:
    """Return the milliseconds until a process without a control plane has listed its tools."""
    began = time.perf_counter()
    async with stdio({"DESKHAND_DATA_DIR": str(data)}) as client:
        assert (await client.list_tools()).tools
        return (time.perf_counter() - began) * 1000


def memory(found: Service) -> float:
    """Return the MiB of the largest process of a service."""
    below = psutil.Process(found.ready["pid"]).children(recursive=True)
    named = [one for one in below if one.name().startswith(("deskhand", "python"))]
    return max(float(one.memory_info().rss) for one in named) / MIB


def main() -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        with service(folder / "desktop.log", "desktop", "--listen", "127.0.0.1:0") as desktop:
            http = asyncio.run(on_desktop(desktop))
        print(f"ms of a click with its image on a desktop: {http}")
        data = folder / "data"
        options = ("up", "--data-dir", str(data), "--listen", "127.0.0.1:0")
        with service(folder / "plane.log", *options) as plane:
            relayed = asyncio.run(on_stdio(plane, data))
        print(f"ms of a click with its image through a control plane: {relayed}")
        starts = [asyncio.run(start(folder / "own")) for _ in range(STARTS)]
    listed = round(median(starts))
    print(f"tools listed after {listed} ms")
    save("mcp", {"http": http, "stdio": relayed, "listed_ms": listed})


if __name__ == "__main__":
    main()
