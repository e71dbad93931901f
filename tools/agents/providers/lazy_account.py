"""An account whose adapter is opened at its first use, in a thread."""

import asyncio
from collections.abc import Callable

from .errors import CannotCompact
from .port import Compacted, CompactingModel, ModelReply, Prompt, ProviderAccount


class LazyAccount:
    """Opens the adapter in a thread: importing a provider's SDK takes seconds."""

    def __init__(self, open_account: Callable[[], ProviderAccount]) -> None:
        """Call ``open_account`` once, when it is first needed; it may block."""
        self._open = open_account
        self._opening: asyncio.Task[ProviderAccount] | None = None

    async def reply(self, prompt: Prompt, on_text: Callable[[str], None]) -> ModelReply:
        """Request one reply from the adapter."""
        return await (await self._account()).reply(prompt, on_text)

    async def compact(self, prompt: Prompt) -> Compacted:
        """Request a summary from the adapter.

        Raises:
            CannotCompact: If it has no means for it.
        """
        account = await self._account()
        if not isinstance(account, CompactingModel):
            raise CannotCompact
        return await account.compact(prompt)

    async def close(self) -> None:
        """Close the adapter if it was opened."""
        if self._opening is None:
            return
        await asyncio.wait({self._opening})
        # If opening failed, each request has reported it.
        if self._opening.exception() is None:
            await self._opening.result().close()

    async def _account(self) -> ProviderAccount:
        if self._opening is None:
            self._opening = asyncio.create_task(asyncio.to_thread(self._open), name="open account")
        # A turn that is cancelled must not cancel the opening, which other turns wait for.
        return await asyncio.shield(self._opening)
