"""An agent whose desktop is killed: its recording, its work and its X server's files."""

import copy
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import av
import httpx2
import numpy as np
import pytest

from tests.system.gated_model import (
    COLOURS,
    GatedModel,
    gated_model,
    painted_report,
    painting,
    plane_of,
)
from tests.system.services import PATIENCE, Json, Service, service_pid, until

pytestmark = pytest.mark.x11

LAST = "#d0d040"
EIGHT = [painting(colour) for colour in COLOURS]
THREE = [EIGHT[0], EIGHT[1], EIGHT[-1]]
WAIT = 60.0
DAY = 24 * 3600.0


class Agent:
    """An agent at work on a desktop of its own."""

    def __init__(self, plane: Service) -> None:
        self.id: str = plane.tool("spawn_computer_use_agent", prompt="Paint.")["chat_id"]
        self.desktop = ""
        self.keeper = 0

    def locate(self, plane: Service) -> None:
        """Note which desktop the agent works on."""
        self.desktop = plane.get(f"/api/v0/chats/{self.id}")["desktop_id"]
        listed = plane.get("/api/v0/desktops")["desktops"]
        self.keeper = next(d["pid"] for d in listed if d["id"] == self.desktop)

    @property
    def folder(self) -> Path:
        return Path(os.environ["DESKHAND_RUN_DIR"]) / self.desktop

    @property
    def service_pid(self) -> int:
        return service_pid(self.keeper)

    def wait_until_written(self) -> None:
        """Return when the recorder has written the last picture of a screen at rest."""
        (video,) = (self.folder / "recordings" / self.id).glob("*.mp4")
        grown, size = time.monotonic(), -1

        def at_rest() -> bool:
            nonlocal grown, size
            if video.stat().st_size != size:
                grown, size = time.monotonic(), video.stat().st_size
            return time.monotonic() > grown + 2.0

        until(at_rest, "the end of the recorder's writing")

    def kill(self) -> None:
        """Kill the desktop service and wait for the end of its keeper."""
        os.kill(self.service_pid, signal.SIGKILL)
        self.wait_dead()

    def wait_dead(self) -> None:
        until(lambda: not alive(self.keeper), "the keeper's end")

    def wait(self, plane: Service) -> Json:
        """Wait for the agent as its parent does."""
        return plane.tool("wait_agent", chat_id=self.id, timeout_seconds=WAIT)


def waiting_agent(plane: Service, model: GatedModel, gate: int) -> Agent:
    """Start an agent; return it when its model waits at a gate and its last picture is recorded."""
    agent = Agent(plane)
    model.gates[gate].wait()
    agent.locate(plane)
    # Before the first gate there was nothing to record.
    if gate > 0:
        agent.wait_until_written()
    return agent


@dataclass(frozen=True)
class World:
    """A control plane whose desktops are killed, and the model of its agents."""

    folder: Path
    model: GatedModel
    plane: Service

    @contextmanager
    def agent_at_gate(
        self, steps: Sequence[Json], *gates: int
    ) -> Iterator[tuple[GatedModel, Service, Agent]]:
        """An agent whose model waits at the first gate, and whose last picture is recorded."""
        self.model.play(steps, *gates)
        agent = waiting_agent(self.plane, self.model, gates[0])
        yield self.model, self.plane, agent
        listed = {one["id"] for one in self.plane.get("/api/v0/desktops")["desktops"]}
        # That of the agent is lost, and another one may have followed it.
        for left in listed - {agent.desktop}:
            assert self.plane.http.delete(f"/api/v0/desktops/{left}").is_success

    def entries(self, agent: Agent) -> list[str]:
        return [name for name in entries(self.folder) if name.startswith(agent.desktop)]

    def rows(self, agent: Agent) -> list[tuple[str, str]]:
        return [row for row in rows(self.folder) if row[0] == agent.desktop]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("world")
    with gated_model([painted_report()]) as model, plane_of(folder, model, "first") as plane:
        yield World(folder, model, plane)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def colour_of(text: str) -> tuple[int, ...]:
    return tuple(int(text[at : at + 2], 16) for at in (1, 3, 5))


def pictures(plane: Service, file_id: str) -> list[tuple[int, ...]]:
    """Decode every frame of a stored video; return the colour of each one's middle."""
    answer = plane.http.get(f"/api/v0/files/{file_id}")
    assert answer.is_success, answer.text
    with av.open(io.BytesIO(answer.content), "r") as video:
        frames = [frame.to_ndarray(format="rgb24") for frame in video.decode(video=0)]
    assert frames
    return [tuple(int(value) for value in np.median(f[300:420, 400:600], (0, 1))) for f in frames]


def shows(frames: list[tuple[int, ...]], colour: str) -> bool:
    wanted = colour_of(colour)
    return any(max(abs(a - b) for a, b in zip(f, wanted, strict=True)) < 24 for f in frames)


