from collections.abc import Mapping

from deskhand.vncbridge.auth.credentials import MOST_TICKETS, Credentials, Session, new_token
from deskhand.vncbridge.auth.policy import Principal


class Clock:
    """Unix time that moves when told."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def test_a_token_names_its_principal_and_no_other_token_does() -> None:
    credentials = Credentials("0123456789", Clock())
    token = new_token()
    credentials.accept_token(token, Principal("owner"))
    assert credentials.by_token(token) == Principal("owner")
    assert credentials.by_token(new_token()) is None
    assert token.startswith("dh_")


def test_a_code_signs_in_once() -> None:
    credentials = Credentials("0123456789", Clock())
    code = credentials.new_code()
    cookie = credentials.sign_in(code)
    assert cookie is not None
    assert credentials.by_cookie(cookie) is not None
    assert credentials.sign_in(code) is None


def test_a_code_ends_after_ten_minutes_also_when_others_are_made() -> None:
    clock = Clock()
    credentials = Credentials("0123456789", clock)
    old = credentials.new_code()
    clock.now += 601
    credentials.new_code()
    assert credentials.sign_in(old) is None


def test_a_token_signs_in_as_often_as_needed() -> None:
    credentials = Credentials("0123456789", Clock())
    credentials.accept_token("dh_x", Principal("owner"))
    assert credentials.sign_in("dh_x") is not None
    assert credentials.sign_in("dh_x") is not None


def test_a_session_ends_after_thirty_days_or_by_signing_out() -> None:
    clock = Clock()
    credentials = Credentials("0123456789", clock)
    long = credentials.sign_in(credentials.new_code())
    short = credentials.sign_in(credentials.new_code())
    assert long is not None
    assert short is not None
    credentials.sign_out(short)
    credentials.sign_out(short)
    assert credentials.by_cookie(short) is None
    assert credentials.by_cookie(long) is not None
    clock.now += 31 * 24 * 3600
    assert credentials.by_cookie(long) is None
    assert credentials.by_cookie("never") is None


def test_sessions_are_handed_out_as_digests_and_taken_back_after_a_restart() -> None:
    kept: list[Mapping[str, Session]] = []
    clock = Clock()
    before = Credentials("0123456789", clock, kept=lambda sessions, _: kept.append(dict(sessions)))
    cookie = before.sign_in(before.new_code())
    assert cookie is not None
    assert cookie not in str(kept)
    after = Credentials("0123456789", clock, sessions=kept[-1])
    assert after.by_cookie(cookie) is not None
    assert after.cookie_name == "deskhand_01234567"


def test_an_issued_token_works_until_it_ends() -> None:
    clock = Clock()
    credentials = Credentials("0123456789", clock)
    one, token = credentials.issue("share", ("run:c1:view",), 60.0)
    assert credentials.by_token(token) == Principal("share", ("run:c1:view",))
    assert credentials.issued == (one,)
    clock.now += 60.0
    assert credentials.by_token(token) is None
    assert not credentials.issued


def test_revoking_a_token_ends_its_sessions_and_no_others() -> None:
    credentials = Credentials("0123456789", Clock())
    one, token = credentials.issue("share", ("run:c1:view",), None)
    shared = credentials.sign_in(token)
    own = credentials.sign_in(credentials.new_code())
    assert shared is not None
    assert own is not None
    assert credentials.by_cookie(shared) == Principal("share", ("run:c1:view",))
    assert credentials.revoke(one.id)
    assert credentials.by_token(token) is None
    assert credentials.by_cookie(shared) is None
    assert credentials.by_cookie(own) == Principal("browser")
    assert not credentials.revoke(one.id)


def test_a_session_ends_with_the_token_it_was_traded_for() -> None:
    clock = Clock()
    credentials = Credentials("0123456789", clock)
    _, token = credentials.issue("share", ("run:c1:view",), 60.0)
    cookie = credentials.sign_in(token)
    assert cookie is not None
    clock.now += 61.0
    assert credentials.by_cookie(cookie) is None
    assert credentials.sign_in(token) is None


def test_a_token_of_few_rights_gives_a_session_of_no_more() -> None:
    credentials = Credentials("0123456789", Clock())
    credentials.accept_token("dh_few", Principal("few", ("chat:c1",)))
    cookie = credentials.sign_in("dh_few")
    assert cookie is not None
    assert credentials.by_cookie(cookie) == Principal("browser", ("chat:c1",))


def test_a_ticket_works_once_and_not_for_long() -> None:
    clock = Clock()
    credentials = Credentials("0123456789", clock)
    watcher = Principal("Ann", ("desktop:d1:view",))
    ticket, ends = credentials.ticket(watcher, 30.0)
    assert ends == clock.now + 30.0
    assert credentials.by_ticket(ticket) == watcher
    assert credentials.by_ticket(ticket) is None
    late, _ = credentials.ticket(watcher, 30.0)
    clock.now += 30.0
    assert credentials.by_ticket(late) is None


def test_tickets_are_bounded_and_the_oldest_goes_first() -> None:
    credentials = Credentials("0123456789", Clock())
    watcher = Principal("Ann", ("desktop:d1:view",))
    tickets = [credentials.ticket(watcher, 30.0)[0] for _ in range(MOST_TICKETS + 1)]
    assert credentials.by_ticket(tickets[0]) is None
    assert credentials.by_ticket(tickets[-1]) == watcher
