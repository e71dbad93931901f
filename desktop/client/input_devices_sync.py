"""Mouse and keyboard of a remote desktop.

For programs without an event loop. Written from ``deskhand.desktop.client.input_devices`` by
``scripts/make_sync_client.py``: change it there.
"""

from collections.abc import Sequence
from typing import Any, Literal

from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.results import Done

from .transport_sync import Transport

Button = Literal["left", "middle", "right", "back", "forward"]
HeldButton = Literal["left", "middle", "right"]
Direction = Literal["up", "down", "left", "right"]

_SEVERAL_CLICKS = {2: "double_click", 3: "triple_click"}


class Mouse:
    """The mouse of one desktop. ``observe`` waits until the screen settles and adds a picture."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def click(
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
            InvalidAction: For more than three clicks.
        """
        held: dict[str, Any] = {"coordinate": [x, y], "modifiers": list(modifiers)}
        if count == 1:
            return self._transport.act(f"{button}_click", observe, **held)
        if count not in _SEVERAL_CLICKS:
            raise InvalidAction("A button clicks one to three times.")
        return self._transport.act(_SEVERAL_CLICKS[count], observe, button=button, **held)

    def click_widget(self, ref: str, *, observe: bool = False) -> Done:
        """Click the middle of a widget of the newest accessibility tree."""
        return self._transport.act("left_click", observe, ref=ref)

    def double_click(self, x: int, y: int, *, observe: bool = False) -> Done:
        """Click twice at a point."""
        return self._transport.act("double_click", observe, coordinate=[x, y])

    def move(self, x: int, y: int, *, seconds: float = 0.0) -> Done:
        """Move the pointer, at once or smoothly; in steps while a button is down."""
        return self._transport.act("mouse_move", coordinate=[x, y], duration=seconds)

    def down(
        self, x: int | None = None, y: int | None = None, *, button: HeldButton = "left"
    ) -> Done:
        """Press a button at a point, or where the pointer is, without releasing it."""
        return self._transport.act(f"{button}_mouse_down", **_place(x, y))

    def up(
        self, x: int | None = None, y: int | None = None, *, button: HeldButton = "left"
    ) -> Done:
        """Release a button at a point, or where the pointer is."""
        return self._transport.act(f"{button}_mouse_up", **_place(x, y))

    def drag(
        self,
        *path: tuple[int, int],
        seconds: float = 0.2,
        button: Button = "left",
        observe: bool = False,
    ) -> Done:
        """Move along two or more points with a button pressed."""
        points = [list(point) for point in path]
        return self._transport.act(
            "left_click_drag", observe, path=points, duration=seconds, button=button
        )

    def scroll(
        self,
        x: int,
        y: int,
        direction: Direction = "down",
        notches: int = 3,
        *,
        pixels: int | None = None,
        by: tuple[int, int] | None = None,
        observe: bool = False,
    ) -> Done:
        """Turn the wheel at a point: by notches, by ``pixels``, or ``by`` pixels right and down.

        Pixels are those of the points. The screen has scrolled by them to half a notch.
        """
        amount: dict[str, Any]
        if by is not None:
            amount = {"scroll_x": by[0], "scroll_y": by[1]}
        else:
            amount = {"scroll_amount": notches} if pixels is None else {"scroll_pixels": pixels}
            amount["scroll_direction"] = direction
        return self._transport.act("scroll", observe, coordinate=[x, y], **amount)


def _place(x: int | None, y: int | None) -> dict[str, Any]:
    if (x is None) != (y is None):
        raise InvalidAction("Give both coordinates of a point, or neither.")
    return {} if x is None or y is None else {"coordinate": [x, y]}


class Keyboard:
    """The keyboard of one desktop. ``observe`` as for `Mouse`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def type(self, text: str, *, delay_ms: int = 0, observe: bool = False) -> Done:
        """Type a text in any script, with a pause of ``delay_ms`` after each character."""
        return self._transport.act("type", observe, text=text, delay_ms=delay_ms)

    def press(self, chord: str, *, observe: bool = False) -> Done:
        """Press and release a key or a chord, such as ``Return`` or ``ctrl+s``."""
        return self._transport.act("key", observe, text=chord)

    def down(self, chord: str) -> Done:
        """Press a key or a chord without releasing it."""
        return self._transport.act("key_down", text=chord)

    def up(self, chord: str) -> Done:
        """Release a key or a chord."""
        return self._transport.act("key_up", text=chord)

    def hold(self, chord: str, seconds: float = 1.0) -> Done:
        """Hold a key or a chord for ``seconds``."""
        return self._transport.act("hold_key", text=chord, duration=seconds)
