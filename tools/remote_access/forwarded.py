"""Headers by which a trusted proxy describes the client of a request. Pure.

``X-Forwarded-For``, ``-Proto`` and ``-Host`` count only if the peer of the connection is one of
the proxies in the setting ``trusted_proxy``: every client can send them.
"""

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .errors import InvalidRemoteAccess

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
UNIX = "unix"
"""The entry that trusts the peers of a unix socket."""
FOR, PROTO, HOST = "x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"


@dataclass(frozen=True)
class TrustedProxies:
    """The addresses whose headers about clients count."""

    networks: tuple[Network, ...] = ()
    unix: bool = False

    def __contains__(self, peer: object) -> bool:
        """Return whether a peer is one of them; ``None`` is the peer of a unix socket."""
        if peer is None:
            return self.unix
        try:
            address = ipaddress.ip_address(str(peer))
        except ValueError:
            return False
        mapped = getattr(address, "ipv4_mapped", None) or address
        return any(mapped in network for network in self.networks)


@dataclass(frozen=True)
class ForwardedRequest:
    """The facts that a trusted proxy gives; each is ``None`` where it gives none."""

    client: str | None
    scheme: str | None
    host: str | None


def parse_proxies(entries: Sequence[str]) -> TrustedProxies:
    """Read addresses, networks such as ``10.0.0.0/8``, and ``unix``.

    Raises:
        InvalidRemoteAccess: If an entry is none of these.
    """
    try:
        networks = tuple(ipaddress.ip_network(one) for one in entries if one != UNIX)
    except ValueError as error:
        raise InvalidRemoteAccess("trusted_proxy", str(error)) from error
    return TrustedProxies(networks, UNIX in entries)


def forwarded_request(
    peer: str | None, headers: Mapping[str, str], trusted: TrustedProxies
) -> ForwardedRequest | None:
    """Return the facts that the headers give, or ``None`` if they do not count.

    ``headers`` has lower-case names; fields of the same name are joined with commas.
    """
    if peer not in trusted or not any(name in headers for name in (FOR, PROTO, HOST)):
        return None
    scheme = _last(headers.get(PROTO, ""))
    return ForwardedRequest(
        _client(headers.get(FOR, ""), trusted),
        scheme if scheme in ("http", "https") else None,
        _last(headers.get(HOST, "")) or None,
    )


def _client(text: str, trusted: TrustedProxies) -> str | None:
    """Return the last address that no trusted proxy has: those before it may be invented."""
    for one in reversed(text.split(",")):
        named = one.strip().strip("[]")
        try:
            ipaddress.ip_address(named)
        except ValueError:
            return None
        if named not in trusted:
            return named
    return None


def _last(text: str) -> str:
    # Of several values the last is from the proxy that is connected to us.
    return text.rpartition(",")[2].strip()
