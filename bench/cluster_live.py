"""Measure a live view straight at a node, as root: ``python -m bench.cluster_live``.

A whole deployment (`tests.cluster.deployment`); a desktop on a node shows lines that scroll, and a
viewer reads its screen as pixels without compression. Three situations take turns: no viewer, one
through a control plane, one at the node with a ticket. One row of JSON for each: processor time of
both control planes and of the node's daemon in each second, and what the viewer got.
"""

import asyncio
import json
import ssl
import struct
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from statistics import median

import psutil
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.cluster.deployment import Deployment, deployment
from tests.postgres_server import postgres_server
from tests.vncbridge.rfb.client_messages import HELLO, encodings

from .tables import save

SECONDS = 8.0
TURNS = 3
PAUSE_SECONDS = 0.04
SCROLL = "xterm -maximized -e sh -c 'while :; do seq 40; sleep 0.05; done'"
REQUEST = struct.pack(">BBHHHH", 3, 1, 0, 0, 1280, 720)
MIB = 1024 * 1024
AT_REST, THROUGH, AT_NODE = "no viewer", "through a control plane", "at the node"
ROW = "live view at the node: CPU of the control plane"


async def watch(url: str, tls: ssl.SSLContext | None, bearer: str) -> float:
    """Read the screen for some seconds; return the MiB."""
    headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
    got = 0
    opening = connect(
        *(url,), ssl=tls, proxy=None, max_size=None, additional_headers=headers, compression=None
    )
    async with opening as stream:

        async def ask() -> None:
            await stream.send(HELLO)
            await stream.send(encodings(0))
            while True:
                await stream.send(REQUEST)
                await asyncio.sleep(PAUSE_SECONDS)

        asking = asyncio.create_task(ask())
        with suppress(TimeoutError, ConnectionClosed):
            async with asyncio.timeout(SECONDS):
                while True:
                    got += len(await stream.recv())
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
    return got / MIB


def used(processes: list[psutil.Process]) -> float:
    """Return their seconds of processor time."""
    return sum(sum(one.cpu_times()[:2]) for one in processes)


def measured(d: Deployment, desktop: str, way: str) -> dict[str, float]:
    """Return the figures of one situation."""
    ((node,),) = d.rows(f"SELECT node FROM desktops WHERE id = '{desktop}'")
    planes = [psutil.Process(one.pid) for one in d.planes]
    daemon = [psutil.Process(d.nodes[node].pid)]
    path = f"/api/v0/desktops/{desktop}/desktop"
    begun = used(planes), used(daemon), time.perf_counter()
    mib = 0.0
    if way == AT_NODE:
        url = d.post(f"{path}/tickets", {"role": "view"})["url"]
        tls = ssl.create_default_context(cafile=d.viewers.ca)
        mib = asyncio.run(watch(url, tls, ""))
    elif way == THROUGH:
        base = str(d.planes[0].ready["url"]).replace("http", "ws", 1)
        mib = asyncio.run(watch(f"{base}{path}/vnc", None, d.planes[0].ready["token"]))
    else:
        time.sleep(SECONDS)
    taken = time.perf_counter() - begun[2]
    return {
        "planes_ms_per_s": 1000 * (used(planes) - begun[0]) / taken,
        "node_ms_per_s": 1000 * (used(daemon) - begun[1]) / taken,
        "mib_per_s": mib / taken,
    }


def rows(d: Deployment) -> Iterator[dict[str, object]]:
    """Measure all situations in turns; yield the medians."""
    desktop = d.post("/api/v0/desktops", {"name": "viewed"})["id"]
    started = {"command": SCROLL, "background": True}
    d.post(f"/api/v0/desktops/{desktop}/processes/start", started)
    ways = (AT_REST, THROUGH, AT_NODE)
    turns = [{way: measured(d, desktop, way) for way in ways} for _ in range(TURNS)]
    for way in ways:
        names = turns[0][way]
        figures = {name: round(median(turn[way][name] for turn in turns), 2) for name in names}
        yield {"measurement": ROW, "way": way, **figures}


def main() -> int:
    with (
        tempfile.TemporaryDirectory(prefix="dh-", dir="/tmp") as folder,
        postgres_server() as server,
        deployment(server, Path(folder), {}) as made,
    ):
        found = list(rows(made))
    for row in found:
        print(json.dumps(row), flush=True)
    save("cluster_live", {"rows": found})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
