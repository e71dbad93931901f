import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
from fastapi import FastAPI

from deskhand.desktop.git.attribution import MOST_CHATS, Attribution
from deskhand.desktop.git.attribution_api import router
from deskhand.desktop.git.credentials import GitCredentials
from deskhand.desktop.git.errors import InvalidCredential
from deskhand.desktop.git.touched_paths import PathStore
from deskhand.desktop.tool_calls.caller import CallingChat
from tests.tools.control_plane.fakes import LIMIT, serving, unix_socket

CHAT, OTHER = str(uuid4()), str(uuid4())
ORIGIN = "https://me:hush@host/r.git"
MARK = {"branch": "main", "remote_origin": ORIGIN}

Scenario = Callable[[httpx2.AsyncClient, PathStore], Awaitable[None]]


def play(folder: Path, scenario: Scenario) -> None:
    hidden: list[str] = []

    def hide(password: str) -> None:
        if password == "short":
            raise InvalidCredential("too short to hide")
        hidden.append(password)

    async def scene() -> None:
        store, credentials = PathStore(), GitCredentials()
        attribution = Attribution(store, credentials, lambda *_: None, lambda: 101.0)
        app = FastAPI()
        app.include_router(router(credentials, attribution, hide))
        transport = httpx2.AsyncHTTPTransport(uds=str(folder / "s"))
        async with (
            asyncio.timeout(LIMIT),
            serving(app, unix_socket(folder / "s")),
            httpx2.AsyncClient(transport=transport, base_url="http://desktop/api/v0/git/") as http,
        ):
            await scenario(http, store)

    asyncio.run(scene())


async def response(reply: Awaitable[httpx2.Response]) -> tuple[int, Any]:
    found = await reply
    return found.status_code, found.json() if found.content else None


def test_credentials_are_stored_listed_and_removed(tmp_path: Path) -> None:
    async def scenario(http: httpx2.AsyncClient, store: PathStore) -> None:
        given = {"url": "https://Host/r.git", "username": "me", "password": "a password"}
        kept = {"url": "https://host", "username": "me"}
        assert await response(http.put("credentials", json=given)) == (200, kept)
        assert await response(http.get("credentials")) == (200, {"credentials": [kept]})
        where = {"url": "https://host"}
        assert (await http.delete("credentials", params=where)).status_code == 204
        status, body = await response(http.delete("credentials", params=where))
        assert (status, body["detail"]["message"]) == (
            404,
            "There is no credential for this server.",
        )
        for wrong in (given | {"url": "host"}, given | {"password": "short"}):
            status, body = await response(http.put("credentials", json=wrong))
            assert (status, body["detail"]["message"]) == (400, "This credential cannot be kept.")
        assert (await http.delete("credentials", params={"url": "?"})).status_code == 400
        assert await response(http.get("credentials")) == (200, {"credentials": []})

    play(tmp_path, scenario)


def test_one_chat_is_marked_or_all_of_them(tmp_path: Path) -> None:
    ref = {"branch": "main", "remote_origin": "https://host/r.git", "stale_at": 100.0}

    async def scenario(http: httpx2.AsyncClient, store: PathStore) -> None:
        store.note(CallingChat(OTHER), ["/somewhere"])
        one = MARK | {"chat_id": CHAT}
        assert await response(http.post("stale", json=one)) == (200, {"chat_ids": [CHAT]})
        assert await response(http.get("refs")) == (200, {"refs": [{"chat_id": CHAT, **ref}]})
        both = sorted([CHAT, OTHER])
        assert await response(http.post("stale", json=MARK)) == (200, {"chat_ids": both})
        found = (await response(http.get("refs", params={"chat_id": OTHER})))[1]
        assert found == {"refs": [{"chat_id": OTHER, **ref}]}

    play(tmp_path, scenario)


def test_without_a_branch_or_an_origin_nothing_is_marked(tmp_path: Path) -> None:
    async def scenario(http: httpx2.AsyncClient, store: PathStore) -> None:
        with store.subscribed(CHAT) as woken:
            for blank in ({"branch": " "}, {"remote_origin": ""}):
                asked = MARK | {"chat_id": CHAT} | blank
                assert await response(http.post("stale", json=asked)) == (200, {"chat_ids": []})
            assert not woken.is_set()
        assert await response(http.get("refs")) == (200, {"refs": []})

    play(tmp_path, scenario)


def test_the_marks_of_the_newest_chats_are_kept() -> None:
    attribution = Attribution(PathStore(), GitCredentials(), lambda *_: None, lambda: 1.0)
    for number in range(MOST_CHATS + 1):
        attribution.mark_stale(f"chat {number}", "main", ORIGIN)
    assert len(attribution.refs()) == MOST_CHATS
    assert not attribution.refs("chat 0")
