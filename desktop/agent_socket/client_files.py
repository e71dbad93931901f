"""Scripts in the desktop's directory by which commands ask the service."""

import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from deskhand.desktop.isolation.environment import SYSTEM_PATH

from .binding import AGENT_SOCKET

PROGRAM = Path(__file__).with_name("request_program.py")
"""Sends the requests; the service never loads it."""

REQUEST_PROGRAM = Path("share/deskhand-request.py")
ASKPASS = Path("bin/deskhand-askpass")
"""Names in the directory of the desktop."""

_SCRIPTS = {
    "browser": " browser",
    "terminal": " terminal",
    "xdg-open": " open",
    "deskhand-request": "",
}
"""Scripts and the first word of their requests."""
_DESKHAND = Path("bin/deskhand")
_STATUS = """#!/bin/sh
# `deskhand status TEXT` shows a text to the people who watch; other commands are those of the
# installed program, which the desktop's user may be unable to execute.
[ "$1" = status ] && exec {request} "$@"
PATH={path} exec deskhand "$@"
"""
_EXECUTABLE = 0o755
_ASKPASS = """#!/bin/sh
# Git and ssh ask this for a name or a password; it asks the desktop's service.
one() {{ printf %s "$1" | head -c 800; }}
# During a clone HEAD of git 2.47 names no branch that could exist.
branch=$(git symbolic-ref --short -q HEAD 2>/dev/null || echo HEAD)
origin=$(git config --get remote.origin.url 2>/dev/null)
exec {request} askpass "$1" "$(one "$branch")" "$(one "$origin")"
"""


@dataclass(frozen=True)
class ClientFiles:
    """The program that sends requests, and the scripts that call it."""

    program: str

    @classmethod
    def read(cls) -> Self:
        """Read the program; the package may be unreadable once privileges are dropped."""
        return cls(PROGRAM.read_text())

    def write(self, folder: Path) -> None:
        """Write all files into a desktop's directory."""
        # The service's own interpreter may lie where the desktop's user cannot execute it.
        python = shutil.which("python3", path=SYSTEM_PATH) or sys.executable
        program, address = folder / REQUEST_PROGRAM, folder / AGENT_SOCKET
        request = shlex.join((python, "-I", "-S", str(program), str(address)))
        texts = {
            folder / "bin" / name: f'#!/bin/sh\nexec {request}{kind} "$@"\n'
            for name, kind in _SCRIPTS.items()
        }
        status = _STATUS.format(request=request, path=shlex.quote(SYSTEM_PATH))
        texts |= {folder / _DESKHAND: status}
        texts |= {folder / ASKPASS: _ASKPASS.format(request=request), program: self.program}
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(_EXECUTABLE)
