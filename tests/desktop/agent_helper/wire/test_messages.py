from typing import Any

import pytest

from deskhand.desktop.agent_helper.wire.frames import BrokenFrame
from deskhand.desktop.agent_helper.wire.messages import (
    Answer,
    Call,
    CallFailed,
    Cancel,
    Completed,
    Release,
    Request,
    answer_json,
    answer_of,
    request_json,
    request_of,
)


@pytest.mark.parametrize("message", [Call(1, "read", {"path": "/f"}), Cancel(2), Release(3)])
def test_a_request_is_read_as_it_was_written(message: Request) -> None:
    assert request_of(request_json(message)) == message


@pytest.mark.parametrize(
    "message", [Completed(1, {"a": 1}), Completed(1, {}, 4), CallFailed(2, {"kind": "file"})]
)
def test_an_answer_is_read_as_it_was_written(message: Answer) -> None:
    assert answer_of(answer_json(message)) == message


@pytest.mark.parametrize(
    "body", [{}, {"call": "1", "do": "read", "with": {}}, {"call": 1, "do": "read"}]
)
def test_what_is_no_request_is_an_error(body: dict[str, Any]) -> None:
    with pytest.raises(BrokenFrame):
        request_of(body)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"call": 1},
        {"call": 1, "result": []},
        {"call": 1, "result": {}, "handle": "1"},
        {"call": None, "error": {}},
        {"call": 1, "error": "text"},
    ],
)
def test_what_is_no_answer_is_an_error(body: dict[str, Any]) -> None:
    with pytest.raises(BrokenFrame):
        answer_of(body)
