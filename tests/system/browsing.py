"""A real browser, and a real screen."""

import asyncio
import os
import shutil
import signal
import subprocess
import threading
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from playwright.async_api import Browser, Page, ViewportSize, async_playwright, expect
from playwright.sync_api import Browser as SyncBrowser
from playwright.sync_api import Page as SyncPage
from playwright.sync_api import expect as sync_expect
from playwright.sync_api import sync_playwright

from deskhand.desktop.browser.program import find_browser
from deskhand.desktop.display.child_processes import ChildCommand, ChildProcessSpawner
from deskhand.desktop.display.x_server import XServer
from deskhand.desktop.geometry import Size
from deskhand.vncbridge.auth.request_headers import PAGE_KEY
from tests.system.services import PATIENCE

T = TypeVar("T")
MOST_REPORTS = 40
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
"""True in a page whose viewer shows the screen of `terminal`."""


@contextmanager
def terminal(folder: Path, script: str = "") -> Iterator[XServer]:
    """A screen full of magenta xterm that copies each line typed into it to a pipe.

    Another ``script`` is run with the name of the pipe as ``$0``.
    """
    (folder / "logs").mkdir()
    os.mkfifo(folder / "typed")
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8"}
    with (
        ChildProcessSpawner() as spawner,
        XServer(folder, Size(800, 600), environment, spawner) as server,
    ):
        environment |= {"DISPLAY": server.display, "XAUTHORITY": str(server.xauthority)}
        script = script or 'while read -r line; do echo "$line" > "$0"; done'
        # Larger than the screen, since no window manager is there to enlarge it.
        command = ["xterm", "-geometry", "160x60+0+0", "-bg", "#ff00ff", "-e", "sh", "-c"]
        child = spawner.spawn(
            ChildCommand(
                [*command, script, f"{folder}/typed"], environment, folder / "logs/xterm.log"
            )
        )
        try:
            yield server
        finally:
            child.stop()


@contextmanager
def running_chromium(folder: Path) -> Iterator[str]:
    """Run a Chromium without a window; yield where Playwright's ``connect_over_cdp`` finds it.

    The package without windows, where there is one, takes a third less CPU than the browser's
    own mode without a window.
    """
    command = [
        *(shutil.which("chromium-headless-shell") or find_browser(), "--headless", "--no-sandbox"),
        *("--disable-gpu", "--mute-audio"),
        *("--hide-scrollbars", "--force-color-profile=srgb", "--no-first-run"),
        *("--disable-background-networking", "--disable-background-timer-throttling"),
        *("--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding"),
        *("--disable-component-update", "--disable-dev-shm-usage", "--disable-extensions"),
        *("--autoplay-policy=no-user-gesture-required", "--disable-default-apps"),
        *("--remote-debugging-port=0", f"--user-data-dir={folder}", "about:blank"),
    ]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stderr is not None
        try:
            # It writes all its life, into a pipe that must not be full.
            lines = iter(process.stderr.readline, "")
            address = next(line.split()[-1] for line in lines if "DevTools listening" in line)
            reader = threading.Thread(target=process.stderr.read)
            reader.start()
            yield address
        finally:
            os.killpg(process.pid, signal.SIGKILL)
    reader.join()


@asynccontextmanager
async def chromium(address: str) -> AsyncIterator[Browser]:
    """Connect to a running Chromium; what is opened there ends with the block."""
    async with (
        async_playwright() as playwright,
        await playwright.chromium.connect_over_cdp(address) as browser,
    ):
        yield browser


@dataclass(frozen=True)
class BrowserConnection:
    """A connection to a running Chromium, and the event loop that it belongs to.

    One is for several tests, as each starts a process of Playwright. Only one may be open at a
    time: every connection attaches to the pages of all others.
    """

    runner: asyncio.Runner
    browser: Browser

    def play(self, scenario: Coroutine[Any, Any, T]) -> T:
        """Run what a test does in the browser."""

        async def limited() -> T:
            async with asyncio.timeout(6 * PATIENCE):
                return await scenario

        return self.runner.run(limited())


@contextmanager
def connected(address: str) -> Iterator[BrowserConnection]:
    """Connect to a running Chromium for tests that wait for several things at once."""
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        try:
            browser = runner.run(stack.enter_async_context(chromium(address)))
            yield BrowserConnection(runner, browser)
        finally:
            runner.run(stack.aclose())


@contextmanager
def plain_connection(address: str) -> Iterator[SyncBrowser]:
    """Connect to a running Chromium for tests that wait for one thing after the other.

    Until the block ends, the thread cannot run an event loop of its own.
    """
    with sync_playwright() as playwright:
        browser = playwright.chromium.connect_over_cdp(address)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def noted(page: Page | SyncPage) -> Iterator[None]:
    """Add to an error within the block what the page has reported, and its unanswered requests."""
    reports: deque[str] = deque(maxlen=MOST_REPORTS)
    unanswered: list[str] = []

    def end(request: Any) -> None:
        if request.url in unanswered:
            unanswered.remove(request.url)

    def fail(request: Any) -> None:
        reports.append(f"failed: {request.url}: {request.failure}")
        end(request)

    reporting: Any = page
    reporting.on("console", lambda line: reports.append(f"console: {line.text}"))
    reporting.on("pageerror", lambda error: reports.append(f"uncaught: {error}"))
    reporting.on("request", lambda request: unanswered.append(request.url))
    reporting.on("requestfinished", end)
    reporting.on("requestfailed", fail)
    try:
        yield
    except BaseException as error:
        waiting = [f"unanswered: {url}" for url in unanswered]
        error.add_note("\n".join([f"page {page.url}", *reports, *waiting]))
        raise


KEY = """() => Object.entries({ ...localStorage, ...sessionStorage })
  .find(([name]) => name.startsWith("deskhand-page-key:"))[1]"""


def key_header(page: SyncPage) -> dict[str, str]:
    """Return the header that a page sends beside its cookie."""
    return {PAGE_KEY: page.evaluate(KEY)}


@contextmanager
def plain_page(
    browser: SyncBrowser, width: int = 1280, height: int = 900, *, any_certificate: bool = False
) -> Iterator[SyncPage]:
    """A page that shares nothing with other pages."""
    context = browser.new_context(
        viewport={"width": width, "height": height}, ignore_https_errors=any_certificate
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE * 1000)
    sync_expect.set_options(timeout=PATIENCE * 1000)
    try:
        with noted(page):
            yield page
    finally:
        context.close()


@asynccontextmanager
async def page_of(
    browser: Browser, width: int = 1000, height: int = 800, *, phone: bool = False
) -> AsyncIterator[Page]:
    """A page whose scripts must neither fail nor break the policy they were served with."""
    # A context of its own: no cookies of other pages, and a test may open a second page beside it.
    size: ViewportSize = {"width": width, "height": height}
    async with await browser.new_context(
        viewport=size, has_touch=phone, is_mobile=phone
    ) as context:
        page = await context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        expect.set_options(timeout=PATIENCE * 1000)
        complaints: list[str] = []
        page.on("console", lambda line: complaints.append(line.text))
        page.on("pageerror", lambda error: complaints.append(f"uncaught: {error}"))
        with noted(page):
            yield page
        bad = ("Content Security Policy", "uncaught")
        assert not [text for text in complaints if any(word in text for word in bad)]