def check_stored(plane: Service, agent: Agent, done: Json, *colours: str) -> None:
    """Check that the recording is stored once, plays, and left nothing behind."""
    assert not done.get("timed_out"), done
    assert done["recording_status"] == "stored", done
    assert (done["end_reason"], done["complete"]) == ("service_lost", False), done
    assert "recording_warning" not in done, done
    file_ids = done["recording_file_ids"]
    assert [part["file_id"] for part in done["parts"]] == file_ids
    frames = [frame for file_id in file_ids for frame in pictures(plane, file_id)]
    for colour in colours:
        assert shows(frames, colour), (colour, sorted(set(frames)))
    check_stored_once(plane, agent, file_ids)


def check_stored_once(plane: Service, agent: Agent, file_ids: list[str]) -> None:
    listed = plane.get(f"/api/v0/chats/{agent.id}")["files"]
    assert [f["id"] for f in listed if f["kind"] == "recording"] == file_ids
    assert len([f for f in listed if f["kind"] == "thumbnail"]) <= len(file_ids)
    try:
        until(lambda: not agent.folder.exists(), "the removal of the desktop's folder")
    except AssertionError as error:
        left = sorted(str(path) for path in agent.folder.rglob("*"))[:20]
        raise AssertionError(f"{error}: {left}, {plane.errors.read_text()[-3000:]}") from error


def entries(folder: Path) -> list[str]:
    return [path.name for path in (folder / "data" / "run" / "desktops").iterdir()]


def rows(folder: Path) -> list[tuple[str, str]]:
    """Return desktop and state of each recording of a lost desktop."""
    with sqlite3.connect(folder / "data" / "deskhand.db") as database:
        return list(database.execute("SELECT desktop_id, state FROM left_recordings"))


@pytest.mark.soak
@pytest.mark.slow("an agent with eight steps whose desktop is killed")
def test_a_recording_survives_its_desktop(world: World) -> None:
    with world.agent_at_gate([*EIGHT, painted_report()], 8) as (model, plane, agent):
        agent.kill()
        model.gates[8].open()
        done = agent.wait(plane)
        assert done["report"] == "Painted."
        check_stored(plane, agent, done, COLOURS[0], COLOURS[-1])
        until(lambda: world.rows(agent) == [(agent.desktop, "removed")], "its removal")
        until(lambda: not world.entries(agent), "the end of its entry")


@pytest.mark.soak
@pytest.mark.slow("an agent on two desktops")
def test_an_agent_goes_on_with_a_new_desktop_and_the_parts_are_in_order(world: World) -> None:
    # The first call after the loss is not run: it was planned for the lost screen.
    steps = [*THREE, painting(LAST), painting(LAST), painted_report()]
    with world.agent_at_gate(steps, 3, 5) as (model, plane, agent):
        agent.kill()
        model.gates[3].open()
        model.gates[5].wait()
        second = plane.get(f"/api/v0/chats/{agent.id}")["desktop_id"]
        assert second != agent.desktop
        on(agent, second).wait_until_written()
        model.gates[5].open()
        done = agent.wait(plane)
        check_stored(plane, agent, done, COLOURS[0], COLOURS[-1], LAST)
        assert [part["end_reason"] for part in done["parts"]] == ["service_lost", "completed"]
        assert done["parts"][1]["video_start"] > 0
        first = pictures(plane, done["recording_file_ids"][0])
        assert shows(first, COLOURS[-1])
        assert not shows(first, LAST)
        lost = [step for step in plane.get(f"/api/v0/chats/{agent.id}")["steps"] if step["error"]]
        assert "The desktop was lost" in lost[0]["error"]
        assert "directories are gone" in lost[0]["error"]


@pytest.mark.soak
@pytest.mark.slow("an agent on two desktops")
def test_an_agent_whose_desktop_dies_in_its_first_step_goes_on(world: World) -> None:
    steps = [painting(LAST), painting(LAST), painted_report()]
    with world.agent_at_gate(steps, 0, 2) as (model, plane, agent):
        # The keeper may still run when the first call comes.
        os.kill(agent.service_pid, signal.SIGKILL)
        model.gates[0].open()
        model.gates[2].wait()
        second = plane.get(f"/api/v0/chats/{agent.id}")["desktop_id"]
        assert second != agent.desktop
        on(agent, second).wait_until_written()
        model.gates[2].open()
        done = agent.wait(plane)
        assert (done["status"], done["report"]) == ("waiting", "Painted."), done
        assert "last_error" not in done, done
        assert done["recording_status"] == "stored", done
        frames = pictures(plane, done["recording_file_ids"][-1])
        assert shows(frames, LAST)


