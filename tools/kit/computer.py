"""The provider's computer tool, done on a desktop: each action is answered with what is seen."""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Protocol

from deskhand.tools.conversation.conversation import Image, Text, ToolCall, ToolResult
from deskhand.tools.kit.support.computer_calls import SETTLE_MS, BadCall, DesktopCall, desktop_call
from deskhand.tools.kit.support.human_control import HumanControlWait, HumanControlWaits
from deskhand.tools.kit.support.spec import Machine, MachineRefused, MachineUnavailable

Json = dict[str, Any]

ACTION = "/api/v0/desktop/action"
SCREENSHOT = "/api/v0/desktop/screenshot"
GLANCE = (640, 360)
"""Size of the pictures of steps that show a model nothing."""
GLANCE_SECONDS = 5.0
OCCUPIED = 409
NOT_DONE = "Not done:"
"""How the result of a call begins that was not made because a person changed the screen."""
PATIENCE = 30.0
"""Seconds that the service has beyond what the action and settling take."""


class PictureStore(Protocol):
    """Where pictures that a model has seen are kept."""

    async def save(self, data: bytes, media_type: str, width: int, height: int) -> Image:
        """Keep a picture of that size in pixels."""


@dataclass(frozen=True)
class ComputerOutcome:
    """What a call gave: the model's result, and figures for the list of steps."""

    result: ToolResult
    picture: Image | None = None
    point: tuple[int, int] | None = None
    """Where it acted, in the pixels of the picture."""
    native_point: tuple[int, int] | None = None
    changed_fraction: float | None = None
    told_text: str | None = None
    """What is told in the place of a text that went into a password field."""
    timings: Mapping[str, float] = field(default_factory=dict)
    """Milliseconds by stage."""

    @property
    def error(self) -> str | None:
        """What went wrong, in words."""
        if not self.result.is_error:
            return None
        return " ".join(b.text for b in self.result.content if isinstance(b, Text))


@dataclass(frozen=True)
class _Done:
    reply: Json
    handback: HumanControlWait | None = None
    missed: bool = False
    """Whether it was not done, since a person left another screen than the model has seen."""

    @property
    def hidden(self) -> bool:
        """Whether the screen is not shown unasked: a person had it in private until now."""
        return self.missed and self.handback is not None and self.handback.private


