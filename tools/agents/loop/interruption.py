"""End of a tool call that a person interrupted."""

import asyncio

from deskhand.tools.conversation.conversation import ToolResult


class CallInterrupted(asyncio.CancelledError):
    """Cancellation of a call whose result is known nevertheless.

    The loop must not swallow a cancellation, hence the base class.
    """

    def __init__(self, result: ToolResult) -> None:
        super().__init__()
        self.result = result
