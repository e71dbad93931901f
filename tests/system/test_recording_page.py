"""The recording on the page of a run, in a real Chromium."""

import re
from pathlib import Path
from random import Random

import pytest
from playwright.async_api import Page, expect

from deskhand.tools.control_plane import pages
from deskhand.tools.conversation.views import StepView
from tests.system.browsing import BrowserConnection
from tests.system.clock_recording import READ_CLOCK, add_clock_run, clock_video
from tests.system.test_pages_browser import browsing
from tests.tools.control_plane.fakes import control_plane

pytestmark = [pytest.mark.x11, pytest.mark.browser]

RATE = 15
SHOWS = f"""(frame) => {{
  const video = document.querySelector("video");
  return video && !video.seeking && video.readyState >= 2 && ({READ_CLOCK})(video) === frame;
}}"""


READY = "() => document.querySelector('video')?.readyState >= 1"


async def shows(page: Page, step: StepView, number: int) -> None:
    """Wait until picture, list, bar and time line show a step."""
    assert step.video_start is not None
    await page.wait_for_function(SHOWS, arg=int(step.video_start * RATE + 1e-6))
    await expect(page.locator("#now")).to_have_text(re.compile(f"^{number} of "))
    row = page.locator("#steps li:has([aria-current=step])")
    await expect(row).to_have_attribute("data-key", step.id)
    await expect(page.locator("#strip [aria-selected=true]")).to_have_count(1)


@pytest.mark.soak
@pytest.mark.slow("opens and seeks twenty steps")
@pytest.mark.parametrize("openings", [2, pytest.param(5, marks=pytest.mark.full)])
def test_picture_list_and_bar_agree_at_random_steps(
    connection: BrowserConnection, tmp_path: Path, openings: int
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        video = clock_video(tmp_path / "clock.mp4", 30, RATE)
        chat = add_clock_run(shown, video, 30, 80)
        steps = shown.chats.steps_of[chat.id]
        # The control session of a person is one of the numbered steps, too.
        late = [step for step in steps if step.video_start and step.video_start > 9]
        chance = Random(7)
        async with browsing(connection, shown, f"/runs/{chat.id}") as page:
            for step in chance.sample(late, openings):
                address = f"{page.url.split('?')[0].split('#')[0]}?step={step.id}"
                await page.goto(address, wait_until="commit")
                at = step.index
                await shows(page, step, at + 2)
                for _ in range(9):
                    key = chance.choice("jl") if late[0].index < at < late[-1].index else "j"
                    key = "l" if at == late[0].index else key
                    at += 1 if key == "l" else -1
                    await page.keyboard.press(key)
                    await shows(page, steps[at], at + 2)

    connection.play(scenario())


@pytest.mark.soak
@pytest.mark.slow("a page with two thousand steps")
def test_two_thousand_steps_are_a_small_page_that_keys_move_in(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        video = clock_video(tmp_path / "clock.mp4", 60, 1, (128, 72))
        chat = add_clock_run(shown, video, 60, 2000)
        async with browsing(connection, shown, f"/runs/{chat.id}") as page:
            await expect(page.locator("#steps-count")).to_have_text("2001")
            assert await page.locator("*").count() < 1500
            current = page.locator("[aria-current=step] .step-title")
            # The first row is the list's only Tab stop; arrow keys move, Enter chooses.
            stops = page.locator("#steps button[tabindex='0']")
            await expect(stops).to_have_count(1)
            await stops.focus()
            await page.keyboard.press("End")
            await page.keyboard.press("Enter")
            await expect(page.locator("#now")).to_have_text(re.compile("^2001 of 2001"))
            await expect(current).to_be_in_viewport()
            # A failed step is found whatever the density.
            await page.keyboard.press("e")
            await expect(page.locator("[data-tone=bad] [aria-current=step]")).to_be_visible()
            await page.keyboard.press("/")
            await page.keyboard.type("no such window")
            await expect(page.locator("#steps-count")).to_have_text("200 of 2001")
            await page.keyboard.press("Escape")
            await page.get_by_label("Tool", exact=True).select_option("type")
            await expect(page.locator("#steps-count")).to_have_text("400 of 2001")
            await page.get_by_label("Tool", exact=True).select_option("")
            # Dragging on the time line selects a span, to which the list is limited.
            box = await page.locator("#plot").bounding_box()
            assert box is not None
            await page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 8)
            await page.mouse.down()
            await page.mouse.move(box["x"] + box["width"] / 2 + 40, box["y"] + 8, steps=3)
            await page.mouse.up()
            await expect(page.locator("#steps-count")).to_have_text(re.compile(r"^\d\d+ of 2001"))
            await page.locator("#span-clear").click()
            await expect(page.locator("#steps-count")).to_have_text("2001")
            bands = await page.locator("#strip .band").count()
            await page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 8)
            await page.mouse.wheel(0, -2000)
            await expect(page.locator("#strip .mark")).not_to_have_count(bands)
            await page.keyboard.press("?")
            await expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
            await page.keyboard.press("Escape")
            assert await page.locator("*").count() < 1500

    connection.play(scenario())


