"""The port that starts programs; `child_launcher` and `launch.init_launcher` implement it."""

from collections.abc import Sequence
from typing import Protocol

from .process_tree import Family
from .program import Program


class RunningProgram(Protocol):
    """A program that was started. Any thread may call it."""

    @property
    def pid(self) -> int:
        """Pid as the service sees it, and the process group."""

    @property
    def directory(self) -> str:
        """Working directory in which it was started."""

    def fileno(self) -> int:
        """Return a descriptor that is readable when the program has ended."""

    def poll(self) -> int | None:
        """Return the exit code, -n after signal n, or None while it runs; never blocks.

        From the first code on, its pid may belong to another process.
        """

    def signal(self, number: int, *, last: bool = False) -> None:
        """Signal its process group; nothing happens if it has ended.

        With ``last``, what is left of the group is killed when the program itself ends.
        """

    def close(self) -> None:
        """Close the descriptor; the program goes on. Closing again does nothing."""


class ProgramLauncher(Protocol):
    """Starts programs, and signals all that they have started."""

    def start(self, program: Program, descriptors: Sequence[int] = ()) -> RunningProgram:
        """Start a program, which inherits duplicates of ``descriptors``. Blocks briefly.

        Call it in a thread that lives as long as the service: the program dies with that thread.

        Raises:
            ProgramNotFound: If PATH does not contain the program.
            OSError: If the system refuses, with the directory or program concerned.
        """

    def send(self, family: Family, number: int) -> int:
        """Signal every live member of a family, and return their number. Blocks briefly."""

    def end(self, family: Family, grace: float) -> bool:
        """Send SIGTERM to a family, and SIGKILL to the rest after ``grace`` seconds. Blocks.

        Returns False if a member survived, such as one in uninterruptible sleep.
        """
