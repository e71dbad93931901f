"""The launcher and the control plane as two services, as the units of systemd start them."""

import os
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.attack.relocated import Installation, installation, user
from tests.system.services import PATIENCE, service

pytestmark = [pytest.mark.x11, pytest.mark.root, pytest.mark.soak]


@pytest.fixture(scope="module")
def installed() -> Iterator[Installation]:
    with installation() as found:
        yield found


def without_rights(program: Sequence[str]) -> tuple[str, ...]:
    account = user()
    return (
        *("setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups"),
        *program,
    )


@contextmanager
def started_launcher(found: Installation, environment: dict[str, str]) -> Iterator[Path]:
    """Run the launcher from its readiness to the end of the block; yield its address."""
    path = found.folder / "launcher.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        notified = found.folder / "notify"
        notified.unlink(missing_ok=True)
        manager.bind(str(notified))
        manager.settimeout(PATIENCE)
        process = subprocess.Popen(
            [*found.program, "launcher", str(path), "--data-dir", str(found.data)],
            env={**os.environ, **environment, "NOTIFY_SOCKET": str(notified)},
        )
        try:
            assert manager.recv(64) == b"READY=1"
            yield path
        finally:
            process.terminate()
            assert process.wait(PATIENCE) == 0


@pytest.mark.slow("a launcher, two control planes and a desktop of each")
def test_a_control_plane_without_root_starts_desktops_with_users_of_their_own(
    installed: Installation, tmp_path: Path
) -> None:
    environment = {"DESKHAND_RUN_DIR": str(installed.folder / "run")}
    up = ("up", "--data-dir", str(installed.data), "--listen", "127.0.0.1:0")
    with started_launcher(installed, environment) as path:
        plain = {**environment, "DESKHAND_LAUNCHER": str(path), "HOME": str(installed.folder)}
        # The launcher serves the next control plane when the first one has ended.
        for turn in ("first", "second"):
            errors = tmp_path / turn
            program = without_rights(installed.program)
            with service(errors, *up, environment=plain, program=program) as plane:
                serving = Path(f"/proc/{plane.ready['pid']}")
                assert serving.stat().st_uid == user().pw_uid
                desktop = plane.post("/api/v0/desktops", {"name": turn})
                status = plane.get(f"/api/v0/desktops/{desktop['id']}/desktop")
                missing = {one["name"] for one in status["protections"] if one["state"] == "none"}
                assert "separate users" not in missing, status["protections"]
            assert errors.read_text() == ""


def test_another_user_gets_no_launcher(installed: Installation) -> None:
    environment = {"DESKHAND_RUN_DIR": str(installed.folder / "run")}
    with (
        started_launcher(installed, environment) as path,
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as stranger,
    ):
        # Root may connect to any socket; the launcher closes the connection all the same.
        stranger.settimeout(PATIENCE)
        stranger.connect(str(path))
        assert stranger.recv(64) == b""


def test_without_a_launcher_the_control_plane_names_what_is_missing(
    installed: Installation,
) -> None:
    # A launcher gives the data directory to the user of the control plane.
    with started_launcher(installed, {"DESKHAND_RUN_DIR": str(installed.folder / "run")}):
        pass
    ended = subprocess.run(
        [*without_rights(installed.program), "up", "--data-dir", str(installed.data)],
        env={**os.environ, "DESKHAND_LAUNCHER": "/nowhere/launcher.sock"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 4
    assert "no launcher answers at /nowhere/launcher.sock" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
