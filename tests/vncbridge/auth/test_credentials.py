import asyncio
from collections.abc import Awaitable, Callable, Sequence

from deskhand.vncbridge.auth.credentials import (
    Credentials,
    Issued,
    Session,
    new_token,
)
from deskhand.vncbridge.auth.policy import Principal


class Clock:
    """Unix time that a test moves."""

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
    code = asyncio.run(credentials.new_code())
    cookie = asyncio.run(credentials.sign_in(code))
    assert cookie is not None
    assert credentials.by_cookie(cookie) is not None
    assert asyncio.run(credentials.sign_in(code)) is None


def test_a_code_ends_after_ten_minutes_also_when_others_are_made() -> None:
    clock = Clock()
    credentials = Credentials("0123456789", clock)
    old = asyncio.run(credentials.new_code())
    clock.now += 601
    asyncio.run(credentials.new_code())
    assert asyncio.run(credentials.sign_in(old)) is None


def test_a_token_signs_in_as_often_as_needed() -> None:
    credentials = Credentials("0123456789", Clock())
    credentials.accept_token("dh_x", Principal("owner"))
    assert asyncio.run(credentials.sign_in("dh_x")) is not None
    assert asyncio.run(credentials.sign_in("dh_x")) is not None


def test_a_session_ends_after_thirty_days_or_by_signing_out() -> None:
    clock = Clock()
    credentials = Credentials("0123456789", clock)
    long = signed_in(credentials)
    short = signed_in(credentials)
    assert long is not None
    assert short is not None
    asyncio.run(credentials.sign_out(short))
    asyncio.run(credentials.sign_out(short))
    assert credentials.by_cookie(short) is None
    assert credentials.by_cookie(long) is not None
    clock.now += 31 * 24 * 3600
    assert credentials.by_cookie(long) is None
    assert credentials.by_cookie("never") is None


class Records:
    """Storage that keeps sessions and tokens; ``before_session`` is awaited first."""

    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}
        self.by_id: dict[str, Issued] = {}
        self.shared = False
        self.announced: list[str] = []
        self.before_session: Callable[[], Awaitable[object]] | None = None

    async def add_session(self, cookie_digest: str, session: Session) -> None:
        if self.before_session is not None:
            await self.before_session()
        self.sessions[cookie_digest] = session

    async def remove_session(self, cookie_digest: str) -> None:
        self.sessions.pop(cookie_digest, None)

    async def add_token(self, token: Issued) -> None:
        self.by_id[token.id] = token

    async def remove_token(self, token_id: str) -> bool:
        self.sessions = {k: s for k, s in self.sessions.items() if s.token != token_id}
        return self.by_id.pop(token_id, None) is not None

    async def remove_sessions(self, token_id: str) -> None:
        self.sessions = {k: s for k, s in self.sessions.items() if s.token != token_id}

    async def session(self, cookie_digest: str) -> Session | None:
        return self.sessions.get(cookie_digest)

    async def token(self, token_digest: str) -> Issued | None:
        return next((one for one in self.by_id.values() if one.digest == token_digest), None)

    async def tokens(self) -> Sequence[Issued]:
        return tuple(self.by_id.values())

    async def announce(self, name: str) -> None:
        self.announced.append(name)


def signed_in(credentials: Credentials) -> str | None:
    async def scenario() -> str | None:
        return await credentials.sign_in(await credentials.new_code())

    return asyncio.run(scenario())


def test_sessions_and_by_idare_stored_as_digests_and_valid_after_a_restart() -> None:
    records, clock = Records(), Clock()
    before = Credentials("0123456789", clock, records=records)
    cookie = signed_in(before)
    one, token = asyncio.run(before.issue("share", ("run:c1:view",), None))
    assert cookie is not None
    assert cookie not in str(records.sessions)
    assert token not in str(records.by_id)
    after = Credentials(
        "0123456789",
        clock,
        sessions=records.sessions,
        issued=tuple(records.by_id.values()),
        records=records,
    )
    assert after.by_cookie(cookie) is not None
    assert after.by_token(token) is not None
    assert after.cookie_name == "deskhand_01234567"
    asyncio.run(after.sign_out(cookie))
    assert asyncio.run(after.revoke(one.id))
    assert not records.sessions
    assert not records.by_id


def test_a_token_that_the_storage_did_not_remove_ends_and_is_removed_by_the_next_attempt() -> None:
    records = Records()
    credentials = Credentials("0123456789", Clock(), records=records)
    one, token = asyncio.run(credentials.issue("share", ("run:c1:view",), None))
    # As after a first attempt that ended the token and failed to store that.
    asyncio.run(credentials.revoke(one.id))
    records.by_id[one.id] = one
    assert credentials.by_token(token) is None
    assert asyncio.run(credentials.revoke(one.id))
    assert not records.by_id


def test_a_token_that_is_revoked_during_a_sign_in_gives_no_session() -> None:
    records = Records()
    credentials = Credentials("0123456789", Clock(), records=records)
    one, token = asyncio.run(credentials.issue("share", ("run:c1:view",), None))
    records.before_session = lambda: credentials.revoke(one.id)
    assert asyncio.run(credentials.sign_in(token)) is None
    assert not records.sessions


