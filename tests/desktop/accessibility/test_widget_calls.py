"""Calls and replies in bytes, beside those of a general library of the protocol."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jeepney import (
    DBusAddress,
    Endianness,
    HeaderFields,
    Message,
    Properties,
    new_error,
    new_method_call,
    new_method_return,
    new_signal,
)
from jeepney.low_level import Parser

from deskhand.desktop.accessibility.interfaces import ACCESSIBLE, COMPONENT
from deskhand.desktop.accessibility.message_splitter import LARGEST
from deskhand.desktop.accessibility.widget_calls import FIELDS, ReplyStream, calls

NAME, PATH = ":1.7", "/org/a11y/atspi/accessible/12"
SERIAL = 5
QUESTION = new_method_call(DBusAddress(PATH, NAME, ACCESSIBLE), "GetState")
QUESTION.header.serial = SERIAL


def answer(types: str, body: Any, order: Endianness = Endianness.little) -> bytes:
    message = new_method_return(QUESTION, types, body)
    message.header.endianness = order
    message.header.fields[HeaderFields.sender] = NAME
    data: bytes = message.serialise(1)
    return data


def parts(message: Message) -> tuple[Any, ...]:
    return message.header.message_type, message.header.fields, message.body


@pytest.mark.parametrize("path", ["/", "/a", PATH, f"/{'p' * 300}"])
def test_calls_are_those_of_the_interfaces(path: str) -> None:
    accessible, component = (DBusAddress(path, NAME, each) for each in (ACCESSIBLE, COMPONENT))
    wanted = (
        Properties(accessible).get("Name"),
        *(new_method_call(accessible, each) for each in ("GetRoleName", "GetState", "GetChildren")),
        new_method_call(component, "GetExtents", "u", (0,)),
    )
    found = Parser().feed(calls((NAME, path), SERIAL))
    assert [message.header.serial for message in found] == list(range(SERIAL, SERIAL + len(FIELDS)))
    assert [parts(message) for message in found] == [parts(message) for message in wanted]


@pytest.mark.parametrize("order", list(Endianness))
@pytest.mark.parametrize(
    ("types", "body"),
    [
        ("s", ("r\u00f4le",)),
        ("v", (("s", "name"),)),
        ("au", ([1, 1 << 31],)),
        ("au", ([],)),
        ("(iiii)", ((-1, 2, 3, 1 << 30),)),
        ("a(so)", ([(NAME, PATH), (":1.8", "/a")],)),
        ("a(so)", ([],)),
    ],
)
def test_a_reply_has_its_serial_and_values(types: str, body: Any, order: Endianness) -> None:
    assert ReplyStream().add(answer(types, body, order)) == [(SERIAL, body)]


@pytest.mark.parametrize(
    ("types", "body"), [("v", (("d", 0.5),)), ("u", (7,)), ("as", (["a"],)), (None, ())]
)
def test_a_type_that_no_call_has_is_a_reply_without_values(types: Any, body: Any) -> None:
    assert ReplyStream().add(answer(types, body)) == [(SERIAL, None)]


def test_an_error_is_a_reply_without_values() -> None:
    found = ReplyStream().add(new_error(QUESTION, "org.example.No", "s", ("no",)).serialise(1))
    assert found == [(SERIAL, None)]


def test_other_messages_are_dropped() -> None:
    signal = new_signal(DBusAddress(PATH, interface=ACCESSIBLE), "Changed", "s", ("a",))
    unasked = new_method_return(QUESTION, "s", ("a",))
    del unasked.header.fields[HeaderFields.reply_serial]
    data = signal.serialise(1) + unasked.serialise(2) + answer("s", ("b",))
    assert ReplyStream().add(data) == [(SERIAL, ("b",))]


@given(cuts=st.lists(st.integers(min_value=0, max_value=600)))
def test_replies_may_arrive_in_any_pieces(cuts: list[int]) -> None:
    data = b"".join(answer("s", ("r" * length,)) for length in range(5))
    stream = ReplyStream()
    edges = [0, *sorted(cuts), len(data)]
    found = [one for start, end in pairwise(edges) for one in stream.add(data[start:end])]
    assert found == [(SERIAL, ("r" * length,)) for length in range(5)]


@given(at=st.integers(min_value=16, max_value=90), value=st.integers(min_value=0, max_value=255))
def test_broken_bytes_of_a_message_do_not_reach_the_next_one(at: int, value: int) -> None:
    broken = bytearray(answer("a(so)", ([(NAME, PATH)],)))
    broken[min(at, len(broken) - 1)] = value
    assert ReplyStream().add(bytes(broken) + answer("s", ("b",)))[-1] == (SERIAL, ("b",))


@pytest.mark.parametrize("length", [20, 1 << 31])
def test_a_text_that_is_longer_than_its_message_is_dropped(length: int) -> None:
    broken = answer("s", ("abc",)).replace(b"\3\0\0\0abc", length.to_bytes(4, "little") + b"abc")
    assert ReplyStream().add(broken) == []


@pytest.mark.parametrize("piece", [1 << 20, 1 << 30])
def test_a_reply_that_is_too_long_is_one_without_values(piece: int) -> None:
    data = answer("s", ("a" * LARGEST,)) + answer("s", ("b",))
    stream = ReplyStream()
    found = [
        one
        for start in range(0, len(data), piece)
        for one in stream.add(data[start : start + piece])
    ]
    assert found == [(SERIAL, None), (SERIAL, ("b",))]
    assert stream.shortened
