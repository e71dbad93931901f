import pytest

from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.tool_calls.caller import (
    Caller,
    CallingChat,
    caller_of,
    chat_of,
    instance_of,
)
from deskhand.desktop.tool_calls.errors import MalformedChat

ID = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
OTHER = "11111111-2222-3333-4444-555555555555"


def test_a_caller_need_not_name_itself() -> None:
    assert caller_of({}) == Caller("", "")
    assert instance_of({}) == ""


def test_a_caller_is_a_chat_of_any_text_and_a_call() -> None:
    headers = {"deskhand-tool-call-id": "é" * 200, "coder-chat-id": "chat"}
    assert caller_of(headers) == Caller("é" * 200, "chat")


@pytest.mark.parametrize("name", ["", "x" * 201, "a\tb"])
def test_a_tool_call_id_is_printable_and_short(name: str) -> None:
    with pytest.raises(InvalidAction, match="1 to 200 printable"):
        caller_of({"deskhand-tool-call-id": name})


@pytest.mark.parametrize("prefix", ["deskhand-", "coder-"])
def test_the_instance_of_the_first_request_is_named(prefix: str) -> None:
    assert instance_of({prefix + "instance": "i-1"}) == "i-1"


def test_no_header_is_no_chat() -> None:
    assert chat_of({}) is None


@pytest.mark.parametrize("prefix", ["deskhand-", "coder-"])
def test_a_chat_and_its_ancestors_are_canonical_uuids(prefix: str) -> None:
    headers = {prefix + "chat-id": f" {ID.upper()} ", prefix + "ancestor-chat-ids": f'["{OTHER}"]'}
    assert chat_of(headers) == CallingChat(ID, (OTHER,))


def test_a_chat_may_have_no_ancestors() -> None:
    assert chat_of({"coder-chat-id": ID}) == CallingChat(ID)


def test_a_blank_header_names_no_chat() -> None:
    assert chat_of({"deskhand-chat-id": " ", "coder-chat-id": ID}) == CallingChat(ID)
    assert chat_of({"deskhand-chat-id": " "}) is None


@pytest.mark.parametrize("chat", ["junk", "1", f"{ID}x"])
def test_a_malformed_chat_is_refused(chat: str) -> None:
    with pytest.raises(MalformedChat, match="chat id must be a UUID"):
        chat_of({"coder-chat-id": chat})


@pytest.mark.parametrize(
    "ancestors", ["{not json}", "[" * 20_000, '"text"', "[1]", '["junk"]', "{}"]
)
def test_malformed_ancestors_are_refused(ancestors: str) -> None:
    with pytest.raises(MalformedChat):
        chat_of({"coder-chat-id": ID, "coder-ancestor-chat-ids": ancestors})


def test_ancestors_without_a_chat_mean_nothing() -> None:
    assert chat_of({"coder-ancestor-chat-ids": "junk"}) is None
