"""What the OpenAPI documents of both services promise, compared with their answers."""

import base64
import json
import uuid
from pathlib import Path

import numpy as np
import pytest

from deskhand.desktop.targets.patch_png import patch_png
from deskhand.desktop.targets.patch_search import PixelPatch
from tests.system.documented import Documented
from tests.system.services import PATIENCE, Service, until

pytestmark = pytest.mark.x11

DATA = Path(__file__).parent.parent / "data"
IDS = DATA / "operations"
NOTES_SERVER = DATA / "mcp" / "notes_server.py"
DESKTOP = "/api/v0/desktop"


def assert_complete(asked: Documented, name: str) -> None:
    known = json.loads((IDS / f"{name}.json").read_text())
    # A client is generated with these names: they must not change.
    assert asked.operations == known
    assert set(known.values()) - asked.seen == set()


def test_a_desktop_answers_as_its_document_says(desktop: Service, tmp_path: Path) -> None:
    asked = Documented(desktop)
    _use_the_screen(asked)
    _use_windows(asked)
    _use_commands(asked)
    _use_files(asked)
    _record(asked)
    _administer(asked)
    assert_complete(asked, "desktop")


def _use_the_screen(asked: Documented) -> None:
    asked("GET", DESKTOP)
    asked("GET", f"{DESKTOP}/display")
    asked("POST", f"{DESKTOP}/display")
    asked("GET", f"{DESKTOP}/pointer")
    asked("PUT", f"{DESKTOP}/wallpaper", params={"path": "/picture"})
    picture = asked("GET", f"{DESKTOP}/screenshot")
    assert picture.startswith(b"\x89PNG")
    asked("GET", f"{DESKTOP}/screenshot", params={"region": "1,2"})
    click = {"action": "left_click", "coordinate": [600, 300], "observe": {}}
    headers = {"Deskhand-Chat-Id": str(uuid.uuid4()), "Deskhand-Tool-Call-Id": "one"}
    done = asked("POST", f"{DESKTOP}/action", json=click, headers=headers)
    assert asked("POST", f"{DESKTOP}/action", json=click, headers=headers)["replayed"]
    unchanged = {"action": "screenshot", "since": done["frame_id"]}
    assert asked("POST", f"{DESKTOP}/action", json=unchanged)
    assert "message" in asked("POST", f"{DESKTOP}/action", json={"action": "fly"})
    batch = [
        {"action": "cursor_position"},
        {"action": "key", "text": "no such key"},
        {"action": "wait"},
    ]
    asked("POST", f"{DESKTOP}/actions", json={"actions": batch[:1], "observe": {}})
    asked("POST", f"{DESKTOP}/actions", json={"actions": batch})
    with asked.stream(f"{DESKTOP}/events"):
        pass


def _use_windows(asked: Documented) -> None:
    asked("GET", f"{DESKTOP}/applications")
    with asked.stream(f"{DESKTOP}/events") as events:
        started = asked("POST", f"{DESKTOP}/launch", json={"command": "xterm"})
        for line in events.iter_lines():
            if line == "event: window_opened":
                break
    opened = asked("POST", f"{DESKTOP}/open", json={"url": "about:blank"})
    asked("POST", f"/api/v0/processes/{opened['process_id']}/signal", json={"signal": "kill"})
    (window, *_) = asked("GET", f"{DESKTOP}/windows")["windows"]
    one = f"{DESKTOP}/windows/{window['id']}"
    asked("POST", f"{one}/move", json={"x": 10, "y": 20})
    asked("POST", f"{one}/focus", json={})
    asked("GET", f"{DESKTOP}/accessibility")
    asked("GET", f"{DESKTOP}/accessibility/text")
    asked("POST", f"{DESKTOP}/wait-for", json={"text": "none", "url": "x", "timeout_seconds": 0})
    patch = patch_png(PixelPatch(np.arange(1200, dtype=np.uint8).reshape(20, 20, 3)))
    asked("POST", f"{DESKTOP}/find-patch", json={"patch": base64.b64encode(patch).decode()})
    asked("POST", f"{DESKTOP}/browser", json={"action": "list_tabs"})
    asked("GET", f"{DESKTOP}/focus")
    asked("POST", f"/api/v0/processes/{started['process_id']}/signal", json={"signal": "kill"})
    asked("PUT", f"{DESKTOP}/clipboard", json={"text": "first"})
    asked("PUT", f"{DESKTOP}/clipboard", json={"text": "second"})
    assert asked("GET", f"{DESKTOP}/clipboard") == b"second"
    asked("POST", f"{DESKTOP}/clipboard/restore")


