"""Answers to what a run asks: typed here, or given on its page."""

import asyncio
from contextlib import aclosing
from typing import Any

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopRefused
from deskhand.tools.commands.output.table import harmless
from deskhand.tools.commands.terminal import typed_line

from .changes import changes
from .progress import Progress

BAD_REQUEST, CONFLICT = 400, 409
Json = dict[str, Any]


async def answered(
    client: DesktopClient, chat_id: str, question: Json, timeout: float, progress: Progress
) -> bool:
    """Wait for an answer, from this terminal or from the run's page; return whether one came."""
    progress.pause()
    progress.line(f"It asks: {harmless(str(question['question']))}")
    prompt = "approve, refuse or always: " if question["kind"] == "approval" else "Answer: "
    typing = asyncio.create_task(typed_line(prompt), name="typed answer")
    elsewhere = asyncio.create_task(_answered_elsewhere(client, chat_id), name="answered elsewhere")
    try:
        done, _ = await asyncio.wait(
            {typing, elsewhere}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED
        )
        if typing in done:
            body = {"answer": typing.result(), "question": question["id"]}
            try:
                await client.request("POST", f"/api/v0/chats/{chat_id}/answer", json=body)
            except DesktopRefused as error:
                # Not a decision, or answered elsewhere: the next wait returns what is open now.
                if error.status not in (BAD_REQUEST, CONFLICT):
                    raise
                progress.line(f"  {error}")
        return bool(done)
    finally:
        for task in (typing, elsewhere):
            task.cancel()
        await asyncio.gather(typing, elsewhere, return_exceptions=True)
        progress.resume()


async def _answered_elsewhere(client: DesktopClient, chat_id: str) -> None:
    async with aclosing(changes(client, chat_id)) as seen:
        async for chat in seen:
            if chat["state"] != "requires_action":
                return
