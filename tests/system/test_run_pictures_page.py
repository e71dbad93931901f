"""The time of a run, and two runs beside each other, in a real Chromium."""

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from deskhand.tools.control_plane import pages
from deskhand.tools.run_list.api import router as runs_router
from tests.system.browsing import BrowserConnection
from tests.system.clock_recording import READ_CLOCK, add_clock_run, clock_video
from tests.system.test_pages_browser import browsing
from tests.tools.control_plane.fakes import control_plane
from tests.tools.run_list.fakes import FakeRuns

pytestmark = [pytest.mark.x11, pytest.mark.browser, pytest.mark.soak]

RATE = 15
SHOWS = f"""([name, frame]) => {{
  const video = document.getElementById(`video-${{name}}`);
  return !video.seeking && video.readyState >= 2 && ({READ_CLOCK})(video) === frame;
}}"""


async def shows(page: Page, name: str, seconds: float) -> None:
    """Wait until a video shows the frame of a moment."""
    await page.wait_for_function(SHOWS, arg=[name, int(seconds * RATE + 1e-6)])


@pytest.mark.slow("two pages with recordings")
def test_two_runs_are_compared_step_by_step(connection: BrowserConnection, tmp_path: Path) -> None:
    async def scenario() -> None:
        runs = FakeRuns([])
        shown = control_plane(tmp_path, pages=[pages.router(), runs_router(runs)])
        video = clock_video(tmp_path / "clock.mp4", 20, RATE)
        a, b = (add_clock_run(shown, video, 20, count) for count in (20, 24))
        runs.runs[:] = [a, b]
        # The other run leaves two steps out: all that follow are aligned nevertheless.
        steps = shown.chats.steps_of[b.id]
        kept = (*steps[:5], *steps[7:])
        shown.chats.steps_of[b.id] = tuple(replace(s, index=i) for i, s in enumerate(kept))
        first, second = shown.chats.steps_of[a.id], shown.chats.steps_of[b.id]
        async with browsing(connection, shown, f"/compare?a={a.id}&b={b.id}") as page:
            await expect(page.locator("#compare-first")).to_contain_text("difference is at row 6")
            await expect(page.get_by_role("row", name="Steps 20 22")).to_be_visible()
            rows = page.locator("#differences li")
            await expect(rows.nth(5)).to_have_attribute("data-kind", "onlyA")
            await page.get_by_role("button", name="Show it").click()
            assert first[5].video_start is not None
            await shows(page, "a", first[5].video_start)
            # Both videos show the begin of the step of a pair.
            await rows.nth(8).get_by_role("button").click()
            assert first[8].video_start is not None
            assert second[6].video_start is not None
            await shows(page, "a", first[8].video_start)
            await shows(page, "b", second[6].video_start)
            await page.get_by_label("Run B").select_option(a.id)
            await expect(page.locator("#compare-first")).to_have_text("No step differs.")

    connection.play(scenario())


@pytest.mark.slow("a page with a recording")
def test_the_time_of_a_run_is_read_when_it_is_opened(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        video = clock_video(tmp_path / "clock.mp4", 20, 1, (128, 72))
        chat = add_clock_run(shown, video, 20, 150)
        async with browsing(connection, shown, f"/runs/{chat.id}") as page:
            rows = page.locator("#waterfall li")
            await expect(rows).to_have_count(0)
            await page.get_by_text("Time and pictures").click()
            await expect(rows).to_have_count(100)
            await expect(page.locator("#time-totals")).to_contain_text("Model")
            await expect(page.get_by_role("link", name="Contact sheet")).to_be_visible()
            await page.get_by_role("button", name="Show 51 more").click()
            await expect(rows).to_have_count(151)
            await page.get_by_role("link", name="4 Step 3", exact=True).click()
            await expect(page.locator("#step-box")).to_be_visible()

    connection.play(scenario())
