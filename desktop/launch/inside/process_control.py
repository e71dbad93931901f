"""Control of all processes of the desktop's users, in a process that init forks for the service.

It has root's rights, because the service's user can neither signal the agent's processes nor read
their environment. It works on processes of those users only, and its own user is none of them. It
ends with its channel.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from deskhand.desktop.freeze.command_group import CommandGroup
from deskhand.desktop.freeze.process_table import UserProcesses
from deskhand.desktop.freeze.selection import ProcessFacts
from deskhand.desktop.launch.channel import Channel, ChannelClosed, Message
from deskhand.desktop.programs import process_tree
from deskhand.desktop.programs.process_tree import Family


class ProcessControlServer:
    """Answers requests of one channel."""

    def __init__(
        self, channel: Channel, users: Iterable[int], group: CommandGroup | None = None
    ) -> None:
        """``group`` is that of the commands; None if they have none."""
        self._channel = channel
        self._users = frozenset(users)
        self._processes = UserProcesses(self._users, group)
        self._requests: Mapping[str, Callable[[Message], Any]] = {
            "table": lambda _: self._processes.table(),
            "freeze": lambda _: self._processes.freeze(),
            "thaw": lambda _: self._processes.thaw(),
            "stop": lambda request: self._processes.stop(ProcessFacts(*request["process"])),
            "resume": lambda request: self._processes.resume(ProcessFacts(*request["process"])),
            "send": lambda request: process_tree.send(self._family(request), request["number"]),
            "end": lambda request: process_tree.end(
                self._family(request), request["grace"], time.monotonic
            ),
        }

    def serve(self) -> None:
        """Answer until the other end is closed."""
        while True:
            try:
                request, _ = self._channel.receive()
                answer = self._requests[str(request["do"])](request)
                self._channel.send({"answer": answer})
            except ChannelClosed:
                return

    def _family(self, request: Message) -> Family:
        groups, markers, spared = request["family"]
        named = tuple(marker.encode("utf-8", "surrogateescape") for marker in markers)
        return Family(frozenset(groups), named, frozenset(spared), self._users)
