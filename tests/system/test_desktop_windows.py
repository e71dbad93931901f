from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import xcffib.xproto

from deskhand.desktop.x11.connection import connect
from tests.system.event_stream import event_stream, next_of
from tests.system.services import Json, Service, x_display
from tests.system.test_desktop_events import close

pytestmark = pytest.mark.x11

WINDOWS = "/api/v0/desktop/windows"


@pytest.fixture
def window(desktop: Service) -> Iterator[Json]:
    """A terminal's window, as published when it opened."""
    with event_stream(desktop) as events:
        desktop.post(
            "/api/v0/processes/start",
            {"command": "xterm -T 'täst ☃' -geometry 80x24+200+150", "background": True},
        )
        opened = next_of(events, "window_opened")
        assert next_of(events, "window_focused")["id"] == opened["id"]
    yield opened
    desktop.http.post(f"{WINDOWS}/{opened['id']}/close", json={})


def listed(desktop: Service, **query: object) -> list[Json]:
    answer = desktop.http.get(WINDOWS, params={k: str(v) for k, v in query.items()})
    assert answer.status_code == 200, answer.text
    found: list[Json] = answer.json()["windows"]
    return found


def test_windows_are_listed_with_what_one_asks_for(desktop: Service, window: Json) -> None:
    (found,) = listed(desktop)
    assert found["id"] == window["id"]
    assert found["title"] == window["title"] == "täst ☃"
    assert found["class"] == "XTerm"
    assert found["focused"] is True
    assert found["pid"] is not None
    assert not any(found[state] for state in ("maximized", "minimized", "dialog"))
    (native,) = listed(desktop, coordinate_space="native")
    assert native["geometry"] == native["native_geometry"] == found["native_geometry"]
    assert native["geometry"]["width"] > found["geometry"]["width"] > 100


def test_a_window_goes_where_it_is_moved(desktop: Service, window: Json) -> None:
    place = {"x": 60, "y": 90, "width": 600, "height": 450}
    answer = desktop.post(f"{WINDOWS}/{window['id']}/move", {**place, "coordinate_space": "native"})
    found = answer["window"]["native_geometry"]
    assert (found["x"], found["y"]) == (60, 90)
    # A terminal's size is a whole number of characters.
    assert abs(found["width"] - 600) < 20
    assert abs(found["height"] - 450) < 30
    moved = desktop.post(f"{WINDOWS}/{window['id']}/move", {"x": 200})
    assert moved["space"]["name"] == "model"
    assert moved["window"]["geometry"]["x"] == 200
    assert moved["window"]["native_geometry"]["y"] == 90


def test_a_window_is_maximized_minimized_and_brought_back(desktop: Service, window: Json) -> None:
    url = f"{WINDOWS}/{window['id']}"
    large = desktop.post(f"{url}/maximize", {})["window"]
    assert large["maximized"]
    assert large["native_geometry"]["width"] == 1920
    small = desktop.post(f"{url}/minimize", {})["window"]
    assert small["minimized"]
    assert not small["focused"]
    back = desktop.post(f"{url}/focus", {})["window"]
    assert back["focused"]
    assert not back["minimized"]
    assert not desktop.post(f"{url}/restore", {})["window"]["maximized"]


def test_closing_a_window_is_published(desktop: Service, window: Json) -> None:
    with event_stream(desktop) as events:
        close(desktop, window)
        assert next_of(events, "window_closed")["id"] == window["id"]
    assert listed(desktop) == []


def test_the_focus_goes_from_one_window_to_the_other(desktop: Service, window: Json) -> None:
    with event_stream(desktop) as events:
        command = {"command": "xterm -T second", "background": True}
        desktop.post("/api/v0/processes/start", command)
        second = next_of(events, "window_opened")
        assert next_of(events, "window_focused")["id"] == second["id"]
        first = desktop.post(f"{WINDOWS}/{window['id']}/focus", {})["window"]
        assert first["focused"]
        assert next_of(events, "window_focused")["id"] == window["id"]
    assert [one["focused"] for one in listed(desktop)] == [True, False]
    close(desktop, second)
    assert len(listed(desktop)) == 1


def test_a_dialog_is_listed_as_one(desktop: Service) -> None:
    with event_stream(desktop) as events, dialog(desktop) as number:
        assert next_of(events, "dialog_opened")["id"] == number
        (found,) = listed(desktop)
        assert found["dialog"] is True
        assert found["title"] == "Save?"


@contextmanager
def dialog(desktop: Service) -> Iterator[int]:
    """A dialog on the desktop, as another program would show it."""
    connection = connect(*x_display(desktop))
    core = connection.core
    screen = connection.get_setup().roots[0]
    window = connection.generate_id()
    core.CreateWindow(
        *(screen.root_depth, window, screen.root, 50, 50, 300, 100, 0),
        *(xcffib.xproto.WindowClass.InputOutput, screen.root_visual, 0, []),
    )

    def atom(name: str) -> int:
        found: int = core.InternAtom(False, len(name), name).reply().atom
        return found

    kind = atom("_NET_WM_WINDOW_TYPE_DIALOG").to_bytes(4, "little")
    core.ChangeProperty(0, window, atom("_NET_WM_WINDOW_TYPE"), atom("ATOM"), 32, 1, kind)
    core.ChangeProperty(0, window, atom("WM_NAME"), atom("STRING"), 8, 5, b"Save?")
    core.MapWindow(window)
    connection.flush()
    try:
        yield window
    finally:
        connection.disconnect()


@pytest.mark.parametrize("window_id", ["1", "0x7fffffff", "x", "-1", "1e3", "99999999999"])
def test_unknown_windows_are_a_404(desktop: Service, window_id: str) -> None:
    for wish in ("focus", "close", "maximize", "minimize", "restore", "move"):
        body = {"x": 1} if wish == "move" else {}
        answer = desktop.http.post(f"{WINDOWS}/{window_id}/{wish}", json=body)
        assert answer.status_code == 404
        assert answer.json()["message"] == "Unknown window."


def test_what_makes_no_sense_is_a_400(desktop: Service, window: Json) -> None:
    url = f"{WINDOWS}/{window['id']}/move"
    bad: list[object] = [
        {},
        {"x": "left"},
        {"width": 0},
        {"x": 1, "coordinate_space": "inches"},
        {"x": 1, "left": 1},
        [],
    ]
    for body in bad:
        answer = desktop.http.post(url, json=body)
        assert answer.status_code == 400, body
    assert desktop.http.post(f"{WINDOWS}/{window['id']}/focus", json={"x": 1}).status_code == 400
    for query in ({"scaled_width": 5}, {"space": "native"}):
        assert desktop.http.get(WINDOWS, params=query).status_code == 400
    answer = desktop.http.post(f"{WINDOWS}/{window['id']}/fly", json={})
    assert answer.status_code == 404
    assert "maximize" in answer.json()["detail"]
