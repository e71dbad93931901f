"""The file chooser of Chromium: its button chooses, as the hint of the window says."""

from queue import Empty

import pytest

from tests.system.reporting_page import Reports, focused, reporting_page
from tests.system.services import PATIENCE, Json, Service, until

pytestmark = [pytest.mark.x11, pytest.mark.root, pytest.mark.slow("a browser that starts")]

PAGE = b"""<!doctype html><title>choose</title>
<input type=file style="position: fixed; inset: 0; width: 100vw; height: 100vh"
 onchange="fetch('/chosen', {method: 'POST', body: this.files[0].name})">"""
OPEN = (-50, -25)
"""The button from the bottom right of the chooser."""


def test_the_button_of_a_file_chooser_chooses_as_its_hint_says(desktop: Service) -> None:
    def act(action: str, x: int, y: int) -> Json:
        at = {"coordinate": [x, y], "coordinate_space": "native"}
        return desktop.act(action=action, **at, observe={"screenshot": False})

    def opened() -> Json:
        # A browser drops input that arrives before its first paint.
        after: Json = act("left_click", 600, 600)["focused_after"] or {}
        return after if after.get("title") == "Open File" else {}

    def chosen(reports: Reports) -> str:
        place = focused(desktop, "Open File")["native_geometry"]
        desktop.act(action="type", text="~/chosen.txt", observe={"screenshot": False})
        act("left_click", place["x"] + place["width"] + OPEN[0],
            place["y"] + place["height"] + OPEN[1])  # fmt: skip
        try:
            return reports.get(timeout=PATIENCE)[1]
        except Empty:
            return ""

    with reporting_page(PAGE) as (url, reports):
        command = f"echo hello > ~/chosen.txt; exec browser {url}"
        desktop.post("/api/v0/processes/start", {"command": command})
        until(lambda: focused(desktop, "choose"), "the page")
        window = until(opened, "the chooser")
        assert "takes neither Return nor a double click" in window["hint"]
        assert "file_upload" in window["hint"]
        assert chosen(reports) == "chosen.txt"
