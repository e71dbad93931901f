"""Every route that changes something, of both services, on a disk that is almost full."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.attack.attackers import output
from tests.system.services import Json, Service, service, until
from tests.system.small_disk import filled, small_disk
from tests.vncbridge.fakes import short_folder

pytestmark = [
    pytest.mark.attack,
    pytest.mark.root,
    pytest.mark.x11,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts file systems"),
]

MIB = 1 << 20
REFUSED = 507
CHAT = str(uuid4())
PLAYBOOK = """
name: escape
version: 1
steps:
  - {action: key, keys: Escape}
"""
SECRET = {"value": "correct horse", "domains": ["mail.example"]}

Request = dict[str, Any]
"""Arguments of a request, beside method and path."""


def at_desktop(home: str) -> dict[str, tuple[bool, Request]]:
    """Return for each route of a desktop that changes something: is it refused, and a request."""
    edits = [{"path": f"{home}/before", "edits": [{"search": "text", "replace": "x"}]}]
    return {
        "POST /api/v0/write-file": (
            True,
            {"params": {"path": f"{home}/after"}, "content": b"text"},
        ),
        "POST /api/v0/append-file": (
            True,
            {"params": {"path": f"{home}/before"}, "content": b"more"},
        ),
        "POST /api/v0/desktop/downloads": (True, {"params": {"name": "a"}, "content": b"text"}),
        "POST /api/v0/edit-files": (True, {"json": {"files": edits}}),
        "POST /api/v0/processes/start": (
            True,
            {"json": {"command": "true", "output_path": f"{home}/copy"}},
        ),
        "POST /api/v0/desktop/recording/start": (True, {"json": {"recording_id": str(uuid4())}}),
        **dict.fromkeys(
            (
                "POST /api/v0/desktop/action",
                "POST /api/v0/desktop/actions",
                "POST /api/v0/desktop/wait-for",
                "POST /api/v0/desktop/browser",
                "POST /api/v0/desktop/find-patch",
                "POST /api/v0/desktop/windows/{window_id}/move",
                "POST /api/v0/desktop/windows/{window_id}/{wish}",
                "POST /api/v0/desktop/launch",
                "POST /api/v0/desktop/open",
                "PUT /api/v0/desktop/clipboard",
                "PUT /api/v0/desktop/wallpaper",
                "POST /api/v0/desktop/clipboard/restore",
                "POST /api/v0/desktop/display",
                "POST /api/v0/desktop/tickets",
                "POST /api/v0/tokens",
                "DELETE /api/v0/tokens/{token_id}",
                "POST /api/v0/desktop/lease",
                "DELETE /api/v0/desktop/lease",
                "POST /api/v0/desktop/pause",
                "POST /api/v0/desktop/secrets",
                "DELETE /api/v0/desktop/secrets",
                "POST /api/v0/desktop/recording/stop",
                "DELETE /api/v0/desktop/recordings/{recording_id}",
                "POST /api/v0/desktop/recordings/{recording_id}/steps",
                "POST /api/v0/processes/{process_id}/signal",
                "POST /api/v0/tool-calls/{call_id}/cancel",
                "POST /api/v0/processes/{process_id}/cancel",
                "POST /api/v0/processes/{process_id}/input",
                "POST /api/v0/processes/{process_id}/resize",
                "POST /api/v0/list-directory",
                "POST /api/v0/make-directory",
                "POST /api/v0/remove-path",
                "POST /api/v0/search",
                "PUT /api/v0/git/credentials",
                "DELETE /api/v0/git/credentials",
                "POST /api/v0/git/stale",
                # What a server of an agent writes is the agent's, as of any program.
                "POST /api/v0/mcp/call-tool",
                "POST /api/v0/mcp-approvals",
                "POST /api/v0/login",
                "POST /api/v0/login/codes",
                "POST /api/v0/login/tickets",
                "POST /logout",
            ),
            (False, {"json": {}}),
        ),
    }


def at_plane(chat: str) -> dict[str, tuple[bool, Request]]:
    """Return the same for the control plane; its tools are in `TOOLS`."""
    accepted = {
        "POST /api/v0/chats": {"title": "new"},
        "POST /api/v0/chats/{chat_id}/messages": {"message": "Remove what is not needed."},
        "POST /api/v0/chats/{chat_id}/answer": {"answer": "yes"},
        "PATCH /api/v0/chats/{chat_id}": {"title": "other"},
        "POST /api/v0/desktops": {"name": "new"},
        "POST /api/v0/tokens": {"scopes": [f"chat:{chat}"]},
        "POST /api/v0/login/codes": {},
        "POST /api/v0/login/tickets": {},
        "POST /api/v0/people": {"name": "Ada"},
        "PUT /api/v0/runs/{chat_id}/people/{person_id}": {},
        "PATCH /api/v0/people/{person_id}": {"role": "member"},
        "POST /api/v0/playbooks/{name}/runs": {},
    }
    unknown = (
        "DELETE /api/v0/playbooks/{name}",
        "POST /api/v0/chats/{chat_id}/interrupt",
        "POST /api/v0/chats/{chat_id}/archive",
        "POST /api/v0/chats/{chat_id}/unarchive",
        "POST /api/v0/chats/{chat_id}/run-again",
        "POST /api/v0/chats/{chat_id}/compact",
        "POST /api/v0/chats/{chat_id}/clear",
        "DELETE /api/v0/chats/{chat_id}",
        "POST /api/v0/stop-all",
        "DELETE /api/v0/files/{file_id}",
        "PUT /api/v0/files/{file_id}/pin",
        "DELETE /api/v0/files/{file_id}/pin",
        "DELETE /api/v0/desktops/{desktop_id}",
        "PUT /api/v0/runs/{chat_id}/pin",
        "DELETE /api/v0/runs/{chat_id}/pin",
        "DELETE /api/v0/recordings/{chat_id}",
        "DELETE /api/v0/secrets/{name}",
        "DELETE /api/v0/profiles/{name}",
        "DELETE /api/v0/tokens/{token_id}",
        "POST /api/v0/people/{person_id}/links",
        "DELETE /api/v0/people/{person_id}",
        "DELETE /api/v0/runs/{chat_id}/people/{person_id}",
        "POST /api/v0/desktops/{desktop_id}/desktop/tickets",
        "POST /api/v0/login",
        "POST /logout",
    )
    return {
        "PUT /api/v0/secrets/{name}": (True, {"json": SECRET}),
        "POST /api/v0/playbooks": (True, {"json": {"yaml": PLAYBOOK}}),
        **{route: (False, {"json": body}) for route, body in accepted.items()},
        **dict.fromkeys(unknown, (False, {})),
    }


def tools(home: str) -> dict[str, Json]:
    """Return the arguments of the tools that write content."""
    path = f"{home}/before"
    return {
        "write_file": {"path": f"{home}/after", "content": "text"},
        "edit_files": {"edits": [{"path": path, "old_text": "text", "new_text": "x"}]},
        "attach_file": {"path": path},
    }


def changing(found: Service) -> set[str]:
    """Return the routes of a service that change something, as it describes itself."""
    paths = found.get("/openapi.json")["paths"]
    reading = {"get", "head"}
    return {f"{m.upper()} {path}" for path, ms in paths.items() for m in ms.keys() - reading}


def status_of(found: Service, route: str, chat: str, **request: Any) -> tuple[int, str]:
    method, path = route.split()
    # A window has a number.
    filled_in = path.replace("{chat_id}", chat).replace("{window_id}", "7")
    for name in (
        "name",
        "wish",
        "token_id",
        "file_id",
        "desktop_id",
        "process_id",
        "call_id",
        "person_id",
    ):
        filled_in = filled_in.replace(f"{{{name}}}", "none")
    filled_in = filled_in.replace("{recording_id}", CHAT)
    answer = found.http.request(method, filled_in, timeout=60, **request)
    return answer.status_code, answer.text


def reserve_released(plane: Service, chat: str) -> bool:
    plane.post(f"/api/v0/chats/{chat}/messages", {"message": "x" * 100_000})
    return bool(plane.get("/api/v0/status")["disk"]["reserve"] == "released")


@contextmanager
def disk_of(mebibytes: int) -> Iterator[Path]:
    with short_folder() as parent:
        parent.chmod(0o711)
        with small_disk(parent / "disk", mebibytes) as disk:
            yield disk


@contextmanager
def almost_full(found: Service, path: str, disk: Path) -> Iterator[None]:
    """Leave 3 MiB of a disk."""
    usage = os.statvfs(disk)
    size = usage.f_bavail * usage.f_frsize - 3 * MIB
    with (disk / "filler").open("wb") as filler:
        os.posix_fallocate(filler.fileno(), 0, size)
    try:
        until(lambda: found.get(path)["disk"]["low"], "a disk that is low")
        yield
    finally:
        (disk / "filler").unlink()


@pytest.mark.slow("a desktop, and each of its routes")
def test_a_desktop_refuses_new_content_alone(tmp_path: Path) -> None:
    with disk_of(200) as disk, service(tmp_path / "x.log", "desktop", "--folder", f"{disk}/d") as d:
        home = output(d, "echo text > $HOME/before; echo $HOME")
        table = at_desktop(home)
        assert changing(d) == table.keys()
        with almost_full(d, "/api/v0/desktop", disk):
            for route, (refused, request) in table.items():
                status, text = status_of(d, route, CHAT, **request)
                assert (status == REFUSED) is refused, (route, status, text)
                assert status < 500 or refused, (route, status, text)
        assert output(d, "cat $HOME/before") == "text"
        assert not {"after", "copy"} & set(output(d, "ls $HOME").split())


@pytest.mark.slow("a control plane and a desktop")
def test_a_control_plane_refuses_new_content_and_at_last_new_chats(tmp_path: Path) -> None:
    with (
        disk_of(300) as disk,
        service(
            tmp_path / "x.log",
            *("up", "--data-dir", str(disk / "data"), "--listen", "127.0.0.1:0"),
            environment={"DESKHAND_EGRESS": "open", "DESKHAND_RUN_DIR": str(disk / "run")},
        ) as plane,
    ):
        until(lambda: plane.get("/api/v0/status")["disk"]["reserve"] == "held", "a reserve")
        chat = plane.post("/api/v0/chats", {"title": "x"})["id"]
        asking = {"Deskhand-Chat-Id": chat}

        def called(name: str, arguments: Json, call: str = "") -> tuple[int, Json]:
            path, headers = f"/api/v0/tools/{name}", {"Deskhand-Tool-Call-Id": call or str(uuid4())}
            answer = plane.http.post(
                path, json=arguments, headers={**asking, **headers}, timeout=60
            )
            return answer.status_code, answer.json()

        execute = {"command": "echo text > $HOME/before; echo $HOME"}
        home = called("execute", execute)[1]["result"]["output"].strip()
        table = at_plane(chat)
        assert changing(plane) - {"POST /api/v0/tools/{name}"} == table.keys()
        with almost_full(plane, "/api/v0/status", disk):
            for name, arguments in tools(home).items():
                for _ in range(2):
                    # A repeated call gets the answer of the first one.
                    status, answer = called(name, arguments, f"call-{name}")
                    assert (status, answer["is_error"]) == (REFUSED, True), answer
                    assert "almost full" in answer["detail"], answer
            status, answer = called("execute", {"command": "cat $HOME/before"})
            assert (status, answer["result"]["output"]) == (200, "text\n"), answer
            status, answer = called("spawn_agent", {"prompt": "x", "type": "general"})
            assert status == 200, answer
            for route, (refused, request) in table.items():
                status, text = status_of(plane, route, chat, **request)
                assert (status == REFUSED) is refused, (route, status, text)
                assert status < 500 or refused, (route, status, text)
            chat = plane.post("/api/v0/chats", {"title": "x"})["id"]
            with filled(disk):
                # A transaction that finds no room releases the reserve, which is for what runs.
                until(partial(reserve_released, plane, chat), "a reserve that is released")
                for route in ("POST /api/v0/chats", "PUT /api/v0/secrets/{name}"):
                    request = table[route][1]
                    status, text = status_of(plane, route, chat, **request)
                    assert (status, "almost full" in text) == (REFUSED, True), (route, text)
                asking["Deskhand-Chat-Id"] = chat
                status, answer = called("spawn_agent", {"prompt": "x", "type": "general"})
                assert status == REFUSED, answer
                route = "POST /api/v0/chats/{chat_id}/messages"
                status, text = status_of(plane, route, chat, json={"message": "y"})
                assert status == 200, text
            with filled(disk):
                # Not even what runs has room now; each route answers in order all the same.
                for route, (_, request) in table.items():
                    status, text = status_of(plane, route, chat, **request)
                    assert status in {REFUSED, 503} or status < 500, (route, status, text)
                status, text = status_of(plane, "POST /api/v0/desktops", chat, json={"name": "x"})
                assert (status, "No space left" in text) == (503, True), text
                assert plane.http.get("/healthz").status_code == 200
        until(
            lambda: status_of(plane, "PUT /api/v0/secrets/{name}", chat, json=SECRET)[0] == 200,
            "content that is accepted again",
        )
