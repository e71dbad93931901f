import pytest

from deskhand.vncbridge.auth.request_headers import read_headers

HOST = (b"host", b"localhost")


def test_a_request_without_headers_has_no_values() -> None:
    found = read_headers([])
    values = (found.host, found.origin, found.sec_fetch_site, found.content_type)
    assert values == (None,) * 4
    assert (found.authorization, found.cookie, found.chat) == (None,) * 3
    assert (found.content_length, found.has_body) == ("0", False)


def test_each_header_is_read_once() -> None:
    found = read_headers(
        [
            HOST,
            (b"origin", b"http://localhost"),
            (b"sec-fetch-site", b"same-origin"),
            (b"content-type", b"application/json"),
            (b"content-length", b"7"),
            (b"authorization", b"Bearer dh_1"),
            (b"cookie", b"a=\xe9"),
            (b"user-agent", b"other"),
            (b"deskhand-chat-id", b"c1"),
        ]
    )
    assert (found.host, found.origin) == ("localhost", "http://localhost")
    assert (found.sec_fetch_site, found.content_type) == ("same-origin", "application/json")
    assert (found.content_length, found.has_body) == ("7", True)
    assert found.authorization == "Bearer dh_1"
    assert (found.cookie, found.chat) == ("a=é", "c1")


def test_the_first_header_of_a_name_counts() -> None:
    found = read_headers([(b"authorization", b"Bearer a"), (b"authorization", b"Bearer b")])
    assert found.authorization == "Bearer a"


def test_of_several_hosts_none_counts_even_if_they_are_equal() -> None:
    assert read_headers([HOST, HOST]).host is None


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([(b"content-length", b"0")], False),
        ([(b"content-length", b"")], False),
        ([(b"content-length", b"00")], True),
        ([(b"transfer-encoding", b"chunked")], True),
        ([(b"transfer-encoding", b""), (b"content-length", b"0")], True),
    ],
)
def test_a_body_has_a_length_or_a_coding(
    headers: list[tuple[bytes, bytes]], expected: bool
) -> None:
    assert read_headers(headers).has_body is expected


def test_our_own_name_of_the_chat_precedes_the_others_even_if_it_is_empty() -> None:
    other = (b"coder-chat-id", b"c2")
    assert read_headers([other]).chat == "c2"
    assert read_headers([other, (b"deskhand-chat-id", b"c1")]).chat == "c1"
    assert read_headers([other, (b"deskhand-chat-id", b"")]).chat == ""
