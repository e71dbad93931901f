"""One client's connection through the filter: bytes in, bytes out."""

import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.x_filter.requests import Agents
from deskhand.desktop.x_filter.stream import FilteredStream, NoXProtocol
from tests.desktop.x_filter.wire import (
    COLORMAP,
    FOREIGN,
    NO_OPERATION,
    OPCODES,
    OWN,
    REFUSED,
    ROOT,
    big,
    ids,
    name,
    request,
    setup_answer,
    stream,
)


def pieces(data: bytes, sizes: Iterable[int]) -> Iterator[bytes]:
    for size in sizes:
        if data:
            yield data[:size]
            data = data[size:]
    yield data


MIXED = b"".join(
    (
        request(43),
        request(36),
        request(1, ids(OWN, ROOT) + struct.pack("<hhHHHHII", 0, 0, 9, 9, 0, 1, 0, 0), 24),
        request(25, ids(FOREIGN, 0) + b"\2" + bytes(31)),
        request(133),
        big(72, ids(OWN, OWN) + bytes(4000), 2),
        request(72, ids(FOREIGN, OWN) + bytes(2000), 2),
        request(98, name(b"XTEST")),
    )
)


@given(st.lists(st.integers(1, 40)))
def test_the_pieces_in_which_requests_come_make_no_difference(sizes: list[int]) -> None:
    whole, split = stream(), stream()
    found = b"".join(split.to_server(piece) for piece in pieces(MIXED, sizes))
    assert found == whole.to_server(MIXED)


@given(st.lists(st.integers(1, 40)))
def test_the_pieces_in_which_answers_come_make_no_difference(sizes: list[int]) -> None:
    found = FilteredStream("<", Agents(), OPCODES)
    event, image = bytes((11,)) + b"k" * 31, struct.pack("<BBHI24x", 1, 0, 1, 50) + b"i" * 200
    sent = setup_answer() + event + image + event
    expected = setup_answer() + bytes((11,)) + bytes(31) + image + bytes((11,)) + bytes(31)
    assert b"".join(found.to_client(piece) for piece in pieces(sent, sizes)) == expected


@given(st.binary(max_size=400))
def test_other_bytes_than_requests_raise_one_error_only(data: bytes) -> None:
    found = stream()
    with suppress(NoXProtocol):
        found.to_server(request(133) + data)


@given(st.integers(0, 255), st.integers(0, 255), st.binary(max_size=200))
def test_each_request_stays_one_request(opcode: int, data: int, body: bytes) -> None:
    sent = request(opcode, body, data)
    found = stream().to_server(sent)
    assert len(found) == 4 * struct.unpack_from("<H", found, 2)[0]


def test_what_nobody_looks_at_passes_as_it_is() -> None:
    sent = request(43) * 3 + request(45, name(b"fixed"))
    assert stream().to_server(sent) is sent


def test_a_request_that_is_ignored_keeps_its_length() -> None:
    assert stream().to_server(request(36)) == request(NO_OPERATION)


def test_the_rest_of_a_long_request_is_passed_on_with_its_begin() -> None:
    sent = request(72, ids(FOREIGN, OWN) + bytes(range(256)) * 40, 2)
    found = stream().to_server(sent)
    assert found == bytes((NO_OPERATION,)) + sent[1:]


def test_a_big_request_is_looked_at_behind_its_length() -> None:
    found = stream()
    assert found.to_server(request(133)) == request(133)
    assert found.to_server(big(4, ids(FOREIGN))) == big(NO_OPERATION, ids(FOREIGN))
    assert found.to_server(big(4, ids(OWN))) == big(4, ids(OWN))


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(big(4, ids(OWN)), id="before it is enabled"),
        # The server refuses a request of that length, and enables nothing.
        pytest.param(request(133, bytes(4)) + big(4, ids(OWN)), id="enabled with a body"),
        pytest.param(request(133, data=1) + big(4, ids(OWN)), id="enabled by another request"),
        pytest.param(request(133) + struct.pack("<BBHI", 4, 0, 0, 1), id="shorter than its head"),
        pytest.param(request(133) + struct.pack("<BBHI", 4, 0, 0, 1 << 30), id="too long"),
    ],
)
def test_a_length_that_the_server_may_read_otherwise_ends_the_connection(sent: bytes) -> None:
    with pytest.raises(NoXProtocol):
        stream().to_server(sent)


def test_a_request_before_the_setup_ends_the_connection() -> None:
    with pytest.raises(NoXProtocol):
        FilteredStream("<", Agents(), OPCODES).to_server(request(36))


def test_a_client_of_the_other_byte_order_is_filtered_too() -> None:
    found = stream(order=">")
    body = struct.pack(">I", FOREIGN)
    assert found.to_server(request(4, body, order=">")) == request(NO_OPERATION, body, order=">")


