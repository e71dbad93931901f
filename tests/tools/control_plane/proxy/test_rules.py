import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deskhand.tools.control_plane.errors import PathNotServed, PathRefused
from deskhand.tools.control_plane.proxy.rules import (
    PREFIXES,
    ProxyRules,
    has_body,
    query,
    rules_for,
    to_client,
    to_desktop,
)

MOUNT = "/api/v0/desktops/"


@pytest.mark.parametrize("prefix", PREFIXES)
def test_each_prefix_of_the_list_passes_alone_and_with_more_behind_it(prefix: str) -> None:
    assert rules_for(f"{MOUNT}d1/{prefix}".encode()) == ProxyRules("d1", f"/api/v0/{prefix}")
    longer = rules_for(f"{MOUNT}d1/{prefix}/a-b/C_3.~".encode())
    assert longer == ProxyRules("d1", f"/api/v0/{prefix}/a-b/C_3.~")


def test_a_base_path_before_the_mount_does_not_matter() -> None:
    assert rules_for(b"/behind/a/proxy/api/v0/desktops/d1/desktop").desktop_id == "d1"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("d1/desktop/../tokens", "the path has a dot part (. or ..)"),
        ("d1/../../chats", "the path has a dot part (. or ..)"),
        ("d1/./desktop", "the path has a dot part (. or ..)"),
        ("../desktop", "the path has a dot part (. or ..)"),
        ("d1/desktop/%2e%2e/tokens", "the path has an encoded character"),
        ("d1/desktop/%2E./x", "the path has an encoded character"),
        ("d1/desktop%2fvnc", "the path has an encoded character"),
        ("d1/desktop%2Fvnc", "the path has an encoded character"),
        ("d1/desktop/%252f", "the path has an encoded character"),
        ("d1/desktop%5cvnc", "the path has an encoded character"),
        ("d1/desktop/%00", "the path has an encoded character"),
        ("d1%2fdesktop/x", "the path has an encoded character"),
        ("d1//desktop", "the path has an empty part (//)"),
        ("d1/desktop//vnc", "the path has an empty part (//)"),
        ("d1/desktop/", "the path has an empty part (//)"),
        ("/d1/desktop", "the path has an empty part (//)"),
        ("", "the path has an empty part (//)"),
        (
            "d1/desktop\\vnc",
            "the path has a character other than letters, digits, -, ., _ and ~",
        ),
        (
            "d1/desktop;a=b",
            "the path has a character other than letters, digits, -, ., _ and ~",
        ),
        (
            "d1/desktop/a\n",
            "the path has a character other than letters, digits, -, ., _ and ~",
        ),
    ],
)
def test_a_path_that_could_be_read_in_two_ways_is_refused(path: str, reason: str) -> None:
    with pytest.raises(PathRefused) as refused:
        rules_for(f"{MOUNT}{path}".encode())
    assert str(refused.value) == reason


def test_an_encoded_mount_is_refused() -> None:
    with pytest.raises(PathRefused, match="encoded"):
        rules_for(b"/api%2fv0/desktops/d1/desktop")


@pytest.mark.parametrize("rest", ["tokens", "chats", "docs", "DESKTOP", "desktop.", "mcp2"])
def test_what_is_not_on_the_list_does_not_pass(rest: str) -> None:
    with pytest.raises(PathNotServed) as refused:
        rules_for(f"{MOUNT}d1/{rest}".encode())
    assert str(refused.value).startswith(f'"{rest}" does not pass to a desktop; these do: context-')


def test_a_desktop_alone_is_not_a_path_on_it() -> None:
    with pytest.raises(PathNotServed):
        rules_for(f"{MOUNT}d1".encode())


@given(st.binary(max_size=60))
@example(b"d1/desktop/x")
@example(b"d1/read-file")
def test_whatever_passes_is_plain_and_below_a_listed_prefix(tail: bytes) -> None:
    try:
        rules = rules_for(MOUNT.encode() + tail)
    except (PathRefused, PathNotServed):
        return
    parts = rules.path.split("/")
    assert parts[:3] == ["", "api", "v0"]
    assert parts[3] in PREFIXES
    assert "" not in parts[3:]
    assert not {".", ".."} & set(parts)
    assert not set("%\\?#;") & set(rules.path)


