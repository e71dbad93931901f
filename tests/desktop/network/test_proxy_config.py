import re

from deskhand.desktop.network.egress import Grant
from deskhand.desktop.network.proxy_config import (
    bypassed,
    configuration,
    filter_file,
    proxy_environment,
    refused_host,
)


def allowed(host: str, *names: str) -> bool:
    return any(re.search(line, host) for line in filter_file(names).splitlines())


def test_a_name_stands_for_itself_and_a_star_for_all_below() -> None:
    names = ("docs.example.com", "*.example.org")
    for host in ("docs.example.com", "a.example.org", "a.b.example.org"):
        assert allowed(host, *names), host
    for host in (
        *("example.org", "docsxexample.com", "a.docs.example.com", "docs.example.com.evil.test"),
        *("evil-example.org", "a.example.org.evil.test", ""),
    ):
        assert not allowed(host, *names), host


def test_the_proxy_listens_inside_only_and_refuses_what_is_not_listed() -> None:
    lines = configuration("/filter", "/page").splitlines()
    assert {"Listen 127.0.0.1", "Port 3128", "FilterDefaultDeny Yes"} <= set(lines)
    assert 'Filter "/filter"' in lines
    assert 'ErrorFile 403 "/page"' in lines


def test_commands_find_the_proxy_and_reach_grants_without_it() -> None:
    environment = proxy_environment([Grant("10.0.0.7", 80), Grant("127.0.0.1", 8000)])
    assert environment["http_proxy"] == environment["HTTPS_PROXY"] == "http://127.0.0.1:3128"
    assert environment["no_proxy"] == "localhost,127.0.0.1,::1,10.0.0.7"
    assert bypassed([]) == ("localhost", "127.0.0.1", "::1")


def test_a_refused_host_is_read_from_the_log() -> None:
    line = 'NOTICE    Nov 22 06:14:08.123 [12]: Proxying refused on filtered domain "evil.test"'
    assert refused_host(line) == "evil.test"
    assert refused_host("NOTICE    Nov 22 06:14:08.123 [12]: Starting main loop.") is None
