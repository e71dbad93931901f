"""cua's protocol on a real desktop."""

import base64
import json
from io import BytesIO
from typing import Any

import pytest
from PIL import Image
from websockets.sync.client import ClientConnection, connect

from tests.system.services import PATIENCE, Service, until

pytestmark = [pytest.mark.x11, pytest.mark.root]

CUA = "/api/v0/desktop/as/cua"


def cmd(desktop: Service, name: str, **params: Any) -> Any:
    body = {"command": name, "params": params}
    reply = desktop.http.post(f"{CUA}/cmd", json=body)
    assert reply.status_code == 200, reply.text
    assert reply.text.startswith("data: ")
    assert reply.text.endswith("\n\n")
    return json.loads(reply.text.removeprefix("data: "))


def running(desktop: Service, command: str) -> list[str]:
    """Return the ids of the processes that run a command."""
    listed = desktop.get("/api/v0/processes/list")["processes"]
    return [one["id"] for one in listed if one["running"] and command in one["command"]]


def connected(desktop: Service) -> ClientConnection:
    address = desktop.url.replace("http", "ws") + f"{CUA}/ws"
    return connect(address, additional_headers={"X-API-Key": desktop.token})


def test_a_client_learns_what_is_served(speaking_desktop: Service) -> None:
    http = speaking_desktop.http
    status = {"status": "ok", "os_type": "linux", "features": []}
    assert http.get(f"{CUA}/status").json() == status
    assert "left_click" in http.get(f"{CUA}/commands").json()["commands"]
    assert cmd(speaking_desktop, "version")["protocol"] == 1
    unknown = http.post(f"{CUA}/cmd", json={"command": "left_clik"})
    assert unknown.status_code == 400
    assert unknown.json()["detail"].startswith("Unknown command: left_clik. Did you mean: left_")
    for reply in (
        http.post(f"{CUA}/cmd", json={"command": "diorama_cmd"}),
        http.post(f"{CUA}/pty", json={}),
        http.get(f"{CUA}/pty/7"),
        http.post(f"{CUA}/responses", json={}),
        http.post(f"{CUA}/playwright_exec", json={"command": "visit_url"}),
    ):
        assert reply.status_code == 400
        assert reply.json()["detail"].startswith("Not served: ")


def test_a_command_that_cannot_be_done_says_why(speaking_desktop: Service) -> None:
    failed = {"success": False, "error": "y must be a number"}
    assert cmd(speaking_desktop, "left_click", x=1) == failed
    missing = cmd(speaking_desktop, "read_text", path="~/missing")
    assert missing["success"] is False
    assert "does not exist" in missing["error"]
    timed_out = cmd(speaking_desktop, "run_command", command="sleep 60", timeout=0)
    assert (timed_out["success"], timed_out["return_code"]) == (False, -1)


def test_commands_of_files_start_no_process(speaking_desktop: Service) -> None:
    def started() -> list[str]:
        return [one["id"] for one in speaking_desktop.get("/api/v0/processes/list")["processes"]]

    before, file = started(), "~/made/below/file"
    done = {"success": True}
    assert cmd(speaking_desktop, "create_dir", path="~/made/below") == done
    for piece in ("aGVs", "bG8="):
        sent = {"path": file, "content_b64": piece, "append": True}
        assert cmd(speaking_desktop, "write_bytes", **sent) == done
    assert cmd(speaking_desktop, "read_text", path=file)["content"] == "hello"
    assert cmd(speaking_desktop, "get_file_size", path=file)["size"] == 5
    assert not cmd(speaking_desktop, "delete_file", path="~/made")["success"]
    assert cmd(speaking_desktop, "delete_file", path=file) == done
    assert cmd(speaking_desktop, "delete_dir", path="~/made") == done
    assert not cmd(speaking_desktop, "directory_exists", path="~/made")["exists"]
    assert started() == before


def test_a_picture_is_the_wallpaper(speaking_desktop: Service) -> None:
    picture = BytesIO()
    Image.new("RGB", (16, 9), (0, 200, 0)).save(picture, "PNG")
    content = base64.b64encode(picture.getvalue()).decode()
    assert cmd(speaking_desktop, "write_bytes", path="~/wall.png", content_b64=content)["success"]
    assert cmd(speaking_desktop, "set_wallpaper", path="~/wall.png") == {"success": True}

    def colour() -> object:
        shown = base64.b64decode(cmd(speaking_desktop, "screenshot")["image_data"])
        with Image.open(BytesIO(shown)) as screen:
            return screen.convert("RGB").getpixel((1900, 500))

    until(lambda: colour() == (0, 200, 0), "a wallpaper")


def test_messages_are_answered_in_their_order(speaking_desktop: Service) -> None:
    messages: list[Any] = [
        {"command": "authenticate", "params": {"api_key": "k", "container_name": "c"}},
        {"command": "run_command", "params": {"command": "echo nested"}},
        {"command": "echo flat", "timeout": 30},
        {"command": "fly"},
        [],
        {"command": "run_command", "params": {"command": "echo no", "unknown": 1}},
        {"command": "get_environment"},
    ]
    with connected(speaking_desktop) as socket:
        for message in messages:
            socket.send(json.dumps(message))
        answers = [json.loads(socket.recv(PATIENCE)) for _ in messages]
    assert answers[0] == {"success": True}
    assert answers[1]["stdout"] == answers[1]["result"]["stdout"] == "nested\n"
    assert answers[2]["result"]["stdout"] == "flat\n"
    assert "Unknown command: fly" in answers[3]["error"]
    assert answers[4] == {"success": False, "error": "A request is a JSON object"}
    assert "unknown argument unknown" in answers[5]["error"]
    assert answers[6] == {"success": True, "result": "linux"}


def test_keys_are_released_although_a_command_is_in_progress(speaking_desktop: Service) -> None:
    recording = "7c1f3a52-0c1b-4f0e-9a34-0d8a4b9f6c13"
    path = f"/api/v0/desktop/recordings/{recording}"

    def tools() -> list[str]:
        return [step["tool"] for step in speaking_desktop.get(path)["steps"]]

    speaking_desktop.post("/api/v0/desktop/recording/start", {"recording_id": recording})
    with connected(speaking_desktop) as socket:
        socket.send(json.dumps({"command": "key_down", "key": "ctrl"}))
        assert json.loads(socket.recv(PATIENCE))["success"]
        socket.send(json.dumps({"command": "run_command", "params": {"command": "sleep 999"}}))
        until(lambda: running(speaking_desktop, "sleep 999"), "the start of the command")
    until(lambda: "cua.key_up" in tools(), "the release of the key")
    (process,) = running(speaking_desktop, "sleep 999")
    speaking_desktop.post(f"/api/v0/processes/{process}/signal", {"signal": "kill"})
    speaking_desktop.post("/api/v0/desktop/recording/stop", {"recording_id": recording})
    assert speaking_desktop.http.delete(path).is_success
