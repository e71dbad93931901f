import pytest

from deskhand.desktop.tool_calls.chat import CallingChat, chat_of, header
from deskhand.desktop.tool_calls.errors import MalformedChat

ID = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
OTHER = "11111111-2222-3333-4444-555555555555"


def test_no_header_is_no_chat() -> None:
    assert chat_of({}) is None


@pytest.mark.parametrize("prefix", ["deskhand-", "coder-"])
def test_both_names_of_the_headers_are_known(prefix: str) -> None:
    headers = {prefix + "chat-id": ID.upper(), prefix + "ancestor-chat-ids": f'["{OTHER}"]'}
    assert chat_of(headers) == CallingChat(ID, (OTHER,))


def test_a_chat_may_have_no_ancestors() -> None:
    assert chat_of({"coder-chat-id": ID}) == CallingChat(ID)


def test_our_own_name_goes_before_the_alias() -> None:
    assert header({"deskhand-chat-id": "a", "coder-chat-id": "b"}, "chat-id") == "a"


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
