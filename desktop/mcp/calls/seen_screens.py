"""The screen that each caller was shown last; the only memory of the MCP server."""

from collections import OrderedDict
from dataclasses import dataclass

from .screen_view import ScreenView

MOST_CALLERS = 256


@dataclass(frozen=True)
class SeenScreen:
    """How a caller sees the screen, and the frame in the last picture that it got."""

    view: ScreenView
    frame_id: str = ""


class SeenScreens:
    """Keeps one screen for each key of token and chat; the least recent ones are dropped."""

    def __init__(self, most: int = MOST_CALLERS) -> None:
        self._most = most
        self._screens: OrderedDict[str, SeenScreen] = OrderedDict()

    def get(self, key: str) -> SeenScreen | None:
        """Return the screen that a caller was shown."""
        return self._screens.get(key)

    def keep(self, key: str, seen: SeenScreen) -> None:
        """Note what a caller was shown."""
        self._screens[key] = seen
        self._screens.move_to_end(key)
        if len(self._screens) > self._most:
            self._screens.popitem(last=False)
