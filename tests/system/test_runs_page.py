"""The page of all runs, on a real control plane, in a real Chromium."""

import re
from functools import partial

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.system.browsing import plain_page
from tests.system.services import Service, until
from tests.system.test_whole_browser import sign_in

pytestmark = [pytest.mark.x11, pytest.mark.browser, pytest.mark.soak]


def ended(plane: Service, chat_id: str) -> bool:
    return bool(plane.get(f"/api/v0/chats/{chat_id}")["state"] == "waiting")


@pytest.fixture(scope="module")
def chats(fresh_plane: Service) -> dict[str, str]:
    """Ids of chats by title, one of which has a subagent with a desktop."""
    made = {}
    for title in ("first", "second", "third"):
        chat = {"title": title, "prompt": "show the date", "model": "scripted:look"}
        made[title] = fresh_plane.post("/api/v0/chats", chat)["id"]
    family = {"title": "family", "prompt": "show the date", "model": "scripted:delegate"}
    made["family"] = fresh_plane.post("/api/v0/chats", family)["id"]
    for chat_id in made.values():
        until(partial(ended, fresh_plane, chat_id), "the end of a run")
    return made


def card(page: Page, title: str) -> Locator:
    return page.locator("#list .card").filter(has_text=re.compile(title))


def test_selected_runs_are_compared_and_deleted(
    fresh_plane: Service, browser: Browser, chats: dict[str, str]
) -> None:
    with plain_page(browser) as page:
        sign_in(fresh_plane, page, "/runs")
        page.get_by_label("Select first").check()
        expect(page.get_by_role("button", name="Compare")).to_be_disabled()
        page.get_by_label("Select second").check()
        expect(page.locator("#selected-count")).to_have_text("2 runs selected")
        page.get_by_role("button", name="Compare").click()
        page.wait_for_url(re.compile(f"compare.a={chats['first']}&b={chats['second']}"))
        page.goto(f"{fresh_plane.url}/runs")
        page.get_by_label("Select third").check()
        page.get_by_role("button", name="Delete").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("Delete this run?")
        dialog.get_by_role("button", name="Cancel").click()
        page.get_by_role("button", name="Delete").click()
        dialog.get_by_role("button", name="Delete").click()
        expect(card(page, "third")).to_have_count(0)
        expect(card(page, "first")).to_be_visible()
        expect(page.locator("#selection")).to_be_hidden()
    assert fresh_plane.http.get(f"/api/v0/chats/{chats['third']}").status_code == 404


def test_a_family_is_one_card_that_shows_its_agents(
    fresh_plane: Service, browser: Browser, chats: dict[str, str]
) -> None:
    (child,) = fresh_plane.get(f"/api/v0/chats/{chats['family']}")["children"]
    with plain_page(browser) as page:
        sign_in(fresh_plane, page, "/runs")
        family = card(page, "family")
        toggle = family.get_by_role("button", name="1 subagent")
        toggle.click()
        link = family.locator(".run-children a")
        expect(link).to_have_attribute("href", re.compile(f"runs/{child}$"))
        toggle.click()
        expect(link).to_be_hidden()
        # A recording can be pinned, and a run without one says why it cannot.
        page.get_by_label("Select first").check()
        page.get_by_role("button", name="Pin").click()
        expect(page.locator("#selection-problem")).to_be_visible()
        expect(page.get_by_label("Select first")).to_be_checked()


def test_the_filter_finds_pinned_runs_and_stays_in_the_address(
    fresh_plane: Service, browser: Browser, chats: dict[str, str]
) -> None:
    (child,) = fresh_plane.get(f"/api/v0/chats/{chats['family']}")["children"]
    assert fresh_plane.http.put(f"/api/v0/runs/{child}/pin").is_success
    with plain_page(browser) as page:
        sign_in(fresh_plane, page, "/runs")
        page.get_by_label("Pinned").check()
        page.wait_for_url(re.compile("pinned=true"))
        expect(page.locator("#list .card")).to_have_count(1)
        page.reload()
        expect(page.get_by_label("Pinned")).to_be_checked()
        expect(page.locator("#list .card")).to_have_count(1)
