"""Recordings that were started by hand, and the people on a desktop, in a real Chromium."""

import re
import uuid

import pytest
from playwright.sync_api import Browser, expect

from tests.system.browsing import plain_page
from tests.system.services import Service
from tests.system.test_whole_browser import sign_in

pytestmark = [pytest.mark.x11, pytest.mark.browser, pytest.mark.soak]


@pytest.fixture(scope="module")
def desktop(fresh_plane: Service) -> str:
    """Id of a desktop with a recording that has ended, labelled `By Ada`."""
    made = str(fresh_plane.post("/api/v0/desktops", {"name": "Ada's desk"})["id"])
    below = f"/api/v0/desktops/{made}/desktop"
    recording = {"recording_id": str(uuid.uuid4())}
    fresh_plane.post(f"{below}/recording/start", {**recording, "label": "By Ada"})
    fresh_plane.post(f"{below}/action", {"action": "type", "text": "Hello"})
    fresh_plane.post(f"{below}/recording/stop", recording)
    return made


def test_a_recording_by_hand_is_listed_filtered_and_played(
    fresh_plane: Service, browser: Browser, desktop: str
) -> None:
    with plain_page(browser) as page:
        sign_in(fresh_plane, page, "/runs")
        listed = page.get_by_role("region", name="Recordings started by hand")
        card = listed.get_by_role("listitem")
        expect(card).to_contain_text("By Ada")
        expect(card).to_contain_text("Ada's desk")
        page.get_by_label("Pinned").check()
        expect(listed).to_be_hidden()
        page.get_by_label("Pinned").uncheck()
        page.get_by_label("Search").fill("ada")
        expect(card).to_be_visible()
        card.get_by_role("link").click()
        page.wait_for_url(f"**/desktops/{desktop}/recordings/*")
        expect(page.get_by_role("heading", name="By Ada")).to_be_visible()
        page.wait_for_function("() => document.querySelector('video')?.readyState >= 2")
        page.get_by_role("button", name="Type “Hello”").click()
        page.wait_for_function("() => !document.querySelector('video').seeking")
        with page.expect_download() as saved:
            page.get_by_role("link", name="Save the video").click()
        assert saved.value.path().read_bytes()[4:8] == b"ftyp"
        page.goto(f"{fresh_plane.url}/desktops/{desktop}/recordings/{uuid.uuid4()}")
        expect(page.locator("main:visible h1")).to_have_text("There is no such recording")
        page.get_by_role("link", name="Go to all runs and recordings").click()
        expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()


def test_a_card_names_who_watches_and_who_has_control(
    fresh_plane: Service, browser: Browser, desktop: str
) -> None:
    with plain_page(browser) as home, plain_page(browser) as live:
        sign_in(fresh_plane, home)
        who = home.locator("#desktops .card").filter(has_text="Ada's desk").locator(".card-who")
        expect(who).to_be_hidden()
        sign_in(fresh_plane, live, f"/desktops/{desktop}")
        expect(live.get_by_text("Live, you are watching")).to_be_visible()
        expect(who).to_have_text("1 person watches")
        taken = {"action": "take", "name": "Ada"}
        fresh_plane.post(f"/api/v0/desktops/{desktop}/desktop/lease", taken)
        expect(who).to_have_text(re.compile("^Ada has control"))


PROBLEMS = [
    ("/nowhere", "There is no such page", "Go to all desktops and runs"),
    ("/api/v0/files/nothing", "There is no such page", "Go to all desktops and runs"),
    ("/api/v0/recordings/nothing/video", "There is no such page", "Go to all desktops and runs"),
    ("/runs/nothing", "There is no such run", "Go to all desktops and runs"),
    ("/desktops/nothing", "This desktop is gone", "Go to all desktops and runs"),
    ("/api/v0/runs?limit=many", "This cannot be shown", "Go to all desktops and runs"),
]


def test_a_browser_gets_a_page_with_one_way_on_and_never_json(
    fresh_plane: Service, browser: Browser
) -> None:
    with plain_page(browser) as page:
        page.goto(f"{fresh_plane.url}/api/v0/runs")
        expect(page.locator("main h1")).to_have_text("You are not signed in")
        page.get_by_role("link", name="Sign in", exact=True).click()
        expect(page.get_by_label("Code or token")).to_be_visible()
        # A link that was used, has expired or was revoked.
        page.goto(f"{fresh_plane.url}/login#code=dh_expired")
        expect(page.get_by_text("wrong, used or too old")).to_be_visible()
        sign_in(fresh_plane, page)
        for path, title, way in PROBLEMS:
            page.goto(fresh_plane.url + path)
            expect(page.locator("main:visible h1")).to_have_text(title)
            expect(page.locator("main:visible").get_by_role("link")).to_have_text(way)
