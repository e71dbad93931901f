"""A desktop whose programs are killed."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import pytest
from websockets.sync.client import connect as websocket

from tests.system.event_stream import event_stream, next_of
from tests.system.services import PATIENCE, Service, child, service, service_pid, until

pytestmark = pytest.mark.x11

STATUS = "/api/v0/desktop"


@pytest.fixture(scope="module")
def desktop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service(tmp_path_factory.mktemp("supervision") / "errors.log", "desktop") as found:
        yield found


def kill_x(desktop: Service) -> None:
    os.kill(desktop.get(STATUS)["xserver"]["pid"], signal.SIGKILL)


def frame_boot(desktop: Service) -> str:
    answer = desktop.http.get(f"{STATUS}/screenshot")
    if answer.status_code == 503:
        assert int(answer.headers["retry-after"]) >= 1
        return ""
    assert answer.status_code == 200, answer.text
    return answer.headers["deskhand-frame-id"].rpartition("-")[0]


def test_after_its_x_server_died_the_next_calls_find_a_fresh_display(desktop: Service) -> None:
    before = desktop.get(STATUS)
    boot = frame_boot(desktop)
    recording = str(uuid4())
    desktop.post(f"{STATUS}/recording/start", {"recording_id": recording})
    address = desktop.url.replace("http", "ws") + f"{STATUS}/vnc"
    headers = {"Authorization": f"Bearer {desktop.token}"}
    with event_stream(desktop) as events, websocket(address, additional_headers=headers) as watcher:
        assert str(watcher.recv(decode=True)).startswith("RFB")
        kill_x(desktop)
        restarted = next_of(events, "display_restarted")
        assert restarted["number"] == before["xserver"]["restarts"] + 2
    assert until(lambda: frame_boot(desktop), "a picture") not in ("", boot)
    reply = desktop.act(action="wait", duration=0, observe={"screenshot": True, "settle": {}})
    assert reply["instance_id"] == before["instance_id"]
    after = desktop.get(STATUS)
    assert after["xserver"]["pid"] != before["xserver"]["pid"]
    assert after["xserver"]["restarts"] == before["xserver"]["restarts"] + 1
    assert after["recording_ids"] == []
    with websocket(address, additional_headers=headers) as watcher:
        assert str(watcher.recv(decode=True)).startswith("RFB")
    shown = desktop.post(
        "/api/v0/processes/start", {"command": "xterm -e true && echo $DISPLAY is alive"}
    )
    output = desktop.get(f"/api/v0/processes/{shown['id']}/output?wait=true")["output"]
    assert f"{after['display']} is alive" in output
    stored = desktop.get(f"{STATUS}/recordings/{recording}")
    assert stored["parts"][0]["end_reason"] == "display_lost"
    desktop.post(f"{STATUS}/recording/start", {"recording_id": recording})
    assert desktop.get(STATUS)["recording_ids"] == [recording]


@pytest.mark.slow("calls wait three seconds for a stopped X server")
def test_calls_are_answered_while_the_x_server_is_stopped(desktop: Service) -> None:
    pid = desktop.get(STATUS)["xserver"]["pid"]
    call = {"Deskhand-Tool-Call-Id": str(uuid4())}
    move = {"action": "mouse_move", "coordinate": [5, 5]}
    wait = {"action": "wait", "duration": 1.5}
    recording = {"recording_id": str(uuid4())}
    # While another recording runs, the recorder has a frame and does not need the X server.
    for running in desktop.get(STATUS)["recording_ids"]:
        desktop.post(f"{STATUS}/recording/stop", {"recording_id": running})
    with ThreadPoolExecutor() as threads:
        os.kill(pid, signal.SIGSTOP)
        try:
            sent = [
                threads.submit(desktop.http.get, f"{STATUS}/{path}")
                for path in ("screenshot", "windows", "clipboard")
            ]
            post = desktop.http.post
            sent.append(threads.submit(post, f"{STATUS}/recording/start", json=recording))
            sent.append(threads.submit(post, f"{STATUS}/action", json=move, headers=call))
            answers = [answer.result() for answer in sent]
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        finally:
            os.kill(pid, signal.SIGCONT)
    assert [answer.status_code for answer in answers] == [503] * 5, [a.text for a in answers]
    assert {answer.headers["retry-after"] for answer in answers} == {"1"}
    # The calls were answered before the server was replaced.
    assert state == "T"
    repeated = desktop.http.post(f"{STATUS}/action", json=move, headers=call)
    assert repeated.json()["code"] == "outcome_unknown", repeated.text
    desktop.post(f"{STATUS}/recording/start", recording)
    desktop.post(f"{STATUS}/recording/stop", recording)
    assert desktop.act(**wait)["instance_id"]
    assert desktop.get(STATUS)["xserver"]["pid"] == pid


def test_what_was_open_on_the_old_display_has_ended(desktop: Service) -> None:
    body = {"command": "xterm -title 'on the old display'", "background": True}
    started = desktop.post("/api/v0/processes/start", body)
    # One that connects later is a client of the new display.
    windows = "/api/v0/desktop/windows"
    until(lambda: "on the old display" in str(desktop.get(windows)["windows"]), "the window")
    with event_stream(desktop) as events:
        kill_x(desktop)
        next_of(events, "display_restarted")
    ended = desktop.get(f"/api/v0/processes/{started['id']}/output?wait=true")
    assert ended["running"] is False


@pytest.mark.parametrize("name", ["openbox", "tint2", "dbus-daemon"])
def test_session_programs_are_started_again(desktop: Service, name: str) -> None:
    before = until(lambda: desktop.get(STATUS)["session"][name]["pid"], name)
    os.kill(before, signal.SIGKILL)

    def again() -> bool:
        found = desktop.get(STATUS)["session"][name]["pid"]
        return found is not None and found != before

    until(again, f"another {name}")
    assert desktop.get(STATUS)["session"]["restarts"][name] >= 1


def test_ready_means_that_there_is_a_display(desktop: Service) -> None:
    answer = until(
        lambda: (found := desktop.http.get("/readyz")).status_code == 200 and found, "readiness"
    )
    assert answer.json() == {"status": "ready"}


@pytest.mark.soak
@pytest.mark.slow("three services, one after the other")
def test_leftovers_of_a_killed_service_are_cleaned_by_the_next(tmp_path: Path) -> None:
    with ExitStack() as stack:
        with service(tmp_path / "first.log", "desktop") as first:
            instance = first.get(STATUS)["instance_id"]
            folder = Path(home_of(first)).parent
            keeper = first.ready["pid"]
            served = service_pid(keeper)
            for pid in (keeper, served):
                os.kill(pid, signal.SIGSTOP)
            # A process with the mark of an instance that has ended belongs to no live service.
            mark = {"DESKHAND_INSTANCE": instance}
            orphan = stack.enter_context(child("sleep", "1000", environment=mark))
            for pid in (keeper, served):
                os.kill(pid, signal.SIGKILL)
            first.process.wait(PATIENCE)
            # Until then it has the lock of its desktop, which is not swept.
            until(lambda: not Path(f"/proc/{served}").exists(), "the end of the service")
        # Another service that starts now may sweep before ours does.
        second = stack.enter_context(service(tmp_path / "second.log", "desktop"))
        assert not folder.exists()
        assert orphan.wait(PATIENCE) == -signal.SIGKILL
        assert Path(home_of(second)).parent.exists() or os.geteuid() != 0
        with service(tmp_path / "third.log", "desktop"):
            assert second.get(STATUS)["xserver"]["running"]
            assert home_of(second)


def home_of(desktop: Service) -> str:
    started = desktop.post("/api/v0/processes/start", {"command": "echo $HOME"})
    output = desktop.get(f"/api/v0/processes/{started['id']}/output?wait=true")["output"]
    return str(output).strip()
