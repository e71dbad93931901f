import pytest

from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.tools.control_plane import errors
from deskhand.tools.control_plane.http_errors import FAMILIES, ErrorResponse, answer
from deskhand.tools.conversation.errors import (
    BadChatRequest,
    IllegalMove,
    MessageQueueFull,
    NoDesktop,
    NoModel,
    QuestionClosed,
    UnknownTool,
)
from deskhand.tools.fleet.errors import DesktopNotStarted, UnknownDesktop
from deskhand.tools.store.errors import UnknownRow
from deskhand.vncbridge.errors import ClientGone


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (errors.BadBody("Wrong.", "So."), ErrorResponse(400, "Wrong.", "So.")),
        (UnknownRow("chat", "7"), ErrorResponse(404, "Chat not found.", "no chat has the id 7")),
        (
            errors.PathRefused("has a dot part"),
            ErrorResponse(400, "Path may not pass to a desktop.", "the path has a dot part"),
        ),
        (errors.ChatHasNoDesktop(), ErrorResponse(400, "Chat has no desktop.")),
        (errors.BadCaller("A", "b"), ErrorResponse(400, "A must be a UUID, not 'b'.")),
        (ClientGone(), ErrorResponse(499, "the client went away")),
        (
            UnknownTool("x", ("a",)),
            ErrorResponse(404, "Unknown tool.", "Tool not found: x; there are a"),
        ),
        (MessageQueueFull(20), ErrorResponse(409, "chat message queue is full (max 20)")),
        (
            IllegalMove("archive", "running"),
            ErrorResponse(409, "cannot archive a chat that is running"),
        ),
        (NoModel("set a key"), ErrorResponse(400, "set a key")),
        (BadChatRequest("prompt is required"), ErrorResponse(400, "prompt is required")),
        (NoDesktop("full"), ErrorResponse(503, "A desktop cannot be had.", "full")),
        (
            UnknownDesktop("d"),
            ErrorResponse(404, "Desktop not found.", "there is no desktop 'd'"),
        ),
        (
            DesktopNotStarted("Xvnc is not installed"),
            ErrorResponse(
                503,
                "The desktop could not be started.",
                "the desktop could not be started: Xvnc is not installed",
            ),
        ),
        (DesktopUnavailable("gone"), ErrorResponse(502, "The desktop cannot be reached.", "gone")),
        (DesktopRefused(409, "No."), ErrorResponse(502, "The desktop refused.", "No.")),
    ],
)
def test_each_error_has_its_status_and_message(error: Exception, expected: ErrorResponse) -> None:
    assert isinstance(error, FAMILIES)
    assert answer(error) == expected


def test_what_may_pass_is_answered_with_the_time_of_the_next_attempt() -> None:
    assert answer(NoDesktop("none is free")).headers == {"Retry-After": "1"}
    assert answer(ClientGone()).headers == {}


def test_a_surprise_has_no_answer() -> None:
    with pytest.raises(ValueError, match="no answer to KeyError"):
        answer(KeyError("x"))


def test_a_body_has_a_detail_only_if_there_is_one() -> None:
    assert ErrorResponse(400, "a").to_json() == {"message": "a"}
    assert ErrorResponse(400, "a", "b").to_json() == {"message": "a", "detail": "b"}


def test_a_closed_question_is_answered_with_its_first_answer() -> None:
    closed = QuestionClosed("q1", "answered", "approve", "Ann", 5.0)
    assert answer(closed).to_json() == {
        "message": "the question was answered already: approve",
        "first": closed.to_json(),
    }
