"""Agents at work while a small disk is full: nothing is lost or done twice.

A disk for the whole data directory stops the database too; one for the stored files only leaves the
chats able to end, without their recordings.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.system.database_faults import STEPS, StepGate, provider
from tests.system.gated_model import COLOURS, gated_model, painted_report, painting
from tests.system.services import PATIENCE, Json, Service, service, until
from tests.system.small_disk import filled, small_disk
from tests.system.test_database_faults import NAMES, up
from tests.system.test_lost_desktop import World, check_stored_once, pictures, shows, stored_files

pytestmark = [pytest.mark.x11, pytest.mark.soak]

AGENTS = 3
MEBIBYTES = 8
EVENTS = "/api/v0/events"

# A turn waits 90 s for its recording to be stored; here it gives up after three.
IMPATIENT = """
from dataclasses import replace
from deskhand.tools import cli
from deskhand.tools.control_plane.service import wiring
settings = wiring._chat_settings
wiring._chat_settings = lambda *given: replace(settings(*given), recording_seconds=3.0)
cli.main()
"""


@pytest.mark.slow("three agents with their desktops; attempts to write are seconds apart")
def test_agents_wait_for_room_and_continue_by_themselves(tmp_path: Path) -> None:
    with (
        small_disk(tmp_path / "disk", MEBIBYTES) as data,
        StepGate(3) as gate,
        provider(gate.port) as environment,
        up(data, tmp_path / "errors.log", environment) as plane,
    ):
        spawn = "spawn_computer_use_agent"
        agents = [plane.tool(spawn, prompt="Work.")["chat_id"] for _ in range(AGENTS)]
        for _ in agents:
            gate.wait()
        with filled(data):
            gate.release()
            for chat_id in agents:
                waiting = wait_of(plane, chat_id)
                assert (waiting["kind"], waiting["text"]) == (
                    "database",
                    "waiting for the database",
                )
            assert plane.http.get("/readyz").status_code == 503
            assert Counter(gate.names) == dict.fromkeys(NAMES[:3], AGENTS)
        for chat_id in agents:
            done = plane.tool("wait_agent", chat_id=chat_id, timeout_seconds=90)
            assert (done["outcome"], done["report"]) == ("done", "All steps are done."), done
            assert done["recording_status"] == "stored", done
            shown = chat(plane, chat_id)
            assert shown["waiting_for"] is None
            assert [step["status"] for step in shown["steps"]] == ["done"] * STEPS
            assert len({step["tool_call_id"] for step in shown["steps"]}) == STEPS
        assert Counter(gate.names) == dict.fromkeys(NAMES, AGENTS)
        until(lambda: plane.http.get("/readyz").status_code == 200, "readiness")
        assert plane.get("/api/v0/status")["resumed_by_supervisor"] == 0


@pytest.mark.slow("an agent with its desktop, and a disk that is full for some seconds")
def test_a_recording_is_stored_when_there_is_room_while_its_desktop_runs(
    small_files: World,
) -> None:
    steps = [painting(COLOURS[0]), painted_report(), painting(COLOURS[1]), painted_report()]
    with small_files.agent_at_gate(steps, 1) as (model, plane, agent), ExitStack() as stack:
        with filled(small_files.folder / "data" / "files"):
            model.gates[1].open()
            done = agent.wait(plane)
            assert (done["report"], done["recording_status"]) == ("Painted.", "none"), done
            assert done["recording_warning"].startswith("recording not stored: "), done
            assert done["recording_warning"].endswith("when its desktop has ended"), done
            assert small_files.rows(agent) == [(agent.desktop, "left")]
            events = stack.enter_context(plane.http.stream("GET", EVENTS))
        (stored,) = stored_files(events, agent.id)
        assert shows(pictures(plane, stored), COLOURS[0])
        # The desktop runs, and has no copy any more.
        copy = f"/api/v0/desktops/{agent.desktop}/desktop/recordings/{agent.id}"
        until(lambda: plane.http.get(copy).status_code == 404, "the removal of the desktop's copy")
        assert small_files.rows(agent) == []
        assert agent.folder.exists()
        done = agent.wait(plane)
        assert (done["recording_status"], done["recording_file_ids"]) == ("stored", [stored])
        assert (done["end_reason"], done["complete"]) == ("completed", True), done
        assert "recording_warning" not in done, done
        # The next turn has its own recording.
        plane.post(f"/api/v0/chats/{agent.id}/messages", {"message": "Again."})
        again = agent.wait(plane)
        assert again["recording_status"] == "stored", again
        second = again["recording_file_ids"]
        assert stored not in second
        plane.http.delete(f"/api/v0/desktops/{agent.desktop}")
        check_stored_once(plane, agent, [stored, *second])


@pytest.mark.slow("an agent whose desktop is killed, and a disk that is full for some seconds")
def test_a_recording_of_a_lost_desktop_is_stored_when_there_is_room(small_files: World) -> None:
    steps = [painting(COLOURS[0]), painted_report()]
    with small_files.agent_at_gate(steps, 1) as (model, plane, agent), ExitStack() as stack:
        with filled(small_files.folder / "data" / "files"):
            agent.kill()
            model.gates[1].open()
            done = agent.wait(plane)
            assert (done["report"], done["recording_status"]) == ("Painted.", "none"), done
            assert done["recording_warning"] == "the recording of a lost desktop is stored later"
            events = stack.enter_context(plane.http.stream("GET", EVENTS))
        (stored,) = stored_files(events, agent.id)
        assert shows(pictures(plane, stored), COLOURS[0])
        done = agent.wait(plane)
        assert (done["end_reason"], done["complete"]) == ("service_lost", False), done
        assert "recording_warning" not in done, done
        check_stored_once(plane, agent, [stored])
        lost = [(agent.desktop, "removed")]
        until(lambda: small_files.rows(agent) == lost, "its removal")


def chat(plane: Service, chat_id: str) -> Json:
    return plane.get(f"/api/v0/chats/{chat_id}")


def wait_of(plane: Service, chat_id: str) -> Json:
    """Return what a chat waits for, when it does."""
    found: Json = until(lambda: chat(plane, chat_id)["waiting_for"], "the wait")
    return found


@pytest.fixture(scope="module")
def small_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A control plane whose stored files have a small disk, and whose turns wait only seconds."""
    folder = tmp_path_factory.mktemp("small")
    data = folder / "data"
    arguments = ("up", "--data-dir", str(data), "--listen", "127.0.0.1:0", "--model", "gated")
    with (
        small_disk(data / "files", MEBIBYTES),
        gated_model([painted_report()]) as model,
        service(
            folder / "errors.log",
            *arguments,
            environment=model.environment,
            program=(sys.executable, "-c", IMPATIENT),
        ) as plane,
    ):
        plane.http.timeout = 3 * PATIENCE
        yield World(folder, model, plane)
