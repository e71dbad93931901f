"""Egress of a desktop, which is the part of the network that it may reach: parsing, narrowing.

Modes, from the widest to the narrowest: *open* (the host's network as it is), *internet* (no
address of the host, its networks or private ranges), *list* (names of a list, over a proxy) and
*none*. Grants are single addresses of the host that every mode may reach; only the operator gives
them. An agent may choose a narrower egress for its child, never a wider one.
"""

import ipaddress
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, get_args
from urllib.parse import urlsplit

from deskhand.desktop.domains import is_domain

from .errors import EgressWidened, InvalidEgress

_PORT = re.compile("[0-9]{1,5}")
_WEB_PORTS = {"http": 80, "https": 443}

Mode = Literal["open", "internet", "list", "none"]
MODES: tuple[Mode, ...] = get_args(Mode)
"""The widest first."""

Json = dict[str, Any]

_ANY = "*."


@dataclass(frozen=True)
class Grant:
    """An address and port of the host, or beside it, that a desktop may reach in any mode."""

    host: str
    """IPv4 address, ``::1`` or ``localhost``."""
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses that are served in the desktop's namespace."""
        return ("127.0.0.1", "::1") if self.host == "localhost" else (self.host,)


@dataclass(frozen=True)
class Egress:
    """The part of the network that one desktop may reach."""

    mode: Mode = "open"
    allow: tuple[str, ...] = ()
    """Names of the mode ``list``: ``docs.example.com``, or ``*.example.org`` for what is below."""
    grants: tuple[Grant, ...] = ()
    required: bool = True
    """False for a default: where it cannot be enforced the desktop starts with ``open``."""

    @property
    def options(self) -> tuple[str, ...]:
        """The options of a desktop service's command line."""
        return (
            *("--egress", self.mode),
            *(part for name in self.allow for part in ("--egress-allow", name)),
            *(part for grant in self.grants for part in ("--egress-grant", str(grant))),
            *(() if self.required else ("--egress-optional",)),
        )

    def lists(self, host: str) -> bool:
        """Return True if the list has the host, in lower case."""
        return any(_covers(name, host) for name in self.allow)

    def to_json(self) -> Json:
        """Return the fields that the API and the database have."""
        return {
            "mode": self.mode,
            "allow": list(self.allow),
            "grants": [str(grant) for grant in self.grants],
            "required": self.required,
        }


@dataclass(frozen=True)
class EgressRequest:
    """The egress that an agent requests for its child; None for what is not named."""

    mode: Mode | None = None
    allow: tuple[str, ...] = ()


@dataclass(frozen=True)
class EgressPolicy:
    """The egress of the desktops of one control plane."""

    base: Egress = Egress()
    """Of desktops that people start, and of chats without a parent."""
    own_ports: frozenset[int] = frozenset()
    """Ports at which the control plane listens: no grant leads to them."""

    def check(self) -> Self:
        """Return this policy.

        Raises:
            InvalidEgress: If a grant of ``base`` leads to the control plane.
        """
        for grant in self.base.grants:
            # Whatever its host: the same listener has many addresses and names.
            if grant.port in self.own_ports:
                raise InvalidEgress(f"egress: {grant} is the control plane, which none may reach")
        return self

    def with_grants(self, grants: Iterable[str]) -> Egress:
        """Return the egress of a desktop that an operator starts with further grants.

        Raises:
            InvalidEgress: If one of them is wrong, or leads to the control plane.
        """
        every = dict.fromkeys((*self.base.grants, *map(parse_grant, grants)))
        return replace(self, base=replace(self.base, grants=(*every,))).check().base

    def of_child(self, parent: Egress | None, request: EgressRequest) -> Egress:
        """Return the egress of a child; ``parent`` is None for a chat without one of its own.

        Raises:
            InvalidEgress: If a name is wrong, or the list is missing.
            EgressWidened: If the parent may not reach all of it.
        """
        present = self.bounded(parent)
        asked = request.mode is not None or bool(request.allow)
        return narrowed(present, request) if asked else present

    def bounded(self, stored: Egress | None) -> Egress:
        """Return a stored egress, or ``base`` where that is narrower today."""
        if stored is None or not _within(stored, self.base):
            return self.base
        required = stored.required or self.base.required
        return replace(stored, grants=self.base.grants, required=required)


