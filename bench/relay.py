"""Compare our relay with websockify and a plain socket, in turns: ``python -m bench.relay``.

Measures throughput, CPU and memory with 1, 10 and 50 viewers, the latency of a small message, and
the time from a key to its pixels: for a client on a socket, and within a page of a real Chromium.
Without websockify, which is no dependency, the other two are measured.
"""

import asyncio
import struct
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from playwright.async_api import Page, async_playwright

from bench.relay_ways import (
    ClientConnection,
    Way,
    direct,
    echo,
    flood,
    ours,
    program,
    source,
    websockify,
)
from bench.tables import save
from deskhand.vncbridge.viewer import pages as viewer
from tests.system.browsing import MOSTLY_MAGENTA, terminal
from tests.vncbridge.fakes import Service, short_folder
from tests.vncbridge.rfb.client_messages import HELLO, encodings, key

MIB = 1024 * 1024
MIB_EACH = {1: 256, 10: 32, 50: 8}
TURNS = 3
ECHOES = 400
KEYS = 15
SIZE = (800, 600)
LETTER = 0x78
OPEN = """async (address) => {
  const { default: RFB } = await import("/viewer/novnc/core/rfb.js");
  const place = document.createElement("div");
  Object.assign(place.style, { width: "800px", height: "600px" });
  document.body.replaceChildren(place);
  window.rfb = new RFB(place, address);
}"""
TYPE = """async (count) => {
  const canvas = document.querySelector("canvas");
  const context = canvas.getContext("2d");
  // The lines that are typed into.
  const seen = () => new Uint32Array(context.getImageData(0, 0, canvas.width, 60).data.buffer);
  const spent = [];
  for (let i = 0; i < count; i++) {
    const before = seen();
    const began = performance.now();
    window.rfb.sendKey(0x78, "KeyX");
    for (;;) {
      await new Promise(requestAnimationFrame);
      const after = seen();
      if (after.some((pixel, at) => pixel !== before[at])) break;
    }
    spent.push(performance.now() - began);
    await new Promise((later) => setTimeout(later, 100));
  }
  return spent;
}"""

Ways = Mapping[str, Way]
Row = dict[str, Any]


@contextmanager
def ways_to(path: Path) -> Iterator[Ways]:
    """Open all ways to one RFB server."""
    with ExitStack() as stack:
        found = {"ours": stack.enter_context(ours(path))}
        if program().exists():
            found["websockify"] = stack.enter_context(websockify(path))
        yield found | {"no relay": stack.enter_context(direct(path))}


def between(ways: Ways) -> Ways:
    """Return those with a relay."""
    return {name: way for name, way in ways.items() if way.port is not None}


def carried(way: Way, watchers: int, size: int) -> tuple[float, float]:
    """Return MiB a second for all, and the relay's milliseconds of work for each MiB."""

    def watch(_: int) -> None:
        with way.connect() as connection:
            connection.take(size)

    worked, began = way.cpu(), time.perf_counter()
    with ThreadPoolExecutor(watchers) as pool:
        list(pool.map(watch, range(watchers)))
    seconds, mib = time.perf_counter() - began, watchers * size / MIB
    return mib / seconds, (way.cpu() - worked) * 1000 / mib


def throughput(watchers: int) -> dict[str, Row]:
    """As many watchers as fast as they can."""
    size = MIB_EACH[watchers] * MIB
    with (
        short_folder() as folder,
        source(folder / "rfb", flood(size)) as path,
        ways_to(path) as ways,
    ):
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
        for _ in range(TURNS):
            for name, way in ways.items():
                taken[name].append(carried(way, watchers, size))
    return {
        name: {
            "mib_s": round(median(speed for speed, _ in turns)),
            "cpu_ms_per_mib": round(median(work for _, work in turns), 2),
        }
        for name, turns in taken.items()
    }


def connected(connection: ClientConnection) -> ClientConnection:
    """Complete a handshake with a server that echoes."""
    connection.send(HELLO)
    connection.read(len(HELLO))
    return connection


def memory(ways: Ways, watchers: int) -> dict[str, float]:
    """Return the MiB of each way with so many viewers of a still screen."""
    found = {}
    for name, way in ways.items():
        with ExitStack() as stack:
            for _ in range(watchers):
                connected(stack.enter_context(way.connect()))
            found[name] = round(way.memory(), 1)
    return found


