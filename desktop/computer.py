"""A computer with a screen, a mouse and a keyboard: its ports."""

from collections.abc import Sequence
from types import TracebackType
from typing import Protocol, Self

from .frames import Damage, Frame, Pointer
from .geometry import Point, Region, Size
from .strokes import Stroke
from .views import PictureFormat


class DamageWatch(Protocol):
    """What was painted around one action; opened before acting, closed after looking."""

    def recent(self) -> tuple[Damage, ...]:
        """Damages of the second before the watch was opened."""

    async def next(self, timeout: float) -> Damage | None:
        """The next damage since the watch was opened; ``None`` after ``timeout`` seconds."""

    def close(self) -> None:
        """Stop watching."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class Screen(Protocol):
    """What is seen. All but ``watch`` block for some milliseconds; any thread may call."""

    @property
    def size(self) -> Size:
        """Native size."""

    def frame(self) -> Frame:
        """The newest pixels."""

    def pointer(self) -> Pointer:
        """The mouse pointer, which is not part of a frame."""

    def watch(self) -> DamageWatch:
        """Watch what is painted from now on; call it on the event loop."""


class Hands(Protocol):
    """What acts. Blocking; called from one thread only."""

    def perform(self, strokes: Sequence[Stroke]) -> None:
        """Do strokes, none of them a pause, and return when the display has them.

        Raises:
            UntypableText: If the keyboard has no room for a character.
        """

    def release_all(self) -> None:
        """Let go of every key and button that is still held."""

    def position(self) -> Point:
        """Where the mouse pointer is."""


class Pictures(Protocol):
    """What turns frames into files. Blocking; called from one thread only."""

    def render(
        self,
        frame: Frame,
        *,
        size: Size,
        region: Region | None = None,
        pointer: Pointer | None = None,
        format: PictureFormat = "png",
        quality: int = 85,
    ) -> bytes:
        """Return the picture of ``region``, the whole screen if none, scaled to ``size``."""
