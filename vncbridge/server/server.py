"""uvicorn on one bound socket, until a signal or `Serving.ask_to_end` stops it."""

import asyncio
import contextlib
import gc
import logging
import resource
import signal
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path

import uvicorn
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deskhand.vncbridge.errors import CannotListen

from .connection_limits import ConnectionLimits
from .http_protocol import LimitedProtocol, ServerConfig
from .peer_certificate import CertifiedProtocol, CertifiedStreamProtocol
from .shutdown_response import ShutdownResponse
from .unix_socket import bound_path
from .websocket_protocol import StreamProtocol

CLOSING_SECONDS = 2
"""Timeout for open requests at shutdown; WebSockets are closed after 1 s of it."""

PING_SECONDS = 45.0
"""Timeout for a pong. It is longer than ``STUCK_SECONDS`` of client_stream, whose close reason a
stuck client gets first."""

BACKLOG = 512
"""Connections that the kernel keeps until they are accepted."""

ACCEPTED_AT_ONCE = 16
"""Connections that asyncio accepts before one of them can be closed for being one too many."""

KEEP_ALIVE_SECONDS = 5
CERTIFIED_KEEP_ALIVE_SECONDS = 75
"""For which an idle connection stays open. Clients with certificates keep theirs for less, so that
none sends a request on a connection that is being closed; a new one takes a whole TLS handshake."""

DESCRIPTORS = 4096
"""Open files for which a process asks if it may."""

OPENER_POLICY = "same-origin"
PERMISSIONS = ", ".join(
    f"{feature}=()"
    for feature in (
        *("accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "hid"),
        *("magnetometer", "microphone", "midi", "payment", "serial", "usb", "xr-spatial-tracking"),
    )
)
"""What no page of ours uses, nor a page in a frame of it."""

log = logging.getLogger(__name__)

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True)
class Address:
    """The address of a service: a host and port, or the path of a unix socket.

    A ``descriptor`` is a listening socket that the parent process left open; it has the address.
    """

    host: str = ""
    port: int = 0
    path: Path | None = None
    descriptor: int | None = None
    tls: bool = False
    public: str = ""
    """The address by which people open the pages, if it is another one."""

    @property
    def url(self) -> str:
        """The address as clients write it."""
        if self.path is not None:
            return f"unix:{self.path}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}"

    @property
    def page_url(self) -> str:
        """The address of the pages, for links; empty if a browser cannot open any."""
        return self.public or ("" if self.path is not None else self.url)


def parse_address(text: str) -> Address:
    """Read ``HOST:PORT``, ``unix:PATH`` or ``fd:N``.

    Raises:
        CannotListen: If it is neither.
    """
    if text.startswith("unix:"):
        return Address(path=Path(text.removeprefix("unix:")))
    if text.startswith("fd:") and text.removeprefix("fd:").isdecimal():
        return Address(descriptor=int(text.removeprefix("fd:")))
    host, _, port = text.rpartition(":")
    host = host.strip("[]")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise CannotListen(text, "give HOST:PORT, as 127.0.0.1:0, or unix:PATH")
    return Address(host, int(port))


@contextlib.contextmanager
def listening(wanted: Address) -> Iterator[tuple[socket.socket, Address]]:
    """Bind, listen, and yield the socket with the address that it got.

    A unix socket is accessible to this user only, and removed at the end. (uvicorn would make it
    world-writable and leave it.)

    Raises:
        CannotListen: If the address is in use, or not permitted.
    """
    if wanted.descriptor is not None:
        with _inherited(wanted.descriptor) as (bound, address):
            yield bound, address
        return
    try:
        bound = bound_path(wanted.path, BACKLOG) if wanted.path is not None else _bind_tcp(wanted)
    except OSError as error:
        raise CannotListen(wanted.url, error.strerror or str(error)) from error
    try:
        if wanted.path is not None:
            yield bound, wanted
        else:
            yield bound, Address(wanted.host, bound.getsockname()[1])
    finally:
        bound.close()
        if wanted.path is not None:
            # After the service dropped its privileges, the folder may belong to another user, or be
            # read-only.
            with contextlib.suppress(OSError):
                wanted.path.unlink(missing_ok=True)


@contextlib.contextmanager
def _inherited(descriptor: int) -> Iterator[tuple[socket.socket, Address]]:
    """Adopt a listening socket; its file belongs to the process that bound it."""
    try:
        bound = socket.socket(fileno=descriptor)
    except OSError as error:
        raise CannotListen(f"fd:{descriptor}", error.strerror or str(error)) from error
    if not bound.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        bound.close()
        raise CannotListen(f"fd:{descriptor}", "it does not listen")
    bound.set_inheritable(False)
    name = bound.getsockname()
    with bound:
        yield bound, Address(path=Path(name)) if isinstance(name, str) else Address(*name[:2])


