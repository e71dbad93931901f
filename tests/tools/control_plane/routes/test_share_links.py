"""What a share link shows of a run."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deskhand.tools.conversation.views import MessageView
from tests.tools.control_plane.fakes import ControlPlaneFixture, control_plane

CHAT = "0b1c6a52-4a7e-4d57-8f0c-6f2b8f4c2d11"
OTHER = "9d2f3e64-1b0c-4f9b-9a55-0c7a6b1e8f22"
VIEW, CONVERSATION = (f"run:{CHAT}:view",), (f"run:{CHAT}:conversation",)
CHAT_TOKEN = (f"chat:{CHAT}",)


def run_of(tmp_path: Path, scopes: tuple[str, ...]) -> tuple[ControlPlaneFixture, dict[str, str]]:
    """A run with a message, an attached file and a picture of a step; its files by kind."""
    made = control_plane(tmp_path, scopes=scopes)
    made.chats.add(id=CHAT, report="Done.")
    files = [
        made.files.add(kind=kind, chat_id=CHAT) for kind in ("attachment", "step", "recording")
    ]
    made.chats.files_of[CHAT] = tuple(files)
    made.chats.messages_of[CHAT] = (MessageView(1, CHAT, 0, "user", (), 1.0),)
    return made, {file.kind: file.id for file in files}


def statuses(tmp_path: Path, scopes: tuple[str, ...]) -> dict[str, int]:
    async def scenario() -> dict[str, int]:
        made, files = run_of(tmp_path, scopes)
        paths = {
            "run": f"/api/v0/runs/{CHAT}",
            "chat": f"/api/v0/chats/{CHAT}",
            "messages": f"/api/v0/chats/{CHAT}/messages",
            **{kind: f"/api/v0/files/{file}" for kind, file in files.items()},
        }
        async with made.client() as client:
            return {name: (await client.get(path)).status_code for name, path in paths.items()}

    return asyncio.run(scenario())


PAGE = {"run": 200, "chat": 200, "step": 200, "recording": 200}


@pytest.mark.parametrize(
    ("scopes", "expected"),
    [
        (VIEW, {**PAGE, "messages": 403, "attachment": 403}),
        (CONVERSATION, {**PAGE, "messages": 200, "attachment": 200}),
        (CHAT_TOKEN, {**PAGE, "messages": 200, "attachment": 200}),
        (("admin",), {**PAGE, "messages": 200, "attachment": 200}),
        ((f"run:{OTHER}:conversation",), dict.fromkeys((*PAGE, "messages", "attachment"), 403)),
    ],
)
def test_a_share_link_covers_the_conversation_only_if_requested(
    tmp_path: Path, scopes: tuple[str, ...], expected: dict[str, int]
) -> None:
    assert statuses(tmp_path, scopes) == expected


@pytest.mark.parametrize(
    ("scopes", "kinds"),
    [
        (VIEW, {"step", "recording"}),
        (CONVERSATION, {"attachment", "step", "recording"}),
    ],
)
@pytest.mark.parametrize(
    ("path", "body"),
    [
        (f"/api/v0/chats/{CHAT}", lambda body: body),
        (f"/api/v0/runs/{CHAT}", lambda body: body["chat"]),
    ],
)
def test_attached_files_are_listed_with_the_conversation(
    tmp_path: Path,
    scopes: tuple[str, ...],
    kinds: set[str],
    path: str,
    body: Callable[[Any], Any],
) -> None:
    async def scenario() -> None:
        made, _ = run_of(tmp_path, scopes)
        async with made.client() as client:
            chat = body((await client.get(path)).json())
        assert chat["report"] == "Done."
        assert {file["kind"] for file in chat["files"]} == kinds

    asyncio.run(scenario())
