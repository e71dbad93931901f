from dataclasses import replace

import pytest

from deskhand.desktop.network.egress import (
    Egress,
    EgressPolicy,
    EgressRequest,
    Grant,
    from_json,
    grant_for,
    narrowed,
    parse_egress,
    parse_grant,
    parse_name,
    ports_of,
)
from deskhand.desktop.network.errors import EgressWidened, InvalidEgress

GRANTED = (Grant("127.0.0.1", 8000),)
LIST = Egress("list", ("docs.example.com", "*.example.org"), GRANTED)


def test_every_part_is_passed_to_the_service_as_an_option() -> None:
    assert Egress().options == ("--egress", "open")
    assert Egress("internet", required=False).options == (
        *("--egress", "internet", "--egress-optional"),
    )
    assert LIST.options == (
        *("--egress", "list", "--egress-allow", "docs.example.com"),
        *("--egress-allow", "*.example.org", "--egress-grant", "127.0.0.1:8000"),
    )


def test_an_egress_is_stored_and_read_again() -> None:
    for egress in (LIST, Egress(), Egress("internet", required=False)):
        assert from_json(egress.to_json()) == egress


@pytest.mark.parametrize("name", ["", "*", "*.", "a b", "http://a.example", "a..b", "*.*.b"])
def test_a_list_has_host_names_only(name: str) -> None:
    with pytest.raises(InvalidEgress, match="is no name"):
        parse_name(name)


def test_names_are_compared_in_lower_case() -> None:
    assert parse_name(" *.Example.ORG ") == "*.example.org"


def test_grants_name_an_address_of_this_machine_and_a_port() -> None:
    assert parse_grant("127.0.0.1:8000") == Grant("127.0.0.1", 8000)
    assert parse_grant("localhost:1").addresses == ("127.0.0.1", "::1")
    assert parse_grant("10.1.2.3:65535").addresses == ("10.1.2.3",)
    assert str(parse_grant("[::1]:80")) == "[::1]:80"


