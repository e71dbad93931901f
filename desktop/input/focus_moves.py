"""Holds a key back until the click, shortcut or Tab before it has moved the keyboard focus.

The window manager passes a click on (`pointer_delivery.ClickDelivery`), then the processes of the
application move the focus among them (`client_idle.ClientIdle.wait_for_focus_moves`).
"""

from pathlib import Path
from typing import Any

from .client_idle import ClientIdle
from .pointer_delivery import BUTTONS, ClickDelivery

TAB, ISO_LEFT_TAB = 0xFF09, 0xFE20


class FocusMoves:
    """Follows clicks and shortcuts on ``connection``, whose errors are the caller's to handle."""

    def __init__(self, connection: Any, client: ClientIdle, display: str, xauthority: Path) -> None:
        """Connect to the window manager.

        Raises:
            DisplayGone: If there is no such display.
        """
        self._connection = connection
        self._client = client
        self._delivery = ClickDelivery(display, xauthority)
        self._clicked = self._moving = False

    def close(self) -> None:
        """Disconnect; twice is fine."""
        self._delivery.close()

    def pressed(self, button: int) -> None:
        """Note that a button was pressed."""
        self._clicked |= button in BUTTONS

    def struck(self, keysym: int, command: bool) -> None:
        """Note that a key was struck; ``command`` if a modifier made it a shortcut."""
        self._moving = command or keysym in (TAB, ISO_LEFT_TAB)

    def deliver_clicks(self) -> None:
        """Wait until the window manager has passed on the clicks so far."""
        if not self._clicked:
            return
        self._clicked = False
        # A reply shows that the server has processed the click.
        self._connection.core.GetInputFocus().reply()
        self._delivery.wait()
        self._moving = True

    def wait(self, command: bool = False) -> None:
        """Wait before a key; ``command`` if a modifier makes it a shortcut, which may repeat."""
        self.deliver_clicks()
        if self._moving and not command:
            self._moving = False
            self._client.wait_for_focus_moves()

    def wait_for_viewer(self) -> None:
        """Wait for clicks and shortcuts of a viewer, which may have been any."""
        self._clicked = True
        self.wait()
