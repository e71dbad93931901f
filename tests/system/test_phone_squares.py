"""The five squares of the demo's page, hit by finger in the live view of a phone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import CDPSession, FloatRect, Page, expect

from deskhand.tools.demo.site import Findings, demo_site
from tests.system.browsing import BrowserConnection, page_of
from tests.system.services import PATIENCE, Service

pytestmark = [pytest.mark.x11, pytest.mark.browser, pytest.mark.soak]

SCREEN = (1920, 1080)
SQUARES = (
    (2, 2, "#e6194b"),
    (1918, 2, "#3cb44b"),
    (960, 540, "#4363d8"),
    (2, 1078, "#f58231"),
    (1918, 1078, "#911eb4"),
)
"""Centre and colour of each square of 4x4 pixels, in the order in which they appear."""
SQUARE = 4
BORDER = 3
"""CSS pixels of the frame that shows who has control."""
LARGE = 6
"""CSS pixels of a square: enough for a fingertip whose middle the hand can place."""
SHOWN = """([x, y, colour]) => {
  const canvas = document.querySelector("canvas");
  if (canvas?.width !== 1920) return false;
  const seen = canvas.getContext("2d").getImageData(x - 1, y - 1, 1, 1).data;
  const wanted = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  // A picture of low quality has colours that are near.
  return wanted.every((one, at) => Math.abs(one - seen[at]) < 60);
}"""


class Hand:
    """Two fingers on a page."""

    def __init__(self, page: Page, session: CDPSession) -> None:
        self._page = page
        self._session = session

    async def _put(self, kind: str, *points: tuple[float, float]) -> None:
        touches = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
        await self._session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    async def picture(self) -> FloatRect:
        box = await self._page.locator(".viewer-canvas canvas").bounding_box()
        assert box is not None
        return box

    async def frame(self) -> FloatRect:
        box = await self._page.locator(".viewer-screen").bounding_box()
        assert box is not None
        return box

    async def enlarge(self, x: float, y: float) -> None:
        """Keep one finger at a point of the desktop, and move the other one away from it."""
        toward = -1 if x > SCREEN[0] / 2 else 1
        while (await self.picture())["width"] / SCREEN[0] * SQUARE < LARGE:
            fixed = await self.place(x, y)
            apart = [(fixed[0] + toward * (25 + by), fixed[1]) for by in range(0, 140, 10)]
            await self._put("touchStart", fixed, apart[0])
            for point in apart[1:]:
                await self._put("touchMove", fixed, point)
                await self._page.evaluate("new Promise(requestAnimationFrame)")
            await self._put("touchEnd")

    async def place(self, x: float, y: float) -> tuple[float, float]:
        """Return the middle of what is visible of a square, whose centre is a point."""
        picture, frame = await self.picture(), await self.frame()
        half = SQUARE / 2 * picture["width"] / SCREEN[0]
        left = picture["x"] + x / SCREEN[0] * picture["width"]
        top = picture["y"] + y / SCREEN[1] * picture["height"]
        return (
            visible(left, half, frame["x"], frame["width"]),
            visible(top, half, frame["y"], frame["height"]),
        )

    async def tap(self, x: float, y: float) -> None:
        point = await self.place(x, y)
        await self._put("touchStart", point)
        await self._put("touchEnd")


def visible(centre: float, half: float, start: float, length: float) -> float:
    """Return the middle of that part of a span that is inside of the frame."""
    first = max(centre - half, start + BORDER)
    # A touch is rounded to a whole pixel, which must be one of the picture.
    last = min(centre + half, start + length - BORDER - 0.6)
    return (first + last) / 2


async def take_control(page: Page) -> None:
    await page.get_by_role("button", name="Take control").tap()
    await page.get_by_label("Your name").fill("Ann")
    await page.get_by_label("Your name").press("Enter")
    await expect(page.get_by_role("button", name="Give back")).to_be_visible()


async def until_hit(findings: Findings, count: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while findings.hits < count:
            await findings.changed.wait()


@asynccontextmanager
async def watched(
    plane: Service, connection: BrowserConnection, size: tuple[int, int]
) -> AsyncIterator[tuple[Page, Findings]]:
    """Open the live view of a desktop that shows the demo's page."""
    desktop = plane.post("/api/v0/desktops", {"name": "for fingers"})["id"]
    path = f"/desktops/{desktop}"
    code = plane.post("/api/v0/login/codes", {})["code"]
    async with (
        demo_site() as (url, findings),
        page_of(connection.browser, *size, phone=True) as page,
    ):
        command = {"command": f"browser --kiosk {url}/", "background": True}
        await asyncio.to_thread(plane.post, f"/api/v0{path}/processes/start", command)
        await page.goto(f"{plane.url}/login?next={path}#code={code}")
        await page.wait_for_url(f"{plane.url}{path}")
        yield page, findings
    assert plane.http.delete(f"/api/v0{path}").is_success


@pytest.mark.slow("a desktop, its browser and a phone")
@pytest.mark.parametrize(
    "size",
    [
        pytest.param((390, 844), id="portrait"),
        pytest.param((844, 390), id="landscape", marks=pytest.mark.full),
    ],
)
def test_five_squares_are_hit_by_finger(
    plane: Service, connection: BrowserConnection, size: tuple[int, int]
) -> None:
    async def scenario() -> None:
        async with watched(plane, connection, size) as (page, findings):
            await page.wait_for_function(SHOWN, arg=SQUARES[0])
            await take_control(page)
            hand = Hand(page, await page.context.new_cdp_session(page))
            for count, (x, y, colour) in enumerate(SQUARES, start=1):
                await page.wait_for_function(SHOWN, arg=[x, y, colour])
                await hand.enlarge(x, y)
                await hand.tap(x, y)
                await until_hit(findings, count)
                await page.get_by_role("button", name="More").tap()
                await page.get_by_role("button", name="Fit").tap()
                await page.get_by_role("button", name="More").tap()
            # No gesture that enlarged the picture has pressed anything.
            assert findings.misses == 0

    connection.play(scenario())