@pytest.mark.soak
@pytest.mark.slow("an agent whose desktop is killed")
def test_the_event_stream_reports_a_recording_that_is_stored_late(world: World) -> None:
    with world.agent_at_gate([*THREE, painted_report()], 3) as (model, plane, agent):
        with plane.http.stream("GET", f"/api/v0/chats/{agent.id}/events") as stream:
            agent.kill()
            # The agent waits for its model: nothing but the recovery changes the chat.
            stored = stored_files(stream)
        assert len(stored) == 1
        assert shows(pictures(plane, stored[0]), COLOURS[-1])
        model.gates[3].open()
        done = agent.wait(plane)
        assert done["recording_file_ids"] == stored
        check_stored(plane, agent, done, COLOURS[0])


def interrupt(plane: Service, agent: Agent, model: GatedModel) -> None:
    plane.post(f"/api/v0/chats/{agent.id}/interrupt", {})


def answer(plane: Service, agent: Agent, model: GatedModel) -> None:
    chat = f"/api/v0/chats/{agent.id}"
    assert plane.get(chat)["waiting_for"]["kind"] == "question"
    plane.post(f"{chat}/answer", {"answer": "The blue one."})


def release(plane: Service, agent: Agent, model: GatedModel) -> None:
    model.gates[3].open()


QUESTION: Json = {"calls": [{"request_human": {"reason": "Which colour?"}}]}


@pytest.mark.soak
@pytest.mark.slow("an agent whose desktop is killed")
@pytest.mark.parametrize(
    ("fourth", "report", "go_on"),
    [
        pytest.param(painted_report(), "Painted.", release, id="model"),
        pytest.param(QUESTION, "Painted.", answer, id="question", marks=pytest.mark.full),
        pytest.param(painted_report(), "", interrupt, id="interruption", marks=pytest.mark.full),
    ],
)
def test_all_events_report_a_recording_that_is_stored_late(
    world: World,
    fourth: Json,
    report: str,
    go_on: Callable[[Service, Agent, GatedModel], None],
) -> None:
    # A question has no gate: its step is reported when it waits.
    gates = (3,) if fourth is not QUESTION else (2,)
    steps = [*THREE, fourth, painted_report()]
    with world.agent_at_gate(steps, *gates) as (model, plane, agent):
        if fourth is QUESTION:
            model.gates[2].open()
            chat = f"/api/v0/chats/{agent.id}"
            until(lambda: plane.get(chat)["waiting_for"], "the question")
            agent.wait_until_written()
        with plane.http.stream("GET", "/api/v0/events") as stream:
            agent.kill()
            stored = stored_files(stream, agent.id)
        go_on(plane, agent, model)
        done = agent.wait(plane)
        assert done["recording_file_ids"] == stored, done
        assert done["report"] == report, done
        check_stored(plane, agent, done, COLOURS[0], COLOURS[-1])
        assert world.rows(agent) == [(agent.desktop, "removed")]


def stored_files(stream: httpx2.Response, chat: str = "") -> list[str]:
    """Return the files of the first event, of a chat, that names files of a recording."""
    deadline = time.monotonic() + WAIT
    for line in stream.iter_lines():
        assert time.monotonic() < deadline, "no event of a stored recording"
        if line.startswith("data: "):
            event = json.loads(line.removeprefix("data: "))
            found: list[str] = event.get("data", event).get("recording_file_ids") or []
            if found and chat in line:
                return found
    raise AssertionError("the stream ended")


@pytest.mark.soak
@pytest.mark.slow("two control planes, one after the other")
@pytest.mark.parametrize(
    "at_once",
    [
        pytest.param(True, id="both at once", marks=pytest.mark.full),
        pytest.param(False, id="while none runs"),
    ],
)
def test_a_new_control_plane_stores_what_a_dead_desktop_left(tmp_path: Path, at_once: bool) -> None:
    with gated_model([*THREE, painted_report()], 3) as model:
        agent = abandoned(tmp_path, model, at_once=at_once)
        model.gates[3].open()
        with plane_of(tmp_path, model, "second") as plane:
            done = agent.wait(plane)
            assert done["report"] == "Painted."
            check_stored(plane, agent, done, COLOURS[0], COLOURS[-1])
            assert rows(tmp_path) == [(agent.desktop, "removed")]


KILLS = [
    (when, action)
    for action in ("copy", "verify", "store", "remove")
    for when in ("before", "during", "after")
    if (when, action) != ("during", "remove")
]
TWO_KILLS = [("during", "copy"), ("after", "store")]


