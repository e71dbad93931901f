import os
import socket
import struct
from pathlib import Path

import pytest

from deskhand.desktop.freeze.process_table import UserProcesses
from deskhand.desktop.freeze.selection import ProcessFacts
from deskhand.desktop.freeze.socket_peers import clients_of_displays, read_answers

DISPLAY = b"/tmp/.X11-unix/X77"


def attribute(kind: int, data: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def message(kind: int, *attributes: bytes) -> bytes:
    body = struct.pack("=BBBBIII", socket.AF_UNIX, 1, 1, 0, 41, 0, 0) + b"".join(attributes)
    return struct.pack("=IHHII", 16 + len(body), kind, 2, 1, 0) + body


def test_the_peers_of_sockets_with_the_name_of_a_display_are_its_clients() -> None:
    found = set[int]()
    data = b"".join(
        (
            message(20, attribute(0, DISPLAY), attribute(2, struct.pack("=I", 7))),
            # One that listens, one of another name, and a client, which has no name.
            message(20, attribute(0, DISPLAY)),
            message(20, attribute(0, b"/run/bus"), attribute(2, struct.pack("=I", 8))),
            message(20, attribute(2, struct.pack("=I", 9))),
        )
    )
    assert not read_answers(data, found)
    assert found == {7}
    assert read_answers(message(3), found)


def test_a_refusal_is_an_error_and_a_torn_message_is_left_out() -> None:
    with pytest.raises(OSError, match="does not list"):
        read_answers(message(2), set())
    found = set[int]()
    assert not read_answers(message(20, struct.pack("=HH", 0, 0))[:-2], found)
    assert found == set()


def test_a_client_of_a_real_socket_of_a_display_is_found() -> None:
    # The number of no display; the folder exists wherever a display was.
    name = Path(f"/tmp/.X11-unix/X{70_000 + os.getpid()}")
    name.parent.mkdir(exist_ok=True)
    own = ProcessFacts(os.getpid(), 1, os.getuid(), "python", 1)
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as client:
        listener.bind(str(name))
        try:
            listener.listen()
            client.connect(str(name))
            inode = os.fstat(client.fileno()).st_ino
            with listener.accept()[0]:
                assert inode in clients_of_displays()
                assert UserProcesses([os.getuid()]).x_clients([own]) == [own.pid]
        finally:
            name.unlink()
    assert inode not in clients_of_displays()
    assert UserProcesses([]).x_clients([own._replace(pid=1 << 30)]) == []
