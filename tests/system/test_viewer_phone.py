"""The live view on a phone: fingers, the slim bar and its sheet, and the view without a bar."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import pytest
from playwright.async_api import CDPSession, FloatRect, Page, expect

from deskhand.desktop.display.x_server import XServer
from tests.system.browsing import MOSTLY_MAGENTA, BrowserConnection, page_of, terminal
from tests.system.test_viewer_browser import lines_of, serving, status_of, take_control
from tests.vncbridge.fakes import Service, short_folder

pytestmark = [pytest.mark.x11, pytest.mark.browser]

PORTRAIT = (390, 844)
LANDSCAPE = (844, 390)
SLIM = 60
"""CSS pixels: a line of buttons that a finger can hit, and its padding."""

# Buttons and movements as text (XTerm Control Sequences, "Extended coordinates": SGR).
REPORT_MOUSE = """stty raw -echo; printf '\\033[?1002h\\033[?1006h'; exec cat > "$0" """
_EVENT = re.compile(rb"\x1b\[<([0-9]+);([0-9]+);([0-9]+)([Mm])")
LEFT, RIGHT, DRAGGED, WHEEL = 0, 2, 32, 64
CELL = (6, 13)
"""Pixels of a character of xterm's default font."""


@dataclass(frozen=True)
class Stage(BrowserConnection):
    """A browser, and a screen that reports what the pointer does."""

    server: XServer
    reported: asyncio.StreamReader

    async def next(self) -> tuple[int, int, int]:
        """Return button, column and row of the next press or movement with a button."""
        data = b""
        while True:
            data += await self.reported.readexactly(1)
            found = _EVENT.search(data)
            if found and found[4] == b"M":
                button, column, row = (int(found[number]) for number in (1, 2, 3))
                return button, column, row
            if found:
                data = b""


@pytest.fixture(scope="module")
def stage(connection: BrowserConnection) -> Iterator[Stage]:
    runner = connection.runner
    with short_folder() as folder, terminal(folder, REPORT_MOUSE) as server:
        stack = AsyncExitStack()
        try:
            reported = runner.run(stack.enter_async_context(lines_of(folder / "typed")))
            yield Stage(runner, connection.browser, server, reported)
        finally:
            runner.run(stack.aclose())


@asynccontextmanager
async def phone(
    stage: Stage, size: tuple[int, int] = PORTRAIT, query: str = ""
) -> AsyncIterator[Page]:
    async with (
        serving(stage) as routes,
        Service(*routes) as service,
        page_of(stage.browser, *size, phone=True) as page,
    ):
        await page.goto(f"{service.url}/{query}")
        await page.wait_for_function(MOSTLY_MAGENTA)
        yield page


class Fingers:
    """Touches of one page, in CSS pixels from the corner of its picture."""

    def __init__(self, session: CDPSession, picture: FloatRect) -> None:
        self._session = session
        self._picture = picture

    async def put(self, kind: str, *points: tuple[float, float]) -> None:
        touches = [
            {"x": self._picture["x"] + x, "y": self._picture["y"] + y, "id": number}
            for number, (x, y) in enumerate(points)
        ]
        await self._session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    async def tap(self, x: float, y: float) -> None:
        await self.put("touchStart", (x, y))
        await self.put("touchEnd")

    async def move(self, *pairs: tuple[tuple[float, float], ...]) -> None:
        await self.put("touchStart", *pairs[0])
        for points in pairs[1:]:
            await self.put("touchMove", *points)


async def canvas_of(page: Page) -> FloatRect:
    box = await page.locator(".viewer-canvas canvas").bounding_box()
    assert box is not None
    return box


async def fingers_on(page: Page) -> Fingers:
    return Fingers(await page.context.new_cdp_session(page), await canvas_of(page))


def cell(canvas: FloatRect, x: float, y: float, shown: FloatRect) -> tuple[float, float]:
    """Return the character cell under a point that is given from the corner of ``shown``."""
    scale = 800 / canvas["width"]
    left, top = shown["x"] + x - canvas["x"], shown["y"] + y - canvas["y"]
    return left * scale / CELL[0], top * scale / CELL[1]


