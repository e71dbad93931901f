import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deskhand.desktop.launch.channel import LONGEST_PACKET, Channel, ChannelClosed, adopted, pair


@contextmanager
def ends() -> Iterator[tuple[Channel, Channel]]:
    one, other = pair()
    try:
        yield one, other
    finally:
        one.close()
        other.close()


def test_messages_arrive_whole_and_in_order() -> None:
    with ends() as (one, other):
        one.send({"number": 1})
        one.send({"number": 2})
        assert [other.receive()[0] for _ in range(2)] == [{"number": 1}, {"number": 2}]


def test_descriptors_travel_with_their_message(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("content")
    with ends() as (one, other):
        with (tmp_path / "file").open() as file:
            one.send({}, [file.fileno()])
        _, (found,) = other.receive()
    assert os.read(found, 99) == b"content"
    assert not os.get_inheritable(found)
    os.close(found)


def test_a_long_message_arrives_with_its_descriptors() -> None:
    text = "x" * LONGEST_PACKET * 4
    with ends() as (one, other), Path("/dev/null").open() as file:
        one.send({"text": text}, [file.fileno()])
        message, (found,) = other.receive()
    assert message == {"text": text}
    os.close(found)


def test_the_end_of_the_other_process_is_reported() -> None:
    with ends() as (one, other):
        other.close()
        with pytest.raises(ChannelClosed):
            one.receive()
        with pytest.raises(ChannelClosed):
            one.send({})


def test_an_inherited_end_is_not_inherited_again() -> None:
    with ends() as (one, other):
        inherited = os.dup(other.fileno())
        os.set_inheritable(inherited, True)
        again = adopted(inherited)
        one.send({"number": 1})
        assert again.receive()[0] == {"number": 1}
        assert not os.get_inheritable(again.fileno())
        again.close()