@pytest.mark.parametrize(
    "text",
    [
        *("", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:-1", "a.b:1", ":1"),
        *("0.0.0.0:80", "224.0.0.1:80", "255.255.255.255:80", f"127.0.0.1:{'1' * 5000}"),
    ],
)
def test_a_grant_without_an_address_or_a_port_is_refused(text: str) -> None:
    with pytest.raises(InvalidEgress, match="is no grant"):
        parse_grant(text)


def test_an_unknown_mode_and_a_list_for_another_mode_are_refused() -> None:
    with pytest.raises(InvalidEgress, match="'all' is none of open, internet, list, none"):
        parse_egress("all")
    with pytest.raises(InvalidEgress, match="for the mode list, not internet"):
        parse_egress("internet", ["a.example"])


@pytest.mark.parametrize(
    ("parent", "mode"),
    [
        *(("open", mode) for mode in ("open", "internet", "none")),
        *(("internet", mode) for mode in ("internet", "none")),
        ("none", "none"),
    ],
)
def test_a_child_may_have_as_much_as_its_parent_or_less(parent: str, mode: str) -> None:
    request = EgressRequest(parse_egress(mode).mode)
    found = narrowed(parse_egress(parent, (), ["127.0.0.1:8000"]), request)
    assert found == Egress(request.mode or "open", (), GRANTED)


@pytest.mark.parametrize(
    ("parent", "mode"),
    [("internet", "open"), ("none", "open"), ("none", "internet"), ("list", "internet")],
)
def test_a_child_may_not_have_more_than_its_parent(parent: str, mode: str) -> None:
    above = LIST if parent == "list" else parse_egress(parent)
    with pytest.raises(EgressWidened, match=f"this chat has {parent}.*; a child cannot have more"):
        narrowed(above, EgressRequest(parse_egress(mode).mode))


def test_a_list_may_be_shortened_and_made_narrower() -> None:
    for names in (("docs.example.com",), ("a.example.org", "*.b.example.org"), ("*.example.org",)):
        assert narrowed(LIST, EgressRequest(None, names)) == Egress("list", names, GRANTED)


@pytest.mark.parametrize(
    "name", ["example.org", "*.org", "xexample.org", "a.docs.example.com", "other.example"]
)
def test_a_list_may_not_gain_a_name(name: str) -> None:
    with pytest.raises(EgressWidened):
        narrowed(LIST, EgressRequest("list", (name,)))


def test_a_list_needs_names_and_nothing_that_is_none_may_list() -> None:
    with pytest.raises(InvalidEgress, match="needs allow"):
        narrowed(Egress(), EgressRequest("list"))
    with pytest.raises(EgressWidened):
        narrowed(Egress("none"), EgressRequest("list", ("a.example",)))


INTERNET = Egress("internet", (), GRANTED, required=False)
DEFAULT = EgressPolicy(INTERNET)


def test_a_child_of_a_narrower_parent_has_what_the_parent_has() -> None:
    assert DEFAULT.of_child(None, EgressRequest()) == INTERNET
    assert DEFAULT.of_child(LIST, EgressRequest()) == LIST
    assert DEFAULT.of_child(LIST, EgressRequest("none")).mode == "none"
    with pytest.raises(EgressWidened):
        DEFAULT.of_child(LIST, EgressRequest("open"))


def test_a_stored_egress_does_not_outlive_a_narrower_setting() -> None:
    strict = EgressPolicy(Egress("none"))
    assert strict.bounded(LIST) == Egress("none")
    assert strict.bounded(None) == Egress("none")
    assert DEFAULT.bounded(Egress("none")) == Egress("none", (), GRANTED)
    assert DEFAULT.bounded(Egress()) == INTERNET
    # That of a time when it was a default does not become open where it cannot be enforced.
    required = EgressPolicy(Egress("internet"))
    assert required.bounded(Egress("internet", required=False)) == Egress("internet")


def test_a_list_has_its_names_and_all_below_a_star() -> None:
    egress = parse_egress("list", ["docs.example.com", "*.example.org"])
    assert egress.lists("docs.example.com")
    assert egress.lists("a.b.example.org")
    for host in ("example.org", "a.docs.example.com", "evil-example.org", ""):
        assert not egress.lists(host), host


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "localhost", "[::1]", "10.1.2.3"])
def test_no_grant_leads_to_the_control_plane(host: str) -> None:
    policy = EgressPolicy(Egress("internet"), ports_of(["127.0.0.1:7777", "http://[::1]:7443"]))
    for port in (7777, 7443):
        with pytest.raises(InvalidEgress, match="is the control plane"):
            policy.with_grants([f"{host}:{port}"])
    with pytest.raises(InvalidEgress, match="is the control plane"):
        replace(policy, base=parse_egress("open", (), [f"{host}:7777"])).check()
    assert policy.with_grants([f"{host}:80"]).grants == (parse_grant(f"{host}:80"),)


def test_listeners_have_their_ports_and_sockets_of_the_file_system_none() -> None:
    assert ports_of(["127.0.0.1:7777", "http://[::1]:80", "unix:/run/a:90", ""]) == {7777, 80}


@pytest.mark.parametrize(
    ("address", "grant"),
    [
        ("http://127.0.0.1:3000/a", "127.0.0.1:3000"),
        ("https://localhost", "localhost:443"),
        ("http://app.localhost:5173/", "localhost:5173"),
        ("http://[::]:80/", "[::1]:80"),
        ("http://192.168.1.9/", "192.168.1.9:80"),
        *(
            (address, "None")
            for address in (
                *("http://example.com/", "http://1.1.1.1/", "http://[fe80::1]/", "ws://localhost/"),
                *("http://169.254.169.254/", "http://168.63.129.16/", "http://127.1/", "localhost"),
                *("http://localhost:0/", "http://localhost:65536/", "http://[/"),
            )
        ),
    ],
)
def test_a_page_of_this_machine_or_near_it_has_a_grant(address: str, grant: str) -> None:
    assert str(grant_for(address)) == grant
