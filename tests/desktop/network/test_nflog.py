import struct
from ipaddress import IPv4Address, IPv6Address

import pytest

from deskhand.desktop.network.nflog import Refusal, refusals, refused_packet, subscription

TCP4 = (
    bytes([0x45, 0, 0, 60, 0, 0, 0, 0, 64, 6, 0, 0])
    + IPv4Address("10.0.2.100").packed
    + IPv4Address("169.254.169.254").packed
    + struct.pack(">HH", 40000, 80)
)
UDP6 = (
    bytes([0x60, 0, 0, 0, 0, 8, 17, 64])
    + IPv6Address("::1").packed
    + IPv6Address("fd00::2").packed
    + struct.pack(">HH", 40000, 443)
)


def datagram(payload: bytes, kind: int = 4 << 8) -> bytes:
    prefix = struct.pack("=HH", 5, 10) + b"\0" + bytes(3)
    attribute = struct.pack("=HH", 4 + len(payload), 9) + payload + bytes(-len(payload) % 4)
    body = struct.pack(">BBH", 2, 0, 1) + prefix + attribute
    return struct.pack("=IHHII", 16 + len(body), kind, 0, 0, 0) + body


def test_the_destination_of_a_refused_packet_is_reported() -> None:
    found = list(refusals(datagram(TCP4) + datagram(UDP6)))
    assert found == [Refusal("169.254.169.254", 80, "tcp"), Refusal("fd00::2", 443, "udp")]


def test_other_messages_are_left_out() -> None:
    assert list(refusals(datagram(TCP4, kind=2))) == []


def test_a_protocol_without_ports_has_none() -> None:
    icmp = TCP4[:9] + b"\x01" + TCP4[10:]
    assert refused_packet(icmp) == Refusal("169.254.169.254", None, "icmp")
    gre = TCP4[:9] + b"\x2f" + TCP4[10:]
    assert refused_packet(gre) == Refusal("169.254.169.254", None, "47")


def test_a_packet_that_was_cut_in_its_ports_has_none() -> None:
    assert refused_packet(TCP4[:21]) == Refusal("169.254.169.254", None, "tcp")


def test_what_is_no_ip_packet_is_left_out() -> None:
    for packet in (b"", TCP4[:19], UDP6[:39], b"\x10" + TCP4[1:]):
        assert refused_packet(packet) is None
    assert list(refusals(datagram(b""))) == []


@pytest.mark.parametrize("length", range(len(datagram(TCP4))))
def test_a_datagram_that_was_cut_anywhere_is_read_without_an_error(length: int) -> None:
    assert list(refusals(datagram(TCP4)[:length])) == []


def test_lengths_that_are_wrong_end_the_reading() -> None:
    good = datagram(TCP4)
    for wrong in (0, 15, len(good) + 1):
        assert list(refusals(struct.pack("=I", wrong) + good[4:])) == []
    # The length of the first attribute.
    assert list(refusals(good[:20] + struct.pack("=H", 2) + good[22:])) == []


def test_a_subscription_binds_the_group_and_asks_for_copies() -> None:
    first, second = subscription(1)[:28], subscription(1)[28:]
    assert struct.unpack("=IHH", first[:8]) == (28, (4 << 8) | 1, 1)
    assert first[18:20] == struct.pack(">H", 1)
    assert first[24] == 1
    assert struct.unpack(">IBB", second[24:30]) == (64, 2, 0)
