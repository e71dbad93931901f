from deskhand.tools.conversation.errors import (
    BadChatRequest,
    ChatError,
    Conflict,
    IllegalMove,
    MessageQueueFull,
    QuestionClosed,
    UnknownTool,
)


def test_each_error_is_one_sentence() -> None:
    assert str(UnknownTool("magic", ("spawn", "wait"))) == (
        "Tool not found: magic; there are spawn, wait"
    )
    assert str(IllegalMove("archive", "running")) == "cannot archive a chat that is running"
    assert str(MessageQueueFull(20)) == "chat message queue is full (max 20)"
    assert str(BadChatRequest("prompt is required")) == "prompt is required"


def test_what_is_not_possible_now_is_one_family() -> None:
    assert issubclass(IllegalMove, Conflict)
    assert issubclass(MessageQueueFull, Conflict)
    assert issubclass(Conflict, ChatError)


def test_a_closed_question_has_its_first_answer_or_its_state() -> None:
    answered = QuestionClosed("q1", "answered", "approve", "Ann", 5.0)
    assert str(answered) == "the question was answered already: approve"
    assert answered.to_json() == {
        "question": "q1",
        "state": "answered",
        "answer": "approve",
        "answered_by": "Ann",
        "closed_at": 5.0,
    }
    expired = QuestionClosed("q1", "expired", None, None, 5.0)
    assert str(expired) == "the question is expired, and takes no answer any more"
