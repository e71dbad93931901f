import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.tools.agents.chat_repository.events import ChatEvent
from deskhand.tools.control_plane.event_format import event_bytes, last_seen


def test_an_event_is_written_byte_for_byte() -> None:
    event = ChatEvent(7, "status", "c1", {"state": "running", "title": "ü\n2"})
    assert event_bytes(event) == (
        b"id: 7\n"
        b"event: status\n"
        b'data: {"id":7,"kind":"status","chat_id":"c1",'
        b'"data":{"state":"running","title":"\xc3\xbc\\n2"}}\n'
        b"\n"
    )


@given(st.dictionaries(st.text(), st.text()))
def test_data_stays_in_one_line(data: dict[str, str]) -> None:
    lines = event_bytes(ChatEvent(1, "text", "c1", data)).decode().split("\n")
    assert len(lines) == 5
    assert json.loads(lines[2].removeprefix("data: "))["data"] == data


@pytest.mark.parametrize("kind", ["a\nb", "a\rb"])
def test_a_kind_with_a_line_break_is_refused(kind: str) -> None:
    with pytest.raises(ValueError, match="not a name of an event"):
        event_bytes(ChatEvent(1, kind, "c1"))


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, None),
        ("", None),
        (" 12 ", 12),
        ("x", None),
        ("-1", None),
        ("²", None),
        ("9" * 20, None),
    ],
)
def test_a_returning_listener_names_the_last_event_it_had(
    header: str | None, expected: int | None
) -> None:
    assert last_seen(header) == expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [(None, None), ("", None), ("one:12", 12), ("two:12", -1), ("12", -1), ("one:x", -1)],
)
def test_of_several_control_planes_each_knows_its_own_events(
    header: str | None, expected: int | None
) -> None:
    assert last_seen(header, "one") == expected


def test_an_event_of_one_of_several_control_planes_has_its_name() -> None:
    assert event_bytes(ChatEvent(7, "deleted", "c1"), "one") == (
        b"id: one:7\n"
        b"event: deleted\n"
        b'data: {"id":"one:7","kind":"deleted","chat_id":"c1","data":{}}\n'
        b"\n"
    )
