"""`deskhand run` on a control plane with canned answers."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deskhand.tools.cli import run_line
from deskhand.tools.commands.http import PlaneConnection
from deskhand.tools.commands.runs.follow import follow, uninterrupted
from deskhand.tools.commands.runs.progress import PlainProgress
from tests.tools.commands.fake_plane import Answer, FakePlane, fake_plane

ID = "0b8b6f3c-9d0a-4b62-8c63-5c1f6c0e7d11"
RESULT = {"chat_id": ID, "outcome": "done", "report": "Two\nlines", "steps": 1}
STEP = {"index": 0, "title": "Click", "started_at": 1.0, "ended_at": 1.2, "error": None}
CHAT = {"id": ID, "state": "waiting", "steps": [STEP], "report": "Two\nlines"}
SPAWN = "/api/v0/tools/spawn_computer_use_agent"


@pytest.fixture
def plane(tmp_path: Path) -> Iterator[FakePlane]:
    with fake_plane(tmp_path) as found:
        found.answer("POST", "/api/v0/login/codes", {"code": "once"})
        found.answer("GET", "/api/v0/status", {"model": "claude"})
        found.answer("GET", "/api/v0/desktops", {"desktops": [{"id": "d1"}]})
        found.answer("POST", SPAWN, {"result": {"chat_id": ID}})
        found.answer("POST", "/api/v0/tools/wait_agent", {"result": RESULT})
        found.answer("GET", f"/api/v0/chats/{ID}", CHAT)
        # The stream ends at once: the result does not depend on it.
        events = Answer(b"data: {}\n\n", kind="text/event-stream")
        found.answers["GET", f"/api/v0/chats/{ID}/events"] = events
        yield found


def spawned(plane: FakePlane) -> Any:
    (body,) = (body for path, body in plane.sent("POST") if path == SPAWN)
    return body


def test_the_options_reach_the_agent(plane: FakePlane, tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "notes.txt").write_text("ä")
    arguments = ["--budget-steps", "7", "--budget-minutes", "1.5", "--title", "short"]
    arguments += ["--file", str(tmp_path / "notes.txt"), "--desktop", "d1", "--model", "m"]
    assert run_line(["run", "a task", *arguments, *plane.options]) == 0
    assert spawned(plane) == {
        "prompt": "a task",
        "model": "m",
        "desktop": "d1",
        "title": "short",
        "budget": {"steps": 7, "minutes": 1.5},
        "files": [{"path": "notes.txt", "content": "ä"}],
    }
    shown = capsys.readouterr().out
    assert f"Run:  {plane.url}/login?next=/runs/{ID}#code=once\n" in shown
    assert "Report: Two\nlines\nOutcome: done after 1 steps\n" in shown


def test_a_detached_run_is_left_working(plane: FakePlane, capsys: Any) -> None:
    assert run_line(["run", "a task", "--model", "m", "--detach", *plane.options]) == 0
    shown = capsys.readouterr().out
    assert f"deskhand runs logs -f {ID}" in shown
    assert f"deskhand runs stop {ID}" in shown
    assert not any("interrupt" in path or "wait" in path for path, _ in plane.sent("POST"))


def test_without_a_control_plane_nothing_is_detached(tmp_path: Path, capsys: Any) -> None:
    assert run_line(["run", "a task", "--detach", "--data-dir", str(tmp_path)]) == 4
    assert "deskhand up" in capsys.readouterr().err


def test_lines_of_json_are_the_steps_and_the_result(plane: FakePlane, capsys: Any) -> None:
    assert run_line(["run", "a task", "--model", "m", "--jsonl", *plane.options]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[-1] == {"kind": "result", **RESULT}
    assert all(line["kind"] in ("step", "result") for line in lines)


def test_what_came_of_the_run_is_saved(plane: FakePlane, tmp_path: Path, capsys: Any) -> None:
    video = {"file_id": "f1", "media_type": "video/mp4"}
    found = {"chat": {**CHAT, "thumbnail_file_id": "f2"}, "recordings": [video]}
    plane.answer("GET", f"/api/v0/runs/{ID}", found)
    plane.answers["GET", "/api/v0/files/f1"] = Answer(b"video", kind="video/mp4")
    plane.answers["GET", "/api/v0/files/f2"] = Answer(b"picture", kind="image/jpeg")
    to = tmp_path / "new" / "folder"
    assert (
        run_line(["run", "a", "--model", "m", "--output", str(to), "--json", *plane.options]) == 0
    )
    assert json.loads(capsys.readouterr().out) == RESULT
    assert json.loads((to / "result.json").read_text()) == RESULT
    assert json.loads((to / "steps.jsonl").read_text()) == STEP
    assert (to / "report.md").read_text() == "Two\nlines\n"
    assert (to / "run.mp4").read_bytes() == b"video"
    assert (to / "thumbnail.jpg").read_bytes() == b"picture"


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (["--desktop", "d9"], 4, "there is no desktop d9; there are d1"),
        (["--file", "/nowhere/a"], 2, "/nowhere/a: No such file"),
        (["--file", "/dev/null", "--budget-steps", "0"], 2, "budget-steps"),
        (["--detach", "--output", "x"], 2, "--output"),
    ],
)
def test_wrong_options_are_one_line(
    plane: FakePlane, arguments: list[str], status: int, text: str, capsys: Any
) -> None:
    assert run_line(["run", "a", "--model", "m", *arguments, *plane.options]) == status
    (error,) = capsys.readouterr().err.splitlines()
    assert text in error
    assert not [path for path, _ in plane.sent("POST") if path == SPAWN]


def test_a_binary_file_is_refused(plane: FakePlane, tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "picture").write_bytes(b"\xff\xfe\x00")
    assert run_line(["run", "a", "--file", str(tmp_path / "picture"), *plane.options]) == 2
    assert "is no text" in capsys.readouterr().err


class RecordingClient:
    """A client that records what is asked; one path is never answered."""

    def __init__(self, unanswered: str = "") -> None:
        self.asked: list[tuple[str, str]] = []
        self.waits = asyncio.Event()
        self._unanswered = unanswered

    async def request(self, method: str, path: str, **_: Any) -> None:
        self.asked.append((method, path))
        if path == self._unanswered:
            self.waits.set()
            await asyncio.Event().wait()


def test_an_agent_that_starts_during_ctrl_c_is_stopped(capsys: Any) -> None:
    client: Any = RecordingClient()

    async def interrupted() -> None:
        asked, answered = asyncio.Event(), asyncio.Event()

        async def spawning() -> dict[str, Any]:
            asked.set()
            await answered.wait()
            return {"result": {"chat_id": "c1"}}

        plane = PlaneConnection(client, "http://a")
        waiting = asyncio.create_task(uninterrupted(plane, spawning()))
        await asked.wait()
        waiting.cancel()
        answered.set()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(interrupted())
    assert client.asked == [("POST", "/api/v0/chats/c1/interrupt")]
    assert "the agent was stopped" in capsys.readouterr().err


def test_an_agent_whose_link_is_not_printed_yet_is_stopped_by_ctrl_c(capsys: Any) -> None:
    client: Any = RecordingClient("/api/v0/login/codes")

    async def interrupted() -> None:
        plane = PlaneConnection(client, "http://a")
        following = asyncio.create_task(follow(plane, "c1", 60.0, PlainProgress("text")))
        await client.waits.wait()
        following.cancel()
        with pytest.raises(asyncio.CancelledError):
            await following

    asyncio.run(interrupted())
    assert client.asked[-1] == ("POST", "/api/v0/chats/c1/interrupt")
    assert "the agent was stopped" in capsys.readouterr().err
