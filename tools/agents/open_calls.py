"""Answers to tool calls that were cut off, so that the conversation can go on."""

from collections.abc import Mapping, Sequence

from .conversation import Message, Text, ToolCall, ToolResult

INTERRUPTED = (
    "This call was interrupted before it gave a result. It may or may not have had an effect: "
    "look before you repeat it."
)


def answers(history: Sequence[Message], known: Mapping[str, ToolResult]) -> Message | None:
    """Return the message that answers all open calls at the end of a conversation.

    ``known`` holds the results that were written down, by the id of their call. ``None`` when
    nothing is open.
    """
    calls = _open_calls(history)
    if not calls:
        return None
    return Message("user", tuple(known.get(call.id) or _interrupted(call) for call in calls))


def _open_calls(history: Sequence[Message]) -> list[ToolCall]:
    answered: set[str] = set()
    for message in reversed(history):
        if message.role == "assistant":
            calls = [block for block in message.content if isinstance(block, ToolCall)]
            return [call for call in calls if call.id not in answered]
        answered |= {b.call_id for b in message.content if isinstance(b, ToolResult)}
    return []


def _interrupted(call: ToolCall) -> ToolResult:
    return ToolResult(call.id, (Text(INTERRUPTED),), is_error=True, toolset=call.toolset)
