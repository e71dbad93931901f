"""What the hands do, one movement at a time, in native pixels."""

from dataclasses import dataclass

from deskhand.desktop.geometry import Point


@dataclass(frozen=True)
class PointerMotion:
    """Put the pointer at a point."""

    to: Point


@dataclass(frozen=True)
class ButtonPress:
    """Press a mouse button; X numbers: 1 left, 2 middle, 3 right, 4-7 wheel, 8 back, 9 forward."""

    button: int


@dataclass(frozen=True)
class ButtonRelease:
    """Let a mouse button go."""

    button: int


@dataclass(frozen=True)
class KeyPress:
    """Press the key that carries a keysym, without touching modifiers."""

    keysym: int


@dataclass(frozen=True)
class KeyRelease:
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


InputEvent = PointerMotion | ButtonPress | ButtonRelease | KeyPress | KeyRelease | Tap | Pause
