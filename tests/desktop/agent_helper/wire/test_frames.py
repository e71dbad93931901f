import json
import struct

import pytest

from deskhand.desktop.agent_helper.wire.frames import (
    LONGEST,
    MOST_DESCRIPTORS,
    BrokenFrame,
    FrameParser,
    WireFrame,
    encoded,
)

FRAMES = [
    WireFrame({"call": 1}),
    WireFrame({}, 2),
    WireFrame({"path": "/\udcff", "text": "ä\n\0"}, 1),
]


def test_frames_arrive_whole_however_the_stream_is_cut() -> None:
    data = b"".join(map(encoded, FRAMES))
    assert list(FrameParser().feed(data)) == FRAMES
    parser = FrameParser()
    found = [frame for byte in data for frame in parser.feed(bytes([byte]))]
    assert found == FRAMES


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("!IB", LONGEST + 1, 0),
        struct.pack("!IB", 2, MOST_DESCRIPTORS + 1),
        struct.pack("!IB", 2, 0) + b"[]",
        struct.pack("!IB", 2, 0) + b"{x",
        struct.pack("!IB", 1, 0) + b"\xff",
        struct.pack("!IB", 200_000, 0) + b"[" * 200_000,
    ],
)
def test_what_is_no_frame_is_an_error(data: bytes) -> None:
    with pytest.raises(BrokenFrame):
        list(FrameParser().feed(data))


def test_a_message_that_is_too_long_is_not_sent() -> None:
    with pytest.raises(BrokenFrame, match="too long"):
        encoded(WireFrame({"text": "x" * LONGEST}))
    assert json.loads(encoded(WireFrame({"text": "x"}))[5:]) == {"text": "x"}