def test_the_query_passes_without_credentials() -> None:
    assert query(b"a=1&ticket=x&b=%2f&TOKEN=y&access_token=z&c") == "a=1&b=%2f&c"
    assert query(b"") == ""


def test_the_desktop_gets_the_address_under_which_the_caller_knows_it() -> None:
    assert to_desktop([], name="admin", base="ws://plane")["deskhand-base"] == "ws://plane"


def test_the_name_of_a_person_arrives_in_any_script() -> None:
    assert (
        to_desktop([], name="x", person="Zo\u00eb & Co")["deskhand-person"] == "Zo%C3%AB%20%26%20Co"
    )
    assert "deskhand-person" not in to_desktop([(b"deskhand-person", b"forged")], name="x")


def test_credentials_and_claims_of_the_client_do_not_reach_the_desktop() -> None:
    given = [
        (b"Host", b"plane"),
        (b"Cookie", b"deskhand_1=secret"),
        (b"Authorization", b"Bearer plane"),
        (b"Deskhand-Chat-Id", b"forged"),
        (b"deskhand-caller", b"forged"),
        (b"deskhand-base", b"forged"),
        (b"Coder-Chat-Id", b"forged"),
        (b"Forwarded", b"for=1"),
        (b"X-Forwarded-For", b"1.1.1.1"),
        (b"X-Forwarded-Host", b"evil"),
        (b"X-Real-IP", b"1.1.1.1"),
        (b"Origin", b"http://evil"),
        (b"Referer", b"http://evil"),
        (b"Sec-Fetch-Site", b"cross-site"),
        (b"Sec-WebSocket-Key", b"k"),
        (b"Connection", b"keep-alive, X-Mine"),
        (b"X-Mine", b"1"),
        (b"Keep-Alive", b"5"),
        (b"TE", b"trailers"),
        (b"Transfer-Encoding", b"chunked"),
        (b"Upgrade", b"h2c"),
        (b"Proxy-Authorization", b"Basic x"),
        (b"Expect", b"100-continue"),
        (b"Content-Type", b"application/json"),
        (b"Content-Length", b"12"),
        (b"Accept", b"image/png"),
        (b"If-None-Match", b'"1"'),
    ]
    assert to_desktop(given, name="admin") == {
        "content-type": "application/json",
        "content-length": "12",
        "accept": "image/png",
        "if-none-match": '"1"',
        "accept-encoding": "identity",
        "deskhand-role": "admin",
        "deskhand-caller": "admin",
    }


def test_a_header_given_twice_passes_as_one() -> None:
    passed = to_desktop([(b"accept", b"a/b"), (b"Accept", b"c/d")], name="n")
    assert passed["accept"] == "a/b, c/d"


def test_the_clients_wish_for_compression_passes() -> None:
    assert to_desktop([(b"Accept-Encoding", b"gzip")], name="n")["accept-encoding"] == "gzip"


def test_a_name_cannot_break_out_of_its_header() -> None:
    assert to_desktop([], name="a\r\nX: y\u00e9")["deskhand-caller"] == "aX: y"


def test_a_desktop_cannot_affect_the_origin_of_the_pages() -> None:
    given = [
        (b"Content-Type", b"image/png"),
        (b"ETag", b'"1"'),
        (b"Set-Cookie", b"deskhand_1=evil"),
        (b"Location", b"http://evil"),
        (b"Access-Control-Allow-Origin", b"*"),
        (b"Clear-Site-Data", b"*"),
        (b"WWW-Authenticate", b"Basic"),
        (b"Content-Security-Policy", b"default-src *"),
        (b"Service-Worker-Allowed", b"/"),
        (b"Refresh", b"0;url=http://evil"),
        (b"Link", b"</evil>; rel=preload"),
        (b"Server", b"uvicorn"),
        (b"Date", b"now"),
        (b"Transfer-Encoding", b"chunked"),
        (b"Retry-After", b"1"),
    ]
    assert to_client(given) == [
        ("content-type", "image/png"),
        ("etag", '"1"'),
        ("retry-after", "1"),
    ]


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([], False),
        ([(b"content-length", b"0")], False),
        ([(b"Content-Length", b"5")], True),
        ([(b"Transfer-Encoding", b"chunked")], True),
        ([(b"accept", b"*/*")], False),
    ],
)
def test_a_body_is_announced_by_its_headers(
    headers: list[tuple[bytes, bytes]], expected: bool
) -> None:
    assert has_body(headers) is expected
