"""Selections of a private session, which are not left to the agent.

The X server reports new owners of a selection (XFIXES) while a session lasts. At its end a
selection that got one is emptied, before the programs of the agent go on, and the server refuses
a later owner whose key or click was earlier. Content that the service itself owned before returns.

The connection is that of the display's start, because programs can use up the connections of an X
server. A thread uses it, so that a server that hangs delays a change of control by `SECONDS` only.
"""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from deskhand.desktop.x11.connection import LOST, ConnectionThread
from deskhand.desktop.x11.selection import CLIPBOARD, PRIMARY, Selection

logger = logging.getLogger(__name__)

SECONDS = 1.0
"""Time that a change of control waits for the X server."""


class OwnContent(Protocol):
    """The content that the service itself owns."""

    def remember(self) -> None:
        """Note the present content; does not block."""

    def recall(self) -> None:
        """Own again what was noted, some time later; does not block."""


class PrivateSelections(ConnectionThread):
    """Empties what a person has copied or selected in private. Its calls come from one thread."""

    def __init__(self, display: str, xauthority: Path, clipboard: OwnContent) -> None:
        super().__init__(display, xauthority, "selections")
        self._clipboard = clipboard
        self._watched: Selection | None = None

    def begin(self) -> None:
        """Note the selections, before a person acts in private."""
        self._clipboard.remember()
        self._wait(self._watch)

    def end(self) -> None:
        """Empty or bring back the selections that changed since `begin`; without `begin` all."""
        self._wait(self._empty)
        self._clipboard.recall()

    def _wait(self, work: Callable[[], None]) -> None:
        try:
            self._thread.submit(work).result(SECONDS)
        except TimeoutError:
            logger.warning("the X server did not answer at a change of control")
        except LOST:
            # The selections have gone with their server.
            pass

    def _watch(self) -> None:
        self._watched = None
        watched = Selection(self._connection)
        watched.watch_owners(CLIPBOARD, PRIMARY)
        watched.sync()
        self._watched = watched

    def _empty(self) -> None:
        watched, self._watched = self._watched, None
        if watched is None:
            Selection(self._connection).empty(CLIPBOARD, PRIMARY)
            return
        # All changes before it arrive with its reply.
        watched.sync()
        watched.handle_pending()
        watched.empty(*watched.taken)
        watched.close()
