"""Changes of a run while they happen."""

from collections.abc import AsyncGenerator
from typing import Any

from deskhand.desktop.client.http import DesktopClient

Json = dict[str, Any]


async def changes(client: DesktopClient, chat_id: str) -> AsyncGenerator[Json, None]:
    """Yield a run with its steps, and again after each change of it.

    Ends only with the control plane; the caller closes the generator before.
    """
    path = f"/api/v0/chats/{chat_id}"
    # The subscription precedes the first read, so that no change between the two is lost.
    async with client.lines(f"{path}/events") as lines:
        yield await client.request("GET", path)
        while (line := await lines.next()) is not None:
            if line.startswith("data:"):
                yield await client.request("GET", path)
