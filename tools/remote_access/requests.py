"""ASGI middleware: requests of other machines, as if they had come without a proxy."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from deskhand.vncbridge.auth.policy import BASE_PATH

from .forwarded import FOR, HOST, PROTO, ForwardedRequest, forwarded_request
from .public_url import PublicUrl
from .remote_access import RemoteAccess

_SECURE = {"http": "https", "ws": "wss"}
_PLAIN = {"https": "http", "wss": "ws"}


class RemoteRequests:
    """Replaces scheme, host, client and path of requests that came through a proxy."""

    def __init__(self, app: ASGIApp, access: RemoteAccess) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the application with the facts of the browser's request."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        peer = scope["client"][0] if scope.get("client") else None
        found = forwarded_request(peer, _joined(scope), self._access.proxies)
        if found is not None:
            _apply(scope, found)
        public = self._access.public
        if public is not None:
            redirect = _make_public(scope, public, forwarded=found is not None)
            if redirect is not None:
                await _redirect(redirect, send)
                return
        await self._app(scope, receive, send)


def _joined(scope: Scope) -> dict[str, str]:
    headers = Headers(scope=scope)
    return {name: ",".join(headers.getlist(name)) for name in (FOR, PROTO, HOST) if name in headers}


def _apply(scope: Scope, found: ForwardedRequest) -> None:
    if found.client is not None:
        scope["client"] = (found.client, 0)
    if found.scheme is not None:
        changes = _SECURE if found.scheme == "https" else _PLAIN
        scope["scheme"] = changes.get(scope["scheme"], scope["scheme"])
    if found.host is not None:
        _set_host(scope, found.host)


def _make_public(scope: Scope, public: PublicUrl, *, forwarded: bool) -> str | None:
    """Apply the public address; return where to send a browser that lacks the last slash."""
    hosts = Headers(scope=scope).getlist("host")
    if forwarded or [host.lower() for host in hosts] == [public.host]:
        _set_host(scope, public.host)
        changes = _SECURE if public.secure else _PLAIN
        scope["scheme"] = changes.get(scope["scheme"], scope["scheme"])
        scope[BASE_PATH] = public.base
    below = public.path_below(scope["path"])
    if below is None:
        return None
    if not below:
        # Relative links of the home page need the slash.
        return public.base + "/" if scope["type"] == "http" else None
    scope["path"] = below
    raw = scope["raw_path"]
    # An encoded character in the base path is no path of ours: the path is not found then.
    scope["raw_path"] = raw.removeprefix(public.base.encode())
    return None


def _set_host(scope: Scope, host: str) -> None:
    others = [pair for pair in scope["headers"] if pair[0] != b"host"]
    scope["headers"] = [*others, (b"host", host.encode("latin-1"))]


async def _redirect(target: str, send: Send) -> None:
    headers = [(b"location", target.encode()), (b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 308, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
