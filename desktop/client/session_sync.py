"""What a remote desktop has beside its pixels: clipboard, windows, applications, lease, events.

For programs without an event loop. Written from ``deskhand.desktop.client.session`` by
``scripts/make_sync_client.py``: change it there.
"""

import json
import time
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Literal, Self

from deskhand.desktop import results
from deskhand.desktop.results import Application, Event, Started, Tenure, Window

from .blocking import BlockingLines
from .transport_sync import Transport

_LONGEST_WAIT = 60.0

Json = dict[str, Any]
Clip = Literal["text", "image"]


class Clipboard:
    """What was copied last on one desktop."""

    def __init__(self, line: Transport) -> None:
        self._line = line

    def text(self) -> str | None:
        """Return the text, None if none was copied."""
        found = self._get("text")
        return None if found is None else found.decode()

    def image(self) -> bytes | None:
        """Return the picture as a PNG file, None if none was copied."""
        return self._get("image")

    def set_text(self, text: str, *, restore_after: float | None = None) -> None:
        """Copy a text; after so many seconds, what was there before comes back by itself."""
        self._put(restore_after, json={"text": text})

    def set_image(self, png: bytes, *, restore_after: float | None = None) -> None:
        """Copy a picture, a PNG file; ``restore_after`` as of a text."""
        self._put(restore_after, content=png)

    def restore(self) -> None:
        """Copy again what was there before it was set."""
        self._line.request("POST", "/desktop/clipboard/restore")

    def _put(self, restore_after: float | None, **body: Any) -> None:
        wanted = None if restore_after is None else {"restore_after": str(restore_after)}
        self._line.request("PUT", "/desktop/clipboard", params=wanted, **body)

    def _get(self, kind: Clip) -> bytes | None:
        path, wanted = self._line.path("/desktop/clipboard"), {"type": kind}
        reply = self._line.open_client().reply("GET", path, params=wanted)
        return None if reply.status == 204 else reply.content


class Windows:
    """The windows of one desktop's applications. Places are in the desktop's space."""

    def __init__(self, line: Transport) -> None:
        self._line = line

    def list(self) -> tuple[Window, ...]:
        """All of them, the oldest first."""
        wanted = {"coordinate_space": self._line.space}
        found = self._line.request("GET", "/desktop/windows", params=wanted)
        return tuple(map(results.window, found["windows"]))

    def focus(self, window: int) -> Window | None:
        """Bring a window to the front; None if it is gone meanwhile, as of all these."""
        return self._wish(window, "focus")

    def maximize(self, window: int) -> Window | None:
        """Let a window fill the screen."""
        return self._wish(window, "maximize")

    def minimize(self, window: int) -> Window | None:
        """Hide a window until it is focused."""
        return self._wish(window, "minimize")

    def restore(self, window: int) -> Window | None:
        """Undo ``maximize`` and ``minimize``."""
        return self._wish(window, "restore")

    def close(self, window: int) -> Window | None:
        """Ask a window to close; it is returned if it is still there, with a question perhaps."""
        return self._wish(window, "close")

    def move(
        self,
        window: int,
        x: int | None = None,
        y: int | None = None,
        width: int | None = None,
        height: int | None = None,
    ) -> Window | None:
        """Give a window a place, a size, or both; what is left out stays."""
        return self._wish(window, "move", x=x, y=y, width=width, height=height)

    def _wish(self, window: int, wish: str, **place: int | None) -> Window | None:
        body: Json = {"coordinate_space": self._line.space}
        body.update({name: value for name, value in place.items() if value is not None})
        path = f"/desktop/windows/{window}/{wish}"
        told = self._line.request("POST", path, json=body)
        return None if told["window"] is None else results.window(told["window"])


