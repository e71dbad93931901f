"""Whatever the process routes refuse, over HTTP: status, sentence, detail."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from deskhand.desktop.processes.registry import ProcessSettings
from tests.desktop.processes.service import Service, running

Json = dict[str, Any]
CHAT, OTHER = str(uuid4()), str(uuid4())
NOT_JSON = "Request body must be valid JSON."
QUERY = "Query parameters are invalid."
UNKNOWN = "Process not found."


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with running(ProcessSettings(close_grace=0.1)) as service:
        yield service


@pytest.fixture(scope="module")
def living(service: Service) -> str:
    """A process of the chat that goes on."""
    return started(service, "exec sleep 1000")


@pytest.fixture(scope="module")
def exited(service: Service) -> str:
    """A process of the chat that is over."""
    process_id = started(service, "true")
    call(service, "GET", f"processes/{process_id}/output?wait=true")
    return process_id


def call(
    service: Service, method: str, path: str, body: object = None, **headers: str
) -> httpx2.Response:
    named = {"Deskhand-Chat-Id": CHAT} | {
        key.replace("_", "-"): value for key, value in headers.items()
    }
    content: Json = {"content": body} if isinstance(body, bytes) else {"json": body}
    content = content if body is not None else {}
    return service.request(method, f"/api/v0/{path}", headers=named, **content)


def started(service: Service, command: str) -> str:
    answer = call(service, "POST", "processes/start", {"command": command})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["id"])


def refused(answer: httpx2.Response, status: int, message: str) -> str:
    body = answer.json()
    assert (answer.status_code, body["message"]) == (status, message)
    return str(body.get("detail", ""))


@pytest.mark.parametrize("body", [b"{", {}, {"signal": "hug"}, {"signal": "kill"}])
def test_a_signal_does_not_disclose_a_process_of_another_chat(
    service: Service, living: str, body: object
) -> None:
    foreign, unknown = (
        call(service, "POST", f"processes/{name}/signal", body, Deskhand_Chat_Id=OTHER)
        for name in (living, str(uuid4()))
    )
    refused(foreign, 404, UNKNOWN)
    refused(unknown, 404, UNKNOWN)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", NOT_JSON),
        (b"", NOT_JSON),
        (b"\xff", NOT_JSON),
        ([], NOT_JSON),
        ({"command": 1}, NOT_JSON),
        ({"command": "x", "env": []}, NOT_JSON),
        ({}, "Command is required."),
        ({"command": ""}, "Command is required."),
        ({"command": "\0"}, "Command, workdir and output_path must not contain NUL."),
        ({"command": "x", "output_path": "here"}, "output_path must be absolute."),
        (
            {"command": "x", "background": True, "timeout_ms": 1},
            "Background processes take no timeout_ms: nobody waits for them.",
        ),
        (
            {"command": "x", "pty": {"rows": 0, "columns": 80}},
            "rows and columns of a terminal are 1 to 1000.",
        ),
    ],
)
def test_a_start_that_makes_no_sense(service: Service, body: object, message: str) -> None:
    refused(call(service, "POST", "processes/start", body), 400, message)


def test_the_parsers_message_is_the_detail(service: Service) -> None:
    detail = refused(call(service, "POST", "processes/start", b'{"command"'), 400, NOT_JSON)
    assert "delimiter" in detail


@pytest.mark.parametrize(
    ("place", "message"),
    [("absent", "No such file or directory: '"), ("file", "Not a directory: '")],
)
def test_a_start_that_the_system_refuses(
    service: Service, tmp_path: Path, place: str, message: str
) -> None:
    (tmp_path / "file").touch()
    body = {"command": "true", "workdir": str(tmp_path / place)}
    detail = refused(
        call(service, "POST", "processes/start", body), 500, "Failed to start process."
    )
    assert message in detail


def test_without_a_shell_nothing_starts(service: Service) -> None:
    body = {"command": "true", "env": {"PATH": "/nonexistent"}}
    answer = call(service, "POST", "processes/start", body)
    assert '"sh"' in refused(answer, 500, "Failed to start process.")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "output", None),
        ("GET", "stream", None),
        ("POST", "signal", {"signal": "kill"}),
        ("POST", "input", {"data": "x"}),
        ("POST", "resize", {"rows": 1, "columns": 1}),
    ],
)
def test_an_unknown_process_and_another_chats_are_the_same(
    service: Service, living: str, method: str, path: str, body: object
) -> None:
    for process_id, chat in (("unknown", CHAT), (living, OTHER)):
        answer = call(
            service, method, f"processes/{process_id}/{path}", body, Deskhand_Chat_Id=chat
        )
        assert refused(answer, 404, UNKNOWN) == f"Process {process_id!r} was not found."


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", NOT_JSON),
        ({"signal": 9}, NOT_JSON),
        ({}, "Signal is required."),
        ({"signal": ""}, "Signal is required."),
        ({"signal": "hup"}, "Unsupported signal 'hup': it is one of terminate, kill, interrupt."),
        ({"signal": "KILL"}, "Unsupported signal 'KILL': it is one of terminate, kill, interrupt."),
    ],
)
def test_a_signal_that_is_none_is_refused(
    service: Service, living: str, exited: str, body: object, message: str
) -> None:
    for process_id in (living, exited):
        refused(call(service, "POST", f"processes/{process_id}/signal", body), 400, message)


def test_what_needs_a_running_process(service: Service, exited: str) -> None:
    at = f"processes/{exited}"
    answer = call(service, "POST", f"{at}/signal", {"signal": "terminate"})
    assert "not running any more" in refused(answer, 409, "Process is not running.")
    answer = call(service, "POST", f"{at}/input", {"data": "x"})
    assert "takes no input" in refused(answer, 409, "Process takes no input.")
    answer = call(service, "POST", f"{at}/resize", {"rows": 1, "columns": 1})
    assert "no terminal" in refused(answer, 409, "Process has no terminal.")


@pytest.mark.parametrize("query", ["cursor=-1", "cursor=x", "limit=-1", "wait_for=rain"])
def test_an_output_that_cannot_be(service: Service, living: str, query: str) -> None:
    assert refused(call(service, "GET", f"processes/{living}/output?{query}"), 400, QUERY)


@pytest.mark.parametrize("query", ["offset=-1", "limit=many"])
def test_a_page_of_a_list_that_cannot_be(service: Service, query: str) -> None:
    assert refused(call(service, "GET", f"processes/list?{query}"), 400, QUERY)


@pytest.mark.parametrize("path", ["list", "unknown/output", "unknown/stream"])
def test_a_chat_that_is_none_opens_nothing(service: Service, path: str) -> None:
    for chat in ("x", f"{CHAT}0", "{}"):
        answer = call(service, "GET", f"processes/{path}", Deskhand_Chat_Id=chat)
        assert refused(answer, 400, "The chat id must be a UUID.") == repr(chat)


def test_a_call_that_was_made_before_with_other_input(service: Service) -> None:
    first = {"command": "true", "tool_call_id": "refusals"}
    assert call(service, "POST", "processes/start", first).status_code == 200
    answer = call(service, "POST", "processes/start", first | {"command": "false"})
    assert answer.status_code == 409
    assert answer.json()["code"] == "input_mismatch"


def test_a_call_that_was_canceled_starts_no_more(service: Service) -> None:
    assert call(service, "POST", "tool-calls/fenced/cancel").json()["received"] is False
    body = {"command": "true", "tool_call_id": "fenced"}
    answer = call(service, "POST", "processes/start", body)
    assert answer.status_code == 409
    assert answer.json()["code"] == "tool_call_canceled"


def test_a_cancel_without_a_chat(service: Service) -> None:
    answer = service.request("POST", "/api/v0/tool-calls/c/cancel")
    refused(answer, 400, "A tool call is a chat's: the chat's header is missing.")
