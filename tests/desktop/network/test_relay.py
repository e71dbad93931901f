import os
import socket
import subprocess
import sys
from pathlib import Path

import deskhand.desktop.network.relay as relay

PROGRAM = str(Path(relay.__file__))


def test_bytes_go_both_ways_and_an_end_is_passed_on() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_server(("127.0.0.1", 0)) as inside,
    ):
        ending, held = os.pipe()
        started, notice = os.pipe()
        address = f"{inside.fileno()}=127.0.0.1:{server.getsockname()[1]}"
        command = [sys.executable, "-S", "-E", PROGRAM, str(notice), str(ending), address]
        with subprocess.Popen(command, pass_fds=(notice, ending, inside.fileno())) as process:
            os.close(ending)
            os.close(notice)
            assert os.read(started, 1) == b"1"
            os.close(started)
            with socket.create_connection(inside.getsockname(), 20) as client:
                client.sendall(b"question")
                client.shutdown(socket.SHUT_WR)
                connection, _ = server.accept()
                with connection, connection.makefile("rb") as asked:
                    assert asked.read() == b"question"
                    connection.sendall(b"answer")
                with client.makefile("rb") as answered:
                    assert answered.read() == b"answer"
            # The end of the other program ends this one.
            os.close(held)
            assert process.wait(20) == 0