@pytest.mark.parametrize("extension", [b"XTEST", b"RECORD", b"SECURITY", b"MIT-SHM", b"Composite"])
def test_an_extension_is_absent(extension: bytes) -> None:
    found = stream().to_server(request(98, name(extension)))
    assert found == request(98, name(b"-" * len(extension)) + b"-" * (-len(extension) % 4))
    assert stream().to_server(request(98, name(b"RENDER"))) == request(98, name(b"RENDER"))


@pytest.mark.parametrize("opcode", [128, 140, 200, 255, 120])
def test_an_opcode_that_no_extension_has_is_refused(opcode: int) -> None:
    assert stream().to_server(request(opcode, data=2)) == request(REFUSED, data=2)


def test_a_minor_opcode_without_a_rule_is_refused() -> None:
    assert stream().to_server(request(131, bytes(4), 30)) == request(REFUSED, bytes(4), 30)


def reply(sequence: int, body: bytes, data: int = 0) -> bytes:
    return struct.pack("<BBHI", 1, data, sequence, (len(body) - 24) // 4) + body


@pytest.mark.parametrize("order", ["<", ">"])
def test_in_place_of_the_pressed_keys_a_colour_is_asked_for(order: str) -> None:
    asked = request(44, order=order)
    colour = request(91, struct.pack(f"{order}II", COLORMAP, 0), order=order)
    assert stream(order=order).to_server(request(43, order=order) + asked).endswith(colour)
    # The server refuses a request of that length.
    wrong = request(44, bytes(4), order=order)
    assert stream(order=order).to_server(wrong) == wrong


def test_no_key_is_down() -> None:
    found = stream()
    found.to_server(request(43) + request(44) + request(43))
    before, after = reply(1, b"x" * 24), reply(3, b"y" * 24)
    answers = before + reply(2, b"\1" + bytes(31)) + after
    assert found.to_client(answers) == before + reply(2, bytes(32)) + after


def test_no_reply_of_another_request_counts_as_the_list_of_extensions() -> None:
    found = stream()
    found.to_server(request(99) + request(43) * 65_535 + request(99))
    other = reply(1, b"\xff" * 24, 200)
    assert found.to_client(other + reply(1, bytes(24))) == other + reply(1, bytes(24))


def test_an_error_in_place_of_a_reply_that_is_awaited_takes_its_turn() -> None:
    found = stream()
    found.to_server(request(99, bytes(4)) + request(99))
    error = struct.pack("<BBH28x", 0, 16, 1)
    listed = bytes(24) + b"\5XTEST\0\0"
    assert found.to_client(error + reply(2, listed, 1)) == error + reply(
        2, listed.replace(b"XTEST", b"-----"), 1
    )


def test_absent_extensions_are_not_listed() -> None:
    found = stream()
    found.to_server(request(99))
    listed = b"\5XTEST\6RENDER\6RECORD"
    body = bytes(24) + listed + bytes(-len(listed) % 4)
    expected = bytes(24) + b"\5-----\6RENDER\6------" + bytes(-len(listed) % 4)
    assert found.to_client(reply(1, body, 3)) == reply(1, expected, 3)


def test_the_ids_of_a_client_that_has_gone_are_those_of_others() -> None:
    agents = Agents()
    gone, stays = stream(agents), stream(agents, base=0x600000)
    assert stays.to_server(request(4, ids(OWN))) == request(4, ids(OWN))
    gone.close()
    assert stays.to_server(request(4, ids(OWN))) == request(NO_OPERATION, ids(OWN))


def test_a_property_of_another_window_is_written_only_when_its_owner_asks_for_a_selection() -> None:
    found = stream()
    change = request(18, ids(FOREIGN, 300, 31) + struct.pack("<BxxxI", 8, 4) + b"text")
    other = request(18, ids(FOREIGN, 301, 31) + struct.pack("<BxxxI", 8, 4) + b"text")
    ignored = bytes((NO_OPERATION,)) + change[1:]
    sent = struct.pack("<BBHIIIIIII", 30 | 128, 0, 0, 0, OWN, FOREIGN, 1, 31, 300, 0)[:32]
    found.to_client(sent)
    assert found.to_server(change) == ignored
    found.to_client(bytes((30,)) + sent[1:])
    assert found.to_server(change) == change
    assert found.to_server(other)[0] == NO_OPERATION


def test_a_client_that_the_server_refuses_has_no_ids() -> None:
    agents = Agents()
    found = FilteredStream("<", agents, OPCODES)
    answer = struct.pack("<BBHHH", 0, 4, 11, 0, 1) + b"full"
    assert found.to_client(answer) == answer
    assert agents.bases == set()


def test_a_reply_that_is_changed_is_awaited_to_its_end() -> None:
    found = stream()
    found.to_server(request(99))
    answer = reply(1, bytes(24) + b"\5XTEST\0\0", 1)
    assert found.to_client(answer[:35]) == b""
    assert found.to_client(answer[35:]) == answer.replace(b"XTEST", b"-----")