def test_an_issued_token_works_until_it_ends() -> None:
    clock = Clock()
    credentials = Credentials("0123456789", clock)
    one, token = asyncio.run(credentials.issue("share", ("run:c1:view",), 60.0))
    assert credentials.by_token(token) == Principal("share", ("run:c1:view",))
    assert credentials.issued == (one,)
    clock.now += 60.0
    assert credentials.by_token(token) is None
    assert not credentials.issued


def test_revoking_a_token_ends_its_sessions_and_no_others() -> None:
    credentials = Credentials("0123456789", Clock())
    one, token = asyncio.run(credentials.issue("share", ("run:c1:view",), None))
    shared = asyncio.run(credentials.sign_in(token))
    own = signed_in(credentials)
    assert shared is not None
    assert own is not None
    assert credentials.by_cookie(shared) == Principal("share", ("run:c1:view",))
    assert asyncio.run(credentials.revoke(one.id))
    assert credentials.by_token(token) is None
    assert credentials.by_cookie(shared) is None
    assert credentials.by_cookie(own) == Principal("browser")
    assert not asyncio.run(credentials.revoke(one.id))


def test_what_ends_here_is_reported_by_name_and_what_ended_elsewhere_is_not() -> None:
    async def scenario() -> None:
        credentials, ended = Credentials("0123456789", Clock()), list[str]()
        credentials.on_end = ended.append
        one, token = await credentials.issue("ci", ("admin",), None)
        cookie = await credentials.sign_in(token)
        assert cookie is not None
        session = credentials.by_cookie(cookie)
        assert session is not None
        await credentials.sign_out(cookie)
        await credentials.revoke(one.id)
        await credentials.end_streams("ada")
        await credentials.changed_elsewhere("token:other")
        assert ended == [session.via[0], f"token:{one.id}", "person:ada"]

    asyncio.run(scenario())


def test_a_session_ends_with_the_token_it_was_traded_for() -> None:
    clock = Clock()
    credentials = Credentials("0123456789", clock)
    _, token = asyncio.run(credentials.issue("share", ("run:c1:view",), 60.0))
    cookie = asyncio.run(credentials.sign_in(token))
    assert cookie is not None
    clock.now += 61.0
    assert credentials.by_cookie(cookie) is None
    assert asyncio.run(credentials.sign_in(token)) is None


def test_a_token_of_few_rights_gives_a_session_of_no_more() -> None:
    credentials = Credentials("0123456789", Clock())
    credentials.accept_token("dh_few", Principal("few", ("chat:c1",)))
    cookie = asyncio.run(credentials.sign_in("dh_few"))
    assert cookie is not None
    assert credentials.by_cookie(cookie) == Principal("browser", ("chat:c1",))


def test_a_ticket_works_once_and_not_for_long() -> None:
    clock = Clock()
    credentials = Credentials("0123456789", clock)
    watcher = Principal("Ann", ("desktop:d1:view",))

    async def scenario() -> None:
        ticket, ends = await credentials.ticket(watcher, 30.0)
        assert ends == clock.now + 30.0
        assert await credentials.by_ticket(ticket) == watcher
        assert await credentials.by_ticket(ticket) is None
        late, _ = await credentials.ticket(watcher, 30.0)
        clock.now += 30.0
        assert await credentials.by_ticket(late) is None

    asyncio.run(scenario())


def test_what_another_service_has_stored_is_found_and_what_it_has_ended_ends() -> None:
    clock, records = Clock(), Records()
    records.shared = True
    one = Credentials("0123456789", clock, records=records)
    other = Credentials("0123456789", clock, records=records)

    async def scenario() -> None:
        issued, token = await one.issue("share", ("run:c1:view",), None)
        assert other.by_token(token) is None
        assert await other.find_token(token) == Principal("share", ("run:c1:view",))
        cookie = await one.sign_in(token)
        assert cookie is not None
        assert await other.find_cookie(cookie) == Principal("share", ("run:c1:view",))
        await one.sign_out(cookie)
        assert await one.revoke(issued.id)
        assert records.announced[0] == "tokens:"
        for name in records.announced:
            await other.changed_elsewhere(name)
        assert await other.find_token(token) is None
        assert await other.find_cookie(cookie) is None
        await one.announce_people()
        assert records.announced[-1] == "people:"
        await other.changed_elsewhere("people:")

    asyncio.run(scenario())


def test_what_ends_the_by_idof_one_service_ends_their_sessions_at_the_other() -> None:
    clock, records = Clock(), Records()
    records.shared = True
    one = Credentials("0123456789", clock, records=records)
    other = Credentials("0123456789", clock, records=records)

    async def scenario() -> None:
        issued, token = await one.issue("share", ("run:c1:view",), None)
        await other.changed_elsewhere("tokens:")
        assert [found.id for found in other.issued] == [issued.id]
        cookie = await other.sign_in(token)
        assert cookie is not None
        await one.revoke(issued.id)
        await other.changed_elsewhere(records.announced[-1])
        assert other.by_cookie(cookie) is None

    asyncio.run(scenario())
