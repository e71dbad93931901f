from typing import Any

import pytest

from deskhand.tools.conversation.chat_start import (
    LONGEST_CONTENT,
    MOST_FILES,
    ChatStart,
    StartFile,
    read_start,
)
from deskhand.tools.conversation.errors import BadChatRequest


def test_nothing_given_is_the_default() -> None:
    assert read_start({}) == ChatStart()
    assert read_start({"workdir": None, "files": None, "template": " "}) == ChatStart()
    assert read_start({"workdir": " . "}) == ChatStart()


def test_a_start_is_read() -> None:
    files = ["a1", {"path": "x//y.txt", "content": ""}, {"path": "z", "file_id": "b2"}]
    given = {"workdir": "a/./b/", "files": files, "template": "office", "profile": "work"}
    start = read_start(given)
    assert (start.workdir, start.template, start.profile) == ("a/b", "office", "work")
    assert start.files == (
        StartFile("", file_id="a1"),
        StartFile("x/y.txt", content=""),
        StartFile("z", file_id="b2"),
    )
    assert start.files[1].to_json() == {"path": "x/y.txt", "content": ""}
    assert (start.timeout_seconds, start.record) == (None, True)


def test_limits_of_a_start_are_read() -> None:
    start = read_start({"timeout_seconds": 90, "record": False})
    assert (start.timeout_seconds, start.record) == (90.0, False)
    assert read_start({"timeout_seconds": None, "record": True}) == ChatStart()


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"workdir": "/etc"}, "workdir: '/etc' must be a relative path"),
        ({"workdir": "a/../../b"}, "relative path"),
        ({"workdir": "a/../b"}, "relative path"),
        ({"workdir": "~/x"}, "relative path"),
        ({"workdir": "a\0b"}, "relative path"),
        ({"workdir": 3}, "workdir must be a text"),
        ({"template": "a" * 101}, "template must be a text of at most 100"),
        ({"profile": "a/b"}, "profile: 'a/b' must be of lower-case letters"),
        ({"timeout_seconds": 0}, "timeout_seconds must be a number from 1 to 604800"),
        ({"timeout_seconds": True}, "timeout_seconds must be a number"),
        ({"timeout_seconds": "9"}, "timeout_seconds must be a number"),
        ({"timeout_seconds": float("inf")}, "timeout_seconds must be a number"),
        ({"record": "no"}, "record must be true or false"),
        ({"files": "a"}, "files must be a list"),
        ({"files": ["a"] * (MOST_FILES + 1)}, f"at most {MOST_FILES} files"),
        ({"files": [" "]}, r"files\[0\] must be the id"),
        ({"files": [{"path": "a"}]}, r"files\[0\] must be"),
        ({"files": [{"path": "a", "content": "b", "file_id": "c"}]}, r"files\[0\] must be"),
        ({"files": [{"path": "a", "content": "b", "mode": "c"}]}, r"files\[0\] must be"),
        ({"files": [{"path": "../a", "content": "b"}]}, "relative path"),
        ({"files": [{"path": "", "content": "b"}]}, "its path must name a file"),
        ({"files": [{"path": "a/", "content": "b"}]}, "its path must name a file"),
        ({"files": [{"path": "a", "content": "b" * (LONGEST_CONTENT + 1)}]}, "more than"),
        (
            {"files": [{"path": "a", "content": "b"}, {"path": "./a", "file_id": "c"}]},
            "the same path",
        ),
    ],
)
def test_wrong_values_are_refused(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadChatRequest, match=reason):
        read_start(given)
