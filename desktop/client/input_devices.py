"""Mouse and keyboard of a remote desktop."""

from collections.abc import Sequence
from typing import Literal

from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.results import Done

from .transport import Transport

Button = Literal["left", "middle", "right", "back", "forward"]
Direction = Literal["up", "down", "left", "right"]

_LEFT_CLICKS = {1: "left_click", 2: "double_click", 3: "triple_click"}


class Mouse:
    """The mouse of one desktop. ``observe`` waits until the screen settles and adds a picture."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

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
        """Click at a point while holding ``modifiers``.

        Raises:
            InvalidAction: For more than three clicks, or several of another button.
        """
        action = _LEFT_CLICKS.get(count) if button == "left" else f"{button}_click"
        if action is None or (button != "left" and count != 1):
            raise InvalidAction("The left button clicks one to three times, others once.")
        held = list(modifiers)
        return await self._transport.act(action, observe, coordinate=[x, y], modifiers=held)

    async def click_widget(self, ref: str, *, observe: bool = False) -> Done:
        """Click the middle of a widget of the newest accessibility tree."""
        return await self._transport.act("left_click", observe, ref=ref)

    async def double_click(self, x: int, y: int, *, observe: bool = False) -> Done:
        """Click twice at a point."""
        return await self._transport.act("double_click", observe, coordinate=[x, y])

    async def move(self, x: int, y: int, *, seconds: float = 0.0) -> Done:
        """Move the pointer, at once or smoothly."""
        return await self._transport.act("mouse_move", coordinate=[x, y], duration=seconds)

    async def down(self) -> Done:
        """Press the left button at the pointer's position without releasing it."""
        return await self._transport.act("left_mouse_down")

    async def up(self) -> Done:
        """Release the left button."""
        return await self._transport.act("left_mouse_up")

    async def drag(
        self,
        *path: tuple[int, int],
        seconds: float = 0.2,
        observe: bool = False,
    ) -> Done:
        """Move along two or more points with the left button pressed."""
        points = [list(point) for point in path]
        return await self._transport.act("left_click_drag", observe, path=points, duration=seconds)

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
        """Turn the wheel at a point, by notches or by approximately ``pixels``."""
        amount = {"scroll_amount": notches} if pixels is None else {"scroll_pixels": pixels}
        at = [x, y]
        return await self._transport.act(
            "scroll", observe, coordinate=at, scroll_direction=direction, **amount
        )


class Keyboard:
    """The keyboard of one desktop. ``observe`` as for `Mouse`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def type(self, text: str, *, delay_ms: int = 0, observe: bool = False) -> Done:
        """Type a text in any script, with a pause of ``delay_ms`` after each character."""
        return await self._transport.act("type", observe, text=text, delay_ms=delay_ms)

    async def press(self, chord: str, *, observe: bool = False) -> Done:
        """Press and release a key or a chord, such as ``Return`` or ``ctrl+s``."""
        return await self._transport.act("key", observe, text=chord)

    async def down(self, chord: str) -> Done:
        """Press a key or a chord without releasing it."""
        return await self._transport.act("key_down", text=chord)

    async def up(self, chord: str) -> Done:
        """Release a key or a chord."""
        return await self._transport.act("key_up", text=chord)

    async def hold(self, chord: str, seconds: float = 1.0) -> Done:
        """Hold a key or a chord for ``seconds``."""
        return await self._transport.act("hold_key", text=chord, duration=seconds)
