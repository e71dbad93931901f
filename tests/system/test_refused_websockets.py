"""Handshakes of WebSockets that are refused: for each reason an answer, and no line on stderr."""

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.system.services import PATIENCE, Service, service

pytestmark = [
    pytest.mark.soak,
    pytest.mark.slow("a control plane and its desktop"),
    pytest.mark.x11,
]

KEY = ("Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Version: 13")
UPGRADE = ("Connection: Upgrade", "Upgrade: websocket")
LIVE = "/api/v0/live"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, str]]:
    """A control plane and the path of its desktop."""
    folder = tmp_path_factory.mktemp("plane")
    arguments = ("up", "--data-dir", str(folder / "data"), "--listen", "127.0.0.1:0")
    with service(folder / "stderr", *arguments) as plane:
        found = plane.post("/api/v0/desktops", {"name": "shown"})
        yield plane, f"/api/v0/desktops/{found['id']}/desktop"
    assert (folder / "stderr").read_text() == ""


def status(plane: Service, path: str, *lines: str, token: str = "", host: str = "") -> int:
    """Return the status that a handshake with these lines of headers gets."""
    address = urlsplit(plane.url)
    assert address.port is not None
    bearer = [f"Authorization: Bearer {token}"] if token else []
    head = [f"GET {path} HTTP/1.1", f"Host: {host or address.netloc}", *bearer, *lines, "", ""]
    with socket.create_connection(("127.0.0.1", address.port), PATIENCE) as end:
        end.sendall("\r\n".join(head).encode())
        return int(end.makefile("rb").readline().split()[1])


def test_each_refused_handshake_has_a_status_and_stderr_stays_empty(
    served: tuple[Service, str],
) -> None:
    plane, desktop = served
    token, whole = plane.token, (*UPGRADE, *KEY)
    guest = plane.post("/api/v0/tokens", {"scopes": ["desktop:dt_none:view"], "name": "guest"})
    token_of_guest = str(guest["token"])
    old = ("Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Version: 8")
    asked = {
        "no token": status(plane, LIVE, *whole),
        "a wrong token": status(plane, LIVE, *whole, token="wrong"),
        "another page": status(plane, LIVE, *whole, "Origin: https://a.example", token=token),
        "another host": status(plane, LIVE, *whole, token=token, host="a.example"),
        "no right": status(plane, f"{desktop}/vnc", *whole, token=token_of_guest),
        "no such path": status(plane, "/api/v0/none", *whole, token=token),
        "no such desktop": status(plane, "/api/v0/desktops/none/desktop/vnc", *whole, token=token),
        "no such chat": status(plane, "/api/v0/chats/none/desktop/vnc", *whole, token=token),
        "a path of HTTP": status(plane, "/api/v0/desktops", *whole, token=token),
        "no key": status(plane, LIVE, *UPGRADE, KEY[1], token=token),
        "an old version": status(plane, LIVE, *UPGRADE, *old, token=token),
        "no handshake": status(plane, LIVE, token=token),
    }
    assert asked == {
        **{"no token": 401, "a wrong token": 401, "another page": 403, "another host": 421},
        **{"no right": 403, "no such path": 403, "no such desktop": 404, "no such chat": 403},
        **{"a path of HTTP": 403, "no key": 400, "an old version": 400, "no handshake": 404},
    }
    assert plane.errors.read_text() == ""
