"""The provider's computer toolset, executed on a desktop; each result shows the screen after it.

Each call goes through these steps:

1. `desktop_call` translates it into one request of the desktop service, or rejects it.
2. If a person was in control since the last call, the tool compares the frame on the screen with
   the frame that the model has seen. If they differ, an action is not sent: its coordinates were
   meant for another screen. The result then shows both screens.
3. If a person is in control now (409), the tool waits until control is released and starts again
   with step 2.
4. The result says what was done, how much of the screen changed, and which window has the
   keyboard. It has a picture if it is the last of its reply, unless the model has seen this frame
   already; a screenshot or zoom always has one. After control in private mode the screen is not
   shown unless the model asks for a screenshot.

``_seen`` is the id of the frame that the model has seen last. Requests name it as ``since``, so
that the service does not encode the same frame again.
"""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Protocol

from deskhand.desktop.errors import BadField
from deskhand.tools.conversation.conversation import Image, Text, ToolCall, ToolResult
from deskhand.tools.conversation.step_target import StepTarget, step_targets
from deskhand.tools.kit.support.computer_calls import SETTLE_MS, DesktopCall, desktop_call
from deskhand.tools.kit.support.human_control import HumanControlWait, HumanControlWaits
from deskhand.tools.kit.support.spec import Machine, MachineRefused, MachineUnavailable

Json = dict[str, Any]

ACTION = "/api/v0/desktop/action"
SCREENSHOT = "/api/v0/desktop/screenshot"
GLANCE = (640, 360)
"""Size of the pictures of steps that have no picture for the model."""
GLANCE_SECONDS = 5.0
OCCUPIED = 409
NOT_DONE = "Not done:"
"""Start of the result of a call that was not sent because a person changed the screen."""
REPLAYED = "replay-"
"""Beginning of the ids of a replay's calls: their targets have just been found by other means."""
PATIENCE = 30.0
"""Timeout of a request in seconds, beyond the duration of the action and of settling."""


class PictureStore(Protocol):
    """Storage of the pictures that a model has seen."""

    async def save(self, data: bytes, media_type: str, width: int, height: int) -> Image:
        """Store a picture of that size in pixels."""


@dataclass(frozen=True)
class ComputerOutcome:
    """Outcome of a call: the result for the model, and figures for the list of steps."""

    result: ToolResult
    picture: Image | None = None
    point: tuple[int, int] | None = None
    """Position of the action, in pixels of the picture."""
    native_point: tuple[int, int] | None = None
    changed_fraction: float | None = None
    told_text: str | None = None
    """Replacement to publish for a text that was typed into a password field."""
    timings: Mapping[str, float] = field(default_factory=dict)
    """Milliseconds by stage."""
    targets: tuple[StepTarget | None, ...] = ()
    """What the action was aimed at."""

    @property
    def error(self) -> str | None:
        """Error message, ``None`` after a success."""
        if not self.result.is_error:
            return None
        return " ".join(b.text for b in self.result.content if isinstance(b, Text))


@dataclass(frozen=True)
class _Done:
    response: Json
    control: HumanControlWait | None = None
    missed: bool = False
    """True if the call was not sent: a person left another screen than the model has seen."""

    @property
    def hidden(self) -> bool:
        """True if the screen must not be shown unasked: a person just used it in private mode."""
        return self.missed and self.control is not None and self.control.private


