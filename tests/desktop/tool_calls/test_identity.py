import pytest

from deskhand.desktop.tool_calls.caller import Caller, CallingChat
from deskhand.desktop.tool_calls.errors import CallRefused, MalformedCall
from deskhand.desktop.tool_calls.generations import MOST_CHATS
from deskhand.desktop.tool_calls.identity import (
    Identity,
    Newest,
    action_identity,
    identity_of,
)

CHAT = CallingChat("aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee")
UUID_CALL = "01234567-89AB-4def-8123-456789abcdef"


def test_a_request_without_a_call_has_no_identity() -> None:
    assert identity_of({}, CHAT) is None
    assert identity_of({"deskhand-chat-id": CHAT.id}, None) is None


@pytest.mark.parametrize("prefix", ["deskhand", "coder"])
def test_a_call_is_named_by_headers(prefix: str) -> None:
    headers = {
        f"{prefix}-tool-call-id": "a%2Fb%20%C3%BC",
        f"{prefix}-tool-call-message-id": "7",
        f"{prefix}-tool-call-age-ms": "90",
    }
    assert identity_of(headers, CHAT, body="b", age_ms=1) == Identity(CHAT.id, "a/b ü", 7, 90)


def test_the_path_goes_before_the_headers_and_they_before_the_body() -> None:
    headers = {"coder-tool-call-id": "h"}
    assert identity_of(headers, CHAT, path="p", body="b") == Identity(CHAT.id, "p")
    assert identity_of(headers, CHAT, body="b") == Identity(CHAT.id, "h")
    assert identity_of({}, CHAT, body="b", age_ms=5) == Identity(CHAT.id, "b", age_ms=5)


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({"coder-tool-call-message-id": "1"}, "its id is missing"),
        ({"coder-tool-call-age-ms": "1"}, "its id is missing"),
        ({"coder-tool-call-id": "c", "coder-tool-call-age-ms": "-1"}, "age must be"),
        ({"coder-tool-call-id": "c", "coder-tool-call-age-ms": "soon"}, "age must be"),
        ({"coder-tool-call-id": "c", "coder-tool-call-age-ms": "²"}, "age must be"),
        ({"coder-tool-call-id": "c", "coder-tool-call-message-id": "1" * 19}, "message id must be"),
    ],
)
def test_a_call_that_is_named_badly_is_refused(headers: dict[str, str], said: str) -> None:
    with pytest.raises(MalformedCall, match=said):
        identity_of(headers, CHAT)


@pytest.mark.parametrize("named", [{"path": "c"}, {"body": "c"}])
def test_a_call_of_no_chat_is_refused(named: dict[str, str]) -> None:
    with pytest.raises(MalformedCall, match="the chat's header is missing"):
        identity_of({}, None, **named)  # type: ignore[arg-type]


def test_an_action_belongs_to_the_call_that_its_caller_names() -> None:
    assert action_identity(Caller("call", "any text")) == Identity("any text", "call")
    assert action_identity(Caller("", "any text")) is None


def test_the_process_of_a_call_that_is_a_uuid_has_its_id() -> None:
    assert Identity(CHAT.id, UUID_CALL).process_id == UUID_CALL.lower()


def test_the_process_of_a_numbered_call_has_the_id_that_the_reference_gives_it() -> None:
    numbered = Identity(CHAT.id, "call", 1).process_id
    assert numbered == "8ab2fb01-acc2-53fc-ac57-d9ab31e5fc86"


CALLS = (
    Identity(CHAT.id, "call"),
    Identity(CHAT.id, "call", 1),
    Identity(CHAT.id, "call", 2),
    Identity(CHAT.id, "other"),
    Identity(CHAT.id, UUID_CALL),
    Identity(CHAT.id, UUID_CALL, 1),
    Identity("bbbbbbbb-bbbb-cccc-dddd-eeeeeeeeeeee", "call"),
)


def test_other_calls_have_other_keys_and_processes() -> None:
    assert len({call.key for call in CALLS}) == len(CALLS)
    assert len({call.process_id for call in CALLS}) == len(CALLS)


def test_how_old_a_call_is_tells_no_call_from_another() -> None:
    now, later = Identity(CHAT.id, "call", 1), Identity(CHAT.id, "call", 1, 5_000)
    assert (now.key, now.process_id) == (later.key, later.process_id)


def test_calls_of_a_chats_older_messages_are_over() -> None:
    newest = Newest()
    for message in (1, 2, 2):
        newest.admit(Identity(CHAT.id, "call", message))
    with pytest.raises(CallRefused) as refused:
        newest.admit(Identity(CHAT.id, "call", 1))
    assert refused.value.code == "stale_tool_call"
    newest.admit(Identity(CHAT.id, "call", 2))
    newest.admit(Identity(CHAT.id, "call"))
    newest.admit(Identity("another", "call", 1))


def test_of_many_chats_those_that_were_not_heard_of_longest_are_forgotten() -> None:
    newest = Newest()
    newest.admit(Identity("first", "call", 5))
    for number in range(MOST_CHATS):
        newest.admit(Identity(f"chat {number}", "call", 1))
    newest.admit(Identity("first", "call", 1))
