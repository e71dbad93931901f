import pytest

from deskhand.desktop.dialects.cdp.addresses import base_of, listing, version

PROXIED = "wss://plane.example/api/v0/desktops/d1/desktop"


@pytest.mark.parametrize(
    ("query", "proxied", "scheme", "base"),
    [
        ("127.0.0.1:9222", PROXIED, "http", "ws://127.0.0.1:9222"),
        ("localhost", "", "http", "ws://localhost"),
        ("[::1]:9222", "", "http", "ws://[::1]:9222"),
        ("evil.example:80", PROXIED, "http", PROXIED + "/as/cdp"),
        ("127.0.0.1:9222/x", "", "https", "wss://desk:1/api/v0/desktop/as/cdp"),
        ("", "", "http", "ws://desk:1/api/v0/desktop/as/cdp"),
    ],
)
def test_addresses_are_those_of_the_caller(
    query: str, proxied: str, scheme: str, base: str
) -> None:
    assert base_of(query, proxied, scheme, "desk:1") == base


def test_the_version_has_the_names_of_the_json() -> None:
    answer = {"product": "Chrome/1", "protocolVersion": "1.3", "userAgent": "u", "jsVersion": "9"}
    assert version(answer, "ws://b", "i1") == {
        "Browser": "Chrome/1",
        "Protocol-Version": "1.3",
        "User-Agent": "u",
        "V8-Version": "9",
        "WebKit-Version": "",
        "webSocketDebuggerUrl": "ws://b/devtools/browser/i1",
    }


def test_pages_are_listed_and_the_browser_is_not() -> None:
    targets = [
        {"targetId": "t1", "type": "page", "title": "A", "url": "https://a/"},
        {"targetId": "t2", "type": "browser"},
        {"targetId": "t3", "type": "worker"},
    ]
    assert listing(targets, "ws://b") == [
        {
            "id": "t1",
            "type": "page",
            "title": "A",
            "url": "https://a/",
            "webSocketDebuggerUrl": "ws://b/devtools/page/t1",
        },
        {
            "id": "t3",
            "type": "worker",
            "title": "",
            "url": "",
            "webSocketDebuggerUrl": "ws://b/devtools/page/t3",
        },
    ]
