"""A key that follows a click or a shortcut goes where that leads."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Queue

import pytest
from websockets.asyncio.client import connect

from tests.system.reporting_page import (
    REPORT_CORNER,
    PageHandler,
    Point,
    Reports,
    click,
    corner_at,
    focused,
    serving,
)
from tests.system.services import PATIENCE, Json, Service, until
from tests.system.watching import handshake, played, stream, ticket
from tests.vncbridge.rfb.client_messages import pointer, tap

pytestmark = [pytest.mark.x11, pytest.mark.root]

HEAD = """<!doctype html><title>fields</title><style>
* { position: fixed; left: 50px; width: 200px; height: 40px; margin: 0; border: 0; padding: 0 }
head, script { display: none } html, body { left: 0; top: 0; width: 100%; height: 100% }
iframe { left: 0; top: 150px; width: 400px; height: 100px }
</style>"""
FIELD = """<input style="top:TOPpx" autocomplete="off"
oninput="fetch('/NAME', {method: 'POST', body: event.data})">"""
BUTTON = """<button style="top:TOPpx"
onclick="open('/NAME', '', 'popup,left=LEFT,top=300,width=500,height=300')"></button>"""
LEFT = {"a": 200, "b": 900}
"""Of windows side by side."""


def field(name: str, top: int) -> str:
    return FIELD.replace("NAME", name).replace("TOP", str(top))


def button(name: str, top: int) -> str:
    named = BUTTON.replace("NAME", name).replace("LEFT", str(LEFT[name]))
    return named.replace("TOP", str(top))


PAGES = {
    "/page": field("a", 50) + field("b", 170),
    "/frame": field("a", 50) + "<iframe src=http://frame.localhost:PORT/inside></iframe>",
    "/inside": field("b", 20),
    "/opener": button("a", 170),
    "/a": field("a", 50) + button("b", 170),
    "/b": field("b", 50),
}
LONGEST_BATCH = 100

Places = dict[str, Point]
"""Points in the fields."""


@contextmanager
def site() -> Iterator[tuple[str, Reports]]:
    reports: Reports = Queue()

    class Handler(PageHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/typed"):
                reports.put((self.path, ""))
            page = HEAD + REPORT_CORNER + PAGES.get(self.path, "")
            self.answer(page.replace("PORT", self.headers["Host"].rpartition(":")[2]).encode())

        def do_POST(self) -> None:
            reports.put((self.path, self.body()))
            self.answer(b"")

    with serving(Handler) as port:
        yield f"http://127.0.0.1:{port}", reports


def below(corner: Point, top: int) -> Point:
    return corner[0] + 150, corner[1] + top


def one_page(desktop: Service, reports: Reports) -> Places:
    corner = corner_at(desktop, new_window(desktop), reports)
    return {"a": below(corner, 70), "b": below(corner, 190)}


def page_and_frame(desktop: Service, reports: Reports) -> Places:
    places = one_page(desktop, reports)
    corner_at(desktop, places["b"], reports)
    return places


def two_windows(desktop: Service, reports: Reports) -> Places:
    # The page is behind both, and is not clicked again, which would raise it.
    first = new_window(desktop)
    corner, windows, places = corner_at(desktop, first, reports), [first], Places()
    for name in "ab":
        desktop.act(**click(below(corner, 190)))
        windows.append(new_window(desktop, *windows))
        corner = corner_at(desktop, windows[-1], reports)
        places[name] = below(corner, 70)
    return places


def new_window(desktop: Service, *known: Point) -> Point:
    """Wait for a window of the browser; return a point in its page beside all fields."""

    def found() -> Point | None:
        if not (window := focused(desktop, "fields")):
            return None
        at = window["native_geometry"]
        point = at["x"] + at["width"] * 3 // 4, at["y"] + at["height"] * 3 // 4
        return None if point in known else point

    point: Point = until(found, "the window")
    return point


def agent_types(desktop: Service, places: Places, names: str, done: Callable[[], None]) -> None:
    actions = list[Json]()
    for name in names:
        actions += [click(places[name]), {"action": "type", "text": name}]
    for start in range(0, len(actions), LONGEST_BATCH):
        body = {"actions": actions[start : start + LONGEST_BATCH]}
        answer = desktop.http.post("/api/v0/desktop/actions", json=body, timeout=3 * PATIENCE)
        assert answer.status_code == 200, answer.text
    done()


def viewer_types(desktop: Service, places: Places, names: str, done: Callable[[], None]) -> None:
    async def scenario() -> None:
        async with connect(stream(desktop, ticket=ticket(desktop, "control"))) as viewer:
            await handshake(viewer)
            for name in names:
                clicked = pointer(0, *places[name]) + pointer(1, *places[name])
                await viewer.send(clicked + pointer(0, *places[name]) + tap(ord(name)))
            # The end of the connection would drop what has not been passed on.
            await asyncio.to_thread(done)

    played(scenario())


@pytest.mark.slow("a browser that starts")
@pytest.mark.parametrize("types", [agent_types, viewer_types])
@pytest.mark.parametrize(
    ("path", "shown", "clicks"),
    [
        ("page", one_page, 40),
        pytest.param("page", one_page, 200, marks=pytest.mark.full),
        pytest.param("frame", page_and_frame, 200, marks=pytest.mark.full),
        pytest.param("opener", two_windows, 200, marks=pytest.mark.full),
    ],
)
def test_a_key_goes_to_the_field_that_was_clicked_before(
    desktop: Service,
    path: str,
    shown: Callable[[Service, Reports], Places],
    clicks: int,
    types: Callable[[Service, Places, str, Callable[[], None]], None],
) -> None:
    names = "ab" * (clicks // 2)

    def check() -> None:
        # Requests of a page may overtake each other.
        heard = sorted(reports.get(timeout=PATIENCE) for _ in names)
        assert heard == sorted((f"/{name}", name) for name in names)

    with site() as (url, reports):
        desktop.post("/api/v0/processes/start", {"command": f"exec browser {url}/{path}"})
        types(desktop, shown(desktop, reports), names, check)


@pytest.mark.slow("a browser that starts")
@pytest.mark.parametrize("shortcut", ["ctrl+t", "ctrl+n"])
def test_an_address_is_typed_into_a_new_tab_and_into_a_new_window(
    desktop: Service, shortcut: str
) -> None:
    with site() as (url, reports):
        desktop.post("/api/v0/processes/start", {"command": f"exec browser {url}/page"})
        corner_at(desktop, new_window(desktop), reports)
        opening = {"action": "key", "text": shortcut}
        for turn in range(3):
            typing = {"action": "type", "text": f"{url}/typed/{turn}\n"}
            desktop.post("/api/v0/desktop/actions", {"actions": [opening, typing]})
            assert reports.get(timeout=PATIENCE) == (f"/typed/{turn}", "")
        # A model types when it has seen the new tab.
        desktop.act(**opening, observe={})
        until(lambda: focused(desktop, "New Tab"), "its title")
        desktop.act(action="type", text=f"{url}/typed/late\n")
        assert reports.get(timeout=PATIENCE) == ("/typed/late", "")
