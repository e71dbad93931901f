import json
from typing import Any

import pytest

from deskhand.desktop.processes.errors import BadProcessRequest
from deskhand.desktop.processes.requests import (
    LONGEST_WAIT_MS,
    MOST_KEPT,
    InputRequest,
    OutputRequest,
    SignalRequest,
    StartRequest,
    Terminal,
    body_of,
    digest,
    input_request,
    output_request,
    resize_request,
    signal_request,
    start_request,
)


def start(**fields: Any) -> StartRequest:
    return start_request(json.dumps(fields).encode())


def test_a_start_needs_no_more_than_a_command() -> None:
    assert start(command="true") == StartRequest("true")


def test_all_fields_of_a_start_are_read() -> None:
    request = start(
        command="make",
        workdir="/src",
        env={"A": "1"},
        timeout_ms=5,
        name="build",
        stdin=True,
        tool_call_id="c",
        call_age_ms=7,
    )
    assert request == StartRequest(
        "make",
        "/src",
        (("A", "1"),),
        timeout_ms=5,
        name="build",
        stdin=True,
        tool_call_id="c",
        call_age_ms=7,
    )


@pytest.mark.parametrize(
    ("read", "body", "field"),
    [
        (start_request, {"command": "ls", "cwd": "/src"}, "cwd"),
        (start_request, {"command": "ls", "pty": {"rows": 5, "cols": 6}}, "pty.cols"),
        (signal_request, {"signal": "terminate", "escalate_after": 5}, "escalate_after"),
        (input_request, {"text": "yes"}, "text"),
        (resize_request, {"rows": 5, "cols": 6}, "cols"),
    ],
)
def test_another_field_is_refused(read: Any, body: dict[str, Any], field: str) -> None:
    with pytest.raises(BadProcessRequest, match=f'Unknown field "{field}"'):
        read(json.dumps(body).encode())


def test_a_terminal_is_asked_for_with_or_without_a_size() -> None:
    assert start(command="x", pty=True).pty == Terminal(24, 80)
    assert start(command="x", pty=True, rows=5).pty == Terminal(5, 80)
    assert start(command="x", pty={"rows": 5, "columns": 6}).pty == Terminal(5, 6)
    assert start(command="x", pty=False, rows=5).pty is None
    assert resize_request(b'{"rows": 1, "columns": 2}') == Terminal(1, 2)


@pytest.mark.parametrize("size", [{"rows": 0}, {"columns": 1001}, {"rows": True}])
def test_a_terminal_of_a_size_that_cannot_be_is_refused(size: dict[str, Any]) -> None:
    with pytest.raises(BadProcessRequest):
        resize_request(json.dumps(size).encode())


@pytest.mark.parametrize("path", ["relative", "/with\0nul"])
def test_output_is_copied_to_absolute_paths_only(path: str) -> None:
    assert start(command="x", output_path="/log").output_path == "/log"
    with pytest.raises(BadProcessRequest):
        start(command="x", output_path=path)


def test_null_is_the_same_as_absent() -> None:
    assert start(command="true", workdir=None, env=None, background=None) == StartRequest("true")


@pytest.mark.parametrize(
    "data", [b"{", b"", b"[]", b'"x"', b"\xff", b'{"command": "\\ud800"}', b"[" * 100_000]
)
def test_what_is_no_json_object_is_refused(data: bytes) -> None:
    with pytest.raises(BadProcessRequest, match="valid JSON"):
        body_of(data)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "Command is required"),
        ({"command": ""}, "Command is required"),
        ({"command": 1}, "command has to be of type str"),
        ({"command": "x", "background": 1}, "background has to be of type bool"),
        ({"command": "x", "timeout_ms": True}, "timeout_ms has to be of type int"),
        ({"command": "x", "env": {"A": 1}}, "env maps"),
        ({"command": "x", "env": {"A=B": ""}}, "env maps"),
        ({"command": "x", "env": {"": ""}}, "env maps"),
        ({"command": "x", "env": {"A": "\0"}}, "env maps"),
        ({"command": "x\0"}, "NUL"),
        ({"command": "x", "workdir": "\0"}, "NUL"),
        ({"command": "x", "background": True, "timeout_ms": 1}, "Background"),
        ({"command": "x", "call_age_ms": -1}, "negative"),
        ({"command": "x", "timeout_ms": 2**53 + 1}, "timeout_ms is too large"),
    ],
)
def test_a_start_that_makes_no_sense_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(BadProcessRequest, match=message):
        start(**fields)


