import pytest

from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.tool_calls.caller import Caller, call_of, caller_of, header


def test_our_header_goes_before_the_references() -> None:
    both = {"deskhand-chat-id": "ours", "coder-chat-id": "theirs"}
    assert header(both, "chat-id") == "ours"
    assert header({"coder-chat-id": "theirs"}, "chat-id") == "theirs"
    assert header({}, "chat-id") == ""


def test_a_caller_need_not_say_who_it_is() -> None:
    assert caller_of({}) == Caller("", "")
    assert call_of({}, "/action", {}) is None


@pytest.mark.parametrize("name", ["", "x" * 201, "a\tb"])
def test_a_tool_call_id_is_printable_and_short(name: str) -> None:
    with pytest.raises(InvalidAction, match="1 to 200 printable"):
        caller_of({"deskhand-tool-call-id": name})


def test_a_call_is_named_by_chat_and_id() -> None:
    headers = {"deskhand-tool-call-id": "é" * 200, "deskhand-chat-id": "chat"}
    assert caller_of(headers) == Caller("é" * 200, "chat")
    call = call_of(headers, "/action", {"action": "wait"})
    assert call is not None
    assert call.key == ("chat", "é" * 200)
