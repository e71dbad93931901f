from ipaddress import IPv4Address, IPv4Network

from deskhand.desktop.network.host_networks import local_addresses, on_link, refused

HEADER = "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n"
ROUTES = HEADER + (
    "eth0 00000000 010200C0 0003 0 0 0 00000000 0 0 0\n"
    "eth0 000200C0 00000000 0001 0 0 0 00FFFFFF 0 0 0\n"
    "ppp0 00000000 00000000 0001 0 0 0 00000000 0 0 0\n"
    "veth 0A7100CB 020063C6 0007 0 0 0 FFFFFFFF 0 0 0\n"
)
TRIE = """Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     |-- 192.0.2.0
        /24 link UNICAST
Local:
     |-- 192.0.2.2
        /32 host LOCAL
     |-- 192.0.2.255
        /32 link BROADCAST
     |-- 203.0.113.9
        /32 host LOCAL
"""


def covered(address: str) -> bool:
    return any(IPv4Address(address) in network for network in refused(ROUTES, TRIE))


def test_networks_without_a_gateway_are_those_of_the_host() -> None:
    assert list(on_link(ROUTES)) == [IPv4Network("192.0.2.0/24")]
    assert list(on_link(HEADER)) == []


def test_addresses_of_the_host_are_read_from_the_local_table() -> None:
    assert local_addresses(TRIE) == [IPv4Address("192.0.2.2"), IPv4Address("203.0.113.9")]


def test_private_ranges_metadata_and_the_host_are_refused_and_nothing_else() -> None:
    for address in (
        *("127.0.0.1", "10.1.2.3", "172.31.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
        *("0.0.0.0", "224.0.0.251", "255.255.255.255", "192.0.2.77", "203.0.113.9"),
        "168.63.129.16",
    ):
        assert covered(address), address
    for address in ("203.0.113.10", "8.8.8.8", "172.32.0.1", "100.128.0.1", "192.0.3.1"):
        assert not covered(address), address


def test_the_networks_do_not_overlap() -> None:
    found = refused(ROUTES, TRIE)
    assert all(not a.overlaps(b) for a in found for b in found if a is not b)
