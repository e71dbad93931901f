"""One run: a task at which an agent works, with its conversation, steps and recording."""

import time
from pathlib import Path
from typing import Self

from .errors import NoRecording, NotOnDesktop, RunTimeout
from .plane_transport import PlaneTransport
from .run_events import RunEvents
from .values import (
    RunFile,
    RunMessage,
    RunStatus,
    RunStep,
    run_file,
    run_message,
    run_status,
    run_step,
)


class RunRecording:
    """The recording of one run; all its parts are one video."""

    def __init__(self, transport: PlaneTransport, run_id: str) -> None:
        self._transport = transport
        self._path = f"/api/v0/recordings/{run_id}"

    async def save(self, path: Path | str) -> Path:
        """Write the video to a file, MP4, and return its path.

        Raises:
            NoRecording: If the run has none, or it is not complete yet.
        """
        client, to = self._transport.open_client(), Path(path)
        try:
            parts = (await client.request("GET", self._path))["parts"]
        except NotOnDesktop:
            run_id = self._path.rpartition("/")[2]
            raise NoRecording(f"the run {run_id} has no recording that is complete") from None
        # A clip of everything joins the parts without encoding them again.
        await client.download(f"{self._path}/{'video' if len(parts) == 1 else 'clip'}", to)
        return to

    async def clip(self, path: Path | str, start: float, end: float, *, width: int = 640) -> Path:
        """Write a section to a file: MP4, or by its suffix a GIF or WebP of ``width`` pixels.

        ``start`` and ``end`` are seconds of the video.
        """
        to = Path(path)
        kind = to.suffix.lower().removeprefix(".")
        animated = f"&format={kind}&width={width}" if kind in ("gif", "webp") else ""
        route = f"{self._path}/clip?from={start:.3f}&to={end:.3f}{animated}"
        await self._transport.open_client().download(route, to)
        return to


class Run:
    """A task at which an agent works, or that has ended.

    Every method raises :class:`DesktopRefused` when the control plane answers with an error
    status, and :class:`DesktopUnavailable` when it cannot be reached.
    """

    def __init__(self, transport: PlaneTransport, run_id: str) -> None:
        self._transport = transport
        self._path = f"/chats/{run_id}"
        self.id = run_id
        self.recording = RunRecording(transport, run_id)

    def __repr__(self) -> str:
        return f"Run({self.id!r})"

    @property
    def url(self) -> str:
        """Address of the run's page."""
        return f"{self._transport.address}/runs/{self.id}"

    async def status(self) -> RunStatus:
        """Return what the run is doing, and what came of it."""
        return run_status(await self._transport.request("GET", self._path))

    async def wait(self, timeout: float | None = None) -> RunStatus:
        """Return when the agent has ended, or asks a person: ``question`` is set then.

        Raises:
            RunTimeout: After ``timeout`` seconds; the run continues.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            # The stream is opened before the state is read, so that no change is in between.
            async with self.events() as events:
                while True:
                    found = await self.status()
                    if not found.busy:
                        return found
                    left = None if deadline is None else max(0.0, deadline - time.monotonic())
                    if await self._ended_stream(events, left):
                        break

    async def _ended_stream(self, events: RunEvents, left: float | None) -> bool:
        """Return after an event that may be the end: False, or True if the stream has ended."""
        deadline = None if left is None else time.monotonic() + left
        try:
            while True:
                left = None if deadline is None else max(0.0, deadline - time.monotonic())
                event = await events.next(left)
                # Events of the text arrive many times a second and change no state.
                if event is None or event.kind in ("status", "deleted"):
                    return event is None
        except TimeoutError:
            raise RunTimeout(f"the run {self.id} has not ended in time") from None

    async def report(self) -> str:
        """Return the agent's report; empty before its end."""
        return (await self.status()).report

    async def steps(self) -> tuple[RunStep, ...]:
        """Return the steps so far."""
        # This answer has the times of the steps in the video of the whole run.
        found = await self._transport.request("GET", f"/runs/{self.id}")
        return tuple(map(run_step, found["chat"]["steps"]))

    async def messages(self) -> tuple[RunMessage, ...]:
        """Return the conversation so far."""
        found = await self._transport.request("GET", f"{self._path}/messages")
        return tuple(map(run_message, found["messages"]))

    async def files(self) -> tuple[RunFile, ...]:
        """Return the stored files of the run."""
        found = await self._transport.request("GET", "/files", params={"chat": self.id})
        return tuple(map(run_file, found["files"]))

    def events(self, since: str = "") -> RunEvents:
        """Return the stream of events, used in ``async with``: new ones, or since an event's id."""
        return RunEvents(self._transport, self.id, since)

    async def sheet(self, path: Path | str, *, columns: int = 4, steps: str = "all") -> Path:
        """Write a contact sheet, PNG: a picture after each step.

        ``steps`` are ``all``, ``failed``, a number or a span such as ``1-12``.
        """
        to = Path(path)
        route = f"/api/v0/runs/{self.id}/sheet.png?columns={columns}&steps={steps}"
        await self._transport.open_client().download(route, to)
        return to

    async def save_report(self, path: Path | str) -> Path:
        """Write the report of the run, one HTML file that opens without a network."""
        to = Path(path)
        route = f"/api/v0/runs/{self.id}/report.html"
        await self._transport.open_client().download(route, to)
        return to

    async def say(self, text: str, *, interrupt: bool = False) -> Self:
        """Send the agent a message; with ``interrupt`` it stops what it is doing and reads it."""
        body = {"message": text, "interrupt": interrupt}
        await self._transport.request("POST", f"{self._path}/messages", json=body)
        return self

    async def answer(self, text: str) -> Self:
        """Answer what the agent asks; an approval with ``approve``, ``refuse`` or ``always``."""
        await self._transport.request("POST", f"{self._path}/answer", json={"answer": text})
        return self

    async def stop(self) -> Self:
        """Stop the agent; it can be sent further messages."""
        await self._transport.request("POST", f"{self._path}/interrupt")
        return self

    async def delete(self) -> None:
        """Remove the run with its files and recordings."""
        await self._transport.request("DELETE", self._path)
