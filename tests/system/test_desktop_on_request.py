"""A desktop service whose display starts by request, after its first use."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.system.services import PATIENCE, Json, Service, descendants_of, service, until

pytestmark = pytest.mark.x11

DISPLAY = "/api/v0/desktop/display"
GEOMETRY = "xdpyinfo | sed -n 's/ *dimensions: *\\([0-9x]*\\).*/\\1/p'"
WAIT = f"{DISPLAY}?wanted_within_s=20"


@pytest.fixture
def desktop(tmp_path: Path) -> Iterator[Service]:
    with service(tmp_path / "errors.log", "desktop", "--display", "on-request") as found:
        instance = found.get("/api/v0/desktop")["instance_id"]
        yield found
    until(lambda: not descendants_of(instance), "the end of everything the desktop started")


def run(desktop: Service, command: str) -> Json:
    body = {"command": command, "timeout_ms": int(PATIENCE * 1000)}
    return desktop.post("/api/v0/processes/start", body)


def output(desktop: Service, process: Json) -> str:
    path = f"/api/v0/processes/{process['id']}/output?wait=true"
    return str(desktop.get(path)["output"])


def test_commands_and_files_need_no_display(desktop: Service) -> None:
    assert output(desktop, run(desktop, "command -v browser; echo $DISPLAY")).strip()
    assert desktop.get("/readyz") == {"status": "ready"}
    assert desktop.http.get("/metrics").status_code == 200
    status = desktop.get("/api/v0/desktop")
    assert status["xserver"]["state"] == "absent"
    assert (status["xserver"]["running"], status["capture"]) == (False, None)
    assert status["display"] == desktop.ready["display"]
    assert desktop.get("/api/v0/desktop/applications")["applications"]
    assert desktop.get(DISPLAY) == {"state": "absent"}


def test_requests_at_once_start_one_display(desktop: Service) -> None:
    paths = [f"/api/v0/desktop/{name}" for name in ("screenshot", "windows", "clipboard")]
    with ThreadPoolExecutor(16) as pool:
        answers = [pool.submit(desktop.http.get, path) for path in (*paths, *paths)]
        assert desktop.get(WAIT) == {"state": "wanted"}
        starts = [pool.submit(desktop.post, DISPLAY, {}) for _ in range(2)]
        assert [start.result()["state"] for start in starts] == ["running", "running"]
        assert {answer.result().status_code for answer in answers} <= {200, 204}
    status = desktop.get("/api/v0/desktop")
    assert (status["xserver"]["state"], status["xserver"]["restarts"]) == ("running", 0)
    assert status["display"] == desktop.ready["display"]


def test_a_command_that_connects_waits_for_the_display(desktop: Service) -> None:
    early = run(desktop, f"{GEOMETRY}; echo $DISPLAY")
    assert desktop.get(WAIT) == {"state": "wanted"}
    desktop.post(DISPLAY, {})
    assert output(desktop, early).split() == ["1920x1080", desktop.ready["display"]]
    later = run(desktop, GEOMETRY)
    assert output(desktop, later).split() == ["1920x1080"]


def test_a_browser_that_connects_waits_for_the_display(desktop: Service) -> None:
    run(desktop, "browser about:blank > /dev/null 2>&1 &")
    assert desktop.get(WAIT) == {"state": "wanted"}
    desktop.post(DISPLAY, {})
    windows = "/api/v0/desktop/windows"
    until(lambda: "Chromium" in desktop.http.get(windows).text, "the window of the browser")
