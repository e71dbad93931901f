"""A real Chromium watches a real X server through our relay."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.system.browsing import MOSTLY_MAGENTA, browser_page, terminal
from tests.vncbridge.fakes import LIMIT, Service, short_folder
from vncbridge import relay, viewer
from vncbridge.seats import Watchers

pytestmark = [pytest.mark.x11, pytest.mark.browser]


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
async def watching() -> AsyncIterator[tuple[Page, asyncio.StreamReader, Service]]:
    with short_folder() as folder, terminal(folder) as server:
        upstream = relay.UnixUpstream(server.rfb_socket)
        stream = relay.router(upstream, lambda: False, Watchers())
        async with (
            asyncio.timeout(6 * LIMIT),
            lines_of(folder / "typed") as typed,
            Service(stream, viewer.router()) as service,
            browser_page() as page,
        ):
            await page.goto(service.url)
            await page.wait_for_function(MOSTLY_MAGENTA)
            yield page, typed, service


def test_the_canvas_shows_the_screen_and_the_page_says_so() -> None:
    async def scenario() -> None:
        async with watching() as (page, _, _):
            await expect(page.get_by_role("status")).to_have_text("Live, you are watching")
            await expect(page).to_have_title("Desktop · Deskhand")

    asyncio.run(scenario())


def test_typing_arrives_only_in_control() -> None:
    async def scenario() -> list[bytes]:
        async with watching() as (page, typed, _):
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
        async with watching() as (page, _, _):
            await page.get_by_role("button", name="Take control").press("Enter")
            await expect(page.get_by_role("status")).to_contain_text("in control")
            await page.keyboard.press("Control+Alt+Shift+KeyG")
            await expect(page.get_by_role("status")).to_contain_text("watching")
            await expect(page.get_by_role("button", name="Take control")).to_be_focused()

    asyncio.run(scenario())


def test_a_lost_stream_is_said_and_tried_again() -> None:
    async def scenario() -> None:
        async with watching() as (page, _, service):
            await service.stop()
            await expect(page.get_by_role("status")).to_contain_text("Reconnecting in")
            await expect(page.get_by_role("status")).to_contain_text("try 2 of 10")
            await expect(page.get_by_role("button", name="Take control")).to_be_disabled()

    asyncio.run(scenario())
