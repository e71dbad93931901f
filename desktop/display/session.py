"""Desktop session on a display: D-Bus daemon, window manager, wallpaper, panel, launchers."""

import os
import select
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from deskhand.desktop.browser.policy import BrowserLaunch
from deskhand.desktop.errors import DisplayNotReady, MissingProgram
from deskhand.desktop.x11.connection import await_window_manager
from deskhand.desktop.x11.root_window import show_column

from .activation import Activations
from .child_processes import ChildCommand, ChildProcess, ChildProcessSpawner, find_program
from .gradient import wallpaper
from .session_files import BUS, SessionFiles, session_environment

_MARK = "DESKHAND_SESSION"
_MOST_RESTARTS = 5
_RESTART_SECONDS = 10.0
_BUS_SECONDS = 5.0
_WINDOW_MANAGER_SECONDS = 5.0
_LAYOUT_SECONDS = 5.0
_ONCE = ("setxkbmap",)
"""Programs that set a property of the display and exit: the status does not list them."""

_TRUSTED = (*_ONCE, "openbox", "tint2")
"""Programs that set properties of the root window and read those of others' windows."""


class DesktopSession:
    """Runs the programs of one desktop session while it is open.

    Between `open` and `wait_ready` the programs start, which nothing has to wait for meanwhile.
    ``folder`` is the desktop's private directory; ``environment`` is that of applications, and
    its PATH should contain ``<folder>/bin``, where ``browser`` and ``terminal`` are written.
    ``xauthority`` is the file with the cookie of the window manager and the panel; other programs
    get ``application_xauthority`` and ``application_display``, by default the same.
    ``trusted_environment`` replaces variables of the window manager and the panel. ``bus_config``
    is the configuration of a message bus of the service's user; without it the bus has the agent's
    user and the machine's configuration.
    """

    def __init__(
        self,
        folder: Path,
        display: str,
        xauthority: Path,
        environment: Mapping[str, str],
        spawner: ChildProcessSpawner,
        files: SessionFiles,
        browser: BrowserLaunch,
        *,
        display_alive: Callable[[], bool] = lambda: True,
        layout: str = "",
        application_xauthority: Path | None = None,
        application_display: str = "",
        trusted_environment: Mapping[str, str] | None = None,
        bus_config: Path | None = None,
    ) -> None:
        self._folder = folder
        self._display_alive = display_alive
        self._display = display
        self._xauthority = xauthority
        self._spawner = spawner
        self._bus = folder / BUS
        self._bus_config = bus_config
        self._activations: Activations | None = None
        self._environment = session_environment(
            folder,
            application_display or display,
            application_xauthority or xauthority,
            environment,
        )
        own = {"DISPLAY": display, "XAUTHORITY": str(xauthority)}
        self._trusted = {**(trusted_environment or {}), **own}
        self._files = files
        self._browser = browser
        self._layout = layout
        self._children: dict[str, ChildProcess] = {}
        self._restarts: dict[str, list[float]] = {}
        self._restarters: dict[str, Callable[[], ChildProcess]] = {
            # A restarted bus needs no pipe: its callback runs in the spawn thread, which must not
            # wait.
            "dbus-daemon": lambda: self._spawn_bus(()),
            "openbox": self._start_window_manager,
            "tint2": self._start_panel,
        }
        self._closing = False
        self._bus_pipe = -1
        """Receives a byte when the message bus is ready."""

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def environment(self) -> dict[str, str]:
        """Environment of the applications of this desktop."""
        return dict(self._environment)

    @property
    def browser(self) -> BrowserLaunch:
        """The way in which the browser is started."""
        return self._browser

    def pids(self) -> dict[str, int]:
        """Return the pids of the programs that run, by their names. Any thread may call it."""
        return {name: child.pid for name, child in dict(self._children).items() if child.running}

    def open(self) -> None:
        """Start the programs, and paint the wallpaper; `wait_ready` has to follow. All or nothing.

        Raises:
            MissingProgram: If the message bus or the window manager is not installed.
            DisplayNotReady: If the layout does not exist.
            DisplayGone: If the X server ends meanwhile.
        """
        try:
            self._start_all()
        except BaseException:
            self.close()
            raise

    def wait_ready(self) -> None:
        """Wait for the programs and start the panel; then windows may be opened.

        Raises:
            DisplayNotReady: If the message bus does not start.
            DisplayGone: If the X server ends meanwhile.
        """
        self._await_bus()
        # tint2 polls for a window manager once a second, so starting it earlier costs a second.
        await_window_manager(self._display, self._xauthority, _WINDOW_MANAGER_SECONDS)
        self._start_panel()

    def close(self) -> None:
        """End the programs and the applications that were launched from the panel."""
        # `_on_exit` runs in the spawn thread and must not restart a program that ends from now on.
        self._closing = True
        self._close_pipe()
        if self._activations is not None:
            self._activations.close()
        children = tuple(reversed(self._children.values()))
        for child in children:
            child.terminate()
        for child in children:
            child.stop(grace=1.0)
        self._kill_marked()

    def status(self) -> dict[str, Any]:
        """Return the state of each program for the status route."""
        return {
            **{
                name: {"running": child.running, "pid": child.host_pid if child.running else None}
                for name, child in self._children.items()
                if name not in _ONCE
            },
            "window_manager_restarts": len(self._restarts.get("openbox", ())),
            "restarts": {name: len(times) for name, times in self._restarts.items()},
            **self._browser.status(),
        }

    def _start_all(self) -> None:
        self._files.write(self._folder, self._environment, self._browser)
        for name in ("dbus-daemon", "openbox", "tint2", "xterm"):
            find_program(name, self._environment.get("PATH"))
        self._set_layout()
        if self._bus_config is not None:
            self._activations = Activations(self._folder, self._activate)
            self._activations.open()
        self._start_bus()
        self._start_window_manager()
        show_column(self._display, self._xauthority, wallpaper)

    def _start(self, name: str, *arguments: str, **more: Any) -> ChildProcess:
        # Applications inherit the mark, by which `close` finds those that left the process group.
        environment = {**self._environment, _MARK: str(self._folder)}
        if name in _TRUSTED or more.get("user", "agent") == "service":
            environment |= self._trusted
        log = self._folder / "logs" / f"{name}.log"
        home = environment.get("HOME")
        command = ChildCommand(
            (name, *arguments),
            environment,
            log,
            Path(home) if home else None,
            on_exit=self._on_exit,
            **more,
        )
        child = self._spawner.spawn(command)
        self._children[name] = child
        return child

    def _set_layout(self) -> None:
        if not self._layout:
            return
        layout, _, variant = self._layout.partition("(")
        chosen = ["-layout", layout, *(["-variant", variant.rstrip(")")] if variant else [])]
        setting = self._start("setxkbmap", *chosen)
        if not setting.exited.wait(_LAYOUT_SECONDS) or setting.returncode:
            raise DisplayNotReady(self._display, 0.0, f"{self._layout}: {setting.log_tail()}")

    def _start_bus(self) -> None:
        self._bus_pipe, writing = os.pipe()
        try:
            self._spawn_bus((writing,))
        finally:
            # Only the bus holds the write end then, so its exit ends the wait with end-of-file.
            os.close(writing)

    def _await_bus(self) -> None:
        ready = select.select([self._bus_pipe], [], [], _BUS_SECONDS)[0]
        if not ready or not os.read(self._bus_pipe, 1):
            tail = self._children["dbus-daemon"].log_tail()
            raise DisplayNotReady(self._display, _BUS_SECONDS, tail)
        self._close_pipe()

    def _close_pipe(self) -> None:
        if self._bus_pipe >= 0:
            os.close(self._bus_pipe)
            self._bus_pipe = -1

    def _spawn_bus(self, ready_fds: tuple[int, ...]) -> ChildProcess:
        config = self._bus_config
        return self._start(
            "dbus-daemon",
            "--session" if config is None else f"--config-file={config}",
            *("--nofork", "--nopidfile", "--nosyslog"),
            *(f"--address=unix:path={self._bus}", *(f"--print-address={fd}" for fd in ready_fds)),
            pass_fds=ready_fds,
            user="agent" if config is None else "service",
        )

    def _activate(self, words: Sequence[str]) -> None:
        address = {
            "DBUS_STARTER_BUS_TYPE": "session",
            "DBUS_STARTER_ADDRESS": self._environment["DBUS_SESSION_BUS_ADDRESS"],
            _MARK: str(self._folder),
        }
        log = self._folder / "logs" / "activated.log"
        # The bus reports to the client that a service has not started.
        with suppress(OSError, MissingProgram):
            home = self._environment.get("HOME")
            self._spawner.spawn(
                ChildCommand(
                    *(words, {**self._environment, **address}, log, Path(home) if home else None),
                    user="agent",
                )
            )

    def _start_window_manager(self) -> ChildProcess:
        rc = str(self._folder / "etc" / "openbox.xml")
        return self._start("openbox", "--sm-disable", "--config-file", rc)

    def _start_panel(self) -> ChildProcess:
        return self._start("tint2", "-c", str(self._folder / "etc" / "tint2rc"))

    def _on_exit(self, child: ChildProcess) -> None:
        restart = self._restarters.get(child.name)
        if self._closing or child.ending or restart is None or not self._display_alive():
            return
        now = time.monotonic()
        times = self._restarts.setdefault(child.name, [])
        # A program that fails at once would otherwise be restarted in a busy loop.
        if sum(at > now - _RESTART_SECONDS for at in times) < _MOST_RESTARTS:
            times.append(now)
            with suppress(OSError, MissingProgram):
                restart()

    def _kill_marked(self) -> None:
        self._spawner.end_marked(f"{_MARK}={self._folder}")
