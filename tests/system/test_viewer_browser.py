"""A real Chromium watches real X servers through our relay."""

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest
from fastapi import APIRouter
from playwright.async_api import FrameLocator, Locator, Page, expect

from deskhand.desktop.display.x_server import XServer
from deskhand.desktop.freeze.report import StopReport
from deskhand.desktop.lease.api import router as lease_router
from deskhand.desktop.lease.runtime import LeaseRuntime
from deskhand.vncbridge.rfb import proxy as relay
from deskhand.vncbridge.rfb.viewers import Viewers
from deskhand.vncbridge.viewer import pages as viewer
from tests.system import services
from tests.system.browsing import MOSTLY_MAGENTA, BrowserConnection, page_of, terminal
from tests.system.services import until
from tests.system.watching import effects
from tests.vncbridge.fakes import Service, short_folder

pytestmark = [pytest.mark.x11, pytest.mark.browser]

LIVE = "Live, you are watching"
LATER_TRY = re.compile(r"try ([2-9]|10) of 10")
CLIPBOARD = "/api/v0/desktop/clipboard"
TEXT = "Grüße, мир, 世界, 👩‍👩‍👧, e\u0301\nzweite Zeile"
BACK_AGAIN = """() => window.states.includes("waiting")
  && document.querySelector(".viewer").dataset.state === "connected" """
NOTE_STATES = """() => {
  window.states = [];
  document.addEventListener("state", (event) => window.states.push(event.detail.state));
}"""


@dataclass(frozen=True)
class Stage(BrowserConnection):
    """Shared by all tests of this file: a browser, a screen, and the text typed there."""

    server: XServer
    typed: asyncio.StreamReader


@pytest.fixture(scope="module")
def stage(connection: BrowserConnection) -> Iterator[Stage]:
    runner = connection.runner
    with short_folder() as folder, terminal(folder) as server:
        stack = AsyncExitStack()
        try:
            typed = runner.run(stack.enter_async_context(lines_of(folder / "typed")))
            yield Stage(runner, connection.browser, server, typed)
        finally:
            runner.run(stack.aclose())


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


def status_of(page: Page | FrameLocator) -> Locator:
    return page.get_by_role("status").first


async def take_control(page: Page | FrameLocator, name: str = "Ann") -> None:
    """Take control; the name is asked for once."""
    await page.get_by_role("button", name="Take control").click()
    await page.get_by_label("Your name").fill(name)
    await page.get_by_label("Your name").press("Enter")
    await expect(status_of(page)).to_have_text("You are in control")


class FrozenPrograms:
    """A freezer that has stopped programs, and could not stop others."""

    def __init__(self, count: int, *running: str, keys_pass: bool = True) -> None:
        self._report = StopReport(count, running, 1.0)
        self._keys_pass = keys_pass

    def may_type(self) -> bool:
        return self._keys_pass

    def hold(self, *, guards_keyboard: bool = True) -> None:
        pass

    def release(self, *, guards_keyboard: bool = True) -> StopReport:
        return self._report

    def report(self) -> StopReport:
        return self._report


class Screen(Protocol):
    """What is watched."""

    @property
    def server(self) -> XServer:
        """Its X server."""


@asynccontextmanager
async def serving(
    stage: Screen, freezer: FrozenPrograms | None = None
) -> AsyncIterator[list[APIRouter]]:
    """The routes of a desktop, as far as its page asks them."""
    leasing = LeaseRuntime(freezer=freezer)
    watchers = Viewers(control=leasing)
    upstream = relay.UnixUpstream(stage.server.rfb_socket)
    status = APIRouter()

    @status.get("/api/v0/desktop")
    async def desktop_status() -> dict[str, Any]:
        return {"lease": leasing.state()}

    with leasing.running(effects(watchers)):
        yield [
            status,
            relay.router(upstream, lambda: False, watchers),
            lease_router(leasing, lambda: watchers.count, lambda _: True),
            viewer.router(viewer.Assets(viewer.FOLDER)),
        ]


@asynccontextmanager
async def watching(
    stage: Stage, freezer: FrozenPrograms | None = None
) -> AsyncIterator[tuple[Page, Service]]:
    async with (
        serving(stage, freezer) as routes,
        Service(*routes) as service,
        page_of(stage.browser) as page,
    ):
        await page.goto(service.url)
        await page.wait_for_function(MOSTLY_MAGENTA)
        yield page, service


