"""Starts of chats: files in the working directory, relative paths, parent and child."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.system.services import PATIENCE, Service, service, until

Json = dict[str, Any]


def tool(plane: Service, chat: str, name: str, **arguments: Any) -> Json:
    answer = plane.http.post(
        f"/api/v0/tools/{name}",
        json=arguments,
        headers={"Deskhand-Chat-Id": chat},
        timeout=3 * PATIENCE,
    ).json()
    assert "result" in answer, answer
    found: Json = answer["result"]
    return found


def shared_work(plane: Service) -> None:
    files = [{"path": "in/list.csv", "content": "lamp,3\n"}]
    chat = plane.post("/api/v0/chats", {"title": "Start", "workdir": "job", "files": files})["id"]
    assert tool(plane, chat, "execute", command="cat in/list.csv")["output"] == "lamp,3\n"
    tool(plane, chat, "write_file", path="new/a.txt", content="of the parent")
    assert "of the parent" in tool(plane, chat, "read_file", path="new/a.txt")["content"]
    attached = tool(plane, chat, "attach_file", path="new/a.txt")
    spawn = {"prompt": "Ask me", "model": "scripted:ask", "files": [attached["file_id"]]}
    spawned = tool(plane, chat, "spawn_computer_use_agent", **spawn)
    child = spawned["chat_id"]
    waited = tool(plane, chat, "wait_agent", chat_id=child, timeout_seconds=PATIENCE)
    assert waited["status"] == "requires_action"
    views = [plane.get(f"/api/v0/chats/{one}") for one in (chat, child)]
    assert views[0]["desktop_id"] != views[1]["desktop_id"]
    # The file of the spawn was there before the child asked.
    assert tool(plane, child, "execute", command="cat a.txt")["output"] == "of the parent"
    edit = {"path": "new/a.txt", "old_text": "parent", "new_text": "child"}
    tool(plane, child, "edit_files", edits=[edit])
    tool(plane, child, "write_file", path="new/b.txt", content="b")
    tool(plane, child, "execute", command="rm in/list.csv")
    listed = tool(plane, chat, "execute", command="cat new/a.txt new/b.txt; ls in")["output"]
    assert listed == "of the childb"
    foreign = plane.post("/api/v0/chats", {"title": "Foreign"})["id"]
    seen = tool(plane, foreign, "execute", command="ls -A; ls ..; true")["output"]
    assert "a.txt" not in seen
    assert "job" not in seen
    for one in (chat, foreign):
        assert plane.http.delete(f"/api/v0/chats/{one}").status_code == 204


@pytest.mark.soak
def test_parent_and_child_share_files_between_users(plane: Service) -> None:
    shared_work(plane)


@pytest.mark.soak
def test_bad_starts_are_refused(plane: Service) -> None:
    for body, text in (
        ({"workdir": "/etc"}, "must be a relative path"),
        ({"workdir": "a/../.."}, "must be a relative path"),
        ({"files": ["nothing"]}, "no stored file has the id nothing"),
        ({"files": [{"path": "/etc/x", "content": ""}]}, "must be a relative path"),
    ):
        answer = plane.http.post("/api/v0/chats", json={"title": "Bad", **body})
        assert answer.status_code == 400, answer.text
        assert text in answer.text


@pytest.mark.soak
def test_a_desktop_reads_the_context_with_the_agents_rights(desktop: Service) -> None:
    config = "/api/v0/context-config"
    work = desktop.get(config)["working_dir"]
    skill = b"---\nname: forms\ndescription: Fill forms.\n---\nDo it."
    files = {
        "AGENTS.md": b"Be brief.<!-- hidden -->",
        ".agents/skills/forms/SKILL.md": skill,
        ".agents/skills/other/SKILL.md": b"no front matter",
    }
    try:
        for path, content in files.items():
            answer = desktop.http.post(
                "/api/v0/write-file",
                params={"path": f"{work}/{path}"},
                content=content,
                headers={"content-type": "application/octet-stream"},
            )
            assert answer.is_success, answer.text
        # The agent cannot make the service read a file that it may not read itself.
        ran(desktop, "mkdir sub && ln -s /etc/shadow sub/AGENTS.md")
        parts = desktop.get(config)["parts"]
        assert [part.get("content") or part["name"] for part in parts] == ["Be brief.", "forms"]
        below = desktop.http.get(config, params={"workdir": "sub"}).json()
        assert (below["working_dir"], below["parts"]) == (f"{work}/sub", [])
    finally:
        ran(desktop, "rm -rf sub AGENTS.md .agents")


def ran(desktop: Service, command: str) -> None:
    """Run a command to its end."""
    started = desktop.post("/api/v0/processes/start", {"command": command})
    ended = desktop.get(f"/api/v0/processes/{started['id']}/output?wait=true")
    assert ended["exit_code"] == 0, ended


@pytest.mark.soak
def test_a_command_reports_its_status(plane: Service) -> None:
    chat = plane.post("/api/v0/chats", {"title": "Status"})["id"]
    events = plane.http.stream("GET", f"/api/v0/chats/{chat}/events", timeout=3 * PATIENCE)
    with events as stream:
        lines = stream.iter_lines()
        # The first line arrives when the subscription is open.
        next(lines)
        ran = tool(plane, chat, "execute", command="deskhand status 'Reading <!-- x --> 3 of 4'")
        assert ran["exit_code"] == 0, ran
        assert any('"text":"Reading 3 of 4"' in line.replace(": ", ":") for line in lines)
    assert plane.get(f"/api/v0/chats/{chat}")["status_message"]["text"] == "Reading 3 of 4"
    # One more is accepted each second, so that a slow machine must send more of them.
    burst = "for n in $(seq 60); do deskhand status $n 2>&1 | grep 'too many' && break; done"
    assert "too many" in tool(plane, chat, "execute", command=burst)["output"]
    other = tool(plane, chat, "execute", command="deskhand up")
    assert other["exit_code"] != 0
    assert plane.http.delete(f"/api/v0/chats/{chat}").status_code == 204


TEMPLATES = {
    "shell": "applications: [terminal]",
    "small": """
