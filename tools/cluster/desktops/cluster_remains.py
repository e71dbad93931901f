"""What dead desktops left on nodes, behind the port ``DesktopRemains``.

The recovery of recordings works in threads, so a thread asks the event loop, which has the
connections to the gates, and waits for its answer.
"""

import asyncio
import os
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.tools.recovery.ports import LeftRecording, Remains

from .gates import GateAddress, GateClients
from .placed import Placed

T = TypeVar("T")
Json = dict[str, Any]
REMAINS = "/remains"
SECONDS = 60.0
"""Of one request; the copy of a file has no limit."""


class ClusterRemains:
    """The remains on all nodes that can be reached; ``placed`` returns what rows show."""

    def __init__(
        self, clients: GateClients, placed: Callable[[], Placed], loop: asyncio.AbstractEventLoop
    ) -> None:
        self._clients = clients
        self._placed = placed
        self._loop = loop
        self._gates: dict[str, GateAddress] = {}
        """Gate of each desktop that has left something."""

    def list(self) -> Remains:
        """Return what all dead desktops have left; that of nodes that are down comes later."""
        return self._wait(self._list())

    def open(self, left: LeftRecording, name: str) -> int:
        """Copy a file here and return a descriptor of the copy, which has no name any more.

        Raises:
            OSError: If the node cannot be reached, or has no such file.
        """
        with tempfile.TemporaryDirectory(prefix="deskhand-remains-") as folder:
            copy = Path(folder) / "copy"
            self._wait(self._download(left, name, copy), None)
            return os.open(copy, os.O_RDONLY)

    def remove(self, left: LeftRecording) -> None:
        """Remove a recording, and with the last one the desktop's folder.

        Raises:
            OSError: If the node cannot be reached, or the desktop is not dead.
        """
        self._wait(self._remove(left))

    def _wait(self, work: Coroutine[Any, Any, T], seconds: float | None = SECONDS) -> T:
        found = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return found.result(seconds)
        except (DesktopRefused, DesktopUnavailable) as error:
            raise OSError(str(error)) from error
        finally:
            found.cancel()

    async def _list(self) -> Remains:
        gates = [node.gate for node in self._placed().nodes.values() if node.is_up]
        found: list[LeftRecording] = []
        ending: set[str] = set()
        for gate in gates:
            try:
                answer = await self._clients.gate(gate).request("GET", REMAINS)
            except (DesktopRefused, DesktopUnavailable):
                continue
            ending.update(answer["ending"])
            for one in answer["recordings"]:
                self._gates[one["desktop_id"]] = gate
                left = one["desktop_id"], one["recording_id"], tuple(one["files"])
                found.append(LeftRecording(*left))
        return Remains(tuple(found), frozenset(ending))

    async def _download(self, left: LeftRecording, name: str, to: Path) -> None:
        client = self._clients.gate(self._gate(left))
        await client.download(f"{REMAINS}/{left.desktop_id}/{left.recording_id}/{name}", to)

    async def _remove(self, left: LeftRecording) -> None:
        client = self._clients.gate(self._gate(left))
        try:
            await client.request("DELETE", f"{REMAINS}/{left.desktop_id}/{left.recording_id}")
        except DesktopRefused as error:
            if error.status != 404:
                raise

    def _gate(self, left: LeftRecording) -> GateAddress:
        if left.desktop_id not in self._gates:
            raise FileNotFoundError(f"no node that can be reached has desktop {left.desktop_id}")
        return self._gates[left.desktop_id]
