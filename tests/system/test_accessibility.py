"""The accessibility of a real browser: the tree, clicks by its refs, password fields."""

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from jeepney import DBusAddress, new_signal

from deskhand.desktop.accessibility.bus import widget_bus
from tests.system.reporting_page import reporting_page
from tests.system.services import Json, Service, tidy, until

pytestmark = [pytest.mark.x11, pytest.mark.browser]

PATH = "/api/v0/desktop/accessibility"
PAGE = (
    "data:text/html,<title>before</title><button onclick=document.title='after'>Press me</button>"
)

RECORDING = "9c5b94b1-35ad-49bb-b118-8e8fc24abf80"
FORM = (
    b"<title>Sign in</title><form><input autofocus aria-label=User>"
    b"<input type=password aria-label=Pass></form>"
)
NAMES = ("User", "Pass")


@pytest.fixture
def form() -> Iterator[str]:
    """The address of a page with a text field and a password field."""
    with reporting_page(FORM) as (url, _):
        yield url


def every(nodes: list[Json]) -> Iterator[Json]:
    for node in nodes:
        yield node
        yield from every(node.get("children", []))


def named(tree: Json, name: str) -> Any:
    found = (n for n in every(tree["applications"]) if n.get("name", "").startswith(name))
    return next(found, None)


def button(tree: Json, name: str) -> Any:
    """The button itself: while the page loads its address is a label, and holds the name too."""
    wanted = {"role": "button", "name": name}
    found = (n for n in every(tree["applications"]) if wanted.items() <= n.items())
    return next((n for n in found if n.get("rectangle")), None)


def focused(desktop: Service) -> Any:
    """Role of the field of the page that has the keyboard."""
    fields = (n for n in every(desktop.get(PATH)["applications"]) if n.get("name") in NAMES)
    return next((n["role"] for n in fields if "focused" in n.get("states", ())), None)


def password_focus_known(desktop: Service) -> bool:
    """Return whether the desktop knows that a password field has the keyboard focus.

    The event may arrive late; the response to a key that types nothing shows the state.
    """
    return "told_text" in desktop.act(action="key_up", text="shift")


def talk_nonsense(desktop: Service) -> None:
    """Send signals that no application sends."""
    asked = {"command": "echo $DBUS_SESSION_BUS_ADDRESS"}
    process = desktop.post("/api/v0/processes/start", asked)["id"]
    bus_address = desktop.get(f"/api/v0/processes/{process}/output?wait=true")["output"].strip()
    user = Path(bus_address.removeprefix("unix:path=").partition(",")[0]).stat().st_uid
    # The buses accept only connections of their own user, not even of root.
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        pool.submit(signal_nonsense, bus_address, user).result()


def signal_nonsense(session: str, user: int) -> None:
    os.setuid(user)
    events = DBusAddress("/odd", interface="org.a11y.atspi.Event.Object")
    with widget_bus({"DBUS_SESSION_BUS_ADDRESS": session}) as bus:
        bus.send(new_signal(events, "StateChanged", "s", ("focused",)))


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Service]:
    """A desktop whose tree was not requested yet: a request changes how a browser runs."""
    with tidy(tmp_path / "errors.log") as found:
        yield found