def test_the_canvas_shows_the_screen_and_the_page_its_status(stage: Stage) -> None:
    async def scenario() -> None:
        async with watching(stage) as (page, _):
            await expect(status_of(page)).to_have_text(LIVE)
            await expect(page).to_have_title("Desktop · Deskhand")
            await expect(page.get_by_text("1 watching")).to_be_visible()

    stage.play(scenario())


def test_typing_arrives_only_in_control(stage: Stage) -> None:
    async def scenario() -> list[bytes]:
        async with watching(stage) as (page, _):
            screen = page.locator("canvas").first
            await screen.click(force=True)
            await page.keyboard.type("watching\n")
            await take_control(page)
            await page.keyboard.type("driving\n")
            first = await stage.typed.readline()
            await page.get_by_role("button", name="Give back").click()
            # Until then the service may still take what is typed as the person's.
            await expect(status_of(page)).to_have_text(LIVE)
            await screen.click(force=True)
            await page.keyboard.type("watching again\n")
            await page.get_by_role("button", name="Take control").click()
            await expect(status_of(page)).to_have_text("You are in control")
            await screen.click()
            await page.keyboard.type("driving again\n")
            second = await stage.typed.readline()
            await propose_and_choose(page, "composed")
            await screen.click()
            await page.keyboard.press("Enter")
            return [first, second, await stage.typed.readline()]

    assert stage.play(scenario()) == [b"driving\n", b"driving again\n", b"composed\n"]


async def propose_and_choose(page: Page, word: str) -> None:
    """Type as a phone does, into the field for its keyboard."""
    await page.locator(".viewer-softkeys").focus()
    phone = await page.context.new_cdp_session(page)
    proposed = {"text": word[:-1], "selectionStart": 1, "selectionEnd": 1}
    await phone.send("Input.imeSetComposition", proposed)
    await phone.send("Input.insertText", {"text": word})


def test_control_is_given_back_by_keys(stage: Stage) -> None:
    async def scenario() -> None:
        async with watching(stage) as (page, _):
            await take_control(page)
            await page.keyboard.press("Control+Alt+Shift+KeyG")
            await expect(status_of(page)).to_have_text(LIVE)
            await expect(page.get_by_role("button", name="Take control")).to_be_focused()

    stage.play(scenario())


def test_a_lost_stream_is_shown_and_comes_back_with_the_service(stage: Stage) -> None:
    async def scenario() -> None:
        async with serving(stage) as routes, page_of(stage.browser) as page:
            async with Service(*routes) as service:
                await page.goto(service.url)
                await page.wait_for_function(MOSTLY_MAGENTA)
            await expect(status_of(page)).to_contain_text("Reconnecting in")
            await expect(page.get_by_alt_text("The screen as it was")).to_be_visible()
            await expect(page.get_by_role("button", name="Connect again")).to_be_visible()
            await expect(page.get_by_role("button", name="Take control")).to_be_disabled()
            await expect(status_of(page)).to_contain_text(LATER_TRY)
            async with Service(*routes, port=service.port):
                await expect(status_of(page)).to_have_text(LIVE)
                await expect(page.get_by_alt_text("The screen as it was")).to_be_hidden()
                await take_control(page)

    stage.play(scenario())


@pytest.mark.slow("stills come every few seconds")
def test_another_browser_sees_a_still_until_control_is_given_back(stage: Stage) -> None:
    async def scenario() -> None:
        async with watching(stage) as (page, service), page_of(stage.browser) as other:
            await other.goto(service.url)
            await other.wait_for_function(MOSTLY_MAGENTA)
            await take_control(page)
            await expect(status_of(other)).to_have_text("Ann has this desktop in private")
            await expect(other.get_by_alt_text("The screen as it was")).to_be_visible()
            async with page_of(stage.browser) as late:
                await late.goto(service.url)
                await expect(status_of(late)).to_have_text("Ann has this desktop in private")
            await page.get_by_role("button", name="Give back").click()
            await expect(status_of(other)).to_have_text(LIVE)
            await expect(page.get_by_text("2 watching")).to_be_visible()

    stage.play(scenario())


