"""Connections that the helper opens."""

import socket

import pytest

from deskhand.desktop.agent_helper.worker.tcp_connection import connected


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_listening_port_is_connected(host: str) -> None:
    server = socket.create_server(("127.0.0.1", 0))
    with server, connected(host, server.getsockname()[1]) as connection:
        assert not connection.getblocking()
        accepted, address = server.accept()
        with accepted:
            assert address == connection.getsockname()


def test_an_unknown_name_and_a_closed_port_are_errors() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(ConnectionRefusedError):
        connected("127.0.0.1", port)
    with pytest.raises(UnicodeEncodeError):
        connected("é.test", port)
