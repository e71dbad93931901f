import pytest

from deskhand.tools.forward.peer_uid import SocketAddress, peer_uid

HEAD = (
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt"
    "   uid  timeout inode\n"
)
OWN, PEER = SocketAddress("127.0.0.1", 5901), SocketAddress("127.0.0.1", 40000)
IPV4 = "   0: 0100007F:9C40 0100007F:170D 01 00000000:00000000 00:00000000 00000000"
IPV6 = (
    "   1: 0000000000000000FFFF00000100007F:9C40 0000000000000000FFFF00000100007F:170D 01"
    " 00000000:00000000 00:00000000 00000000"
)


def row(addresses: str, uid: int, inode: int = 77) -> str:
    return f"{HEAD}{addresses}  {uid}        0 {inode} 1 0000000000000000 20 4 30 10 -1\n"


@pytest.mark.parametrize("addresses", [IPV4, IPV6])
def test_the_row_of_the_peers_end_names_its_owner(addresses: str) -> None:
    assert peer_uid(row(addresses, 1000), OWN, PEER) == 1000


def test_our_own_end_does_not_count() -> None:
    assert peer_uid(row(IPV4, 0), PEER, OWN) is None


def test_a_socket_that_its_process_has_closed_has_no_owner() -> None:
    assert peer_uid(row(IPV4, 0, inode=0), OWN, PEER) is None


@pytest.mark.parametrize(
    "peer", [SocketAddress("127.0.0.1", 40001), SocketAddress("127.0.0.2", 40000)]
)
def test_another_connection_does_not_count(peer: SocketAddress) -> None:
    assert peer_uid(row(IPV4, 1000), OWN, peer) is None


def test_a_connection_over_ipv6_has_its_own_form() -> None:
    table = row(
        "   1: 00000000000000000000000001000000:9C40 00000000000000000000000001000000:170D 01"
        " 00000000:00000000 00:00000000 00000000",
        1000,
    )
    assert peer_uid(table, SocketAddress("::1", 5901), SocketAddress("::1", 40000)) == 1000


def test_lines_that_are_no_rows_are_skipped() -> None:
    assert peer_uid("\nnonsense\n" + IPV4 + " x 0 7\n", OWN, PEER) is None
