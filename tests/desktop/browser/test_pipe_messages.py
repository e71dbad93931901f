import json

import pytest

from deskhand.desktop.browser import pipe_messages
from deskhand.desktop.browser.pipe_messages import PipeBroken, PipeReader, framed

ONE, TWO = {"id": 1, "method": "Page.enable"}, {"id": 2, "result": {"data": "a\0b"}}


def test_messages_arrive_in_pieces_of_any_size() -> None:
    data = framed(ONE) + framed(TWO)
    reader = PipeReader()
    assert [found for byte in data for found in reader.feed(bytes([byte]))] == [ONE, TWO]
    assert PipeReader().feed(data) == [ONE, TWO]


def test_the_end_is_the_only_nul_byte() -> None:
    assert framed(TWO).count(b"\0") == 1
    assert json.loads(framed(TWO)[:-1]) == TWO


@pytest.mark.parametrize("data", [b"no json\0", b"[1]\0", b"\xff\0", b"\0"])
def test_other_bytes_break_the_pipe(data: bytes) -> None:
    with pytest.raises(PipeBroken):
        PipeReader().feed(data)


def test_a_message_that_is_too_long_is_left_out() -> None:
    reader = PipeReader()
    piece = b"x" * (pipe_messages.LONGEST_MESSAGE // 2)
    assert reader.feed(piece) == reader.feed(piece) == reader.feed(b"x") == []
    # What a page writes must not end the browser: the messages after it are read.
    assert reader.feed(b"x\0" + framed(ONE)) == [ONE]
    assert reader.feed(framed(TWO)) == [TWO]
