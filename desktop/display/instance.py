"""One X server with all that lives and dies with it."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deskhand.desktop.capture.framebuffer import Framebuffer
from deskhand.desktop.clipboard.clipboard import X11Clipboard
from deskhand.desktop.geometry import Size
from deskhand.desktop.input.xtest import XTestInput
from deskhand.desktop.settings import Program
from deskhand.desktop.windows.watcher import WindowWatch
from deskhand.desktop.windows.windows import X11Windows

from .child_processes import ChildProcessSpawner
from .health_check import HealthCheck
from .session import DesktopSession, SessionFiles
from .x_server import XServer


@dataclass(frozen=True)
class Setting:
    """What all generations of one desktop have in common."""

    folder: Path
    size: Size
    environment: Mapping[str, str]
    spawner: ChildProcessSpawner
    files: SessionFiles
    acted: Callable[[], None]
    """Called after every input."""
    told: Callable[[str, dict[str, Any]], object]
    """Called, from any thread, with the kind and the data of an event."""
    layout: str = ""
    """Of the keyboard; empty for the X server's own."""
    program: Program = "Xvnc"
    glx: bool = False


class DisplayInstance:
    """X server, framebuffer, hands and session, opened and closed together.

    ``lost`` is called, from any thread, when the X server ends by itself.
    """

    def __init__(
        self, setting: Setting, number: int, counter: int, lost: Callable[[], None]
    ) -> None:
        self.number = number
        self._setting = setting
        self._counter = counter
        self._lost = lost
        self._stack = ExitStack()
        self._seen: Framebuffer | None = None
        self.xserver: XServer
        self.framebuffer: Framebuffer
        self.hands: XTestInput
        self.session: DesktopSession
        self.windows: X11Windows
        self.clipboard: X11Clipboard

    @property
    def alive(self) -> bool:
        """Whether its X server has not ended by itself."""
        return not self.xserver.died.is_set()

    @property
    def counter(self) -> int:
        """Of its newest frame."""
        return self._counter if self._seen is None else self._seen.counter

    def open(self) -> None:
        """Start everything.

        Raises:
            DesktopError: If something does not start; nothing of it runs then.
        """
        given = self._setting
        with ExitStack() as stack:
            self.xserver = stack.enter_context(
                XServer(
                    *(given.folder, given.size, given.environment, given.spawner),
                    on_death=self._lost,
                    program=given.program,
                    glx=given.glx,
                )
            )
            # Closed late: what else is closed may wait for a server that answers nobody.
            stack.enter_context(HealthCheck(self.xserver))
            place = (self.xserver.display, self.xserver.xauthority)
            name = "" if self.number == 1 else f".{self.number}"
            self.framebuffer = stack.enter_context(
                Framebuffer(*place, life=name, counter=self._counter)
            )
            self._seen = self.framebuffer
            self.hands = stack.enter_context(XTestInput(*place, self._acted))
            self.session = stack.enter_context(
                DesktopSession(
                    *(given.folder, *place, given.environment, given.spawner, given.files),
                    display_lives=lambda: self.xserver.pid is not None,
                    layout=given.layout,
                )
            )
            self.windows = stack.enter_context(X11Windows(*place))
            self.clipboard = stack.enter_context(X11Clipboard(*place))
            stack.enter_context(WindowWatch(*place, given.told))
            self._stack = stack.pop_all()

    def close(self) -> None:
        """End everything; twice is fine."""
        self._stack.close()

    def _acted(self) -> None:
        self.framebuffer.glance()
        self._setting.acted()


class DisplayInstanceFactory:
    """Makes one generation after the other, and numbers their frames without a break."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._last: DisplayInstance | None = None

    def __call__(self, number: int, lost: Callable[[], None]) -> DisplayInstance:
        """Make the next one, not open yet."""
        last = self._last
        # Whoever keeps something by a frame's counter must not take a new one for an old one.
        counter = 0 if last is None else last.counter + 1
        made = DisplayInstance(self._setting, number, counter, lost)
        self._last = made
        return made
