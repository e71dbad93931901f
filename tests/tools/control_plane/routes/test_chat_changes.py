import asyncio
from pathlib import Path
from uuid import uuid4

import pytest

from deskhand.tools.conversation.errors import IllegalMove
from tests.tools.control_plane.fakes import Json, control_plane

CHATS = "/api/v0/chats"
UNKNOWN_CHAT = str(uuid4())


@pytest.mark.parametrize("act", ["unarchive", "compact", "clear"])
def test_a_chat_at_rest_is_changed(tmp_path: Path, act: str) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = made.chats.add()
        async with made.client() as client:
            reply = await client.post(f"{CHATS}/{chat.id}/{act}")
            made.chats.failure = IllegalMove(act, "running")
            refused = await client.post(f"{CHATS}/{chat.id}/{act}")
            unknown = await client.post(f"{CHATS}/{UNKNOWN_CHAT}/{act}")
        assert (reply.status_code, reply.json()["id"]) == (200, chat.id)
        assert made.chats.asked[0] == (act, chat.id)
        assert refused.status_code == 409
        assert refused.json() == {"message": f"cannot {act} a chat that is running"}
        assert unknown.status_code == 404

    asyncio.run(scenario())


def test_a_chat_gets_another_title(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = made.chats.add()
        async with made.client() as client:
            reply = await client.patch(f"{CHATS}/{chat.id}", json={"title": "Other"})
            unknown = await client.patch(f"{CHATS}/{UNKNOWN_CHAT}", json={"title": "Other"})
        assert (reply.status_code, unknown.status_code) == (200, 404)
        assert made.chats.asked[0] == ("rename", chat.id, "Other")

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "body", [{}, {"title": " "}, {"title": 3}, {"title": "a" * 201}, {"title": "a", "mode": "x"}]
)
def test_a_wrong_edit_changes_nothing(tmp_path: Path, body: Json) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = made.chats.add()
        async with made.client() as client:
            reply = await client.patch(f"{CHATS}/{chat.id}", json=body)
        assert (reply.status_code, made.chats.asked) == (400, [])

    asyncio.run(scenario())
