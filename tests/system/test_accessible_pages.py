"""Accessibility of each page: the rules of axe-core, the keyboard, large text, few colours."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.system.browsing import plain_page
from tests.system.services import Json, Service
from tests.system.test_whole_browser import sign_in

pytestmark = [pytest.mark.x11, pytest.mark.browser, pytest.mark.soak]

AXE = Path(__file__).parents[2] / "scripts/pages/node_modules/axe-core/axe.min.js"
WALK = Path(__file__).parents[1] / "data" / "keyboard_walk.js"
CHECKS = Path(__file__).parents[1] / "data" / "page_checks.js"
SERIOUS = {"serious", "critical"}
Scheme = Literal["light", "dark"]
SIZES = ((390, 844), (768, 1024), (1440, 900))
Looks = Sequence[tuple[tuple[int, int], tuple[Scheme, ...]]]
LOOKS: Looks = [(size, ("light", "dark")) for size in SIZES]
QUICK_LOOKS: Looks = [(SIZES[0], ("light",)), (SIZES[2], ("dark",))]
EACH_LOOK = pytest.mark.parametrize(
    "looks",
    [
        pytest.param(QUICK_LOOKS, id="two looks"),
        pytest.param(LOOKS, id="all looks", marks=pytest.mark.full),
    ],
)
LARGE = {"standard": 32, "fixed": 26}
"""Twice the usual sizes of text, in pixels."""
HIDDEN = """() => [...document.querySelectorAll('[aria-hidden="true"]')]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }))
  .filter((one) => one.matches("a[href], button, input, select, textarea, [tabindex]")
    || one.querySelector("a[href], button, input, select, textarea, h1, h2, h3, p, li"))
  .map((one) => one.outerHTML.slice(0, 200))"""
"""Parts with words or controls that no rule sees; marks and icons may be hidden."""

VIOLATIONS = """async () =>
  (await axe.run(document, { resultTypes: ["violations"] })).violations"""

Prepare = Callable[[Page], None]


def problems(page: Page, looks: Looks) -> list[str]:
    """Return what the rules refuse in these sizes and color schemes, with the elements."""
    found = []
    for (width, height), schemes in looks:
        page.set_viewport_size({"width": width, "height": height})
        for scheme in schemes:
            page.emulate_media(color_scheme=scheme)
            violations: list[Json] = page.evaluate(VIOLATIONS)
            for one in violations:
                if one["impact"] in SERIOUS:
                    where = ", ".join(str(node["target"]) for node in one["nodes"])
                    found.append(f"{width}, {scheme}: {one['id']}: {where}")
        found += [f"{width}: hidden: {one}" for one in page.evaluate(HIDDEN)]
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


def drawn(page: Page) -> None:
    """Wait for what a run's page draws last."""
    expect(page.locator("#strip .mark").last).to_be_visible()


def open_step(page: Page) -> None:
    drawn(page)
    page.get_by_role("tab", name="Steps").click()
    page.locator("#steps button").first.click()
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_role("button", name="Make a link")).to_be_visible()


def open_fork(page: Page) -> None:
    # Its button is on runs without a parent only.
    page.evaluate("document.querySelector('#fork-dialog').showModal()")
    expect(page.locator("#fork-dialog")).to_be_visible()


def open_keys(page: Page) -> None:
    # The list is filled when the page begins to listen to keys.
    expect(page.locator("#keys-list dt").first).to_be_attached()
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()


def open_deletion(page: Page) -> None:
    page.locator(".run-select").first.check()
    page.get_by_role("button", name="Delete").click()
    expect(page.locator("#delete-dialog")).to_be_visible()


def open_times(page: Page) -> None:
    drawn(page)
    page.get_by_text("Time and pictures").click()
    expect(page.locator("#waterfall li").first).to_be_visible()


@contextmanager
def visited(browser: Browser, plane: Service, width: int) -> Iterator[Page]:
    with plain_page(browser, width, 900) as page:
        sign_in(plane, page)
        yield page


@pytest.fixture(scope="module")
def run(plane: Service) -> str:
    """A run that has ended, with its recording."""
    return plane.recorded_run()


@pytest.fixture(scope="module")
def pages(plane: Service, run: str) -> Sequence[tuple[str, Prepare]]:
    """Every page with what opens its parts."""
    desktop = plane.post("/api/v0/desktops", {"name": "for every page"})["id"]
    return (
        ("/login", nothing),
        ("/", nothing),
        ("/runs", nothing),
        ("/system", nothing),
        (f"/runs/{run}", drawn),
        (f"/runs/{run}", open_step),
        (f"/runs/{run}", open_times),
        (f"/compare?a={run}&b={run}", nothing),
        (f"/compare?a={run}", nothing),
        (f"/desktops/{desktop}", ask_name),
        ("/no-such-page", nothing),
        ("/runs/no-such-run", nothing),
    )


