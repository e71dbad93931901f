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
    found = (n for n in every(tree["applications"]) if n.get("name", "").startswith(name))
    return next(found, None)


def button(tree: Json, name: str) -> Any:
    """The button itself: while the page loads its address is a label, and holds the name too."""
    wanted = {"role": "push button", "name": name}
    found = (n for n in every(tree["applications"]) if wanted.items() <= n.items())
    return next((n for n in found if n.get("rectangle")), None)


def test_a_button_of_a_page_is_found_and_clicked_by_its_ref(desktop: Service) -> None:
    assert "note" in desktop.get(PATH)
    command = f'browser "{PAGE}" > /dev/null 2>&1 &'
    desktop.post("/api/v0/processes/start", {"command": command})
    until(lambda: button(desktop.get(PATH), "Press me"), "the page's button")
    tree = desktop.get(PATH)
    found = button(tree, "Press me")
    left, top, right, bottom = found["rectangle"]
    assert tree["space"] == {"name": "native", "width": 1920, "height": 1080}
    done = desktop.act(action="left_click", ref=found["ref"], observe={"screenshot": False})
    across, down = done["native_point"]
    assert left <= across < right
    assert top <= down < bottom
    until(lambda: named(desktop.get(PATH), "after"), "the new title")
    unknown: Json = {"action": "left_click", "ref": "e99999"}
    assert "e99999" in desktop.post("/api/v0/desktop/action", unknown, 400)["message"]
