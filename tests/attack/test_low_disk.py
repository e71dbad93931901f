"""An agent, or another program, uses up the disk while agents work and recordings run."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from tests.attack.attackers import output
from tests.system.database_faults import STEPS, StepGate, provider
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
WRITE = "/api/v0/write-file?path={path}"


@contextmanager
def short_disk(mebibytes: int) -> Iterator[Path]:
    """A small disk with a short path, for the sockets on it; it is low below 2 %."""
    with short_folder() as parent, small_disk(parent / "disk", mebibytes) as disk:
        parent.chmod(0o711)
        yield disk


def fill(desktop: Service, disk: Path, left: int) -> None:
    """As the agent, use up a disk but for so many bytes."""
    usage = os.statvfs(disk)
    size = usage.f_bavail * usage.f_frsize - left
    assert output(desktop, f"fallocate -l {size} $HOME/filled") == ""


def written(desktop: Service, path: str, content: bytes = b"text") -> tuple[int, str]:
    answer = desktop.http.post(WRITE.format(path=path), content=content)
    return answer.status_code, str(answer.json()["message"])


def started(desktop: Service) -> tuple[str, int, Json]:
    recording = str(uuid4())
    body = {"recording_id": recording}
    answer = desktop.http.post("/api/v0/desktop/recording/start", json=body)
    return recording, answer.status_code, answer.json()


def is_low(service: Service, path: str) -> Callable[[], bool]:
    return lambda: bool(service.get(path)["disk"]["low"])


def test_a_desktop_on_a_disk_that_is_almost_full_finishes_what_runs(tmp_path: Path) -> None:
    with short_disk(200) as disk:
        place = str(disk / "desktop")
        with service(tmp_path / "errors.log", "desktop", "--folder", place) as desktop:
            home = output(desktop, "echo $HOME")
            running, status, answer = started(desktop)
            assert status == 200, answer
            assert written(desktop, f"{home}/before")[0] == 200
            fill(desktop, disk, 3 * MIB)
            until(is_low(desktop, "/api/v0/desktop"), "a disk that is low")
            for content in (b"text", bytes(2 * MIB)):
                status, message = written(desktop, f"{home}/after", content)
                assert (status, "almost full" in message) == (507, True), message
            edits = [{"path": f"{home}/before", "edits": [{"search": "text", "replace": "x"}]}]
            assert desktop.http.post("/api/v0/edit-files", json={"files": edits}).status_code == 507
            copied = {"command": "true", "output_path": f"{home}/copy"}
            answer = desktop.post("/api/v0/processes/start", copied, 507)
            assert "almost full" in answer["message"] + answer["detail"], answer
            _, status, answer = started(desktop)
            assert status == 507, answer
            assert "the disk is too full" in answer["detail"], answer
            assert not {"after", "copy"} & set(output(desktop, "ls $HOME").split())
            assert desktop.http.get("/healthz").status_code == 200
            body = {"recording_id": running}
            desktop.post("/api/v0/desktop/recording/stop", body)
            found = desktop.get(f"/api/v0/desktop/recordings/{running}")
            assert (found["end_reason"], found["complete"]) == ("completed", True), found
            output(desktop, "rm $HOME/filled")
            until(lambda: written(desktop, f"{home}/after")[0] == 200, "writes that are accepted")


@pytest.mark.slow("a control plane and an agent with its desktop")
def test_an_agent_finishes_on_a_full_disk_by_the_reserve(tmp_path: Path) -> None:
    with (
        short_disk(160) as disk,
        StepGate(3) as gate,
        provider(gate.port) as environment,
        service(
            tmp_path / "errors.log",
            *("up", "--data-dir", str(disk / "data"), "--listen", "127.0.0.1:0"),
            environment={
                **{"DESKHAND_SUPERVISOR_SECONDS": "0", "DESKHAND_EGRESS": "open"},
                **environment,
            },
        ) as plane,
    ):
        chat_id = plane.tool("spawn_computer_use_agent", prompt="Work.")["chat_id"]
        gate.wait()
        assert plane.get("/api/v0/status")["disk"]["reserve"] == "held"
        with filled(disk):
            gate.release()
            result = plane.tool("wait_agent", chat_id=chat_id, timeout_seconds=90)
            assert (result["outcome"], result["recording_status"]) == ("done", "stored"), result
            assert plane.http.get("/healthz").status_code == 200
            assert plane.get("/api/v0/status")["disk"]["reserve"] == "released"
            until(is_low(plane, "/api/v0/status"), "a disk that is low")
            steps = plane.get(f"/api/v0/chats/{chat_id}")["steps"]
            assert [step["status"] for step in steps] == ["done"] * STEPS
        until(
            lambda: plane.get("/api/v0/status")["disk"]["reserve"] == "held",
            "a reserve that is held",
        )
