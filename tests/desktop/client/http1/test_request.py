import pytest

from deskhand.desktop.client.http1.request import RequestHeads, WholeRequest, json_body, target

HEADS = RequestHeads("localhost:80", "/desk", {"Authorization": "Bearer t"})


def test_a_request_has_the_constant_fields_and_its_own() -> None:
    assert HEADS.encoded(WholeRequest("GET", "/a", {"Deskhand-Instance": "x"})) == (
        b"GET /desk/a HTTP/1.1\r\nHost: localhost:80\r\nAccept: */*\r\nAuthorization: Bearer t\r\n"
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
    assert HEADS.encoded(WholeRequest(method, "/a", {}, content)).endswith(end)


@pytest.mark.parametrize(("name", "value"), [("A", "1\r\nB: 2"), ("A\n", "1"), ("A", "\0")])
def test_a_field_cannot_begin_another(name: str, value: str) -> None:
    with pytest.raises(ValueError, match="the end of a line"):
        HEADS.encoded(WholeRequest("GET", "/", {name: value}))


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
