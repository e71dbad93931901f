"""Public client of a desktop, modelled on Playwright's API.

``deskhand.desktop.remote_sync`` is the same without ``await``, generated from this file by
``scripts/make_sync_client.py``.
"""

import asyncio
import time
import uuid
import webbrowser
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from deskhand.desktop.client.awaited import Awaited, Wanted
from deskhand.desktop.client.browser_result import BrowserResult, browser_result
from deskhand.desktop.client.command import service_command
from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.client.input_devices import Keyboard, Mouse
from deskhand.desktop.client.local_service import LocalService
from deskhand.desktop.client.screen_waits import ScreenWaits
from deskhand.desktop.client.session import Applications, Clipboard, EventStream, Lease, Windows
from deskhand.desktop.client.transport import Transport
from deskhand.desktop.screenshots.options import PictureFormat
from deskhand.desktop.server_trust.server_trust import ServerTrust

from . import results
from .errors import DesktopRefused, DesktopUnavailable, NotOnDesktop
from .geometry import Point, Region, SpaceName
from .results import Batch, Done, Ended, Picture, Recording, Status, Widget

Json = dict[str, Any]

# The service holds a request for process output for at most so long; `run` repeats it.
_LONGEST_WAIT = 60.0
_END_SECONDS = 60.0
_CONFLICT = 409
"""Status of a signal to a process that has exited, and of an output that is not kept."""
_FROM_BEGIN = {"cursor": "0", "limit": "65536"}
"""Query for the begin of an output, byte for byte; the limit is the service's."""
_LONG_OUTPUT_SECONDS = 120.0
MOST_OUTPUT = 64 << 20
"""Bytes of an output that a desktop keeps."""


class Recordings:
    """The recordings of one desktop."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def start(self, recording_id: str | None = None, label: str = "") -> str:
        """Start a recording and return its id, a UUID; a running one with that id continues."""
        name = recording_id or str(uuid.uuid4())
        body = {"recording_id": name, "label": label}
        await self._transport.request("POST", "/desktop/recording/start", json=body)
        return name

    async def stop(self, recording_id: str) -> Recording:
        """End a recording; its video is complete when this returns."""
        body = {"recording_id": recording_id}
        path = "/desktop/recording/stop"
        return results.recording(await self._transport.request("POST", path, json=body))

    async def list(self) -> tuple[Recording, ...]:
        """Return all recordings of this desktop, newest first."""
        found = await self._transport.request("GET", "/desktop/recordings")
        return tuple(map(results.recording, found["recordings"]))

    async def get(self, recording_id: str) -> Recording:
        """Return the description of one recording."""
        path = f"/desktop/recordings/{recording_id}"
        return results.recording(await self._transport.request("GET", path))

    async def steps(self, recording_id: str) -> tuple[Json, ...]:
        """Return the steps of a recording, as the HTTP API has them."""
        found = await self._transport.request("GET", f"/desktop/recordings/{recording_id}")
        return tuple(found["steps"])

    async def download(self, recording_id: str, to: Path | str) -> int:
        """Write a recording's video to a file and return its length in bytes."""
        path = self._transport.path(f"/desktop/recordings/{recording_id}/video")
        return await self._transport.open_client().download(path, Path(to))

    async def delete(self, recording_id: str) -> None:
        """Delete a recording that has ended."""
        await self._transport.request("DELETE", f"/desktop/recordings/{recording_id}")


