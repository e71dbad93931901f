"""What the hands do, one movement at a time, in native pixels."""

from dataclasses import dataclass

from deskhand.desktop.geometry import Point


@dataclass(frozen=True)
class Move:
    """Put the pointer at a point."""

    to: Point


@dataclass(frozen=True)
class ButtonDown:
    """Press a mouse button; X numbers: 1 left, 2 middle, 3 right, 4-7 wheel, 8 back, 9 forward."""

    button: int


@dataclass(frozen=True)
class ButtonUp:
    """Let a mouse button go."""

    button: int


@dataclass(frozen=True)
class KeyDown:
    """Press the key that carries a keysym, without touching modifiers."""

    keysym: int


@dataclass(frozen=True)
class KeyUp:
    """Let the key that carries a keysym go."""

    keysym: int


@dataclass(frozen=True)
class Tap:
    """Press and release the key of a keysym, with whatever level (Shift, AltGr) it needs."""

    keysym: int


@dataclass(frozen=True)
class Pause:
    """Let time pass, in seconds."""

    seconds: float


Stroke = Move | ButtonDown | ButtonUp | KeyDown | KeyUp | Tap | Pause
