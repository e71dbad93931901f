"""What the home page shows first, in a real Chromium, with stand-ins for chats and desktops."""

import asyncio
import time
from dataclasses import replace
from pathlib import Path
from urllib.parse import urljoin

import pytest
from playwright.async_api import Route, expect

from deskhand.tools.control_plane import pages
from tests.system.browsing import BrowserConnection
from tests.system.test_pages_browser import browsing
from tests.tools.control_plane.fakes import FakeDesktop, control_plane

pytestmark = [pytest.mark.x11, pytest.mark.browser, pytest.mark.soak]
VISITED = "Object.keys(localStorage).some((key) => key.startsWith('deskhand-last-visit-'))"
TYPING = {"tool": "computer", "action": "type", "title": "type: x", "arguments": {"text": "Hello"}}


async def answer_late(route: Route) -> None:
    await asyncio.sleep(1)
    await route.continue_()


def test_a_card_shows_the_newest_step_in_words(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        chat = shown.chats.add(
            title="Write", mode="computer_use", state="running", outcome=None, last_step=TYPING
        )
        shown.desktops.known["d1"] = FakeDesktop(chat_id=chat.id, has_display=False)
        async with browsing(connection, shown, "/") as page:
            card = page.locator("#desktops .card")
            await expect(card.locator(".card-doing")).to_have_text("Type “Hello”")
            # The desktop of the stand-ins has no service, so none watches it.
            await expect(card.locator(".card-who")).to_be_hidden()

    connection.play(scenario())


def test_what_ended_since_the_last_visit_is_listed_until_it_is_seen(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        now = time.time()
        before = shown.chats.add(title="Before", mode="computer_use", outcome="done")
        shown.chats.known[before.id] = replace(before, ended_at=now - 3600)
        async with browsing(connection, shown, "/runs") as page:
            # Who it is may be known later than what has run.
            await page.route("**/people/me", answer_late)
            await page.goto(urljoin(page.url, "/"))
            await expect(page.locator("#runs").get_by_text("Before")).to_be_visible()
            section = page.locator("#ended-section")
            await expect(section).to_be_hidden()
            home = page.url
            # Leaving stores the time of the visit; another page finds it when it is stored.
            await page.goto(urljoin(home, "/runs"))
            await page.wait_for_function(VISITED)
            chat = shown.chats.add(title="Meanwhile", mode="computer_use", outcome="failed")
            shown.chats.known[chat.id] = replace(chat, ended_at=time.time())
            await page.goto(home)
            await expect(section.get_by_role("link")).to_have_text("Meanwhile")
            await expect(section.locator(".badge")).to_have_text("Failed")
            await section.get_by_role("button", name="Seen").click()
            await expect(section).to_be_hidden()

    connection.play(scenario())


def test_empty_lists_name_the_next_step_and_have_a_button_for_it(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        async with browsing(connection, shown, "/") as page:
            await page.get_by_role("button", name="Describe a task").click()
            await expect(page.get_by_label("Task", exact=True)).to_be_focused()
            await page.locator("body").click()
            await page.get_by_role("button", name="Describe the first task").click()
            await expect(page.get_by_label("Task", exact=True)).to_be_focused()
            button = page.get_by_role("button", name="Start the task Ctrl+Enter")
            await expect(button).to_be_visible()

    connection.play(scenario())


def test_a_question_is_answered_on_the_home_page(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        question = {"kind": "human", "question": "Which one?", "asked_at": time.time()}
        chat = shown.chats.add(
            mode="computer_use", state="requires_action", requires_action=question
        )
        async with browsing(connection, shown, "/") as page:
            needs = page.get_by_role("region", name="Needs a person")
            await expect(needs).to_contain_text("Which one?")
            await needs.get_by_label("Your answer").fill("The red one")
            async with page.expect_response("**/answer") as answered:
                await needs.get_by_role("button", name="Answer").click()
            assert (await answered.value).ok
        assert ("answer", chat.id, "The red one") in shown.chats.asked

    connection.play(scenario())


COUNT_AND_NONE = """async (path) => {
  const { showCount } = await import(path);
  const icon = document.querySelector("link[rel=icon]");
  const plain = icon.href;
  showCount(1);
  showCount(0);
  // This image is loaded after that of the count.
  const image = new Image();
  image.src = plain;
  await new Promise((loaded) => image.addEventListener("load", loaded));
  return icon.href === plain;
}"""


def test_the_icon_has_no_count_when_its_image_loads_after_the_last_answer(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        # This page shows no count in its icon by itself.
        async with browsing(connection, shown, "/runs") as page:
            assert await page.evaluate(COUNT_AND_NONE, "/assets/notices/browser_notices.js")

    connection.play(scenario())
