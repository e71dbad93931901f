import json

import pytest

from deskhand.tools.live_updates.messages import (
    BadMessage,
    Subscribe,
    Unsubscribe,
    event_id,
    note,
    number_of,
    parse_message,
    picture,
)
from deskhand.tools.live_updates.topics import Topic, UnknownTopic

CHATS = Topic("chats", "chats")


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ({"subscribe": "chats"}, Subscribe(CHATS)),
        ({"subscribe": "chats", "after": "p:1"}, Subscribe(CHATS, "p:1")),
        ({"unsubscribe": "chats"}, Unsubscribe("chats")),
    ],
)
def test_a_message_of_a_page_is_read(message: object, wanted: object) -> None:
    assert parse_message(json.dumps(message)) == wanted


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{", "null", "{}", "[" * 100_000),
        *('{"subscribe": 1}', '{"subscribe": "chats", "after": 1}'),
        *('{"subscribe": "chats", "more": 1}', '{"unsubscribe": "chats", "after": "p:1"}'),
        json.dumps({"subscribe": "chats", "after": "p" * 1000}),
    ],
)
def test_another_message_is_refused(text: str) -> None:
    with pytest.raises(BadMessage):
        parse_message(text)


def test_an_unknown_topic_is_refused() -> None:
    with pytest.raises(UnknownTopic):
        parse_message('{"subscribe": "everything"}')


@pytest.mark.parametrize(
    ("after", "number"),
    [
        ("", None),
        ("plane:7", 7),
        ("other:7", -1),
        ("7", -1),
        ("plane:", -1),
        ("plane:x", -1),
        ("plane:\u00b2", -1),
        ("plane:" + "9" * 20, -1),
    ],
)
def test_an_id_of_another_plane_is_followed_by_no_event(after: str, number: int | None) -> None:
    assert number_of("plane", after) == number
    assert event_id("plane", 7) == "plane:7"


def test_messages_name_their_topic() -> None:
    assert json.loads(note("chats", "open", id="p:1")) == {
        "topic": "chats",
        "kind": "open",
        "id": "p:1",
    }
    assert picture("shot:d", b"\xff\n") == b"shot:d\n\xff\n"