@pytest.fixture(scope="module")
def dialogs(run: str) -> Sequence[tuple[str, Prepare]]:
    """The dialogs, which are modal: nothing behind them can be reached."""
    return (
        ("/runs", open_deletion),
        (f"/runs/{run}", open_fork),
        (f"/runs/{run}", open_keys),
    )


def opened(
    page: Page, plane: Service, pages: Sequence[tuple[str, Prepare]]
) -> Iterator[tuple[str, Page]]:
    """Open one page after the other."""
    for path, prepare in pages:
        page.goto(f"{plane.url}{path}")
        expect(page.locator("h1:visible, form:visible, canvas:visible").first).to_be_visible()
        prepare(page)
        yield path, page


@pytest.mark.slow("every page in several sizes and schemes")
@EACH_LOOK
def test_no_page_breaks_a_serious_rule(
    plane: Service,
    browser: Browser,
    pages: Sequence[tuple[str, Prepare]],
    dialogs: Sequence[tuple[str, Prepare]],
    looks: Looks,
) -> None:
    found = []
    with visited(browser, plane, 1440) as page:
        page.add_init_script(path=AXE)
        for path, shown in opened(page, plane, (*pages, *dialogs)):
            found += [f"{path} at {one}" for one in problems(shown, looks)]
            page.set_viewport_size({"width": 1440, "height": 900})
    assert found == []


def walk(page: Page) -> list[str]:
    """Press Tab through the page, and the arrows in its groups; return what is wrong."""
    page.wait_for_load_state("networkidle")
    page.evaluate("() => keyboardWalk.begin()")
    for _ in range(2 * page.evaluate("() => keyboardWalk.count()") + 20):
        page.keyboard.press("Tab")
        if page.evaluate("() => keyboardWalk.note()") == "around":
            break
    else:
        return [f"the focus stays at {page.evaluate('() => keyboardWalk.focused()')}"]
    last = page.evaluate("() => keyboardWalk.last()")
    missed = page.evaluate("() => keyboardWalk.missed(false)")
    group = 0
    while page.evaluate("n => keyboardWalk.enterGroup(n)", group):
        group += 1
        for key in ("ArrowRight", "ArrowDown", "End", "Home"):
            page.keyboard.press(key)
            while page.evaluate("() => keyboardWalk.note()") == "new":
                page.keyboard.press(key)
    missed += page.evaluate("() => keyboardWalk.missed(true)")
    unmarked = page.evaluate("() => keyboardWalk.unmarked()")
    unreached = [f"not reached by Tab, which ended at {last}: {one}" for one in missed]
    return unreached + [f"not marked: {one}" for one in unmarked]


@pytest.mark.slow("every control of every page")
def test_the_keyboard_reaches_every_control_and_shows_where_it_is(
    plane: Service, browser: Browser, pages: Sequence[tuple[str, Prepare]]
) -> None:
    found = []
    with visited(browser, plane, 1440) as page:
        page.add_init_script(path=WALK)
        for path, shown in opened(page, plane, pages):
            found += [f"{path}, {one}" for one in walk(shown)]
    assert found == []


def unsuited(page: Page) -> list[str]:
    """Return what ignores the settings of a person."""
    page.emulate_media(reduced_motion="reduce", forced_colors="active")
    found = [f"moves: {one}" for one in page.evaluate("() => pageChecks.moving()")]
    found += [f"not distinguished: {one}" for one in page.evaluate("() => pageChecks.alike()")]
    page.emulate_media(reduced_motion="no-preference", forced_colors="none")
    return found


@pytest.mark.slow("every page with three settings")
def test_every_page_suits_less_motion_few_colours_and_large_text(
    plane: Service, browser: Browser, pages: Sequence[tuple[str, Prepare]]
) -> None:
    found = []
    with visited(browser, plane, 1440) as page:
        page.add_init_script(path=CHECKS)
        page.context.new_cdp_session(page).send("Page.setFontSizes", {"fontSizes": LARGE})
        for path, shown in opened(page, plane, pages):
            found += [f"{path}, {one}" for one in unsuited(shown)]
            cut = shown.evaluate("() => pageChecks.cut()")
            found += [f"{path}, cut off: {one}" for one in cut]
    assert found == []