class ComputerTool:
    """Executes the toolset's calls of one chat, one at a time.

    ``machine`` returns the chat's machine for a tool call id; its requests carry that id.
    """

    def __init__(
        self,
        machine: Callable[[str], Machine],
        pictures: PictureStore,
        control_waits: HumanControlWaits | None = None,
        *,
        settles_between: bool = True,
    ) -> None:
        """Without ``settles_between`` only the last action of a reply waits for its effect."""
        self._machine = machine
        self._pictures = pictures
        self._settles_between = settles_between
        self._control_waits = control_waits or HumanControlWaits()
        # The waits outlive this tool, so the total so far belongs to earlier turns of the chat.
        self._seconds_before = self._control_waits.seconds
        self._seen: str | None = None
        """Id of the frame in the newest picture of the whole screen."""
        self._screen: Image | None = None
        """That picture."""
        self._glanced: tuple[bytes, Image] | None = None

    @property
    def people_seconds(self) -> float:
        """Seconds that people were in control, as far as reported to the model."""
        return self._control_waits.seconds - self._seconds_before

    async def call(self, call: ToolCall) -> ToolResult:
        """Execute a call and return the result for the model."""
        return (await self.act(call)).result

    async def act(self, call: ToolCall, *, picture: bool = True) -> ComputerOutcome:
        """Execute a call; a failure is returned as an error result.

        Without ``picture`` an action is answered in words, as the screen is shown by a later call
        of the same reply.
        """
        reported = self._control_waits.reported
        try:
            wanted = desktop_call(call.name, call.arguments)
            if not picture:
                wanted = wanted.without_picture()
                wanted = wanted if self._settles_between else wanted.without_settling()
            done = await self._done(wanted, call.id)
        except BadField as error:
            return _failed(call, error.sentence)
        except (MachineRefused, MachineUnavailable) as error:
            # This result reports no session; the next one does.
            self._control_waits.reported = reported
            return _failed(call, _text_of(error))
        response, before = done.response, self._screen
        shown = None if done.hidden else await self._picture(wanted, response)
        sentences = [] if done.missed else _sentences(wanted, response, shown)
        content: list[Text | Image] = [Text(text) for text in sentences]
        if done.control is not None:
            changed = shown is not None and "region" not in wanted.payload
            content[:0] = _control_report(done, before if changed else None)
        if shown is not None:
            content.append(shown)
        return ComputerOutcome(
            ToolResult(call.id, tuple(content), is_error=done.missed, toolset=call.toolset),
            shown,
            _point(response.get("point")),
            _point(response.get("native_point")),
            response.get("changed_fraction"),
            response.get("told_text"),
            response.get("timings", {}),
            step_targets(response.get("targets")),
        )

    async def glance(self) -> Image | None:
        """Store a small picture of the screen for people; None if viewing is not permitted now.

        The state for the model (the frame that it has seen) does not change.
        """
        # An empty id: this request belongs to no tool call, so it may be repeated.
        width, height = map(str, GLANCE)
        wanted = {"scaled_width": width, "scaled_height": height, "format": "jpeg"}
        machine = self._machine("")
        try:
            data = await machine.request("GET", SCREENSHOT, params=wanted, timeout=GLANCE_SECONDS)
        # A step without a picture is complete without this one, so no failure here may reach the
        # turn.
        except (MachineRefused, MachineUnavailable):
            return None
        if not isinstance(data, bytes):
            return None
        # Equal bytes are stored once: most steps without a picture leave the screen unchanged.
        if self._glanced is None or self._glanced[0] != data:
            self._glanced = data, await self._pictures.save(data, "image/jpeg", *GLANCE)
        return self._glanced[1]

    async def _done(self, wanted: DesktopCall, call_id: str) -> _Done:
        """Send the request once no person is in control, unless the screen has changed then."""
        # A session that began and ended between two calls would otherwise stay unknown to the
        # model.
        control, held = await self._control_waits.missed(self._machine(call_id))
        if held and wanted.kind == "action":
            # The session may end before the action is sent, which would act on a changed screen.
            control = await self._control_waits.awaited(self._machine(call_id)) or control
        attempts = count(1)
        while True:
            try:
                # Screenshots and positions do no harm on a changed screen, so only actions are
                # compared.
                if control is not None and wanted.kind == "action":
                    # Each attempt needs a new id, since a repeated id returns the first result.
                    request = self._with_since({"action": "screenshot"})
                    current = await self._post(request, f"{call_id}.look{next(attempts)}")
                    if current["frame_id"] != self._seen:
                        return _Done(current, control, missed=True)
                response = await self._send(wanted, call_id)
                if held and control is None:
                    # The session may have ended just before the call was sent.
                    control, _ = await self._control_waits.missed(self._machine(call_id))
                return _Done(response, control)
            except MachineRefused as error:
                ended = None
                if error.status == OCCUPIED:
                    ended = await self._control_waits.awaited(self._machine(call_id))
                # No person was in control, so the refusal has another reason: report it.
                if ended is None:
                    raise
                control = ended

    async def _send(self, wanted: DesktopCall, call_id: str) -> Json:
        payload = wanted.payload
        if wanted.needs_pointer:
            # The query needs an id of its own: a repeated id returns the first result.
            position = await self._post({"action": "cursor_position"}, f"{call_id}.pointer")
            # The position is in pixels of the model's picture, as the coordinates of an action are.
            payload = {**payload, "coordinate": position["point"]}
        if wanted.kind == "action" and not call_id.startswith(REPLAYED):
            payload = {**payload, "observe": {**payload["observe"], "targets": True}}
        return await self._post(self._with_since(payload), call_id, wanted.seconds)

    def _with_since(self, payload: Json) -> Json:
        """Add the id of the frame that the model has seen, so that no second picture is sent."""
        if self._seen is None:
            return payload
        if payload["action"] == "screenshot":
            return {**payload, "since": self._seen}
        if payload.get("observe", {}).get("screenshot"):
            return {**payload, "observe": {**payload["observe"], "since": self._seen}}
        return payload

    async def _post(self, payload: Json, call_id: str, seconds: float = 0.0) -> Json:
        # The service responds only after the action and the settling, each of which may use its
        # full time.
        timeout = PATIENCE + SETTLE_MS / 1000 + seconds
        machine = self._machine(call_id)
        response: Json = await machine.request("POST", ACTION, json=payload, timeout=timeout)
        return response

    async def _picture(self, wanted: DesktopCall, response: Json) -> Image | None:
        data = response.get("screenshot_data")
        # A zoom is always new to the model, even if its frame is not.
        zoomed = "region" in wanted.payload
        # The service may send a frame again although ``since`` names it.
        if response["frame_id"] == self._seen and not zoomed:
            return self._screen if wanted.kind == "picture" else None
        if not data:
            return None
        picture = await self._pictures.save(
            base64.b64decode(data),
            response["screenshot_media_type"],
            response["screenshot_width"],
            response["screenshot_height"],
        )
        # After a zoom, "as in the last picture" would refer to the zoomed picture.
        self._seen = None if zoomed else response["frame_id"]
        self._screen = self._screen if zoomed else picture
        return picture


