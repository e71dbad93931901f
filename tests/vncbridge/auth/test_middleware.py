import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import cast

import httpx2
import pytest
from fastapi import FastAPI, HTTPException, Request
from pydantic import BaseModel
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from deskhand.vncbridge.auth.credentials import Credentials
from deskhand.vncbridge.auth.middleware import AuthMiddleware, install_auth, owned_by_none
from deskhand.vncbridge.auth.policy import AccessPolicy, Principal
from deskhand.vncbridge.auth.request_headers import PAGE_KEY
from deskhand.vncbridge.server.server import Address, Serving, listening

TOKEN = "dh_test"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


class Thing(BaseModel):
    """What the test's route takes."""

    size: int


def application(credentials: Credentials) -> FastAPI:
    app = FastAPI()

    @app.get("/runs")
    @app.get("/page")
    async def page(request: Request) -> dict[str, str]:
        return {"who": request.scope["state"]["principal"].name}

    @app.post("/api/v0/things")
    async def things(thing: Thing) -> dict[str, int]:
        return {"size": thing.size}

    @app.post("/api/v0/raw")
    async def raw(request: Request) -> dict[str, int]:
        return {"length": len(await request.body())}

    @app.get("/api/v0/desktop/as/osworld/platform")
    async def dialect(request: Request) -> dict[str, str | None]:
        return {"authorization": request.headers.get("authorization")}

    @app.get("/api/v0/teapot")
    async def teapot() -> None:
        raise HTTPException(418, {"message": "I am a teapot.", "detail": "short and stout"})

    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    install_auth(app, AccessPolicy(), credentials)
    return app


def against_service(
    scenario: Callable[[httpx2.AsyncClient, Credentials], Awaitable[None]],
) -> None:
    async def run() -> None:
        credentials = Credentials("cafe0123", lambda: 1_000_000.0)
        credentials.accept_token(TOKEN, Principal("owner"))
        server = Serving(application(credentials))
        with listening(Address("127.0.0.1", 0)) as (bound, address):
            task = asyncio.create_task(server.serve(sockets=[bound]))
            try:
                async with httpx2.AsyncClient(base_url=address.url, timeout=20) as client:
                    await scenario(client, credentials)
            finally:
                server.ask_to_end()
                await task

    asyncio.run(run())


def test_health_needs_no_token_and_the_rest_does() -> None:
    async def scenario(client: httpx2.AsyncClient, _: Credentials) -> None:
        assert (await client.get("/healthz")).status_code == 200
        bare = await client.get("/api/v0/teapot")
        assert bare.status_code == 401
        assert bare.json()["message"] == "Sign in first."
        wrong = await client.get("/api/v0/teapot", headers={"Authorization": "Bearer dh_wrong"})
        assert wrong.status_code == 401
        assert (await client.get("/page", headers=BEARER)).json() == {"who": "owner"}

    against_service(scenario)


def test_a_page_without_a_session_leads_to_the_login_page() -> None:
    async def scenario(client: httpx2.AsyncClient, _: Credentials) -> None:
        answer = await client.get("/page", headers={"Accept": "text/html"})
        assert answer.status_code == 303
        assert answer.headers["location"] == "./login?next=/page"
        answer = await client.get("/page?q=a b&t=1", headers={"Accept": "text/html"})
        assert answer.headers["location"] == "./login?next=/page%3Fq%3Da%2520b%26t%3D1"

    against_service(scenario)


def test_a_code_becomes_a_strict_cookie_that_opens_the_page_until_signed_out() -> None:
    async def scenario(client: httpx2.AsyncClient, credentials: Credentials) -> None:
        body = {"code": await credentials.new_code()}
        signed = await client.post("/api/v0/login", json=body)
        assert signed.status_code == 200
        cookie = signed.headers["set-cookie"]
        assert cookie.startswith("deskhand_cafe0123=")
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        key = {PAGE_KEY: signed.json()["page_key"]}
        assert (await client.get("/page", headers=key)).json() == {"who": "browser"}
        again = await client.post("/api/v0/login", json=body)
        assert again.status_code == 401
        own = {"Origin": str(client.base_url).rstrip("/"), **key}
        assert (await client.post("/logout", headers=own)).status_code == 200
        assert (await client.get("/page", headers=key)).status_code == 401

    against_service(scenario)


