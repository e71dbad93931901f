"""Report of a program's start, which its process writes to a pipe before execve(2). Pure.

The pipe closes with a successful execve, so end-of-file without a failure is success. The lines:

* ``directory N``: the directory of this index is entered next; the last of them counts;
* ``failed STEP ERRNO``: the start ended at this step.
"""

from typing import NamedTuple

DIRECTORY, EXECUTE, FIND = "directory", "execute", "find"
"""Steps whose failure concerns a directory or the program; the others concern the system."""


class StartReport(NamedTuple):
    """The end of a start."""

    directory: int | None = None
    """Index of the last directory that was tried: the working directory, or the one refused."""
    step: str = ""
    """Step that failed; empty if the program runs."""
    errno: int = 0


def tried(directory: int) -> bytes:
    """Return the line for a directory that is entered next."""
    return f"{DIRECTORY} {directory}\n".encode()


def failed(step: str, errno: int) -> bytes:
    """Return the line for a failure."""
    return f"failed {step} {errno}\n".encode()


def parse_report(data: bytes) -> StartReport:
    """Read all lines; a line that was cut off by the end of the process is ignored."""
    report = StartReport()
    for line in data.decode().splitlines(keepends=True):
        words = line.split()
        if not line.endswith("\n"):
            break
        if words[0] == DIRECTORY:
            report = report._replace(directory=int(words[1]))
        else:
            report = report._replace(step=words[1], errno=int(words[2]))
    return report
