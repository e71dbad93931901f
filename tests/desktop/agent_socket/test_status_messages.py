import pytest

from deskhand.desktop.agent_socket.status_messages import (
    BURST,
    LONGEST,
    MOST_CHATS,
    StatusMessage,
    StatusMessages,
    shortened,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("  Reading\n the\tlist ", "Reading the list"),
        ("a\x1b[31mb\u202e<!-- x -->", "a[31mb"),
        ("a" * LONGEST, "a" * LONGEST),
        ("a" * (LONGEST + 1), "a" * (LONGEST - 1) + "…"),
    ],
)
def test_a_message_is_one_short_line(text: str, shown: str) -> None:
    assert shortened(text) == shown


def test_messages_beyond_the_rate_are_dropped_and_counted() -> None:
    messages = StatusMessages()
    for _ in range(BURST):
        assert messages.offer("a", "x", 10.0) == StatusMessage("a", "x", 0)
    assert messages.offer("a", "x", 10.5) is None
    assert messages.offer("b", "x", 10.5) == StatusMessage("b", "x", 0)
    later = messages.offer("a", "y", 11.0)
    assert later is not None
    assert later.to_json() == {"chat_id": "a", "text": "y", "dropped": 1}


def test_a_pause_allows_no_more_than_a_burst() -> None:
    messages = StatusMessages()
    messages.offer("a", "x", 0.0)
    sent = [messages.offer("a", "x", 1000.0) for _ in range(BURST + 1)]
    assert sent[-1] is None
    assert None not in sent[:-1]


@pytest.mark.parametrize(("chat", "text"), [("", "x"), ("a", " \n"), ("a", "<!-- x -->")])
def test_what_has_no_chat_or_text_is_dropped(chat: str, text: str) -> None:
    assert StatusMessages().offer(chat, text, 0.0) is None


def test_the_chat_that_was_silent_longest_is_forgotten() -> None:
    messages = StatusMessages()
    for _ in range(BURST):
        messages.offer("first", "x", 0.0)
    assert messages.offer("first", "x", 0.0) is None
    for number in range(MOST_CHATS):
        messages.offer(str(number), "x", 0.0)
    assert messages.offer("first", "x", 0.0) == StatusMessage("first", "x", 0)
