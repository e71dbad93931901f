from collections.abc import Mapping

from vncbridge.credentials import Credentials, Session, new_token
from vncbridge.gate import Principal


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
    before = Credentials("0123456789", clock, kept=lambda sessions: kept.append(dict(sessions)))
    cookie = before.sign_in(before.new_code())
    assert cookie is not None
    assert cookie not in str(kept)
    after = Credentials("0123456789", clock, sessions=kept[-1])
    assert after.by_cookie(cookie) is not None
    assert after.cookie_name == "deskhand_01234567"
