"""The sign-in with a real provider on the loopback interface, which lies where it should not."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from itertools import cycle
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI
from sqlalchemy import text

pytest.importorskip("authlib", reason="the optional library of this sign-in")

from joserfc.jwk import ECKey

from deskhand.tools.credentials.accepted import load_credentials
from deskhand.tools.credentials.database_clock import DatabaseClock
from deskhand.tools.oidc.api import OidcRules, router
from deskhand.tools.oidc.claims import parse_roles
from deskhand.tools.oidc.provider import OidcProvider
from deskhand.tools.oidc.sign_in_secret import SignInSecret
from deskhand.tools.oidc.used_sign_ins import UsedSignIns
from deskhand.tools.people.people import People
from deskhand.tools.store.database import Store
from deskhand.vncbridge.auth.credentials import Credentials
from deskhand.vncbridge.auth.policy import Principal, digest
from tests.tools.oidc.fake_provider import CLIENT, SECRET, SmallProvider, small_provider
from tests.tools.store.fakes import database

RULES = OidcRules(parse_roles(["engineers=member", "admins=owner"]))


class Signing:
    """A browser, the provider, and who has signed in."""

    def __init__(
        self,
        client: httpx2.AsyncClient,
        store: Store,
        provider: SmallProvider,
        people: People,
        credentials: Credentials,
    ) -> None:
        self.client = client
        self.store = store
        self.provider = provider
        self.people = people
        self.credentials = credentials
        self.cookie = ""

    async def begin(self) -> str:
        """Return where the provider sends the browser back to."""
        answer = await self.client.get("/login/oidc")
        assert answer.status_code == 303, answer.text
        return self.provider.sign_in(answer.headers["location"])

    async def sign_in(self) -> httpx2.Response:
        """Return the answer to the browser that comes back, and sign in as its page does."""
        answer = await self.client.get(await self.begin())
        if code := re.search(r'#code=([\w-]+)"', answer.text):
            self.cookie = await self.credentials.sign_in(code[1]) or ""
        return answer

    def principal(self) -> Principal | None:
        return self.credentials.by_cookie(self.cookie)


def app_of(
    store: Store,
    provider: SmallProvider,
    people: People,
    credentials: Credentials,
    secret: str = SECRET,
    seconds: float = 600.0,
) -> FastAPI:
    app = FastAPI()
    asked, used = OidcProvider(provider.url, CLIENT, secret), UsedSignIns(store)
    app.include_router(router(asked, RULES, people, credentials, used, seconds))
    return app


def signing(
    folder: Path,
    work: Callable[[Signing], Awaitable[None]],
    secret: str = SECRET,
    seconds: float = 600.0,
) -> None:
    async def scenario(provider: SmallProvider) -> None:
        async with await Store.open(database(folder / "deskhand.db")) as store:
            people = People(store, lambda: 1000.0)
            credentials = Credentials("0123456789", lambda: 1000.0, people=people)
            app = app_of(store, provider, people, credentials, secret, seconds)
            transport = httpx2.ASGITransport(app)
            async with httpx2.AsyncClient(
                transport=transport, base_url="http://127.0.0.1"
            ) as client:
                made = Signing(client, store, provider, people, credentials)
                await work(made)

    with small_provider() as provider:
        asyncio.run(scenario(provider))


def test_a_person_signs_in_with_the_role_of_the_group(tmp_path: Path) -> None:
    async def work(made: Signing) -> None:
        answer = await made.sign_in()
        assert answer.status_code == 200, answer.text
        found = made.principal()
        assert found is not None
        assert (found.name, found.scopes) == ("Ada", ("role:member",))
        # The same person again, whose groups and name are others.
        made.provider.claims |= {"groups": ["engineers", "admins"], "name": "Ada King"}
        assert (await made.sign_in()).status_code == 200
        (ada,) = made.people.all
        assert (ada.name, ada.role) == ("Ada", "owner")
        # Another person of the same name is another one.
        made.provider.claims |= {"sub": "18", "name": "Ada"}
        assert (await made.sign_in()).status_code == 200
        assert [one.name for one in made.people.all] == ["Ada", "Ada 2"]

    signing(tmp_path, work)


def test_the_page_that_was_requested_follows_the_sign_in(tmp_path: Path) -> None:
    async def work(made: Signing) -> None:
        for wanted, path in (
            ('/runs/7?t=1&x="2"', "/runs/7%3Ft%3D1%26x%3D%222%22"),
            ("//evil.example", "//evil.example"),
            ("#code=other", "%23code%3Dother"),
        ):
            begun = await made.client.get("/login/oidc", params={"next": wanted})
            back = made.provider.sign_in(begun.headers["location"])
            answer = await made.client.get(back)
            # The sign-in page leads to addresses of its own service only.
            assert f"url=../../login?next={path}#code=" in answer.text
            assert answer.headers["cache-control"] == "no-store"

    signing(tmp_path, work)


def test_a_person_without_a_group_does_not_sign_in(tmp_path: Path) -> None:
    async def work(made: Signing) -> None:
        made.provider.claims["groups"] = ["<others>"]
        answer = await made.sign_in()
        assert answer.status_code == 403
        assert "has a role here" in answer.text
        assert made.people.all == ()
        assert made.principal() is None

    signing(tmp_path, work)


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "http://127.0.0.1:1"},
        {"aud": "another client"},
        {"nonce": "of another sign-in"},
        {"exp": 1000},
    ],
)
def test_a_token_for_something_else_is_refused(tmp_path: Path, changes: dict[str, object]) -> None:
    async def work(made: Signing) -> None:
        made.provider.changes = changes
        assert (await made.sign_in()).status_code == 403
        assert made.principal() is None

    signing(tmp_path, work)


def test_a_token_that_another_key_has_signed_is_refused(tmp_path: Path) -> None:
    async def work(made: Signing) -> None:
        made.provider.signing = ECKey.generate_key("P-256", parameters={"kid": "k1"})
        assert (await made.sign_in()).status_code == 403
        assert made.principal() is None

    signing(tmp_path, work)


def test_a_sign_in_belongs_to_one_browser_once_and_for_a_while(tmp_path: Path) -> None:
    async def work(made: Signing) -> None:
        back = await made.begin()
        held = dict(made.client.cookies)
        made.client.cookies.clear()
        assert (await made.client.get(back)).status_code == 403
        made.client.cookies.update(held)
        assert (await made.client.get("/login/oidc/callback?state=x&code=one")).status_code == 403
        assert (await made.client.get(back)).status_code == 200
        made.client.cookies.update(held)
        assert (await made.client.get(back)).status_code == 403

    async def late(made: Signing) -> None:
        assert (await made.sign_in()).status_code == 403

    signing(tmp_path, work)
    signing(tmp_path, late, seconds=0.0)


def test_sign_ins_that_others_begin_push_out_none(tmp_path: Path) -> None:
    async def work(made: Signing) -> None:
        back = await made.begin()
        held = made.client.cookies["deskhand_oidc"]
        for _ in range(20):
            # Anybody may begin one, in any number.
            await made.client.get("/login/oidc")
            made.client.cookies.clear()
        made.client.cookies.set("deskhand_oidc", held)
        assert (await made.client.get(back)).status_code == 200

    signing(tmp_path, work)


def test_what_the_provider_and_the_database_have_does_not_show_the_verifier(tmp_path: Path) -> None:
    async def work(made: Signing) -> None:
        back = await made.begin()
        secret = SignInSecret(made.client.cookies["deskhand_oidc"])
        assert made.provider.asked["state"] == secret.state
        assert (await made.client.get(back)).status_code == 200
        rows = await made.store.read(lambda s: s.execute(text("SELECT * FROM begun_sign_ins")))
        stored = str(rows.all())
        assert digest(secret.state) in stored
        for one in (secret.value, secret.state, secret.nonce, secret.verifier):
            assert one not in stored
        assert secret.verifier not in str(made.provider.asked)

    signing(tmp_path, work)


class RoundRobin(httpx2.AsyncBaseTransport):
    """A proxy that sends each request to the next of several services."""

    def __init__(self, apps: Iterable[FastAPI]) -> None:
        self._next = cycle([httpx2.ASGITransport(app) for app in apps])

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return await next(self._next).handle_async_request(request)


@asynccontextmanager
async def plane(folder: Path, provider: SmallProvider) -> AsyncIterator[tuple[FastAPI, People]]:
    """Open one of several control planes on one database."""
    async with await Store.open(database(folder / "deskhand.db")) as store:
        clock = DatabaseClock(time.time)
        await clock.read(store)
        people = People(store, clock)
        credentials = await load_credentials(store, folder, "dh_owner", people, shared=clock)
        yield app_of(store, provider, people, credentials), people


def over_two(
    folder: Path,
    work: Callable[[httpx2.AsyncClient, SmallProvider, list[People]], Awaitable[None]],
) -> None:
    """Await ``work`` with a browser whose requests go to two control planes in turn."""

    async def scenario(provider: SmallProvider) -> None:
        async with plane(folder, provider) as one, plane(folder, provider) as other:
            proxy = RoundRobin((one[0], other[0]))
            async with httpx2.AsyncClient(transport=proxy, base_url="http://plane") as client:
                await work(client, provider, [one[1], other[1]])

    with small_provider() as provider:
        asyncio.run(scenario(provider))


def test_a_sign_in_that_begins_at_one_control_plane_ends_at_another(tmp_path: Path) -> None:
    async def work(
        client: httpx2.AsyncClient, provider: SmallProvider, people: list[People]
    ) -> None:
        begun = await client.get("/login/oidc", params={"next": "/runs/7"})
        back = provider.sign_in(begun.headers["location"])
        held = client.cookies["deskhand_oidc"]
        answer = await client.get(back)
        assert answer.status_code == 200, answer.text
        assert "url=../../login?next=/runs/7#code=" in answer.text
        # Neither of them takes it a second time.
        for _ in people:
            client.cookies.set("deskhand_oidc", held)
            assert (await client.get(back)).status_code == 403

    over_two(tmp_path, work)


def test_a_person_whom_another_control_plane_has_just_added_is_known(tmp_path: Path) -> None:
    async def work(
        client: httpx2.AsyncClient, provider: SmallProvider, people: list[People]
    ) -> None:
        for groups in (["engineers"], ["admins"]):
            provider.claims["groups"] = groups
            begun = await client.get("/login/oidc")
            answer = await client.get(provider.sign_in(begun.headers["location"]))
            assert answer.status_code == 200, answer.text
            # The next sign-in ends at the other one.
            await client.get("/login/oidc/callback")
        await people[1].refresh()
        assert [(one.name, one.role) for one in people[0].all] == [("Ada", "owner")]
        assert people[1].all == people[0].all

    over_two(tmp_path, work)


def test_a_wrong_secret_and_a_provider_that_is_gone_are_reported(tmp_path: Path) -> None:
    async def refused(made: Signing) -> None:
        answer = await made.sign_in()
        assert answer.status_code == 403
        assert "invalid_grant" in answer.text

    signing(tmp_path, refused, secret="wrong")

    async def gone(made: Signing) -> None:
        made.provider.url = "http://127.0.0.1:1"
        answer = await made.client.get("/login/oidc")
        assert answer.status_code == 303
        back = made.provider.sign_in(answer.headers["location"])
        assert (await made.client.get(back)).status_code == 502

    signing(tmp_path, gone)
