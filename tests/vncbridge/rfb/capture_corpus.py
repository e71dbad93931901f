"""Record what real clients send: `python -m tests.vncbridge.rfb.capture_corpus`.

Each plays one session on a screen of its own; its bytes go to `tests/data/rfb`, as they came, with
an index. Needs what the tests need, xtigervncviewer, xdotool and Xvfb on the path, and a Python
with vncdotool and asyncvnc, named by ``--python``. One name after it captures only that client.
"""

import argparse
import asyncio
import json
import os
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from fastapi import APIRouter
from playwright.async_api import Page
from starlette.websockets import WebSocket, WebSocketDisconnect

from deskhand.vncbridge.rfb.messages import ClientParser
from deskhand.vncbridge.viewer import pages as viewer
from tests.system.browsing import chromium, page_of, running_chromium, terminal
from tests.vncbridge.fakes import Service, short_folder

FOLDER = Path(__file__).parents[2] / "data" / "rfb"
NOVNC = """async (address) => {
  const { default: RFB } = await import("/viewer/novnc/core/rfb.js");
  const place = document.createElement("div");
  Object.assign(place.style, { width: "90vw", height: "90vh" });
  document.body.replaceChildren(place);
  const rfb = new RFB(place, address, { shared: false });
  window.rfb = rfb;
  await new Promise((connected) => rfb.addEventListener("connect", connected));
  rfb.focus();
}"""
NOVNC_MORE = """() => {
  rfb.qualityLevel = 3;
  rfb.compressionLevel = 9;
  rfb.clipboardPasteFrom("Grüße, 世界");
  rfb.sendCtrlAltDel();
  rfb.resizeSession = true;
}"""
ASYNCVNC = """
import asyncio, sys, asyncvnc
async def play():
    async with asyncvnc.connect("127.0.0.1", int(sys.argv[1])) as client:
        await client.screenshot()
        client.keyboard.write("hello")
        with client.keyboard.hold("Ctrl", "Shift"):
            client.keyboard.press("a")
        client.mouse.move(100, 120)
        client.mouse.click()
        client.mouse.right_click()
        client.mouse.scroll_up(3)
        await client.screenshot()
        await client.drain()
asyncio.run(play())
"""


