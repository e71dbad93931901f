import json
from typing import Any

import pytest

from deskhand.desktop.dialects.cua.errors import FailedCommand, RefusedCommand
from deskhand.desktop.dialects.cua.messages import (
    CommandRequest,
    failure,
    http_answer,
    http_request,
    websocket_answer,
    websocket_request,
)
from deskhand.desktop.errors import DesktopRefused


def test_a_command_over_http_names_its_parameters() -> None:
    body = b'{"command": "click", "params": {"x": 1}}'
    assert http_request(body) == CommandRequest("left_click", {"x": 1})
    body = b'{"command": "type", "params": {"text": "\\u00e9"}}'
    assert http_request(body) == CommandRequest("type_text", {"text": "é"})
    assert http_request(b'{"command": "version"}') == CommandRequest("version", {})


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ({"command": "click", "params": {"x": 1}}, CommandRequest("left_click", {"x": 1})),
        ({"command": "click", "x": 1}, CommandRequest("left_click", {"x": 1}, flat=True)),
        ({"command": "screenshot"}, CommandRequest("screenshot", {}, flat=True)),
        (
            {"command": "echo hello", "timeout": 30},
            CommandRequest("run_command", {"command": "echo hello", "timeout": 30}, flat=True),
        ),
        ({"command": "authenticate", "params": {"api_key": "k"}}, None),
    ],
)
def test_parameters_over_a_websocket_are_nested_or_flat(
    message: Any, asked: CommandRequest | None
) -> None:
    assert websocket_request(json.dumps(message)) == asked


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"{", "Invalid JSON"),
        (b"\xff", "Invalid JSON"),
        (b"[" * 100_000, "Invalid JSON"),
        (b'{"command": "type", "params": {"text": "\\ud800"}}', "Invalid JSON"),
        (b"[]", "is a JSON object"),
        (b"{}", "Command not specified"),
        (b'{"command": 1}', "Command not specified"),
        (b'{"command": "version", "params": []}', "params is a JSON object"),
        (b'{"command": "fly"}', "Unknown command: fly"),
    ],
)
def test_a_body_without_a_command_is_refused(body: bytes, sentence: str) -> None:
    with pytest.raises(RefusedCommand, match=sentence):
        http_request(body)


def test_an_answer_over_http_is_one_event() -> None:
    assert http_answer({"exists": False}) == b'data: {"success": true, "exists": false}\n\n'


@pytest.mark.parametrize(
    ("command", "fields", "result"),
    [
        ("screenshot", {"image_data": "AA", "format": "png"}, "AA"),
        ("get_screen_size", {"size": {"width": 1}}, {"width": 1}),
        ("get_active_window_title", {"result": "Notes"}, "Notes"),
        ("file_exists", {"exists": True}, {"success": True, "exists": True}),
    ],
)
def test_an_answer_over_a_websocket_has_its_fields_twice(
    command: str, fields: Any, result: Any
) -> None:
    answer = json.loads(websocket_answer(CommandRequest(command, {}), fields))
    assert answer == {"success": True, **fields, "result": result}


def test_a_large_answer_has_what_its_client_reads() -> None:
    fields = {"image_data": "A" * 65_536, "format": "png"}
    for flat, expected in (
        (True, {"success": True, "result": fields["image_data"]}),
        (False, {"success": True, **fields}),
    ):
        asked = CommandRequest("screenshot", {}, flat)
        assert json.loads(websocket_answer(asked, fields)) == expected


def test_the_answer_to_a_credential_is_a_success() -> None:
    assert json.loads(websocket_answer(None, {})) == {"success": True}


def test_an_error_over_a_websocket_has_no_result() -> None:
    fields = failure(FailedCommand("x must be a number"))
    answer = {"success": False, "error": "x must be a number"}
    assert json.loads(websocket_answer(CommandRequest("left_click", {}), fields)) == answer


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (DesktopRefused(409, "No.", "Ann is in control", "human_in_control"),
         "human_in_control: Ann is in control"),
        (DesktopRefused(409, "No.", code="busy"), "busy: No."),
        (DesktopRefused(404, "Unknown window.", "7"), "Unknown window. 7"),
    ],
)  # fmt: skip
def test_a_refusal_begins_with_its_code(error: DesktopRefused, text: str) -> None:
    assert failure(error) == {"success": False, "error": text}