@pytest.mark.soak
@pytest.mark.slow("several control planes, one after the other")
@pytest.mark.parametrize(
    "kills",
    [
        pytest.param(TWO_KILLS, id="two moments"),
        pytest.param(KILLS, id="all moments", marks=pytest.mark.full),
    ],
)
def test_a_recording_is_stored_once_whenever_the_control_plane_is_killed(
    tmp_path: Path, kills: Sequence[tuple[str, str]]
) -> None:
    with gated_model([*THREE, painted_report()], 3) as model:
        agent = abandoned(tmp_path, model, at_once=True)
        end_turn(tmp_path, agent)
        for when, action in kills:
            killed_plane(tmp_path, model, when, action)
        with plane_of(tmp_path, model, "last") as plane:
            chat = f"/api/v0/chats/{agent.id}"
            until(lambda: plane.get(chat)["recording_status"] == "stored", "the recording")
            done = plane.tool("wait_agent", chat_id=agent.id, timeout_seconds=WAIT)
            check_stored(plane, agent, done, COLOURS[0], COLOURS[-1])
            # The plane before was killed between the removal and its row, and no turn waits here.
            until(lambda: rows(tmp_path) == [(agent.desktop, "removed")], "its removal")


@pytest.mark.soak
@pytest.mark.slow("three control planes, one after the other")
def test_a_recording_of_a_deleted_chat_is_removed_after_a_day(tmp_path: Path) -> None:
    with gated_model([*THREE, painted_report()], 3) as model:
        agent = abandoned(tmp_path, model, at_once=True)
        change(tmp_path, "DELETE FROM chats WHERE id = ?", agent.id)
        with plane_of(tmp_path, model, "second"):
            until(lambda: rows(tmp_path) == [(agent.desktop, "left")], "the recording's row")
        assert agent.folder.exists()
        change(tmp_path, "UPDATE left_recordings SET found_at = found_at - ?", DAY)
        with plane_of(tmp_path, model, "third"):
            until(lambda: rows(tmp_path) == [(agent.desktop, "removed")], "its removal")
            # The entry goes after the row: a control plane that ends between removes it later.
            until(lambda: not entries(tmp_path), "the end of its entry")
        assert not agent.folder.exists()


def abandoned(folder: Path, model: GatedModel, *, at_once: bool) -> Agent:
    """Return an agent after its third step, whose control plane and desktop were killed."""
    with plane_of(folder, model, "first") as plane:
        agent = waiting_agent(plane, model, 3)
        served = agent.service_pid
        plane.process.kill()
        if at_once:
            os.kill(served, signal.SIGKILL)
            os.kill(agent.keeper, signal.SIGKILL)
        plane.process.wait(PATIENCE)
        if not at_once:
            os.kill(served, signal.SIGKILL)
        agent.wait_dead()
    return agent


def on(agent: Agent, desktop: str) -> Agent:
    """Return the agent as it works on another desktop."""
    moved = copy.copy(agent)
    moved.desktop = desktop
    return moved


def change(folder: Path, statement: str, *values: object) -> None:
    """Change the database of a control plane that does not run."""
    with sqlite3.connect(folder / "data" / "deskhand.db") as database:
        database.execute("PRAGMA foreign_keys = ON")
        database.execute(statement, values)


def end_turn(folder: Path, agent: Agent) -> None:
    """End the agent's turn, so that the next control planes have only the recording to store."""
    change(folder, "UPDATE chats SET state = 'waiting' WHERE id = ?", agent.id)
    change(
        folder,
        "UPDATE turns SET status = 'done', ended_at = started_at, recording = '{}'"
        " WHERE chat_id = ?",
        agent.id,
    )


# Kills itself around one action: before it, as if in the middle of it, or before its new state.
KILLED = """
import os, signal, sys
from deskhand.tools import cli
from deskhand.tools.recovery import recovery, rows
from deskhand.tools.recovery.recovery import RecordingRecovery
when, wanted = sys.argv.pop(1), sys.argv.pop(1)
do = RecordingRecovery._do

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

async def dying(self, action, *arguments):
    if action == wanted:
        if when == "before":
            die()
        if when == "during" and action == "store":
            rows.finish = die
        elif when == "during":
            shutil = sys.modules["shutil"]
            recovery.Copies.same = die
            shutil.copyfileobj = die
    done = await do(self, action, *arguments)
    if action == wanted:
        die()
    return done

RecordingRecovery._do = dying
cli.main()
"""


def killed_plane(folder: Path, model: GatedModel, when: str, action: str) -> None:
    """Run a control plane that kills itself around one action."""
    with (folder / f"{when}-{action}.log").open("w") as log:
        ended = subprocess.run(
            [
                *(sys.executable, "-c", KILLED, when, action),
                *("up", "--data-dir", str(folder / "data"), "--listen", "127.0.0.1:0", "--json"),
            ],
            env={**os.environ, **model.environment},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            timeout=3 * PATIENCE,
            check=False,
        )
    assert ended.returncode == -signal.SIGKILL, (when, action, ended.returncode)
