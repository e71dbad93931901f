import asyncio
from typing import Any

import httpx2
import pytest
from starlette.responses import PlainTextResponse

from deskhand.desktop.tool_calls.api import GenerationFence
from deskhand.desktop.tool_calls.generations import Generations


def answers(*requests: dict[str, str]) -> list[tuple[int, Any]]:
    """Return status and body of requests with these headers, one after the other."""

    async def scenario() -> list[tuple[int, Any]]:
        fence = GenerationFence(PlainTextResponse("performed"), Generations())
        transport = httpx2.ASGITransport(app=fence)
        async with httpx2.AsyncClient(transport=transport, base_url="http://desktop") as client:
            found = [await client.get("/", headers=headers) for headers in requests]
        return [(one.status_code, one.text if one.is_success else one.json()) for one in found]

    return asyncio.run(scenario())


def sent(chat: str, generation: str) -> dict[str, str]:
    return {"Deskhand-Chat-Id": chat, "Deskhand-Generation": generation}


def test_a_request_of_a_stale_control_plane_is_answered_409_and_not_performed() -> None:
    first, second, stale, other, plain = answers(
        *(sent("a", "1"), sent("a", "2"), sent("a", "1"), sent("b", "1"), {})
    )
    assert first == second == other == plain == (200, "performed")
    assert stale[0] == 409
    assert stale[1]["code"] == "stale_driver"
    assert stale[1]["message"] == "Another control plane drives the chat."


@pytest.mark.parametrize("generation", ["x", "-1"])
def test_a_malformed_generation_is_answered_400(generation: str) -> None:
    assert answers(sent("a", generation)) == [
        (400, {"message": "The generation must be a whole number, not negative."})
    ]
