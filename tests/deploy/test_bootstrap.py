"""The set-up script on a machine whose package manager and browsers are played by scripts."""

import importlib
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

BOOTSTRAP = Path(__file__).parents[2] / "deploy" / "bootstrap"
IMPORTS = re.findall(r"^from (\S+) import (\w+)$", BOOTSTRAP.read_text(), re.MULTILINE)
"""Module and name of each import of the Python code within the script."""
TOOLS = ("bash", "sh", "env", "dirname", "readlink", "head", "grep", "sed", "true")
DEBIAN = "  Candidate: 142.0-1~deb12u1"
UBUNTU = "  Candidate: 2:1snap1-0ubuntu2"
NONE = "  Candidate: (none)"
STUB = '#!/bin/sh\nexec /snap/bin/chromium "$@"\n'
REAL = '#!/bin/sh\nexec /usr/lib/chromium/chromium "$@"\n'
PROBLEM = "deskhand: no browser is installed: install something"


@dataclass
class Machine:
    """A checkout and a PATH of its own."""

    folder: Path

    def program(self, name: str, script: str) -> None:
        """Install a program; an empty script is one that succeeds."""
        place = self.folder / "programs" / name
        place.write_text(script or "#!/bin/sh\n")
        place.chmod(0o755)

    def set_up(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run the script."""
        path = {"PATH": str(self.folder / "programs")}
        return subprocess.run(
            [self.folder / "deploy" / "bootstrap", *arguments],
            env=path | environment,
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def installed(self) -> list[str]:
        """The calls of the package manager."""
        log = self.folder / "apt.log"
        return log.read_text().splitlines() if log.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """All packages but a browser are installed."""
    made = Machine(tmp_path)
    (tmp_path / "programs").mkdir()
    (tmp_path / "deploy").mkdir()
    shutil.copy(BOOTSTRAP, tmp_path / "deploy")
    for name in TOOLS:
        found = shutil.which(name)
        assert found is not None
        (tmp_path / "programs" / name).symlink_to(found)
    made.program("id", "#!/bin/sh\necho 0\n")
    made.program("dpkg-query", "#!/bin/sh\necho installed\n")
    made.program("apt-get", f'#!/bin/sh\necho "$*" >> {tmp_path}/apt.log\n')
    made.program("python3", "")
    made.program("chromium-headless-shell", "")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    fails = f"{{ echo '{PROBLEM}' >&2; exit 1; }}"
    pip = f'echo "$*" >> {tmp_path}/pip.log; echo noise; echo Successfully installed a-1 b-2'
    python = f"#!/bin/sh\n[ $1 != -m ] || {{ {pip}; exit 0; }}\n"
    python += f"[ -e {tmp_path}/ready ] || {fails}\n"
    for name, script in (("python", python), ("deskhand", "#!/bin/sh\n")):
        (tmp_path / ".venv" / "bin" / name).write_text(script)
        (tmp_path / ".venv" / "bin" / name).chmod(0o755)
    return made


def candidate(machine: Machine, line: str) -> None:
    machine.program("apt-cache", f"#!/bin/sh\necho 'chromium:'\necho '{line}'\n")


@pytest.mark.parametrize("name", ["chromium", "google-chrome", "brave-browser"])
def test_with_a_real_browser_nothing_is_installed(machine: Machine, name: str) -> None:
    candidate(machine, DEBIAN)
    machine.program(name, REAL)
    (machine.folder / "ready").touch()
    ended = machine.set_up()
    assert (ended.returncode, machine.installed) == (0, []), ended.stderr


def test_without_one_the_package_of_debian_is_installed(machine: Machine) -> None:
    candidate(machine, DEBIAN)
    (machine.folder / "ready").touch()
    assert machine.set_up().returncode == 0
    assert machine.installed[-1].endswith("--no-install-recommends chromium")


@pytest.mark.parametrize(
    ("arguments", "line", "installed"),
    [((), DEBIAN, True), ((), NONE, False), (("demo",), DEBIAN, False)],
    ids=["developers", "a distribution without it", "demo"],
)
def test_developers_get_the_chromium_without_windows(
    machine: Machine, arguments: tuple[str, ...], line: str, installed: bool
) -> None:
    candidate(machine, line)
    machine.program("chromium", REAL)
    (machine.folder / "programs" / "chromium-headless-shell").unlink()
    (machine.folder / "ready").touch()
    ended = machine.set_up(*arguments)
    assert ended.returncode == 0, ended.stderr
    found = any(call.endswith(" chromium-headless-shell") for call in machine.installed)
    assert found == installed


@pytest.mark.parametrize("line", [UBUNTU, NONE])
def test_a_package_that_is_a_snap_is_not_installed_and_set_up_fails(
    machine: Machine, line: str
) -> None:
    candidate(machine, line)
    ended = machine.set_up()
    assert ended.returncode == 4
    assert ended.stderr.splitlines()[-1] == PROBLEM
    assert not any("install" in call for call in machine.installed)


def test_a_stub_that_is_there_counts_as_none(machine: Machine) -> None:
    candidate(machine, UBUNTU)
    machine.program("chromium", STUB)
    assert machine.set_up().returncode == 4


def test_another_browser_of_the_setting_is_enough(machine: Machine) -> None:
    candidate(machine, DEBIAN)
    machine.program("vivaldi", REAL)
    (machine.folder / "ready").touch()
    assert machine.set_up(DESKHAND_BROWSER="vivaldi").returncode == 0
    assert machine.installed == []


def test_the_demo_needs_no_tools_of_developers(machine: Machine) -> None:
    machine.program("dpkg-query", "#!/bin/sh\necho missing\n")
    candidate(machine, DEBIAN)
    (machine.folder / "ready").touch()
    ended = machine.set_up("demo")
    assert ended.returncode == 0, ended.stderr
    packages = machine.installed[-1].split()
    assert "tigervnc-standalone-server" in packages
    assert not {"xdotool", "ffmpeg", "caddy", "nginx"} & {*packages}
    assert (machine.folder / "pip.log").read_text().endswith("--editable .\n")


def test_it_shows_what_it_installs_and_how_long_it_took(machine: Machine) -> None:
    candidate(machine, DEBIAN)
    machine.program("chromium", REAL)
    (machine.folder / "ready").touch()
    lines = machine.set_up("demo").stdout.splitlines()
    assert "noise" not in lines
    shown = [re.sub(r"\d+ s", "N s", line) for line in lines]
    assert "deskhand setup: installed 2 Python packages in N s: a-1 b-2" in shown
    assert shown[-1] == "deskhand setup: ready after N s"


@pytest.mark.parametrize(("module", "name"), IMPORTS)
def test_each_name_that_the_script_imports_exists(module: str, name: str) -> None:
    assert hasattr(importlib.import_module(module), name)


def test_the_script_imports_what_judges_the_browser() -> None:
    assert ("deskhand.tools.commands.diagnosis.doctor", "browser_problem") in IMPORTS
