from uuid import uuid4

from deskhand.desktop.git.touched_paths import MOST_CHATS, MOST_PATHS, PathStore
from deskhand.desktop.tool_calls.caller import CallingChat

CHAT, PARENT = str(uuid4()), str(uuid4())


def test_paths_count_for_the_chat_and_all_above_it() -> None:
    store = PathStore()
    store.note(CallingChat(CHAT, (PARENT,)), ["/b", "/a", "/b", "relative"])
    assert store.paths(CHAT) == store.paths(PARENT) == ["/a", "/b"]
    assert store.paths(str(uuid4())) == []


def test_a_note_without_paths_wakes_and_adds_nothing() -> None:
    store = PathStore()
    with store.subscribed(CHAT) as first, store.subscribed(CHAT) as second:
        store.note(CallingChat(CHAT), [])
        assert first.is_set()
        assert second.is_set()
    store.note(CallingChat(CHAT), ["relative"])
    assert not store.chats


def test_what_was_touched_last_is_kept() -> None:
    store = PathStore()
    store.note(CallingChat(CHAT), [f"/{number}" for number in range(MOST_PATHS)])
    store.note(CallingChat(CHAT), ["/0", "/new"])
    paths = store.paths(CHAT)
    assert len(paths) == MOST_PATHS
    assert {"/0", "/new"} <= set(paths)
    assert "/1" not in paths
    for _ in range(MOST_CHATS):
        store.note(CallingChat(str(uuid4())), ["/x"])
    assert store.paths(CHAT) == []
