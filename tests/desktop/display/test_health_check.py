import socket
import threading
from contextlib import ExitStack

import pytest

from deskhand.desktop.display.health_check import HealthCheck, HealthCheckTimeouts

SOON = HealthCheckTimeouts(interval=0.01, reply=1.0, rfb=0.0)
"""A server that answers does so in time also when its thread has to wait for a processor."""
REPLY, EVENT = b"\x01" + bytes(31), b"\x22" + bytes(31)


class Server:
    """Answers a given number of questions."""

    def __init__(self, answers: list[bytes], *, rfb_responds: bool) -> None:
        self._answers = answers
        self._greets = rfb_responds
        self._stack = ExitStack()
        self.asked = 0
        self.suspected = threading.Event()
        self.killed = threading.Event()

    def connect(self, timeout: float) -> socket.socket:
        if not self._answers:
            raise ConnectionRefusedError
        ours, theirs = socket.socketpair()
        threading.Thread(target=self._serve, args=(theirs,), daemon=True).start()
        return ours

    def _serve(self, client: socket.socket) -> None:
        with client:
            while client.recv(4) and self._answers:
                self.asked += 1
                client.sendall(self._answers.pop(0))

    def rfb_responds(self, timeout: float) -> bool:
        self.suspected.set()
        return self._greets

    def kill(self) -> None:
        self.killed.set()


@pytest.mark.parametrize("answers", [[], [REPLY], [REPLY, EVENT + EVENT + REPLY, EVENT]])
def test_a_server_that_answers_nobody_is_ended(answers: list[bytes]) -> None:
    count = len(answers)
    server = Server(answers, rfb_responds=False)
    with HealthCheck(server, SOON) as pulse:
        assert server.killed.wait(20)
        pulse.close()
    assert server.asked == count


def test_a_server_that_an_application_has_grabbed_is_left_alone() -> None:
    server = Server([REPLY], rfb_responds=True)
    with HealthCheck(server, SOON):
        assert server.suspected.wait(20)
    assert not server.killed.is_set()


def test_a_pulse_that_was_never_felt_is_closed_like_any_other() -> None:
    server = Server([], rfb_responds=False)
    HealthCheck(server).close()
    assert not server.killed.is_set()
