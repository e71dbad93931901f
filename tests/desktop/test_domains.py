import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.domains import belongs, host_of, is_domain, is_domain_entry


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://mail.example/login?next=https://evil.test", "mail.example"),
        ("https://MAIL.example:8080/", "mail.example"),
        ("http://MAIL.example:8080/", "http://mail.example"),
        ("https://mail.example./", "mail.example"),
        ("http://127.0.0.1:5000/", "http://127.0.0.1"),
        ("https://mail.example@evil.test/", "evil.test"),
        ("https://xn--mller-kva.example/", "xn--mller-kva.example"),
        ("file:///home/mail.example", ""),
        ("blob:https://mail.example/1", ""),
        ("data:text/html,mail.example", ""),
        ("about:srcdoc", ""),
        ("chrome://new-tab-page/", ""),
        ("https:///", ""),
        ("https://[mail.example/", ""),
        ("https://[2001:db8::1]:443/", "[2001:db8::1]"),
        ("http://[::1]/", "http://[::1]"),
        ("https://a b/", ""),
        ("", ""),
    ],
)
def test_a_host_is_told_of_pages_that_came_from_one(address: str, host: str) -> None:
    assert host_of(address) == host


@given(st.text())
def test_any_address_has_a_host_or_none(address: str) -> None:
    host = host_of(address)
    assert host == "" or "[" in host or is_domain_entry(host)


@pytest.mark.parametrize(
    ("host", "domains", "inside"),
    [
        ("mail.example", ["mail.example"], True),
        ("www.mail.example", ["bank.example", "mail.example"], True),
        ("evilmail.example", ["mail.example"], False),
        ("example", ["mail.example"], False),
        ("mail.example.evil.test", ["mail.example"], False),
        ("mail.example", [], False),
        ("", ["mail.example"], False),
        # Without encryption, the name of a page can be imitated.
        ("http://mail.example", ["mail.example"], False),
        ("http://mail.example", ["http://mail.example"], True),
        ("http://www.mail.example", ["bank.example", "http://mail.example"], True),
        ("mail.example", ["http://mail.example"], True),
        ("http://", ["http://"], False),
        ("[2001:db8::1]", ["mail.example"], False),
    ],
)
def test_a_host_belongs_to_its_own_domain_and_those_above(
    host: str, domains: list[str], inside: bool
) -> None:
    assert belongs(host, domains) is inside


@pytest.mark.parametrize(
    ("text", "fine"),
    [
        ("mail.example", True),
        ("localhost", True),
        ("my_host-2.example", True),
        ("", False),
        ("Mail.example", False),
        ("müller.example", False),
        ("https://mail.example", False),
        ("mail.example/login", False),
        (".example", False),
        ("mail..example", False),
        ("-mail.example", False),
        ("*.example", False),
        ("a." * 127, False),
        ("a" * 254, False),
    ],
)
def test_a_domain_is_written_as_pages_have_it(text: str, fine: bool) -> None:
    assert is_domain(text) is fine


def test_an_entry_may_admit_unencrypted_pages() -> None:
    assert is_domain_entry("mail.example")
    assert is_domain_entry("http://mail.example")
    assert not is_domain_entry("https://mail.example")
    assert not is_domain_entry("http://http://mail.example")
