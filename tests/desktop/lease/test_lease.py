from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.errors import HeldByChat, HumanInControl, NotInControl
from deskhand.desktop.lease.lease import (
    ABSENT_PERSON,
    IDLE_CHAT,
    IDLE_PERSON,
    REQUEST_TIMEOUT,
    LeaseRules,
    Person,
)

ANN = Person("Ann", "a")
BOB = Person("Bob", "b")
CYD = Person("Cyd", "c")


def taken(person: Person = ANN, now: float = 100.0) -> LeaseRules:
    lease = LeaseRules()
    assert lease.take(person, now)
    return lease


def test_a_new_lease_is_free_and_agents_act() -> None:
    lease = LeaseRules()
    lease.check_act("", 1.0)
    lease.check_view(1.0)
    assert (lease.person, lease.chat, lease.since, lease.deadline()) == (None, None, 0.0, None)
    assert not lease.holds_control("a")


def test_a_person_in_control_keeps_agents_from_acting_and_viewing() -> None:
    lease = taken()
    assert (lease.person, lease.private, lease.since) == (ANN, True, 100.0)
    with pytest.raises(HumanInControl, match="Ann is in control"):
        lease.check_act("chat", 101.0)
    with pytest.raises(HumanInControl):
        lease.check_view(101.0)


def test_without_privacy_agents_may_view() -> None:
    lease = LeaseRules()
    lease.take(ANN, 1.0, private=False)
    lease.check_view(2.0)
    with pytest.raises(HumanInControl):
        lease.check_act("", 2.0)


def test_taking_again_changes_name_and_privacy_only() -> None:
    lease = taken()
    before = lease.revision
    assert lease.take(ANN, 101.0)
    assert lease.revision == before
    assert lease.take(Person("Anna", "a"), 102.0, private=False)
    assert lease.revision == before + 1
    assert (lease.person, lease.private, lease.since) == (Person("Anna", "a"), False, 100.0)


def test_input_is_counted_until_control_is_given_back() -> None:
    lease = taken()
    lease.used("a", 101.0, keys=2)
    lease.used("b", 101.0, keys=50)
    lease.used("a", 102.0, keys=1, clicks=3)
    lease.release("a", 142.0)
    session = lease.last
    assert session is not None
    assert (session.name, session.seconds, session.keys, session.clicks) == ("Ann", 42.0, 3, 3)
    assert (session.reason, session.private) == ("released", True)
    lease.check_act("", 142.0)


@pytest.mark.parametrize("now", [101.0])
def test_only_the_holder_releases_or_renews(now: float) -> None:
    lease = taken()
    with pytest.raises(NotInControl, match="Ann is in control"):
        lease.release("b", now)
    with pytest.raises(NotInControl, match="Ann"):
        lease.renew("b", now)
    with pytest.raises(NotInControl, match="nobody is in control"):
        LeaseRules().release("a", now)


def test_it_ends_ten_minutes_after_the_last_input() -> None:
    lease = taken()
    lease.used("a", 200.0, keys=1)
    assert lease.deadline() == 200.0 + IDLE_PERSON
    lease.tick(199.9 + IDLE_PERSON)
    assert lease.person == ANN
    lease.tick(200.0 + IDLE_PERSON)
    assert lease.person is None
    assert lease.last is not None
    assert lease.last.reason == "idle"


def test_it_ends_soon_after_the_last_connection_of_its_holder() -> None:
    lease = LeaseRules()
    lease.joined("a")
    lease.joined("b")
    lease.take(ANN, 100.0)
    lease.joined("a")
    lease.parted("a", 110.0)
    lease.parted("b", 110.0)
    assert lease.deadline() == 100.0 + IDLE_PERSON
    lease.parted("a", 120.0)
    assert lease.deadline() == 120.0 + ABSENT_PERSON
    lease.joined("a")
    assert lease.deadline() == 100.0 + IDLE_PERSON
    lease.parted("a", 130.0)
    lease.tick(130.0 + ABSENT_PERSON)
    assert lease.person is None
    assert lease.last is not None
    assert lease.last.reason == "left"


def test_another_person_is_asked_for_it_and_it_passes_on_without_an_answer() -> None:
    lease = taken()
    assert not lease.take(BOB, 101.0)
    assert lease.request is not None
    assert (lease.request.person, lease.request.until) == (BOB, 101.0 + REQUEST_TIMEOUT)
    assert lease.deadline() == 101.0 + REQUEST_TIMEOUT
    assert not lease.take(BOB, 105.0)
    assert not lease.take(CYD, 105.0)
    assert lease.request.until == 101.0 + REQUEST_TIMEOUT
    lease.tick(101.0 + REQUEST_TIMEOUT)
    assert lease.person == BOB
    assert not lease.request
    assert lease.last is not None
    assert lease.last.reason == "passed on"


