import pytest

from deskhand.desktop.network.egress import (
    Egress,
    EgressPolicy,
    EgressRequest,
    Grant,
    from_json,
    narrowed,
    parse_egress,
    parse_grant,
    parse_name,
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
        f"127.0.0.1:{'1' * 5000}",
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
DEFAULT = EgressPolicy(Egress(grants=GRANTED), INTERNET)


def test_by_default_agents_of_a_real_model_have_the_internet_and_scripted_ones_all() -> None:
    assert DEFAULT.of_child(None, EgressRequest(), real_model=True) == INTERNET
    assert DEFAULT.of_child(None, EgressRequest(), real_model=False) == DEFAULT.base


def test_a_child_of_a_narrower_parent_has_what_the_parent_has() -> None:
    assert DEFAULT.of_child(LIST, EgressRequest(), real_model=True) == LIST
    assert DEFAULT.of_child(LIST, EgressRequest("none"), real_model=True).mode == "none"
    with pytest.raises(EgressWidened):
        DEFAULT.of_child(LIST, EgressRequest("open"), real_model=True)


def test_a_stored_egress_does_not_outlive_a_narrower_setting() -> None:
    strict = EgressPolicy(Egress("none"), Egress("none"))
    assert strict.bounded(LIST) == Egress("none")
    assert strict.bounded(None) == Egress("none")
    assert DEFAULT.bounded(Egress("none")) == Egress("none", (), GRANTED)


def test_a_list_has_its_names_and_all_below_a_star() -> None:
    egress = parse_egress("list", ["docs.example.com", "*.example.org"])
    assert egress.lists("docs.example.com")
    assert egress.lists("a.b.example.org")
    for host in ("example.org", "a.docs.example.com", "evil-example.org", ""):
        assert not egress.lists(host), host
