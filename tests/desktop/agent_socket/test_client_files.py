"""The scripts as commands run them, against a socket of the test."""

import json
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deskhand.desktop.agent_socket.binding import agent_socket
from deskhand.desktop.agent_socket.client_files import ASKPASS, ClientFiles
from deskhand.desktop.agent_socket.request_program import request_of
from deskhand.desktop.isolation.account import Account
from deskhand.desktop.isolation.desktop_user import DesktopUser

LIMIT = 20.0
OWN = Account.of_one_user(DesktopUser("me", os.geteuid(), os.getegid()), "shared")


class Answering:
    """A service that answers each request with the same lines."""

    def __init__(self, folder: Path, bound: socket.socket) -> None:
        self.folder = folder
        self.bound = bound
        self.requests: list[Any] = []

    def run(self, *command: str, answers: bytes) -> subprocess.CompletedProcess[str]:
        thread = threading.Thread(target=self._serve, args=(answers,))
        thread.start()
        try:
            return subprocess.run(
                [str(self.folder / "bin" / command[0]), *command[1:]],
                cwd=self.folder,
                capture_output=True,
                text=True,
                timeout=LIMIT,
                check=False,
            )
        finally:
            thread.join(LIMIT)

    def _serve(self, answers: bytes) -> None:
        connection, _ = self.bound.accept()
        with connection, connection.makefile("rb") as lines:
            self.requests.append(json.loads(lines.readline()))
            connection.sendall(answers)


@pytest.fixture
def answering(tmp_path: Path) -> Iterator[Answering]:
    ClientFiles.read().write(tmp_path)
    (tmp_path / "run").mkdir()
    with agent_socket(tmp_path, OWN) as bound:
        bound.settimeout(LIMIT)
        yield Answering(tmp_path, bound)


def test_a_launch_waits_and_has_the_programs_exit_code(answering: Answering) -> None:
    (answering.folder / "page.html").touch()
    answers = b'{"process_id": "p"}\n{"exit_code": 3}\n'
    ended = answering.run("browser", "--kiosk", "page.html", "http://x/", answers=answers)
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, "", "")
    arguments = ["--kiosk", str(answering.folder / "page.html"), "http://x/"]
    assert answering.requests == [{"do": "launch", "name": "browser", "arguments": arguments}]


def test_a_refusal_is_printed(answering: Answering) -> None:
    error = b'{"error": {"code": "no_browser", "message": "not started: there is none"}}\n'
    ended = answering.run("browser", answers=error)
    assert (ended.returncode, ended.stderr) == (126, "browser: not started: there is none\n")
    ended = answering.run("terminal", answers=b"")
    assert (ended.returncode, "closed the connection" in ended.stderr) == (126, True)


def test_askpass_prints_the_answer_alone(answering: Answering) -> None:
    ended = answering.run(ASKPASS.name, "Password: ", answers=b'{"answer": "s\\u00e9cret"}\n')
    assert (ended.returncode, ended.stdout) == (0, "sécret\n")
    assert answering.requests[0]["prompt"] == "Password: "


def test_status_and_input_print_the_answer(answering: Answering) -> None:
    ended = answering.run("deskhand-request", "status", answers=b'{"chat_id": null}\n')
    assert ended.stdout == '{"chat_id": null}\n'
    action = '{"action": "wait", "do": "status"}'
    answering.run("deskhand-request", "input", action, answers=b"{}\n")
    assert answering.requests[1] == {"do": "input", "action": "wait"}


def test_without_a_service_the_reason_is_printed(tmp_path: Path) -> None:
    ClientFiles.read().write(tmp_path)
    command = [str(tmp_path / "bin" / "browser")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, "does not answer" in ended.stderr) == (126, True)


def test_an_opened_target_is_a_path_or_an_address(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.touch()
    for given in (str(file), f"file://{file}", os.path.relpath(file)):
        assert request_of(["open", given]) == {"do": "open", "target": str(file)}
    assert request_of(["open", "http://x/"]) == {"do": "open", "target": "http://x/"}


def test_other_words_are_no_request() -> None:
    assert request_of([]) is None
    assert request_of(["open"]) is None
    assert request_of(["askpass", "prompt"]) is None
    assert request_of(["status", "more", "words"]) is None


@pytest.mark.parametrize(
    ("answer", "shown"),
    [(b'{"accepted": true}\n', ""), (b'{"dropped": true}\n', "status: dropped, as there are")],
)
def test_a_status_message_is_sent(answering: Answering, answer: bytes, shown: str) -> None:
    ran = answering.run("deskhand", "status", "Reading the list", answers=answer)
    assert (ran.returncode, ran.stdout) == (0, "")
    assert ran.stderr.startswith(shown)
    assert bool(ran.stderr) == bool(shown)
    assert answering.requests == [{"do": "status", "text": "Reading the list"}]