@pytest.mark.parametrize(
    ("freezer", "text"),
    [
        (
            FrozenPrograms(3, "stubborn", "vi"),
            "1 watching, 3 programs stopped, not stopped: stubborn, vi",
        ),
        (FrozenPrograms(1), "1 watching, 1 program stopped"),
        (
            FrozenPrograms(1, keys_pass=False),
            "1 watching, 1 program stopped; keys are not passed on: a program has grabbed the"
            " keyboard, as an open menu does",
        ),
    ],
    ids=["some", "one", "grabbed"],
)
def test_the_page_reports_the_programs_that_are_stopped_in_private(
    stage: Stage, freezer: FrozenPrograms, text: str
) -> None:
    async def scenario() -> None:
        async with watching(stage, freezer) as (page, _):
            await expect(page.get_by_text("1 watching", exact=True)).to_be_visible()
            await take_control(page)
            await expect(page.get_by_text(text, exact=True)).to_be_visible()
            await page.get_by_role("button", name="Give back").click()
            await expect(page.get_by_text("1 watching", exact=True)).to_be_visible()

    stage.play(scenario())


def test_control_is_asked_for_where_another_browser_has_it(stage: Stage) -> None:
    async def scenario() -> bytes:
        async with watching(stage) as (page, service), page_of(stage.browser) as other:
            await page.get_by_label("Private").uncheck()
            await take_control(page)
            await other.goto(service.url)
            await expect(other.get_by_text("Ann is in control")).to_be_visible()
            await other.get_by_label("Private").uncheck()
            await other.get_by_role("button", name="Ask for control").click()
            await other.get_by_label("Your name").fill("Bob")
            await other.get_by_label("Your name").press("Enter")
            await expect(status_of(other)).to_have_text("Asked Ann for control …")
            await expect(page.get_by_role("alert")).to_contain_text("Bob asks for control.")
            await page.get_by_role("button", name="Keep it").click()
            await expect(status_of(other)).to_have_text("Ann keeps control")
            await other.get_by_role("button", name="Ask for control").click()
            await page.get_by_role("button", name="Give control").click()
            await expect(status_of(other)).to_have_text("You are in control")
            await expect(page.get_by_text("Bob is in control")).to_be_visible()
            await other.keyboard.type("bob\n")
            return await stage.typed.readline()

    assert stage.play(scenario()) == b"bob\n"


def test_the_page_works_in_a_frame_of_another_page(stage: Stage) -> None:
    async def scenario() -> bytes:
        around = "<iframe src='/' width='900' height='700'></iframe>"
        async with watching(stage) as (page, service):
            await page.route(
                "**/around",
                lambda route: route.fulfill(content_type="text/html", body=around),
            )
            await page.goto(f"{service.url}/around")
            frame = page.frame_locator("iframe")
            await expect(status_of(frame)).to_have_text(LIVE)
            await take_control(frame)
            await page.keyboard.type("framed\n")
            return await stage.typed.readline()

    assert stage.play(scenario()) == b"framed\n"


def test_a_slow_line_slows_its_own_page_only(stage: Stage) -> None:
    async def scenario() -> None:
        async with watching(stage) as (slow, service), page_of(stage.browser) as other:
            devtools = await slow.context.new_cdp_session(slow)
            line = {"latency": 200, "downloadThroughput": 10_000, "uploadThroughput": 10_000}
            await devtools.send("Network.enable")
            await devtools.send("Network.emulateNetworkConditions", {"offline": False, **line})
            await other.goto(service.url)
            await other.wait_for_function(MOSTLY_MAGENTA)
            await take_control(other, "Bob")
            await expect(status_of(slow)).to_have_text("Bob has this desktop in private")
            await other.get_by_role("button", name="Give back").click()
            await expect(status_of(slow)).to_have_text(LIVE)
            await slow.wait_for_function(MOSTLY_MAGENTA)

    stage.play(scenario())


@asynccontextmanager
async def signed_in(stage: Stage, desktop: services.Service) -> AsyncIterator[Page]:
    async with page_of(stage.browser) as page:
        code = desktop.post("/api/v0/login/codes", {})["code"]
        await page.goto(f"{desktop.url}/login#code={code}")
        await expect(status_of(page)).to_have_text(LIVE)
        yield page


