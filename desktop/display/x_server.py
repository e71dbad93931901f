"""X server of one desktop: Xvnc on a free display, with a cookie and a private RFB socket.

A browser with a user of its own needs no cookie: the server admits that user by its id, so that
there is no file with a cookie that could be opened, or sent, as any other file in a browser.
Clients of a filtered display need none either (`agent_filter`); theirs is a random one.

Xvfb serves no RFB, and a desktop on it has no live view.
"""

import os
import secrets
import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from deskhand.desktop.errors import DisplayNotReady
from deskhand.desktop.geometry import Size
from deskhand.desktop.settings import Program
from deskhand.desktop.x11 import host_access
from deskhand.desktop.x11.server_files import X_SOCKETS, clear_lock, clear_socket, clear_stale
from deskhand.desktop.x11.sockets import exactly, set_up
from deskhand.desktop.x11.x_setup import COOKIE_NAME

from .agent_filter import DisplaySockets
from .child_processes import ChildCommand, ChildProcess, ChildProcessSpawner

AUTHORITY = Path("run/display/Xauthority")
BROWSER_AUTHORITY = Path("run/browser/Xauthority")
RFB_SOCKET = Path("run/service/rfb.sock")
SERVICE_AUTHORITY = Path("run/service/Xauthority")
"""Names in the directory of the desktop."""
FOR_GROUP = 0o640
"""Mode of files for the users of applications, whose group their directory hands on."""
# Families of .Xauthority entries (Xauth.h): of one host's local sockets, and of all addresses.
_FAMILY_LOCAL, _FAMILY_WILD = 256, 65535
# ProtocolVersion message: "RFB 003.008\n" (RFC 6143, 7.1.1).
_RFB_BANNER_BYTES = 12
_STOPPED_SECONDS = 0.05
"""Interval of reading whether a stopped server continues."""


