"""How a tool call ends that a person cut short."""

import asyncio

from deskhand.tools.conversation.conversation import ToolResult


class CallInterrupted(asyncio.CancelledError):
    """A call was cancelled, and what became of it is known all the same."""

    def __init__(self, result: ToolResult) -> None:
        super().__init__()
        self.result = result
