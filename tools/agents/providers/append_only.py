"""The rule for models whose thinking is bound to its prefix: a prompt only grows at its end. Pure.

Each prompt of a chat must begin with the prompt before it: the same system prompt, the same tools
in the same order, and the same blocks of messages, followed by new ones. The provider refuses the
thinking blocks after the first difference, and with them the whole request. Cache marks are no part
of a prompt: the provider does not count them, because they move.
"""

from collections.abc import Iterator

from deskhand.tools.conversation.conversation import Block

from .port import Prompt
from .sent_parts import unchanged


def first_change(before: Prompt, after: Prompt) -> str | None:
    """Return where ``after`` does not continue ``before``; ``None`` if it does."""
    if after.system != before.system:
        return "system"
    if (after.computer, after.tools) != (before.computer, before.tools):
        return "tools"
    # Most messages are the same objects as before: only the end of a long history is compared.
    same = unchanged(before.messages, after.messages)
    rest = _blocks(after, same)
    skipped = sum(len(message.content) for message in before.messages[:same])
    for index, expected in enumerate(_blocks(before, same), skipped):
        # The iterator is shared by the loop, so that each block is compared with its counterpart.
        if next(rest, None) != expected:
            return f"block {index} of the messages"
    return None


def _blocks(prompt: Prompt, first: int) -> Iterator[tuple[str, Block]]:
    # Not message by message: the provider joins consecutive messages of one role, so that a
    # message may grow at its end.
    for message in prompt.messages[first:]:
        for block in message.content:
            yield message.role, block
