"""Screen and input of whichever display instance runs at the moment.

Both translate a lost connection into a report to the supervisor. Reading is repeated once on the
next instance, because it has no effect; input never is, because part of it may have been applied.
"""

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
    """Framebuffer that outlives X servers; all methods but ``watch`` wait for one that starts."""

    def __init__(self, display: DisplaySupervisor[DisplayInstance], size: Size) -> None:
        self._display = display
        self._size = size

    @property
    def size(self) -> Size:
        """Native size; all X servers of a desktop have the same."""
        return self._size

    def frame(self) -> Frame:
        """Return the newest frame.

        Raises:
            DisplayGone, DisplayNotReady: If no display starts in time.
        """
        return self._read(lambda instance: instance.framebuffer.frame())

    def pointer(self) -> Pointer:
        """Return position and image of the pointer.

        Raises:
            DisplayGone, DisplayNotReady: If no display starts in time.
        """
        return self._read(lambda instance: instance.framebuffer.pointer())

    def watch(self) -> DamageSubscription:
        """Subscribe to damage from now on.

        Raises:
            DisplayGone, DisplayNotReady: If no display runs now.
        """
        instance = self._display.present()
        return _reporting_loss(self._display, instance, instance.framebuffer.watch)

    def subscribe(self) -> FrameSubscription:
        """Subscribe to frames of the running instance; the subscription ends with it.

        Raises:
            DisplayGone, DisplayNotReady: If no display starts in time.
        """
        # A lost connection ends the subscription itself, so no report is needed here.
        return self._display.current().framebuffer.subscribe()

    def _read(self, read: Callable[[DisplayInstance], T]) -> T:
        instance = self._display.current()
        try:
            return _reporting_loss(self._display, instance, lambda: read(instance))
        except DisplayGone:
            # Reading has no effect on the display, so the next instance can serve it.
            instance = self._display.current()
            return _reporting_loss(self._display, instance, lambda: read(instance))


class InputProxy:
    """Input that outlives X servers; events begun on one are never repeated on the next."""

    def __init__(self, display: DisplaySupervisor[DisplayInstance]) -> None:
        self._display = display

    def perform(self, events: Sequence[InputEvent]) -> None:
        """Inject events, none of them a pause.

        Raises:
            UntypableText, ActionFailed: As `XTestInput.perform` does.
            DisplayGone, DisplayNotReady: If no display starts in time.
        """
        instance = self._display.current()
        _reporting_loss(self._display, instance, lambda: instance.input.perform(events))

    def release_all(self) -> None:
        """Release everything; a display that is gone, or has just started, holds nothing."""
        instance = self._display.present()
        _reporting_loss(self._display, instance, instance.input.release_all)

    def await_focus(self) -> None:
        """Wait until the input of viewers has moved the keyboard focus."""
        instance = self._display.present()
        _reporting_loss(self._display, instance, instance.input.await_focus)

    def position(self) -> Point:
        """Return the position of the pointer.

        Raises:
            DisplayGone, DisplayNotReady: If no display starts in time.
        """
        instance = self._display.current()
        return _reporting_loss(self._display, instance, instance.input.position)

    def holds_button(self) -> bool:
        """Return True while a button that ``perform`` pressed is down.

        Raises:
            DisplayGone, DisplayNotReady: If no display starts in time.
        """
        return self._display.current().input.holds_button()


def _reporting_loss(
    display: DisplaySupervisor[DisplayInstance], instance: DisplayInstance, work: Callable[[], T]
) -> T:
    try:
        return work()
    except DisplayGone as error:
        display.lost(instance, str(error))
        raise
