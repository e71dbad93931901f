import pytest

from deskhand.tools.decoder.messages import (
    VIDEO,
    DecodeReply,
    DecodeRequest,
    read_reply,
    read_request,
    reply_bytes,
    request_bytes,
)


def test_a_request_is_read_as_it_was_written() -> None:
    request = DecodeRequest("cut", {"stretches": [[0, 0.5, 1.5]]}, VIDEO, "/data/scratch")
    assert read_request(request_bytes(request)) == request


@pytest.mark.parametrize("data", [b"", b"bytes\nwith\nlines", bytes(range(256))])
def test_a_reply_is_read_with_its_bytes(data: bytes) -> None:
    for reply in (DecodeReply([1, 2], data=data), DecodeReply(None, "system", "full", 28, data)):
        assert read_reply(reply_bytes(reply)) == reply


def test_a_reply_that_is_cut_is_none() -> None:
    whole = reply_bytes(DecodeReply({"a": [1]}, "unreadable", "no video"))
    for end in range(len(whole)):
        assert read_reply(whole[:end]) is None


@pytest.mark.parametrize(
    "forged",
    [
        b"\n",
        b"1\n",
        b"[]\n",
        b"{}\n",
        b"\xff\n",
        b"[" * 100_000 + b"\n",
        b'{"value": 1, "error": 2, "detail": "", "number": 0}\n',
        b'{"value": 1, "error": "", "detail": "", "number": "many"}\n',
        b'{"error": "", "detail": "", "number": 0}\n',
    ],
)
def test_a_forged_reply_is_none(forged: bytes) -> None:
    assert read_reply(forged) is None
