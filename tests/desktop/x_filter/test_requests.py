"""What rules know of a client, and how they change its requests."""

import struct

import pytest

from deskhand.desktop.x_filter.requests import (
    MOST_GRANTS,
    Agents,
    XClient,
    XRequest,
    allowed,
    focus,
    hearing,
    ignored,
    of_agent,
    own,
    own_or_error,
    refused,
    values_of,
    with_bytes,
    with_values,
)

BASE, MASK = 0x400000, 0x1FFFFF


@pytest.fixture
def client() -> XClient:
    found = XClient("<", Agents({BASE, 0x600000}), frozenset())
    found.base, found.mask = BASE, MASK
    return found


def naming(*numbers: int) -> XRequest:
    return XRequest(4, 0, struct.pack(f"<{len(numbers)}I", *numbers))


def test_an_id_is_the_clients_own_by_its_base(client: XClient) -> None:
    assert client.owns(BASE)
    assert client.owns(BASE + MASK)
    assert not any(map(client.owns, (0, 1, BASE - 1, BASE + MASK + 1, BASE | 1 << 31)))
    assert client.of_agent(0x600001)
    assert not client.of_agent(0x800001)


def test_beyond_the_end_of_a_request_there_is_no_id(client: XClient) -> None:
    assert client.id_at(b"\1\0\0\0", 0) == 1
    assert client.id_at(b"\1\0\0", 0) == 0
    assert client.short_at(b"\1\0", 0) == 1
    assert client.short_at(b"\1", 0) == 0


def test_only_the_last_grants_are_remembered(client: XClient) -> None:
    for name in range(MOST_GRANTS):
        client.grant(1, name)
    client.grant(1, 0)
    client.grant(1, MOST_GRANTS)
    assert len(client.grants) == MOST_GRANTS
    assert (1, 0) in client.grants
    assert (1, 1) not in client.grants


def test_a_rule_for_own_ids_ignores_a_request_with_another_one(client: XClient) -> None:
    rule = own(0, 4, none=(4,))
    assert rule(client, naming(BASE, BASE)) is rule(client, naming(BASE, 0)) is None
    for one in (naming(BASE, 5), naming(0, BASE), naming(5, BASE), naming()):
        assert rule(client, one) == ignored(client, one)


def test_a_rule_for_a_request_with_a_reply_makes_the_server_err(client: XClient) -> None:
    assert own_or_error(0)(client, naming(BASE)) is None
    assert own_or_error(0)(client, naming(5)) == naming(0)
    assert own_or_error(0)(client, naming()) == refused(client, naming())


def test_a_rule_for_drawing_takes_windows_of_other_clients(client: XClient) -> None:
    rule = own(4, agents=(0,))
    assert rule(client, naming(0x600001, BASE)) is None
    for one in (naming(5, BASE), naming(BASE, 0x600001)):
        assert rule(client, one) == one.ignored()


def test_a_client_hears_no_keys_in_windows_that_are_in_those_of_others(client: XClient) -> None:
    client.guests.add(BASE + 1)
    assert hearing(0)(client, naming(BASE)) is None
    for one in (naming(BASE + 1), naming(0x600001), naming(5)):
        assert hearing(0)(client, one) == one.ignored()


def test_a_rule_for_clients_of_the_filter(client: XClient) -> None:
    assert of_agent(0)(client, naming(0x600001)) is None
    assert of_agent(0)(client, naming(5)) == naming(5).ignored()
    assert allowed(client, naming(5)) is None


def test_the_focus_goes_to_windows_of_clients_of_the_filter_or_to_none(client: XClient) -> None:
    for window in (0, 1, BASE, 0x600001):
        assert focus(client, naming(window)) is None
    for window in (2, 5, 0x800001):
        assert focus(client, naming(window)) == naming(window).ignored()


def test_values_are_read_and_written_by_their_bits(client: XClient) -> None:
    one = naming(7, 0b1010, 3, 4)
    assert values_of(client, one.body, 4) == {1: 3, 3: 4}
    assert values_of(client, one.body[:-4], 4) is None
    assert with_values(client, one, 4, {3: 4, 0: 9}) == naming(7, 0b1001, 9, 4)


def test_bytes_beyond_the_end_of_a_request_are_not_written() -> None:
    assert with_bytes(naming(1), 0, b"\2") == naming(2)
    assert with_bytes(naming(1), 3, b"\2\2") == naming(1).refused()
