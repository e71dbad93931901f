"""Scrolls by pixels and drags in pieces, in Firefox and in a program of GTK.

tests/system/test_scrolls.py and test_drags.py have them in the desktop's browser.
"""

import io
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from tests.programs.editors import SETTLED, WINDOWS, output, skip_without, window
from tests.system import test_drags, test_scrolls
from tests.system.services import Json, Service, until
from tests.system.test_scrolls import HALF, LINES, NATIVE, middle_of

pytestmark = [
    pytest.mark.programs,
    pytest.mark.x11,
    pytest.mark.full,
    pytest.mark.slow("programs that start, and screens that come to rest"),
]

FIREFOX = "exec firefox-esr --no-remote --profile $PWD/firefox-of-pages"


@pytest.fixture
def firefox(desktop: Service) -> Iterator[str]:
    """The command of Firefox, whose window does not cover those of later tests."""
    skip_without("firefox-esr")
    output(desktop, "mkdir -p firefox-of-pages")
    yield FIREFOX
    output(desktop, "pkill -f [f]irefox-of-pages")
    until(lambda: "Firefox" not in str(desktop.get(WINDOWS)), "the end of Firefox")


def test_a_page_of_firefox_is_scrolled_by_pixels(desktop: Service, firefox: str) -> None:
    with test_scrolls.open_page(desktop, firefox) as page:
        test_scrolls.assert_scrolled_by_pixels(page)


def test_a_drag_in_pieces_is_dropped_in_firefox(desktop: Service, firefox: str) -> None:
    with test_drags.open_page(desktop, firefox) as page:
        test_drags.assert_dropped(desktop, page)


def screen_of(desktop: Service) -> NDArray[np.uint8]:
    answer = desktop.http.get("/api/v0/desktop/screenshot", params={**NATIVE, "cursor": "false"})
    return np.asarray(Image.open(io.BytesIO(answer.content)).convert("L"))


def moved(before: NDArray[np.uint8], after: NDArray[np.uint8], at: list[int]) -> int:
    """Return how far a piece of text above a point has moved up."""
    x, y = at
    piece = after[y - 200 : y - 140, x - 300 : x]
    fits = [
        by
        for by in range(-400, 700)
        if y - 200 + by >= 0
        and np.array_equal(piece, before[y - 200 + by : y - 140 + by, x - 300 : x])
    ]
    assert len(fits) == 1, fits
    return fits[0]


def test_a_program_of_gtk_is_scrolled_by_pixels(desktop: Service) -> None:
    skip_without("gnome-text-editor")
    output(desktop, "tee trees.txt", "\n".join(f"{line}; {line}; {line}" for line in LINES[:300]))
    command = "exec gnome-text-editor -s trees.txt"
    started = desktop.post("/api/v0/processes/start", {"command": command})
    found = window(desktop, "trees.txt")
    desktop.post(f"{WINDOWS}/{found['id']}/maximize", {})
    until(lambda: window(desktop, "trees.txt")["maximized"], "the large window")
    at = middle_of(window(desktop, "trees.txt"))
    settled: Json = {"coordinate": at, **NATIVE, "observe": SETTLED}
    desktop.act(action="mouse_move", **settled)
    before = screen_of(desktop)
    desktop.act(action="scroll", scroll_amount=1, **settled)
    after = screen_of(desktop)
    notch = moved(before, after, at)
    for asked in (60, 150, 300):
        before = after
        desktop.act(action="scroll", scroll_pixels=asked, **settled)
        after = screen_of(desktop)
        assert abs(moved(before, after, at) - asked) <= HALF * notch, (asked, notch)
    desktop.post(f"/api/v0/processes/{started['id']}/signal", {"signal": "kill"})
