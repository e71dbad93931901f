"""A request to a scripted model, in the one form in which scripts are played.

Each protocol reads its requests strictly, and converts them to this form: messages with the blocks
``text``, ``image``, ``tool_use``, ``tool_result`` and ``thinking`` of the Messages protocol.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .prompt_cache import InputTokens

Json = dict[str, Any]


@dataclass(frozen=True)
class Measured:
    """Type and size of a picture, as decoded from its bytes."""

    media_type: str
    width: int
    height: int


@dataclass(frozen=True)
class SeenPicture:
    """A picture of a request, in the order of the conversation."""

    data: bytes = field(repr=False)
    measured: Measured


@dataclass(frozen=True)
class Request:
    """A request that follows the protocol."""

    model: str
    stream: bool
    messages: tuple[Json, ...]
    tools: frozenset[str]
    """Names of the custom tools that are offered."""
    computer: bool
    pictures: tuple[SeenPicture, ...]
    system: object = ""
    offered: tuple[Json, ...] = ()
    """The tools as they were sent."""
    drop_block: bool = False
    """True to drop thinking blocks of another prefix instead of refusing the request."""
    lists_dropped: bool = False
    """True to list the dropped blocks in the reply."""
    summarize: bool = False
    """True to answer with a compaction of the messages."""
    items: tuple[Json, ...] = ()
    """The conversation as it was sent, where the protocol does not have these messages."""
    explicit_cache: bool = False
    """True if only the cache breakpoints of the request count."""
    tokens: InputTokens | None = None
    """By the accounting of the provider, where its protocol has one."""


class InvalidRequest(Exception):
    """The request breaks the protocol; ``where`` is a path in its JSON."""

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(where, problem)
        self.where = where
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}"


Measure = Callable[[bytes], Measured | None]
