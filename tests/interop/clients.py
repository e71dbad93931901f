"""The virtual environment of the clients, and programs that run in it."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path

from packaging.utils import canonicalize_name

from tests.system.services import SLOWNESS

ROOT = Path(__file__).parent.parent.parent
PROGRAMS = Path(__file__).with_name("programs")
PATIENCE = 170.0 * SLOWNESS
"""Seconds after which a client hangs."""


@dataclass(frozen=True)
class Clients:
    """The environment that `scripts.make_interop_environment` makes."""

    folder: Path
    workdir: Path | None = None
    """Directory that programs run in; some leave files there."""

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def python_version(self) -> str:
        """Version of its Python; empty if there is no environment."""
        try:
            config = (self.folder / "pyvenv.cfg").read_text()
        except FileNotFoundError:
            return ""
        found = re.search(r"^version = (\S+)", config, re.MULTILINE)
        return found[1] if found else ""

    def versions(self) -> dict[str, str]:
        """Return the version of each installed distribution by its name."""
        places = [str(place) for place in self.folder.glob("lib/python3*/site-packages")]
        found = distributions(path=places)
        return {canonicalize_name(one.metadata["Name"]): one.version for one in found}

    def run(
        self,
        *command: str | Path,
        given: str = "",
        environment: Mapping[str, str] | None = None,
        patience: float = PATIENCE,
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment, or one of ``programs/*.py``, until it has ended.

        Its standard input is ``given``.
        An error of the program fails the test with all that it wrote.
        """
        done = subprocess.run(
            self._found(command),
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=patience,
            check=False,
            cwd=self.workdir,
            env=self._environment(environment or {}),
        )
        assert done.returncode == 0, done.stdout
        return done

    def _environment(self, more: Mapping[str, str]) -> dict[str, str]:
        # Clients start programs of their environment by name, such as ruff.
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        return {**os.environ, "PATH": path, **more}

    def _found(self, command: Sequence[str | Path]) -> list[str]:
        first, *more = map(str, command)
        if first.endswith(".py"):
            return [str(self.python), str(PROGRAMS / first), *more]
        return [str(self.folder / "bin" / first), *more]


def clients(workdir: Path | None = None) -> Clients:
    """Return the environment of this checkout, or that of ``DESKHAND_INTEROP``."""
    return Clients(Path(os.environ.get("DESKHAND_INTEROP", ROOT / ".venv-interop")), workdir)


def version_printed(command: Sequence[str]) -> str:
    """Return the version that a program prints; empty without the program or what it prints."""
    if shutil.which(command[0]) is None:
        return ""
    printed = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    text = printed.stdout + printed.stderr
    found = re.search(r"\d+(\.\w+)+", text)
    return found[0] if found else "unknown" if text else ""