class XServer:
    """Runs Xvnc, or ``program``, while it is open.

    ``number`` is that of a reserved display; without it the server chooses a free one.
    ``folder`` must be private (0700): it receives the cookies, the RFB socket and the log. With
    ``sockets`` it has the number and the socket of these. ``browser_user`` is the id of the
    browser's own user.
    ``died`` is set, and ``on_death`` called in the spawn thread, when the server exits by itself.
    """

    def __init__(
        self,
        folder: Path,
        size: Size,
        environment: Mapping[str, str],
        spawner: ChildProcessSpawner,
        *,
        on_death: Callable[[], None] | None = None,
        program: Program = "Xvnc",
        glx: bool = False,
        number: int | None = None,
        sockets: DisplaySockets | None = None,
        cookie: bytes = b"",
        browser_user: int | None = None,
    ) -> None:
        self.size = size
        self.xauthority = folder / SERVICE_AUTHORITY
        """File of the cookie. No application's environment names it."""
        self.application_xauthority = folder / AUTHORITY
        self._browser_xauthority = folder / BROWSER_AUTHORITY
        self._browser_user = browser_user
        self.rfb_socket = folder / RFB_SOCKET
        self.died = threading.Event()
        self._log = folder / "logs" / "xserver.log"
        self._environment = environment
        self._spawner = spawner
        self._on_death = on_death
        self._program = program
        self._glx = glx
        self._reserved = number
        self._sockets = sockets
        self.cookie = cookie or secrets.token_bytes(16)
        """The cookie of the server."""
        self.application_cookie = self.cookie if sockets is None else secrets.token_bytes(16)
        """Cookie of applications."""
        self._child: ChildProcess | None = None
        self._number_pipe = -1
        self._number: int | None = None

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
    def display(self) -> str:
        """Display name for the service, such as ``:3``."""
        return f":{self._number}" if self._number is not None else "(starting)"

    @property
    def application_display(self) -> str:
        """Display name for applications."""
        return self.display if self._sockets is None else f":{self._sockets.number}"

    @property
    def pid(self) -> int | None:
        """Process id; None unless the server runs."""
        return self._child.pid if self._child is not None and self._child.running else None

    @property
    def host_pid(self) -> int | None:
        """Process id outside of the desktop's PID namespace; None unless the server runs."""
        return self._child.host_pid if self._child is not None and self._child.running else None

    @property
    def has_live_view(self) -> bool:
        """True if the server also serves RFB."""
        return self._program == "Xvnc"

    def open(self, timeout: float = 10.0) -> None:
        """Start the server and wait until X and RFB answer."""
        self.launch()
        self.wait_ready(timeout)

    def launch(self) -> None:
        """Start the server without waiting for it.

        Raises:
            MissingProgram: If it is not installed.
        """
        make_socket_directory()
        clear_stale()
        write_cookie(self.xauthority, self.cookie)
        if self._browser_user is None:
            write_cookie(self._browser_xauthority, self.application_cookie, FOR_GROUP)
        self.rfb_socket.unlink(missing_ok=True)
        # The server chooses a free number itself and reports it here (-displayfd, Xserver(1)); one
        # chosen beforehand could be taken by another server in between.
        self._number_pipe, write_end = os.pipe()
        try:
            with ExitStack() as stack:
                listener: int | None = None
                if self._sockets is not None:
                    # Only the server listens then: its clients notice its end.
                    listener = stack.enter_context(self._sockets.of_server()).fileno()
                command = ChildCommand(
                    self._command(write_end),
                    self._environment,
                    self._log,
                    pass_fds=(write_end,),
                    listener=listener,
                    on_exit=self._on_exit,
                )
                self._child = self._spawner.spawn(command)
        except BaseException:
            self._close_pipe()
            raise
        finally:
            # Only the server holds the write end then, so its exit ends the wait with end-of-file.
            os.close(write_end)

    def wait_ready(self, timeout: float = 10.0) -> None:
        """Wait until the server accepts clients.

        Raises:
            DisplayNotReady: With the end of the log; the server is ended first.
        """
        started = time.monotonic()
        try:
            self._number = self._read_number(started + timeout)
            with _connect_x(self._number, self.cookie, started + timeout) as client:
                if self._browser_user is not None:
                    _admit(client, self._browser_user)
            write_cookie(self.application_xauthority, self.application_cookie, FOR_GROUP)
            if self.has_live_view:
                _read_rfb_version(self.rfb_socket, started + timeout)
        except (OSError, ValueError) as error:
            tail = self._child.log_tail() if self._child is not None else ""
            self.close()
            waited = time.monotonic() - started
            raise DisplayNotReady(self.display, waited, tail) from error
        finally:
            self._close_pipe()

    def connect(self, timeout: float) -> socket.socket:
        """Return a socket on which the X11 connection setup is complete.

        Raises:
            OSError: If the server does not accept it in time.
        """
        if self._number is None:
            raise ConnectionError("the server has not started")
        return _connect_x(self._number, self.cookie, time.monotonic() + timeout)

    def x_responds(self, timeout: float) -> bool:
        """Return True if X answers a new client in time."""
        try:
            self.connect(timeout).close()
        except OSError:
            return False
        return True

    def rfb_responds(self, timeout: float) -> bool:
        """Return True if RFB answers in time; without RFB, unless the process stays stopped."""
        deadline = time.monotonic() + timeout
        if not self.has_live_view:
            return not self._stays_stopped(deadline)
        try:
            _read_rfb_version(self.rfb_socket, deadline)
        except OSError:
            return False
        return True

    def kill(self) -> None:
        """Kill the server at once; the exit counts as a crash."""
        if self._child is not None:
            self._child.kill()

    def close(self) -> None:
        """End the server, and remove the lock and sockets that a killed one leaves behind."""
        self._close_pipe()
        if self._child is not None:
            self._child.stop()
        if self._number is not None:
            clear_lock(self._number, (os.geteuid(),))
            if self._sockets is None:
                clear_socket(socket_of(self._number), (os.geteuid(),))
        self.rfb_socket.unlink(missing_ok=True)

    def _stays_stopped(self, deadline: float) -> bool:
        # waitid(2) reports SIGCONT to one waiter only, and the spawner may be that one.
        while self.pid is not None and _is_stopped(self.pid):
            if time.monotonic() >= deadline:
                return True
            time.sleep(_STOPPED_SECONDS)
        return False

    def _command(self, number_pipe: int) -> list[str]:
        width, height = self.size
        reserved, listening = self._reserved, ["-nolisten", "local"]
        if self._sockets is not None:
            reserved, listening = self._sockets.display.trusted, [*listening, "-nolisten", "unix"]
        return [
            self._program,
            # Without `local`, the server would listen on the abstract socket too, whose name is
            # reserved (launch/display_number.py).
            *(() if reserved is None else (f":{reserved}", *listening)),
            *("-displayfd", str(number_pipe), "-dpi", "96"),
            # Without -noreset, the server resets when its last client disconnects (Xserver(1)).
            *("-auth", str(self.xauthority), "-nolisten", "tcp", "-noreset"),
            *(() if self._glx else ("-extension", "GLX")),
            *(
                self._vnc_options()
                if self.has_live_view
                else ("-screen", "0", f"{width}x{height}x24")
            ),
        ]

    def _vnc_options(self) -> list[str]:
        return [
            *("-geometry", f"{self.size.width}x{self.size.height}", "-depth", "24"),
            *("-rfbport", "-1", "-rfbunixpath", str(self.rfb_socket), "-rfbunixmode", "0600"),
            *("-SecurityTypes", "None", "-AlwaysShared", "-AcceptSetDesktopSize=0"),
            # Xvnc blocks a host after five failed handshakes, and on a Unix socket all viewers
            # count as one host.
            "-UseBlacklist=0",
            *("-SendCutText=0", "-AcceptCutText=0", "-SendPrimary=0", "-SetPrimary=0"),
            *("-desktop", "Deskhand"),
        ]

    def _read_number(self, deadline: float) -> int:
        text = b""
        while not text.endswith(b"\n"):
            if not select.select([self._number_pipe], [], [], _left(deadline))[0]:
                raise TimeoutError("no display number")
            piece = os.read(self._number_pipe, 16)
            if not piece:
                raise ConnectionError("the server ended")
            text += piece
        return int(text)

    def _close_pipe(self) -> None:
        if self._number_pipe >= 0:
            os.close(self._number_pipe)
            self._number_pipe = -1

    def _on_exit(self, child: ChildProcess) -> None:
        if not child.ending:
            self.died.set()
            if self._on_death is not None:
                self._on_death()


