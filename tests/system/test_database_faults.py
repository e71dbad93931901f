"""An agent whose control plane cannot write its database continues when it can again.

The supervisor is off in these tests, except in its own: a paused turn must continue by itself.
"""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Timer

import pytest

from tests.system.database_faults import (
    STEPS,
    StepGate,
    locked,
    provider,
    strand,
    unwritable_files,
)
from tests.system.services import DESKHAND, PATIENCE, Json, Service, service, until
from tests.system.small_disk import filled, small_disk

pytestmark = pytest.mark.x11

NAMES = [f"step-{number}" for number in range(1, STEPS + 1)]
Faults = Callable[[Service, Path], AbstractContextManager[None]]
FAULTS: dict[str, Faults] = {
    "locked": lambda _, data: locked(data),
    "full disk": lambda _, data: filled(data),
    "I/O errors": lambda plane, _: unwritable_files(plane.process.pid),
}


@dataclass
class Setting:
    """A control plane, and an agent whose held command runs."""

    plane: Service
    gate: StepGate
    data: Path
    chat_id: str

    @property
    def chat(self) -> Json:
        return self.plane.get(f"/api/v0/chats/{self.chat_id}")

    def paused(self) -> Json:
        """Return the chat when it waits for the database."""
        found: Json = until(self._paused, "a chat that waits for the database")
        return found

    def _paused(self) -> Json | None:
        chat = self.chat
        return chat if chat.get("waiting_for") else None

    def is_ready(self) -> bool:
        return bool(self.plane.http.get("/readyz").status_code == 200)

    def result(self) -> Json:
        return self.plane.tool("wait_agent", chat_id=self.chat_id, timeout_seconds=90)


def up(
    data: Path, log: Path, environment: dict[str, str], *options: str
) -> AbstractContextManager[Service]:
    arguments = ("up", "--data-dir", str(data), "--listen", "127.0.0.1:0", *options)
    # The supervisor is off unless a test sets it: nothing may depend on it. The commands of agents
    # connect to the gate on the host's loopback.
    defaults = {"DESKHAND_SUPERVISOR_SECONDS": "0", "DESKHAND_EGRESS": "open"}
    return service(log, *arguments, environment={**defaults, **environment})


@dataclass(frozen=True)
class World:
    """A control plane whose database has faults."""

    plane: Service
    gate: StepGate
    data: Path

    def agent(self, held: int) -> Setting:
        """Start an agent, whose step ``held`` waits."""
        self.gate.hold(held)
        chat_id = self.plane.tool("spawn_computer_use_agent", prompt="Work.")["chat_id"]
        return Setting(self.plane, self.gate, self.data, chat_id)

    def at_step(self, held: int) -> Setting:
        """Start an agent and return when the command of its step ``held`` runs."""
        setting = self.agent(held)
        self.gate.wait()
        return setting


@contextmanager
def started(data: Path, log: Path) -> Iterator[World]:
    with (
        StepGate(0) as gate,
        provider(gate.port) as environment,
        up(data, log, environment) as plane,
    ):
        yield World(plane, gate, data)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("world")
    with started(folder / "data", folder / "errors.log") as found:
        yield found


