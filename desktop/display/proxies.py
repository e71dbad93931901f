"""Eyes and hands of whatever life the display has just now."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from deskhand.desktop.capture.frames import Frame, Pointer
from deskhand.desktop.capture.subscriptions import DamageSubscription, FrameSubscription
from deskhand.desktop.errors import DisplayGone
from deskhand.desktop.geometry import Point, Size
from deskhand.desktop.input.events import InputEvent

from .instance import DisplayInstance
from .supervisor import DisplaySupervisor

T = TypeVar("T")


class ScreenProxy:
    """A framebuffer that outlives X servers; all but ``watch`` wait for one that starts."""

    def __init__(self, display: DisplaySupervisor[DisplayInstance], size: Size) -> None:
        self._display = display
        self._size = size

    @property
    def size(self) -> Size:
        """Native size, the same for all X servers of a desktop."""
        return self._size

    def frame(self) -> Frame:
        """The newest pixels.

        Raises:
            DisplayGone, DisplayNotReady: If there is no display, and none comes in time.
        """
        return self._read(lambda life: life.framebuffer.frame())

    def pointer(self) -> Pointer:
        """Where the pointer is, and how it looks.

        Raises:
            DisplayGone, DisplayNotReady: If there is no display, and none comes in time.
        """
        return self._read(lambda life: life.framebuffer.pointer())

    def watch(self) -> DamageSubscription:
        """Listen to damage from now on.

        Raises:
            DisplayGone, DisplayNotReady: If there is no display just now.
        """
        life = self._display.present()
        return _told(self._display, life, life.framebuffer.watch)

    def subscribe(self) -> FrameSubscription:
        """Get new frames of the display that there is; the feed ends with it.

        Raises:
            DisplayGone, DisplayNotReady: If there is no display, and none comes in time.
        """
        return self._display.current().framebuffer.subscribe()

    def _read(self, look: Callable[[DisplayInstance], T]) -> T:
        life = self._display.current()
        try:
            return _told(self._display, life, lambda: look(life))
        except DisplayGone:
            # Looking changes nothing: it can be done again on the next one.
            life = self._display.current()
            return _told(self._display, life, lambda: look(life))


class InputProxy:
    """Hands that outlive X servers; what was begun on one is never repeated on the next."""

    def __init__(self, display: DisplaySupervisor[DisplayInstance]) -> None:
        self._display = display

    def perform(self, strokes: Sequence[InputEvent]) -> None:
        """Do strokes, none of them a pause.

        Raises:
            UntypableText, ActionFailed: As the hands do.
            DisplayGone, DisplayNotReady: If there is no display, and none comes in time.
        """
        life = self._display.current()
        _told(self._display, life, lambda: life.hands.perform(strokes))

    def release_all(self) -> None:
        """Let go of everything; on a display that is gone, or has just come, nothing is held."""
        life = self._display.present()
        _told(self._display, life, life.hands.release_all)

    def position(self) -> Point:
        """Where the pointer is.

        Raises:
            DisplayGone, DisplayNotReady: If there is no display, and none comes in time.
        """
        life = self._display.current()
        return _told(self._display, life, life.hands.position)


def _told(
    display: DisplaySupervisor[DisplayInstance], life: DisplayInstance, work: Callable[[], T]
) -> T:
    try:
        return work()
    except DisplayGone as error:
        display.lost(life, str(error))
        raise
