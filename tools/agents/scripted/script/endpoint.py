"""Port of the scripted server to the protocols of the providers. Pure.

Each protocol is an :class:`Endpoint`. It reads a request strictly, and converts it to the one form
in which scripts are played; it writes the reply of the player in its own form. The server does the
rest: it checks the key, plays the script, holds back and breaks answers as the script wants, and
keeps the log.

    received ─read─> Request ─binding─> refused, or dropped reasoning
                     Request ─account─> Request with its tokens
                     Request ─play─> PlayedTurn ─seal─> PlayedTurn ─answer─> Answer
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from .player import PlayedTurn
from .prompt_cache import CacheEntries
from .request import Measure, Request

Json = dict[str, Any]

Problem = Literal[
    "wrong_key",
    "no_such_model",
    "invalid",
    "too_large",
    "undecodable",
    "rate_limit",
    "overloaded",
    "server_error",
    "no_credit",
]
"""Reason of a refusal; each protocol has its own status and type for it."""


@dataclass(frozen=True)
class Received:
    """One HTTP request."""

    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes = field(repr=False)
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Parameters of the query."""


@dataclass(frozen=True)
class EndpointRefusal:
    """Status and body of a refusal."""

    status: int
    body: Json


@dataclass(frozen=True)
class Binding:
    """Reasoning of a request that was made for another model or prefix."""

    refusal: str | None = None
    """Why the request is refused; ``None`` if it is not."""
    dropped: Sequence[Json] = ()
    """Entries of the reply for blocks that were left out."""


@dataclass(frozen=True)
class Answer:
    """A reply in both forms of its protocol."""

    whole: Json
    events: tuple[bytes, ...]


class Endpoint(Protocol):
    """One protocol, without any I/O."""

    @property
    def paths(self) -> tuple[str, ...]:
        """Routes below which it is served, as Starlette writes them."""

    def key(self, received: Received) -> str:
        """Return the key that a request carries, empty if it has none."""

    def check_head(self, received: Received) -> str | None:
        """Return the reason to refuse a request as invalid before its body is read."""

    def read(self, received: Received, body: object, measure: Measure) -> Request:
        """Validate a request, whose body was JSON, and convert it.

        Raises:
            InvalidRequest: At the first violation of the protocol.
        """

    def account(self, request: Request, entries: CacheEntries) -> Request:
        """Return the request with its tokens, counted with the cache of this server.

        Raises:
            InvalidRequest: If it does not fit the context window of its model.
        """

    def binding(self, request: Request) -> Binding:
        """Compare the reasoning in a request with its prefix."""

    def seal(self, request: Request, turn: PlayedTurn) -> PlayedTurn:
        """Return the reply with a seal in each of its thinking blocks."""

    def answer(
        self, turn: PlayedTurn, request: Request, reply_id: str, dropped: Sequence[Json]
    ) -> Answer:
        """Write a reply."""

    def faulty(self, kind: str | None, events: Sequence[bytes]) -> list[bytes]:
        """Return the events as a faulty provider sends them; all of them for another kind."""

    def refusal(self, problem: Problem, message: str) -> EndpointRefusal:
        """Write a refusal."""
