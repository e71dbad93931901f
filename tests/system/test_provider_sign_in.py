"""People who sign in by a provider, in a real browser."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.system.browsing import plain_page
from tests.system.services import service
from tests.tools.oidc.fake_provider import CLIENT, SECRET, small_provider

pytestmark = [
    pytest.mark.soak,
    pytest.mark.slow("a control plane of its own"),
    pytest.mark.browser,
]


def test_the_button_of_the_provider_signs_in_and_leads_to_the_page_that_was_requested(
    tmp_path: Path, browser: Browser
) -> None:
    with small_provider() as provider:
        settings = {
            "DESKHAND_OIDC_ISSUER": provider.url,
            "DESKHAND_OIDC_CLIENT_ID": CLIENT,
            "DESKHAND_OIDC_CLIENT_SECRET": SECRET,
            "DESKHAND_OIDC_ROLES": "engineers=member",
        }
        arguments = ("up", "--data-dir", str(tmp_path / "data"), "--listen", "127.0.0.1:0")
        with (
            service(tmp_path / "errors.log", *arguments, environment=settings) as plane,
            plain_page(browser, 1440, 900) as page,
        ):
            page.goto(f"{plane.url}/runs?q=date")
            expect(page.get_by_label("Code or token")).to_be_visible()
            page.get_by_role("link", name="Sign in with 127.0.0.1").click()
            page.wait_for_url(f"{plane.url}/runs?q=date")
            expect(page.get_by_role("heading", name="Runs")).to_be_visible()
            (person,) = plane.get("/api/v0/people")["people"]
            assert (person["name"], person["role"]) == ("Ada", "member")
