from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN, SERVER, Protocol

from deskhand.tools.forward.frames import (
    BINARY,
    CLOSE,
    PING,
    BadFrame,
    ControlFrame,
    WebSocketFrames,
    client_frame,
)


def server_frame(payload: bytes, opcode: Opcode = Opcode.BINARY, fin: bool = True) -> bytes:
    return Frame(opcode, payload, fin).serialize(mask=False)


STREAM = b"".join(
    [
        server_frame(b"first"),
        server_frame(b"", Opcode.PING),
        server_frame(b"x" * 200, fin=False),
        server_frame(b"are you there", Opcode.PING),
        server_frame(b"y" * 70_000, Opcode.CONT),
        server_frame(b""),
        server_frame(b"\x0f\xa1private", Opcode.CLOSE),
    ]
)
CONTROLS = [
    ControlFrame(PING, b""),
    ControlFrame(PING, b"are you there"),
    ControlFrame(CLOSE, b"\x0f\xa1private"),
]


def read(*pieces: bytes) -> tuple[bytes, list[ControlFrame]]:
    reader = WebSocketFrames()
    found = [one for piece in pieces for one in reader.feed(piece)]
    payload = b"".join(one for one in found if not isinstance(one, ControlFrame))
    return payload, [one for one in found if isinstance(one, ControlFrame)]


def test_payload_and_control_frames_are_found() -> None:
    assert read(STREAM) == (b"first" + b"x" * 200 + b"y" * 70_000, CONTROLS)
    assert CONTROLS[2].reason == "private"


def test_frames_are_found_byte_by_byte() -> None:
    assert read(*(bytes([byte]) for byte in STREAM)) == read(STREAM)


@given(st.lists(st.integers(0, len(STREAM)), max_size=6))
def test_frames_are_found_in_pieces_of_any_size(cuts: list[int]) -> None:
    bounds = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[one:two] for one, two in pairwise(bounds)]
    assert read(*pieces) == read(STREAM)


@pytest.mark.parametrize(
    "data",
    [
        b"\xc2\x00",
        b"\x83\x00",
        b"\x82\x85abcd12345",
        b"\x89\x7e\x00\x7e",
        b"\x09\x00",
    ],
    ids=["reserved bit", "reserved opcode", "masked", "long control", "fragmented control"],
)
def test_what_is_no_frame_is_refused(data: bytes) -> None:
    with pytest.raises(BadFrame):
        WebSocketFrames().feed(data)


@pytest.mark.parametrize("length", [0, 1, 4, 125, 126, 65_535, 65_536])
def test_a_server_reads_the_frames_of_the_client(length: int) -> None:
    payload = bytes(index % 251 for index in range(length))
    server = Protocol(SERVER, state=OPEN, max_size=None)
    server.receive_data(client_frame(payload, b"\x01\x80\xff\x00"))
    (frame,) = server.events_received()
    assert isinstance(frame, Frame)
    assert (frame.opcode, bytes(frame.data), frame.fin) == (BINARY, payload, True)
