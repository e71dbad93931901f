import pytest

from deskhand.desktop.client.http1.response import (
    BrokenResponse,
    ResponseHead,
    ResponseReader,
)

SIZED = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: x\r\n\r\nhello"
CHUNKED = (
    b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"
)
EMPTY = b"HTTP/1.1 204 No Content\r\nServer: x\r\n\r\n"
TRAILED = CHUNKED[:-2] + b"X-Late: 1\r\n\r\n"
FIRST = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
CLOSING = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno"

ANSWERS = {
    SIZED: (ResponseHead(200, ((b"content-length", b"5"), (b"etag", b"x")), True), b"hello"),
    CHUNKED: (ResponseHead(201, ((b"transfer-encoding", b"chunked"),), True), b"hello"),
    TRAILED: (ResponseHead(201, ((b"transfer-encoding", b"chunked"),), True), b"hello"),
    EMPTY: (ResponseHead(204, ((b"server", b"x"),), True), b""),
    FIRST + EMPTY: (ResponseHead(204, ((b"server", b"x"),), True), b""),
    CLOSING: (
        ResponseHead(200, ((b"connection", b"close"), (b"content-length", b"2")), False),
        b"no",
    ),
}


@pytest.mark.parametrize("data", ANSWERS)
def test_an_answer_is_read_at_once(data: bytes) -> None:
    reader = ResponseReader()
    reader.feed(data)
    assert reader.is_complete
    assert (reader.head, reader.take()) == ANSWERS[data]


@pytest.mark.parametrize("data", ANSWERS)
def test_an_answer_is_read_a_byte_at_a_time(data: bytes) -> None:
    reader = ResponseReader()
    assert not reader.has_begun
    content = b""
    for at in range(len(data)):
        assert not reader.is_complete
        reader.feed(data[at : at + 1])
        assert reader.has_begun
        # Content is taken while it arrives.
        assert reader.waiting in (0, 1)
        content += reader.take()
        assert reader.waiting == 0
    assert reader.is_complete
    assert (reader.head, content) == ANSWERS[data]


def test_the_answer_to_head_ends_with_its_fields() -> None:
    reader = ResponseReader(has_content=False)
    reader.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
    assert reader.is_complete
    assert reader.take() == b""


def test_an_answer_without_a_length_ends_with_the_connection() -> None:
    reader = ResponseReader()
    reader.feed(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhel")
    reader.feed(b"lo")
    assert not reader.is_complete
    reader.end()
    assert reader.is_complete
    assert reader.take() == b"hello"


@pytest.mark.parametrize("data", [b"", b"HTTP/1.1 200 OK\r\nA", SIZED[:-1], CHUNKED[:-3], FIRST])
def test_an_answer_that_breaks_off_is_not_complete(data: bytes) -> None:
    reader = ResponseReader()
    if data:
        reader.feed(data)
    reader.end()
    assert not reader.is_complete


@pytest.mark.parametrize(
    "data", [b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n"]
)
def test_what_is_no_answer_is_refused(data: bytes) -> None:
    with pytest.raises(BrokenResponse, match="no HTTP"):
        ResponseReader().feed(data)


def test_more_than_an_answer_is_refused() -> None:
    reader = ResponseReader()
    reader.feed(EMPTY)
    with pytest.raises(BrokenResponse, match="more than its answer"):
        reader.feed(b"x")
