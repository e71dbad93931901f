"""Port of the loop to language models: requests and replies, independent of any provider."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from deskhand.tools.conversation.conversation import Compaction, Message, ReplyBlock
from deskhand.tools.kit.support.spec import ToolSpec

from .sent_parts import SentParts


@dataclass(frozen=True)
class Usage:
    """Tokens of one reply, or of many added up.

    ``input_tokens`` are those that were neither read from nor written to the cache, and
    ``output_tokens`` include ``thinking_tokens``, whatever the provider's own counts mean.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    dropped_thinking: int = 0
    """Thinking blocks of the request that did not fit their prefix, as the provider reports."""
    thinking_tokens: int = 0
    cost_usd: float | None = 0.0
    """``None`` if the prices of the model are not known; adapters leave it to the loop."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.dropped_thinking + other.dropped_thinking,
            self.thinking_tokens + other.thinking_tokens,
            _sum(self.cost_usd, other.cost_usd),
        )

    @property
    def total(self) -> int:
        """All tokens that the provider counts, cached or not."""
        # The budget limits the work and not its price, so that cached tokens count too.
        return (
            self.input_tokens
            + self.output_tokens
            + self.cache_read_tokens
            + self.cache_write_tokens
        )


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def inclusive_usage(
    input_tokens: int, output_tokens: int, *, cached: int = 0, written: int = 0, thinking: int = 0
) -> Usage:
    """Return the usage from counts of a provider whose input includes what the cache holds."""
    plain = max(0, input_tokens - cached - written)
    return Usage(plain, output_tokens, cached, written, thinking_tokens=thinking)


@dataclass(frozen=True)
class RequestTimes:
    """Seconds of one request to a model."""

    queued: float = 0.0
    """Wait for a slot among the account's concurrent requests."""
    first_byte: float = 0.0
    """From the sending of the attempt that succeeded to the first event of its reply."""
    total: float = 0.0
    """From the first attempt to the end of the reply, with pauses between attempts."""


@dataclass(frozen=True)
class RequestFigures:
    """Usage and times of one request to a model."""

    usage: Usage
    times: RequestTimes


@dataclass(frozen=True)
class Prompt:
    """One request to a model."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    computer: bool
    """True to offer the provider's own computer tool beside ``tools``."""
    model: str
    max_tokens: int = 32000
    settled: tuple[int, ...] = ()
    """Messages up to which nothing changes when the next old pictures are left out."""
    conversation: str = ""
    """Id of the chat: requests of one chat share a cache, and their part of the account."""
    effort: str | None = None
    """Effort of the chat; an adapter leaves out one that its provider does not know."""
    sent: SentParts = field(default_factory=SentParts, compare=False, repr=False)
    """The parts of the turn's newest request; all prompts of a turn share them."""


@dataclass(frozen=True)
class ModelReply:
    """Content of one reply, its end and its costs."""

    content: tuple[ReplyBlock, ...]
    stop_reason: str
    """``end_turn``, ``tool_use``, ``max_tokens``, ``refusal``, ``pause_turn``, or another one of
    the provider."""
    usage: Usage
    request_bytes: int = 0
    """Size of the request; 0 if it is not known."""
    times: RequestTimes = field(default=RequestTimes(), compare=False)


def call_arguments(given: object) -> dict[str, Any]:
    """Return the arguments of a call as an object, from what a model returned for them.

    A value that is none becomes an argument that no tool has, so that the tool refuses the call.
    """
    if isinstance(given, dict):
        return given
    return {} if given is None else {"arguments": given}


@dataclass(frozen=True)
class Compacted:
    """A provider's summary of a conversation."""

    blocks: tuple[Compaction, ...]
    """Sent back unchanged in place of the messages that they stand for."""
    usage: Usage
    text: str = ""
    """The summary in words, where the provider shows it."""


@runtime_checkable
class CompactingModel(Protocol):
    """A language model whose provider summarizes conversations."""

    async def compact(self, prompt: Prompt) -> Compacted:
        """Request a summary of all messages of a prompt.

        Raises:
            ModelError: If there is none; an empty summary is an error too.
        """


class PictureBytes(Protocol):
    """Storage of the pictures of a conversation."""

    async def load(self, file_id: str) -> bytes:
        """Return the bytes of a picture as it was stored.

        Raises:
            FileNotFoundError: If it was removed.
        """


Role = Literal["parent", "child", "helper"]
"""Role that selects a default model: to delegate, to work on a desktop, to help without one."""


class Model(Protocol):
    """A language model behind its provider's protocol."""

    async def reply(self, prompt: Prompt, on_text: Callable[[str], None]) -> ModelReply:
        """Request one reply, with retries.

        ``on_text`` is called with the *whole* text so far each time some arrives; after a retry
        the text begins again.

        Raises:
            ModelUnavailable: The provider did not answer in spite of all retries.
            ModelRefused: The provider rejects this request, so that retries are useless.
        """


class ProviderAccount(Model, Protocol):
    """Models of one provider account, which keeps connections open."""

    async def close(self) -> None:
        """Close the connections; closing twice is fine."""