SCROLL = """(view, top) => new Promise((drawn) => {
  view.addEventListener("scroll", () => requestAnimationFrame(drawn), { once: true });
  view.scrollTop = top;
})"""
FOCUSED = "() => document.activeElement.closest('#steps > li')?.dataset.key"


@pytest.mark.soak
def test_a_row_keeps_the_focus_while_the_list_scrolls(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        video = clock_video(tmp_path / "clock.mp4", 4, RATE, (160, 90))
        chat = add_clock_run(shown, video, 4, 200)
        async with browsing(connection, shown, f"/runs/{chat.id}") as page:
            await page.wait_for_function(READY)
            await expect(page.locator(".step-group")).not_to_have_count(0)
            row = page.locator("#steps li:not(.step-group)").nth(4)
            await row.locator("button").focus()
            key = await row.get_attribute("data-key")
            # While its row is visible, after it has left the view, and back again.
            for top in (200, 2000, 300, 0):
                await page.locator("#steps-view").evaluate(SCROLL, top)
                assert await page.evaluate(FOCUSED) == key, top

    connection.play(scenario())


LOAD_AGAIN = """async (path) => {
  const { Timeline } = await import(path);
  const timeline = new Timeline({ seek() {}, chosen() {}, selected() {} });
  const read = () => [1, 2, 3].map((second) => ({
    id: `step-${second}`, index: second, label: `Step ${second}`, tool: "computer",
    video_start: second, video_end: second + 0.5,
  }));
  await timeline.load(4, read(), []);
  const marks = document.getElementById("strip");
  marks.children[1].focus();
  await timeline.load(4, read(), []);
  return [document.activeElement === marks.children[1], marks.children.length];
}"""


@pytest.mark.soak
def test_a_mark_keeps_the_focus_while_the_steps_are_read_again(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        chat = add_clock_run(shown, clock_video(tmp_path / "clock.mp4", 4, RATE, (160, 90)), 4, 8)
        async with browsing(connection, shown, f"/runs/{chat.id}") as page:
            await page.wait_for_function(READY)
            await expect(page.locator("#strip .mark")).not_to_have_count(0)
            script = "/assets/run/recording/timeline.js"
            assert await page.evaluate(LOAD_AGAIN, script) == [True, 3]

    connection.play(scenario())


def test_the_controls_are_below_the_picture_and_play_a_span_again(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        video = clock_video(tmp_path / "clock.mp4", 4, RATE, (160, 90))
        chat = add_clock_run(shown, video, 4, 8)
        async with browsing(connection, shown, f"/runs/{chat.id}") as page:
            await page.wait_for_function(READY)
            picture = await page.locator("video").bounding_box()
            bar = await page.get_by_role("group", name="Control bar").bounding_box()
            assert picture is not None
            assert bar is not None
            assert picture["y"] + picture["height"] <= bar["y"]
            assert await page.locator("video[controls]").count() == 0
            for at, key in ((1, "i"), (1.4, "o")):
                await page.evaluate(f"document.querySelector('video').currentTime = {at}")
                await expect(page.locator("#clock")).to_have_text(f"0:0{at:.1f} / 0:04.0")
                await page.keyboard.press(key)
            await expect(page.locator("#span-clear")).to_contain_text("0:01.4")
            await page.get_by_role("button", name="Loop").click()
            await page.evaluate(
                "document.querySelector('video').addEventListener('seeking', () => {"
                "  window.seeks = (window.seeks || 0) + 1; })"
            )
            await page.keyboard.press("k")
            await page.wait_for_function("() => window.seeks >= 2")
            assert await page.evaluate("document.querySelector('video').currentTime") < 2.5
            await page.keyboard.press("k")
            await page.keyboard.press("]")
            await expect(page.get_by_label("Speed")).to_have_value("1.5")
            # A person's control session is a step of the run.
            await expect(page.get_by_role("button", name="Ada had control")).to_be_visible()
            await page.get_by_role("button", name="Full screen").click()
            await expect(page.locator("#steps")).to_be_visible()
            await page.get_by_role("button", name="Leave full screen").click()

    connection.play(scenario())
