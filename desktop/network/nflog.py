"""Messages of nfnetlink_log, by which the kernel reports refused packets. Pure.

The layout is that of <linux/netlink.h> and <linux/netfilter/nfnetlink_log.h>.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

_ULOG = 4 << 8
_PACKET, _CONFIG = _ULOG, _ULOG | 1
_REQUEST = 1
_COMMAND, _MODE = 1, 2
"""Attributes of a configuration."""
_BIND, _COPY_PACKET = 1, 2
_PAYLOAD = 9
"""Attribute of a packet: its first bytes, from the IP header on."""
_HEADER = struct.Struct("=IHHII")
_FAMILY = struct.Struct(">BBH")
_ATTRIBUTE = struct.Struct("=HH")
_NO_FLAGS = 0x3FFF
_PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp", 58: "icmp"}
_WITH_PORTS = ("tcp", "udp")
REFUSED_EVENT = "egress_refused"
"""Kind of the desktop's event that has the fields of a `Refusal`."""

COPIED = 64
"""Bytes of each packet: both headers of IPv6 and TCP."""


@dataclass(frozen=True)
class Refusal:
    """An address that a desktop may not reach, and that something on it tried to."""

    address: str
    """IP address, or the host name that the proxy refused."""
    port: int | None
    protocol: str
    """``tcp``, ``udp``, ``icmp``, ``proxy`` or the number of another protocol."""


def subscription(group: int) -> bytes:
    """Return the messages that subscribe a netlink socket to a group."""
    bind = _attribute(_COMMAND, bytes([_BIND]))
    copy = _attribute(_MODE, struct.pack(">IBB", COPIED, _COPY_PACKET, 0))
    return _message(group, bind) + _message(group, copy)


def refusals(received: bytes) -> Iterator[Refusal]:
    """Return the refused packets of a datagram; what is not understood is left out."""
    for kind, body in _messages(received):
        if kind == _PACKET:
            payload = dict(_attributes(body[_FAMILY.size :])).get(_PAYLOAD, b"")
            found = refused_packet(payload)
            if found is not None:
                yield found


def refused_packet(packet: bytes) -> Refusal | None:
    """Return the destination of an IP packet, or None if it is none or too short."""
    version = packet[0] >> 4 if packet else 0
    if version == 4 and len(packet) >= 20:
        length, number = 4 * (packet[0] & 15), packet[9]
        address = str(IPv4Address(packet[16:20]))
    elif version == 6 and len(packet) >= 40:
        length, number = 40, packet[6]
        address = str(IPv6Address(packet[24:40]))
    else:
        return None
    protocol = _PROTOCOLS.get(number, str(number))
    port = packet[length + 2 : length + 4] if protocol in _WITH_PORTS else b""
    return Refusal(address, int.from_bytes(port, "big") if len(port) == 2 else None, protocol)


def _messages(received: bytes) -> Iterator[tuple[int, bytes]]:
    rest = received
    while len(rest) >= _HEADER.size:
        length, kind, *_ = _HEADER.unpack_from(rest)
        if not _HEADER.size <= length <= len(rest):
            return
        yield kind, rest[_HEADER.size : length]
        rest = rest[_aligned(length) :]


def _attributes(body: bytes) -> Iterator[tuple[int, bytes]]:
    rest = body
    while len(rest) >= _ATTRIBUTE.size:
        length, kind = _ATTRIBUTE.unpack_from(rest)
        if not _ATTRIBUTE.size <= length <= len(rest):
            return
        yield kind & _NO_FLAGS, rest[_ATTRIBUTE.size : length]
        rest = rest[_aligned(length) :]


def _message(group: int, attribute: bytes) -> bytes:
    body = _FAMILY.pack(0, 0, group) + attribute
    return _HEADER.pack(_HEADER.size + len(body), _CONFIG, _REQUEST, 0, 0) + body


def _attribute(kind: int, value: bytes) -> bytes:
    head = _ATTRIBUTE.pack(_ATTRIBUTE.size + len(value), kind)
    return head + value + bytes(-len(value) % 4)


def _aligned(length: int) -> int:
    return (length + 3) & ~3
