import os
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from deskhand.desktop.display.deferred_socket import DeferredSocket
from deskhand.desktop.x11.x_setup import HEAD_BYTES, with_cookie

LIMIT = 20.0
SETUP = bytes.fromhex("6c00 0b00 0000 0000 0000 0000")
COOKIE = b"0123456789abcdef"


@pytest.fixture
def sockets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a path that is short enough for sockets."""
    return tmp_path_factory.mktemp("x")


@contextmanager
def reserved(
    sockets: Path,
    used: threading.Event | None = None,
    user: int | None = None,
    trusted_user: int | None = None,
) -> Iterator[DeferredSocket]:
    event = used or threading.Event()
    owner = os.geteuid() if user is None else user
    with DeferredSocket(sockets / "X7", event.set, (owner,), trusted_user) as found:
        yield found


def client_of(sockets: Path) -> socket.socket:
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(LIMIT)
    client.connect(str(sockets / "X7"))
    return client


@contextmanager
def x_server(sockets: Path) -> Iterator[socket.socket]:
    """Take the place of the socket, as an X server does."""
    (sockets / "X7").unlink()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(sockets / "X7"))
        listener.listen()
        listener.settimeout(LIMIT)
        yield listener


def read(end: socket.socket, length: int) -> bytes:
    end.settimeout(LIMIT)
    received = b""
    # MSG_WAITALL has no effect on a socket with a timeout, which is non-blocking (socket module).
    while len(received) < length and (more := end.recv(length - len(received))):
        received += more
    return received


def test_a_socket_of_a_running_server_is_left_alone(sockets: Path) -> None:
    with reserved(sockets), pytest.raises(OSError, match="in use"):
        DeferredSocket(sockets / "X7", lambda: None, (os.geteuid(),)).open()
    assert list(sockets.iterdir()) == []


def test_a_client_before_the_server_is_relayed_with_its_cookie(sockets: Path) -> None:
    used = threading.Event()
    with reserved(sockets, used) as display:
        assert not used.is_set()
        with client_of(sockets) as client:
            client.sendall(SETUP + b"query")
            assert used.wait(LIMIT)
            with x_server(sockets) as listener:
                display.hand_over(COOKIE)
                display.hand_over(COOKIE)
                server, _ = listener.accept()
                with server:
                    setup = with_cookie(SETUP, COOKIE)
                    assert read(server, len(setup) + 5) == setup + b"query"
                    server.sendall(b"reply")
                    assert read(client, 5) == b"reply"
                    client.close()
                    assert read(server, 1) == b""
        assert (sockets / "X7").exists()


def test_descriptors_pass_in_both_directions(sockets: Path) -> None:
    with reserved(sockets) as display, client_of(sockets) as client:
        client.sendall(SETUP)
        with x_server(sockets) as listener:
            display.hand_over(COOKIE)
            server, _ = listener.accept()
            with server:
                read(server, len(with_cookie(SETUP, COOKIE)))
                for source, target in ((client, server), (server, client)):
                    reading, writing = os.pipe()
                    socket.send_fds(source, [b"!"], [writing])
                    os.close(writing)
                    target.settimeout(LIMIT)
                    data, (passed,), _, _ = socket.recv_fds(target, 16, 4)
                    assert data == b"!"
                    os.write(passed, b"through")
                    os.close(passed)
                    with closing(os.fdopen(reading, "rb")) as pipe:
                        # The end of file shows that the relay has closed its copy.
                        assert pipe.read() == b"through"


def test_a_process_of_another_user_is_not_relayed(sockets: Path) -> None:
    with reserved(sockets, user=os.geteuid() + 1) as display, client_of(sockets) as client:
        client.sendall(SETUP)
        with x_server(sockets) as listener:
            display.hand_over(COOKIE)
            with pytest.raises(OSError, match="reset"):
                read(client, 1)
            listener.setblocking(False)
            with pytest.raises(BlockingIOError):
                listener.accept()


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\n\r\n", SETUP[: HEAD_BYTES - 1]])
def test_what_is_no_client_reaches_no_server(sockets: Path, sent: bytes) -> None:
    with reserved(sockets) as display:
        client = client_of(sockets)
        client.sendall(sent)
        client.shutdown(socket.SHUT_WR)
        with x_server(sockets) as listener, client:
            display.hand_over(COOKIE)
            server, _ = listener.accept()
            with server:
                assert read(server, 1) == b""


def test_a_server_that_does_not_listen_costs_its_early_clients_only(sockets: Path) -> None:
    with reserved(sockets) as display, client_of(sockets) as client:
        (sockets / "X7").unlink()
        display.hand_over(COOKIE)
        assert read(client, 1) == b""


def test_closing_disconnects_relayed_clients_and_frees_the_path(sockets: Path) -> None:
    with reserved(sockets) as display:
        with client_of(sockets) as client, x_server(sockets) as listener:
            client.sendall(SETUP)
            display.hand_over(COOKIE)
            server, _ = listener.accept()
            with server:
                read(server, HEAD_BYTES)
                display.close()
                display.close()
                assert read(client, 1) == b""
        (sockets / "X7").unlink()
    with reserved(sockets) as again:
        assert again.number == 7


@pytest.mark.parametrize("is_browser", [True, False])
def test_the_browsers_user_gets_the_trusted_cookie(sockets: Path, is_browser: bool) -> None:
    browser, trusted = os.geteuid() + (0 if is_browser else 1), bytes(16)
    with reserved(sockets, trusted_user=browser) as display, client_of(sockets) as client:
        client.sendall(SETUP)
        with x_server(sockets) as listener:
            display.hand_over(COOKIE, trusted)
            server, _ = listener.accept()
            with server:
                setup = with_cookie(SETUP, trusted if is_browser else COOKIE)
                assert read(server, len(setup)) == setup
