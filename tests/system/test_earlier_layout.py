"""A desktop's directory of the version before users and namespaces, under this version."""

import os
import signal
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

import pytest

from tests.live_trees import statuses_below
from tests.recording.fakes import decoded
from tests.system.services import Json, Service, service, service_pid, until

pytestmark = [
    pytest.mark.x11,
    pytest.mark.soak,
    pytest.mark.slow("two desktop services, one after the other"),
]

START, ACTION = "/api/v0/processes/start", "/api/v0/desktop/action"
RECORDING = "/api/v0/desktop/recording"
AGENT = 4242
"""The user of all files of the earlier desktop."""
JOURNALS = ("calls.jsonl", "tool-calls.jsonl")


def test_recordings_files_and_calls_of_the_earlier_version_are_found_again(
    tmp_path: Path,
) -> None:
    with TemporaryDirectory(prefix="deskhand-") as name:
        Path(name).chmod(0o711)
        folder, chat = Path(name) / "f", {"Deskhand-Chat-Id": str(uuid4())}
        ended, running = str(uuid4()), str(uuid4())
        move: Json = {"action": "mouse_move", "coordinate": [100, 120]}
        command: Json = {"command": "echo done >> $HOME/effects"}
        with service(tmp_path / "first.log", "desktop", "--folder", str(folder)) as first:
            for recording, change in ((ended, "start"), (ended, "stop"), (running, "start")):
                first.post(f"{RECORDING}/{change}", {"recording_id": recording})
            answered = sent(first, ACTION, move, chat, "move")
            assert answered[0] == 200
            started = sent(first, START, command, chat, "start")[1]
            first.get(f"/api/v0/processes/{started['id']}/output?wait=true")
            # The frame after the action is in a fragment that is written.
            until(lambda: begun(folder, running), "a fragment of the recording")
            kill(first)
        make_earlier(folder)
        with service(tmp_path / "second.log", "desktop", "--folder", str(folder)) as second:
            assert sent(second, ACTION, move, chat, "move") == (
                200,
                answered[1] | {"replayed": True},
            )
            status, refused = sent(second, START, command, chat, "start")
            assert (status, refused.get("code")) == (409, "outcome_unknown")
            listed = second.get("/api/v0/desktop/recordings")["recordings"]
            assert {one["id"] for one in listed} == {ended, running}
            for recording, reason in ((ended, "completed"), (running, "service_lost")):
                facts = second.get(f"/api/v0/desktop/recordings/{recording}")
                assert facts["end_reason"] == reason, facts
                video = tmp_path / f"{recording}.mp4"
                video.write_bytes(second.http.get(facts["video_url"]).content)
                assert decoded(video)
            own = second.post(START, {"command": "cat $HOME/effects; echo more >> $HOME/effects"})
            shown = second.get(f"/api/v0/processes/{own['id']}/output?wait=true")
            assert (shown["output"], shown["exit_code"]) == ("done\n", 0), shown
            assert owners(folder) == owners_of_now(second)


def begun(folder: Path, recording: str) -> bool:
    journal = folder / "recordings" / recording / "1.mp4"
    return journal.exists() and journal.stat().st_size > 2_000


def kill(desktop: Service) -> None:
    """Kill keeper and service, as a machine that fails does."""
    served = service_pid(desktop.process.pid)
    for pid in (desktop.process.pid, served):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    desktop.process.wait()
    until(lambda: not Path(f"/proc/{served}").exists(), "the end of the service")


def make_earlier(folder: Path) -> None:
    """Arrange a directory as the earlier version did: one user owns all, journals are on top."""
    for name in JOURNALS:
        (folder / "journals" / name).rename(folder / name)
    (folder / "journals").rmdir()
    if os.geteuid() == 0:
        for parent, folders, files in os.walk(folder):
            for name in (".", *folders, *files):
                os.chown(Path(parent, name), AGENT, AGENT, follow_symlinks=False)
    folder.chmod(0o700)


def owners(folder: Path) -> tuple[set[int], set[int]]:
    """Return the owners of what the service keeps, and of the agent's files."""
    parts = [("recordings", "journals", "logs"), ("home", "work")]
    found = [
        {one.st_uid for name in part for one in statuses_below(folder / name).values()}
        for part in parts
    ]
    return found[0], found[1]


def owners_of_now(desktop: Service) -> tuple[set[int], set[int]]:
    served = Path(f"/proc/{service_pid(desktop.ready['pid'])}").stat().st_uid
    own = desktop.post(START, {"command": "id -u"})
    agent = desktop.get(f"/api/v0/processes/{own['id']}/output?wait=true")["output"]
    return {served}, {int(agent)}


def sent(to: Service, route: str, body: Json, chat: Json, call: str) -> tuple[int, Json]:
    """Send one tool call of a chat and return status and body of the response."""
    headers = {**chat, "Deskhand-Tool-Call-Id": call}
    response = to.http.post(route, json=body, headers=headers)
    return response.status_code, response.json()
