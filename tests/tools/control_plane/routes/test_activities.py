import asyncio
from pathlib import Path

from tests.tools.control_plane.fakes import control_plane

CHATS = "/api/v0/chats"


def test_what_people_do_is_shown_with_the_run(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = made.chats.add(state="running")
        async with made.client() as client:
            await client.post(f"{CHATS}/{chat.id}/messages", json={"message": "Use blue."})
            await client.post(f"{CHATS}/{chat.id}/answer", json={"answer": "yes"})
            late = await client.post(f"{CHATS}/{chat.id}/interrupt", json={"after_step": True})
            await client.post(f"{CHATS}/{chat.id}/interrupt")
            found = (await client.get(f"/api/v0/runs/{chat.id}")).json()["people"]
        assert late.status_code == 200
        assert made.chats.activities.asked == [("stop_after_step", chat.id)]
        assert [(one["kind"], one["by"], one["text"]) for one in found] == [
            ("message", "admin", "Use blue."),
            ("answer", "admin", "yes"),
            ("stop", "admin", ""),
            ("stop", "admin", ""),
        ]

    asyncio.run(scenario())


def test_a_run_begins_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = made.chats.add()
        path = f"{CHATS}/{chat.id}/run-again"
        async with made.client() as client:
            again = await client.post(path)
            forked = await client.post(path, json={"prompt": "Other"})
            blank = await client.post(path, json={"prompt": " "})
        assert (again.status_code, forked.status_code, blank.status_code) == (201, 201, 400)
        assert made.chats.activities.asked == [
            ("run_again", chat.id, None, "owner"),
            ("run_again", chat.id, "Other", "owner"),
        ]

    asyncio.run(scenario())
