"""A key that follows a click at once goes to the clicked field."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty
from typing import NamedTuple

import pytest
from websockets.asyncio.client import connect

from tests.system.reporting_page import Reports, reporting_page
from tests.system.services import PATIENCE, Json, Service, until
from tests.system.watching import handshake, played, stream, ticket
from tests.vncbridge.rfb.client_messages import key, pointer

pytestmark = [pytest.mark.x11, pytest.mark.root]

STYLE = "position:fixed;left:50px;top:TOPpx;width:200px;height:40px"
FIELD = f"""<input style="{STYLE}" oninput="tell('/NAME', event.data)">"""
PAGE = (
    """<!doctype html><title>fields</title><script>
const tell = (path, body) => fetch(path, {method: "POST", body});
addEventListener("mousedown", (event) => tell("/corner",
  JSON.stringify([event.screenX - event.clientX, event.screenY - event.clientY])), {once: true});
</script>"""
    + FIELD.replace("NAME", "a").replace("TOP", "50")
    + FIELD.replace("NAME", "b").replace("TOP", "150")
)
FIELDS = {"a": (150, 70), "b": (150, 170)}
"""Their middles in the page."""
CLICKS, LONGEST_BATCH = 200, 100


def shown(desktop: Service) -> Json:
    """Return the window of the page if it has the keyboard."""
    found = desktop.get("/api/v0/desktop/windows")["windows"]
    return next((one for one in found if one["focused"] and one["title"].startswith("fields")), {})


def click(x: int, y: int) -> Json:
    return {"action": "left_click", "coordinate": [x, y], "coordinate_space": "native"}


def reported(desktop: Service, window: Json, reports: Reports) -> tuple[str, str] | None:
    """Click into the page; a browser drops input that arrives before its first paint."""
    desktop.act(**click(window["x"] + window["width"] // 2, window["y"] + 600))
    try:
        return reports.get(timeout=1)
    except Empty:
        return None


class Page(NamedTuple):
    """The page with its fields, in a browser that has painted it."""

    left: int
    top: int
    reports: Reports

    def heard(self, count: int) -> list[tuple[str, str]]:
        """Return the fields and their letters; requests of a page may overtake each other."""
        return sorted(self.reports.get(timeout=PATIENCE) for _ in range(count))


@contextmanager
def fields(desktop: Service) -> Iterator[Page]:
    with reporting_page(PAGE.encode()) as (url, reports):
        desktop.post("/api/v0/processes/start", {"command": f"exec browser {url}"})
        window = until(lambda: shown(desktop), "the window")["native_geometry"]
        path, corner = until(lambda: reported(desktop, window, reports), "the corner of the page")
        assert path == "/corner"
        left, top = json.loads(corner)
        yield Page(left, top, reports)


TURNS = ["ab"[turn % 2] for turn in range(CLICKS)]
WANTED = sorted((f"/{name}", name) for name in TURNS)


@pytest.mark.slow("a browser that starts")
def test_a_key_goes_to_the_field_that_was_clicked_before(desktop: Service) -> None:
    with fields(desktop) as page:
        actions = list[Json]()
        for name in TURNS:
            x, y = FIELDS[name]
            actions += [click(page.left + x, page.top + y), {"action": "type", "text": name}]
        for start in range(0, len(actions), LONGEST_BATCH):
            body = {"actions": actions[start : start + LONGEST_BATCH]}
            answer = desktop.http.post("/api/v0/desktop/actions", json=body, timeout=3 * PATIENCE)
            assert answer.status_code == 200, answer.text
        assert page.heard(CLICKS) == WANTED


@pytest.mark.slow("a browser that starts")
def test_a_key_of_a_viewer_goes_to_the_field_that_was_clicked_before(desktop: Service) -> None:
    async def work(page: Page) -> None:
        async with connect(stream(desktop, ticket=ticket(desktop, "control"))) as viewer:
            await handshake(viewer)
            for name in TURNS:
                x, y = (corner + at for corner, at in zip(page[:2], FIELDS[name], strict=True))
                clicked = pointer(0, x, y) + pointer(1, x, y) + pointer(0, x, y)
                await viewer.send(clicked + key(ord(name)) + key(ord(name), down=False))
            assert page.heard(CLICKS) == WANTED

    with fields(desktop) as page:
        played(work(page))