@pytest.fixture(scope="module")
def small_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The same on a disk that can be filled."""
    folder = tmp_path_factory.mktemp("world")
    with (
        small_disk(folder / "disk", 8) as data,
        started(data, folder / "errors.log") as found,
    ):
        yield found


@pytest.mark.soak
@pytest.mark.slow("an agent with its desktop; attempts to write are seconds apart")
@pytest.mark.parametrize(
    ("fault", "place"),
    [
        ("locked", "world"),
        # The same as with several agents in test_full_disk.py.
        pytest.param("full disk", "small_world", marks=pytest.mark.full),
        ("I/O errors", "world"),
    ],
)
def test_a_fault_in_a_step_pauses_the_turn(
    fault: str, place: str, request: pytest.FixtureRequest
) -> None:
    world: World = request.getfixturevalue(place)
    logged = len(world.plane.errors.read_text())
    setting = world.at_step(3)
    with FAULTS[fault](setting.plane, world.data):
        setting.gate.release()
        waiting = setting.paused()["waiting_for"]
        assert (waiting["kind"], waiting["text"]) == ("database", "waiting for the database")
        assert waiting["since"] > 1_700_000_000
        assert not setting.is_ready()
        # The next command must not run: the result of this one is not stored yet.
        assert setting.gate.names == NAMES[:3]
    result = setting.result()
    assert (result["outcome"], result["report"]) == ("done", "All steps are done."), result
    assert result["recording_status"] == "stored", result
    assert setting.gate.names == NAMES
    chat = setting.chat
    assert chat["waiting_for"] is None
    assert [step["status"] for step in chat["steps"]] == ["done"] * STEPS
    until(setting.is_ready, "readiness")
    status = setting.plane.get("/api/v0/status")
    assert status["resumed_by_supervisor"] == 0
    # A second line is due after a minute. The log of the test is a file too, so that I/O errors
    # keep the line out of it.
    log = world.plane.errors.read_text()[logged:].splitlines()
    assert len([line for line in log if "agents wait for it" in line]) in (
        (0,) if fault == "I/O errors" else (1, 2)
    )
    assert "Traceback (most recent call last):" not in log


@pytest.mark.soak
@pytest.mark.slow("an agent with its desktop; an attempt waits 5 s for the lock")
def test_a_lock_while_a_chat_is_queued_only_delays_it(world: World) -> None:
    # The first write of the turn may be before or after the lock: both must be fine. The first
    # command is held until then, so that the agent cannot end before.
    setting = world.agent(1)
    with locked(world.data):
        setting.gate.release()
        setting.paused()
    assert setting.result()["outcome"] == "done"
    assert setting.gate.names == NAMES


@pytest.mark.soak
@pytest.mark.slow("an agent with its desktop; an attempt waits 5 s for the lock")
def test_the_command_line_shows_what_an_agent_waits_for(world: World) -> None:
    plane, gate, data = world.plane, world.gate, world.data
    gate.hold(3)
    with subprocess.Popen(
        [DESKHAND, "run", "Work.", "--data-dir", str(data)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    ) as run:
        assert run.stdout is not None
        gate.wait()
        (chat,) = plane.get("/api/v0/chats")["chats"][:1]
        with locked(data):
            gate.release()
            Setting(plane, gate, data, chat["id"]).paused()
            # The command reads the chat after each event: it must do so before the wait is over.
            ending = Timer(PATIENCE, run.kill)
            ending.start()
            while (line := run.stdout.readline()) != "  waiting for the database\n":
                assert line, "the wait was not printed"
            ending.cancel()
        shown = run.stdout.read()
        assert run.wait(PATIENCE) == 0, shown
        assert "All steps are done." in shown
        assert gate.names == NAMES


@pytest.mark.soak
@pytest.mark.slow("holds the lock for several seconds")
@pytest.mark.parametrize("requests", [1, pytest.param(6, marks=pytest.mark.full)])
def test_a_long_lock_does_not_end_an_agent(world: World, requests: int) -> None:
    setting = world.at_step(3)
    with locked(world.data):
        setting.gate.release()
        since = setting.paused()["waiting_for"]["since"]
        # Each refused request waits for SQLite's busy timeout of 5 s.
        for _ in range(requests):
            answer = setting.plane.http.post("/api/v0/chats", json={"title": "no room"})
            assert answer.status_code == 503, answer.text
        waiting = setting.chat["waiting_for"]
        assert waiting["since"] == since
    assert setting.result()["outcome"] == "done"
    assert setting.gate.names == NAMES


@pytest.mark.soak
@pytest.mark.slow("two control planes, one after the other, and the 5 s of a lock")
@pytest.mark.parametrize(
    ("keep", "moment"),
    [
        pytest.param(False, "in a step", id="desktops end-in a step"),
        pytest.param(True, "paused", id="desktops stay-paused"),
        pytest.param(False, "paused", id="desktops end-paused", marks=pytest.mark.full),
        pytest.param(True, "in a step", id="desktops stay-in a step", marks=pytest.mark.full),
    ],
)
def test_a_control_plane_that_ends_while_its_database_is_locked(
    tmp_path: Path, moment: str, keep: bool
) -> None:
    data = tmp_path / "data"
    options = ("--keep-desktops",) if keep else ()
    with ExitStack() as stack:
        gate = stack.enter_context(StepGate(3))
        environment = stack.enter_context(provider(gate.port))
        with locked_at_end(data) as lock:
            # SIGTERM ends it while the lock is held, or the service's own limit fails the test.
            with up(data, tmp_path / "first.log", environment, *options) as plane:
                chat_id = plane.tool("spawn_computer_use_agent", prompt="Work.")["chat_id"]
                gate.wait()
                lock()
                if moment == "paused":
                    gate.release()
                    Setting(plane, gate, data, chat_id).paused()
            assert plane.process.wait() == 0
            # The command of the third step may have ended; the next must not have begun.
            assert gate.names == NAMES[:3]
        gate.release()
        with up(data, tmp_path / "second.log", environment) as plane:
            setting = Setting(plane, gate, data, chat_id)
            # Its own desktop ended with the first control plane, unless that left it.
            result = setting.result()
            assert not result.get("timed_out"), result
            assert result["report"] == "All steps are done.", result
            # The result of the third step is lost with its control plane: it is not made again.
            assert gate.names == NAMES
            until(setting.is_ready, "readiness")


@contextmanager
def locked_at_end(data: Path) -> Iterator[Callable[[], None]]:
    with ExitStack() as stack:
        yield lambda: stack.enter_context(locked(data))


@pytest.mark.soak
@pytest.mark.slow("an agent with its desktop")
def test_the_supervisor_resumes_a_chat_without_a_task(tmp_path: Path) -> None:
    data = tmp_path / "data"
    on = {"DESKHAND_SUPERVISOR_SECONDS": "1"}
    with (
        StepGate(0) as gate,
        provider(gate.port) as environment,
        up(data, tmp_path / "errors.log", {**environment, **on}) as plane,
    ):
        chat_id = plane.tool("spawn_computer_use_agent", prompt="Work.")["chat_id"]
        setting = Setting(plane, gate, data, chat_id)
        assert setting.result()["outcome"] == "done"
        assert plane.get("/api/v0/status")["resumed_by_supervisor"] == 0
        strand(data, chat_id)
        until(lambda: plane.get("/api/v0/status")["resumed_by_supervisor"], "the supervisor")
        assert not setting.result().get("timed_out")
        assert plane.get("/api/v0/status")["resumed_by_supervisor"] == 1
