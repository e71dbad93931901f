"""Parts of a remote desktop beside input and pictures: clipboard, windows, lease, events."""

import time
from typing import Any, Literal

from deskhand.desktop import results
from deskhand.desktop.results import Application, Event, Started, Tenure, Window

from .received_events import ReceivedEvents
from .transport import Transport

# The service holds a request for a change of the lease for at most so long.
_LONGEST_WAIT = 60.0

Json = dict[str, Any]
Clip = Literal["text", "image"]


class Clipboard:
    """The clipboard of one desktop."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def text(self) -> str | None:
        """Return the text; None if the clipboard holds none."""
        found = await self._get("text")
        return None if found is None else found.decode()

    async def image(self) -> bytes | None:
        """Return the picture as a PNG file; None if the clipboard holds none."""
        return await self._get("image")

    async def set_text(self, text: str, *, restore_after: float | None = None) -> None:
        """Copy a text; after ``restore_after`` seconds the previous content comes back."""
        await self._put(restore_after, json={"text": text})

    async def set_image(self, png: bytes, *, restore_after: float | None = None) -> None:
        """Copy a picture, a PNG file; ``restore_after`` as in `set_text`."""
        await self._put(restore_after, content=png)

    async def restore(self) -> None:
        """Copy the content again that the last set replaced."""
        await self._transport.request("POST", "/desktop/clipboard/restore")

    async def _put(self, restore_after: float | None, **body: Any) -> None:
        wanted = None if restore_after is None else {"restore_after": str(restore_after)}
        await self._transport.request("PUT", "/desktop/clipboard", params=wanted, **body)

    async def _get(self, kind: Clip) -> bytes | None:
        path, wanted = self._transport.path("/desktop/clipboard"), {"type": kind}
        reply = await self._transport.open_client().reply("GET", path, params=wanted)
        return None if reply.status == 204 else reply.content


class Windows:
    """The windows of one desktop's applications. Geometry is in the desktop's space."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self) -> tuple[Window, ...]:
        """Return all windows, the oldest first."""
        wanted = {"coordinate_space": self._transport.space}
        found = await self._transport.request("GET", "/desktop/windows", params=wanted)
        return tuple(map(results.window, found["windows"]))

    async def focus(self, window: int) -> Window | None:
        """Raise and focus a window; like all methods here, return None if it has closed."""
        return await self._request_action(window, "focus")

    async def maximize(self, window: int) -> Window | None:
        """Maximize a window."""
        return await self._request_action(window, "maximize")

    async def minimize(self, window: int) -> Window | None:
        """Iconify a window until it is focused."""
        return await self._request_action(window, "minimize")

    async def restore(self, window: int) -> Window | None:
        """Undo ``maximize`` and ``minimize``."""
        return await self._request_action(window, "restore")

    async def close(self, window: int) -> Window | None:
        """Ask a window to close; return it if it stays open, for example to ask about saving."""
        return await self._request_action(window, "close")

    async def move(
        self,
        window: int,
        x: int | None = None,
        y: int | None = None,
        width: int | None = None,
        height: int | None = None,
    ) -> Window | None:
        """Move or resize a window; omitted values stay as they are."""
        return await self._request_action(window, "move", x=x, y=y, width=width, height=height)

    async def _request_action(
        self, window: int, action: str, **geometry: int | None
    ) -> Window | None:
        body: Json = {"coordinate_space": self._transport.space}
        body.update({name: value for name, value in geometry.items() if value is not None})
        path = f"/desktop/windows/{window}/{action}"
        reply = await self._transport.request("POST", path, json=body)
        return None if reply["window"] is None else results.window(reply["window"])


class Applications:
    """Applications of one desktop and launching them."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self) -> tuple[Application, ...]:
        """Return the applications that can be launched by name."""
        found = await self._transport.request("GET", "/desktop/applications")
        return tuple(map(results.application, found["applications"]))

    async def launch(self, name: str, *arguments: str) -> Started:
        """Start an application by its name; its process appears in the process list."""
        body = {"name": name, "args": [*arguments]}
        return results.started(await self._transport.request("POST", "/desktop/launch", json=body))

    async def launch_command(self, command: str, *arguments: str) -> Started:
        """Start an application by a command line, with the arguments appended."""
        body = {"command": command, "args": [*arguments]}
        return results.started(await self._transport.request("POST", "/desktop/launch", json=body))

    async def open_path(self, path: str) -> Started:
        """Open a file or a folder of the desktop with its application."""
        body = {"path": path}
        return results.started(await self._transport.request("POST", "/desktop/open", json=body))

    async def open_url(self, url: str) -> Started:
        """Open a URL with its application."""
        body = {"url": url}
        return results.started(await self._transport.request("POST", "/desktop/open", json=body))


class Lease:
    """Control of one desktop, held by a person, by a chat, or by none."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def get(self) -> Tenure:
        """Return the holder of the lease."""
        return results.tenure(await self._transport.request("GET", "/desktop/lease"))

    async def changed(self, revision: int, *, timeout: float = 30.0) -> Tenure:
        """Return the lease when it differs from ``revision``, or after ``timeout`` seconds."""
        wait = min(max(0.0, timeout), _LONGEST_WAIT)
        wanted = {"revision": str(revision), "wait": f"{wait:.3f}"}
        path = "/desktop/lease"
        # The service answers after `wait` at the latest; the margin is for a busy machine.
        reply = await self._transport.request("GET", path, params=wanted, timeout=wait + 30.0)
        return results.tenure(reply)

    async def take(self, name: str, *, private: bool = True, force: bool = False) -> Tenure:
        """Take control for a person; agents wait until it is released."""
        return await self._post("take", name=name, private=private, force=force)

    async def ask(self, name: str, *, private: bool = True) -> Tenure:
        """Take control if it is free; otherwise ask the holder for it."""
        return await self._post("request", name=name, private=private)

    async def renew(self, name: str) -> Tenure:
        """Renew the lease before it expires."""
        return await self._post("renew", name=name)

    async def release(self, name: str) -> Tenure:
        """Release control."""
        return await self._post("release", name=name)

    async def end(self, name: str = "") -> Tenure:
        """End control of any holder; permitted to administrators and to the holder ``name``."""
        wanted = {"name": name} if name else None
        return results.tenure(
            await self._transport.request("DELETE", "/desktop/lease", params=wanted)
        )

    async def _post(self, action: str, **more: Any) -> Tenure:
        body = {"action": action, **more}
        return results.tenure(await self._transport.request("POST", "/desktop/lease", json=body))


class EventStream(ReceivedEvents[Event]):
    """The events of one desktop, received while its ``async with`` block runs.

    The iteration ends with the desktop. With an event's ``id`` as ``since``, the stream begins
    with the event after that one.
    """

    def __init__(self, transport: Transport, since: str) -> None:
        super().__init__(
            transport.open_client, lambda: transport.path("/desktop/events"), since, results.event
        )

    async def expect(self, *kinds: str, timeout: float = 30.0) -> Event | None:
        """Return the next event, of one of ``kinds`` if given; None if the desktop ended.

        Raises:
            TimeoutError: If none arrives in time; the stream stays open.
        """
        # One deadline covers all events, so that other kinds do not prolong the wait.
        deadline = time.monotonic() + timeout
        while True:
            event = await self._next(deadline)
            if event is None or not kinds or event.kind in kinds:
                return event