class Capture:
    """Passes one client's bytes on to an RFB server and keeps them."""

    def __init__(self, upstream: Path) -> None:
        self.said = bytearray()
        self.ended = asyncio.Event()
        self._upstream = upstream

    async def socket(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a client on a plain socket."""

        async def back(data: bytes) -> None:
            writer.write(data)
            await writer.drain()

        await self._carry(lambda: reader.read(65536), back)
        writer.close()

    async def websocket(self, browser: WebSocket) -> None:
        """Serve a client on a WebSocket."""
        await browser.accept("binary" if browser.scope["subprotocols"] else None)

        async def words() -> bytes:
            try:
                return await browser.receive_bytes()
            except WebSocketDisconnect:
                return b""

        await self._carry(words, browser.send_bytes)

    async def _carry(
        self, words: Callable[[], Awaitable[bytes]], back: Callable[[bytes], Awaitable[None]]
    ) -> None:
        reader, writer = await asyncio.open_unix_connection(self._upstream)

        async def answers() -> None:
            while data := await reader.read(65536):
                await back(data)

        answering = asyncio.create_task(answers())
        with suppress(ConnectionError):
            while data := await words():
                self.said += data
                writer.write(data)
        answering.cancel()
        await asyncio.gather(answering, return_exceptions=True)
        writer.close()
        self.ended.set()


Play = Callable[[Capture], Awaitable[None]]


async def run(*command: str, **environment: str) -> str:
    """Run a program to its end and return what it printed."""
    process = await asyncio.create_subprocess_exec(
        *command,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    return said.decode()


async def recorded(play: Play) -> bytes:
    """Let a client play on a fresh screen; return what it said."""
    with short_folder() as folder, terminal(folder) as server:
        capture = Capture(server.rfb_socket)
        await play(capture)
        async with asyncio.timeout(20):
            await capture.ended.wait()
        return bytes(capture.said)


async def on_port(capture: Capture, play: Callable[[int], Awaitable[None]]) -> None:
    """Let a client play that connects to a port."""
    server = await asyncio.start_server(capture.socket, "127.0.0.1", 0)
    async with server:
        await play(server.sockets[0].getsockname()[1])


async def novnc(capture: Capture) -> None:
    """The vendored noVNC in a real Chromium: type, click, wheel, paste, resize."""
    routes = APIRouter()
    routes.add_api_websocket_route("/stream", capture.websocket)
    with tempfile.TemporaryDirectory() as folder, running_chromium(Path(folder)) as chrome:
        async with (
            Service(routes, viewer.router(viewer.Assets(viewer.FOLDER))) as service,
            chromium(chrome) as browser,
            page_of(browser) as page,
        ):
            await played(capture, service, page)


async def played(capture: Capture, service: Service, page: Page) -> None:
    await page.goto(service.url + "/login")
    await page.evaluate(NOVNC, f"ws://127.0.0.1:{service.port}/stream")
    screen = page.locator("canvas").first
    await page.keyboard.type("Hello ä")
    await page.keyboard.press("Control+Shift+KeyA")
    await screen.click(position={"x": 100, "y": 100})
    await screen.click(position={"x": 200, "y": 100}, button="right")
    await page.mouse.wheel(0, 300)
    await page.evaluate(NOVNC_MORE)
    await page.set_viewport_size({"width": 900, "height": 700})
    await page.wait_for_timeout(2000)
    await page.evaluate("rfb.disconnect()")
    async with asyncio.timeout(20):
        await capture.ended.wait()


@asynccontextmanager
async def own_display() -> AsyncIterator[str]:
    """A screen for viewers that need one."""
    reads, writes = os.pipe()
    process = await asyncio.create_subprocess_exec(
        *("Xvfb", "-displayfd", str(writes), "-screen", "0", "1280x1024x24"),
        pass_fds=(writes,),
        stderr=subprocess.DEVNULL,
    )
    os.close(writes)
    try:
        with os.fdopen(reads) as pipe:
            yield ":" + (await asyncio.to_thread(pipe.readline)).strip()
    finally:
        process.terminate()
        await process.wait()


def tigervnc(*options: str) -> Play:
    """Return TigerVNC's viewer with these options, driven by xdotool."""

    async def play(capture: Capture) -> None:
        async with own_display() as display:

            async def on(port: int) -> None:
                viewer = await asyncio.create_subprocess_exec(
                    *("xtigervncviewer", *options, "-AlertOnFatalError=0", f"127.0.0.1::{port}"),
                    env={**os.environ, "DISPLAY": display},
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
                hands = ("xdotool", "search", "--sync", "--name", "TigerVNC", "windowfocus")
                await run(*hands, DISPLAY=display)
                await asyncio.sleep(1.5)
                await run("xdotool", "mousemove", "300", "300", "click", "1", DISPLAY=display)
                await run("xdotool", "type", "--delay", "30", "Hello ä", DISPLAY=display)
                await run("xdotool", "key", "ctrl+shift+a", "click", "4", DISPLAY=display)
                await run("xdotool", "mousemove", "350", "320", "click", "3", DISPLAY=display)
                await asyncio.sleep(1.5)
                viewer.terminate()
                await viewer.wait()
                async with asyncio.timeout(20):
                    await capture.ended.wait()

            await on_port(capture, on)

    return play


def vncdotool(python: Path) -> Play:
    """Return vncdotool's command line."""

    async def play(capture: Capture) -> None:
        async def on(port: int) -> None:
            with tempfile.TemporaryDirectory() as folder:
                said = await run(
                    *(str(python.with_name("vncdo")), "-s", f"127.0.0.1::{port}", "-t", "20"),
                    *("type", "hello", "key", "ctrl-shift-a", "move", "100", "120", "click", "1"),
                    *("mousedown", "1", "drag", "160", "150", "mouseup", "1"),
                    *("capture", f"{folder}/a.png", "rcapture", f"{folder}/b.png"),
                    *("10", "10", "50", "50"),
                )
                assert all((Path(folder) / name).exists() for name in ("a.png", "b.png")), said

        await on_port(capture, on)

    return play


def asyncvnc(python: Path) -> Play:
    """Return a program over asyncvnc."""

    async def play(capture: Capture) -> None:
        async def on(port: int) -> None:
            said = await run(str(python), "-c", ASYNCVNC, str(port))
            assert not said, said

        await on_port(capture, on)

    return play


async def versions(python: Path) -> dict[str, str]:
    """Return each client's version."""
    novnc_said = (Path(viewer.__file__).parent / "assets/novnc/VENDORED.md").read_text()
    found = {"noVNC": novnc_said, "TigerVNC viewer": await run("xtigervncviewer", "-h")}
    for name in ("vncdotool", "asyncvnc"):
        asked = f"from importlib.metadata import version; print(version('{name}'))"
        found[name] = await run(str(python), "-c", asked)
    return {name: re.search(r"\d+\.\d+\.\d+", said)[0] for name, said in found.items()}  # type: ignore[index]


async def main(python: Path, only: str | None) -> None:
    """Capture and write."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    known = await versions(python)
    sessions = {
        "novnc": ("noVNC", "typed, clicked, turned the wheel, pasted, resized", novnc),
        "tigervnc": ("TigerVNC viewer", "typed, clicked, turned the wheel", tigervnc()),
        "tigervnc-sized": (
            *("TigerVNC viewer", "asked for a size, Hextile and few colours, then the same"),
            tigervnc("-DesktopSize=640x480", "-PreferredEncoding=Hextile", "-LowColorLevel=1",
                     "-FullColor=0", "-AutoSelect=0", "-Shared"),
        ),
        "tigervnc-viewonly": ("TigerVNC viewer", "only watched", tigervnc("-ViewOnly")),
        "vncdotool": ("vncdotool", "typed, clicked, dragged, captured", vncdotool(python)),
        "asyncvnc": ("asyncvnc", "typed, clicked, turned the wheel, captured", asyncvnc(python)),
    }  # fmt: skip
    index = []
    for name, (client, done, play) in sessions.items():
        path = FOLDER / f"{name}.bin"
        if only in (None, name):
            path.write_bytes(await recorded(play))
        kinds = Counter(message.kind.value for message in ClientParser().feed(path.read_bytes()))
        index.append(
            {"file": path.name, "client": client, "version": known[client], "done": done}
            | {"messages": dict(sorted(kinds.items()))}
        )
    (FOLDER / "index.json").write_text(json.dumps(index, indent=2) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", type=Path, required=True)
    parser.add_argument("only", nargs="?")
    asked = parser.parse_args()
    asyncio.run(main(asked.python, asked.only))