def _use_commands(asked: Documented) -> None:
    chat = {"Deskhand-Chat-Id": str(uuid.uuid4()), "Deskhand-Tool-Call-Id": "two"}
    request = {"command": "cat; exit 3", "pty": True, "name": "reader"}
    terminal = asked("POST", "/api/v0/processes/start", json=request, headers=chat)["id"]
    one = f"/api/v0/processes/{terminal}"
    asked("POST", f"{one}/resize", json={"rows": 10}, headers=chat)
    asked("POST", f"{one}/input", json={"data": "hello\n"}, headers=chat)
    asked("GET", f"{one}/output", headers=chat)
    asked("GET", f"{one}/output", params={"cursor": 0}, headers=chat)
    asked("GET", "/api/v0/processes/list", headers=chat)
    asked("POST", f"{one}/cancel", headers=chat)
    asked("GET", f"{one}/output", params={"wait": True}, headers=chat)
    asked("POST", "/api/v0/tool-calls/two/cancel", headers=chat)
    asked("POST", "/api/v0/tool-calls/never/cancel", headers=chat)
    request = {"command": "yes | head -c 300000"}
    long = f"/api/v0/processes/{asked('POST', '/api/v0/processes/start', json=request)['id']}"
    assert asked("GET", f"{long}/output", params={"wait": True})["truncated"]
    assert b"event: exit" in asked("GET", f"{long}/stream")
    asked("GET", "/api/v0/processes/list")
    server = {"url": "https://git.example"}
    asked("PUT", "/api/v0/git/credentials", json={**server, "username": "a", "password": "secret"})
    asked("GET", "/api/v0/git/credentials")
    asked("DELETE", "/api/v0/git/credentials", params=server)
    asked("POST", "/api/v0/git/stale", json={"branch": "main", "remote_origin": "https://x/y"})
    asked("GET", "/api/v0/git/refs")


def _use_files(asked: Documented) -> None:
    workdir = asked("GET", "/api/v0/processes/list")["processes"][0]["workdir"]
    path = f"{workdir}/{uuid.uuid4()}"
    binary = {"Content-Type": "application/octet-stream"}
    asked("POST", "/api/v0/write-file", params={"path": path}, content=b"a\nb\n", headers=binary)
    edit = {"path": path, "edits": [{"old_text": "a", "new_text": "c"}]}
    asked("POST", "/api/v0/edit-files", json={"files": [edit], "include_diff": True})
    assert asked("GET", "/api/v0/read-file", params={"path": path}) == b"c\nb\n"
    asked("GET", "/api/v0/read-file-lines", params={"path": path})
    asked("GET", "/api/v0/read-file-lines", params={"path": path, "limit": 1, "partial": True})
    assert not asked("GET", "/api/v0/read-file-lines", params={"path": "/missing"})["success"]
    asked("GET", "/api/v0/resolve-path", params={"path": path})
    asked("GET", "/api/v0/context-config")
    asked("POST", "/api/v0/list-directory", params={"path": workdir}, json={})
    for request in ({"path": path, "pattern": ".", "limit": 1}, {"path": workdir}):
        asked("POST", "/api/v0/search", json=request)
    name = {"name": "given.txt"}
    asked("POST", f"{DESKTOP}/downloads", params=name, content=b"d\n", headers=binary)
    asked("POST", "/api/v0/append-file", params={"path": path}, content=b"d\n", headers=binary)
    assert asked("GET", "/api/v0/file-status", params={"path": path})["bytes"] == 6
    asked("POST", "/api/v0/make-directory", params={"path": f"{path}-folder"})
    asked("POST", "/api/v0/remove-path", params={"path": path})
    with asked.stream("/api/v0/watch", params={"path": workdir}):
        pass
    _use_mcp_servers(asked, workdir)


def _use_mcp_servers(asked: Documented, workdir: str) -> None:
    def write(name: str, content: bytes) -> None:
        place = {"path": f"{workdir}/{name}"}
        binary = {"Content-Type": "application/octet-stream"}
        asked("POST", "/api/v0/write-file", params=place, content=content, headers=binary)

    write("notes_server.py", NOTES_SERVER.read_bytes())
    command = {"command": "/usr/bin/python3", "args": ["-SE", f"{workdir}/notes_server.py"]}
    write(".mcp.json", json.dumps({"mcpServers": {"notes": command}}).encode())
    waiting = asked("GET", "/api/v0/mcp/tools")["servers"]
    digests = [server["digest"] for server in waiting]
    asked("POST", "/api/v0/mcp-approvals", json={"digests": digests})
    until(lambda: asked("GET", "/api/v0/mcp/tools")["tools"], "the server's tools")
    call = {"tool_name": "notes__environment", "arguments": {"text": "HOME"}}
    asked("POST", "/api/v0/mcp/call-tool", json=call)
    write(".mcp.json", b'{"mcpServers": {}}')
    assert asked("GET", "/api/v0/mcp/tools")["servers"] == []


