"""A program to start as one of the desktop's users. Pure.

Values are named tuples, because init needs them: the module ``dataclasses`` would cost it 1.5 MiB.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Self

UserName = Literal["agent", "service", "browser"]
"""Roles of the desktop's users; which ids they have is fixed at the start of the desktop."""


class ProgramLimits(NamedTuple):
    """Limits of one program; what the kernel refuses is left out."""

    oom_score_adj: int | None = None
    """OOM killer preference (proc(5))."""
    nice: int = 0
    memory_bytes: int | None = None
    """Address space of each process (RLIMIT_AS)."""
    cpu_seconds: int | None = None
    open_files: int | None = None
    processes: int | None = None
    """Processes and threads of the user (RLIMIT_NPROC), for the program and its descendants."""
    cgroup: str = ""
    """Directory of a control group to enter (cgroup v2)."""
    cgroup_bounds_memory: bool = False
    """True if the group has a memory limit: then ``memory_bytes`` is for processes outside it."""


class Program(NamedTuple):
    """A program, which leads its own session (setsid(2)); its pid is also its process group."""

    argv: tuple[str, ...]
    """The first word is searched in the PATH of ``environment`` if it contains no slash."""
    environment: Mapping[str, str]
    directories: tuple[str, ...] = ()
    """Working directory: the first of them that is a directory; empty for the launcher's own."""
    descriptors: tuple[int, ...] = (0, 1, 2)
    """Number in the program of each descriptor that is passed; 0 to 2 are ``/dev/null`` else."""
    terminal: int | None = None
    """Number (0 to 2) of the descriptor that becomes the controlling terminal."""
    user: UserName = "agent"
    limits: ProgramLimits = ProgramLimits()
    stoppable: bool = False
    """True to be stopped with the group of the commands, while a person or a secret types."""

    @classmethod
    def parse(cls, fields: Mapping[str, Any]) -> Self:
        """Return the program of a JSON object; other fields of it are ignored."""
        known = {name: fields[name] for name in cls._fields}
        lists = {name: tuple(known[name]) for name in ("argv", "directories", "descriptors")}
        return cls(**{**known, **lists, "limits": ProgramLimits(*known["limits"])})


class ProgramNotFound(FileNotFoundError):
    """PATH does not contain the program."""
