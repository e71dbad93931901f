"""Changes that the helper observes, written to a pipe as lines of JSON in a thread of their own.

A full pipe blocks the thread; meanwhile the kernel queues events, and reports their overflow as one
event. The thread ends when the reader closes its end.
"""

import json
import os
import select
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Protocol

from deskhand.desktop.agent_helper.errors import HelperUnavailable

Json = dict[str, Any]

MOST_PIPES = 48
"""Threads at once: those of all watches that the service permits, and of the downloads."""


class ObservedChange(Protocol):
    """One change."""

    def to_json(self) -> Json:
        """Return the JSON of the change."""


class ChangeSource(Protocol):
    """Something with changes to observe."""

    @property
    def descriptor(self) -> int:
        """Descriptor that becomes readable with a change."""

    def read(self) -> Sequence[ObservedChange]:
        """Return the changes since the last call, without waiting."""

    def close(self) -> None:
        """Stop observing."""


_open = threading.BoundedSemaphore(MOST_PIPES)


def change_pipe(source: ChangeSource) -> int:
    """Start the thread, which closes the source; return the descriptor to read lines from.

    Raises:
        HelperUnavailable: If there are too many.
    """
    if not _open.acquire(blocking=False):
        source.close()
        raise HelperUnavailable("too many changes are observed")
    reading, writing = os.pipe2(os.O_CLOEXEC)
    threading.Thread(target=_write, args=(source, writing), name="changes", daemon=True).start()
    return reading


def _write(source: ChangeSource, writing: int) -> None:
    poll = select.poll()
    poll.register(source.descriptor, select.POLLIN)
    # Without requested events poll(2) still reports POLLERR, when the reader has closed its end.
    poll.register(writing, 0)
    try:
        with suppress(OSError):
            while all(descriptor != writing for descriptor, _ in poll.poll()):
                for change in source.read():
                    _write_all(writing, json.dumps(change.to_json()).encode() + b"\n")
    finally:
        source.close()
        os.close(writing)
        _open.release()


def _write_all(writing: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(writing, view) :]