class Desktop:
    """One desktop, made by :meth:`launch` or :meth:`connect` and used in ``async with``.

    Points, regions and pictures are in the pixels of ``space``, so a point read off a picture can
    be clicked as it is. Every method raises :class:`DesktopRefused` when the service answers with
    an error status, and :class:`DesktopUnavailable` when it cannot be reached. Actions and commands
    are for the instance of the service that the first of them reached: once it was replaced, they
    are refused with the code ``outcome_unknown`` until the desktop is opened again.
    """

    def __init__(
        self, transport: Transport, *, service: LocalService | None, address: str, token: str
    ) -> None:
        self._transport = transport
        self._service = service
        self._address, self._token = address, token
        self._trust: ServerTrust | None = None
        # The client of a control plane, of which this desktop is a part.
        self._shared: DesktopClient | None = None
        self._end_path = ""
        self._page = ""
        self._waits = ScreenWaits(transport)
        self.mouse = Mouse(transport)
        self.keyboard = Keyboard(transport)
        self.recording = Recordings(transport)
        self.clipboard = Clipboard(transport)
        self.windows = Windows(transport)
        self.applications = Applications(transport)
        self.lease = Lease(transport)

    @classmethod
    def connect(
        cls,
        url: str,
        token: str,
        *,
        desktop_id: str = "",
        space: SpaceName = "model",
        ca_file: Path | str | None = None,
    ) -> Self:
        """Return the desktop served at ``url``: a service or, with an id, a control plane.

        ``ca_file`` is a private certificate authority for ``https://``, by default that of
        ``DESKHAND_CA_FILE``.
        """
        root = f"/api/v0/desktops/{desktop_id}" if desktop_id else "/api/v0"
        found = cls(Transport(root, space), service=None, address=url, token=token)
        found._page = f"/desktops/{desktop_id}" if desktop_id else ""
        found._trust = None if ca_file is None else ServerTrust(str(ca_file))
        return found

    @classmethod
    def launch(
        cls,
        *arguments: str,
        space: SpaceName = "model",
        environment: Mapping[str, str] | None = None,
    ) -> Self:
        """Return a new desktop, which starts and ends with the ``with`` block.

        ``arguments`` are those of ``deskhand desktop``, such as ``"--size", "1280x800"``;
        ``environment`` replaces that of this process. If this process is killed, the desktop ends
        too.
        """
        command = service_command("--json", "--until-input-ends", *arguments)
        service = LocalService(command, environment)
        return cls(Transport("/api/v0", space), service=service, address="", token="")

    @classmethod
    def of_control_plane(
        cls, client: DesktopClient, address: str, desktop_id: str, *, space: SpaceName, ends: bool
    ) -> Self:
        """Return a desktop of a control plane, open; ``ends``: `close` ends the desktop.

        For :class:`Client`, whose connection it uses.
        """
        root = f"/api/v0/desktops/{desktop_id}"
        found = cls(Transport(root, space), service=None, address=address, token="")
        found._shared = found._transport.client = client
        found._end_path = root if ends else ""
        found._page = f"/desktops/{desktop_id}"
        return found

    async def __aenter__(self) -> Self:
        if self._shared is not None:
            self._transport.client = self._shared
            return self
        address, token = self._address, self._token
        try:
            if self._service is not None:
                address, token = await asyncio.to_thread(self._service.open)
            self._address = address
            self._transport.client = await DesktopClient(address, token, self._trust).__aenter__()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Disconnect, and end a desktop that was launched here; twice is fine."""
        client, self._transport.client = self._transport.client, None
        try:
            if client is not None and self._shared is None:
                await client.close()
            if client is not None and self._end_path:
                # It may have ended by itself.
                with suppress(NotOnDesktop):
                    await client.request("DELETE", self._end_path, timeout=_END_SECONDS)
        finally:
            if self._service is not None:
                await asyncio.to_thread(self._service.close)

    async def status(self) -> Status:
        """Return identity and state of the desktop."""
        return results.status(await self._transport.request("GET", "/desktop"))

    async def screenshot(
        self,
        *,
        region: tuple[int, int, int, int] | None = None,
        format: PictureFormat = "png",
        quality: int = 85,
        cursor: bool = True,
        since: str | None = None,
        path: Path | str | None = None,
    ) -> Picture:
        """Take a screenshot, of a region at native resolution; write it to ``path`` if given."""
        params = {"quality": str(quality), "cursor": str(cursor).lower()}
        if region is not None:
            params["region"] = ",".join(map(str, Region(*region)))
        if since is not None:
            params["since"] = since
        picture = await self._transport.screenshot(format, params)
        if path is not None:
            await asyncio.to_thread(Path(path).write_bytes, picture.data)
        return picture

    async def show(self, *, open_browser: bool = True) -> str:
        """Open the live view in this machine's browser; return its address, which signs in once.

        Raises:
            DesktopUnavailable: If the service is at a unix socket, which no browser opens.
        """
        if self._address.startswith("unix:"):
            raise DesktopUnavailable(f"no browser opens {self._address}: serve at HOST:PORT")
        client = self._transport.open_client()
        code = (await client.request("POST", "/api/v0/login/codes", json={}))["code"]
        after = f"?next={self._page}" if self._page else ""
        # Browsers do not send the fragment, so the code reaches no server log.
        address = f"{self._address}/login{after}#code={code}"
        if open_browser:
            await asyncio.to_thread(webbrowser.open, address)
        return address

    async def wait_until(
        self,
        *,
        text: str = "",
        window: str = "",
        widget: str = "",
        role: str = "",
        colour: str = "",
        region: tuple[int, int, int, int] | None = None,
        timeout: float = 30.0,
    ) -> Awaited:
        """Wait until all that is given is on the screen at one moment; return a picture of it.

        ``text`` is part of the name of a visible widget and ``window`` part of a title, in any
        case; ``widget`` is a whole name, with ``role`` of that role; ``colour``, as ``#ff8000``, is
        that of some pixel of the screen, or of ``region``.

        Raises:
            ConditionNotMet: After ``timeout`` seconds; the text states what was there.
            InvalidAction: If nothing is given, or the colour is none.
        """
        wanted = Wanted(
            text, window, widget, role, colour, None if region is None else Region(*region)
        )
        return await self._waits.until(wanted, timeout)

    async def accessibility(self) -> tuple[Widget, ...]:
        """Return the accessibility tree, with refs for :meth:`Mouse.click_widget`."""
        tree = await self._transport.request("GET", "/desktop/accessibility")
        return tuple(map(results.widget, tree["applications"]))

    async def browser(self, action: str, **fields: Any) -> BrowserResult:
        """Read or use a page of the browser: a member of the browser toolset, with its fields."""
        body = {"action": action, **fields}
        path, timeout = "/desktop/browser", 90.0 + float(fields.get("duration", 0))
        found = await self._transport.request("POST", path, json=body, timeout=timeout)
        return browser_result(found)

    def events(self, since: str = "") -> EventStream:
        """Return the stream of events, used in ``async with``: new ones, or since an event's id."""
        return EventStream(self._transport, since)

    async def act(self, action: str, observe: bool | Json = False, **fields: Any) -> Done:
        """Perform any action of the HTTP API, by its name and fields."""
        return await self._transport.act(action, observe, **fields)

    async def batch(self, *actions: Json, observe: bool | Json = False) -> Batch:
        """Perform several actions of the HTTP API in order, up to the first that fails."""
        return await self._transport.batch(actions, observe)

    async def wait(self, seconds: float) -> Done:
        """Wait for ``seconds``, queued like any other action."""
        return await self._transport.act("wait", duration=seconds)

    async def cursor(self) -> Point:
        """Return the position of the pointer."""
        point = (await self._transport.act("cursor_position")).point
        if point is None:
            raise DesktopUnavailable("the service did not say where the pointer is")
        return point

    async def run(
        self,
        command: str,
        *,
        timeout: float = 60.0,
        workdir: str = "",
        env: Mapping[str, str] | None = None,
        limit: int = MOST_OUTPUT,
    ) -> Ended:
        """Run ``sh -c command`` on the desktop and wait until it exits.

        The first ``limit`` bytes of its output are returned.

        Raises:
            TimeoutError: After ``timeout``; the command is killed with all its descendants.
        """
        body = {"command": command, "workdir": workdir, "env": dict(env or {})}
        headers = await self._transport.instance_headers()
        path = "/processes/start"
        reply = await self._transport.request("POST", path, json=body, headers=headers)
        process = reply["id"]
        path = f"/processes/{process}/output"
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            wait = min(left, _LONGEST_WAIT)
            # The extra millisecond rounds up: waits of 0 ms would make the last round a busy loop.
            params = {"wait_for": "exit", "timeout_ms": str(int(wait * 1000) + 1), **_FROM_BEGIN}
            reply = await self._transport.request("GET", path, params=params, timeout=wait + 30.0)
            if not reply["running"]:
                return await self._ended(path, reply, limit)
        signal = f"/processes/{process}/signal"
        try:
            await self._transport.request("POST", signal, json={"signal": "kill"})
        except DesktopRefused as error:
            if error.status != _CONFLICT:
                raise
            # The command exited between the last request for its output and the signal.
            reply = await self._transport.request("GET", path, params=_FROM_BEGIN)
            return await self._ended(path, reply, limit)
        raise TimeoutError(f"the command took more than {timeout:g} s")

    async def _ended(self, path: str, reply: dict[str, Any], limit: int) -> Ended:
        """Return the result of a command, of which the reply has the begin of the output."""
        if len(reply["output"].encode()) <= limit and not (reply["has_more"] or reply["gap_bytes"]):
            return results.ended(reply)
        route, query = self._transport.path(path), {"raw": "true", "limit": str(limit)}
        client = self._transport.open_client()
        try:
            whole = await client.reply("GET", route, params=query, timeout=_LONG_OUTPUT_SECONDS)
        except DesktopRefused as error:
            if error.status != _CONFLICT:
                raise
            # Its begin and its end, with a remark about the middle.
            return results.ended(await self._transport.request("GET", path))
        total = int(whole.headers["deskhand-total-bytes"])
        output = whole.content.decode("utf-8", "replace")
        return replace(results.ended(reply), output=output, truncated=total > len(whole.content))

    async def read_file(self, path: str) -> bytes:
        """Return the bytes of a file on the desktop."""
        # `request` would decode a file that is served as JSON.
        route = self._transport.path("/read-file")
        reply = await self._transport.open_client().reply("GET", route, params={"path": path})
        return reply.content

    async def write_file(self, path: str, content: bytes | str) -> None:
        """Replace a file on the desktop atomically."""
        data = content.encode() if isinstance(content, str) else content
        headers = await self._transport.instance_headers()
        more = {"params": {"path": path}, "content": data, "headers": headers}
        await self._transport.request("POST", "/write-file", **more)
