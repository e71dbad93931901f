"""Sign-ins of a real Chromium, each with a cookie and a key that the pages keep."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.system.browsing import noted, plain_page
from tests.system.services import PATIENCE, Service
from tests.system.test_whole_browser import sign_in

pytestmark = [pytest.mark.x11, pytest.mark.browser]


def assert_complete(page: Page) -> None:
    """See that the home page has read the API."""
    expect(page.locator("#model strong")).to_be_visible()


def test_other_tabs_reloads_and_a_browser_that_starts_again_are_signed_in(
    plane: Service, browser: Browser
) -> None:
    with plain_page(browser) as page:
        sign_in(plane, page)
        assert_complete(page)
        page.reload()
        assert_complete(page)
        other = page.context.new_page()
        with noted(other):
            other.goto(plane.url)
            assert_complete(other)
        kept = page.context.storage_state()
    # What a browser keeps on the disk.
    with browser.new_context(storage_state=kept) as context:
        later = context.new_page()
        later.set_default_timeout(PATIENCE * 1000)
        with noted(later):
            later.goto(plane.url)
            assert_complete(later)


def test_a_browser_without_the_key_is_told_to_sign_in_again_and_comes_back(
    plane: Service, browser: Browser
) -> None:
    with plain_page(browser) as page:
        sign_in(plane, page)
        # This document asks for nothing: the next page is the first without a key.
        page.goto(f"{plane.url}/viewer/icon.svg")
        page.evaluate("localStorage.clear()")
        page.goto(f"{plane.url}/runs?q=x")
        page.wait_for_url(f"{plane.url}/login?again&next=*")
        expect(page.locator("#words")).to_contain_text("Sign in again")
        page.get_by_label("Code or token").fill(plane.token)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{plane.url}/runs?q=x")


@pytest.mark.parametrize(
    ("path", "text"), [("/metrics", "deskhand_"), ("/no/such/page", "There is no such page")]
)
def test_an_address_that_is_no_page_opens_in_a_signed_in_browser(
    plane: Service, browser: Browser, path: str, text: str
) -> None:
    with plain_page(browser) as page:
        sign_in(plane, page)
        page.goto(f"{plane.url}{path}")
        page.wait_for_url(re.compile(f"{path}[?]ticket="))
        expect(page.locator("body")).to_contain_text(text)


@pytest.mark.slow("a run")
def test_a_share_link_counts_for_its_tab_and_its_maker_stays_signed_in(
    plane: Service, browser: Browser
) -> None:
    run = plane.recorded_run()
    link = plane.post("/api/v0/tokens", {"scopes": [f"run:{run}:view"]}, status=201)["url"]
    with plain_page(browser) as page:
        sign_in(plane, page)
        guest = page.context.new_page()
        guest.set_default_timeout(PATIENCE * 1000)
        with noted(guest):
            guest.goto(link)
            guest.wait_for_url(f"{plane.url}/runs/{run}")
            expect(guest.get_by_text("The date").first).to_be_visible()
            expect(guest.locator("#share")).to_be_hidden()
            page.reload()
            assert_complete(page)
            # The tab goes on to what only the person may see.
            guest.goto(plane.url)
            assert_complete(guest)
