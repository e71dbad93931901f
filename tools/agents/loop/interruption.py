"""Ends of tool calls that were cancelled."""

import asyncio

from deskhand.tools.conversation.conversation import ToolResult


class CallInterrupted(asyncio.CancelledError):
    """Cancellation of a call whose result is known nevertheless.

    The loop must not swallow a cancellation, hence the base class.
    """

    def __init__(self, result: ToolResult) -> None:
        super().__init__()
        self.result = result


class CallSuspended(asyncio.CancelledError):
    """Cancellation of a call that the next start of the program continues.

    It waits for a person, or was just approved, and nothing was done for it yet. Its reply must
    stay without results.
    """
