"""Messages that arrive in pieces, some of them too long."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from jeepney import DBusAddress, new_method_call
from jeepney.low_level import Parser

from deskhand.desktop.accessibility.bus import ShortMessages
from deskhand.desktop.accessibility.message_splitter import LARGEST, MessageSplitter

LONG_PATH = f"/{'p' * LARGEST}"


def message(serial: int, size: int, path: str = "/a") -> bytes:
    question = new_method_call(DBusAddress(path, "b.c", "b.c"), "D", "s", ("x" * size,))
    data: bytes = question.serialise(serial)
    return data


@given(data=st.data(), sizes=st.lists(st.sampled_from([1, 9, LARGEST]), max_size=4))
@settings(max_examples=20, deadline=None)
def test_long_messages_are_left_out_however_the_bytes_arrive(
    data: st.DataObject, sizes: list[int]
) -> None:
    said = b"".join(message(serial, size) for serial, size in enumerate(sizes, 1))
    cuts = data.draw(st.lists(st.integers(0, len(said)), max_size=5).map(sorted))
    first = cuts[0] if cuts else 0
    before = Parser()
    if first:
        before.add_data(said[:first])
    parser = ShortMessages(before)
    for begin, end in pairwise([first, *cuts, len(said)]):
        parser.add_data(said[begin:end])
    found = list(iter(parser.get_next_message, None))
    assert [len(one.body[0]) for one in found] == [size for size in sizes if size < LARGEST]


def test_of_a_long_message_the_header_is_kept_unless_it_is_long_too() -> None:
    long = message(1, LARGEST)
    said = long + message(2, 1, LONG_PATH) + message(3, 1)
    found = MessageSplitter().add(said)
    assert [one.whole for one in found] == [False, True]
    assert long.startswith(found[0].data)
    assert found[1].data == message(3, 1)
