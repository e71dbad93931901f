"""What a remote desktop has beside its pixels: clipboard, windows, applications, lease, events."""

import json
import time
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Literal, Self

from deskhand.desktop import results
from deskhand.desktop.results import Application, Event, Started, Tenure, Window

from .lines import StreamedLines
from .transport import Transport

_LONGEST_WAIT = 60.0

Json = dict[str, Any]
Clip = Literal["text", "image"]


class Clipboard:
    """What was copied last on one desktop."""

    def __init__(self, line: Transport) -> None:
        self._line = line

    async def text(self) -> str | None:
        """Return the text, None if none was copied."""
        found = await self._get("text")
        return None if found is None else found.decode()

    async def image(self) -> bytes | None:
        """Return the picture as a PNG file, None if none was copied."""
        return await self._get("image")

    async def set_text(self, text: str, *, restore_after: float | None = None) -> None:
        """Copy a text; after so many seconds, what was there before comes back by itself."""
        await self._put(restore_after, json={"text": text})

    async def set_image(self, png: bytes, *, restore_after: float | None = None) -> None:
        """Copy a picture, a PNG file; ``restore_after`` as of a text."""
        await self._put(restore_after, content=png)

    async def restore(self) -> None:
        """Copy again what was there before it was set."""
        await self._line.request("POST", "/desktop/clipboard/restore")

    async def _put(self, restore_after: float | None, **body: Any) -> None:
        wanted = None if restore_after is None else {"restore_after": str(restore_after)}
        await self._line.request("PUT", "/desktop/clipboard", params=wanted, **body)

    async def _get(self, kind: Clip) -> bytes | None:
        path, wanted = self._line.path("/desktop/clipboard"), {"type": kind}
        reply = await self._line.open_client().reply("GET", path, params=wanted)
        return None if reply.status == 204 else reply.content


class Windows:
    """The windows of one desktop's applications. Places are in the desktop's space."""

    def __init__(self, line: Transport) -> None:
        self._line = line

    async def list(self) -> tuple[Window, ...]:
        """All of them, the oldest first."""
        wanted = {"coordinate_space": self._line.space}
        found = await self._line.request("GET", "/desktop/windows", params=wanted)
        return tuple(map(results.window, found["windows"]))

    async def focus(self, window: int) -> Window | None:
        """Bring a window to the front; None if it is gone meanwhile, as of all these."""
        return await self._wish(window, "focus")

    async def maximize(self, window: int) -> Window | None:
        """Let a window fill the screen."""
        return await self._wish(window, "maximize")

    async def minimize(self, window: int) -> Window | None:
        """Hide a window until it is focused."""
        return await self._wish(window, "minimize")

    async def restore(self, window: int) -> Window | None:
        """Undo ``maximize`` and ``minimize``."""
        return await self._wish(window, "restore")

    async def close(self, window: int) -> Window | None:
        """Ask a window to close; it is returned if it is still there, with a question perhaps."""
        return await self._wish(window, "close")

    async def move(
        self,
        window: int,
        x: int | None = None,
        y: int | None = None,
        width: int | None = None,
        height: int | None = None,
    ) -> Window | None:
        """Give a window a place, a size, or both; what is left out stays."""
        return await self._wish(window, "move", x=x, y=y, width=width, height=height)

    async def _wish(self, window: int, wish: str, **place: int | None) -> Window | None:
        body: Json = {"coordinate_space": self._line.space}
        body.update({name: value for name, value in place.items() if value is not None})
        path = f"/desktop/windows/{window}/{wish}"
        told = await self._line.request("POST", path, json=body)
        return None if told["window"] is None else results.window(told["window"])