def _record(asked: Documented) -> None:
    identifier = str(uuid.uuid4())
    asked("POST", f"{DESKTOP}/recording/start", json={"recording_id": identifier})
    one = f"{DESKTOP}/recordings/{identifier}"
    asked("GET", one)
    asked("POST", f"{DESKTOP}/action", json={"action": "left_click", "coordinate": [600, 300]})
    step = {"tool": "execute", "started": 1.0, "ended": 2.0, "error": "It failed."}
    asked("POST", f"{one}/steps", json=step)
    asked("POST", f"{DESKTOP}/recording/stop", json={"recording_id": identifier})
    assert asked("GET", one)["steps"]
    asked("GET", f"{DESKTOP}/recordings")
    for part in ("video", "thumbnail", "clip", "steps/0/picture", "steps.vtt"):
        for method in ("HEAD", "GET"):
            asked(method, f"{one}/{part}")
    asked("DELETE", one)


def _administer(asked: Documented) -> None:
    asked("POST", f"{DESKTOP}/tickets", json={"role": "view"})
    asked("POST", f"{DESKTOP}/secrets", json={"values": ["long enough"]})
    asked("GET", f"{DESKTOP}/secrets")
    asked("DELETE", f"{DESKTOP}/secrets")
    asked("POST", f"{DESKTOP}/pause", json={"seconds": 0})
    assert asked("GET", "/metrics").startswith(b"# HELP")
    asked("POST", f"{DESKTOP}/lease", json={"action": "take", "name": "Ann"})
    asked("GET", f"{DESKTOP}/lease")
    asked("GET", DESKTOP)
    asked("POST", f"{DESKTOP}/action", json={"action": "left_click", "coordinate": [1, 1]})
    asked("DELETE", f"{DESKTOP}/lease")
    asked("POST", f"{DESKTOP}/lease", json={"action": "renew", "name": "Ann"})
    _use_credentials(asked)


def _use_credentials(asked: Documented) -> None:
    issued = asked("POST", "/api/v0/tokens", json={"scopes": ["admin"], "name": "tests"})
    asked("GET", "/api/v0/tokens")
    asked("DELETE", f"/api/v0/tokens/{issued['id']}")
    code = asked("POST", "/api/v0/login/codes")["code"]
    asked("POST", "/api/v0/login", json={"code": code})
    asked("POST", "/api/v0/login/tickets")
    asked("POST", "/logout")


def _use_people(asked: Documented, chat: str) -> None:
    ada = asked("POST", "/api/v0/people", json={"name": "Ada", "role": "watcher"})["id"]
    asked("GET", "/api/v0/people")
    asked("GET", "/api/v0/people/me")
    asked("PATCH", f"/api/v0/people/{ada}", json={"role": "member"})
    asked("POST", f"/api/v0/people/{ada}/links")
    shared = f"/api/v0/runs/{chat}/people"
    assert asked("PUT", f"{shared}/{ada}")["people"] == [ada]
    asked("GET", shared)
    asked("DELETE", f"{shared}/{ada}")
    asked("DELETE", f"/api/v0/people/{ada}")


@pytest.mark.slow("a whole run with a recording")
def test_the_control_plane_answers_as_its_document_says(plane: Service) -> None:
    asked = Documented(plane)
    for path in ("/healthz", "/readyz", "/api/v0/status"):
        asked("GET", path)
    chat = _run_a_chat(asked)
    _use_its_recording(asked, chat)
    _use_tools_and_files(asked, chat)
    _manage_desktops(asked)
    asked("PUT", "/api/v0/secrets/mail", json={"value": "long enough", "anywhere": True})
    asked("PUT", "/api/v0/secrets/mail", json={"value": "longer still", "domains": ["a.example"]})
    asked("GET", "/api/v0/secrets")
    asked("DELETE", "/api/v0/secrets/mail")
    _use_playbooks(asked)
    asked("GET", "/api/v0/audit", params={"limit": 1})
    asked("GET", "/api/v0/audit/verification")
    assert asked("GET", "/metrics").startswith(b"# HELP")
    _use_credentials(asked)
    _use_people(asked, chat)
    again = asked("POST", f"/api/v0/chats/{chat}/run-again")["id"]
    asked("DELETE", f"/api/v0/chats/{again}")
    asked("PATCH", f"/api/v0/chats/{chat}", json={"title": "Asked"})
    asked("POST", f"/api/v0/chats/{chat}/clear")
    asked("POST", f"/api/v0/chats/{chat}/archive")
    asked("POST", f"/api/v0/chats/{chat}/unarchive")
    asked("POST", f"/api/v0/chats/{chat}/compact")
    asked("DELETE", f"/api/v0/chats/{chat}")
    asked("POST", "/api/v0/stop-all")
    assert_complete(asked, "control_plane")


