"""Files of OSWorld's commands in the desktop's directory: programs and the module pyautogui."""

import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from deskhand.desktop.isolation.environment import SYSTEM_PATH

FOLDER = Path("share/osworld")
"""Name in the directory of the desktop."""

_TEXTS = {
    "agent_program.py": "agent_program.py",
    "public_addresses.py": "../../network/public_addresses.py",
    "lib/pyautogui/__init__.py": "pyautogui_module.py",
    "lib/pyautogui/calls.py": "calls.py",
}
"""Names in `FOLDER`, and the files, from this folder."""
_READABLE = 0o644
_EXECUTABLE = 0o755
_CHROME = """#!/bin/sh
# The browser of the desktop; the debugging port of one of its own: `deskhand forward cdp`.
for one in "$@"; do
    shift
    case "$one" in
    --remote-debugging-* | --remote-allow-origins* | --no-sandbox | --no-first-run) ;;
    --disable-* | --enable-* | --user-data-dir* | --password-store*) ;;
    *) set -- "$@" "$one" ;;
    esac
done
exec {browser} "$@"
"""
_CHROMES = ("google-chrome", "google-chrome-stable")


@dataclass(frozen=True)
class OsworldFiles:
    """The texts of the files by their names in `FOLDER`."""

    texts: Mapping[str, str]

    @classmethod
    def read(cls) -> Self:
        """Read the files; the package may be unreadable once privileges are dropped."""
        here = Path(__file__).parent
        return cls({name: (here / source).read_text() for name, source in _TEXTS.items()})

    def write(self, desktop: Path, browser: str) -> None:
        """Write all files into a desktop's directory; ``browser`` is a program, empty for none."""
        folder = desktop / FOLDER
        for name, text in self.texts.items():
            _written(folder, name, text, _READABLE)
        for name in _CHROMES if browser else ():
            _written(folder, f"bin/{name}", _CHROME.format(browser=shlex.quote(browser)))
        programs = folder / "bin"
        programs.mkdir(exist_ok=True)
        programs.chmod(_EXECUTABLE)
        python = shutil.which("python3", path=SYSTEM_PATH) or sys.executable
        link = programs / "python"
        link.unlink(missing_ok=True)
        link.symlink_to(python)


def _written(folder: Path, name: str, text: str, mode: int = _EXECUTABLE) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    # The agent's user reads them, whatever the umask of the service is.
    for parent in (folder, *path.parents[: len(Path(name).parents) - 1]):
        parent.chmod(_EXECUTABLE)
    path.write_text(text)
    path.chmod(mode)
