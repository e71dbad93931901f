"""Proxies of requests, by variables."""

import pytest

from deskhand.desktop.mcp_client.remote.proxies import proxy_of


@pytest.mark.parametrize(
    ("environment", "proxy"),
    [
        ({}, ""),
        ({"http_proxy": "http://p:1"}, "http://p:1"),
        ({"HTTP_PROXY": " p:1 "}, "http://p:1"),
        ({"https_proxy": "http://p:1"}, ""),
        ({"all_proxy": "socks5://p:1"}, "socks5://p:1"),
        ({"http_proxy": "http://p:1", "no_proxy": "*"}, ""),
        ({"http_proxy": "http://p:1", "no_proxy": "localhost, DOCS.test"}, ""),
        ({"http_proxy": "http://p:1", "NO_PROXY": ".test"}, ""),
        ({"http_proxy": "http://p:1", "no_proxy": "test"}, ""),
        ({"http_proxy": "http://p:1", "no_proxy": ",ocs.test,.docs.test"}, "http://p:1"),
    ],
)
def test_the_proxy_of_a_request(environment: dict[str, str], proxy: str) -> None:
    assert proxy_of("http", "Docs.test", environment) == proxy