def test_blanks_are_a_command() -> None:
    assert start(command=" ").command == " "


def test_a_signal_is_read() -> None:
    assert signal_request(b'{"signal": "kill"}') == SignalRequest("kill")
    assert signal_request(b'{"signal": "terminate", "escalate_after_ms": 9}').escalate_after_ms == 9
    assert signal_request(b'{"signal": "kill", "escalate_after_ms": -9}').escalate_after_ms == 0


@pytest.mark.parametrize(
    ("body", "message"), [(b"{}", "is required"), (b'{"signal": "hup"}', "terminate, kill")]
)
def test_other_signals_are_refused(body: bytes, message: str) -> None:
    with pytest.raises(BadProcessRequest, match=message):
        signal_request(body)


@pytest.mark.parametrize(
    ("query", "request_"),
    [
        ({}, OutputRequest()),
        ({"wait": "true"}, OutputRequest("exit")),
        ({"wait": "1"}, OutputRequest()),
        ({"wait": "true", "wait_for": "output"}, OutputRequest("output")),
        ({"wait_for": ""}, OutputRequest()),
        ({"timeout_ms": "5"}, OutputRequest(wait_ms=5)),
        ({"timeout_ms": "999999999"}, OutputRequest(wait_ms=LONGEST_WAIT_MS)),
        ({"timeout_from_execute": "true"}, OutputRequest(from_execute=True)),
        ({"cursor": "7", "limit": "0"}, OutputRequest(cursor=7, limit=1)),
        ({"cursor": "", "limit": "99999999"}, OutputRequest(cursor=0, limit=65_536)),
        ({"newest": "true"}, OutputRequest(newest=True)),
        ({"raw": "true"}, OutputRequest(raw=MOST_KEPT)),
        ({"raw": "true", "limit": "0"}, OutputRequest(limit=1, raw=1)),
        ({"raw": "true", "limit": "999999999"}, OutputRequest(limit=65_536, raw=MOST_KEPT)),
    ],
)
def test_queries_for_output(query: dict[str, str], request_: OutputRequest) -> None:
    assert output_request(query) == request_


@pytest.mark.parametrize(
    "query",
    [
        *({"cursor": "-1"}, {"cursor": "x"}, {"limit": "²"}, {"wait_for": "rain"}),
        {"raw": "true", "cursor": "0"},
    ],
)
def test_queries_that_make_no_sense_are_refused(query: dict[str, str]) -> None:
    with pytest.raises(BadProcessRequest, match="Query parameters are invalid"):
        output_request(query)


def test_an_input_is_read() -> None:
    assert input_request(b'{"data": "\xc3\xa9", "close": true}') == InputRequest("é".encode(), True)
    assert input_request(b"{}") == InputRequest(b"")


def test_repetitions_of_a_request_have_one_digest() -> None:
    first = StartRequest("true", tool_call_id="a")
    assert digest(first) == digest(StartRequest("true", tool_call_id="b", call_age_ms=5))
    assert digest(first) != digest(StartRequest("false", tool_call_id="a"))


@pytest.mark.parametrize("rows", [10**30, -(10**30)])
def test_a_number_beyond_64_bits_is_refused(rows: int) -> None:
    with pytest.raises(BadProcessRequest, match="rows is too large a number"):
        start(command="x", pty=True, rows=rows)


def test_a_whole_number_may_have_a_fraction_of_zero() -> None:
    assert start(command="x", pty=True, rows=5.0).pty == Terminal(5, 80)
