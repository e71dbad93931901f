"""A desktop from the outside, in the shape that Playwright made familiar.

``deskhand.desktop.remote_sync`` is the same without ``await``, written from this file by
``scripts/make_sync_client.py``.
"""

import asyncio
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.client.local_service import LocalService
from deskhand.desktop.client.session import Applications, Clipboard, EventStream, Lease, Windows
from deskhand.desktop.client.transport import Transport
from deskhand.desktop.screenshots.options import PictureFormat

from . import results
from .errors import DesktopUnavailable, InvalidAction
from .geometry import Point, Region, SpaceName
from .results import Batch, Done, Ended, Picture, Recording, Status, Widget

Json = dict[str, Any]
Button = Literal["left", "middle", "right", "back", "forward"]
Direction = Literal["up", "down", "left", "right"]

_LONGEST_WAIT = 60.0
_ORPHAN_SECONDS = "3600"
_LEFT_CLICKS = {1: "left_click", 2: "double_click", 3: "triple_click"}


class Mouse:
    """The mouse of one desktop. ``observe`` waits until the screen rests and sends a picture."""

    def __init__(self, line: Transport) -> None:
        self._line = line

    async def click(
        self,
        x: int,
        y: int,
        *,
        button: Button = "left",
        count: int = 1,
        modifiers: Sequence[str] = (),
        observe: bool = False,
    ) -> Done:
        """Click at a point; ``modifiers`` are held meanwhile.

        Raises:
            InvalidAction: For more than three clicks, or several of another button.
        """
        action = _LEFT_CLICKS.get(count) if button == "left" else f"{button}_click"
        if action is None or (button != "left" and count != 1):
            raise InvalidAction("The left button clicks one to three times, others once.")
        held = list(modifiers)
        return await self._line.act(action, observe, coordinate=[x, y], modifiers=held)

    async def click_widget(self, ref: str, *, observe: bool = False) -> Done:
        """Click the middle of a widget of the newest accessibility tree."""
        return await self._line.act("left_click", observe, ref=ref)

    async def double_click(self, x: int, y: int, *, observe: bool = False) -> Done:
        """Click twice at a point."""
        return await self._line.act("double_click", observe, coordinate=[x, y])

    async def move(self, x: int, y: int, *, seconds: float = 0.0) -> Done:
        """Move the pointer, at once or smoothly."""
        return await self._line.act("mouse_move", coordinate=[x, y], duration=seconds)

    async def down(self) -> Done:
        """Press the left button where the pointer is, and leave it pressed."""
        return await self._line.act("left_mouse_down")

    async def up(self) -> Done:
        """Let the left button go."""
        return await self._line.act("left_mouse_up")

    async def drag(
        self,
        *path: tuple[int, int],
        seconds: float = 0.2,
        observe: bool = False,
    ) -> Done:
        """Move along two or more points with the left button pressed."""
        points = [list(point) for point in path]
        return await self._line.act("left_click_drag", observe, path=points, duration=seconds)

    async def scroll(
        self,
        x: int,
        y: int,
        direction: Direction = "down",
        notches: int = 3,
        *,
        pixels: int | None = None,
        observe: bool = False,
    ) -> Done:
        """Turn the wheel at a point, by notches or by about so many pixels."""
        amount = {"scroll_amount": notches} if pixels is None else {"scroll_pixels": pixels}
        at = [x, y]
        return await self._line.act(
            "scroll", observe, coordinate=at, scroll_direction=direction, **amount
        )


class Keyboard:
    """The keyboard of one desktop. ``observe`` as for the mouse."""

    def __init__(self, line: Transport) -> None:
        self._line = line

    async def type(self, text: str, *, delay_ms: int = 0, observe: bool = False) -> Done:
        """Type a text in any script, with a pause after each character if asked for."""
        return await self._line.act("type", observe, text=text, delay_ms=delay_ms)

    async def press(self, chord: str, *, observe: bool = False) -> Done:
        """Strike a key or a chord, as ``Return`` or ``ctrl+s``."""
        return await self._line.act("key", observe, text=chord)

    async def down(self, chord: str) -> Done:
        """Press a key or a chord and leave it pressed."""
        return await self._line.act("key_down", text=chord)

    async def up(self, chord: str) -> Done:
        """Let a key or a chord go."""
        return await self._line.act("key_up", text=chord)

    async def hold(self, chord: str, seconds: float = 1.0) -> Done:
        """Hold a key or a chord for a while."""
        return await self._line.act("hold_key", text=chord, duration=seconds)


class Recordings:
    """What one desktop records."""

    def __init__(self, line: Transport) -> None:
        self._line = line

    async def start(self, recording_id: str | None = None, label: str = "") -> str:
        """Begin to record and return the recording's id, a UUID; one that runs goes on."""
        name = recording_id or str(uuid.uuid4())
        body = {"recording_id": name, "label": label}
        await self._line.request("POST", "/desktop/recording/start", json=body)
        return name

    async def stop(self, recording_id: str) -> Recording:
        """End a recording; it can be played when this returns."""
        body = {"recording_id": recording_id}
        path = "/desktop/recording/stop"
        return results.recording(await self._line.request("POST", path, json=body))

    async def list(self) -> tuple[Recording, ...]:
        """All recordings of this desktop, newest first."""
        found = await self._line.request("GET", "/desktop/recordings")
        return tuple(map(results.recording, found["recordings"]))

    async def get(self, recording_id: str) -> Recording:
        """What is known of one."""
        path = f"/desktop/recordings/{recording_id}"
        return results.recording(await self._line.request("GET", path))

    async def download(self, recording_id: str, to: Path | str) -> int:
        """Write a recording's video to a file and return its length in bytes."""
        path = self._line.path(f"/desktop/recordings/{recording_id}/video")
        return await self._line.open_client().download(path, Path(to))

    async def delete(self, recording_id: str) -> None:
        """Remove a recording that has ended."""
        await self._line.request("DELETE", f"/desktop/recordings/{recording_id}")


