"""Sharing of one debugging pipe by several clients. Pure.

The browser sees one client. So each request gets an id of the pipe, and its answer gets the id of
the client back. A *session* belongs to the client that attached it (``Target.attachToTarget``),
with the sessions that are attached in it, such as those of frames and workers; its events go to
that client alone. Sessions that the browser attaches by itself (``Target.setAutoAttach``) belong to
the client that asked for that last. Other events without a session go to each client that has asked
for events of their domain, by ``<Domain>.enable`` or ``Target.setDiscoverTargets``.

A client that is *paused* (another chat has the lease, or a person is in private) gets an error for
each request, and no events. A client that leaves takes its sessions with it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from .pipe_messages import Message

SERVER_ERROR = -32000
INVALID_REQUEST = -32600
"""Error codes of JSON-RPC 2.0, section 5.1; the first is the one that Chromium uses itself."""

_CLOSE = "Browser.close"
_ATTACHED, _DETACHED = "Target.attachedToTarget", "Target.detachedFromTarget"
_AUTO_ATTACH, _DISCOVER = "Target.setAutoAttach", "Target.setDiscoverTargets"
_ATTACHING = ("Target.attachToTarget", "Target.attachToBrowserTarget")


@dataclass(frozen=True)
class PipeDelivery:
    """A message for one client."""

    client: int
    message: Message


@dataclass(frozen=True)
class Forwarding:
    """The result of a client's request: one message, for the browser or back to the client."""

    browser: Message | None = None
    client: Message | None = None


@dataclass
class _Pending:
    """A request that the browser has not answered yet; without a client its answer is dropped."""

    client: int | None
    id: int
    method: str
    target: object = None


@dataclass
class _Client:
    """The state of one client."""

    paused: str = ""
    domains: set[str] = field(default_factory=set)


class PipeMultiplexer:
    """The state of one pipe: its clients, their requests and their sessions."""

    def __init__(self) -> None:
        self._clients: dict[int, _Client] = {}
        self._pending: dict[int, _Pending] = {}
        self._sessions: dict[str, int] = {}
        self._auto_attaching: int | None = None
        self._last_client = self._last_id = 0

    def join(self) -> int:
        """Return the number of a new client."""
        self._last_client += 1
        self._clients[self._last_client] = _Client()
        return self._last_client

    def leave(self, client: int) -> list[Message]:
        """Forget a client; return the requests by which its sessions end."""
        self._clients.pop(client, None)
        if self._auto_attaching == client:
            self._auto_attaching = None
        for pending in self._pending.values():
            if pending.client == client:
                pending.client = None
        left = [session for session, owner in self._sessions.items() if owner == client]
        return [self._detach(session) for session in left]

    def pause(self, client: int, reason: str) -> None:
        """Refuse the requests of a client with this reason; an empty one lets it continue."""
        if client in self._clients:
            self._clients[client].paused = reason

    def requested(self, client: int, message: Message) -> Forwarding:
        """Return the message that results from a client's request."""
        state = self._clients.get(client)
        if state is None:
            return Forwarding()
        identifier, method = message.get("id"), message.get("method")
        if type(identifier) is not int or not isinstance(method, str):
            text = "A request has an integer id and a method."
            return Forwarding(client=_error({}, INVALID_REQUEST, text))
        session = message.get("sessionId")
        refusal = state.paused
        if session is not None and self._sessions.get(str(session)) != client:
            refusal = refusal or "There is no such session."
        if method == _CLOSE:
            # The browser belongs to all clients, and to the person.
            refusal = refusal or "The browser of a desktop is not closed by a client."
        if refusal:
            return Forwarding(client=_error(message, SERVER_ERROR, refusal))
        parameters = message.get("params")
        parameters = parameters if isinstance(parameters, dict) else {}
        if session is None:
            self._note_subscription(client, state, method, parameters)
        pending = _Pending(client, identifier, method, parameters.get("targetId"))
        return Forwarding(browser={**message, "id": self._sent(pending)})

    def received(self, message: Message) -> list[PipeDelivery]:
        """Return what goes to clients for a message of the browser."""
        return self._answered(message) if "id" in message else [*self._event(message)]

    def _note_subscription(
        self, client: int, state: _Client, method: str, parameters: Message
    ) -> None:
        domain, _, command = method.partition(".")
        if command == "enable" or method == _DISCOVER:
            state.domains.add(domain)
        if method == _AUTO_ATTACH:
            self._auto_attaching = client if parameters.get("autoAttach") else None

    def _answered(self, message: Message) -> list[PipeDelivery]:
        pending = self._pending.pop(message["id"], None)
        if pending is None:
            return []
        result = message.get("result")
        session = result.get("sessionId") if isinstance(result, dict) else None
        if pending.client is None:
            return []
        if pending.method in _ATTACHING and isinstance(session, str):
            self._sessions[session] = pending.client
        return [PipeDelivery(pending.client, {**message, "id": pending.id})]

    def _event(self, message: Message) -> Iterable[PipeDelivery]:
        method, parameters = str(message.get("method")), message.get("params")
        parameters = parameters if isinstance(parameters, dict) else {}
        named = str(parameters.get("sessionId"))
        receivers = self._receivers(message, method, parameters)
        if method == _ATTACHED and receivers:
            self._sessions.setdefault(named, receivers[0])
        if method == _DETACHED:
            self._sessions.pop(named, None)
        for client in receivers:
            if client in self._clients and not self._clients[client].paused:
                yield PipeDelivery(client, message)

    def _receivers(self, message: Message, method: str, parameters: Message) -> list[int]:
        if "sessionId" in message:
            owner = self._sessions.get(str(message["sessionId"]))
        elif method in (_ATTACHED, _DETACHED):
            owner = self._sessions.get(str(parameters.get("sessionId")))
            if owner is None and method == _ATTACHED:
                owner = self._attaching(parameters)
        else:
            domain = method.partition(".")[0]
            return [one for one, state in self._clients.items() if domain in state.domains]
        return [] if owner is None else [owner]

    def _attaching(self, parameters: Message) -> int | None:
        """Return the client for which a session was attached; the event precedes the answer."""
        described = parameters.get("targetInfo")
        target = described.get("targetId") if isinstance(described, dict) else None
        for pending in self._pending.values():
            if pending.method in _ATTACHING and pending.target in (None, target):
                return pending.client
        return self._auto_attaching

    def _detach(self, session: str) -> Message:
        del self._sessions[session]
        method = "Target.detachFromTarget"
        identifier = self._sent(_Pending(None, 0, method))
        return {"id": identifier, "method": method, "params": {"sessionId": session}}

    def _sent(self, pending: _Pending) -> int:
        self._last_id += 1
        self._pending[self._last_id] = pending
        return self._last_id


def _error(request: Message, code: int, text: str) -> Message:
    answer: Message = {"id": request.get("id"), "error": {"code": code, "message": text}}
    return answer | {name: request[name] for name in ("sessionId",) if name in request}
