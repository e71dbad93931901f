"""A real Chromium watches a real X server through our relay."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from desktop.lease_api import router as lease_router
from desktop.leasing import Leasing
from tests.system.browsing import MOSTLY_MAGENTA, browser_page, terminal
from tests.system.watching import effects
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


async def take_control(page: Page, name: str = "Ann") -> None:
    """Take control; the name is asked for once."""
    await page.get_by_role("button", name="Take control").click()
    await page.get_by_label("Your name").fill(name)
    await page.get_by_label("Your name").press("Enter")
    await expect(page.get_by_role("status").first).to_contain_text("You are in control")


@asynccontextmanager
async def watching() -> AsyncIterator[tuple[Page, asyncio.StreamReader, Service]]:
    with short_folder() as folder, terminal(folder) as server:
        upstream = relay.UnixUpstream(server.rfb_socket)
        leasing = Leasing()
        watchers = Watchers(control=leasing)
        stream = relay.router(upstream, lambda: False, watchers)
        lease = lease_router(leasing, lambda: watchers.count, lambda _: True)
        async with (
            AsyncExitStack() as stack,
            asyncio.timeout(6 * LIMIT),
            lines_of(folder / "typed") as typed,
            Service(stream, lease, viewer.router()) as service,
            browser_page() as page,
        ):
            stack.enter_context(leasing.running(effects(watchers)))
            await page.goto(service.url)
            await page.wait_for_function(MOSTLY_MAGENTA)
            yield page, typed, service


def test_the_canvas_shows_the_screen_and_the_page_says_so() -> None:
    async def scenario() -> None:
        async with watching() as (page, _, _):
            await expect(page.get_by_role("status").first).to_have_text("Live, you are watching")
            await expect(page).to_have_title("Desktop · Deskhand")

    asyncio.run(scenario())


def test_typing_arrives_only_in_control() -> None:
    async def scenario() -> list[bytes]:
        async with watching() as (page, typed, _):
            screen = page.locator("canvas").first
            await screen.click(force=True)
            await page.keyboard.type("watching\n")
            await take_control(page)
            await page.keyboard.type("driving\n")
            first = await typed.readline()
            await page.get_by_role("button", name="Give back").click()
            await screen.click(force=True)
            await page.keyboard.type("watching again\n")
            await page.get_by_role("button", name="Take control").click()
            await expect(page.get_by_role("status").first).to_contain_text("You are in control")
            await screen.click()
            await page.keyboard.type("driving again\n")
            return [first, await typed.readline()]

    assert asyncio.run(scenario()) == [b"driving\n", b"driving again\n"]


def test_control_is_given_back_by_keys() -> None:
    async def scenario() -> None:
        async with watching() as (page, _, _):
            await take_control(page)
            await page.keyboard.press("Control+Alt+Shift+KeyG")
            await expect(page.get_by_role("status").first).to_contain_text("watching")
            await expect(page.get_by_role("button", name="Take control")).to_be_focused()

    asyncio.run(scenario())


def test_a_lost_stream_is_said_and_tried_again() -> None:
    async def scenario() -> None:
        async with watching() as (page, _, service):
            await service.stop()
            await expect(page.get_by_role("status").first).to_contain_text("Reconnecting in")
            await expect(page.get_by_role("status").first).to_contain_text("try 2 of 10")
            await expect(page.get_by_role("button", name="Take control")).to_be_disabled()

    asyncio.run(scenario())


def test_another_page_sees_a_still_with_a_notice_until_control_is_given_back() -> None:
    async def scenario() -> None:
        async with watching() as (page, _, service):
            other = await page.context.new_page()
            await other.goto(service.url)
            await other.wait_for_function(MOSTLY_MAGENTA)
            await take_control(page)
            await expect(other.get_by_role("status").first).to_have_text(
                "Ann has this desktop in private"
            )
            await expect(other.get_by_alt_text("The screen as it was")).to_be_visible()
            await page.get_by_role("button", name="Give back").click()
            await expect(other.get_by_role("status").first).to_have_text("Live, you are watching")
            await expect(page.get_by_text("2 watching")).to_be_visible()

    asyncio.run(scenario())


def test_control_is_asked_for_where_another_page_has_it() -> None:
    async def scenario() -> list[bytes]:
        async with watching() as (page, typed, service):
            await page.get_by_label("Private").uncheck()
            await take_control(page)
            other = await page.context.new_page()
            await other.goto(service.url)
            await expect(other.get_by_text("Ann is in control")).to_be_visible()
            await other.evaluate("localStorage.setItem('deskhand-name', 'Bob')")
            await other.get_by_label("Private").uncheck()
            await other.get_by_role("button", name="Take control").click()
            await expect(page.get_by_role("alert")).to_contain_text("Bob asks for control.")
            await page.get_by_role("button", name="Give control").click()
            await expect(other.get_by_role("status").first).to_contain_text("You are in control")
            await expect(page.get_by_text("Bob is in control")).to_be_visible()
            await other.keyboard.type("bob\n")
            return [await typed.readline()]

    assert asyncio.run(scenario()) == [b"bob\n"]
