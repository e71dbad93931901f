"""Serve an application on one bound socket until somebody asks for the end."""

import asyncio
import contextlib
import gc
import os
import signal
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path

import uvicorn
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deskhand.vncbridge.errors import CannotListen

from .header_limit import HeaderSizeLimit
from .shutdown_response import ShutdownResponse
from .websocket_protocol import StreamProtocol

CLOSING_SECONDS = 2
"""How long open requests may take to end; watchers get 1 s of it, then the socket goes."""

PING_SECONDS = 45.0
"""How long a ping may stay unanswered: who reads nothing for 30 s is told so before."""

BACKLOG = 512

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True)
class Address:
    """Where a service listens: a host and port, or a unix socket's path."""

    host: str = ""
    port: int = 0
    path: Path | None = None

    @property
    def url(self) -> str:
        """How a client names it."""
        if self.path is not None:
            return f"unix:{self.path}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


def parse_address(text: str) -> Address:
    """Read ``HOST:PORT`` or ``unix:PATH``.

    Raises:
        CannotListen: If it is neither.
    """
    if text.startswith("unix:"):
        return Address(path=Path(text.removeprefix("unix:")))
    host, _, port = text.rpartition(":")
    host = host.strip("[]")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise CannotListen(text, "give HOST:PORT, as 127.0.0.1:0, or unix:PATH")
    return Address(host, int(port))


@contextlib.contextmanager
def listening(wanted: Address) -> Iterator[tuple[socket.socket, Address]]:
    """Bind, listen, and yield the socket with the address it really got.

    A unix socket is made for this user alone and removed at the end: uvicorn would make it
    world-writable and leave it behind.

    Raises:
        CannotListen: If the address is taken, or not ours to use.
    """
    try:
        bound = _bind_unix(wanted.path) if wanted.path is not None else _bind_tcp(wanted)
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
            # Its folder may have become somebody else's: privileges are dropped in between.
            with contextlib.suppress(PermissionError):
                wanted.path.unlink(missing_ok=True)


def _bind_unix(path: Path) -> socket.socket:
    bound = socket.socket(socket.AF_UNIX)
    before = os.umask(0o077)
    try:
        _make_way(path)
        bound.bind(str(path))
        path.chmod(0o600)
        bound.listen(BACKLOG)
    except OSError:
        bound.close()
        raise
    finally:
        os.umask(before)
    return bound


def _make_way(path: Path) -> None:
    """Remove a socket on which nobody listens any more; anything else is in use."""
    if not path.is_socket():
        return
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)


def _bind_tcp(wanted: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in wanted.host else socket.AF_INET
    # With the protocol named, asyncio sets TCP_NODELAY on what is accepted: without it each
    # answer waits some 40 ms for the client's delayed acknowledgement.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((wanted.host, wanted.port))
        bound.listen(BACKLOG)
    except OSError:
        bound.close()
        raise
    return bound


class DateHeader:
    """Gives each answer its ``Date``; uvicorn would wake up every second to know it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the application does, dated."""

        async def dated(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).setdefault("date", formatdate(usegmt=True))
            await send(message)

        await self._app(scope, receive, dated)


class Serving(uvicorn.Server):
    """A uvicorn server whose signals are ours: the end is a clean return, exit status 0.

    It sleeps while nobody calls, where uvicorn looks ten times a second whether it shall end.
    ``ready`` is called once requests are answered, ``closing`` as soon as the end is asked for.
    """

    def __init__(
        self,
        app: ASGIApp,
        ready: Callable[[], None] = lambda: None,
        closing: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(
            uvicorn.Config(
                DateHeader(ShutdownResponse(app, lambda: self.should_exit)),
                date_header=False,
                http=HeaderSizeLimit,
                ws=StreamProtocol,
                ws_per_message_deflate=False,
                ws_ping_interval=15,
                ws_ping_timeout=PING_SECONDS,
                log_config=None,
                access_log=False,
                lifespan="on",
                server_header=False,
                timeout_graceful_shutdown=CLOSING_SECONDS,
            )
        )
        # Loads the protocol classes now: once privileges are dropped their files may be unreadable.
        self.config.load()
        self.asked = asyncio.Event()
        """Set when the end was asked for."""
        self._ready = ready
        self._closing = closing

    async def run_until_asked(self, bound: socket.socket) -> None:
        """Serve until SIGTERM, SIGINT or :meth:`ask_to_end`."""
        loop = asyncio.get_running_loop()
        for number in STOP_SIGNALS:
            loop.add_signal_handler(number, self.ask_to_end)
        # All that was loaded stays: to look it through for garbage would hold the loop for 40 ms.
        gc.freeze()
        try:
            await self.serve(sockets=[bound])
        finally:
            gc.unfreeze()
            for number in STOP_SIGNALS:
                loop.remove_signal_handler(number)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start as uvicorn does, then tell."""
        await super().startup(sockets)
        if self.started:
            self._ready()

    async def main_loop(self) -> None:
        """Serve until the end is asked for."""
        await self.on_tick(0)
        await self.asked.wait()

    def ask_to_end(self) -> None:
        """Begin the end; asking twice is fine. Called in the loop that serves."""
        if not self.should_exit:
            self._closing()
        self.should_exit = True
        self.asked.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to :meth:`run_until_asked`: uvicorn would raise them again at the end."""
        yield
