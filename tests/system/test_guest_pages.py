"""A guest, who has signed in by a share link, opens every link that the pages have."""

from collections.abc import Iterator
from urllib.parse import urldefrag

import pytest
from playwright.sync_api import Browser, Page, Response, expect

from tests.system.browsing import key_header, plain_page
from tests.system.services import Service

pytestmark = [
    pytest.mark.soak,
    pytest.mark.slow("a run, and its pages for a guest"),
    pytest.mark.x11,
    pytest.mark.browser,
]

LINKS = """() => [...document.querySelectorAll("a[href]")]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }))
  .map((one) => [one.href, one.download])"""


@pytest.fixture(scope="module")
def run(plane: Service) -> str:
    """A run that has ended, with its recording, of an agent that another has started."""
    return plane.recorded_run()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with plain_page(browser, 1440, 900) as found:
        yield found


def open_as_guest(plane: Service, page: Page, run: str, scope: str) -> None:
    body = {"scopes": [f"run:{run}:{scope}"], "name": "for a guest", "ttl_s": 3600}
    token = plane.post("/api/v0/tokens", body, status=201)["token"]
    page.goto(f"{plane.url}/login?next=/runs/{run}#code={token}")
    page.wait_for_url(f"{plane.url}/runs/{run}*")


@pytest.mark.parametrize("scope", [pytest.param("view", marks=pytest.mark.full), "conversation"])
def test_a_guest_opens_every_link_and_sees_no_error(
    plane: Service, page: Page, run: str, scope: str
) -> None:
    refused: list[str] = []

    def note(answer: Response) -> None:
        if answer.status >= 400:
            refused.append(f"{answer.status} {answer.request.method} {answer.url} on {page.url}")

    page.on("response", note)
    open_as_guest(plane, page, run, scope)
    page.on("pageerror", lambda error: refused.append(f"{error} on {page.url}"))
    waiting, seen = [page.url], {urldefrag(page.url).url}
    while waiting:
        page.goto(waiting.pop())
        expect(page.locator("h1:visible").first).to_be_visible()
        page.get_by_role("tab", name="Steps").click()
        page.locator("#steps button").first.click()
        for closed in page.locator("details:not([open]) > summary:visible").all():
            closed.click()
        page.wait_for_load_state("networkidle")
        for address, download in page.evaluate(LINKS):
            url = urldefrag(address).url
            if url in seen or not url.startswith(plane.url):
                continue
            seen.add(url)
            if download or "/api/" in url:
                if not (answer := page.request.get(url, headers=key_header(page))).ok:
                    refused.append(f"{answer.status} {url} on {page.url}")
            else:
                waiting.append(url)
    assert refused == []
    assert len(seen) > 3, seen
    assert not any("/login" in url for url in seen), seen
