"""The virtual environment of the clients, and programs that run in it."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PROGRAMS = Path(__file__).with_name("programs")
PATIENCE = 120.0
"""Seconds after which a client hangs."""
QUIET = {"CUA_TELEMETRY": "off", "CUA_TELEMETRY_ENABLED": "false"}
"""Clients of cua report their use to its makers otherwise."""


@dataclass(frozen=True)
class Clients:
    """The environment that `scripts.make_interop_environment` makes."""

    folder: Path

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
        return {one.metadata["Name"].lower(): one.version for one in distributions(path=places)}

    def run(
        self, *command: str | Path, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment, or one of ``programs/*.py``, until it has ended.

        An error of the program fails the test with all that it wrote.
        """
        done = subprocess.run(
            self._found(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            check=False,
            env={**os.environ, **QUIET, **(environment or {})},
        )
        assert done.returncode == 0, done.stdout
        return done

    def _found(self, command: Sequence[str | Path]) -> list[str]:
        first, *more = map(str, command)
        if first.endswith(".py"):
            return [str(self.python), str(PROGRAMS / first), *more]
        return [str(self.folder / "bin" / first), *more]


def clients() -> Clients:
    """Return the environment of this checkout, or that of ``DESKHAND_INTEROP``."""
    return Clients(Path(os.environ.get("DESKHAND_INTEROP", ROOT / ".venv-interop")))


def version_printed(command: Sequence[str]) -> str:
    """Return the version that a program prints; empty if there is no such program."""
    if shutil.which(command[0]) is None:
        return ""
    printed = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    found = re.search(r"\d+(\.\w+)+", printed.stdout + printed.stderr)
    return found[0] if found else "unknown"
