"""A holder of a token tries to work without a trace in the audit log."""

import json
import socket
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.attack.test_secrets import control_plane, new_chat
from tests.system.services import PATIENCE, Json, Service, until

pytestmark = [pytest.mark.attack, pytest.mark.root, pytest.mark.x11]


def leave(
    plane: Service,
    path: str,
    body: Json,
    token: str,
    chat: str = "",
    begun: Callable[[], bool] = lambda: True,
) -> None:
    """Send a request, and close the connection when its work has begun, without the answer."""
    url, content = urlsplit(plane.url), json.dumps(body)
    named = f"Deskhand-Chat-Id: {chat}\r\n" if chat else ""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n{named}"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    with socket.create_connection((url.hostname, url.port), PATIENCE) as connection:
        connection.sendall((head + content).encode())
        until(begun, "the work")


def records(plane: Service, actor: str) -> list[Json]:
    found: list[Json] = plane.get(f"/api/v0/audit?actor={actor}")["records"]
    return found


def processes(plane: Service, chat: str) -> str:
    headers = {"Deskhand-Chat-Id": chat}
    found = plane.http.post("/api/v0/tools/process_list", json={}, headers=headers)
    return found.text


@pytest.mark.slow("a control plane and two desktops")
def test_a_caller_that_does_not_wait_is_recorded_with_what_it_did(tmp_path: Path) -> None:
    with control_plane(tmp_path) as plane:
        desktop = plane.post("/api/v0/desktops", {})["id"]
        scopes = {"name": "guest", "scopes": [f"desktop:{desktop}:control"]}
        token = plane.post("/api/v0/tokens", scopes)["token"]
        press = {"action": "hold_key", "text": "shift", "duration": 20}
        leave(plane, f"/api/v0/desktops/{desktop}/desktop/action", press, token)
        until(lambda: records(plane, "guest"), "the record of the action")
        (record,) = records(plane, "guest")
        assert (record["action"], record["subject"]) == ("desktop.request", desktop)
        chat = new_chat(plane, "chat")
        scopes = {"name": "agent", "scopes": [f"chat:{chat}"]}
        token = plane.post("/api/v0/tokens", scopes)["token"]
        path, command = "/api/v0/tools/execute", {"command": "sleep 20"}
        leave(plane, path, command, token, chat, lambda: "sleep 20" in processes(plane, chat))
        until(lambda: records(plane, "agent"), "the record of the command")
        (record,) = records(plane, "agent")
        assert (record["subject"], record["details"]["path"]) == (chat, path)
        # The control: the call of one that waits has the desktop on which it worked.
        headers = {"Authorization": f"Bearer {token}"}
        called = plane.http.post(
            "/api/v0/tools/execute", json={"command": "true"}, headers=headers, timeout=3 * PATIENCE
        )
        assert called.is_success, called.text
        worked_on = plane.get(f"/api/v0/chats/{chat}")["desktop_id"]
        assert records(plane, "agent")[0]["details"]["desktop"] == worked_on