class Desktop:
    """One desktop. Made by :meth:`launch` or :meth:`connect`, and used inside of ``async with``.

    Points, regions and pictures are in the pixels of ``space``: what one sees is what one clicks.
    Every method raises :class:`DesktopRefused` when the service says no, and
    :class:`DesktopUnavailable` when it cannot be reached.
    """

    def __init__(
        self, line: Transport, *, child: LocalService | None, address: str, token: str
    ) -> None:
        self._line = line
        self._child = child
        self._address, self._token = address, token
        self.mouse = Mouse(line)
        self.keyboard = Keyboard(line)
        self.recording = Recordings(line)
        self.clipboard = Clipboard(line)
        self.windows = Windows(line)
        self.applications = Applications(line)
        self.lease = Lease(line)

    @classmethod
    def connect(
        cls, url: str, token: str, *, desktop_id: str = "", space: SpaceName = "model"
    ) -> Self:
        """Return the desktop that is served at ``url``, a service or with an id a control plane."""
        root = f"/api/v0/desktops/{desktop_id}" if desktop_id else "/api/v0"
        return cls(Transport(root, space), child=None, address=url, token=token)

    @classmethod
    def launch(
        cls,
        *arguments: str,
        space: SpaceName = "model",
        environment: Mapping[str, str] | None = None,
    ) -> Self:
        """Return a desktop of one's own, which starts and ends with the ``with`` block.

        ``arguments`` are those of ``deskhand desktop``, ``"--size", "1280x800"`` for one;
        ``environment`` replaces ours. Should this process be killed, the desktop ends an hour
        after its last call, or after ``"--linger", SECONDS``.
        """
        child = LocalService(("--linger", _ORPHAN_SECONDS, *arguments), environment)
        return cls(Transport("/api/v0", space), child=child, address="", token="")

    async def __aenter__(self) -> Self:
        address, token = self._address, self._token
        try:
            if self._child is not None:
                address, token = await asyncio.to_thread(self._child.open)
            self._line.client = await DesktopClient(address, token).__aenter__()
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
        """Disconnect, and end the desktop if it is one's own; twice is fine."""
        client, self._line.client = self._line.client, None
        try:
            if client is not None:
                await client.close()
        finally:
            if self._child is not None:
                await asyncio.to_thread(self._child.close)

    async def status(self) -> Status:
        """What the desktop is and how it is."""
        return results.status(await self._line.request("GET", "/desktop"))

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
        """Take a picture, of a region in all the detail the screen has; write it to ``path``."""
        params = {"quality": str(quality), "cursor": str(cursor).lower()}
        if region is not None:
            params["region"] = ",".join(map(str, Region(*region)))
        if since is not None:
            params["since"] = since
        taken = await self._line.screenshot(format, params)
        if path is not None:
            await asyncio.to_thread(Path(path).write_bytes, taken.data)
        return taken

    async def accessibility(self) -> tuple[Widget, ...]:
        """What applications show, with the refs by which to click it."""
        tree = await self._line.request("GET", "/desktop/accessibility")
        return tuple(map(results.widget, tree["applications"]))

    def events(self, since: str = "") -> EventStream:
        """Listen, inside of ``async with``, to what happens from now on or since an event's id."""
        return EventStream(self._line, since)

    async def act(self, action: str, observe: bool | Json = False, **fields: Any) -> Done:
        """Do any action of the HTTP API, by its name and fields."""
        return await self._line.act(action, observe, **fields)

    async def batch(self, *actions: Json, observe: bool | Json = False) -> Batch:
        """Do several actions of the HTTP API in order, up to the first that fails."""
        return await self._line.batch(actions, observe)

    async def wait(self, seconds: float) -> Done:
        """Do nothing for a while, in turn with other actions."""
        return await self._line.act("wait", duration=seconds)

    async def cursor(self) -> Point:
        """Where the pointer is."""
        point = (await self._line.act("cursor_position")).point
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
    ) -> Ended:
        """Run ``sh -c command`` on the desktop and wait for its end.

        Raises:
            TimeoutError: If it takes longer; it is killed then, with all that it started.
        """
        body = {"command": command, "workdir": workdir, "env": dict(env or {})}
        process = (await self._line.request("POST", "/processes/start", json=body))["id"]
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            wait = min(left, _LONGEST_WAIT)
            wanted = {"wait_for": "exit", "timeout_ms": str(int(wait * 1000) + 1)}
            path = f"/processes/{process}/output"
            told = await self._line.request("GET", path, params=wanted, timeout=wait + 30.0)
            if not told["running"]:
                return results.ended(told)
        body = {"signal": "kill"}
        await self._line.request("POST", f"/processes/{process}/signal", json=body)
        raise TimeoutError(f"the command took more than {timeout:g} s")

    async def read_file(self, path: str) -> bytes:
        """Return the bytes of a file on the desktop."""
        where = self._line.path("/read-file")
        reply = await self._line.open_client().reply("GET", where, params={"path": path})
        return reply.content

    async def write_file(self, path: str, content: bytes | str) -> None:
        """Replace a file on the desktop, all of it or nothing."""
        data = content.encode() if isinstance(content, str) else content
        params = {"path": path}
        await self._line.request("POST", "/write-file", params=params, content=data)
