import pytest

from deskhand.vncbridge.server.connection_limits import (
    ConnectionLimits,
    UnprovenConnections,
    peer_of,
)


def limited(unproven: int = 4, waiting: int = 2) -> UnprovenConnections[str]:
    return UnprovenConnections(ConnectionLimits(unproven=unproven, waiting_per_peer=waiting))


def test_the_oldest_waiting_connection_of_a_peer_makes_room() -> None:
    connections = limited()
    assert [connections.add(name, "peer") for name in "abcd"] == [None, None, "a", "b"]
    assert len(connections) == 2


def test_a_connection_whose_request_is_served_is_not_closed() -> None:
    connections = limited()
    connections.add("a", "peer")
    connections.add("b", "peer")
    connections.work("a")
    assert connections.wait("a") is None
    connections.work("a")
    assert connections.add("c", "peer") is None
    # After its answer it waits as the newest, and another one makes room for it.
    assert connections.wait("a") == "b"
    assert connections.wait("a") is None
    assert connections.add("d", "peer") == "c"


def test_the_peer_with_the_most_waiting_connections_makes_room_for_others() -> None:
    connections = limited(unproven=3)
    assert [connections.add(name, peer) for name, peer in ("ax", "by", "cy")] == [None] * 3
    assert connections.add("d", "z") == "b"
    assert connections.add("e", "z") in ("a", "c", "d")
    assert len(connections) == 3


def test_a_new_connection_is_refused_while_all_others_are_served() -> None:
    connections = limited(unproven=1)
    connections.add("a", "x")
    connections.work("a")
    assert connections.add("b", "y") == "b"
    connections.remove("a")
    assert connections.add("b", "y") is None


def test_a_connection_with_a_credential_counts_no_more() -> None:
    connections = limited()
    for name in "abcdefgh":
        assert connections.add(name, "peer") is None
        connections.remove(name)
        connections.remove(name)
        connections.work(name)
        assert connections.wait(name) is None
    assert len(connections) == 0


def test_a_process_with_few_descriptors_has_lower_limits() -> None:
    limits = ConnectionLimits()
    assert limits.within(20_000) == limits
    assert limits.within(256).unproven == 51
    assert limits.within(0).unproven == 1


@pytest.mark.parametrize(
    ("address", "peer"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("", ""),
    ],
)
def test_a_network_of_ipv6_is_one_peer(address: str, peer: str) -> None:
    assert peer_of(address) == peer