def write_cookie(path: Path, cookie: bytes | None = None, mode: int = 0o600) -> bytes:
    """Write a file with one cookie, by default a new one, and return the cookie.

    It is valid for every display number of this host.
    """
    cookie = cookie or secrets.token_bytes(16)
    # python-xlib wants the name of the host, which others may not know by this name.
    entries = b"".join(
        struct.pack(">H", family)
        # With -displayfd the server chooses its number later, hence no number.
        + b"".join(struct.pack(">H", len(part)) + part for part in (host, b"", COOKIE_NAME, cookie))
        for family, host in ((_FAMILY_LOCAL, os.uname().nodename.encode()), (_FAMILY_WILD, b""))
    )
    # O_EXCL does not follow a symbolic link that is in the place of the file (open(2)).
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(entries)
    return cookie


def _is_stopped(pid: int) -> bool:
    """Return True if a process is stopped by a signal or a debugger (proc(5), stat)."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state in ("T", "t")


def socket_of(number: int) -> Path:
    """Return the socket of a display."""
    return X_SOCKETS / f"X{number}"


def make_socket_directory() -> None:
    """Create the folder of the sockets if it is missing."""
    # An X server that does not run as root refuses to create this directory.
    with suppress(FileExistsError):
        X_SOCKETS.mkdir()
        X_SOCKETS.chmod(0o1777)


def _connect_x(number: int, cookie: bytes, deadline: float) -> socket.socket:
    with ExitStack() as stack:
        client = stack.enter_context(socket.socket(socket.AF_UNIX))
        client.settimeout(_left(deadline))
        client.connect(str(socket_of(number)))
        set_up(client, cookie)
        stack.pop_all()
    return client


def _admit(client: socket.socket, uid: int) -> None:
    client.sendall(host_access.admission(uid))
    if not host_access.admitted(exactly(client, host_access.REPLY_BYTES)):
        raise ConnectionRefusedError("X does not admit the browser's user")


def _read_rfb_version(path: Path, deadline: float) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(_left(deadline))
        client.connect(str(path))
        banner = exactly(client, _RFB_BANNER_BYTES)
        if not banner.startswith(b"RFB 003."):
            raise ConnectionError(f"no RFB banner: {banner!r}")


def _left(deadline: float) -> float:
    # A timeout of 0 would make the socket non-blocking (socket.settimeout).
    return max(0.01, deadline - time.monotonic())
