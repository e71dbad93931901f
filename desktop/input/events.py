"""Input events, in native pixels."""

from dataclasses import dataclass

from deskhand.desktop.geometry import Point


@dataclass(frozen=True)
class PointerMotion:
    """Move the pointer to a point."""

    to: Point


@dataclass(frozen=True)
class ButtonPress:
    """Press a mouse button; X numbers: 1 left, 2 middle, 3 right, 4-7 wheel, 8 back, 9 forward."""

    button: int


@dataclass(frozen=True)
class ButtonRelease:
    """Release a mouse button."""

    button: int


@dataclass(frozen=True)
class KeyPress:
    """Press the key that is bound to a keysym, without changing modifiers."""

    keysym: int


@dataclass(frozen=True)
class KeyRelease:
    """Release the key that is bound to a keysym."""

    keysym: int


@dataclass(frozen=True)
class Tap:
    """Press and release the key of a keysym, with the modifiers (Shift, AltGr) of its level."""

    keysym: int


@dataclass(frozen=True)
class AwaitDrag:
    """Wait until the program has taken the drag of a held button, or handled it without one."""


@dataclass(frozen=True)
class AwaitDrop:
    """`AwaitDrag`; then wait until the target of the drag has answered where the pointer is."""


@dataclass(frozen=True)
class Pause:
    """Wait, in seconds."""

    seconds: float


PointerEvent = PointerMotion | ButtonPress | ButtonRelease | AwaitDrag | AwaitDrop
InputEvent = PointerEvent | KeyPress | KeyRelease | Tap | Pause
