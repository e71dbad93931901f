"""Makes the virtual environment of the clients that `make interop` tests.

Usage: python -m scripts.make_interop_environment [DIR]

The clients need other versions of libraries than Deskhand, so they have an environment of their
own, which does not contain Deskhand. It has the newest Python from 3.12 on that is found, else the
one of this script. The groups of pyproject.toml are installed at once; if that fails, each
requirement alone, so that a client that cannot be installed does not prevent the others. What
clients run on desktops (`WANTED`) is installed into the system.
"""

import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

from scripts.install_programs import PACKAGES, absent, installed

ROOT = Path(__file__).parent.parent
ENVIRONMENT = ROOT / ".venv-interop"
PYTHONS = ("python3.14", "python3.13", "python3.12")
PYENV = Path("~/.pyenv/versions").expanduser()
GROUPS = {"interop": (), "interop-without-dependencies": ("--no-deps",)}
"""Group of pyproject.toml to the options of pip."""
READY = ".deskhand-setup"
# cua-auto-harness runs its probe on a desktop.
WANTED = {name: PACKAGES[name] for name in ("python3-tk", "python3-xlib")}
NODE_PACKAGES = ("@novnc/novnc@1.7.0",)
"""Installed below ``npm`` where npm is found."""


def main() -> int:
    """Make the environment anew and name what could not be installed; return 0."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ENVIRONMENT
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([newest_python(), "-m", "venv", str(folder)], check=True)
    python = str(folder / "bin" / "python")
    # `pip install --group` is new in pip 25.1.
    _pip(python, "--upgrade", "pip>=25.1")
    with (ROOT / "pyproject.toml").open("rb") as file:
        groups = tomllib.load(file)["dependency-groups"]
    for group, options in GROUPS.items():
        if not _pip(python, *options, "--group", group):
            for requirement in groups[group]:
                if not _pip(python, *options, requirement):
                    sys.stderr.write(f"not installed: {requirement}\n")
    for name, reason in installed(absent(WANTED)).items():
        sys.stderr.write(f"not installed: {name}: {reason}\n")
    npm = shutil.which("npm")
    if npm:
        subprocess.run([npm, "install", "--prefix", folder / "npm", *NODE_PACKAGES], check=False)
    (folder / READY).touch()
    return 0


def newest_python() -> str:
    """Return the newest Python from 3.12 on that is found, else that of this script."""
    for name in PYTHONS:
        # pyenv puts only its selected versions on the path, and names without a version.
        found = (shutil.which(name), *map(str, sorted(PYENV.glob(f"*/bin/{name}"))))
        for path in found:
            if path and _runs(path):
                return path
    return sys.executable


def _runs(python: str) -> bool:
    done = subprocess.run([python, "-c", "import venv"], capture_output=True, check=False)
    return done.returncode == 0


def _pip(python: str, *arguments: str) -> bool:
    command: Sequence[str] = (python, "-m", "pip", "install", "-qq", "--disable-pip-version-check")
    return subprocess.run([*command, *arguments], cwd=ROOT, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
