"""The task box of the home page, in a real Chromium."""

import re

import pytest
from playwright.sync_api import Browser, expect

from tests.system.browsing import plain_page
from tests.system.services import Service
from tests.system.test_whole_browser import sign_in

pytestmark = [pytest.mark.x11, pytest.mark.browser, pytest.mark.soak]


def test_a_task_is_started_with_its_options(plane: Service, browser: Browser) -> None:
    desktop = plane.post("/api/v0/desktops", {"name": "chosen"})
    with plain_page(browser) as page:
        sign_in(plane, page)
        page.get_by_label("Task", exact=True).fill("Show the parts")
        page.locator("#options summary").click()
        page.get_by_label("Title").fill("Parts")
        page.get_by_label("Model").fill("scripted:tour")
        page.locator("#desktop").select_option(label="chosen")
        page.get_by_label("Steps at most").fill("30")
        page.get_by_label("Minutes at most").fill("2.5")
        with page.expect_request("**/spawn_computer_use_agent") as sent:
            page.get_by_role("button", name="Start the task").click()
        assert sent.value.post_data_json == {
            "prompt": "Show the parts",
            "title": "Parts",
            "model": "scripted:tour",
            "desktop": desktop["id"],
            "budget": {"steps": 30, "minutes": 2.5},
        }
        expect(page.locator("#task-words a")).to_have_text("Parts")
        expect(page.locator("#earlier option", has_text="Parts")).to_be_attached()
        page.locator("#earlier").select_option(label="Parts")
        expect(page.get_by_label("Task", exact=True)).to_have_value("Show the parts")


def test_without_a_key_the_scripts_are_listed_with_what_they_demonstrate(
    plane: Service, browser: Browser
) -> None:
    with plain_page(browser) as page:
        sign_in(plane, page)
        hint = page.locator("#key-hint")
        expect(hint).to_contain_text("the task itself will not be done")
        hint.locator("summary").click()
        script = hint.get_by_role("button", name="scripted:tour")
        expect(script.locator("..")).to_contain_text("Shows the parts of a desktop")
        script.click()
        expect(page.get_by_label("Model")).to_have_value("scripted:tour")


def test_a_task_that_is_refused_keeps_its_text(plane: Service, browser: Browser) -> None:
    with plain_page(browser) as page:
        sign_in(plane, page)
        page.get_by_label("Task", exact=True).fill("Pay")
        page.locator("#options summary").click()
        page.get_by_label("Model").fill("no-such-model")
        page.get_by_role("button", name="Start the task").click()
        expect(page.locator("#task-words")).to_contain_text("no-such-model")
        expect(page.get_by_label("Task", exact=True)).to_have_value("Pay")


RECORDED_NOTICES = """
window.notices = [];
window.Notification = class extends EventTarget {
  static permission = "granted";
  static async requestPermission() { return "granted"; }
  constructor(title, { body }) { super(); window.notices.push(`${title}: ${body}`); }
};
"""


def test_notifications_name_what_needs_a_person_and_what_has_ended(
    plane: Service, browser: Browser
) -> None:
    with plain_page(browser) as page:
        page.add_init_script(RECORDED_NOTICES)
        sign_in(plane, page)
        page.get_by_role("button", name="Notify me").click()
        expect(page.get_by_role("button", name="Notifications on")).to_be_visible()
        # What the first list has is no news; the bell gets its words after that list.
        expect(page.locator("#bell")).to_have_attribute("title", re.compile("a person$"))
        plane.post("/api/v0/chats", {"title": "dated", "prompt": "Go", "model": "scripted:look"})
        page.wait_for_function("() => notices.includes('A task has ended: dated')")
        asking = {"title": "asking", "prompt": "Go", "model": "scripted:ask"}
        chat = plane.post("/api/v0/chats", asking)["id"]
        page.wait_for_function("() => notices.includes('An agent needs a person: asking')")
        expect(page).to_have_title(re.compile(r"^\(\d+\) Deskhand$"))
        icon = page.locator("link[rel=icon]")
        expect(icon).to_have_attribute("href", re.compile("^data:image/png"))
        assert plane.http.delete(f"/api/v0/chats/{chat}").is_success
        expect(icon).to_have_attribute("href", re.compile("icon.svg$"))