class ComputerTool:
    """Runs the toolset's calls of one chat, one at a time.

    ``machine`` gives the chat's machine, its requests marked with a tool call's id.
    """

    def __init__(
        self,
        machine: Callable[[str], Machine],
        pictures: PictureStore,
        handbacks: HumanControlWaits | None = None,
    ) -> None:
        self._machine = machine
        self._pictures = pictures
        self._handbacks = handbacks or HumanControlWaits()
        self._seconds_before = self._handbacks.seconds
        self._seen: str | None = None
        """The frame that the newest picture of the whole screen showed."""
        self._screen: Image | None = None
        """That picture."""
        self._glanced: tuple[bytes, Image] | None = None

    @property
    def people_seconds(self) -> float:
        """How long people were in control, as far as the model was told."""
        return self._handbacks.seconds - self._seconds_before

    async def call(self, call: ToolCall) -> ToolResult:
        """Do it and return what the model is told."""
        return (await self.act(call)).result

    async def act(self, call: ToolCall) -> ComputerOutcome:
        """Do it; failures come back as a result that says so."""
        try:
            wanted = desktop_call(call.name, call.arguments)
            done = await self._done(wanted, call.id)
        except BadCall as error:
            return _failed(call, str(error))
        except MachineRefused as error:
            return _failed(call, str(error))
        except MachineUnavailable as error:
            return _failed(call, f"The desktop cannot be reached: {error}")
        reply, before = done.reply, self._screen
        picture = None if done.hidden else await self._picture(wanted, reply)
        words = [] if done.missed else _words(wanted, reply, picture)
        content: list[Text | Image] = [Text(text) for text in words]
        if done.handback is not None:
            changed = picture is not None and "region" not in wanted.payload
            content[:0] = _told(done, before if changed else None)
        if picture is not None:
            content.append(picture)
        return ComputerOutcome(
            ToolResult(call.id, tuple(content), is_error=done.missed, toolset=call.toolset),
            picture,
            _point(reply.get("point")),
            _point(reply.get("native_point")),
            reply.get("changed_fraction"),
            reply.get("told_text"),
            reply.get("timings", {}),
        )

    async def glance(self) -> Image | None:
        """Keep a small picture of the screen for people; None if it may not be seen now.

        For the model nothing changes by it.
        """
        width, height = map(str, GLANCE)
        wanted = {"scaled_width": width, "scaled_height": height, "format": "jpeg"}
        machine = self._machine("")
        try:
            data = await machine.request("GET", SCREENSHOT, params=wanted, timeout=GLANCE_SECONDS)
        except (MachineRefused, MachineUnavailable):
            return None
        if not isinstance(data, bytes):
            return None
        if self._glanced is None or self._glanced[0] != data:
            self._glanced = data, await self._pictures.save(data, "image/jpeg", *GLANCE)
        return self._glanced[1]

    async def _done(self, wanted: DesktopCall, call_id: str) -> _Done:
        """Do it when no person is in control, unless the screen is another one then."""
        handback = await self._handbacks.missed(self._machine(call_id))
        attempts = count(1)
        while True:
            try:
                if handback is not None and wanted.kind == "action":
                    look = self._with_since({"action": "screenshot"})
                    seen = await self._post(look, f"{call_id}.look{next(attempts)}")
                    if seen["frame_id"] != self._seen:
                        return _Done(seen, handback, missed=True)
                return _Done(await self._send(wanted, call_id), handback)
            except MachineRefused as error:
                given = None
                if error.status == OCCUPIED:
                    given = await self._handbacks.awaited(self._machine(call_id))
                if given is None:
                    raise
                handback = given

    async def _send(self, wanted: DesktopCall, call_id: str) -> Json:
        payload = wanted.payload
        if wanted.needs_pointer:
            # Under an id of its own: the service answers a repeated id from its records.
            position = await self._post({"action": "cursor_position"}, f"{call_id}.pointer")
            payload = {**payload, "coordinate": position["point"]}
        return await self._post(self._with_since(payload), call_id, wanted.seconds)

    def _with_since(self, payload: Json) -> Json:
        """Name the frame the model has seen, so that the service sends no second picture of it."""
        if self._seen is None:
            return payload
        if payload["action"] == "screenshot":
            return {**payload, "since": self._seen}
        if "observe" in payload:
            return {**payload, "observe": {**payload["observe"], "since": self._seen}}
        return payload

    async def _post(self, payload: Json, call_id: str, seconds: float = 0.0) -> Json:
        timeout = PATIENCE + SETTLE_MS / 1000 + seconds
        machine = self._machine(call_id)
        reply: Json = await machine.request("POST", ACTION, json=payload, timeout=timeout)
        return reply

    async def _picture(self, wanted: DesktopCall, reply: Json) -> Image | None:
        data = reply.get("screenshot_data")
        zoomed = "region" in wanted.payload
        if not data or (reply["frame_id"] == self._seen and not zoomed):
            return None
        picture = await self._pictures.save(
            base64.b64decode(data),
            reply["screenshot_media_type"],
            reply["screenshot_width"],
            reply["screenshot_height"],
        )
        # After a zoom "as in the last picture" would mean the wrong one.
        self._seen = None if zoomed else reply["frame_id"]
        self._screen = self._screen if zoomed else picture
        return picture


def _words(wanted: DesktopCall, reply: Json, picture: Image | None) -> list[str]:
    if wanted.kind == "position":
        x, y = reply["point"]
        return [f"X={x},Y={y}"]
    words = [wanted.said] if wanted.said else []
    if reply.get("clamped"):
        x, y = reply["point"]
        words.append(f"The point was off the screen; ({x}, {y}) was used.")
    if reply.get("settled") == "ceiling":
        words.append(f"After {SETTLE_MS / 1000:g} s the screen was still moving.")
    if picture is None:
        words.append("The screen looks exactly as in the last picture.")
    return [" ".join(words)] if words else []


def _told(done: _Done, before: Image | None) -> list[Text | Image]:
    """Tell of a person's turn; the screen as the model knew it goes before the one there is now."""
    said = f"{NOT_DONE} {done.handback}" if done.missed else str(done.handback)
    if done.hidden:
        return [Text(f"{said} The screen has changed: take a screenshot before you go on.")]
    if before is not None:
        return [Text(f"{said} The screen as you last saw it, then as it is now:"), before]
    return [Text(f"{said} This is the screen now." if done.missed else said)]


def _failed(call: ToolCall, text: str) -> ComputerOutcome:
    result = ToolResult(call.id, (Text(text),), is_error=True, toolset=call.toolset)
    return ComputerOutcome(result)


def _point(value: Any) -> tuple[int, int] | None:
    return None if value is None else (value[0], value[1])
