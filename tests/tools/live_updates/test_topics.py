import pytest

from deskhand.tools.live_updates.topics import Topic, UnknownTopic, parse_topic
from deskhand.vncbridge.auth.scopes import Need


@pytest.mark.parametrize(
    ("name", "kind", "id", "width"),
    [
        ("chats", "chats", "", 0),
        ("desktops", "desktops", "", 0),
        ("chat:0b1c-2", "chat", "0b1c-2", 0),
        ("viewers:d1", "viewers", "d1", 0),
        ("shot:d1", "shot", "d1", 640),
        ("shot:d1?width=64", "shot", "d1", 64),
        ("shot:d1?width=1920", "shot", "d1", 1920),
    ],
)
def test_a_topic_is_read(name: str, kind: str, id: str, width: int) -> None:
    assert parse_topic(name) == Topic(name, kind, id, width)


@pytest.mark.parametrize(
    "name",
    [
        *("", "chat:", "chats:1", "chat:a/b", "chat:a?width=640", "viewers:d?width=640"),
        *("shot:d?width=63", "shot:d?width=1921", "shot:d?width=1e3", "shot:" + "d" * 65),
    ],
)
def test_what_is_no_topic_is_refused(name: str) -> None:
    with pytest.raises(UnknownTopic):
        parse_topic(name)


@pytest.mark.parametrize(
    ("name", "need"),
    [
        ("chats", Need("people", "", "view")),
        ("desktops", Need("people", "", "view")),
        ("chat:c", Need("chat", "c", "share")),
        ("viewers:d", Need("desktop", "d", "view")),
        ("shot:d", Need("desktop", "d", "view")),
    ],
)
def test_each_topic_has_a_need_of_its_own(name: str, need: Need) -> None:
    assert parse_topic(name).need() == need