def test_signing_out_ends_the_session_beside_cookies_of_other_services() -> None:
    async def scenario(client: httpx2.AsyncClient, credentials: Credentials) -> None:
        value = await credentials.sign_in(await credentials.new_code())
        client.cookies.clear()
        cookies = f'theme={{"dark": true}}; {credentials.cookie_name}={value}'
        headers = {"Origin": str(client.base_url).rstrip("/"), "Cookie": cookies}
        # Without the key it stays.
        assert (await client.post("/logout", headers=headers)).status_code == 401
        headers[PAGE_KEY] = credentials.page_keys.of(value or "", over_tls=False)
        assert (await client.get("/page", headers=headers)).status_code == 200
        assert (await client.post("/logout", headers=headers)).status_code == 200
        assert (await client.get("/page", headers=headers)).status_code == 401

    against_service(scenario)


def test_a_cookie_needs_the_key_of_its_own_session() -> None:
    async def scenario(client: httpx2.AsyncClient, credentials: Credentials) -> None:
        first, second = [
            (await client.post("/api/v0/login", json={"code": await credentials.new_code()})).json()
            for _ in range(2)
        ]
        assert (await client.get("/runs")).json() == {"who": "browser"}
        for key in ("", "x", "\u00e9", first["page_key"], first["page_key"][:-1]):
            headers = {PAGE_KEY.encode(): key.encode("latin-1")}
            refused = await client.get("/page", headers=headers)
            assert (refused.status_code, refused.json()["message"]) == (401, "Sign in again.")
        own = {PAGE_KEY: second["page_key"]}
        assert (await client.get("/page", headers=own)).json() == {"who": "browser"}
        client.cookies.clear()
        assert (await client.get("/page", headers=own)).status_code == 401

    against_service(scenario)


def test_a_ticket_answers_one_get_and_no_other_request() -> None:
    async def scenario(client: httpx2.AsyncClient, _: Credentials) -> None:
        async def ticket() -> dict[str, str]:
            made = await client.post("/api/v0/login/tickets", headers=BEARER)
            assert made.status_code == 201
            return {"ticket": made.json()["ticket"]}

        once = await ticket()
        assert (await client.get("/page", params=once)).json() == {"who": "owner"}
        assert (await client.get("/page", params=once)).status_code == 401
        body = {"size": 1}
        posted = await client.post("/api/v0/things", params=await ticket(), json=body)
        assert posted.status_code == 401

    against_service(scenario)


def test_a_file_that_is_opened_by_the_cookie_or_again_leads_to_the_login_page() -> None:
    async def scenario(client: httpx2.AsyncClient, credentials: Credentials) -> None:
        page = {"Accept": "text/html"}
        bare = await client.get("/api/v0/teapot", headers=page)
        assert bare.status_code == 401
        reload = await client.get("/api/v0/teapot?t=1&ticket=used", headers=page)
        assert reload.headers["location"] == "./../../login?next=/api/v0/teapot%3Ft%3D1"
        body = {"code": await credentials.new_code()}
        assert (await client.post("/api/v0/login", json=body)).is_success
        opened = await client.get("/api/v0/teapot", headers=page)
        assert opened.headers["location"] == "./../../login?next=/api/v0/teapot"
        assert (await client.get("/api/v0/teapot")).status_code == 401

    against_service(scenario)


def test_a_share_link_does_not_replace_the_session_of_a_person() -> None:
    async def scenario(client: httpx2.AsyncClient, credentials: Credentials) -> None:
        _, link = await credentials.issue("link", ("run:c1:view",), None)
        alone = (await client.post("/api/v0/login", json={"code": link})).json()
        assert not alone["for_tab"]
        owner = (
            await client.post("/api/v0/login", json={"code": await credentials.new_code()})
        ).json()
        assert not owner["for_tab"]
        guest = (await client.post("/api/v0/login", json={"code": link})).json()
        assert guest["for_tab"]
        answers = {
            name: await client.get("/page", headers={PAGE_KEY: made["page_key"]})
            for name, made in (("owner", owner), ("guest", guest), ("alone", alone))
        }
        assert answers["owner"].json() == {"who": "browser"}
        assert answers["guest"].status_code == 403
        # A person who signs in replaces the guest of before.
        assert answers["alone"].status_code == 401

    against_service(scenario)


def test_errors_have_one_shape() -> None:
    async def scenario(client: httpx2.AsyncClient, _: Credentials) -> None:
        teapot = await client.get("/api/v0/teapot", headers=BEARER)
        assert teapot.json() == {"message": "I am a teapot.", "detail": "short and stout"}
        missing = await client.get("/api/v0/nothing", headers=BEARER)
        assert missing.status_code == 404
        assert missing.json() == {"message": "Not Found"}
        invalid = await client.post("/api/v0/things", json={"size": "big"}, headers=BEARER)
        assert invalid.status_code == 400
        assert invalid.json()["validations"][0]["field"] == "size"

    against_service(scenario)