def _sentences(wanted: DesktopCall, response: Json, picture: Image | None) -> list[str]:
    if wanted.kind == "position":
        x, y = response["point"]
        return [f"X={x},Y={y}"]
    sentences = [wanted.text] if wanted.text else []
    if response.get("clamped"):
        x, y = response["point"]
        sentences.append(f"The point was off the screen; ({x}, {y}) was used.")
    if response.get("nothing_focused"):
        sentences.append("The text went nowhere: click into a field first.")
    if response.get("settled") == "ceiling":
        sentences.append(f"After {SETTLE_MS / 1000:g} s the screen was still moving.")
    if wanted.kind == "action":
        sentences += _changes(response)
    if picture is None and (wanted.kind == "picture" or wanted.payload["observe"]["screenshot"]):
        sentences.append("The screen looks exactly as in the last picture.")
    return [" ".join(sentences)] if sentences else []


def _changes(response: Json) -> list[str]:
    """Describe the effect of an action as far as the service reports it."""
    sentences = []
    fraction = response.get("changed_fraction")
    if fraction is not None:
        share = f"{fraction:.0%}".replace("%", " %")
        least = "Less than 1 %" if fraction else "Nothing"
        sentences.append(f"{share if fraction >= 0.01 else least} of the screen changed.")
    if "focused_after" in response:
        window = response["focused_after"]
        text = "No window has" if window is None else f'The window "{window["title"]}" has'
        sentences.append(f"{text} the keyboard.")
        if window is not None and window.get("hint"):
            sentences.append(window["hint"])
    return sentences


def _control_report(done: _Done, before: Image | None) -> list[Text | Image]:
    """Report a person's control session; the old screen, if given, precedes the current one."""
    message = f"{NOT_DONE} {done.control}" if done.missed else str(done.control)
    if done.hidden:
        return [Text(f"{message} The screen has changed: take a screenshot before you go on.")]
    if before is not None:
        return [Text(f"{message} The screen as you last saw it, then as it is now:"), before]
    return [Text(f"{message} This is the screen now." if done.missed else message)]


def _text_of(error: MachineRefused | MachineUnavailable) -> str:
    gone = isinstance(error, MachineUnavailable)
    return f"The desktop cannot be reached: {error}" if gone else str(error)


def _failed(call: ToolCall, text: str) -> ComputerOutcome:
    result = ToolResult(call.id, (Text(text),), is_error=True, toolset=call.toolset)
    return ComputerOutcome(result)


def _point(value: Any) -> tuple[int, int] | None:
    return None if value is None else (value[0], value[1])