def parse_egress(
    mode: str, allow: Iterable[str] = (), grants: Iterable[str] = (), *, required: bool = True
) -> Egress:
    """Return the egress of the given texts.

    Raises:
        InvalidEgress: If one of them is not understood.
    """
    known = next((one for one in MODES if one == mode), None)
    if known is None:
        raise InvalidEgress(f"egress: {mode!r} is none of {', '.join(MODES)}")
    names = tuple(parse_name(name) for name in allow)
    if names and known != "list":
        raise InvalidEgress(f"egress: a list of names is for the mode list, not {known}")
    return Egress(known, names, tuple(parse_grant(text) for text in grants), required)


def parse_name(text: str) -> str:
    """Return a name of the list in lower case.

    Raises:
        InvalidEgress: If it is neither a host name nor ``*.`` and one.
    """
    name = text.strip().lower()
    if not is_domain(name.removeprefix(_ANY)):
        raise InvalidEgress(
            f"egress: {text!r} is no name such as docs.example.com or *.example.org"
        )
    return name


def ports_of(addresses: Iterable[str]) -> frozenset[int]:
    """Return the ports of listeners and URLs such as ``HOST:PORT``; ``unix:PATH`` has none."""
    ends = (one.rpartition(":")[2] for one in addresses if not one.startswith("unix:"))
    return frozenset(int(end) for end in ends if _PORT.fullmatch(end))


def parse_grant(text: str) -> Grant:
    """Return the grant of ``HOST:PORT``.

    Raises:
        InvalidEgress: If the host is no IPv4 address of one machine, ``localhost`` or ``[::1]``, or
            the port none.
    """
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    known = host in ("localhost", "::1") or _is_ipv4_of_one(host)
    # `int` refuses thousands of digits with an error of its own.
    if not (known and _PORT.fullmatch(port) and 0 < int(port) < 65536):
        raise InvalidEgress(f"egress: {text!r} is no grant such as 127.0.0.1:8000")
    return Grant(host, int(port))


def grant_for(address: str) -> Grant | None:
    """Return the grant by which a desktop reaches a web page of its host, or of its networks.

    None for a URL of the internet, of a name, or of the addresses that clouds serve metadata at.
    """
    try:
        parts = urlsplit(address)
        usual = _WEB_PORTS[parts.scheme]
        port = usual if parts.port is None else parts.port
        return parse_grant(f"{_near_host(parts.hostname or '')}:{port}")
    except (ValueError, KeyError, InvalidEgress):
        return None


def from_json(stored: Mapping[str, Any]) -> Egress:
    """Return the egress that `Egress.to_json` wrote."""
    return parse_egress(
        stored["mode"], stored["allow"], stored["grants"], required=stored["required"]
    )


def narrowed(parent: Egress, request: EgressRequest) -> Egress:
    """Return the requested egress of a child; it has the grants of its parent.

    Raises:
        InvalidEgress: If a name is wrong, or the list is missing.
        EgressWidened: If the parent may not reach all of it.
    """
    mode = request.mode or "list"
    wanted = replace(parse_egress(mode, request.allow), grants=parent.grants)
    if mode == "list" and not wanted.allow:
        raise InvalidEgress("egress: the mode list needs allow, the names that may be reached")
    if not _within(wanted, parent):
        names = f" {', '.join(parent.allow)}" if parent.mode == "list" else ""
        raise EgressWidened(f"egress: this chat has {parent.mode}{names}; a child cannot have more")
    return wanted


def _within(inner: Egress, outer: Egress) -> bool:
    """Return True if all that ``inner`` reaches is reached by ``outer``, without grants."""
    if inner.mode == outer.mode == "list":
        return all(any(_covers(wide, name) for wide in outer.allow) for name in inner.allow)
    return MODES.index(inner.mode) >= MODES.index(outer.mode)


def _covers(wide: str, name: str) -> bool:
    return wide == name or (
        wide.startswith(_ANY) and name.removeprefix(_ANY).endswith(wide.removeprefix("*"))
    )


def _near_host(host: str) -> str:
    """Return how a grant names a host that is this machine or near it; empty for another one."""
    if host == "localhost" or host.endswith(".localhost"):
        return "localhost"
    address = ipaddress.ip_address(host)
    if address.is_unspecified:
        # Servers print the address at which they listen; it leads to the loopback interface.
        return "127.0.0.1" if address.version == 4 else "::1"
    return "" if address.is_global or address.is_link_local else host


def _is_ipv4_of_one(text: str) -> bool:
    """Return True for an IPv4 address, unless it stands for several interfaces or machines."""
    try:
        address = ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return not (address.is_unspecified or address.is_multicast or address.is_reserved)
