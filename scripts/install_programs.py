"""Installs the programs of other makers that `make programs` tests.

Usage: python -m scripts.install_programs [--full]

``--full`` adds those of the tests marked ``full``. What cannot be installed is printed with the
reason; the tests that need it read that from ``missing.json`` and are skipped.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / ".venv-programs"
MISSING = FOLDER / "missing.json"
CLASSES, MODULES = FOLDER / "classes", FOLDER / "modules"
SWING_EDITOR = ROOT / "tests" / "programs" / "sources" / "Editor.java"
_MODULES_OF = "/usr/lib/python3/dist-packages/"

PACKAGES = {
    "gnome-text-editor": "/usr/bin/gnome-text-editor",
    "python3-pyqt6": f"{_MODULES_OF}PyQt6/QtWidgets*",
    "python3-tk": "/usr/lib/python3*/lib-dynload/_tkinter*",
    "default-jre": "/usr/lib/jvm/*/lib/libawt_xawt.so",
    "ecj": "/usr/bin/ecj",
    "xclip": "/usr/bin/xclip",
    "xsel": "/usr/bin/xsel",
    "tmux": "/usr/bin/tmux",
    "python3-pil": f"{_MODULES_OF}PIL",
    "python3-xlib": f"{_MODULES_OF}Xlib",
}
"""Package of Debian to a file that it installs; another package may have installed that."""
LONG = {
    "libreoffice-writer": "/usr/bin/lowriter",
    "firefox-esr": "/usr/bin/firefox-esr",
    "alacritty": "/usr/bin/alacritty",
}
"""The same for the tests marked ``full``."""
MADE = {
    "swing editor": ("ecj", "-17", "-proc:none", "-d", str(CLASSES), str(SWING_EDITOR)),
    # Its own dependencies are packages of Debian, or for other systems.
    "pyautogui": (
        *(sys.executable, "-m", "pip", "install", "-qq", "--disable-pip-version-check"),
        *("--upgrade", "--no-deps", "--target", str(MODULES)),
    ),
}
"""Commands that make the rest in `FOLDER`."""


def main() -> int:
    """Install what is missing; return 0 also if some of it cannot be installed."""
    began = time.monotonic()
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    wanted = PACKAGES | LONG if parser.parse_args().full else PACKAGES
    new = absent(wanted)
    missing = installed(new)
    with (ROOT / "pyproject.toml").open("rb") as file:
        requirements = tomllib.load(file)["dependency-groups"]["programs"]
    for name, command in MADE.items():
        added = requirements if name == "pyautogui" else ()
        if reason := _failure((*command, *added)):
            missing[name] = reason
    FOLDER.mkdir(exist_ok=True)
    MISSING.write_text(json.dumps(missing))
    for name, reason in missing.items():
        sys.stderr.write(f"not installed: {name}: {reason}\n")
    seconds = time.monotonic() - began
    sys.stdout.write(f"programs: {len(new)} packages were missing; ready after {seconds:.0f} s\n")
    return 0


def absent(wanted: Mapping[str, str]) -> list[str]:
    """Return the packages of which the file is missing."""
    return [name for name, file in wanted.items() if not any(Path("/").glob(file.lstrip("/")))]


def installed(packages: Iterable[str]) -> dict[str, str]:
    """Install packages together or else one by one; return why those that are missing are."""
    names = tuple(packages)
    if not names:
        return {}
    apt = (
        *(() if os.geteuid() == 0 else ("sudo", "-n")),
        *(
            "env",
            "DEBIAN_FRONTEND=noninteractive",
            "apt-get",
            "-q",
            "-o",
            "DPkg::Lock::Timeout=300",
        ),
    )
    install = (*apt, "install", "-y", "--no-install-recommends")
    _failure((*apt, "update"))
    if not _failure((*install, *names)):
        return {}
    reasons = ((name, _failure((*install, name))) for name in names)
    return {name: reason for name, reason in reasons if reason}


def _failure(command: tuple[str, ...]) -> str:
    """Run a command; return the last line of its errors if it fails, else an empty text."""
    if shutil.which(command[0]) is None:
        return f"there is no {command[0]}"
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    lines = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
    return lines[-1] if done.returncode else ""


if __name__ == "__main__":
    sys.exit(main())
