"""Networks that a desktop must not reach: private ranges, and those of this host. Pure."""

import ipaddress
import re
from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address, IPv4Network

from .public_addresses import SPECIAL

_TRIE_NODE = re.compile(r"\|-- (\S+)")


def refused(routes: str, trie: str) -> tuple[IPv4Network, ...]:
    """Return the networks, without overlaps, in order.

    ``routes`` and ``trie`` are the texts of ``/proc/net/route`` and ``/proc/net/fib_trie``.
    """
    found = (*SPECIAL, *on_link(routes), *map(IPv4Network, local_addresses(trie)))
    return tuple(ipaddress.collapse_addresses(found))


def on_link(routes: str) -> Iterator[IPv4Network]:
    """Return the networks that are reached without a gateway, as ``/proc/net/route`` has them."""
    for line in routes.splitlines()[1:]:
        fields = line.split()
        network, gateway, mask = (_address(fields[column]) for column in (1, 2, 7))
        # A default route of a point-to-point link has no gateway either.
        if int(gateway) == 0 and int(mask) != 0:
            yield IPv4Network(f"{network}/{mask}", strict=False)


def local_addresses(trie: str) -> Iterable[IPv4Address]:
    """Return the addresses of this host, as ``/proc/net/fib_trie`` has them."""
    address, found = "", set[IPv4Address]()
    for line in trie.splitlines():
        node = _TRIE_NODE.search(line)
        if node is not None:
            address = node[1]
        elif line.split()[:3] == ["/32", "host", "LOCAL"]:
            found.add(IPv4Address(address))
    return sorted(found)


def _address(text: str) -> IPv4Address:
    # The kernel prints the 32 bits as a number of this machine's byte order.
    return IPv4Address(int.from_bytes(bytes.fromhex(text), "little"))
