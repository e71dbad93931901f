"""A scroll by pixels moves a page by them, to half a notch.

tests/programs/test_scrolls.py has Firefox and a program of GTK.
"""

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from tests.system.reporting_page import Reports, first_report, focused, reporting_page
from tests.system.services import PATIENCE, Json, Service, until

pytestmark = [pytest.mark.x11, pytest.mark.root, pytest.mark.slow("a browser that starts")]

WORDS = ("ash", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine", "yew")
CHOICE = random.Random(1)
LINES = [f"{number} {' '.join(CHOICE.choices(WORDS, k=9))}" for number in range(1, 900)]
PAGE = (
    """<!doctype html><meta charset=utf-8><title>scrolls</title>
<body style="margin: 0; width: 6000px"><h1>Trees</h1>"""
    + "".join(f"<p>{line} | {line} | {line}" for line in LINES)
    + """<script>
addEventListener("mousedown", () =>
  fetch("/at", {method: "POST", body: JSON.stringify([scrollX, scrollY])}));
</script>"""
)
HALF = 0.5
NATIVE = {"coordinate_space": "native"}
RESTS: Json = {"screenshot": False, "settle": {"quiet_ms": 600, "max_ms": 20_000}}
"""Observation of the end of a smooth scroll, on a busy machine too."""


@dataclass
class Page:
    """A page in the window of a browser, and where it has been scrolled to."""

    desktop: Service
    reports: Reports
    middle: list[int]
    at: tuple[float, float] = (0, 0)

    def scroll(self, **fields: Any) -> tuple[float, float]:
        """Return the pixels of the page by which a scroll has moved it."""
        at = {"coordinate": self.middle, **NATIVE, **fields}
        self.desktop.act(action="scroll", **at, observe=RESTS)
        before, self.at = self.at, self.place()
        return self.at[0] - before[0], self.at[1] - before[1]

    def place(self) -> tuple[float, float]:
        """Return where the page has been scrolled to, which it tells at a click."""
        self.desktop.act(action="left_click", coordinate=self.middle, **NATIVE)
        x, y = json.loads(self.reports.get(timeout=PATIENCE)[1])
        return x, y


def middle_of(window: Json) -> list[int]:
    place = window["native_geometry"]
    return [place["x"] + place["width"] // 2, place["y"] + place["height"] // 2]


@contextmanager
def open_page(desktop: Service, browser: str) -> Iterator[Page]:
    """Open the page with a command that gets its address."""
    with reporting_page(PAGE.encode()) as (url, reports):
        desktop.post("/api/v0/processes/start", {"command": f"{browser} {url}"})
        x, y = middle_of(until(lambda: focused(desktop, "scrolls"), "the window"))
        first_report(desktop, (x, y), reports)
        # When the screen rests, the page has reported all clicks so far.
        desktop.act(action="wait", duration=0, observe=RESTS)
        while not reports.empty():
            reports.get()
        yield Page(desktop, reports, [x, y])


def assert_scrolled_by_pixels(page: Page) -> None:
    _, notch = page.scroll(scroll_amount=1)
    # Of a screen of 1920 x 1080 a model sees 1280 x 720.
    model = [value * 2 // 3 for value in page.middle]
    for asked in (120, 480, 700):
        _, moved = page.scroll(scroll_pixels=asked)
        assert abs(moved - asked) <= HALF * notch, (asked, notch)
        _, moved = page.scroll(scroll_y=-asked)
        assert abs(moved + asked) <= HALF * notch, (asked, notch)
    _, moved = page.scroll(scroll_y=480, coordinate=model, coordinate_space="model")
    assert abs(moved - 720) <= HALF * notch
    right, down = page.scroll(scroll_x=500, scroll_y=300)
    assert abs(right - 500) <= HALF * notch
    assert abs(down - 300) <= HALF * notch


def test_a_page_is_scrolled_by_pixels(desktop: Service) -> None:
    with open_page(desktop, "exec browser") as page:
        assert_scrolled_by_pixels(page)
