import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.tools.agents.approvals.hosts import (
    hosts_in,
    is_loopback,
    navigated_host,
    started_host,
    typed_hosts,
    within,
)


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("see https://A.example/x and http://u@b:1/", ("a.example", "b")),
        ("curl 'http://a.example';ls", ("a.example",)),
        ("(https://a.example)", ("a.example",)),
        ("https://a.example;x@b.example/", ("b.example",)),
        ("https://a.example/@b.example", ("a.example",)),
        ("https:/\\a.example", ("a.example",)),
        ("https://0x7f.1/", ("127.0.0.1",)),
        ("https://[", ("?",)),
        ("http: and https:", ()),
    ],
)
def test_hosts_are_those_of_urls(text: str, hosts: tuple[str, ...]) -> None:
    assert hosts_in(text) == hosts


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("intranet", "intranet"),
        ("a.example:8080/x", "a.example"),
        (" https:a.example ", "a.example"),
        ("view-source:view-source:https://a.example", "a.example"),
        ("blob:https://a.example/1", "a.example"),
        ("user:word@a.example", "a.example"),
        ("Back", ""),
        ("/home/a.example", ""),
        ("data:text/html,a.example", ""),
        ("a b", ""),
        ("", ""),
    ],
)
def test_a_browser_navigates_to_a_host(address: str, host: str) -> None:
    assert navigated_host(address) == host


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("a.example\nb.example/x\n", ("a.example", "b.example")),
        ("a.example or not", ("a.example",)),
        ("localhost", ("localhost",)),
        ("[::1]", ("[::1]",)),
        ("1.2.3.4", ("1.2.3.4",)),
        ("1。2。3。4", ("1.2.3.4",)),
        ("intranet/", ("intranet",)),
        ("intranet:80", ("intranet",)),
        ("https:intranet", ("intranet",)),
        ("intranet", ()),
        ("3.5", ()),
        ("what? and: why", ()),
        ("", ()),
    ],
)
def test_an_address_bar_opens_what_looks_like_an_address(text: str, hosts: tuple[str, ...]) -> None:
    assert typed_hosts(text) == hosts


@pytest.mark.parametrize(
    ("argument", "host"),
    [
        ("a.example", "a.example"),
        ("a.example/report.html", "a.example"),
        ("https://a.example/report.html", "a.example"),
        ("report.HTML", ""),
        ("./a.example", ""),
        ("~/a.example", ""),
        ("--app=a.example", ""),
    ],
)
def test_a_browser_is_started_with_a_host_or_a_file(argument: str, host: str) -> None:
    assert started_host(argument) == host


def test_this_machine_is_known() -> None:
    assert is_loopback("localhost")
    assert is_loopback("a.localhost")
    assert is_loopback("127.0.0.9")
    assert is_loopback("[::1]")
    assert not is_loopback("example.com")
    assert not is_loopback("10.0.0.1")


def test_a_domain_contains_itself_and_its_subdomains() -> None:
    assert within("a.example", ["b.example", "a.example"])
    assert within("x.a.example", ["a.example"])
    assert not within("xa.example", ["a.example"])
    assert not within("?", ["a.example"])


@given(st.text())
def test_any_text_has_hosts(text: str) -> None:
    hosts_in(text), typed_hosts(text), navigated_host(text), started_host(text)
