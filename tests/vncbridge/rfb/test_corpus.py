"""What real clients say, as `capture_rfb` wrote it down."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskhand.vncbridge.rfb.messages import ClientMessage, ClientParser, Held

FOLDER = Path(__file__).parents[2] / "data" / "rfb"
SESSIONS = json.loads((FOLDER / "index.json").read_text())
FILES = [session["file"] for session in SESSIONS]


def cut(pieces: Iterator[bytes]) -> list[ClientMessage]:
    """Cut a session into messages; nothing of it may be left."""
    stream = ClientParser()
    found = [message for piece in pieces for message in stream.feed(piece)]
    assert stream.handshake_done
    assert not stream.mid_message
    return found


def pieces(data: bytes, lengths: list[int]) -> Iterator[bytes]:
    for length in lengths:
        yield data[:length]
        data = data[length:]
    yield data


def test_the_index_tells_of_every_capture_and_of_four_clients() -> None:
    assert sorted(FILES) == sorted(path.name for path in FOLDER.glob("*.bin"))
    assert len({session["client"] for session in SESSIONS}) >= 4
    assert all(session["version"] and session["done"] for session in SESSIONS)


@pytest.mark.parametrize("session", SESSIONS, ids=FILES)
def test_a_real_clients_session_is_understood(session: dict[str, object]) -> None:
    data = (FOLDER / str(session["file"])).read_bytes()
    found = cut(iter([data]))
    assert Counter(message.kind.value for message in found) == session["messages"]
    assert cut(data[at : at + 1] for at in range(len(data))) == found


@pytest.mark.parametrize("file", FILES)
@settings(max_examples=15)
@given(lengths=st.lists(st.integers(0, 90), max_size=60))
def test_a_real_clients_session_may_come_in_any_pieces(file: str, lengths: list[int]) -> None:
    data = (FOLDER / file).read_bytes()
    assert cut(pieces(data, lengths)) == cut(iter([data]))


@pytest.mark.parametrize("file", FILES)
def test_a_real_client_lets_go_of_all_it_held(file: str) -> None:
    held = Held()
    for message in cut(iter([(FOLDER / file).read_bytes()])):
        held.note(message)
    assert held.release() == b""
