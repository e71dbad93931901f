"""Texts of a checkpoint whose summary we ask for ourselves. Pure."""

from collections.abc import Iterable

from deskhand.tools.conversation.conversation import Message, Text, ToolCall

SUMMARY_REQUEST = (
    "Summarize this conversation so that you can continue from your summary alone. Answer in text,"
    " without a tool call: the task and every wish of the user word for word, what was done and"
    " with what result, the names, paths, file ids and values that are still needed, what the"
    " screen showed last, and what is left to do."
)
"""Text of the user that asks for a summary instead of the next step."""
SUMMARY = (
    "Summary of the conversation up to here. The messages that it stands for were removed.\n\n"
)
LONGEST_TEXT = 2_000
"""Characters of each text in a digest."""
MOST_REPLIES = 20
"""Texts of the model in a digest."""


def summary_message(summary: str) -> Message:
    """Return the message that takes the place of those that a summary stands for."""
    return Message("user", (Text(SUMMARY + summary),))


def digest(messages: Iterable[Message]) -> str:
    """Return the user's texts, and the newest words and calls of the model, as a summary.

    It takes the place of a summary where the model cannot make one.
    """
    asked: list[str] = []
    done: list[str] = []
    for message in messages:
        for block in message.content:
            if isinstance(block, Text):
                (asked if message.role == "user" else done).append(_short(block.text))
            elif isinstance(block, ToolCall):
                done.append(f"Called {block.name} {_short(str(block.arguments))}")
    lines = ["The user wrote:", *asked, "", "The newest of what you wrote and called:"]
    return "\n".join([*lines, *done[-MOST_REPLIES:]])


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]} […]"
