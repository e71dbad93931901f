"""The browser where the kernel refuses user namespaces, as in many containers."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.system.services import DESKHAND, PATIENCE, service

pytestmark = [
    pytest.mark.x11,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can change its root directory"),
]

REFUSED = "user namespaces do not work here (unshare failed: Operation not permitted)"


@pytest.fixture
def program(tmp_path: Path) -> tuple[str, ...]:
    """A command line that runs Deskhand where user namespaces are refused.

    A process whose root directory is not the root of its mount namespace may make none
    (user_namespaces(7)).
    """
    root = tmp_path / "root"
    root.mkdir()
    script = f'mount --rbind / {root} && exec chroot {root} "$0" "$@"'
    return ("unshare", "--mount", "sh", "-c", script, DESKHAND)


def test_a_required_sandbox_that_cannot_work_refuses_the_browser(
    program: tuple[str, ...], tmp_path: Path
) -> None:
    options = ("desktop", "--listen", "127.0.0.1:0", "--browser-sandbox", "required")
    with service(tmp_path / "errors.log", *options, program=program) as desktop:
        assert desktop.ready["browser_warning"].endswith(REFUSED)
        session = desktop.get("/api/v0/desktop")["session"]
        assert session["browser_sandbox"] == {"setting": "required", "on": True, "reason": REFUSED}
        assert session["browser"]["refusal"] == f"its sandbox is required, and {REFUSED}"
        started = desktop.post(
            "/api/v0/processes/start", {"command": "browser", "timeout_ms": 9000}
        )
        ended = desktop.get(f"/api/v0/processes/{started['id']}/output?wait=true&timeout_ms=9000")
        assert ended["exit_code"] == 126
        assert REFUSED in ended["output"]


def test_the_doctor_reports_that_the_browser_has_no_sandbox(
    program: tuple[str, ...], tmp_path: Path
) -> None:
    ended = subprocess.run(
        [*program, "doctor", "--json", "--data-dir", str(tmp_path / "data")],
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE,
        check=False,
    )
    findings = {finding["name"]: finding for finding in json.loads(ended.stdout)["findings"]}
    assert findings["browser sandbox"]["status"] == "warn"
    assert findings["browser sandbox"]["detail"] == f"off: {REFUSED}"


@pytest.mark.soak
@pytest.mark.full
@pytest.mark.slow("a whole demo")
def test_the_demo_reports_that_the_browser_has_no_sandbox(
    program: tuple[str, ...], tmp_path: Path
) -> None:
    ended = subprocess.run(
        [*program, "demo", "--data-dir", str(tmp_path / "data")],
        env={**os.environ, "DEMO_EXIT": "1"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert f"The browser runs without its sandbox: {REFUSED}" in ended.stdout
    assert ended.returncode == 0, ended.stdout + ended.stderr