@pytest.mark.parametrize("second", ["evil.example", "localhost"])
def test_of_two_hosts_none_is_believed(second: str) -> None:
    async def scenario(client: httpx2.AsyncClient, _: Credentials) -> None:
        address = f"ws://{client.base_url.netloc.decode()}/nothing"
        # The client sends its own besides.
        with pytest.raises(InvalidStatus) as refused:
            await connect(address, additional_headers={**BEARER, "Host": second})
        assert refused.value.response.status_code == 421

    against_service(scenario)


@pytest.mark.parametrize("path", ["/page", "/api/v0/teapot", "/healthz", "/login", "/nothing"])
def test_a_foreign_host_is_refused_on_every_route(path: str) -> None:
    async def scenario(client: httpx2.AsyncClient, _: Credentials) -> None:
        answer = await client.get(path, headers={**BEARER, "Host": "evil.example"})
        assert answer.status_code == 421

    against_service(scenario)


def test_a_body_over_its_limit_is_refused_declared_or_not() -> None:
    async def scenario(client: httpx2.AsyncClient, _: Credentials) -> None:
        headers = {**BEARER, "Content-Type": "application/json"}
        big = b" " * (4 * 1024 * 1024 + 1)
        declared = await client.post("/api/v0/raw", content=big, headers=headers)
        assert declared.status_code == 413
        assert "4 MiB" in declared.json()["detail"]

        async def drip() -> AsyncIterator[bytes]:
            for start in range(0, len(big), 1 << 20):
                yield big[start : start + (1 << 20)]

        streamed = await client.post("/api/v0/raw", content=drip(), headers=headers)
        assert streamed.status_code == 413
        fits = await client.post("/api/v0/raw", content=big[:-1], headers=headers)
        assert fits.json() == {"length": 4 * 1024 * 1024}

    against_service(scenario)


def test_a_websocket_is_turned_away_with_plain_http() -> None:
    async def scenario(client: httpx2.AsyncClient, _: Credentials) -> None:
        url = str(client.base_url).replace("http", "ws") + "/api/v0/socket"
        with pytest.raises(InvalidStatus) as refused:
            async with connect(url):
                pytest.fail("must not open")
        assert refused.value.response.status_code == 401

    against_service(scenario)


def test_a_body_without_a_credential_must_not_stay_silent() -> None:
    async def run() -> None:
        app = application(Credentials("cafe0123", lambda: 1_000_000.0))
        credentials = Credentials("cafe0123", lambda: 1_000_000.0)
        edge = AuthMiddleware(
            app, AccessPolicy(), credentials, owned_by_none, silent_body_seconds=0.01
        )
        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        scope = {"type": "http", "method": "POST", "path": "/api/v0/login", "query_string": b""}
        sent: list[dict[str, object]] = []
        parts = [{"type": "http.request", "body": b"{", "more_body": True}]

        async def receive() -> dict[str, object]:
            if not parts:
                await asyncio.Event().wait()
            return parts.pop()

        async def send(message: MutableMapping[str, object]) -> None:
            sent.append(dict(message))

        async with asyncio.timeout(20):
            await edge({**scope, "scheme": "http", "headers": headers}, receive, send)
        assert sent[0]["status"] == 408
        assert (b"connection", b"close") in cast(list[tuple[bytes, bytes]], sent[0]["headers"])

    asyncio.run(run())


@pytest.mark.parametrize(
    "headers",
    [BEARER, {"Authorization": "Basic dTpkaF90ZXN0"}],
    ids=["bearer", "basic"],
)
def test_a_route_of_a_dialect_sees_a_bearer_token(headers: dict[str, str]) -> None:
    async def scenario(client: httpx2.AsyncClient, _: Credentials) -> None:
        answer = await client.get("/api/v0/desktop/as/osworld/platform", headers=headers)
        assert answer.json() == {"authorization": f"Bearer {TOKEN}"}

    against_service(scenario)


def test_the_credentials_of_dialects_count_nowhere_else() -> None:
    async def scenario(client: httpx2.AsyncClient, _: Credentials) -> None:
        answer = await client.get("/api/v0/teapot", headers={"X-API-Key": TOKEN})
        assert answer.status_code == 401
        basic = {"Authorization": "Basic dTpkaF90ZXN0"}
        assert (await client.get("/api/v0/teapot", headers=basic)).status_code == 401

    against_service(scenario)


def test_a_cookie_does_not_count_for_a_dialect() -> None:
    async def scenario(client: httpx2.AsyncClient, credentials: Credentials) -> None:
        code = {"code": await credentials.new_code()}
        signed = await client.post("/api/v0/login", json=code)
        key = {PAGE_KEY: signed.json()["page_key"]}
        assert (await client.get("/page", headers=key)).status_code == 200
        refused = await client.get("/api/v0/desktop/as/osworld/platform", headers=key)
        assert refused.status_code == 401

    against_service(scenario)
