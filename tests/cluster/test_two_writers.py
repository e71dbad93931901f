"""Two control planes that write to the same chats of one database."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count

import pytest

from deskhand.tools.agents.chat_repository.events import EventHub
from deskhand.tools.agents.chat_repository.repository import ChatRepository, NewChat
from deskhand.tools.agents.chats.transcript import StoredTranscript
from deskhand.tools.agents.desktops.ports import ChatSettings
from deskhand.tools.conversation.conversation import Message, Text
from deskhand.tools.conversation.errors import IllegalMove
from deskhand.tools.conversation.states import StateEvent
from deskhand.tools.store import messages
from deskhand.tools.store.database import Store
from tests.cluster.playing import LIMIT

pytestmark = pytest.mark.cluster

Scenario = Callable[[tuple[ChatRepository, ...], str], Awaitable[None]]


@asynccontextmanager
async def two(url: str) -> AsyncIterator[tuple[ChatRepository, ...]]:
    """The chats of one database, as two control planes have them."""
    times = count(1_800_000_000)
    async with AsyncExitStack() as stack:
        # Both at once: one of them creates the schema.
        stores = await asyncio.gather(Store.open(url), Store.open(url))
        for store in stores:
            stack.push_async_exit(store)
        settings = ChatSettings("http://plane")
        yield tuple(
            ChatRepository(store, EventHub(), settings, lambda: float(next(times)))
            for store in stores
        )


def play(url: str, scenario: Scenario) -> None:
    async def limited() -> None:
        async with asyncio.timeout(LIMIT), two(url) as planes:
            chat = await planes[0].create(NewChat(prompt="Go"))
            await scenario(planes, chat.id)

    asyncio.run(limited())


def test_of_ten_admissions_at_once_one_succeeds(database: str) -> None:
    async def scenario(planes: tuple[ChatRepository, ...], chat_id: str) -> None:
        moves = [planes[turn % 2].move(chat_id, StateEvent.ADMIT) for turn in range(10)]
        ends = await asyncio.gather(*moves, return_exceptions=True)
        assert sum(isinstance(end, IllegalMove) for end in ends) == 9, ends

    play(database, scenario)


def test_a_hundred_messages_at_once_have_all_positions(database: str) -> None:
    async def scenario(planes: tuple[ChatRepository, ...], chat_id: str) -> None:
        transcripts = [StoredTranscript(plane, chat_id) for plane in planes]
        before = len(await transcripts[0].messages())
        await asyncio.gather(
            *(transcripts[n % 2].append(Message("user", (Text(str(n)),))) for n in range(100))
        )
        found = await planes[0].store.read(lambda s: messages.history(s, chat_id))
        texts = {block.text for one in found[before:] for block in one.content}  # type: ignore[union-attr]
        assert texts == {str(n) for n in range(100)}

    play(database, scenario)


def test_fifty_changes_at_once_are_fifty_versions(database: str) -> None:
    async def scenario(planes: tuple[ChatRepository, ...], chat_id: str) -> None:
        before = (await planes[0].view(chat_id)).version
        await asyncio.gather(*(planes[n % 2].change(chat_id, lambda _: None) for n in range(50)))
        assert (await planes[1].view(chat_id)).version == before + 50

    play(database, scenario)


def test_a_token_has_one_default_chat_on_both(database: str) -> None:
    async def scenario(planes: tuple[ChatRepository, ...], _: str) -> None:
        found = await asyncio.gather(
            *(planes[n % 2].default_chat("ada", "owner") for n in range(10))
        )
        assert len({chat.id for chat in found}) == 1

    play(database, scenario)
