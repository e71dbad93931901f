"""`deskhand doctor --install`: installs the packages that findings name."""

import os
import re
import subprocess
from collections.abc import Callable, Iterable, Sequence

from .finding import Finding

_APT = re.compile(r"apt-get install ((?:[a-z0-9][a-z0-9.+-]* ?)+)")
Run = Callable[[Sequence[str]], int]


def packages(findings: Iterable[Finding]) -> list[str]:
    """Return the Debian packages that findings name as missing, each once."""
    texts = (f"{one.detail}\n{one.remedy}" for one in findings if one.status != "ok")
    wanted = (names for text in texts for names in _APT.findall(text))
    return list(dict.fromkeys(name for names in wanted for name in names.split()))


def commands(names: Sequence[str], *, root: bool) -> list[list[str]]:
    """Return the commands that install packages; without root, sudo asks for the password."""
    prefix = [] if root else ["sudo"]
    options = ["-y", "--no-install-recommends"]
    return [[*prefix, "apt-get", "update"], [*prefix, "apt-get", "install", *options, *names]]


def install(names: Sequence[str], run: Run | None = None) -> str:
    """Install packages; return why that failed, empty if it did not."""
    for command in commands(names, root=os.geteuid() == 0):
        try:
            status = (run or _run)(command)
        except OSError as error:
            return f"{command[0]}: {error.strerror}"
        # An update may fail for one source while the packages come from another.
        if status and "install" in command:
            return f"{' '.join(command)} ended with {status}"
    return ""


def _run(command: Sequence[str]) -> int:
    # Its output goes to the errors: the standard output is for findings.
    return subprocess.run(command, stdout=2, check=False).returncode
