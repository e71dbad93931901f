import json
from typing import Any

import pytest

from deskhand.desktop.agent_socket.errors import RefusedRequest
from deskhand.desktop.agent_socket.messages import (
    LONGEST_REQUEST,
    CredentialWanted,
    InputWanted,
    OpeningWanted,
    ProgramWanted,
    RequestReader,
    StatusAsked,
    StatusReported,
    error_answer,
    line_of,
    request_in,
)


def line(**body: Any) -> bytes:
    return json.dumps(body).encode()


def test_each_request_is_read() -> None:
    assert request_in(line(do="status")) == StatusAsked()
    assert request_in(line(do="status", text="Reading")) == StatusReported("Reading")
    assert request_in(line(do="launch", name="terminal")) == ProgramWanted("terminal")
    launch = line(do="launch", name="browser", arguments=["--kiosk", "http://x/"])
    assert request_in(launch) == ProgramWanted("browser", ("--kiosk", "http://x/"))
    assert request_in(line(do="open", target="/tmp/a")) == OpeningWanted("/tmp/a")
    asked = line(do="askpass", prompt="Password: ", branch="main", origin="o")
    assert request_in(asked) == CredentialWanted("Password: ", "main", "o")
    assert request_in(line(do="input", action="wait")) == InputWanted({"action": "wait"})


def test_a_request_knows_its_kind() -> None:
    assert OpeningWanted("/tmp/a").is_path
    assert not OpeningWanted("http://x/").is_path
    assert InputWanted({"actions": []}).is_batch
    assert not InputWanted({"action": "wait"}).is_batch


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"GET / HTTP/1.1", "malformed"),
        (b"", "malformed"),
        (b"[]", "malformed"),
        (b"\xff", "malformed"),
        (line(do="status", more="\ud800"), "malformed"),
        (line(), "unknown_request"),
        (line(do="processes"), "unknown_request"),
        (line(do=["status"]), "unknown_request"),
        (line(do="launch", name="sh"), "unknown_program"),
        (line(do="launch", name=["browser"]), "malformed"),
        (line(do="launch", name="browser", arguments="x"), "malformed"),
        (line(do="launch", name="browser", arguments=["x"] * 257), "malformed"),
        (line(do="launch", name="browser", arguments=[1]), "malformed"),
        (line(do="launch", name="browser", arguments=["a\0b"]), "malformed"),
        (line(do="open"), "malformed"),
        (line(do="open", target="a\0b"), "malformed"),
        (line(do="askpass", prompt=1), "malformed"),
    ],
)
def test_other_lines_are_refused(data: bytes, code: str) -> None:
    with pytest.raises(RefusedRequest) as refused:
        request_in(data)
    assert refused.value.code == code
    assert str(refused.value) == refused.value.message


def test_a_line_arrives_in_pieces_of_any_size() -> None:
    data = line(do="status")
    reader = RequestReader()
    assert [reader.feed(bytes([byte])) for byte in data] == [None] * len(data)
    assert reader.feed(b"\nmore") == data
    assert RequestReader().feed(data + b"\n") == data


def test_a_line_without_end_is_refused_early() -> None:
    reader = RequestReader()
    assert reader.feed(b"x" * LONGEST_REQUEST) is None
    with pytest.raises(RefusedRequest) as refused:
        reader.feed(b"x")
    assert refused.value.code == "too_long"


def test_answers_are_lines() -> None:
    assert line_of({"exit_code": 0}) == b'{"exit_code": 0}\n'
    assert error_answer("busy", "Later.") == {"error": {"code": "busy", "message": "Later."}}
