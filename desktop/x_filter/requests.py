"""Requests of X clients, and what each may name. Pure.

``body`` is a request after its head (and after the length of a big request); of a long one it is
the first `INSPECTED_BYTES`. Offsets below are offsets in it. See "X Window System Protocol",
appendix B, for the encoding.
"""

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

INSPECTED_BYTES = 1024
"""Of a request; rules refuse longer ones where they would have to read on."""
NO_OPERATION, UNASSIGNED = 127, 126
"""Opcodes. The server answers a request of an unassigned one by the error BadRequest."""
MOST_RESOURCES = 1 << 18
"""Windows, pixmaps or pictures of a client that the filter remembers."""
MOST_GRANTS = 256
_POINTER_ROOT = 1
"""In place of a window: the focus follows the pointer; 0 is none."""


@dataclass(frozen=True)
class XRequest:
    """A request; ``data`` is the second byte, the minor opcode of an extension."""

    opcode: int
    data: int
    body: bytes
    whole: bool = True
    """False if ``body`` is the begin of a longer request."""

    def ignored(self) -> "XRequest":
        """Return a request without effect."""
        return replace(self, opcode=NO_OPERATION)

    def refused(self) -> "XRequest":
        """Return a request that the server answers by an error."""
        return replace(self, opcode=UNASSIGNED)


def with_bytes(request: XRequest, offset: int, content: bytes) -> XRequest:
    """Return the request with other bytes at an offset; refused if it is too short for them."""
    body, end = request.body, offset + len(content)
    if len(body) < end:
        return request.refused()
    return replace(request, body=body[:offset] + content + body[end:])


@dataclass
class Agents:
    """All clients of one filter."""

    bases: set[int] = field(default_factory=set)
    """First resource ids of those that are connected."""


class XClient:
    """What the filter knows of one client: its ids, what it made, and what it may write."""

    def __init__(
        self,
        order: str,
        agents: Agents,
        denied_selections: frozenset[int],
        most: int = MOST_RESOURCES,
    ) -> None:
        self.agents = agents
        self.most = most
        """Most windows, pixmaps or pictures to remember."""
        self.denied_selections = denied_selections
        """Selections by which a client becomes the manager of the display (ICCCM, 2.8)."""
        self.base, self.mask = -1, 0
        self.roots: frozenset[int] = frozenset()
        self.colormap = 0
        """The default colour map of the first screen."""
        self.windows: set[int] = set()
        """Ids that may be windows of this client."""
        self.pixmaps: set[int] = set()
        """Ids that are surely no windows."""
        self.guests: set[int] = set()
        """Own windows in windows of other clients of the filter."""
        self.window_pictures: set[int] = set()
        self.grants: dict[tuple[int, int], None] = {}
        """Windows of others, with the property that their owners asked for (ICCCM, 2.2)."""
        self.card32 = struct.Struct(f"{order}I")
        self.card16 = struct.Struct(f"{order}H")

    def id_at(self, body: bytes, offset: int) -> int:
        """Return a resource id or atom; 0, which is none, beyond the end."""
        if len(body) < offset + 4:
            return 0
        number: int = self.card32.unpack_from(body, offset)[0]
        return number

    def short_at(self, body: bytes, offset: int) -> int:
        """Return a CARD16; 0 beyond the end."""
        if len(body) < offset + 2:
            return 0
        number: int = self.card16.unpack_from(body, offset)[0]
        return number

    def with_id(self, request: XRequest, offset: int, number: int = 0) -> XRequest:
        """Return the request with another id; without one the server answers with an error."""
        return with_bytes(request, offset, self.card32.pack(number))

    def owns(self, number: int) -> bool:
        """Return True for a resource of this client."""
        return number & ~self.mask == self.base

    def of_agent(self, number: int) -> bool:
        """Return True for a resource of any client of the filter."""
        return number & ~self.mask in self.agents.bases

    def hears(self, window: int) -> bool:
        """Return True for a window whose key and pointer events the client may select."""
        return self.owns(window) and window not in self.guests

    def grant(self, window: int, name: int) -> None:
        """Let the client write a property of a window that asked for a selection of the client."""
        self.grants.pop((window, name), None)
        self.grants[window, name] = None
        if len(self.grants) > MOST_GRANTS:
            del self.grants[next(iter(self.grants))]


Verdict = XRequest | None
"""The request to send instead; None to send the request as it is."""
Rule = Callable[[XClient, XRequest], Verdict]


def allowed(client: XClient, request: XRequest) -> Verdict:
    """Pass a request on."""
    return None


def ignored(client: XClient, request: XRequest) -> Verdict:
    """Let a request have no effect."""
    return request.ignored()


def refused(client: XClient, request: XRequest) -> Verdict:
    """Have the server answer with an error."""
    return request.refused()


def own(*offsets: int, none: Iterable[int] = (), agents: Iterable[int] = ()) -> Rule:
    """Return a rule: these ids are the client's own, or ``none`` at those offsets.

    Those at ``agents`` are of any client of the filter: a program may draw with one connection into
    the window of another one, as Chromium does.
    """
    may_be_none, of_any = frozenset(none), tuple(agents)

    def rule(client: XClient, request: XRequest) -> Verdict:
        if not all(client.of_agent(client.id_at(request.body, offset)) for offset in of_any):
            return request.ignored()
        for offset in offsets:
            number = client.id_at(request.body, offset)
            if not client.owns(number) and (number or offset not in may_be_none):
                return request.ignored()
        return None

    return rule


def hearing(offset: int) -> Rule:
    """Return a rule: the id is a window whose key events the client may select."""

    def rule(client: XClient, request: XRequest) -> Verdict:
        return None if client.hears(client.id_at(request.body, offset)) else request.ignored()

    return rule


def own_or_error(offset: int) -> Rule:
    """Return a rule for a request with a reply: the id is the client's own, or the server errs."""

    def rule(client: XClient, request: XRequest) -> Verdict:
        if client.owns(client.id_at(request.body, offset)):
            return None
        return client.with_id(request, offset)

    return rule


def of_agent(offset: int) -> Rule:
    """Return a rule: the id is that of a client of the filter."""

    def rule(client: XClient, request: XRequest) -> Verdict:
        return None if client.of_agent(client.id_at(request.body, offset)) else request.ignored()

    return rule


def focus(client: XClient, request: XRequest) -> Verdict:
    """Let the focus go to a window of a client of the filter, or to none or the pointer's root."""
    window = client.id_at(request.body, 0)
    return None if window <= _POINTER_ROOT or client.of_agent(window) else request.ignored()


def values_of(client: XClient, body: bytes, mask_at: int) -> dict[int, int] | None:
    """Return the values of a value list by their bits; None if it is not complete."""
    mask = client.id_at(body, mask_at)
    bits = [bit for bit in range(32) if mask >> bit & 1]
    if len(body) < mask_at + 4 + 4 * len(bits):
        return None
    return {bit: client.id_at(body, mask_at + 4 + 4 * at) for at, bit in enumerate(bits)}


def with_values(
    client: XClient, request: XRequest, mask_at: int, values: dict[int, int]
) -> XRequest:
    """Return the request with that value list at its end."""
    mask = sum(1 << bit for bit in values)
    packed = b"".join(client.card32.pack(values[bit]) for bit in sorted(values))
    return replace(request, body=request.body[:mask_at] + client.card32.pack(mask) + packed)
