"""Anthropic's models through the official SDK, with retries of our own.

The SDK's retries are switched off: they end before a provider's overload does, and are silent. A
request is retried with exponential pauses (at least ``Retry-After``,
https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3) after network errors, time-outs, incomplete
replies, and the statuses and error types in ``RETRIED_STATUSES`` and ``RETRIED_TYPES``. Everything
else is a :class:`ModelRefused` at once: the same request would be refused again.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import anthropic
import httpx2

from deskhand.tools.agents.providers import limits
from deskhand.tools.agents.providers.errors import (
    ModelError,
    ModelOverloaded,
    ModelRefused,
    ModelUnavailable,
)
from deskhand.tools.agents.providers.model_table import ModelFacts, model_facts
from deskhand.tools.agents.providers.port import ModelReply, PictureBytes, Prompt

from . import wire
from .stream import FailedReply, StreamedReply, UnreadableReply

log = logging.getLogger(__name__)

OK = 200
"""Status of a reply whose stream contains an error: the error came after the headers."""

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
# Statuses and types of errors: https://docs.claude.com/en/api/errors. 529 is the provider's own
# status for an overload.
RETRIED_STATUSES = frozenset({408, 429, *range(500, 600)})
# Types beside statuses: an error inside of a stream has a type only.
RETRIED_TYPES = frozenset({"overloaded_error", "rate_limit_error", "api_error", "timeout_error"})
OVERLOAD_STATUSES = frozenset({429, 529})
OVERLOAD_TYPES = frozenset({"overloaded_error", "rate_limit_error"})
ADVICE = {
    401: "Check the API key.",
    403: "The key has no right to this model or feature.",
    404: "Check the model's name.",
}

PICTURE_REMOVED = (
    "A picture of this chat's history was removed, and the model may accept no changed history. "
    "Start a new chat."
)


@dataclass(frozen=True)
class RetryPolicy:
    """Number of attempts, pauses and time-outs. Times are seconds."""

    attempts: int = 25
    first_pause: float = 1.0
    longest_pause: float = 60.0
    first_chunk: float = 60.0
    """Time-out from sending the request to the first event of its answer."""
    silence: float = 600.0
    """Time-out between two events of an answer; thinking may take minutes."""

    def pause(self, failures: int) -> float:
        """Return how long to wait after that many failures in a row."""
        return float(min(self.first_pause * 2 ** (failures - 1), self.longest_pause))


class _Failure(Exception):
    """Failure of one attempt, after which another may be made."""

    def __init__(self, reason: str, overloaded: bool = False, retry_after: float = 0.0) -> None:
        super().__init__(reason, overloaded, retry_after)
        self.reason = reason
        self.overloaded = overloaded
        self.retry_after = retry_after


class AnthropicModel:
    """One account at Anthropic, or any server that speaks its Messages protocol."""

    def __init__(
        self,
        pictures: PictureBytes,
        *,
        api_key: str,
        base_url: str | None = None,
        retry_policy: RetryPolicy | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        drop_block: bool = True,
    ) -> None:
        """Open no connection yet.

        Without ``drop_block`` the provider refuses a request with a thinking block that does not
        fit its prefix, instead of dropping the block.
        """
        self._pictures = pictures
        self._retry_policy = retry_policy or RetryPolicy()
        self._sleep = sleep
        self._drop_block = drop_block
        # Without this, a proxy from the environment would be asked for a server on this machine.
        direct = base_url is not None and urlsplit(base_url).hostname in LOOPBACK
        self._client = anthropic.AsyncAnthropic(
            api_key=api_key,
            base_url=base_url,
            max_retries=0,
            # The limits in ``_stream`` end an attempt; only connecting has a limit of its own.
            timeout=httpx2.Timeout(self._retry_policy.silence, connect=10.0),
            http_client=anthropic.DefaultAsyncHttpxClient(trust_env=not direct),
        )

    async def close(self) -> None:
        """Close the connections that are kept open."""
        await self._client.close()

    async def reply(self, prompt: Prompt, on_text: Callable[[str], None]) -> ModelReply:
        """Ask once, with retries; see :class:`~deskhand.tools.agents.providers.port.Model`."""
        # Once for all attempts: the pictures are read and encoded only once.
        facts = model_facts(prompt.model)
        pictures = wire.picture_count(prompt.messages)
        # Before the pictures are read: hundreds of them are tens of megabytes.
        limits.check_request(facts, pictures, 0)
        drop_block = self._drop_block and facts.binding_controls
        loaded = await self._load(prompt)
        body = wire.request(prompt, loaded, drop_block=drop_block)
        limits.check_request(facts, pictures, await asyncio.to_thread(wire.size, body))
        failures = 0
        while True:
            try:
                return await self._attempt(body, facts, on_text)
            except ModelRefused as error:
                if facts.bound and len(loaded) < len(wire.picture_ids(prompt.messages)):
                    # The refusal is about a block of thinking, and would name no cause.
                    raise ModelRefused(error.status, error.message, PICTURE_REMOVED) from error
                raise
            except _Failure as failure:
                failures += 1
                if failures >= self._retry_policy.attempts:
                    kind = ModelOverloaded if failure.overloaded else ModelUnavailable
                    raise kind(failure.reason, failures) from failure
                pause = max(self._retry_policy.pause(failures), failure.retry_after)
                log.warning("model attempt %d failed: %s", failures, failure.reason)
                # ``Retry-After`` is limited too: a long one must not keep a turn waiting for hours.
                await self._sleep(min(pause, self._retry_policy.longest_pause))

    async def _load(self, prompt: Prompt) -> dict[str, bytes]:
        """Return the pictures of a prompt, without those that a person has removed."""
        found: dict[str, bytes] = {}
        for file_id in wire.picture_ids(prompt.messages):
            try:
                found[file_id] = await self._pictures.load(file_id)
            except FileNotFoundError:
                log.warning("the picture %s of the history was removed", file_id)
        return found

    async def _attempt(
        self, body: dict[str, Any], facts: ModelFacts, on_text: Callable[[str], None]
    ) -> ModelReply:
        try:
            return await self._stream(body, on_text)
        except TimeoutError as error:
            raise _Failure("the model took too long to answer") from error
        except anthropic.APIStatusError as error:
            raise _classified(error, facts) from error
        except FailedReply as error:
            raise _classified_failure(error) from error
        except UnreadableReply as error:
            raise _Failure("the model's answer could not be read") from error
        except (anthropic.APIError, httpx2.RequestError) as error:
            raise _Failure(f"{type(error).__name__}: {error}") from error

    async def _stream(self, body: dict[str, Any], on_text: Callable[[str], None]) -> ModelReply:
        reply = StreamedReply()
        loop = asyncio.get_running_loop()
        create = self._client.messages.with_streaming_response.create
        async with (
            asyncio.timeout(self._retry_policy.first_chunk) as limit,
            create(stream=True, extra_headers=wire.headers(body), **body) as answer,
            # The SDK's own stream leaves its generators to the garbage collector after an error.
            # The bytes are read to their end, or closed, here.
            aclosing(answer.http_response.aiter_bytes()) as pieces,
        ):
            async for piece in pieces:
                for has_text in reply.feed(piece):
                    # Every event but ``ping`` extends the limit: a provider that only sends pings
                    # makes no progress.
                    limit.reschedule(loop.time() + self._retry_policy.silence)
                    if has_text:
                        on_text(reply.text)
        result = reply.result()
        if result is None:
            raise _Failure("the answer was cut off")
        return result


def _classified(error: anthropic.APIStatusError, facts: ModelFacts) -> _Failure | ModelError:
    """Return the error for a status: one that is retried, or a refusal."""
    text = error.api_message or error.message
    overloaded = error.status_code in OVERLOAD_STATUSES or error.type in OVERLOAD_TYPES
    if error.status_code in RETRIED_STATUSES or error.type in RETRIED_TYPES:
        return _Failure(text, overloaded, _retry_after(error.response))
    reached = limits.limit_of_refusal(error.status_code, text, facts)
    return reached or ModelRefused(error.status_code, text, ADVICE.get(error.status_code, ""))


def _classified_failure(error: FailedReply) -> _Failure | ModelError:
    """Return the error for a failure within a stream, where only its type is known."""
    if error.kind in RETRIED_TYPES:
        return _Failure(error.message, error.kind in OVERLOAD_TYPES)
    return ModelRefused(OK, error.message)


def _retry_after(response: httpx2.Response) -> float:
    # The form with a date is not read: providers send seconds.
    given = response.headers.get("retry-after", "")
    return float(given) if given.isdigit() else 0.0
