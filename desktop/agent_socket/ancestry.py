"""Decision which command a process belongs to, by its ancestors. Pure.

A command of a chat is a process that the service started. Its descendants belong to the same chat
while each of them has its parent: a process whose parent has ended became a child of init, and
belongs to no chat. Only the process tree counts: a process can change its environment and its
arguments, but not its parent.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from deskhand.desktop.tool_calls.caller import CallingChat


@dataclass(frozen=True)
class ProcessLink:
    """One process of a chain from a process up to the first one of the system."""

    pid: int
    started: int
    """Start time in clock ticks since boot; together with ``pid`` it identifies the process."""


@dataclass(frozen=True)
class CommandRoot:
    """A running process that the service started for a command."""

    link: ProcessLink
    chat: CallingChat | None
    """None for a command that was started for no chat."""


@dataclass(frozen=True)
class RequestOrigin:
    """The place in the desktop's process tree that a request comes from."""

    chat: CallingChat | None = None
    command: bool = False
    """True for a descendant of a command."""
    panel: bool = False
    """True for a program that a person started from the panel or the window manager."""
    browser: bool = False
    """True for a program of the browser's own user, which belongs to no chat."""

    @property
    def chat_id(self) -> str:
        """Id of the chat, empty if there is none."""
        return "" if self.chat is None else self.chat.id


def origin_of(
    chain: Sequence[ProcessLink], commands: Iterable[CommandRoot], launchers: Collection[int] = ()
) -> RequestOrigin:
    """Return the origin of the first process of a chain, which goes from it to its ancestors.

    ``launchers`` are the pids of the panel and the window manager.
    """
    roots: Mapping[ProcessLink, CommandRoot] = {root.link: root for root in commands}
    child: ProcessLink | None = None
    for link in chain:
        # A process that is younger than its child has got the pid of the real parent, which ended.
        if child is not None and link.started > child.started:
            break
        if link in roots:
            return RequestOrigin(roots[link].chat, command=True)
        if link.pid in launchers:
            return RequestOrigin(panel=True)
        child = link
    return RequestOrigin()