size: 1024x768
applications: [terminal]
files: {notes.txt: Begin here.}
environment: {GREETING: hello}
limits: {processes: 321}
""",
}


@pytest.fixture(scope="module")
def with_templates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A control plane with templates of its owner."""
    folder = tmp_path_factory.mktemp("plane")
    data = folder / "data"
    (data / "templates").mkdir(parents=True)
    for name, recipe in TEMPLATES.items():
        (data / "templates" / f"{name}.yaml").write_text(recipe)
    arguments = ("up", "--data-dir", str(data), "--listen", "127.0.0.1:0")
    with service(folder / "errors.log", *arguments) as plane:
        yield plane


@pytest.mark.soak
def test_a_desktop_is_started_with_a_template(with_templates: Service) -> None:
    plane = with_templates
    listed = plane.tool("list_desktop_templates")
    assert [one["name"] for one in listed["templates"]] == ["shell", "small"]
    desktop = plane.post("/api/v0/desktops", {"template": "small"})["id"]
    status = plane.get(f"/api/v0/desktops/{desktop}/desktop")
    assert (status["size"]["width"], status["size"]["height"]) == (1024, 768)
    assert status["limits"] is None or status["limits"]["processes"] == 321
    assert plane.http.delete(f"/api/v0/desktops/{desktop}").status_code == 204
    chat = plane.post("/api/v0/chats", {"title": "T", "template": "small"})["id"]
    seen = tool(plane, chat, "execute", command="echo $GREETING; cat notes.txt")["output"]
    assert seen == "hello\nBegin here."
    refused = plane.http.post("/api/v0/desktops", json={"template": "other"})
    assert "there are shell, small" in refused.text


@pytest.mark.soak
def test_a_display_that_starts_later_shows_the_applications_of_the_template(
    with_templates: Service,
) -> None:
    plane = with_templates
    chat = plane.post("/api/v0/chats", {"title": "T", "template": "shell"})["id"]
    tool(plane, chat, "execute", command="true")
    desktop = plane.get(f"/api/v0/chats/{chat}")["desktop_id"]
    assert not plane.get(f"/api/v0/desktops/{desktop}")["has_display"]
    shown = f"/api/v0/desktops/{desktop}/desktop"
    assert plane.http.get(f"{shown}/screenshot", timeout=PATIENCE).status_code == 200
    until(lambda: plane.get(f"{shown}/windows")["windows"], "the window of the terminal")
