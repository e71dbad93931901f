"""The page *System* of a real control plane, in a real Chromium."""

import pytest
from playwright.sync_api import Browser, expect

from tests.system.browsing import plain_page
from tests.system.services import Service
from tests.system.test_whole_browser import sign_in

pytestmark = [pytest.mark.x11, pytest.mark.browser, pytest.mark.soak]


def test_an_owner_sees_people_links_settings_and_the_audit_log(
    fresh_plane: Service, browser: Browser
) -> None:
    fresh_plane.post("/api/v0/people", {"name": "Ada", "role": "member"})
    chat = fresh_plane.post("/api/v0/chats", {"title": "shared"})["id"]
    link = {"name": "for Bob", "scopes": [f"run:{chat}:view"]}
    fresh_plane.post("/api/v0/tokens", link)
    with plain_page(browser) as page:
        sign_in(fresh_plane, page)
        page.get_by_role("link", name="System").click()

        def row(table: str, text: str) -> None:
            rows = page.get_by_role("table", name=table).get_by_role("row")
            expect(rows.filter(has_text=text).first).to_be_visible()

        row("People", "Ada")
        row("Share links", "for Bob")
        row("Settings", "keep_recording_days")
        row("Disk use by kind", "database")
        row("Audit log", "POST /api/v0/tokens")