def near(found: tuple[int, int], wanted: tuple[float, float]) -> bool:
    return all(abs(one - 1 - other) <= 1.5 for one, other in zip(found, wanted, strict=True))


def test_a_tap_clicks_a_long_press_is_a_right_click_and_two_fingers_scroll(stage: Stage) -> None:
    async def scenario() -> None:
        async with phone(stage) as page:
            await take_control(page)
            fingers, canvas = await fingers_on(page), await canvas_of(page)
            await fingers.tap(100, 80)
            button, *place = await stage.next()
            assert button == LEFT
            assert near((place[0], place[1]), cell(canvas, 100, 80, canvas))
            await fingers.put("touchStart", (200, 120))
            button, *place = await stage.next()
            assert button == RIGHT
            assert near((place[0], place[1]), cell(canvas, 200, 120, canvas))
            await fingers.put("touchEnd")
            down = [((90.0, 60.0 + by), (150.0, 60.0 + by)) for by in range(0, 120, 20)]
            await fingers.move(*down)
            assert (await stage.next())[0] & WHEEL
            await fingers.put("touchEnd")

    stage.play(scenario())


def test_two_fingers_enlarge_the_picture_and_a_tap_still_hits(stage: Stage) -> None:
    async def scenario() -> None:
        async with phone(stage) as page:
            fingers, before = await fingers_on(page), await canvas_of(page)
            apart = [((150.0 - by, 100.0), (160.0 + by, 100.0)) for by in range(20, 140, 20)]
            await fingers.move(*apart)
            await fingers.put("touchEnd")
            larger = await canvas_of(page)
            assert larger["width"] > 1.5 * before["width"]
            # One finger moves the picture, as nothing on the desktop is pressed while watching.
            await fingers.move(*[((200.0 - by, 100.0),) for by in range(0, 80, 10)])
            await fingers.put("touchEnd")
            moved = await canvas_of(page)
            assert moved["x"] < larger["x"]
            await take_control(page)
            await fingers.tap(120, 90)
            button, *place = await stage.next()
            assert button == LEFT
            assert near((place[0], place[1]), cell(await canvas_of(page), 120, 90, before))
            await page.get_by_role("button", name="More").tap()
            await page.get_by_role("button", name="Fit").tap()
            # In control a line is around it.
            assert (await canvas_of(page))["width"] == pytest.approx(before["width"], abs=8)

    stage.play(scenario())


@pytest.mark.parametrize("size", [PORTRAIT, LANDSCAPE], ids=["portrait", "landscape"])
def test_the_bar_is_slim_and_the_rest_is_in_a_sheet(stage: Stage, size: tuple[int, int]) -> None:
    async def scenario() -> None:
        async with phone(stage, size) as page:
            bar = await page.locator(".viewer-bar").bounding_box()
            canvas = await canvas_of(page)
            assert bar is not None
            if size == PORTRAIT:
                assert bar["height"] <= SLIM
                assert canvas["width"] == size[0]
            else:
                assert canvas["height"] == size[1]
            assert await page.evaluate("document.documentElement.scrollWidth") <= size[0]
            await expect(page.get_by_label("Private")).to_be_hidden()
            await page.get_by_role("button", name="More").tap()
            await expect(page.get_by_label("Private")).to_be_visible()
            await page.get_by_role("button", name="More").press("Escape")
            await expect(page.get_by_label("Private")).to_be_hidden()
            await take_control(page)
            await page.get_by_role("button", name="More").tap()
            await page.get_by_role("button", name="Esc", exact=True).tap()
            await expect(page.get_by_role("button", name="Keyboard")).to_be_visible()

    stage.play(scenario())


def test_a_view_only_page_has_no_controls_and_a_bare_one_no_bar(stage: Stage) -> None:
    async def scenario() -> None:
        async with phone(stage, PORTRAIT, "?view=only") as page:
            await expect(status_of(page)).to_be_visible()
            await expect(page.get_by_role("button", name="Take control")).to_be_hidden()
        async with phone(stage, PORTRAIT, "?view=only&bar=0") as page:
            await expect(page.locator(".viewer-bar")).to_be_hidden()
            box = await page.locator(".viewer-screen").bounding_box()
            assert box is not None
            assert (box["width"], box["height"]) == PORTRAIT

    stage.play(scenario())
