"""Rules of accessibility, checked by axe-core in each page, light and dark, in three widths."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.system.browsing import plain_page
from tests.system.services import Json, Service
from tests.system.test_whole_browser import sign_in

pytestmark = [pytest.mark.x11, pytest.mark.browser, pytest.mark.soak]

AXE = Path(__file__).parents[2] / "scripts/pages/node_modules/axe-core/axe.min.js"
SERIOUS = {"serious", "critical"}
WIDTHS = (390, 900, 1440)
CONTRAST = {"runOnly": ["color-contrast"]}
"""The only rule that a color scheme affects."""

Prepare = Callable[[Page], None]


def problems(page: Page) -> list[str]:
    """Return what the rules refuse, with the elements."""
    found = []
    for scheme, rules in (("light", {}), ("dark", CONTRAST)):
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        result: Json = page.evaluate("rules => axe.run(document, rules)", rules)
        found += [
            f"{scheme}: {one['id']}: {', '.join(str(node['target']) for node in one['nodes'])}"
            for one in result["violations"]
            if one["impact"] in SERIOUS
        ]
    return found


def nothing(_: Page) -> None:
    pass


def ask_name(page: Page) -> None:
    more = page.get_by_role("button", name="More", exact=True)
    if more.is_visible():
        more.click()
        expect(page.get_by_role("button", name="Fit")).to_be_visible()
        more.click()
    page.get_by_role("button", name="Take control").click()
    expect(page.get_by_label("Your name")).to_be_visible()


def open_step(page: Page) -> None:
    page.get_by_role("tab", name="Steps").click()
    page.locator("#steps button").first.click()
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_role("button", name="Make a link")).to_be_visible()


def open_times(page: Page) -> None:
    page.get_by_text("Time and pictures").click()
    expect(page.locator("#waterfall li").first).to_be_visible()


@contextmanager
def visited(browser: Browser, plane: Service, width: int) -> Iterator[Page]:
    with plain_page(browser, width, 900) as page:
        page.add_init_script(path=AXE)
        sign_in(plane, page)
        yield page


@pytest.fixture(scope="module")
def run(plane: Service) -> str:
    """A run that has ended, with its recording."""
    spawned = plane.tool("spawn_computer_use_agent", prompt="show the date", title="The date")
    chat = str(spawned["chat_id"])
    assert plane.tool("wait_agent", chat_id=chat, timeout_seconds=90)["recording_file_id"]
    return chat


@pytest.mark.slow("every page in three widths and two schemes")
@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_breaks_a_serious_rule(
    plane: Service, browser: Browser, run: str, width: int
) -> None:
    desktop = plane.post("/api/v0/desktops", {"name": "for a person"})["id"]
    pages: tuple[tuple[str, Prepare], ...] = (
        ("/login", nothing),
        ("/", nothing),
        ("/runs", nothing),
        ("/system", nothing),
        (f"/runs/{run}", nothing),
        (f"/runs/{run}", open_step),
        (f"/runs/{run}", open_times),
        (f"/compare?a={run}&b={run}", nothing),
        (f"/compare?a={run}", nothing),
        (f"/desktops/{desktop}", ask_name),
        ("/no-such-page", nothing),
        ("/runs/no-such-run", nothing),
    )
    found = []
    with visited(browser, plane, width) as page:
        for path, prepare in pages:
            page.goto(f"{plane.url}{path}")
            expect(page.locator("h1:visible, form:visible").first).to_be_visible()
            prepare(page)
            found += [f"{path} at {width}, {one}" for one in problems(page)]
    assert found == []
