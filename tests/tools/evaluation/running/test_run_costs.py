import asyncio
from typing import Any

from deskhand.tools.evaluation.result import RunCost
from deskhand.tools.evaluation.running.run_costs import cost_of

Json = dict[str, Any]
USAGE = {"input_tokens": 10, "output_tokens": 1, "cache_read_tokens": 5, "cache_write_tokens": 2}
PICTURE = {"type": "picture", "file_id": "f"}


def chat(steps: int, usd: float, *children: str) -> Json:
    asked = {"usage": {"input_tokens": 1}}
    made = [asked] * steps + [{"usage": None}]
    return {"steps": made, "usage": {**USAGE, "cost_usd": usd}, "children": list(children)}


CHATS = {
    "agent": (chat(2, 0.5, "first", "second"), [{"content": [PICTURE, {"content": [PICTURE]}]}]),
    "first": (chat(1, 0.25, "below"), [{"content": [PICTURE, {"type": "text", "text": "a"}]}]),
    "second": (chat(0, 0.0), []),
    "below": (chat(3, 0.125), []),
}


def test_the_cost_of_a_run_has_its_subagents() -> None:
    async def read(path: str) -> Json:
        name, _, messages = path.removeprefix("/api/v0/chats/").partition("/")
        found, sent = CHATS[name]
        return {"messages": sent} if messages else found

    cost = asyncio.run(cost_of(read, "agent", 12.3456))
    assert cost == RunCost(10, 3, 6, 40, 4, 20, 8, 0.875, 12.35)
