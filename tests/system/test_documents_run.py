"""Every block of code in README and docs runs unchanged, in an installation of its own.

A block that cannot run here has the reason in a comment above it.
"""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from tests.system.documents import PROGRAMS, Block, blocks
from tests.system.installing import Installation, install
from tests.system.services import DESKHAND, PATIENCE, service

pytestmark = [pytest.mark.x11, pytest.mark.soak, pytest.mark.slow("runs whole documents")]

SESSION = """
import doctest, sys
from deskhand.desktop import results
tried = doctest.testfile("session.txt", module_relative=False, globs=vars(results))
sys.exit(tried.failed or not tried.attempted)
"""

ALL = blocks()


@dataclass(frozen=True)
class Place:
    """Where blocks run: an installation, and a control plane with one run that has ended."""

    installation: Installation
    folder: Path
    environment: dict[str, str]

    def run(self, *command: str) -> None:
        ended = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=9 * PATIENCE,
        )
        assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-2000:]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    base = tmp_path_factory.mktemp("documents")
    installation = install(base / "venv")
    folder, data = base / "here", base / "data"
    folder.mkdir()
    environment = {
        **os.environ,
        "PATH": f"{installation.folder}/bin:{os.environ['PATH']}",
        "DESKHAND_DATA_DIR": str(data),
        "PYTEST_PLUGINS": "deskhand.tools.pytest_plugin.plugin",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    assert Path(DESKHAND).exists()
    program = (installation.deskhand,)
    arguments = ("up", "--listen", "127.0.0.1:0", "--data-dir", str(data))
    with service(base / "errors.log", *arguments, environment=environment, program=program):
        found = Place(installation, folder, environment)
        found.run("deskhand", "run", "Show the terminal", "--model", "scripted:tour")
        yield found


def each_block() -> list[ParameterSet]:
    """Return the blocks that run; those of documents besides README before a release only."""
    return [
        pytest.param(one, marks=() if one.document == "README.md" else pytest.mark.full)
        for one in ALL
        if one.kind in PROGRAMS and not one.reason
    ]


@pytest.mark.parametrize("block", each_block(), ids=str)
def test_a_program_runs(block: Block, place: Place) -> None:
    if block.kind != "python":
        place.run("bash", "-euo", "pipefail", "-c", block.code)
    elif "\ndef test_" in block.code:
        # A shell block beside it may run the same file.
        name = "test_notes.py" if "def test_a_note" in block.code else "test_documented.py"
        (place.folder / name).write_text(block.code)
        place.run(place.installation.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", name)
    elif block.code.lstrip().startswith(">>>"):
        (place.folder / "session.txt").write_text(block.code)
        # Such a block is a docstring, and knows the names of its module.
        place.run(place.installation.python, "-c", SESSION)
    else:
        place.run(place.installation.python, "-c", block.code)
