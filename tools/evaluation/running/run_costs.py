"""The costs of a run: those of its agent and of all its subagents, from what the chats report."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from deskhand.tools.evaluation.result import RunCost

Json = dict[str, Any]
CHATS = "/api/v0/chats"


async def cost_of(read: Callable[[str], Awaitable[Json]], chat_id: str, seconds: float) -> RunCost:
    """Return the cost of a chat with all chats below it; ``read`` returns the JSON at a path.

    ``seconds`` is the time of the run. Errors of ``read`` pass through.
    """
    cost, open_chats = RunCost(), [chat_id]
    while open_chats:
        path = f"{CHATS}/{open_chats.pop()}"
        chat = await read(path)
        cost = cost.plus(_cost(chat, await read(f"{path}/messages")))
        open_chats += chat.get("children", ())
    return replace(cost, seconds=round(seconds, 2))


def _cost(chat: Json, sent: Json) -> RunCost:
    steps, usage = chat["steps"], chat["usage"]
    return RunCost(
        steps=len(steps),
        images=_pictures(sent["messages"]),
        requests=sum(step["usage"] is not None for step in steps),
        input_tokens=usage["input_tokens"],
        output_tokens=usage["output_tokens"],
        cache_read_tokens=usage["cache_read_tokens"],
        cache_write_tokens=usage["cache_write_tokens"],
        usd=usage["cost_usd"],
    )


def _pictures(value: object) -> int:
    """Return the number of pictures in messages, also within results of tools."""
    if isinstance(value, list):
        return sum(map(_pictures, value))
    if not isinstance(value, dict):
        return 0
    return (value.get("type") == "picture") + _pictures(list(value.values()))
