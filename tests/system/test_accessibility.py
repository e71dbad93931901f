"""The accessibility tree of a real browser, and clicks by its refs."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.system.services import Json, Service, until

pytestmark = [pytest.mark.x11, pytest.mark.browser, pytest.mark.slow]

PATH = "/api/v0/desktop/accessibility"
PAGE = (
    "data:text/html,<title>before</title><button onclick=document.title='after'>Press me</button>"
)


def every(nodes: list[Json]) -> Iterator[Json]:
    for node in nodes:
        yield node
        yield from every(node.get("children", []))


def named(tree: Json, name: str) -> Any:
    return next((n for n in every(tree["applications"]) if name in n.get("name", "")), None)


def test_a_button_of_a_page_is_found_and_clicked_by_its_ref(desktop: Service) -> None:
    assert "note" in desktop.get(PATH)
    command = f'browser "{PAGE}" > /dev/null 2>&1 &'
    desktop.post("/api/v0/processes/start", {"command": command})
    until(lambda: named(desktop.get(PATH), "Press me"), "the page's button")
    tree = desktop.get(PATH)
    found = named(tree, "Press me")
    assert found["role"] == "push button"
    left, top, right, bottom = found["rectangle"]
    assert tree["space"] == {"name": "native", "width": 1920, "height": 1080}
    done = desktop.act(action="left_click", ref=found["ref"], observe={"screenshot": False})
    across, down = done["native_point"]
    assert left <= across < right
    assert top <= down < bottom
    until(lambda: named(desktop.get(PATH), "after"), "the new title")
    unknown: Json = {"action": "left_click", "ref": "e99999"}
    assert "e99999" in desktop.post("/api/v0/desktop/action", unknown, 400)["message"]
