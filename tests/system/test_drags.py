"""Drags that browsers take: in pieces or as one action, with any button; double clicks too."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from tests.system.reporting_page import (
    REPORT_CORNER,
    Reports,
    corner_at,
    focused,
    reporting_page,
)
from tests.system.services import PATIENCE, Json, Service, until

pytestmark = [pytest.mark.x11, pytest.mark.root, pytest.mark.slow("a browser that starts")]

PAGE = """<!doctype html><title>drags</title><style>
div { position: fixed; top: 60px; width: 120px; height: 80px; background: #cde }</style>
<div id=card draggable=true style="left: 60px">card</div>
<div id=place style="left: 400px; top: 300px; width: 300px; height: 200px">place</div>
<div id=pad style="left: 800px">pad</div>
<script>
let sent = Promise.resolve();
const report = (path, body) => sent = sent.then(() => fetch(path, {method: "POST", body}));
addEventListener("contextmenu", (event) => event.preventDefault());
const [card, place, pad] = ["card", "place", "pad"].map((id) => document.getElementById(id));
card.addEventListener("dragstart", (event) => event.dataTransfer.setData("text/plain", "ace"));
card.addEventListener("dragend", (event) => report("/end", event.dataTransfer.dropEffect));
place.addEventListener("dragover", (event) => {
  event.preventDefault();
  event.dataTransfer.dropEffect = "copy";
});
place.addEventListener("drop", (event) => {
  event.preventDefault();
  report("/drop", event.dataTransfer.getData("text/plain"));
});
let moves = 0;
pad.addEventListener("pointerdown", (event) => {
  moves = 0;
  pad.setPointerCapture(event.pointerId);
});
pad.addEventListener("pointermove", (event) => { moves += event.buttons > 0; });
pad.addEventListener("pointerup", ({ button, clientX }) =>
  report("/moved", JSON.stringify([button, clientX, moves > 2])));
pad.addEventListener("mousedown", ({ button, detail }) =>
  detail > 1 && report("/several", JSON.stringify([button, detail])));
</script>"""
CARD, PLACE, PAD = (120, 100), (550, 400), (860, 100)
"""Points in the page."""


@dataclass
class Page:
    """The page of these tests in the window of a browser, and what it reports."""

    desktop: Service
    reports: Reports
    left: int
    top: int

    def at(self, point: tuple[int, int]) -> list[int]:
        """Return a point of the page on the screen."""
        return [self.left + point[0], self.top + point[1]]

    def click_elsewhere(self) -> None:
        """Make the next press the first of a click; a browser begins no drag with a second."""
        at = self.at((PLACE[0], PLACE[1] + 200))
        self.desktop.act(action="left_click", coordinate=at, coordinate_space="native")

    def next(self) -> tuple[str, str]:
        return self.reports.get(timeout=PATIENCE)


@contextmanager
def open_page(desktop: Service, browser: str) -> Iterator[Page]:
    """Open the page with a command that gets its address."""
    with reporting_page((PAGE + REPORT_CORNER).encode()) as (url, reports):
        desktop.post("/api/v0/processes/start", {"command": f"{browser} {url}"})
        window = until(lambda: focused(desktop, "drags"), "the window")["native_geometry"]
        middle = window["x"] + window["width"] // 2, window["y"] + 700
        yield Page(desktop, reports, *corner_at(desktop, middle, reports))


def assert_dropped(desktop: Service, page: Page) -> None:
    """Drag in pieces in all ways, and as one action."""
    native = {"coordinate_space": "native"}
    start, end = page.at(CARD), page.at(PLACE)
    pieces: list[Json] = [
        {"action": "mouse_move", "coordinate": start, **native},
        {"action": "left_mouse_down"},
        {"action": "mouse_move", "coordinate": end, **native},
        {"action": "left_mouse_up"},
    ]
    located: list[Json] = [
        {"action": "left_mouse_down", "coordinate": start, **native},
        {"action": "left_mouse_up", "coordinate": end, **native},
    ]
    one = {"action": "left_click_drag", "path": [start, end], "duration": 0, **native}
    dropped = [("/drop", "ace"), ("/end", "copy")]
    for actions in (pieces, located, [one]):
        page.click_elsewhere()
        desktop.post("/api/v0/desktop/actions", {"actions": actions}, 200)
        assert [page.next(), page.next()] == dropped
        for observe in (False, {"screenshot": False}):
            page.click_elsewhere()
            for action in actions:
                desktop.act(**action, observe=observe)
            assert [page.next(), page.next()] == dropped, observe


def test_a_drag_is_dropped_in_pieces_and_as_one_action(desktop: Service) -> None:
    with open_page(desktop, "exec browser") as page:
        assert_dropped(desktop, page)


def test_any_button_drags_and_clicks_several_times(desktop: Service) -> None:
    with open_page(desktop, "exec browser") as page:
        start = page.at(PAD)
        end = [start[0] + 200, start[1] + 50]
        # The numbers of DOM: MouseEvent.button.
        for button, number in (("left", 0), ("middle", 1), ("right", 2)):
            named = {"button": button, "coordinate_space": "native"}
            desktop.act(action="left_click_drag", start_coordinate=start, coordinate=end, **named)
            path, body = page.next()
            assert (path, json.loads(body)) == ("/moved", [number, PAD[0] + 200, True])
            for count, action in ((2, "double_click"), (3, "triple_click")):
                page.click_elsewhere()
                desktop.act(action=action, coordinate=start, **named)
                reported = [page.next() for _ in range(2 * count - 1)]
                several = [json.loads(body) for path, body in reported if path == "/several"]
                assert several == [[number, detail] for detail in range(2, count + 1)]
