"""What holds for MCP and each dialect by construction: one table, a row for each of them."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from socket import create_connection
from urllib.parse import urlsplit

import httpx2
import pytest
from websockets.sync.client import connect

from tests.system.services import PATIENCE, Json, Service, until
from tests.system.test_desktop_release import pressed_on

pytestmark = [pytest.mark.x11, pytest.mark.root]

LEASE = "/api/v0/desktop/lease"
RECORDING = "7c1f3a52-0c1b-4f0e-9a34-0d8a4b9f6c12"
SECRET = "hunter2hunter2"
OSWORLD = "/api/v0/desktop/as/osworld"
CDP = "/api/v0/desktop/as/cdp"
BLANK = "about:blank#table"
PREFIX = "import pyautogui; import time; pyautogui.FAILSAFE = False; "


@dataclass(frozen=True)
class Refusal:
    """How a dialect has refused."""

    status: int
    text: str


@dataclass(frozen=True)
class Dialect:
    """How a client of a dialect does what the table needs."""

    click: Callable[[Service], Refusal | None]
    screenshot: Callable[[Service], Refusal | None]
    type: Callable[[Service, str], None]
    tool: str
    """Name of the step of `type`."""
    hold: Callable[[Service], None] | None = None
    """Holds something down, and disconnects; None where it is no key of the X server."""
    refused: int = 409
    """Status of a refusal; clients of some protocols read the body alone."""


def answered(reply: httpx2.Response) -> Refusal | None:
    return None if reply.is_success else Refusal(reply.status_code, reply.text)


def osworld_code(desktop: Service, code: str) -> httpx2.Response:
    body = {"command": ["python", "-c", PREFIX + code], "shell": False}
    return desktop.http.post(f"{OSWORLD}/execute", json=body)


def osworld_type(desktop: Service, text: str) -> None:
    assert osworld_code(desktop, f"pyautogui.typewrite({text!r})").is_success


def osworld_hold(desktop: Service) -> None:
    code = "pyautogui.keyDown('shift'); time.sleep(60)"
    hold_and_leave(desktop, f"{OSWORLD}/execute", {"command": ["python", "-c", PREFIX + code]})


def hold_and_leave(desktop: Service, path: str, request: Json, *headers: str) -> None:
    """Send a request that holds a key down, and disconnect when it is down."""
    body = json.dumps(request)
    address = urlsplit(desktop.url)
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {address.netloc}\r\n"
        f"Authorization: Bearer {desktop.token}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n{''.join(headers)}\r\n"
    )
    pressed = pressed_on(desktop)
    try:
        with create_connection((address.hostname, address.port)) as leaving:
            leaving.sendall((head + body).encode())
            until(pressed, "the key")
    finally:
        pressed.close()


def cdp(desktop: Service, method: str, **parameters: object) -> Refusal | None:
    """Send a request to a page of the table, over a WebSocket of its own."""
    listed = desktop.http.get(f"{CDP}/json/list", timeout=4 * PATIENCE)
    if not listed.is_success:
        return Refusal(200, listed.text)
    pages = [one["webSocketDebuggerUrl"] for one in listed.json() if one["url"] == BLANK]
    if not pages:
        # The browser's first page is replaced while it starts.
        found = desktop.http.get(f"{CDP}/json/version", timeout=4 * PATIENCE).json()
        cdp_answer(desktop, found["webSocketDebuggerUrl"], "Target.createTarget", url=BLANK)
        return cdp(desktop, method, **parameters)
    answer = cdp_answer(desktop, pages[0], method, **parameters)
    return Refusal(200, answer["error"]["message"]) if "error" in answer else None


def cdp_answer(desktop: Service, address: str, method: str, **parameters: object) -> Json:
    headers = {"Authorization": f"Bearer {desktop.token}"}
    with connect(address, additional_headers=headers, max_size=None) as socket:
        socket.send(json.dumps({"id": 1, "method": method, "params": parameters}))
        answer: Json = json.loads(socket.recv(4 * PATIENCE))
    return answer


def cdp_type(desktop: Service, text: str) -> None:
    assert cdp(desktop, "Input.insertText", text=text) is None


def mcp_body(*actions: Json, tool: str = "computer_act") -> Json:
    arguments = {"actions": actions} if actions else {}
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def mcp(desktop: Service, body: Json) -> Refusal | None:
    """Call a tool without the SDK, which `test_mcp` has."""
    answer = desktop.http.post("/mcp", json=body, headers=MCP_HEADERS, timeout=PATIENCE)
    # The last event of the stream.
    result = json.loads(answer.text.rpartition("data: ")[2])["result"]
    return Refusal(200, result["content"][0]["text"]) if result["isError"] else None


def mcp_type(desktop: Service, text: str) -> None:
    assert mcp(desktop, mcp_body({"action": "type", "text": text})) is None


def mcp_hold(desktop: Service) -> None:
    hold_and_leave(
        desktop,
        "/mcp",
        mcp_body({"action": "hold_key", "text": "shift", "duration": 60}),
        *(f"{name}: {value}\r\n" for name, value in MCP_HEADERS.items()),
    )


CLICK = {"type": "mousePressed", "x": 5, "y": 5, "button": "left", "clickCount": 1}
MCP_HEADERS = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2025-06-18",
}
DIALECTS = {
    "mcp": Dialect(
        click=lambda desktop: mcp(
            desktop, mcp_body({"action": "left_click", "coordinate": [5, 5]})
        ),
        screenshot=lambda desktop: mcp(desktop, mcp_body(tool="computer_look")),
        type=mcp_type,
        tool="computer",
        hold=mcp_hold,
        refused=200,
    ),
    "osworld": Dialect(
        click=lambda desktop: answered(osworld_code(desktop, "pyautogui.click(5, 5)")),
        screenshot=lambda desktop: answered(desktop.http.get(f"{OSWORLD}/screenshot")),
        type=osworld_type,
        tool="osworld.execute",
        hold=osworld_hold,
    ),
    # What its clients hold down is held in pages: `test_cdp` has the release.
    "cdp": Dialect(
        click=lambda desktop: cdp(desktop, "Input.dispatchMouseEvent", **CLICK),
        screenshot=lambda desktop: cdp(desktop, "Page.captureScreenshot"),
        type=cdp_type,
        tool="cdp.Input.insertText",
        refused=200,
    ),
}


@pytest.fixture
def speaking(speaking_desktop: Service) -> Service:
    """A desktop that speaks all dialects of the table."""
    return speaking_desktop


@pytest.fixture(params=DIALECTS)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    """Each row of the table."""
    return DIALECTS[request.param]


@pytest.fixture
def ann(speaking: Service) -> Iterator[Callable[[bool], None]]:
    """Gives control to a person, in private or not, until the end of the test."""

    def take(private: bool) -> None:
        speaking.post(LEASE, {"action": "take", "name": "Ann", "private": private})

    yield take
    assert speaking.http.delete(LEASE).is_success


def test_input_is_refused_while_a_person_is_in_control(
    speaking: Service, dialect: Dialect, ann: Callable[[bool], None]
) -> None:
    assert dialect.click(speaking) is None
    ann(False)
    refusal = dialect.click(speaking)
    assert refusal is not None
    assert refusal.status == dialect.refused
    assert "human_in_control: Ann is in control" in refusal.text
    assert "Traceback" not in refusal.text
    assert dialect.screenshot(speaking) is None


def test_a_private_screen_is_not_shown(
    speaking: Service, dialect: Dialect, ann: Callable[[bool], None]
) -> None:
    ann(True)
    refusal = dialect.screenshot(speaking)
    assert refusal is not None
    assert refusal.status == dialect.refused
    assert "human_in_control" in refusal.text


def test_secrets_are_masked_in_steps(speaking: Service, dialect: Dialect) -> None:
    speaking.post("/api/v0/desktop/secrets", {"values": [SECRET]})
    # The first request of CDP launches the browser, which is a step too.
    assert dialect.screenshot(speaking) is None
    speaking.post("/api/v0/desktop/recording/start", {"recording_id": RECORDING})
    dialect.type(speaking, f"a {SECRET}")
    stopped = speaking.post("/api/v0/desktop/recording/stop", {"recording_id": RECORDING})
    assert stopped["message"] == "Recording stopped."
    steps = speaking.get(f"/api/v0/desktop/recordings/{RECORDING}")["steps"]
    # What the test before released may end in this recording.
    assert dialect.tool in [step["tool"] for step in steps]
    assert "hunter2" not in str(steps)
    assert speaking.http.delete(f"/api/v0/desktop/recordings/{RECORDING}").is_success
    assert speaking.http.delete("/api/v0/desktop/secrets").is_success


def test_input_counts_as_activity(speaking: Service, dialect: Dialect) -> None:
    began = time.monotonic()
    assert dialect.click(speaking) is None
    idle = speaking.get("/api/v0/desktop")["last_activity_s"]
    # The status has milliseconds.
    assert idle <= time.monotonic() - began + 0.001


@pytest.mark.parametrize("hold", [one.hold for one in DIALECTS.values() if one.hold is not None])
def test_held_keys_are_released_when_the_client_disconnects(
    speaking: Service, hold: Callable[[Service], None]
) -> None:
    pressed = pressed_on(speaking)
    try:
        hold(speaking)
        until(lambda: not pressed(), "the release of everything")
    finally:
        pressed.close()


def test_a_dialect_that_is_off_is_not_found(desktop: Service) -> None:
    for name in ("osworld/screenshot", "osworld/execute", "cdp/json/version"):
        assert desktop.http.get(f"/api/v0/desktop/as/{name}").status_code == 404
