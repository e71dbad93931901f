import asyncio
import threading
from collections.abc import Callable

import pytest

from deskhand.tools.agents.providers.errors import CannotCompact
from deskhand.tools.agents.providers.lazy_account import LazyAccount
from deskhand.tools.agents.providers.port import Compacted, ModelReply, Prompt, Usage

PROMPT = Prompt("", (), (), False, "m")


class OpenAccount:
    """An adapter that answers nothing."""

    closed = 0

    async def reply(self, prompt: Prompt, on_text: Callable[[str], None]) -> ModelReply:
        on_text("text")
        return ModelReply((), "end_turn", Usage())

    async def close(self) -> None:
        self.closed += 1


class CompactingAccount(OpenAccount):
    """An adapter that summarizes."""

    async def compact(self, prompt: Prompt) -> Compacted:
        return Compacted((), Usage(), "All.")


def test_an_adapter_summarizes_or_cannot() -> None:
    async def scenario() -> None:
        assert (await LazyAccount(CompactingAccount).compact(PROMPT)).text == "All."
        with pytest.raises(CannotCompact):
            await LazyAccount(OpenAccount).compact(PROMPT)

    asyncio.run(scenario())


def test_the_adapter_is_opened_once_in_a_thread_while_the_loop_goes_on() -> None:
    account, opened = OpenAccount(), 0
    may_open = threading.Event()

    def open_account() -> OpenAccount:
        nonlocal opened
        opened += 1
        assert may_open.wait(20), "the event loop was blocked"
        return account

    async def scenario() -> None:
        lazy = LazyAccount(open_account)
        texts: list[str] = []
        cancelled, first, second = (
            asyncio.create_task(lazy.reply(PROMPT, texts.append)) for _ in range(3)
        )
        await asyncio.sleep(0)
        cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancelled
        may_open.set()
        assert (await first).stop_reason == (await second).stop_reason == "end_turn"
        assert texts == ["text", "text"]
        await lazy.close()

    asyncio.run(scenario())
    assert (opened, account.closed) == (1, 1)


def test_an_account_that_was_never_used_is_not_opened_to_be_closed() -> None:
    async def scenario() -> None:
        await LazyAccount(lambda: pytest.fail("opened")).close()

    asyncio.run(scenario())


def test_an_adapter_that_cannot_be_opened_fails_each_request_and_not_the_end() -> None:
    def open_account() -> OpenAccount:
        raise ImportError("no client")

    async def scenario() -> None:
        lazy = LazyAccount(open_account)
        for _ in range(2):
            with pytest.raises(ImportError):
                await lazy.reply(PROMPT, lambda _: None)
        await lazy.close()

    asyncio.run(scenario())
