"""Runs tests with the lowest version of each package that `pyproject.toml` permits.

Usage: python -m scripts.lowest [ARGUMENT OF PYTEST ...]

Without arguments, all quick tests run. The versions are installed into `.venv-lowest`, with the
extras whose code is in the package, and with the newest tools of developers. What these packages
need in turn is as new as they permit.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
ENVIRONMENT = ROOT / ".venv-lowest"
EXTRAS = ("openai", "gemini", "oidc", "cluster")
QUICK = "not (soak or attack or interop or live or eval or cluster or faults or programs or full)"
LOWEST = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?[^;]*?>=\s*([0-9][0-9A-Za-z.]*)")
IGNORED = ("DeprecationWarning", "PendingDeprecationWarning")
"""Warnings of these versions about later versions of what they need."""


def main() -> int:
    """Make the environment anew and run the tests in it; return the exit status."""
    shutil.rmtree(ENVIRONMENT, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
    python = str(ENVIRONMENT / "bin" / "python")
    # That of an older Python may search versions for many minutes.
    subprocess.run([python, "-m", "pip", "install", "-qq", "--upgrade", "pip"], check=True)
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder, "constraints.txt")
        constraints.write_text("\n".join(lowest(requirements())) + "\n")
        wanted = f"{ROOT}[{','.join((*EXTRAS, 'dev'))}]"
        command = (python, "-m", "pip", "install", "-qq", "--constraint", str(constraints))
        installed = subprocess.run([*command, "--editable", wanted], check=False)
    if installed.returncode != 0:
        return installed.returncode
    ignored = [word for name in IGNORED for word in ("-W", f"ignore::{name}")]
    chosen = sys.argv[1:] or ["--numprocesses=4", "--dist=worksteal", "-m", QUICK]
    return subprocess.run(
        [python, "-m", "pytest", *ignored, *chosen],
        cwd=ROOT,
        # Services that the tests start print none of them either.
        env={**os.environ, "PYTHONWARNINGS": ",".join(f"ignore::{name}" for name in IGNORED)},
        check=False,
    ).returncode


def requirements() -> list[str]:
    """Return the requirements of the package and of the extras."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    extras = (project["optional-dependencies"][name] for name in EXTRAS)
    return [*project["dependencies"], *(one for extra in extras for one in extra)]


def lowest(wanted: Sequence[str]) -> list[str]:
    """Return a constraint for each requirement: the version at which its range begins."""
    found = (LOWEST.match(one) for one in wanted)
    return [f"{one[1]}=={one[2]}" for one in found if one is not None]


if __name__ == "__main__":
    sys.exit(main())
