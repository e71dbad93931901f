"""One X server with the session and the connections that depend on it."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deskhand.desktop.browser.policy import BrowserLaunch
from deskhand.desktop.capture.framebuffer import Framebuffer
from deskhand.desktop.clipboard.clipboard import X11Clipboard
from deskhand.desktop.clipboard.private_selections import PrivateSelections
from deskhand.desktop.geometry import Size
from deskhand.desktop.input.xtest import XTestInput
from deskhand.desktop.settings import Program
from deskhand.desktop.windows.watcher import WindowWatch
from deskhand.desktop.windows.windows import X11Windows
from deskhand.desktop.x11.keyboard_grab import KeyboardGrab

from .agent_filter import AgentFilter, DisplaySockets
from .child_processes import ChildProcessSpawner
from .deferred_socket import DeferredSocket
from .health_check import HealthCheck
from .session import DesktopSession
from .session_files import SessionFiles, session_environment
from .x_server import AUTHORITY, XServer


@dataclass(frozen=True)
class InstanceOptions:
    """Options that all display instances of one desktop share."""

    folder: Path
    size: Size
    environment: Mapping[str, str]
    spawner: ChildProcessSpawner
    files: SessionFiles
    browser: BrowserLaunch
    acted: Callable[[], None]
    """Called after every input event."""
    publish: Callable[[str, dict[str, Any]], object]
    """Called, from any thread, with the kind and the data of an event."""
    copied: Callable[[], object] | None = None
    """Called, from any thread, when a program has copied to the clipboard."""
    layout: str = ""
    """XKB layout; empty for the X server's default."""
    program: Program = "Xvnc"
    glx: bool = False
    display: int | None = None
    """Number of the display that is reserved for this desktop; None for any."""
    deferred: DeferredSocket | None = None
    """The socket of a display that starts later, with the number of the display."""
    sockets: DisplaySockets | None = None
    """Those of a filtered display; None if applications connect to the X server directly."""
    trusted_environment: Mapping[str, str] | None = None
    """Of the X server, the window manager and the panel; None for that of applications."""
    cookie: bytes = b""
    """The trusted cookie of all instances; empty for a new one each time."""
    browser_user: int | None = None
    """Id of the browser's own user; None if it has that of the applications."""
    bus_config: Path | None = None
    """Configuration of the message bus; None for that of the machine."""

    @property
    def trusted(self) -> Mapping[str, str]:
        """Environment of the X server, the window manager and the panel."""
        return self.trusted_environment or self.environment

    @property
    def number(self) -> int | None:
        """Number of the display of all instances; None if each takes a free one."""
        if self.sockets is not None:
            return self.sockets.number
        return self.display if self.deferred is None else self.deferred.number

    def before_start(self) -> dict[str, str]:
        """Return the environment of applications while a deferred display has not started."""
        authority = self.folder / AUTHORITY
        return session_environment(self.folder, f":{self.number}", authority, self.environment)


class DisplayInstance:
    """X server, framebuffer, input, session, windows and clipboard, opened and closed together.

    ``lost`` is called, from any thread, when the X server ends by itself.
    """

    def __init__(
        self, options: InstanceOptions, number: int, counter: int, lost: Callable[[], None]
    ) -> None:
        self.number = number
        self._options = options
        self._counter = counter
        self._lost = lost
        self._stack = ExitStack()
        self._opened: Framebuffer | None = None
        self.xserver: XServer
        self.framebuffer: Framebuffer
        self.input: XTestInput
        self.session: DesktopSession
        self.windows: X11Windows
        self.clipboard: X11Clipboard
        self.selections: PrivateSelections
        self.keyboard: KeyboardGrab | None = None
        """None until the display has started."""

    @property
    def alive(self) -> bool:
        """False once the X server has exited by itself."""
        return not self.xserver.died.is_set()

    @property
    def counter(self) -> int:
        """Counter of the newest frame."""
        return self._counter if self._opened is None else self._opened.counter

    def open(self) -> None:
        """Start all parts.

        Raises:
            DesktopError: If one of them does not start; none runs then.
        """
        options = self._options
        with ExitStack() as stack:
            self.xserver = stack.enter_context(
                XServer(
                    *(options.folder, options.size, options.trusted, options.spawner),
                    on_death=self._lost,
                    program=options.program,
                    glx=options.glx,
                    number=options.number,
                    sockets=options.sockets,
                    cookie=options.cookie,
                    browser_user=options.browser_user,
                )
            )
            # The exit stack closes the health check after all connections: closing one of those
            # may block on a hung server until the check kills it.
            stack.enter_context(HealthCheck(self.xserver))
            processes = None
            if options.sockets is not None:
                agents = AgentFilter(options.sockets, self.xserver.cookie)
                processes = stack.enter_context(agents).processes
            address = (self.xserver.display, self.xserver.xauthority)
            name = "" if self.number == 1 else f".{self.number}"
            self.session = stack.enter_context(
                DesktopSession(
                    *(
                        options.folder,
                        *address,
                        options.environment,
                        options.spawner,
                        *(options.files, options.browser),
                    ),
                    # A session whose X server has died must not restart its programs, which would
                    # fail at once.
                    display_alive=lambda: self.xserver.pid is not None,
                    layout=options.layout,
                    trusted_environment=options.trusted_environment,
                    application_xauthority=self.xserver.application_xauthority,
                    application_display=self.xserver.application_display,
                    bus_config=options.bus_config,
                )
            )
            self.framebuffer = stack.enter_context(
                Framebuffer(*address, instance=name, counter=self._counter)
            )
            self._opened = self.framebuffer
            self.input = stack.enter_context(XTestInput(*address, self._acted, processes))
            self.windows = stack.enter_context(X11Windows(*address))
            self.clipboard = stack.enter_context(X11Clipboard(*address, options.copied))
            self.selections = stack.enter_context(PrivateSelections(*address, self.clipboard))
            # Before any program of the agent can take all connections.
            keyboard = stack.enter_context(KeyboardGrab(*address))
            # Meanwhile the window manager has started.
            self.session.wait_ready()
            stack.enter_context(WindowWatch(*address, options.publish))
            if options.deferred is not None:
                options.deferred.hand_over(self.xserver.application_cookie, self.xserver.cookie)
            self.keyboard = keyboard
            self._stack = stack.pop_all()

    def close(self) -> None:
        """End all parts; twice is fine."""
        self._stack.close()

    def _acted(self) -> None:
        self.framebuffer.check_pointer_soon()
        self._options.acted()


class DisplayInstanceFactory:
    """Makes the instances of one desktop, whose frame counters continue across instances."""

    def __init__(self, options: InstanceOptions) -> None:
        self._options = options
        self._last: DisplayInstance | None = None

    def __call__(self, number: int, lost: Callable[[], None]) -> DisplayInstance:
        """Make the next instance, not open yet."""
        last = self._last
        # Caches keyed by a frame's counter must not mistake a new frame for an old one.
        counter = 0 if last is None else last.counter + 1
        instance = DisplayInstance(self._options, number, counter, lost)
        self._last = instance
        return instance
