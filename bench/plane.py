"""Measure the control plane with many chats and many waits: ``python -m bench.plane``.

A thousand chats in the database: a page of 50, and all of them in pages of 100. Then a hundred
waits for one computer-use agent at once: how far apart their answers come, and the longest that
another call took meanwhile.
"""

import asyncio
import tempfile
import time
from pathlib import Path
from statistics import median

import httpx2

from tests.system.services import Service, service

from .tables import milliseconds, save

CHATS = 1000
WAITS = 100
PAUSE_SECONDS = 0.02


def listed(control_plane: Service) -> int:
    """Follow the cursors through all pages and return the number of chats."""
    page = control_plane.get("/api/v0/chats?limit=100")
    seen = len(page["chats"])
    while page["next_cursor"] is not None:
        page = control_plane.get(f"/api/v0/chats?limit=100&cursor={page['next_cursor']}")
        seen += len(page["chats"])
    return seen


async def waited(control_plane: Service, chat_id: str) -> dict[str, float]:
    """Wait for one agent a hundred times at once; return the times of the answers."""
    async with httpx2.AsyncClient(
        base_url=control_plane.url,
        headers={"Authorization": f"Bearer {control_plane.token}"},
        timeout=300,
        limits=httpx2.Limits(max_connections=WAITS + 1),
    ) as client:
        waits = asyncio.gather(*(_one(client, chat_id) for _ in range(WAITS)))
        beside = []
        while not waits.done():
            began = time.perf_counter()
            (await client.get("/healthz")).raise_for_status()
            beside.append(1000 * (time.perf_counter() - began))
            await asyncio.sleep(PAUSE_SECONDS)
        ended = await waits
    return {
        "last_after_first_ms": round(1000 * (max(ended) - min(ended)), 1),
        "call_beside_median_ms": round(median(beside), 1),
        "call_beside_worst_ms": round(max(beside), 1),
    }


async def _one(client: httpx2.AsyncClient, chat_id: str) -> float:
    body = {"chat_id": chat_id, "timeout_seconds": 200}
    answer = (await client.post("/api/v0/tools/wait_agent", json=body)).json()
    assert answer["result"]["outcome"] == "done", answer
    return time.perf_counter()


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        where = ("--data-dir", str(folder / "data"), "--listen", "127.0.0.1:0")
        with service(folder / "errors.log", "up", *where) as control_plane:
            for number in range(CHATS):
                control_plane.post("/api/v0/chats", {"title": f"Chat {number}"})
            assert listed(control_plane) == CHATS
            results = {
                "chats": CHATS,
                "page_of_50_ms": round(
                    milliseconds(lambda: control_plane.get("/api/v0/chats"), 20), 1
                ),
                "all_pages_ms": round(milliseconds(lambda: listed(control_plane), 3), 1),
                "waits": WAITS,
            }
            spawned = control_plane.tool("spawn_computer_use_agent", prompt="show the date")
            results |= asyncio.run(waited(control_plane, spawned["chat_id"]))
    for what, value in results.items():
        print(f"  {what:24} {value:10}")
    save("plane", results)


if __name__ == "__main__":
    main()
