"""The control plane's HTTP API, as any program calls it."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.system.services import Service

pytestmark = pytest.mark.x11


def curl(plane: Service, path: str, body: object) -> dict[str, object]:
    """Plain curl with a token and nothing else."""
    command = [
        *("curl", "-s", "-H", f"Authorization: Bearer {plane.token}"),
        *("-H", "Content-Type: application/json", "-d", json.dumps(body), plane.url + path),
    ]
    found: dict[str, object] = json.loads(
        subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    )
    return found


@pytest.mark.slow("a whole run")
def test_spawn_then_wait_works_with_plain_curl_and_no_chat_header(plane: Service) -> None:
    spawned = curl(plane, "/api/v0/tools/spawn_computer_use_agent", {"prompt": "show the date"})
    assert isinstance(spawned["result"], dict), spawned
    child = spawned["result"]["chat_id"]
    assert spawned["caller_chat_id"] != child
    # A wait that takes too long is a state, and the child goes on.
    early = plane.tool("wait_agent", chat_id=child, timeout_seconds=1)
    assert (early["timed_out"], early["chat_id"]) == (True, child)
    waited = curl(plane, "/api/v0/tools/wait_agent", {"chat_id": child, "timeout_seconds": 90})
    assert isinstance(waited["result"], dict), waited
    assert waited["caller_chat_id"] == spawned["caller_chat_id"]
    assert waited["result"]["chat_id"] == child
    assert waited["result"]["outcome"] == "done"
    assert waited["result"]["recording_status"] == "stored"
    video = plane.http.get(f"/api/v0/files/{waited['result']['recording_file_id']}")
    assert video.content[4:8] == b"ftyp"
    picture = plane.http.get(f"/api/v0/files/{waited['result']['thumbnail_file_id']}")
    assert picture.content.startswith(b"\xff\xd8")
    again = plane.tool("wait_agent", chat_id=child, timeout_seconds=1)
    assert again["recording_file_id"] == waited["result"]["recording_file_id"]


@pytest.mark.slow("two whole runs")
def test_each_child_has_a_desktop_of_its_own(plane: Service) -> None:
    children = [
        plane.tool("spawn_computer_use_agent", prompt=f"show {number}")["chat_id"]
        for number in (1, 2)
    ]
    both = plane.tool("wait_agent", chat_ids=children, mode="all", timeout_seconds=120)
    assert {result["chat_id"] for result in both["results"]} == set(children)
    desktops = {plane.get(f"/api/v0/chats/{child}")["desktop_id"] for child in children}
    assert len(desktops) == 2


def test_machine_tools_work_for_a_caller_without_a_desktop(plane: Service) -> None:
    ran = plane.tool("execute", command="echo hello > note; cat note; pwd")
    assert ran["success"] is True
    assert ran["output"].startswith("hello\n")
    folder = ran["output"].splitlines()[1]
    written = plane.tool("write_file", path=f"{folder}/poem", content="roses\nare red\n")
    assert written
    plane.tool(
        "edit_files",
        edits=[{"path": f"{folder}/poem", "old_text": "red", "new_text": "blue"}],
    )
    assert "are blue" in plane.tool("read_file", path=f"{folder}/poem")["content"]


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("spawn_computer_use_agent", {"prompt": " "}, "prompt is required"),
        ("spawn_computer_use_agent", {}, "prompt is required"),
        ("wait_agent", {"chat_id": "x"}, "chat_id must be a valid UUID"),
        (
            "wait_agent",
            {"chat_id": "0b0f3f4e-2f43-4f0b-9d0a-0c6d5a4b3c2d"},
            "target chat is not a subagent of the current chat",
        ),
        ("execute", {"command": ""}, "command is required"),
    ],
)
def test_a_bad_tool_call_is_refused_with_the_reason(
    plane: Service, tool: str, arguments: dict[str, object], message: str
) -> None:
    before = plane.get("/api/v0/desktops")
    answer = plane.post(f"/api/v0/tools/{tool}", arguments)
    assert answer["is_error"] is True
    assert message in answer["error"]
    assert plane.get("/api/v0/desktops") == before


def test_requests_that_make_no_sense_get_a_proper_status(plane: Service) -> None:
    assert plane.post("/api/v0/tools/fly", {}, 404)["message"] == "Unknown tool: fly."
    assert plane.http.get("/api/v0/chats/nothing").status_code in (400, 404)
    assert plane.http.get("/api/v0/desktops/nothing/desktop").status_code == 404
    assert plane.http.get("/api/v0/files/nothing").status_code in (400, 404)
    bad = plane.http.post(
        "/api/v0/tools/execute", content=b"{", headers={"Content-Type": "application/json"}
    )
    assert bad.status_code == 400
    assert plane.http.get("/api/v0/chats", headers={"Authorization": "Bearer x"}).status_code == 401
    assert plane.http.get("/api/v0/chats", headers={"Host": "evil.example"}).status_code == 421


def test_an_agents_html_file_is_never_shown_as_a_page(plane: Service) -> None:
    made = plane.post("/api/v0/desktops", {})
    base = f"/api/v0/desktops/{made['id']}"
    page, path = b"<script>alert(1)</script>", f"/tmp/{made['id']}.html"
    plane.http.post(
        f"{base}/write-file",
        params={"path": path},
        content=page,
        headers={"Content-Type": "application/octet-stream"},
    )
    answer = plane.http.get(f"{base}/read-file", params={"path": path})
    assert answer.status_code == 200
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]
    assert answer.headers["content-disposition"].startswith("attachment")


def test_a_person_answers_what_an_agent_asks_and_gets_its_file(plane: Service) -> None:
    child = plane.tool("spawn_computer_use_agent", prompt="Ask me", model="scripted:ask")
    chat_id = child["chat_id"]
    waited = plane.tool("wait_agent", chat_id=chat_id, timeout_seconds=60)
    assert waited["status"] == "requires_action"
    assert "What may I tell" in waited["requires_action"]["question"]
    plane.post(f"/api/v0/chats/{chat_id}/answer", {"answer": "All is well."})
    ended = plane.tool("wait_agent", chat_id=chat_id, timeout_seconds=60)
    assert ended["report"] == "A person answered: All is well."
    assert ended["recording_status"] == "stored"
    plane.post(f"/api/v0/chats/{chat_id}/answer", {"answer": "Again"}, status=409)


def test_an_agent_without_a_screen_works_and_its_files_are_passed_on(plane: Service) -> None:
    child = plane.tool("spawn_agent", type="explore", prompt="Which kernel?")
    ended = plane.tool("wait_agent", chat_id=child["chat_id"], timeout_seconds=60)
    assert ended["outcome"] == "done"
    assert "Linux" in ended["report"]
    handed = plane.tool("attach_file", path="/etc/os-release")
    answer = plane.http.get(f"/api/v0/files/{handed['file_id']}")
    assert answer.content == Path("/etc/os-release").read_bytes()
    assert answer.headers["content-disposition"].startswith("attachment")
    assert set(plane.post("/api/v0/stop-all", {})) == {"stopped"}
