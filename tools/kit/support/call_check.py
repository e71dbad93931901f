"""Check of a call before anything is done for it: before a person is asked, or a desktop started.

The tool reads the arguments again when it executes the call. Pure.
"""

from typing import Any, Protocol, runtime_checkable

from deskhand.desktop.errors import BadField
from deskhand.tools.conversation.conversation import ToolCall

from .computer_calls import desktop_call
from .spec import Json, Tool

COMPUTER = "computer"


@runtime_checkable
class Reading(Protocol):
    """A tool that reads the arguments of a call before it executes it."""

    def read(self, arguments: Json) -> Any:
        """Return the arguments as read; raises ``BadField``."""


def refusal_of(call: ToolCall, tool: Tool | None) -> str:
    """Return what is wrong with the arguments of a call; empty if nothing is known to be.

    ``tool`` executes it, unless it is one of the computer toolset.
    """
    try:
        if call.toolset == COMPUTER:
            desktop_call(call.name, call.arguments)
        elif isinstance(tool, Reading):
            tool.read(call.arguments)
    except BadField as error:
        return error.sentence
    return ""