class Applications:
    """What can be started on one desktop."""

    def __init__(self, line: Transport) -> None:
        self._line = line

    async def list(self) -> tuple[Application, ...]:
        """The applications that can be launched by name."""
        found = await self._line.request("GET", "/desktop/applications")
        return tuple(map(results.application, found["applications"]))

    async def launch(self, name: str, *arguments: str) -> Started:
        """Start an application by its name; its process is in the process list."""
        body = {"name": name, "args": [*arguments]}
        return results.started(await self._line.request("POST", "/desktop/launch", json=body))

    async def launch_command(self, command: str, *arguments: str) -> Started:
        """Start an application by a command line, to which the arguments are added."""
        body = {"command": command, "args": [*arguments]}
        return results.started(await self._line.request("POST", "/desktop/launch", json=body))

    async def open_path(self, path: str) -> Started:
        """Open a file or a folder of the desktop with the application for it."""
        body = {"path": path}
        return results.started(await self._line.request("POST", "/desktop/open", json=body))

    async def open_url(self, url: str) -> Started:
        """Open an address with the application for it."""
        body = {"url": url}
        return results.started(await self._line.request("POST", "/desktop/open", json=body))


class Lease:
    """Who is in control of one desktop: a person, a chat, or nobody."""

    def __init__(self, line: Transport) -> None:
        self._line = line

    async def get(self) -> Tenure:
        """Tell who is."""
        return results.tenure(await self._line.request("GET", "/desktop/lease"))

    async def changed(self, revision: int, *, timeout: float = 30.0) -> Tenure:
        """Tell it when it differs from ``revision``, or after ``timeout`` seconds as it is."""
        wait = min(max(0.0, timeout), _LONGEST_WAIT)
        wanted = {"revision": str(revision), "wait": f"{wait:.3f}"}
        path = "/desktop/lease"
        told = await self._line.request("GET", path, params=wanted, timeout=wait + 30.0)
        return results.tenure(told)

    async def take(self, name: str, *, private: bool = True, force: bool = False) -> Tenure:
        """Take control for a person; agents wait until it is released."""
        return await self._post("take", name=name, private=private, force=force)

    async def ask(self, name: str, *, private: bool = True) -> Tenure:
        """Take control unless somebody has it; else that one is asked for it."""
        return await self._post("request", name=name, private=private)

    async def renew(self, name: str) -> Tenure:
        """Keep control a while longer."""
        return await self._post("renew", name=name)

    async def release(self, name: str) -> Tenure:
        """Give control back."""
        return await self._post("release", name=name)

    async def end(self, name: str = "") -> Tenure:
        """Take control from whoever has it, for administrators and the one named."""
        wanted = {"name": name} if name else None
        return results.tenure(await self._line.request("DELETE", "/desktop/lease", params=wanted))

    async def _post(self, action: str, **more: Any) -> Tenure:
        body = {"action": action, **more}
        return results.tenure(await self._line.request("POST", "/desktop/lease", json=body))


class EventStream:
    """What happens on one desktop; listens inside of its ``async with`` block.

    As an iterator it ends with the desktop. An event's ``id`` given as ``since`` brings what
    came after it.
    """

    def __init__(self, line: Transport, since: str) -> None:
        self._line = line
        self._since = since
        self._stack = AsyncExitStack()
        self._lines: StreamedLines

    async def __aenter__(self) -> Self:
        path = self._line.path("/desktop/events")
        headers = {"Last-Event-ID": self._since} if self._since else {}
        opening = self._line.open_client().lines(path, headers)
        self._lines = await self._stack.enter_async_context(opening)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        event = await self._next(None)
        if event is None:
            raise StopAsyncIteration
        return event

    async def expect(self, *kinds: str, timeout: float = 30.0) -> Event | None:
        """Return the next event, of certain kinds if any are named; None if the desktop ended.

        Raises:
            TimeoutError: If none comes in so many seconds; the stream goes on.
        """
        deadline = time.monotonic() + timeout
        while True:
            event = await self._next(deadline)
            if event is None or not kinds or event.kind in kinds:
                return event

    async def _next(self, deadline: float | None) -> Event | None:
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            text = await self._lines.next(left)
            if text is None:
                return None
            if text.startswith("data:"):
                return results.event(json.loads(text[5:]))
