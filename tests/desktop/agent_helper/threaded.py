"""The helper in a thread of the test process: the same server, socket and operations."""

import os
import socket
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from deskhand.desktop.agent_helper.agent_helper import AgentHelper
from deskhand.desktop.agent_helper.files import HelperFiles
from deskhand.desktop.agent_helper.worker.operations import operations
from deskhand.desktop.agent_helper.worker.server import CallServer, Operation
from deskhand.desktop.files.roots import EVERYWHERE, Roots

LIMIT = 20.0


class ThreadedHelper:
    """A helper that is a thread."""

    def __init__(self, known: Mapping[str, Operation]) -> None:
        self.connection, self.its = socket.socketpair()
        self.connection.setblocking(False)
        self._thread = threading.Thread(target=self._serve, args=(known,), daemon=True)
        self._thread.start()

    def end(self, grace: float) -> None:
        """Wait for its end."""
        self._thread.join(LIMIT)
        assert not self._thread.is_alive()

    def die(self) -> None:
        """End it as SIGKILL would."""
        self.its.shutdown(socket.SHUT_RDWR)

    def _serve(self, known: Mapping[str, Operation]) -> None:
        with self.its:
            CallServer(self.its, known).serve()


class Threaded:
    """Starts helpers that are threads; an instance is called as a start function."""

    def __init__(
        self,
        roots: Roots = EVERYWHERE,
        environment: Mapping[str, str] = os.environ,
        more: Mapping[str, Operation] | None = None,
    ) -> None:
        self._known = operations(roots, environment) | dict(more or {})
        self.started: list[ThreadedHelper] = []

    def __call__(self) -> ThreadedHelper:
        """Start another one."""
        self.started.append(ThreadedHelper(self._known))
        return self.started[-1]


@asynccontextmanager
async def agent_files(roots: Roots = EVERYWHERE) -> AsyncIterator[HelperFiles]:
    """Yield the files of the test's own user."""
    async with AgentHelper(Threaded(roots)) as helper:
        yield HelperFiles(helper)


def unopened_files() -> HelperFiles:
    """Return files for an application of which no file is requested."""
    return HelperFiles(AgentHelper(Threaded()))
