"""The probe of Ray's processes, against servers on loopback."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from deskhand.tools.cluster.raylet_probe import Place, answering, answers
from tests.tools.cluster.certified import Cluster

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS = b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x64"
GONE: Place = ("127.0.0.1", 1)


@contextmanager
def server(serve: Callable[[socket.socket], None]) -> Iterator[Place]:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def accept() -> None:
            with suppress(OSError):
                connection, _ = listening.accept()
                with connection:
                    serve(connection)

        thread = threading.Thread(target=accept)
        thread.start()
        yield listening.getsockname()
        listening.close()
        # An accept that waits does not end with its socket.
        with suppress(OSError):
            socket.create_connection(listening.getsockname(), 0.1).close()
        thread.join(5)


def settings(connection: socket.socket) -> None:
    assert connection.recv(100).startswith(PREFACE)
    for byte in SETTINGS:
        connection.sendall(bytes([byte]))


def test_a_server_of_http_2_answers_with_its_settings_byte_by_byte() -> None:
    with server(settings) as place:
        assert answers(place)


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\0\0\0\x07\0"])
def test_one_that_says_something_else_does_not_answer(said: bytes) -> None:
    with server(lambda connection: connection.sendall(said)) as place:
        assert not answers(place)


def test_a_process_that_is_stopped_does_not_answer() -> None:
    # The kernel accepts the connection.
    with socket.create_server(("127.0.0.1", 0)) as listening:
        place = listening.getsockname()
        assert not answers(place, seconds=0.1)
        assert not answers(place, tls=True, seconds=0.1)
        assert not answers(GONE)


def test_with_tls_a_handshake_is_an_answer(tmp_path: Path) -> None:
    context = Cluster(tmp_path).n7.server_context

    def shake(connection: socket.socket) -> None:
        with suppress(ssl.SSLError, OSError), context.wrap_socket(connection, server_side=True):
            pass

    with server(shake) as place:
        assert answers(place, tls=True)


def test_all_are_asked_at_once() -> None:
    with server(settings) as place:
        assert answering([place, GONE]) == {place}
    assert answering([]) == frozenset()