class Applications:
    """What can be started on one desktop."""

    def __init__(self, line: Transport) -> None:
        self._line = line

    def list(self) -> tuple[Application, ...]:
        """The applications that can be launched by name."""
        found = self._line.request("GET", "/desktop/applications")
        return tuple(map(results.application, found["applications"]))

    def launch(self, name: str, *arguments: str) -> Started:
        """Start an application by its name; its process is in the process list."""
        body = {"name": name, "args": [*arguments]}
        return results.started(self._line.request("POST", "/desktop/launch", json=body))

    def launch_command(self, command: str, *arguments: str) -> Started:
        """Start an application by a command line, to which the arguments are added."""
        body = {"command": command, "args": [*arguments]}
        return results.started(self._line.request("POST", "/desktop/launch", json=body))

    def open_path(self, path: str) -> Started:
        """Open a file or a folder of the desktop with the application for it."""
        body = {"path": path}
        return results.started(self._line.request("POST", "/desktop/open", json=body))

    def open_url(self, url: str) -> Started:
        """Open an address with the application for it."""
        body = {"url": url}
        return results.started(self._line.request("POST", "/desktop/open", json=body))


class Lease:
    """Who is in control of one desktop: a person, a chat, or nobody."""

    def __init__(self, line: Transport) -> None:
        self._line = line

    def get(self) -> Tenure:
        """Tell who is."""
        return results.tenure(self._line.request("GET", "/desktop/lease"))

    def changed(self, revision: int, *, timeout: float = 30.0) -> Tenure:
        """Tell it when it differs from ``revision``, or after ``timeout`` seconds as it is."""
        wait = min(max(0.0, timeout), _LONGEST_WAIT)
        wanted = {"revision": str(revision), "wait": f"{wait:.3f}"}
        path = "/desktop/lease"
        told = self._line.request("GET", path, params=wanted, timeout=wait + 30.0)
        return results.tenure(told)

    def take(self, name: str, *, private: bool = True, force: bool = False) -> Tenure:
        """Take control for a person; agents wait until it is released."""
        return self._post("take", name=name, private=private, force=force)

    def ask(self, name: str, *, private: bool = True) -> Tenure:
        """Take control unless somebody has it; else that one is asked for it."""
        return self._post("request", name=name, private=private)

    def renew(self, name: str) -> Tenure:
        """Keep control a while longer."""
        return self._post("renew", name=name)

    def release(self, name: str) -> Tenure:
        """Give control back."""
        return self._post("release", name=name)

    def end(self, name: str = "") -> Tenure:
        """Take control from whoever has it, for administrators and the one named."""
        wanted = {"name": name} if name else None
        return results.tenure(self._line.request("DELETE", "/desktop/lease", params=wanted))

    def _post(self, action: str, **more: Any) -> Tenure:
        body = {"action": action, **more}
        return results.tenure(self._line.request("POST", "/desktop/lease", json=body))


class EventStream:
    """What happens on one desktop; listens inside of its ``with`` block.

    As an iterator it ends with the desktop. An event's ``id`` given as ``since`` brings what
    came after it.
    """

    def __init__(self, line: Transport, since: str) -> None:
        self._line = line
        self._since = since
        self._stack = ExitStack()
        self._lines: BlockingLines

    def __enter__(self) -> Self:
        path = self._line.path("/desktop/events")
        headers = {"Last-Event-ID": self._since} if self._since else {}
        opening = self._line.open_client().lines(path, headers)
        self._lines = self._stack.enter_context(opening)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        event = self._next(None)
        if event is None:
            raise StopIteration
        return event

    def expect(self, *kinds: str, timeout: float = 30.0) -> Event | None:
        """Return the next event, of certain kinds if any are named; None if the desktop ended.

        Raises:
            TimeoutError: If none comes in so many seconds; the stream goes on.
        """
        deadline = time.monotonic() + timeout
        while True:
            event = self._next(deadline)
            if event is None or not kinds or event.kind in kinds:
                return event

    def _next(self, deadline: float | None) -> Event | None:
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            text = self._lines.next(left)
            if text is None:
                return None
            if text.startswith("data:"):
                return results.event(json.loads(text[5:]))
