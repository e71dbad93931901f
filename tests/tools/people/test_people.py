import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.credentials.accepted import load_credentials
from deskhand.tools.people.errors import BadName, IdentityTaken, NameTaken
from deskhand.tools.people.people import INVITATION_SECONDS, People
from deskhand.tools.store import chats
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import UnknownRow
from deskhand.tools.store.ownership import EVERYONE, visible_to
from deskhand.vncbridge.auth.credentials import Credentials
from deskhand.vncbridge.auth.people import ROLES
from deskhand.vncbridge.auth.policy import Principal, digest
from deskhand.vncbridge.auth.scopes import Need
from tests.tools.store.fakes import chat_row, database


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Opened:
    """People and credentials on one database."""

    def __init__(self, store: Store, people: People, credentials: Credentials) -> None:
        self.store = store
        self.people = people
        self.credentials = credentials
        self.clock = Clock()


def opened(folder: Path, work: Callable[[Opened], Awaitable[None]]) -> None:
    """Start on a data directory, as often as it is called."""

    async def scenario() -> None:
        async with await Store.open(database(folder / "deskhand.db")) as store:
            clock = Clock()
            people = People(store, clock)
            await people.load()
            credentials = await load_credentials(store, folder, "dh_owner", people)
            found = Opened(store, people, credentials)
            found.clock = clock
            await work(found)

    asyncio.run(scenario())


def test_an_invitation_signs_in_once_and_the_session_outlives_a_restart(tmp_path: Path) -> None:
    cookies: list[str] = []

    async def before(made: Opened) -> None:
        ada = await made.people.add(" Ada ", "member", "owner")
        code, ends = await made.people.invite(ada.id, "owner")
        assert ends == made.clock.now + INVITATION_SECONDS
        cookie = await made.credentials.sign_in(code)
        assert cookie is not None
        cookies.append(cookie)
        assert await made.credentials.sign_in(code) is None
        found = made.credentials.by_cookie(cookie)
        assert found is not None
        assert (found.name, found.scopes, found.person) == ("Ada", ("role:member",), ada.id)
        assert found.token_id == f"person:{ada.id}"
        assert made.people.get(ada.id).signed_in_at == made.clock.now

    async def after(made: Opened) -> None:
        found = made.credentials.by_cookie(cookies[0])
        assert found is not None
        assert found.name == "Ada"
        assert made.people.get(found.person).signed_in_at == made.clock.now
        await made.people.remove(found.person)
        assert made.credentials.by_cookie(cookies[0]) is None
        await made.credentials.end_person(found.person)

    async def last(made: Opened) -> None:
        assert made.people.all == ()
        assert made.credentials.by_cookie(cookies[0]) is None

    opened(tmp_path, before)
    opened(tmp_path, after)
    opened(tmp_path, last)


def test_an_invitation_ends_and_one_of_a_removed_person_does_not_sign_in(tmp_path: Path) -> None:
    async def work(made: Opened) -> None:
        ada = await made.people.add("Ada", "member", "owner")
        old, _ = await made.people.invite(ada.id, "owner")
        made.clock.now += INVITATION_SECONDS
        assert await made.credentials.sign_in(old) is None
        code, _ = await made.people.invite(ada.id, "owner")
        await made.people.remove(ada.id)
        assert await made.credentials.sign_in(code) is None
        assert await made.credentials.sign_in(await made.credentials.new_code(ada.id)) is None
        assert await made.people.redeem(digest(code)) == ""
        with pytest.raises(UnknownRow):
            await made.people.invite(ada.id, "owner")

    opened(tmp_path, work)


def test_a_role_counts_from_the_next_request_on(tmp_path: Path) -> None:
    async def work(made: Opened) -> None:
        ada = await made.people.add("Ada", "owner", "owner")
        cookie = await made.credentials.sign_in(await made.credentials.new_code(ada.id))
        assert cookie is not None
        await made.people.set_role(ada.id, "watcher")
        found = made.credentials.by_cookie(cookie)
        assert found is not None
        assert found.scopes == ("role:watcher",)

    opened(tmp_path, work)


def test_a_credential_has_the_rights_of_an_owner_unless_it_is_a_person_of_another_role(
    tmp_path: Path,
) -> None:
    async def scenario(made: Opened) -> None:
        assert made.people.is_owner("owner")
        assert not made.people.is_owner("person:removed")
        for role in ROLES:
            person = await made.people.add(f"A {role}", role, "owner")
            assert made.people.is_owner(f"person:{person.id}") is (role == "owner")

    opened(tmp_path, scenario)


