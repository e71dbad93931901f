import asyncio
import json
from typing import Any, cast

from deskhand.tools.agents.chat_repository.events import EventHub
from deskhand.tools.live_updates.connection import LiveConnection, LiveSources
from deskhand.vncbridge.auth.policy import Principal
from deskhand.vncbridge.websocket.client_stream import NORMAL, CloseReason, StreamEnded


class HubChats:
    def __init__(self) -> None:
        self.hub = EventHub()

    def events(self, chat_id: str | None, after: int | None = None) -> Any:
        return self.hub.subscribe(chat_id, after)


class HastyStream:
    """A client whose messages have all arrived, and which is gone after the last."""

    def __init__(self, *messages: dict[str, str]) -> None:
        self.messages = [json.dumps(message) for message in messages]

    async def receive(self) -> str:
        if self.messages:
            return self.messages.pop(0)
        raise StreamEnded(CloseReason(NORMAL))

    async def send(self, message: bytes | str) -> None:
        """Take a message."""


async def no_owner(_: str, __: str) -> frozenset[str]:
    return frozenset()


def test_a_topic_that_ends_at_once_leaves_no_subscription() -> None:
    async def scenario() -> None:
        chats, nothing = HubChats(), cast(Any, None)
        sources = LiveSources("plane", cast(Any, chats), nothing, nothing, no_owner)
        stream = HastyStream(*({"subscribe": "chats"}, {"unsubscribe": "chats"}) * 3)
        principal = Principal("admin", ("admin",))
        await LiveConnection(sources, principal, cast(Any, stream)).run()
        assert not chats.hub._subscriptions

    asyncio.run(scenario())
