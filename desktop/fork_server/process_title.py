"""Arguments of this process as other programs see them (proc(5), cmdline)."""

import ctypes
from collections.abc import Sequence
from pathlib import Path

_FIRST, _BEHIND = 48 - 3, 49 - 3
"""Positions of ``arg_start`` and ``arg_end`` among the fields of ``stat`` behind the name, which
may contain anything (proc_pid_stat(5))."""


def area_of(stat: str) -> tuple[int, int]:
    """Return address and length of the memory of a process that holds its arguments."""
    fields = stat.rpartition(")")[2].split()
    first, behind = int(fields[_FIRST]), int(fields[_BEHIND])
    return first, behind - first


def fitted(arguments: Sequence[str], length: int) -> bytes:
    """Return arguments as bytes of that length: each ends with NUL, and so does what is cut."""
    text = b"".join(one.encode("utf-8", "surrogateescape") + b"\0" for one in arguments)
    return text[: length - 1].ljust(length, b"\0")


class ProcessTitle:
    """The arguments of this process, and of its copies, in the place of those it was started with.

    They are cut to the length of those.
    """

    def __init__(self) -> None:
        self._address, self._length = area_of(Path("/proc/self/stat").read_text())

    def set(self, arguments: Sequence[str]) -> None:
        """Show these arguments from now on."""
        ctypes.memmove(self._address, fitted(arguments, self._length), self._length)
