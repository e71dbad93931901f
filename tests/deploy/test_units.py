"""The units of systemd, checked by systemd itself where it is installed; no manager has to run."""

import re
import subprocess
from pathlib import Path

import pytest

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
