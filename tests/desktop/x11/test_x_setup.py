import pytest

from deskhand.desktop.x11.x_setup import (
    COOKIE_NAME,
    HEAD_BYTES,
    presented,
    setup_bytes,
    with_cookie,
)

LITTLE = bytes.fromhex("6c00 0b00 0000 0000 0000 0000")
BIG = bytes.fromhex("4200 000b 0000 0012 0010 0000")
COOKIE = b"0123456789abcdef"


def test_the_length_of_a_request_includes_padding() -> None:
    assert setup_bytes(LITTLE) == HEAD_BYTES
    assert setup_bytes(BIG) == HEAD_BYTES + 20 + 16


@pytest.mark.parametrize(
    ("head", "fixed"),
    [
        (LITTLE, bytes.fromhex("6c00 0b00 0000 1200 1000 0000")),
        (BIG, bytes.fromhex("4200 000b 0000 0012 0010 0000")),
    ],
)
def test_a_request_gets_the_cookie_in_its_own_byte_order(head: bytes, fixed: bytes) -> None:
    assert with_cookie(head, COOKIE) == fixed + COOKIE_NAME + b"\0\0" + COOKIE
    assert len(with_cookie(head, COOKIE)) == setup_bytes(fixed)


@pytest.mark.parametrize("head", [LITTLE, BIG])
def test_the_presented_cookie_is_found(head: bytes) -> None:
    request = with_cookie(head, COOKIE)
    assert presented(request[:HEAD_BYTES], request[HEAD_BYTES:]) == COOKIE
    assert presented(LITTLE, b"") == b""


@pytest.mark.parametrize("head", [b"", b"l", b"x" * HEAD_BYTES, LITTLE + b"\0"])
def test_what_no_client_sends_is_refused(head: bytes) -> None:
    with pytest.raises(ValueError, match="no X client"):
        setup_bytes(head)
    with pytest.raises(ValueError, match="no X client"):
        with_cookie(head, COOKIE)
