from deskhand.tools.conversation.errors import (
    BadChatRequest,
    ChatError,
    Conflict,
    IllegalMove,
    MessageQueueFull,
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