def test_the_page_comes_back_by_itself_when_x_restarts(stage: Stage, tmp_path: Path) -> None:
    async def scenario(desktop: services.Service) -> None:
        async with signed_in(stage, desktop) as page:
            await page.evaluate(NOTE_STATES)
            before = desktop.get("/api/v0/desktop")["xserver"]
            os.kill(before["pid"], signal.SIGKILL)
            await page.wait_for_function(BACK_AGAIN)
            await take_control(page)

    with services.tidy(tmp_path / "errors.log") as desktop:
        stage.play(scenario(desktop))


def test_text_of_any_script_goes_over_the_clipboard_both_ways(
    stage: Stage, desktop: services.Service
) -> None:
    async def scenario() -> None:
        async with signed_in(stage, desktop) as page:
            # What a person copies in private is gone with the private session.
            await page.get_by_label("Private").uncheck()
            await take_control(page)
            await page.get_by_role("button", name="Clipboard").click()
            text = page.get_by_label("Clipboard text")
            await text.fill(TEXT)
            await page.get_by_role("button", name="Put on desktop").click()
            await expect(page.get_by_text("It is on the desktop's clipboard.")).to_be_visible()
            await page.get_by_role("button", name="Give back").click()
            await expect(text).to_be_hidden()
            await asyncio.to_thread(until, lambda: uncontrolled(desktop), "the end of control")
            assert desktop.http.get(CLIPBOARD).text == TEXT
            backwards = TEXT[::-1]
            assert desktop.http.put(CLIPBOARD, json={"text": backwards}).is_success
            await page.get_by_role("button", name="Take control").click()
            await page.get_by_role("button", name="Clipboard").click()
            await page.get_by_role("button", name="Copy from desktop").click()
            await expect(text).to_have_value(backwards)

    stage.play(scenario())


def test_one_press_of_keys_copies_the_clipboard_each_way(
    stage: Stage, desktop: services.Service
) -> None:
    async def scenario() -> None:
        async with signed_in(stage, desktop) as page:
            await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
            await take_control(page)
            await page.evaluate("text => navigator.clipboard.writeText(text)", TEXT)
            await page.keyboard.press("Control+Alt+Shift+KeyV")
            await expect(status_of(page)).to_have_text("The desktop has this computer's clipboard.")
            assert desktop.http.get(CLIPBOARD, params={"viewer": await key_of(page)}).text == TEXT
            await page.evaluate("() => navigator.clipboard.writeText('other')")
            await page.keyboard.press("Control+Alt+Shift+KeyC")
            await expect(status_of(page)).to_have_text("This computer has the desktop's clipboard.")
            assert await page.evaluate("() => navigator.clipboard.readText()") == TEXT

    stage.play(scenario())


async def key_of(page: Page) -> str:
    """Return the key by which the service knows this page."""
    # A request is listed some time after its answer.
    found = await page.wait_for_function(
        "() => performance.getEntriesByType('resource').map((each) => each.name)"
        ".find((name) => name.includes('viewer='))"
    )
    name = str(await found.json_value())
    return name.partition("viewer=")[2].partition("&")[0]


DROP = """([kind, names]) => {
  const carried = new DataTransfer();
  for (const name of names) carried.items.add(new File([`content of ${name}`], name));
  const event = new DragEvent(kind, { dataTransfer: carried, bubbles: true, cancelable: true });
  document.querySelector(".viewer-screen").dispatchEvent(event);
}"""


def test_dropped_files_become_downloads_of_the_desktop(
    stage: Stage, desktop: services.Service
) -> None:
    async def scenario() -> None:
        async with signed_in(stage, desktop) as page:
            await page.evaluate(DROP, ["drop", ["early.txt"]])
            await expect(status_of(page)).to_have_text("Take control to put files on the desktop.")
            await take_control(page)
            await page.evaluate(DROP, ["drop", ["one.txt", "two ü.txt", "one.txt"]])
            await expect(status_of(page)).to_contain_text("Downloads/one (1).txt")

    stage.play(scenario())
    listed = desktop.post("/api/v0/list-directory", {"path": ["Downloads"]})
    names = {entry["name"]: entry["absolute_path_string"] for entry in listed["contents"]}
    assert {"one.txt", "one (1).txt", "two ü.txt"} <= set(names)
    assert "early.txt" not in names
    found = desktop.http.get("/api/v0/read-file", params={"path": names["two ü.txt"]})
    assert found.text == "content of two ü.txt"


def uncontrolled(desktop: services.Service) -> bool:
    return bool(desktop.get("/api/v0/desktop/lease")["holder"]["kind"] != "person")