def echoes(ways: Ways) -> dict[str, Row]:
    """Return the microseconds until 8 bytes have come back."""
    with ExitStack() as stack:
        connections = {
            name: connected(stack.enter_context(way.connect())) for name, way in ways.items()
        }
        spent: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(ECHOES):
            for name, connection in connections.items():
                began = time.perf_counter()
                connection.send(key(LETTER))
                connection.read(8)
                spent[name].append((time.perf_counter() - began) * 1e6)
    return {
        name: {"median_us": round(median(each)), "p95_us": round(quantiles(each, n=20)[-1])}
        for name, each in spent.items()
    }


class Screen:
    """An RFB client that waits for changes of the screen (RFC 6143)."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        connection.read(12)
        connection.send(b"RFB 003.008\n")
        connection.read(connection.read(1)[0])
        connection.send(b"\x01")
        connection.read(4)
        connection.send(b"\x01")
        connection.read(20)
        connection.read(int.from_bytes(connection.read(4)))
        connection.send(encodings(0))
        self.updated(incremental=False)

    def updated(self, incremental: bool = True) -> None:
        """Request an update and read it; an incremental one comes when the screen changes."""
        self._connection.send(struct.pack(">BBHHHH", 3, incremental, 0, 0, *SIZE))
        while self._connection.read(1) != b"\0":
            self._connection.read(7)
            self._connection.read(int.from_bytes(self._connection.read(4)))
        for _ in range(int.from_bytes(self._connection.read(3)[1:])):
            _, _, width, height, _ = struct.unpack(">HHHHi", self._connection.read(12))
            self._connection.read(4 * width * height)

    def press(self) -> float:
        """Return the milliseconds from a key to its pixels."""
        began = time.perf_counter()
        self._connection.send(key(LETTER) + key(LETTER, down=False))
        self.updated()
        spent = (time.perf_counter() - began) * 1000
        # The text cursor may be drawn after the letter, in an update of its own.
        time.sleep(0.1)
        self._connection.send(struct.pack(">BBHHHH", 3, 0, 0, 0, 1, 1))
        self.updated()
        return spent


def keys(ways: Ways) -> dict[str, Row]:
    """Measure the time from a key to its pixels, for a client on a socket."""
    spent = {}
    for name, way in ways.items():
        with way.connect() as connection:
            screen = Screen(connection)
            spent[name] = [screen.press() for _ in range(KEYS)]
    return {name: {"median_ms": round(median(each), 1)} for name, each in spent.items()}


async def keys_in_pages(ways: Ways) -> dict[str, Row]:
    """Measure the time from noVNC's key event to the canvas, within a page."""
    spent: dict[str, list[float]] = {}
    async with (
        Service(viewer.router(viewer.Assets(viewer.FOLDER))) as service,
        async_playwright() as playwright,
        await playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        ) as browser,
    ):
        for name, way in [*ways.items()] * 2:
            context = await browser.new_context(bypass_csp=True)
            page = await context.new_page()
            await page.goto(service.url + "/login")
            address = f"ws://127.0.0.1:{way.port}/api/v0/desktop/vnc"
            spent.setdefault(name, []).extend(await typed(page, address))
            await context.close()
    return {name: {"median_ms": round(median(each), 1)} for name, each in spent.items()}


async def typed(page: Page, address: str) -> list[float]:
    """Return the milliseconds that each key took."""
    await page.evaluate(OPEN, address)
    await page.wait_for_function(MOSTLY_MAGENTA)
    found: list[float] = await page.evaluate(TYPE, KEYS)
    return found


def shown(title: str, rows: Mapping[str, Any]) -> None:
    """Print rows under a title."""
    print(f"{title}:")
    for name, row in rows.items():
        print(f"  {name:12} {row}")


def main() -> None:
    found: dict[str, Any] = {"throughput": {}, "memory_mib": {}}
    for watchers in MIB_EACH:
        found["throughput"][str(watchers)] = throughput(watchers)
        shown(f"throughput, {watchers} watching", found["throughput"][str(watchers)])
    with short_folder() as folder, source(folder / "rfb", echo) as path, ways_to(path) as ways:
        found["echo"] = echoes(ways)
        shown("8 bytes there and back", found["echo"])
        relays = between(ways)
        for watchers in (0, *MIB_EACH):
            found["memory_mib"][str(watchers)] = memory(relays, watchers)
            shown(f"MiB with {watchers} watching", found["memory_mib"][str(watchers)])
    with short_folder() as folder, terminal(folder) as server, ways_to(server.rfb_socket) as ways:
        found["key_to_pixel"] = keys(ways)
        shown("key to pixel", found["key_to_pixel"])
        found["key_to_pixel_in_page"] = asyncio.run(keys_in_pages(between(ways)))
        shown("key to pixel in a page", found["key_to_pixel_in_page"])
    save("relay", found)


if __name__ == "__main__":
    main()
