import pytest

from deskhand.desktop.client.http1.request import (
    LAST_CHUNK,
    ClientRequest,
    RequestHeads,
    framed,
    json_body,
    target,
)

HEADS = RequestHeads("localhost:80", "/desk", {"Authorization": "Bearer t"})


def test_a_request_has_the_constant_fields_and_its_own() -> None:
    assert HEADS.encoded(ClientRequest("GET", "/a", {"Deskhand-Instance": "x"})) == (
        b"GET /desk/a HTTP/1.1\r\nHost: localhost:80\r\nAuthorization: Bearer t\r\n"
        b"Deskhand-Instance: x\r\n\r\n"
    )


@pytest.mark.parametrize(
    ("method", "content", "end"),
    [
        ("POST", None, b"\r\nContent-Length: 0\r\n\r\n"),
        ("POST", b"abc", b"\r\nContent-Length: 3\r\n\r\nabc"),
        ("GET", b"", b"\r\nContent-Length: 0\r\n\r\n"),
    ],
)
def test_a_request_names_the_length_of_its_content(
    method: str, content: bytes | None, end: bytes
) -> None:
    assert HEADS.encoded(ClientRequest(method, "/a", {}, content)).endswith(end)


@pytest.mark.parametrize(
    ("fields", "is_chunked", "end"),
    [
        ({}, True, b"\r\nTransfer-Encoding: chunked\r\n\r\n"),
        ({"content-length": "7"}, False, b"\r\ncontent-length: 7\r\n\r\n"),
    ],
)
def test_content_that_follows_is_chunked_unless_its_length_is_known(
    fields: dict[str, str], is_chunked: bool, end: bytes
) -> None:
    request = ClientRequest("POST", "/a", fields, has_upload=True)
    assert request.is_chunked == is_chunked
    assert HEADS.encoded(request).endswith(end)


def test_chunks_name_their_length_in_hexadecimal() -> None:
    assert framed(b"x" * 26) == b"1a\r\n" + b"x" * 26 + b"\r\n"
    assert LAST_CHUNK == b"0\r\n\r\n"


def test_fields_may_be_latin_1() -> None:
    assert b"A: \xe9\r\n" in HEADS.encoded(ClientRequest("GET", "/", {"A": "é"}))


@pytest.mark.parametrize(("name", "value"), [("A", "1\r\nB: 2"), ("A\n", "1"), ("A", "\0")])
def test_a_field_cannot_begin_another(name: str, value: str) -> None:
    with pytest.raises(ValueError, match="the end of a line"):
        HEADS.encoded(ClientRequest("GET", "/", {name: value}))


@pytest.mark.parametrize(
    ("path", "params", "expected"),
    [
        ("/api/v0/desktop", None, "/api/v0/desktop"),
        ("/a", {"b": "c d", "e": "&"}, "/a?b=c+d&e=%26"),
        ("/a?b=c", {"d": "e"}, "/a?b=c&d=e"),
        ("/a%2Fb", {}, "/a%2Fb"),
        ("/a b/é\r\n", None, "/a%20b/%C3%A9%0D%0A"),
        ("/a\n", None, "/a%0A"),
    ],
)
def test_a_target_is_a_quoted_path_with_parameters(
    path: str, params: dict[str, str] | None, expected: str
) -> None:
    assert target(path, params) == expected


def test_a_body_is_json_without_spaces() -> None:
    assert json_body({"a": [1, "é"]}) == '{"a":[1,"é"]}'.encode()


def test_numbers_that_json_does_not_have_are_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_body({"a": float("inf")})
