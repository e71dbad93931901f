"""When a checkpoint is due, and which of the newest messages it keeps. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deskhand.tools.agents.providers.model_table import ModelFacts
from deskhand.tools.conversation.conversation import (
    Block,
    Image,
    Message,
    Text,
    ToolCall,
    ToolResult,
)
from deskhand.tools.conversation.message_pictures import picture_count

MOST_PICTURES = 40
WINDOW_SHARE = 0.7
LARGEST_BODY = 20 * 1024 * 1024
"""Bytes of a request."""
SIZE_SHARE = 0.7
"""Of the largest request that a provider accepts, where that is less than ``LARGEST_BODY``."""
PAUSE = 8
"""Requests after a checkpoint that failed before another is tried."""

CHARACTERS_PER_TOKEN = 4
PIXELS_PER_TOKEN = 750


@dataclass(frozen=True)
class RequestSize:
    """Size of a request: what is known of the newest one, or an estimate."""

    pictures: int
    tokens: int
    body: int = 0
    """Bytes."""


@dataclass(frozen=True)
class KeepLimits:
    """How much of the newest messages a checkpoint keeps at most."""

    steps: int
    pictures: int
    tokens: int

    def scaled(self, factor: float) -> "KeepLimits":
        """Return these limits times a factor."""
        return KeepLimits(
            int(self.steps * factor), int(self.pictures * factor), int(self.tokens * factor)
        )


BESIDE_PROVIDER = KeepLimits(3, 20, 100_000)
"""Kept unchanged beside the summary of a provider; ``steps`` counts replies."""
NOTHING = KeepLimits(0, 0, 0)
"""Beside OpenAI's compaction, which stands for all items: reasoning after it would not fit."""
BESIDE_OWN = KeepLimits(10, 1_000, 100_000)
"""Kept beside our own summary, with ``KEPT_PICTURES`` pictures."""
KEPT_PICTURES = 3


def due(size: RequestSize, facts: ModelFacts) -> str | None:
    """Return why the next request needs a checkpoint; ``None`` if it needs none."""
    if size.pictures >= min(MOST_PICTURES, int(facts.pictures * SIZE_SHARE)):
        return f"{size.pictures} pictures"
    window = facts.window_tokens
    if window is not None and size.tokens >= window * WINDOW_SHARE:
        return f"{size.tokens:,} of {window:,} tokens"
    if size.body >= min(LARGEST_BODY, facts.largest_request * SIZE_SHARE):
        return f"a request of {size.body // 2**20} MB"
    return None


def keep_limits(facts: ModelFacts, *, own: bool) -> KeepLimits:
    """Return what a checkpoint of this model keeps."""
    if facts.compaction == "openai" and not own:
        return NOTHING
    whole = BESIDE_OWN if own else BESIDE_PROVIDER
    # Half of what makes a checkpoint due, so that the next one is not due at once.
    window = facts.window_tokens
    tokens = whole.tokens if window is None else min(whole.tokens, int(window * WINDOW_SHARE / 2))
    return KeepLimits(whole.steps, whole.pictures, tokens)


def first_kept(messages: Sequence[Message], limits: KeepLimits, *, calls: bool) -> int:
    """Return the first message to keep: a reply after a message of the user, or the end.

    With ``calls`` a reply has as many steps as calls.
    """
    kept = len(messages)
    if limits.steps == 0:
        return kept
    steps = pictures = tokens = 0
    for index in range(len(messages) - 1, 0, -1):
        message = messages[index]
        pictures += picture_count(message)
        tokens += estimated_tokens((message,))
        if message.role != "assistant":
            continue
        steps += max(1, sum(isinstance(b, ToolCall) for b in message.content)) if calls else 1
        if pictures > limits.pictures or tokens > limits.tokens:
            break
        if messages[index - 1].role == "user":
            kept = index
        if steps >= limits.steps:
            break
    # Something must be left to summarize beside the first message.
    return kept if kept > 1 else len(messages)


def without_calls(messages: Sequence[Message], first: int, toolset: str) -> int:
    """Return the first message to keep from ``first`` on, so that none has a call of a toolset.

    A provider refuses calls of a toolset that a request does not offer.
    """
    kept = first
    for index in range(first, len(messages)):
        if any(isinstance(b, ToolCall) and b.toolset == toolset for b in messages[index].content):
            # The next reply that follows a message of the user, which has the results.
            replies = (
                after
                for after in range(index + 2, len(messages))
                if messages[after].role == "assistant" and messages[after - 1].role == "user"
            )
            kept = next(replies, len(messages))
    return kept


def estimated_tokens(messages: Iterable[Message]) -> int:
    """Return about how many tokens messages have."""
    return sum(_tokens(block) for message in messages for block in message.content)


def _tokens(block: Block) -> int:
    match block:
        case Text(text):
            return len(text) // CHARACTERS_PER_TOKEN
        case Image():
            return block.width * block.height // PIXELS_PER_TOKEN
        case ToolCall():
            return len(str(block.arguments)) // CHARACTERS_PER_TOKEN
        case ToolResult():
            return sum(map(_tokens, block.content))
    words = block.data.get("thinking") or block.data.get("content") or ""
    return len(str(words)) // CHARACTERS_PER_TOKEN