def test_a_request_without_an_answer_lapses() -> None:
    lease = taken()
    assert not lease.take(BOB, 101.0, take_over_on_timeout=False)
    lease.tick(101.0 + REQUEST_TIMEOUT)
    assert (lease.person, lease.request) == (ANN, None)


def test_the_holder_may_refuse_or_grant_a_request() -> None:
    lease = taken()
    lease.take(BOB, 101.0)
    lease.renew("a", 102.0)
    assert (lease.person, lease.request) == (ANN, None)
    lease.take(BOB, 103.0, take_over_on_timeout=False)
    lease.release("a", 104.0)
    assert lease.person == BOB


def test_force_does_not_ask() -> None:
    lease = taken()
    assert lease.take(BOB, 101.0, force=True)
    assert lease.person == BOB
    assert lease.last is not None
    assert (lease.last.name, lease.last.reason) == ("Ann", "forced")


def test_end_takes_control_from_persons_and_chats() -> None:
    lease = taken()
    lease.end(101.0)
    assert lease.person is None
    lease.check_act("one", 102.0)
    lease.end(103.0)
    assert lease.chat is None
    revision = lease.revision
    lease.end(104.0)
    assert lease.revision == revision


def test_one_chat_acts_at_a_time() -> None:
    lease = LeaseRules()
    lease.check_act("one", 100.0)
    assert lease.chat == "one"
    with pytest.raises(HeldByChat, match="chat one works on this desktop") as refused:
        lease.check_act("two", 110.0)
    assert refused.value.seconds == IDLE_CHAT - 10.0
    lease.check_act("", 110.0)
    lease.check_act("one", 120.0)
    assert lease.deadline() == 120.0 + IDLE_CHAT
    lease.check_act("two", 120.0 + IDLE_CHAT)
    assert lease.chat == "two"


def test_a_chat_whose_action_runs_is_not_idle() -> None:
    lease = LeaseRules()
    lease.check_act("one", 100.0)
    lease.acting("one", 100.0, begins=True)
    lease.acting("two", 100.0, begins=True)
    assert lease.deadline() is None
    with pytest.raises(HeldByChat):
        lease.check_act("two", 190.0)
    lease.acting("one", 200.0, begins=False)
    lease.acting("", 200.0, begins=False)
    assert lease.deadline() == 200.0 + IDLE_CHAT


def test_a_chat_may_release_control_at_once() -> None:
    lease = LeaseRules()
    lease.check_act("one", 100.0)
    lease.release_chat("two", 101.0)
    assert lease.chat == "one"
    lease.release_chat("one", 101.0)
    lease.check_act("two", 101.0)


def test_a_person_goes_before_a_chat() -> None:
    lease = LeaseRules()
    lease.check_act("one", 100.0)
    lease.take(ANN, 101.0)
    assert (lease.person, lease.chat) == (ANN, None)


ACTIONS = st.tuples(
    st.sampled_from(
        ["take", "force", "ask", "release", "renew", "used", "join", "part", "admit", "end"]
    ),
    st.sampled_from([ANN, BOB, CYD]),
    st.floats(0.0, 700.0),
)


def do(lease: LeaseRules, what: str, who: Person, now: float) -> None:
    with suppress(HumanInControl, HeldByChat, NotInControl):
        match what:
            case "take" | "force" | "ask":
                lease.take(who, now, take_over_on_timeout=what == "take", force=what == "force")
            case "release":
                lease.release(who.key, now)
            case "renew":
                lease.renew(who.key, now)
            case "used":
                lease.used(who.key, now, keys=1)
            case "admit":
                lease.check_act(who.key, now)
            case "end":
                lease.end(now)


@given(st.lists(ACTIONS, max_size=40))
def test_at_most_one_has_control_and_every_change_has_a_revision(
    actions: list[tuple[str, Person, float]],
) -> None:
    lease, now = LeaseRules(), 0.0
    joined = {"a": 0, "b": 0, "c": 0}
    for what, who, passed in actions:
        now += passed
        before = (lease.person, lease.chat, lease.request, lease.private)
        revision = lease.revision
        if what == "join":
            lease.joined(who.key)
            joined[who.key] += 1
        elif what == "part" and joined[who.key]:
            lease.parted(who.key, now)
            joined[who.key] -= 1
        do(lease, what, who, now)
        if (lease.person, lease.chat, lease.request, lease.private) != before:
            assert lease.revision > revision
        assert lease.person is None or lease.chat is None
        assert lease.request is None or lease.person not in (None, lease.request.person)
        lease.tick(now)
        deadline = lease.deadline()
        assert deadline is None or deadline > now
