import pytest

from deskhand.desktop.client.http1.response import BrokenResponse, ResponseReader, WholeResponse

SIZED = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: x\r\n\r\nhello"
CHUNKED = (
    b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"
)
EMPTY = b"HTTP/1.1 204 No Content\r\nServer: x\r\n\r\n"
FIRST = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
CLOSING = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno"

ANSWERS = {
    SIZED: WholeResponse(200, ((b"content-length", b"5"), (b"etag", b"x")), b"hello", True),
    CHUNKED: WholeResponse(201, ((b"transfer-encoding", b"chunked"),), b"hello", True),
    EMPTY: WholeResponse(204, ((b"server", b"x"),), b"", True),
    FIRST + EMPTY: WholeResponse(204, ((b"server", b"x"),), b"", True),
    CLOSING: WholeResponse(
        200, ((b"connection", b"close"), (b"content-length", b"2")), b"no", False
    ),
}


@pytest.mark.parametrize("data", ANSWERS)
def test_an_answer_is_read_at_once(data: bytes) -> None:
    assert ResponseReader().feed(data) == ANSWERS[data]


@pytest.mark.parametrize("data", ANSWERS)
def test_an_answer_is_read_a_byte_at_a_time(data: bytes) -> None:
    reader = ResponseReader()
    assert not reader.has_begun
    found = [reader.feed(data[at : at + 1]) for at in range(len(data))]
    assert found == [*[None] * (len(data) - 1), ANSWERS[data]]
    assert reader.has_begun


def test_an_answer_without_a_length_ends_with_the_connection() -> None:
    reader = ResponseReader()
    assert reader.feed(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhel") is None
    assert reader.feed(b"lo") is None
    assert reader.end() == WholeResponse(200, ((b"connection", b"close"),), b"hello", False)


@pytest.mark.parametrize("data", [b"", b"HTTP/1.1 200 OK\r\nA", SIZED[:-1], CHUNKED[:-3], FIRST])
def test_an_answer_that_breaks_off_is_none(data: bytes) -> None:
    reader = ResponseReader()
    if data:
        assert reader.feed(data) is None
    assert reader.end() is None


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
