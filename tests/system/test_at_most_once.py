"""A tool call is executed once, also when its service terminates and the next one is asked."""

import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

import httpx2
import pytest

from tests.system.services import Json, Service, service, service_pid, until

pytestmark = pytest.mark.x11

START, ACTION = "/api/v0/processes/start", "/api/v0/desktop/action"


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that the users of desktops may enter, and with a path short enough for sockets."""
    with TemporaryDirectory(prefix="deskhand-") as name:
        Path(name).chmod(0o711)
        yield Path(name)


@pytest.mark.slow("two desktop services, one after the other")
def test_calls_are_not_executed_again_by_the_next_service_on_the_folder(
    tmp_path: Path, open_folder: Path
) -> None:
    check_calls(tmp_path, open_folder, signal.SIGTERM)


@pytest.mark.soak
@pytest.mark.slow("two desktop services, one after the other")
def test_calls_are_not_executed_again_after_the_death_of_a_keeper(
    tmp_path: Path, open_folder: Path
) -> None:
    check_calls(tmp_path, open_folder, signal.SIGKILL)


def check_calls(tmp_path: Path, open_folder: Path, end: signal.Signals) -> None:
    """Send calls to a service whose keeper gets a signal, and again to the next service."""
    folder, chat = open_folder / "f", {"Deskhand-Chat-Id": str(uuid4())}
    # A directory that both desktops may write, and that the end of the first one keeps.
    effects = open_folder / "work" / "effects"
    effects.parent.mkdir()
    effects.parent.chmod(0o777)
    command: Json = {"command": f"umask 0; echo done >> {effects}"}
    move: Json = {"action": "mouse_move", "coordinate": [100, 120]}
    pause: Json = {"action": "wait", "duration": 60}
    arguments = ("desktop", "--folder", str(folder), "--workdir", str(effects.parent))
    with service(tmp_path / "first.log", *arguments) as first, ThreadPoolExecutor() as threads:
        instance = first.get("/api/v0/desktop")["instance_id"]
        assert sent(first, START, command, chat, "start")[0] == 200
        until(effects.exists, "the effect of the command")
        answered = sent(first, ACTION, move, chat, "move")
        assert answered[0] == 200
        waiting = threads.submit(sent, first, ACTION, pause, chat, "pause")
        journal = folder / "journals" / "calls.jsonl"
        until(lambda: '"pause"' in journal.read_text(), "the begin of the action")
        served = service_pid(first.process.pid)
        first.process.send_signal(end)
        if end is signal.SIGTERM:
            assert waiting.result()[0] == 503
        else:
            # The response may break off while the service terminates.
            with suppress(httpx2.TransportError):
                assert waiting.result()[0] == 503
        until(lambda: not Path(f"/proc/{served}").exists(), "the end of the service")
    with service(tmp_path / "second.log", *arguments) as second:
        for route, body, call in ((START, command, "start"), (ACTION, pause, "pause")):
            status, refused = sent(second, route, body, chat, call)
            assert (status, refused.get("code")) == (409, "outcome_unknown"), call
        assert sent(second, ACTION, {**move, "coordinate": [1, 1]}, chat, "move")[0] == 409
        assert sent(second, ACTION, move, chat, "move") == (200, answered[1] | {"replayed": True})
        # A call that neither service has seen may have run in a third one.
        elsewhere = chat | {"Deskhand-Instance": instance}
        for route, body in ((START, command), (ACTION, move)):
            status, refused = sent(second, route, body, elsewhere, "lost")
            assert (status, refused.get("code")) == (409, "outcome_unknown"), route
        assert not changed_files(second, effects, elsewhere)
    assert effects.read_text() == "done\n"


def sent(to: Service, route: str, body: Json, chat: Json, call: str) -> tuple[int, Json]:
    """Send one tool call of a chat and return status and body of the response."""
    headers = {**chat, "Deskhand-Tool-Call-Id": call}
    response = to.http.post(route, json=body, headers=headers)
    return response.status_code, response.json()


def changed_files(to: Service, file: Path, headers: Json) -> list[int]:
    """Send both changes of a file as calls; return the statuses of those that were executed."""
    edit = {"files": [{"path": str(file), "edits": [{"old_text": "done", "new_text": "lost"}]}]}
    headers = {**headers, "Deskhand-Tool-Call-Id": "change"}
    where = {"path": str(file)}
    answers = [
        to.http.post("/api/v0/write-file", params=where, content=b"lost", headers=headers),
        to.http.post("/api/v0/edit-files", json=edit, headers=headers),
    ]
    assert all(a.is_success or a.json().get("code") == "outcome_unknown" for a in answers)
    return [answer.status_code for answer in answers if answer.is_success]