def _bind_tcp(wanted: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in wanted.host else socket.AF_INET
    # asyncio sets TCP_NODELAY on accepted connections only if the protocol is IPPROTO_TCP. Without
    # it each response waits some 40 ms for the client's delayed acknowledgement.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # Otherwise a restart fails while connections of the last server are in TIME_WAIT.
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((wanted.host, wanted.port))
        bound.listen(BACKLOG)
    except OSError:
        bound.close()
        raise
    return bound


def raise_descriptor_limit() -> None:
    """Raise the limit of open files of this process, as far as its hard limit permits."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    wanted = DESCRIPTORS if hard == unlimited else min(DESCRIPTORS, hard)
    if soft not in (unlimited, wanted) and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _within_descriptors(limits: ConnectionLimits) -> ConnectionLimits:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return limits if soft == resource.RLIM_INFINITY else limits.within(soft)


class CommonHeaders:
    """Adds the headers of every response.

    uvicorn would wake up every second to format ``Date``; here a response does it that is the first
    in its second. The two policies keep pages of other
    origins from a handle to our windows, and our pages from cameras and other devices.
    """

    def __init__(self, app: ASGIApp, now: Callable[[], float] = time.time) -> None:
        """``now`` returns unix time."""
        self._app = app
        self._now = now
        self._second = -1
        self._date = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the application and add the header."""

        async def dated(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("date", self._dated(int(self._now())))
                headers.setdefault("cross-origin-opener-policy", OPENER_POLICY)
                headers.setdefault("permissions-policy", PERMISSIONS)
            await send(message)

        await self._app(scope, receive, dated)

    def _dated(self, second: int) -> str:
        if second != self._second:
            self._second, self._date = second, formatdate(second, usegmt=True)
        return self._date


class Serving(uvicorn.Server):
    """A uvicorn server that returns on SIGTERM and SIGINT, for exit status 0.

    Between requests it sleeps, while uvicorn polls for its end ten times a second. ``ready`` is
    called once requests are accepted, ``closing`` as soon as the shutdown is requested. With
    ``tls`` every connection is encrypted; ``certified`` if its clients show certificates, which the
    application gets (`peer_certificate`).
    """

    def __init__(
        self,
        app: ASGIApp,
        ready: Callable[[], None] = lambda: None,
        closing: Callable[[], None] = lambda: None,
        limits: ConnectionLimits = ConnectionLimits(),  # noqa: B008 - immutable
        tls: ssl.SSLContext | None = None,
        *,
        certified: bool = False,
    ) -> None:
        super().__init__(
            ServerConfig(
                CommonHeaders(ShutdownResponse(app, lambda: self.should_exit)),
                _within_descriptors(limits),
                date_header=False,
                http=CertifiedProtocol if certified else LimitedProtocol,
                backlog=ACCEPTED_AT_ONCE,
                ws=CertifiedStreamProtocol if certified else StreamProtocol,
                # Pictures are compressed already; zlib would only cost time and memory.
                ws_per_message_deflate=False,
                ws_ping_interval=15,
                ws_ping_timeout=PING_SECONDS,
                log_config=None,
                access_log=False,
                lifespan="on",
                server_header=False,
                # uvicorn would believe the headers of every local program, and FORWARDED_ALLOW_IPS.
                proxy_headers=False,
                ssl_context_factory=None if tls is None else lambda *_: tls,
                timeout_keep_alive=(
                    CERTIFIED_KEEP_ALIVE_SECONDS if certified else KEEP_ALIVE_SECONDS
                ),
                timeout_graceful_shutdown=CLOSING_SECONDS,
            )
        )
        # Loads the protocol classes now: once privileges are dropped their files may be unreadable.
        self.config.load()
        self.asked = asyncio.Event()
        """Set when the shutdown was requested."""
        self._ready = ready
        self._closing = closing

    async def run_until_asked(self, bound: socket.socket) -> None:
        """Serve until SIGTERM, SIGINT or `ask_to_end`."""
        loop = asyncio.get_running_loop()
        for number in STOP_SIGNALS:
            loop.add_signal_handler(number, self._end_by, number)
        # Loaded modules are never garbage, and a collection that traverses them blocks the loop for
        # 40 ms.
        gc.freeze()
        try:
            await self.serve(sockets=[bound])
        finally:
            gc.unfreeze()
            for number in STOP_SIGNALS:
                loop.remove_signal_handler(number)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start as uvicorn does, then call ``ready``."""
        await super().startup(sockets)
        # asyncio uses one number for the queue in the kernel and for the connections that it
        # accepts at once; listen(2) may be called again with a longer queue.
        for bound in sockets or ():
            bound.listen(BACKLOG)
        if self.started:
            self._ready()

    async def main_loop(self) -> None:
        """Serve until the shutdown is requested."""
        # `on_tick` prepares the default headers of responses, once instead of every second.
        await self.on_tick(0)
        await self.asked.wait()

    def _end_by(self, number: signal.Signals) -> None:
        log.info("%s ends the service", number.name)
        self.ask_to_end()

    def ask_to_end(self) -> None:
        """Request the shutdown; twice is fine. Called in the loop that serves."""
        # `closing` ends the event streams, which would otherwise use up the timeout.
        if not self.should_exit:
            self._closing()
        self.should_exit = True
        self.asked.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to `run_until_asked`: uvicorn would raise them again at the end."""
        yield
