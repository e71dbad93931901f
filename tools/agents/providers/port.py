"""What the loop asks of a model, and what it gets, in a form that belongs to no provider."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from deskhand.tools.conversation.conversation import Message, ReplyBlock
from deskhand.tools.kit.support.spec import ToolSpec


@dataclass(frozen=True)
class Usage:
    """Tokens of one reply, or of many added up.

    ``input_tokens`` are those that were neither read from nor written to the cache.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
        )

    @property
    def total(self) -> int:
        """Everything the provider counts, cached or not."""
        return (
            self.input_tokens
            + self.output_tokens
            + self.cache_read_tokens
            + self.cache_write_tokens
        )


@dataclass(frozen=True)
class Prompt:
    """One request to a model."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    computer: bool
    """Offer the provider's own computer tool beside ``tools``."""
    model: str
    max_tokens: int = 32000


@dataclass(frozen=True)
class ModelReply:
    """What the model said and asked for."""

    content: tuple[ReplyBlock, ...]
    stop_reason: str
    """``end_turn``, ``tool_use``, ``max_tokens``, ``refusal``, ``pause_turn``, or another word
    of the provider's."""
    usage: Usage


class PictureBytes(Protocol):
    """Where the bytes of a conversation's pictures are kept."""

    async def load(self, file_id: str) -> bytes:
        """Return the picture as it was stored."""


Role = Literal["parent", "child", "helper"]
"""What a chat's usual model is for: to delegate, to work on a desktop, to help without one."""


class Model(Protocol):
    """A language model behind its provider's protocol."""

    async def reply(self, prompt: Prompt, on_text: Callable[[str], None]) -> ModelReply:
        """Ask once, with retries.

        ``on_text`` is called with the *whole* text so far each time some arrives; after a retry
        it starts short again.

        Raises:
            ModelUnavailable: The provider did not answer in spite of all retries.
            ModelRefused: The provider will not take this request however often it is sent.
        """