@pytest.mark.slow("a browser, and what has the keyboard for a while")
def test_what_is_typed_into_a_password_field_is_recorded_as_a_count(
    fresh: Service, form: str
) -> None:
    desktop = fresh
    desktop.post("/api/v0/desktop/recording/start", {"recording_id": RECORDING})
    desktop.post("/api/v0/processes/start", {"command": f"browser {form} > /dev/null 2>&1 &"})
    until(lambda: desktop.get("/api/v0/desktop/windows")["windows"], "the browser's window")
    # So the browser runs as before anybody has asked for a tree.
    assert "note" in desktop.get(PATH)
    until(lambda: focused(desktop) == "entry", "the keyboard in the text field")
    # A browser drops keys that come before the first paint of a page.
    desktop.act(action="wait", duration=0, observe={"screenshot": False})
    # There and back: the browser may have sent the focus event before the subscription.
    desktop.act(action="key", text="Tab")
    until(lambda: focused(desktop) == "password text", "the keyboard in the password field")
    desktop.act(action="key", text="shift+Tab")
    until(lambda: focused(desktop) == "entry", "the keyboard in the text field again")
    until(lambda: not password_focus_known(desktop), "the focus of the text field")
    only_elsewhere = {"action": "type", "text": "elsewhere", "hosts": ["mail.example"]}
    refused = desktop.post("/api/v0/desktop/action", only_elsewhere, 409)
    assert refused["code"] == "foreign_host"
    assert "127.0.0.1 has the keyboard" in refused["detail"]
    assert "told_text" not in desktop.act(action="type", text="ada", hosts=["http://127.0.0.1"])
    talk_nonsense(desktop)
    # What has the keyboard a moment later could be where the text went.
    desktop.act(action="wait", duration=1)
    desktop.act(action="key", text="Tab")
    until(lambda: focused(desktop) == "password text", "the keyboard in the password field")
    until(lambda: password_focus_known(desktop), "the focus of the password field")
    focus = desktop.get("/api/v0/desktop/focus")
    assert focus["window"]["title"].startswith("Sign in")
    # The page is not encrypted, and named by its host with the scheme.
    assert (focus["field"]["password"], focus["field"]["name"]) == (True, "Pass")
    assert focus["field"]["host"].startswith("http://")
    typed = desktop.act(action="type", text="hunter2", observe={"screenshot": False})
    assert typed["told_text"] == "7 characters"
    desktop.act(action="key", text="h i")
    desktop.post("/api/v0/desktop/recording/stop", {"recording_id": RECORDING})
    facts = desktop.get(f"/api/v0/desktop/recordings/{RECORDING}")
    texts = [step["text"] for step in facts["steps"] if step["action"] in ("type", "key")]
    assert texts == ["Tab", "shift+Tab", "elsewhere", "ada", "Tab", "7 characters", "2 keys"]
    assert "hunter2" not in str(facts)
    shown = desktop.http.get(f"/api/v0/desktop/recordings/{RECORDING}/steps.vtt").text
    assert "type 7 characters" in shown
    assert "hunter2" not in shown


def test_a_button_of_a_page_is_found_and_clicked_by_its_ref(desktop: Service) -> None:
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


CHARACTERS_PER_TOKEN = 4
STYLE = b"<style>td,button{font:9px sans-serif;padding:0 4px}</style>"
ROWS = b"".join(
    b"<tr><td>Request %d<td>Customer %d<td><button>Approve %d</button>" % (row, row, row)
    for row in range(60)
)


def test_a_page_of_60_rows_is_short_as_text(desktop: Service) -> None:
    desktop.get(PATH)
    with reporting_page(b"<title>Requests</title>" + STYLE + b"<table>" + ROWS) as (url, _):
        desktop.post("/api/v0/desktop/open", {"url": url})
        until(lambda: '"Approve 59"' in desktop.get(f"{PATH}/text")["text"], "the page")
    page = desktop.get(f"{PATH}/text")
    # The cell around a button has its name too, and no line.
    assert page["lines"] >= 180
    assert page["text"].count('"Approve 7"') == 1
    assert len(page["text"]) <= 2100 * CHARACTERS_PER_TOKEN
    buttons = desktop.get(f"{PATH}/text?interactive=true")
    assert 'button "Approve 7"' in buttons["text"]
    assert len(buttons["text"]) <= 800 * CHARACTERS_PER_TOKEN
    assert "next_offset" not in page
    # A page after the first belongs to the same tree.
    rest = desktop.get(f"{PATH}/text?offset={page['lines'] - 1}")["text"]
    assert page["text"].endswith(rest)