def test_a_login_code_of_a_person_signs_in_as_the_person(tmp_path: Path) -> None:
    async def work(made: Opened) -> None:
        ada = await made.people.add("Ada", "owner", "owner")
        cookie = await made.credentials.sign_in(await made.credentials.new_code(ada.id))
        assert cookie is not None
        found = made.credentials.by_cookie(cookie)
        assert found is not None
        assert (found.name, found.scopes) == ("Ada", ("admin",))

    opened(tmp_path, work)


def test_names_are_different_and_print(tmp_path: Path) -> None:
    async def work(made: Opened) -> None:
        await made.people.add("Ada", "member", "owner")
        with pytest.raises(NameTaken):
            await made.people.add("aDA", "owner", "owner")
        for name in ("", "  ", "x" * 61, "a\u202eb", "a\x00b"):
            with pytest.raises(BadName):
                await made.people.add(name, "member", "owner")
        assert [one.name for one in made.people.all] == ["Ada"]

    opened(tmp_path, work)


def test_a_person_of_a_provider_is_added_once_by_several_control_planes(tmp_path: Path) -> None:
    async def work(made: Opened) -> None:
        other = People(made.store, made.clock)
        ada = await made.people.add("Ada", "member", "owner", "issuer 17")
        for name in ("Ada", "Ada 2"):
            with pytest.raises(IdentityTaken):
                await other.add(name, "member", "owner", "issuer 17")
        assert other.by_identity("issuer 17") is None
        await other.refresh()
        assert other.by_identity("issuer 17") == ada

    opened(tmp_path, work)


def test_a_member_sees_own_and_shared_runs_with_their_children(tmp_path: Path) -> None:
    async def work(made: Opened) -> None:
        ada = await made.people.add("Ada", "member", "owner")

        async def write(session: AsyncSession) -> None:
            for name, owner in (("own", f"person:{ada.id}"), ("shared", "owner"), ("no", "owner")):
                row = chat_row(name)
                row.owner, row.desktop_id = owner, f"d-{name}"
                session.add(row)
            await session.flush()
            session.add(chat_row("child", parent="shared"))

        await made.store.write(write)

        async def listed() -> set[str]:
            seen = visible_to(ada.id)
            page = await made.store.read_short(
                lambda s: chats.page(s, seen, parent=None, state=None, limit=9, cursor=None)
            )
            return {one.id for one in page.chats}

        async def granted(kind: str, name: str) -> tuple[str, ...]:
            asker = Principal("Ada", ("role:member",), person=ada.id)
            return await made.people.granted(asker, Need(kind, name, "view"))  # type: ignore[arg-type]

        assert await listed() == {"own"}
        assert await made.people.owner_name("own") == "Ada"
        assert await made.people.owner_name("shared") == ""
        assert await made.people.owner_name("unknown") == ""
        assert await granted("chat", "child") == ()
        assert await granted("desktop", "d-own") == ("desktop:d-own:control",)
        assert await granted("desktop", "d-shared") == ()
        assert await granted("anyone", "") == ()
        for wanted in (ada.id, EVERYONE):
            # A child alone is shared without what has started it.
            await made.people.share("child", wanted, "owner")
            assert await listed() == {"own", "child"}
            await made.people.unshare("child", wanted)
            # A child is shared with its parent, and twice is fine.
            for _ in range(2):
                await made.people.share("shared", wanted, "owner")
            assert await made.people.shared_with("shared") == (wanted,)
            assert await made.people.shared_with("child") == ()
            assert await listed() == {"own", "shared", "child"}
            assert await granted("chat", "child") == ("run:child:conversation", "run:child:stop")
            assert await granted("desktop", "d-shared") == ("desktop:d-shared:view",)
            await made.people.unshare("shared", wanted)
            assert await listed() == {"own"}
        with pytest.raises(UnknownRow):
            await made.people.unshare("shared", ada.id)
        with pytest.raises(UnknownRow):
            await made.people.share("shared", "nobody", "owner")
        await made.people.remove(ada.id)
        assert await made.people.owner_name("own") == "A removed person"

    opened(tmp_path, work)
