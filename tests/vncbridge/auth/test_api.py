import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI, Request
from starlette.websockets import WebSocket
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin

from deskhand.vncbridge.auth.api import tickets_router, tokens_router
from deskhand.vncbridge.auth.credentials import Credentials
from deskhand.vncbridge.auth.middleware import install_auth
from deskhand.vncbridge.auth.policy import AccessPolicy, Principal
from deskhand.vncbridge.auth.request_headers import PAGE_KEY
from deskhand.vncbridge.server.server import Address, Serving, listening

OWNER = {"Authorization": "Bearer dh_owner"}
LIMIT = 20.0
KIN = {"c1": {"c1"}, "c2": {"c2", "c1"}, "f1": {"c1"}}


async def kin(kind: str, name: str) -> frozenset[str]:
    return frozenset(KIN.get(name, {name}))


async def me(_: Request) -> str:
    return "me"


def own_url(desktop: str, bearer: Principal, seconds: float) -> str:
    if bearer.origin:
        return ""
    return f"wss://there/{desktop}?{bearer.name}&{bearer.scopes[0]}&{bearer.via}&{seconds:g}"


def application() -> FastAPI:
    credentials = Credentials("cafe0123", lambda: 1_000_000.0)
    credentials.accept_token("dh_owner", Principal("owner"))
    app = FastAPI()
    app.include_router(tokens_router(credentials, lambda: "http://here"))
    app.include_router(tickets_router(credentials, "/api/v0/desktop/tickets", me, own_url))

    @app.websocket("/api/v0/desktop/vnc")
    async def vnc(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.send_text(str(websocket.scope["state"]["principal"].scopes))
        await websocket.close()

    @app.post("/api/v0/tools/say")
    async def say(request: Request) -> dict[str, str]:
        return {"chat": request.headers.get("deskhand-chat-id", "")}

    @app.get("/api/v0/chats/{chat_id}")
    @app.get("/api/v0/files/{chat_id}")
    async def chat(chat_id: str) -> dict[str, str]:
        return {"id": chat_id}

    install_auth(app, AccessPolicy(desktop="me"), credentials, kin=kin)
    return app


def served(scenario: Callable[[httpx2.AsyncClient, str], Awaitable[None]]) -> None:
    async def run() -> None:
        server = Serving(application())
        with listening(Address("127.0.0.1", 0)) as (bound, address):
            serving = asyncio.create_task(server.run_until_asked(bound))
            try:
                async with (
                    asyncio.timeout(LIMIT),
                    httpx2.AsyncClient(base_url=address.url, timeout=LIMIT) as client,
                ):
                    await scenario(client, address.url.replace("http", "ws", 1))
            finally:
                server.ask_to_end()
                await serving

    asyncio.run(run())


async def issue(client: httpx2.AsyncClient, *scopes: str, **more: Any) -> dict[str, Any]:
    body = {"scopes": list(scopes), **more}
    answer = await client.post("/api/v0/tokens", json=body, headers=OWNER)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def bearer(made: dict[str, Any]) -> dict[str, str]:
    return {"Authorization": f"Bearer {made['token']}"}


def test_tokens_are_made_listed_and_taken_back() -> None:
    async def scenario(client: httpx2.AsyncClient, _: str) -> None:
        made = await issue(client, "chat:c1", name="ci")
        listed = (await client.get("/api/v0/tokens", headers=OWNER)).json()["tokens"]
        assert [one["name"] for one in listed] == ["ci"]
        assert made["token"] not in str(listed)
        assert (await client.get("/api/v0/chats/c1", headers=bearer(made))).status_code == 200
        path = f"/api/v0/tokens/{made['id']}"
        assert (await client.delete(path, headers=OWNER)).status_code == 204
        assert (await client.delete(path, headers=OWNER)).status_code == 404
        assert (await client.get("/api/v0/chats/c1", headers=bearer(made))).status_code == 401

    served(scenario)


def test_only_an_administrator_makes_tokens_and_only_of_scopes_there_are() -> None:
    async def scenario(client: httpx2.AsyncClient, _: str) -> None:
        made = await issue(client, "chat:c1")
        answers = [
            await client.post("/api/v0/tokens", json=body, headers=headers)
            for body, headers in (
                ({"scopes": ["admin"]}, bearer(made)),
                ({"scopes": ["root"]}, OWNER),
                ({"scopes": []}, OWNER),
                ({"scopes": ["admin"], "ttl_s": 0}, OWNER),
            )
        ]
        assert [answer.status_code for answer in answers] == [403, 400, 400, 400]
        assert (await client.post("/api/v0/login/codes", headers=bearer(made))).status_code == 403

    served(scenario)


def test_the_document_tells_what_scopes_there_are() -> None:
    schema = application().openapi()["components"]["schemas"]["NewToken"]["properties"]["scopes"]
    assert re.search(schema["items"]["pattern"], "run:0b1c:view")
    assert not re.search(schema["items"]["pattern"], "run:0b1c:view of all")


def test_a_share_link_works_a_week_and_opens_one_run_only() -> None:
    async def scenario(client: httpx2.AsyncClient, _: str) -> None:
        made = await issue(client, "run:c1:view")
        assert made["expires_at"] == 1_000_000.0 + 7 * 24 * 3600
        assert made["url"] == f"http://here/login?next=/runs/c1#code={made['token']}"
        signed = await client.post("/api/v0/login", json={"code": made["token"]})
        assert signed.status_code == 200
        key = {PAGE_KEY: signed.json()["page_key"]}
        found = [
            (await client.get(path, headers=key)).status_code
            for path in ("/api/v0/chats/c1", "/api/v0/chats/c9", "/api/v0/files/f1")
        ]
        assert found == [200, 403, 200]
        # The client has kept the cookie: revoking ends its session as well.
        await client.delete(f"/api/v0/tokens/{made['id']}", headers=OWNER)
        assert (await client.get("/api/v0/chats/c1", headers=key)).status_code == 401

    served(scenario)


def test_a_share_link_may_include_the_live_view_and_names_its_creator() -> None:
    async def scenario(client: httpx2.AsyncClient, _: str) -> None:
        made = await issue(client, "run:c1:view", "desktop:d1:view")
        assert made["expires_at"] == 1_000_000.0 + 7 * 24 * 3600
        assert "/runs/c1#code=" in made["url"]
        listed = (await client.get("/api/v0/tokens", headers=OWNER)).json()["tokens"]
        assert [one["created_by"] for one in listed] == [made["created_by"]] == ["owner"]
        # Control of a desktop is no share: it has no end of its own.
        assert (await issue(client, "run:c1:view", "desktop:d1:control"))["expires_at"] is None

    served(scenario)


def test_a_token_of_a_chat_speaks_for_no_other() -> None:
    async def scenario(client: httpx2.AsyncClient, _: str) -> None:
        headers = bearer(await issue(client, "chat:c1"))
        say = "/api/v0/tools/say"
        assert (await client.post(say, headers=headers)).json() == {"chat": "c1"}
        below = {**headers, "Deskhand-Chat-Id": "c2"}
        assert (await client.post(say, headers=below)).json() == {"chat": "c2"}
        for name in ("Deskhand-Chat-Id", "Coder-Chat-Id"):
            foreign = {**headers, name: "c9"}
            assert (await client.post(say, headers=foreign)).status_code == 403

    served(scenario)


def test_a_ticket_opens_one_socket_in_its_role() -> None:
    async def scenario(client: httpx2.AsyncClient, sockets: str) -> None:
        answer = await client.post("/api/v0/desktop/tickets", json={"role": "view"}, headers=OWNER)
        assert answer.status_code == 201
        assert answer.json()["expires_at"] == 1_000_030.0
        address = f"{sockets}/api/v0/desktop/vnc?ticket={answer.json()['ticket']}"
        async with connect(address) as socket:
            assert await socket.recv() == "('desktop:me:view',)"
        with pytest.raises(InvalidStatus) as refused:
            await connect(address)
        assert refused.value.response.status_code == 401

    served(scenario)


def test_a_ticket_gives_no_more_than_its_asker_has() -> None:
    async def scenario(client: httpx2.AsyncClient, _: str) -> None:
        headers = bearer(await issue(client, "desktop:me:view"))
        path = "/api/v0/desktop/tickets"
        asked = [
            (await client.post(path, json=body, headers=headers)).status_code
            for body in ({"role": "control"}, {"role": "view"}, {"role": "root"}, {"ttl_s": 301})
        ]
        assert asked == [403, 201, 400, 400]
        assert (await client.post(path, headers=headers)).status_code == 201

    served(scenario)


def test_the_address_of_a_desktop_of_its_own_gets_the_rights_of_the_ticket() -> None:
    async def scenario(client: httpx2.AsyncClient, _: str) -> None:
        made = await issue(client, "desktop:me:view", name="guest")
        path = "/api/v0/desktop/tickets"
        answer = await client.post(path, json={"ttl_s": 9}, headers=bearer(made))
        named = f"guest&desktop:me:view&('token:{made['id']}',)&9"
        assert answer.json()["url"] == f"wss://there/me?{named}"
        # One that has none is reached through the service.
        elsewhere = {"origin": "https://desk.example"}
        answer = await client.post(path, json=elsewhere, headers=bearer(made))
        assert set(answer.json()) == {"ticket", "expires_at", "role"}

    served(scenario)


def test_a_ticket_that_names_an_origin_opens_the_stream_for_its_page() -> None:
    async def scenario(client: httpx2.AsyncClient, sockets: str) -> None:
        page = Origin("https://page.example")

        async def stream(body: dict[str, str]) -> str:
            path = "/api/v0/desktop/tickets"
            made = (await client.post(path, json=body, headers=OWNER)).json()
            return f"{sockets}/api/v0/desktop/vnc?ticket={made['ticket']}"

        async with connect(await stream({"origin": page}), origin=page) as socket:
            assert await socket.recv() == "('desktop:me:view',)"
        for body in ({}, {"origin": "https://other.example"}):
            with pytest.raises(InvalidStatus) as refused:
                await connect(await stream(body), origin=page)
            assert refused.value.response.status_code == 403
        wrong = {"origin": "page.example/path"}
        answer = await client.post("/api/v0/desktop/tickets", json=wrong, headers=OWNER)
        assert answer.status_code == 400

    served(scenario)