def _use_playbooks(asked: Documented) -> None:
    text = "name: keys\nversion: 1\nsteps:\n  - {action: key, keys: a}\n"
    asked("POST", "/api/v0/playbooks", json={"yaml": text})
    asked("GET", "/api/v0/playbooks")
    asked("GET", "/api/v0/playbooks/keys")
    run = asked("POST", "/api/v0/playbooks/keys/runs", json={"set": {}})
    asked("DELETE", f"/api/v0/chats/{run['chat_id']}")
    asked("DELETE", "/api/v0/playbooks/keys")


def _run_a_chat(asked: Documented) -> str:
    asked("GET", "/api/v0/chats/nothing")
    spawn = {"prompt": "Ask me", "model": "scripted:ask"}
    child = asked("POST", "/api/v0/tools/spawn_computer_use_agent", json=spawn)
    chat = str(child["result"]["chat_id"])
    wait = {"chat_id": chat, "timeout_seconds": PATIENCE}
    with asked.stream("/api/v0/events"), asked.stream(f"/api/v0/chats/{chat}/events"):
        asked("POST", "/api/v0/tools/wait_agent", json=wait, timeout=2 * PATIENCE)
    asked("GET", f"/api/v0/chats/{chat}")
    asked("GET", f"/api/v0/chats/{chat}/desktop")
    asked("POST", f"/api/v0/chats/{chat}/answer", json={"answer": "All is well."})
    asked("POST", "/api/v0/tools/wait_agent", json=wait, timeout=2 * PATIENCE)
    asked("GET", f"/api/v0/chats/{chat}")
    asked("GET", f"/api/v0/chats/{chat}/messages")
    asked("GET", "/api/v0/chats", params={"limit": 1})
    other = asked("POST", "/api/v0/chats", json={"title": "Notes"})["id"]
    asked("POST", f"/api/v0/chats/{chat}/messages", json={"message": "Again", "interrupt": True})
    asked("POST", f"/api/v0/chats/{chat}/interrupt")
    asked("GET", f"/api/v0/chats/{other}/messages")
    return chat


def _use_its_recording(asked: Documented, chat: str) -> None:
    asked("GET", "/api/v0/recordings")
    assert asked("GET", "/api/v0/runs", params={"limit": 1})["chats"]
    asked("GET", f"/api/v0/runs/{chat}")
    asked("PUT", f"/api/v0/runs/{chat}/pin")
    asked("DELETE", f"/api/v0/runs/{chat}/pin")
    one = f"/api/v0/recordings/{chat}"
    strip = asked("GET", f"{one}/filmstrip")
    assert isinstance(strip, bytes), strip
    assert strip.startswith(b"\xff\xd8")
    asked("GET", one)
    assert asked("GET", f"/api/v0/runs/{chat}/sheet.png").startswith(b"\x89PNG")
    assert asked("GET", f"/api/v0/runs/{chat}/trail.png").startswith(b"\x89PNG")
    assert asked("GET", f"/api/v0/runs/{chat}/waterfall")["rows"]
    assert asked("GET", f"/api/v0/runs/{chat}/report.html").startswith(b"<!doctype html>")
    for part in ("video", "thumbnail", "clip", "steps/0/picture", "steps.vtt"):
        asked("GET", f"{one}/{part}")


def _use_tools_and_files(asked: Documented, chat: str) -> None:
    assert asked("GET", "/api/v0/models")["scripts"]
    assert asked("GET", "/api/v0/system")["settings"]
    asked("GET", "/api/v0/tools")
    assert asked("POST", "/api/v0/tools/execute", json={"command": ""})["is_error"]
    asked("POST", "/api/v0/tools/fly", json={})
    files = asked("GET", "/api/v0/files", params={"chat": chat})["files"]
    (thumbnail,) = (file["id"] for file in files if file["kind"] == "thumbnail")
    one = f"/api/v0/files/{thumbnail}"
    asked("GET", one)
    asked("PUT", f"{one}/pin")
    asked("DELETE", f"{one}/pin")
    asked("DELETE", one)
    asked("DELETE", f"/api/v0/recordings/{chat}")


def _manage_desktops(asked: Documented) -> None:
    made = asked("POST", "/api/v0/desktops", json={"name": "mine", "profile": "shop"})["id"]
    assert asked("GET", "/api/v0/profiles")["profiles"][0]["desktop_id"] == made
    asked("GET", "/api/v0/desktops")
    asked("GET", f"/api/v0/desktops/{made}")
    asked("POST", f"/api/v0/desktops/{made}/desktop/tickets", json={})
    asked("DELETE", f"/api/v0/desktops/{made}")
    asked("DELETE", "/api/v0/profiles/shop")
