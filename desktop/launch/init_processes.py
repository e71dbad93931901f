"""The processes of the desktop's users, controlled by a process that init forks."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from deskhand.desktop.freeze.selection import ProcessFacts
from deskhand.desktop.programs.process_tree import Family

from .channel import Channel, ChannelClosed, Message, pair

Fork = Callable[[Channel], None]
"""Has init fork a process that answers on a channel; raises OSError."""


class ControlProcess:
    """One process of init's, while it is open. Any thread may call it; calls take turns."""

    def __init__(self, fork: Fork) -> None:
        own, there = pair()
        try:
            fork(there)
        except OSError:
            own.close()
            raise
        finally:
            there.close()
        self._channel = own
        self._asking = Lock()

    def close(self) -> None:
        """End the process."""
        self._channel.close()

    def ask(self, request: Message) -> Any:
        """Return the answer.

        Raises:
            OSError: If the process has ended.
        """
        try:
            with self._asking:
                self._channel.send(request)
                return self._channel.receive()[0]["answer"]
        except ChannelClosed as error:
            raise OSError("the process that controls others has ended") from error

    def send(self, family: Family, number: int) -> int:
        """Signal every live member and return their number."""
        return int(self.ask({"do": "send", "family": _fields(family), "number": int(number)}))

    def end(self, family: Family, grace: float) -> bool:
        """End every member; return False if one survived. Blocks longer than ``grace``."""
        return bool(self.ask({"do": "end", "family": _fields(family), "grace": grace}))


@contextmanager
def control(fork: Fork) -> Iterator[ControlProcess]:
    """Control processes during the block."""
    session = ControlProcess(fork)
    try:
        yield session
    finally:
        session.close()


class InitProcesses:
    """Table, stops and continuations of processes; see `ProcessControl` of the freezer.

    The process of init's is forked by the first use.
    """

    def __init__(self, fork: Fork) -> None:
        self._fork = fork
        self._session: ControlProcess | None = None

    def table(self) -> list[ProcessFacts]:
        """Return the processes that live."""
        rows = self._ask({"do": "table"})
        found = [ProcessFacts(*row) for row in rows]
        return [one._replace(arguments=tuple(one.arguments)) for one in found]

    def freeze(self) -> None:
        """Stop the control group of the commands, if they have one."""
        self._ask({"do": "freeze"})

    def thaw(self) -> None:
        """Let that group continue."""
        self._ask({"do": "thaw"})

    def stop(self, process: ProcessFacts) -> bool:
        """Stop a process; return False if it cannot be stopped."""
        return bool(self._ask({"do": "stop", "process": process}))

    def resume(self, process: ProcessFacts) -> None:
        """Continue a process; nothing happens if it has ended."""
        self._ask({"do": "resume", "process": process})

    def close(self) -> None:
        """End the process of init's; closing again does nothing."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _ask(self, request: Message) -> Any:
        if self._session is not None:
            try:
                return self._session.ask(request)
            except OSError:
                self.close()
        self._session = ControlProcess(self._fork)
        return self._session.ask(request)


def _fields(family: Family) -> list[list[Any]]:
    markers = [marker.decode("utf-8", "surrogateescape") for marker in family.markers]
    return [sorted(family.groups), markers, sorted(family.spared)]
