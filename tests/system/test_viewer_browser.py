"""A real Chromium watches a real X server through our relay."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from playwright.async_api import Page, async_playwright, expect

from desktop.geometry import Size
from desktop.spawn import Order, Spawner
from desktop.xserver import XServer
from tests.vncbridge.fakes import LIMIT, Service, short_folder
from vncbridge import relay, viewer

pytestmark = [pytest.mark.x11, pytest.mark.browser]

MOSTLY_MAGENTA = """() => {
  const canvas = document.querySelector("canvas");
  if (!canvas || !canvas.width || !canvas.height) return false;
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let magenta = 0;
  for (let i = 0; i < data.length; i += 4) {
    magenta += data[i] === 255 && data[i + 1] === 0 && data[i + 2] === 255;
  }
  return magenta > 0.8 * (data.length / 4);
}"""


@contextmanager
def terminal(folder: Path) -> Iterator[XServer]:
    """A screen full of magenta xterm that copies each line typed into it to a pipe."""
    (folder / "logs").mkdir()
    os.mkfifo(folder / "typed")
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8"}
    with Spawner() as spawner, XServer(folder, Size(800, 600), environment, spawner) as server:
        environment |= {"DISPLAY": server.display, "XAUTHORITY": str(server.xauthority)}
        script = f'while read -r line; do echo "$line" > {folder}/typed; done'
        command = ["xterm", "-geometry", "160x60+0+0", "-bg", "#ff00ff", "-fg", "white", "-e", "sh", "-c"]
        child = spawner.spawn(Order([*command, script], environment, folder / "logs/xterm.log"))
        try:
            yield server
        finally:
            child.stop()


@asynccontextmanager
async def lines_of(pipe: Path) -> AsyncIterator[asyncio.StreamReader]:
    # Opened for both, so that it does not end whenever the shell closes its side.
    with os.fdopen(os.open(pipe, os.O_RDWR | os.O_NONBLOCK), "rb", buffering=0) as file:
        reader = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        protocol = asyncio.StreamReaderProtocol(reader)
        transport, _ = await loop.connect_read_pipe(lambda: protocol, file)
        try:
            yield reader
        finally:
            transport.close()


@asynccontextmanager
async def watching() -> AsyncIterator[tuple[Page, asyncio.StreamReader]]:
    with short_folder() as folder, terminal(folder) as server:
        upstream = relay.UnixUpstream(server.rfb_socket)
        stream = relay.router(upstream, lambda: False, relay.Watchers())
        async with (
            asyncio.timeout(6 * LIMIT),
            lines_of(folder / "typed") as typed,
            Service(stream, viewer.router()) as service,
            async_playwright() as playwright,
            await playwright.chromium.launch(
                executable_path="/usr/bin/chromium", args=["--no-sandbox"]
            ) as browser,
        ):
            page = await browser.new_page(viewport={"width": 1000, "height": 800})
            page.set_default_timeout(LIMIT * 1000)
            complaints: list[str] = []
            page.on("console", lambda line: complaints.append(line.text))
            page.on("pageerror", lambda error: complaints.append(f"uncaught: {error}"))
            await page.goto(service.url)
            await page.wait_for_function(MOSTLY_MAGENTA)
            yield page, typed
            bad = ("Content Security Policy", "uncaught")
            assert not [text for text in complaints if any(word in text for word in bad)]


def test_the_canvas_shows_the_screen_and_the_page_says_so() -> None:
    async def scenario() -> None:
        async with watching() as (page, _):
            await expect(page.get_by_role("status")).to_have_text("Live, you are watching")
            await expect(page).to_have_title("Desktop · Deskhand")

    asyncio.run(scenario())


def test_typing_arrives_only_in_control() -> None:
    async def scenario() -> list[bytes]:
        async with watching() as (page, typed):
            screen = page.locator("canvas").first
            await screen.click(force=True)
            await page.keyboard.type("watching\n")
            await page.get_by_role("button", name="Take control").click()
            await page.keyboard.type("driving\n")
            first = await typed.readline()
            await page.get_by_role("button", name="Give back").click()
            await screen.click(force=True)
            await page.keyboard.type("watching again\n")
            await page.get_by_role("button", name="Take control").click()
            await screen.click()
            await page.keyboard.type("driving again\n")
            return [first, await typed.readline()]

    assert asyncio.run(scenario()) == [b"driving\n", b"driving again\n"]


def test_control_is_given_back_by_keys() -> None:
    async def scenario() -> None:
        async with watching() as (page, _):
            await page.get_by_role("button", name="Take control").press("Enter")
            await expect(page.get_by_role("status")).to_contain_text("in control")
            await page.keyboard.press("Control+Alt+Shift+KeyG")
            await expect(page.get_by_role("status")).to_contain_text("watching")
            await expect(page.get_by_role("button", name="Take control")).to_be_focused()

    asyncio.run(scenario())
