"""A local port for clients that accept a host and a port and can send no token.

Viewers of VNC, OSWorld and browser-use are such clients. A forward listens on 127.0.0.1, adds the
credential of its user, and passes everything on to one desktop: VNC as bytes over the WebSocket of
the live view, a dialect as HTTP and WebSockets.

Who may use the port: any program of this machine could connect to it. Only connections whose other
end belongs to the same user are served (`peer_uid`), or those to a unix socket with mode 0600. A
page in the user's browser is such a program too, so a request needs a loopback ``Host`` and no
``Origin`` (`request_head`).

A forward ends with its desktop: it reads the desktop's events, whose stream ends then. A
connection that ends is not opened again: its client decides.
"""

import getpass
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from deskhand.desktop.client.http import DesktopClient
from deskhand.vncbridge.server.unix_socket import bound_path

from .errors import DialectOff
from .http_forward import HttpForward
from .listener import BACKLOG, HOST, Serve, bound_port, listening
from .request_head import DialectRoute
from .upstream import UNIX, Upstream
from .vnc_forward import Role, VncForward

Protocol = Literal["vnc", "osworld", "cdp"]
PORTS: dict[Protocol, int] = {"vnc": 5901, "osworld": 5000, "cdp": 9222}
"""Ports that clients of each protocol try by default."""
_EXAMPLES: dict[Protocol, str] = {
    "vnc": "vncviewer {place}",
    "osworld": "curl http://{place}/platform",
    "cdp": "curl http://{place}/json/version",
}


@dataclass(frozen=True)
class ForwardedDesktop:
    """The desktop, and how its service is reached."""

    client: DesktopClient
    address: str
    """``unix:PATH`` or a URL."""
    token: str
    root: str
    """Path of its routes, as ``/api/v0/desktop``."""


@dataclass(frozen=True)
class ForwardOptions:
    """What is forwarded, and where it listens."""

    protocol: Protocol
    port: int | None = None
    """None for the usual one of the protocol, or the next that is free."""
    listen: str = ""
    """``unix:PATH`` instead of a port."""
    role: Role | None = None
    """For VNC."""


async def forward(
    target: ForwardedDesktop, options: ForwardOptions, ready: Callable[[dict[str, Any]], None]
) -> None:
    """Serve until the desktop ends; ``ready`` gets the facts that a client needs.

    Raises:
        DialectOff: If the desktop does not serve the protocol.
        PortInUse: If the port is in use.
        DesktopError: If the desktop cannot be reached.
    """
    status = await target.client.request("GET", target.root)
    spoken = {str(name).partition(":")[0] for name in status.get("speak", ())}
    if options.protocol != "vnc" and options.protocol not in spoken:
        raise DialectOff(options.protocol)
    bound, place = _bound(options)
    name = f"{getpass.getuser()} ({place})"
    async with (
        listening(bound, _serve(target, options, name)),
        target.client.lines(f"{target.root}/events") as events,
    ):
        named = {"name": name} if options.protocol == "vnc" else {}
        command = _EXAMPLES[options.protocol].format(place=place)
        ready({"protocol": options.protocol, "listen": place, "command": command, **named})
        # Only the end of the stream matters.
        while await events.next() is not None:
            pass


def _bound(options: ForwardOptions) -> tuple[socket.socket, str]:
    if options.listen:
        path = Path(options.listen.removeprefix(UNIX))
        return bound_path(path, BACKLOG), str(path)
    bound = bound_port(options.port, PORTS[options.protocol])
    return bound, f"{HOST}:{bound.getsockname()[1]}"


def _serve(target: ForwardedDesktop, options: ForwardOptions, name: str) -> Serve:
    upstream = Upstream(target.address, target.token)
    if options.protocol == "vnc":
        return VncForward(upstream, target.client, target.root, name, options.role).serve
    route = DialectRoute(
        f"{target.root}/as/{options.protocol}",
        upstream.host,
        target.token,
        names_base=options.protocol == "cdp",
    )
    return HttpForward(upstream, route).serve
