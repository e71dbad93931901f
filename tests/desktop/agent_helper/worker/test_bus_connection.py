import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deskhand.desktop.agent_helper.worker.bus_connection import authenticated

IDENTITY = str(os.geteuid()).encode().hex().encode()


@contextmanager
def bus(path: str | bytes, answer: bytes, received: list[bytes]) -> Iterator[None]:
    """A daemon that gives one answer."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                received.append(connection.recv(4096))
                connection.sendall(answer)
                if answer:
                    received.append(connection.recv(4096))

        thread = threading.Thread(target=serve)
        thread.start()
        yield
        thread.join()


def test_the_user_is_named_and_the_connection_begun(tmp_path: Path) -> None:
    received: list[bytes] = []
    with (
        bus(str(tmp_path / "a b"), b"OK 1234\r\n", received),
        authenticated(f"unix:runtime=yes;tcp:host=x;unix:path={tmp_path}/a%20b,guid=1"),
    ):
        pass
    assert received == [b"\0AUTH EXTERNAL " + IDENTITY + b"\r\n", b"BEGIN\r\n"]


@pytest.mark.parametrize("answer", [b"REJECTED EXTERNAL\r\n", b"", b"x" * 20_000])
def test_a_bus_that_refuses_is_an_error(tmp_path: Path, answer: bytes) -> None:
    received: list[bytes] = []
    name = f"deskhand-test-{os.getpid()}-{len(answer)}"
    with bus(b"\0" + name.encode(), answer, received), pytest.raises(OSError, match="message bus"):
        authenticated(f"unix:abstract={name}")


def test_no_bus_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        authenticated(f"unix:path={tmp_path}/absent")
    with pytest.raises(OSError, match="no address"):
        authenticated("tcp:host=localhost")
