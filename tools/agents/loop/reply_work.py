"""The work on a reply of the model, which the end of the program waits for.

A reply is stored with its calls. A turn that is cut off between the reply and the results of its
calls must report them as interrupted, with an unknown effect. A program that ends lets each turn
come to the point between two replies first, from which another one continues with nothing lost.
"""

import asyncio
from collections.abc import Iterable

from deskhand.tools.conversation.conversation import Block, ToolCall

WAITING = frozenset({"wait_agent", "request_human"})
"""Tools that wait for others: cut off, they have changed nothing."""


class ReplyWork:
    """Whether a turn works on a reply of its model."""

    def __init__(self) -> None:
        self._over = asyncio.Event()
        self._over.set()

    def begin(self, reply: Iterable[Block]) -> None:
        """Record that a reply has arrived, which is stored and acted on now."""
        calls = [block for block in reply if isinstance(block, ToolCall)]
        if not calls or any(call.name not in WAITING for call in calls):
            self._over.clear()

    def end(self) -> None:
        """Record that all calls of the reply have results, or that the turn ends."""
        self._over.set()

    async def over(self) -> None:
        """Return when the turn works on no reply."""
        await self._over.wait()
