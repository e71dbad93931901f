"""Credentials of two control planes that share one database."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import Connection
from starlette.types import Message, Receive, Scope, Send

from deskhand.tools.credentials.accepted import load_credentials
from deskhand.tools.credentials.database_clock import DatabaseClock
from deskhand.tools.credentials.shared import follow
from deskhand.tools.people.people import People
from deskhand.tools.store.creation.creation import revisions_for
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import StoreUnavailable
from deskhand.vncbridge.auth.credentials import Credentials
from deskhand.vncbridge.auth.policy import Principal
from tests.cluster.playing import LIMIT

pytestmark = pytest.mark.cluster

EIGHT_DAYS = 8 * 86_400.0
"""Longer than an invitation is valid."""


@dataclass
class Plane:
    """The credentials and people of one control plane."""

    store: Store
    credentials: Credentials
    people: People

    def stream(self, principal: Principal) -> asyncio.Task[None]:
        """Begin an event stream with a credential; the task ends when the stream is ended."""

        async def endless(_scope: Scope, _receive: Receive, send: Send) -> None:
            headers = [(b"content-type", b"text/event-stream")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await asyncio.Event().wait()

        async def ignore(_message: Message) -> None:
            pass

        async def silent() -> Message:
            await asyncio.Event().wait()
            return {}

        scope = {"type": "http", "headers": []}
        serving = self.credentials.lifetimes.serve(principal, endless, scope, silent, ignore)
        return asyncio.create_task(serving)


@asynccontextmanager
async def plane(url: str, folder: Path, ahead: float) -> AsyncIterator[Plane]:
    """Open the credentials of a control plane whose clock is so many seconds ahead."""
    async with await Store.open(url) as store:
        clock = DatabaseClock(lambda: time.time() + ahead)
        await clock.read(store)
        people = People(store, clock)
        await people.load()
        credentials = await load_credentials(store, folder, "dh_owner", people, shared=clock)
        people.changed = credentials.announce_people
        following = asyncio.create_task(follow(store, credentials.changed_elsewhere, clock, 0.1))
        try:
            yield Plane(store, credentials, people)
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)


def play(
    url: str,
    folder: Path,
    work: Callable[[Plane, Plane], Awaitable[None]],
    ahead: float = 0.0,
) -> None:
    """Await ``work`` with two control planes; the clock of the other one is ``ahead``."""
    for name in ("one", "other"):
        (folder / name).mkdir()

    async def limited() -> None:
        async with asyncio.timeout(LIMIT), AsyncExitStack() as stack:
            one = await stack.enter_async_context(plane(url, folder / "one", 0.0))
            other = await stack.enter_async_context(plane(url, folder / "other", ahead))
            await work(one, other)

    asyncio.run(limited())


def test_both_have_one_cookie_and_know_each_others_tokens_at_once(
    database: str, tmp_path: Path
) -> None:
    async def work(one: Plane, other: Plane) -> None:
        assert one.credentials.instance == other.credentials.instance
        assert one.credentials.cookie_name == other.credentials.cookie_name
        _, token = await one.credentials.issue("ci", ("run:c1:view",), 60.0)
        principal = Principal("ci", ("run:c1:view",))
        assert await other.credentials.find_token(token) == principal
        cookie = await other.credentials.sign_in(token)
        assert cookie is not None
        assert await one.credentials.find_cookie(cookie) == principal
        key = other.credentials.page_keys.of(cookie, over_tls=False)
        assert one.credentials.page_keys.fits(cookie, key)

    play(database, tmp_path, work)


def test_a_ticket_and_a_code_are_used_once_over_both(database: str, tmp_path: Path) -> None:
    async def work(one: Plane, other: Plane) -> None:
        watcher = Principal("Ann", ("desktop:d1:view",), ("token:t1",), 9e9, "t1", "https://a", "p")
        for _ in range(20):
            ticket, _ = await one.credentials.ticket(watcher, 30.0)
            uses = [each.credentials.by_ticket(ticket) for each in (one, other) for _ in range(4)]
            taken = [found for found in await asyncio.gather(*uses) if found is not None]
            assert taken == [watcher]
            assert (taken[0].via, taken[0].origin) == (watcher.via, watcher.origin)
        code = await one.credentials.new_code()
        signs = [each.credentials.sign_in(code) for each in (one, other)]
        assert sum(cookie is not None for cookie in await asyncio.gather(*signs)) == 1

    play(database, tmp_path, work)


@pytest.mark.parametrize("ahead", [30.0, -30.0, 3600.0, -3600.0])
def test_tickets_and_codes_last_as_long_where_clocks_differ(
    database: str, tmp_path: Path, ahead: float
) -> None:
    async def work(one: Plane, other: Plane) -> None:
        watcher = Principal("Ann", ("desktop:d1:view",))
        for here, there in ((one, other), (other, one)):
            ticket, _ = await here.credentials.ticket(watcher, 20.0)
            code = await here.credentials.new_code()
            over, _ = await here.credentials.ticket(watcher, 0.0)
            # What is over is deleted with each new one.
            await there.credentials.ticket(watcher, 20.0)
            assert await there.credentials.by_ticket(ticket) == watcher
            assert await there.credentials.sign_in(code) is not None
            assert await there.credentials.by_ticket(over) is None

    play(database, tmp_path, work, ahead)


@pytest.mark.parametrize("ahead", [30.0, -30.0, EIGHT_DAYS, -EIGHT_DAYS])
def test_tokens_sessions_and_invitations_last_as_long_where_clocks_differ(
    database: str, tmp_path: Path, ahead: float
) -> None:
    async def work(one: Plane, other: Plane) -> None:
        ada = await one.people.add("Ada", "owner", "owner")
        for here, there in ((one, other), (other, one)):
            _, token = await here.credentials.issue("ci", ("run:c1:view",), 20.0)
            cookie = await here.credentials.sign_in(token)
            assert cookie is not None
            _, over = await here.credentials.issue("over", ("run:c1:view",), 0.0)
            # What is over is deleted with each new one.
            await there.credentials.issue("next", ("run:c1:view",), None)
            assert await there.credentials.sign_in("dh_owner") is not None
            assert await there.credentials.find_token(token) is not None
            assert await there.credentials.find_cookie(cookie) is not None
            assert await there.credentials.find_token(over) is None
            code, _ = await here.people.invite(ada.id, "owner")
            assert await there.credentials.sign_in(code) is not None

    play(database, tmp_path, work, ahead)


def test_a_revoked_token_ends_its_streams_and_tickets_on_the_other(
    database: str, tmp_path: Path
) -> None:
    async def work(one: Plane, other: Plane) -> None:
        issued, token = await one.credentials.issue("ci", ("desktop:d1:view",), None)
        holder = await other.credentials.find_token(token)
        assert holder is not None
        ticket, _ = await other.credentials.ticket(holder, 30.0)
        stream = other.stream(holder)
        await asyncio.sleep(0)
        assert await one.credentials.revoke(issued.id)
        await stream
        assert await other.credentials.find_token(token) is None
        assert await other.credentials.by_ticket(ticket) is None

    play(database, tmp_path, work)


def test_people_of_one_sign_in_at_the_other_and_lose_their_rights_on_both(
    database: str, tmp_path: Path
) -> None:
    async def work(one: Plane, other: Plane) -> None:
        ada = await one.people.add("Ada", "owner", "owner")
        code, _ = await one.people.invite(ada.id, "owner")
        signs = [each.credentials.sign_in(code) for each in (one, other)]
        (cookie,) = [cookie for cookie in await asyncio.gather(*signs) if cookie is not None]
        for each in (one, other):
            owner = await each.credentials.find_cookie(cookie)
            assert owner is not None
            assert owner.scopes == ("admin",)
        assert owner is not None
        stream = other.stream(owner)
        await asyncio.sleep(0)
        await one.people.set_role(ada.id, "watcher")
        await one.credentials.end_streams(ada.id)
        await stream
        found = await other.credentials.find_cookie(cookie)
        assert found is not None
        assert found.scopes == ("role:watcher",)
        stream = other.stream(found)
        await asyncio.sleep(0)
        await one.people.remove(ada.id)
        await one.credentials.end_person(ada.id)
        await stream
        assert await other.credentials.find_cookie(cookie) is None
        assert other.people.all == ()

    play(database, tmp_path, work)


def test_what_cannot_be_taken_over_during_a_fault_is_taken_over_after_it(
    database: str, tmp_path: Path
) -> None:
    async def work(one: Plane, _: Plane) -> None:
        taken, failing = asyncio.Event(), [StoreUnavailable("db", "away", may_pass=True)]

        async def changed(name: str) -> None:
            if name == "people:" and failing:
                raise failing.pop()
            if name == "people:":
                taken.set()

        following = asyncio.create_task(follow(one.store, changed, DatabaseClock(time.time), 0.05))
        await one.credentials.announce_people()
        await taken.wait()
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)

    play(database, tmp_path, work)


def test_a_database_of_the_first_version_on_servers_is_migrated(
    database: str, tmp_path: Path
) -> None:
    def downgrade(connection: Connection) -> None:
        command.downgrade(revisions_for(connection), "0065")

    async def before() -> None:
        async with await Store.open(database) as store:
            await store.write_short(downgrade)

    async def after(one: Plane, other: Plane) -> None:
        code = await one.credentials.new_code()
        assert await other.credentials.sign_in(code) is not None

    asyncio.run(before())
    play(database, tmp_path, after)
