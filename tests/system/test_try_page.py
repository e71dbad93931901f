"""The page on which requests are tried, in a browser."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.system.browsing import plain_page
from tests.system.services import Service
from tests.system.test_accessible_pages import AXE, EACH_LOOK, Looks, problems
from tests.system.test_whole_browser import sign_in

pytestmark = [pytest.mark.x11, pytest.mark.browser, pytest.mark.soak]


@pytest.mark.slow("loads a large library")
@EACH_LOOK
def test_a_request_is_tried_without_a_foreign_resource(
    plane: Service, browser: Browser, tmp_path: Path, looks: Looks
) -> None:
    with plain_page(browser) as page:
        page.add_init_script(path=AXE)
        sign_in(plane, page)
        complaints: list[str] = []
        asked: set[str] = set()
        page.on("console", lambda line: complaints.append(line.text))
        page.on("pageerror", lambda error: complaints.append(f"uncaught: {error}"))
        page.on("request", lambda request: asked.add(request.url))
        page.goto(f"{plane.url}/try")
        expect(page.get_by_role("heading", name="Try the HTTP API")).to_be_visible()
        page.locator(".opblock-summary-path[data-path='/api/v0/status']").click()
        page.get_by_role("button", name="Try it out").click()
        page.get_by_role("button", name="Execute").click()
        answer = page.locator(".live-responses-table tbody .response-col_status").first
        expect(answer).to_contain_text("200")
        page.screenshot(path=tmp_path / "try.png")
        # Only the first section stays open, as the rules read every element.
        for section in reversed(page.locator(".opblock-tag[data-is-open=true]").all()[1:]):
            section.click()
        assert problems(page, looks) == []
    here = ("data:", "blob:", plane.url)
    assert not [one for one in asked if not one.startswith(here)]
    assert not [one for one in complaints if "Content Security" in one or "uncaught" in one]
