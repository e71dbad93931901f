"""The units of systemd, checked by systemd itself where it is installed; no manager has to run."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.system.services import DESKHAND

UNITS = Path(__file__).parents[2] / "deploy" / "systemd"
NAMES = ("deskhand.service", "deskhand-launcher.service")
MOST_EXPOSURE = 4.0

pytestmark = [pytest.mark.soak]


def analyzed(*arguments: str) -> str:
    ended = subprocess.run(
        ["systemd-analyze", *arguments], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """Copies whose program exists on this machine."""
    for name in NAMES:
        text = (UNITS / name).read_text()
        (tmp_path / name).write_text(text.replace("/opt/deskhand/bin/deskhand", "/bin/true"))
    return tmp_path


def test_systemd_understands_each_line(units: Path) -> None:
    shown = analyzed("verify", "--man=no", *(str(units / name) for name in NAMES))
    assert not [line for line in shown.splitlines() if "deskhand" in line]


def test_the_control_plane_is_exposed_little(units: Path) -> None:
    shown = analyzed("security", "--offline=yes", "--no-pager", str(units / NAMES[0]))
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", shown)
    assert found is not None, shown
    assert float(found[1]) <= MOST_EXPOSURE, shown


@pytest.mark.parametrize("name", NAMES)
def test_desktops_outlive_a_restart(name: str) -> None:
    lines = (UNITS / name).read_text().splitlines()
    assert {"KillMode=process", "Delegate=yes", "Type=notify"} <= {*lines}


def manager_runs() -> bool:
    """Return whether a service manager runs on this machine, in any state but offline."""
    asked = subprocess.run(
        ["systemctl", "is-system-running"], capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() in ("running", "degraded")


@pytest.mark.root
@pytest.mark.skipif(not manager_runs(), reason="no systemd runs here: the units are only analyzed")
def test_a_transient_unit_is_active_when_the_control_plane_accepts_requests(
    tmp_path: Path,
) -> None:
    name = f"deskhand-test-{tmp_path.name}"
    lines = (UNITS / NAMES[1]).read_text().splitlines()
    copied = [line for line in lines if line in ("Type=notify", "KillMode=process", "Delegate=yes")]
    options = [f"--property={line}" for line in copied]
    data = str(tmp_path / "data")
    command = (DESKHAND, "up", "--data-dir", data, "--listen", "127.0.0.1:0")
    # A unit of the type notify is started when the program has reported that it is ready.
    subprocess.run(["systemd-run", f"--unit={name}", *options, *command], check=True)
    try:
        asked = subprocess.run(
            [DESKHAND, "url", "--data-dir", data], capture_output=True, text=True, check=False
        )
        assert asked.returncode == 0, asked.stderr
    finally:
        subprocess.run(["systemctl", "stop", name], check=True)
