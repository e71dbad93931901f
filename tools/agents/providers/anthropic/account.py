"""Anthropic's models through the official SDK.

A request is retried (see :mod:`~deskhand.tools.agents.providers.attempts`) after network errors,
time-outs, incomplete replies, and the statuses and error types in ``RETRIED_STATUSES`` and
``RETRIED_TYPES``. Everything else is a :class:`ModelRefused` at once: the same request would be
refused again.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import cast

import anthropic
import httpx2

from deskhand.tools.agents.providers import limits
from deskhand.tools.agents.providers.accounts.failures import FAILED_ATTEMPTS, failed_attempt
from deskhand.tools.agents.providers.accounts.history import history_of, load_pictures
from deskhand.tools.agents.providers.attempts import AttemptFailed, Attempts, RetryPolicy
from deskhand.tools.agents.providers.errors import (
    KeyRefused,
    ModelError,
    ModelRefused,
    NoCredit,
    NoSummary,
)
from deskhand.tools.agents.providers.http_stream import read_reply, retry_after
from deskhand.tools.agents.providers.model_table import ModelFacts, model_facts
from deskhand.tools.agents.providers.port import Compacted, ModelReply, PictureBytes, Prompt
from deskhand.tools.agents.providers.provider_table import PROVIDERS, ModelAccount
from deskhand.tools.agents.providers.reply_errors import FailedReply
from deskhand.tools.agents.providers.request_slots import RequestSlots
from deskhand.tools.conversation.conversation import Compaction

from . import wire
from .stream import StreamedReply

PROVIDER = PROVIDERS["anthropic"]
UNAUTHORIZED, PAYMENT_REQUIRED = 401, 402
NO_CREDIT = "credit balance is too low"
"""Part of a refusal with status 400 that is about payment."""
OK = 200
"""Status of a reply whose stream contains an error: the error came after the headers."""

# Statuses and types of errors: https://docs.claude.com/en/api/errors. 529 is the provider's own
# status for an overload.
RETRIED_STATUSES = frozenset({408, 429, *range(500, 600)})
# Types beside statuses: an error inside of a stream has a type only.
RETRIED_TYPES = frozenset({"overloaded_error", "rate_limit_error", "api_error", "timeout_error"})
OVERLOAD_STATUSES = frozenset({429, 529})
OVERLOAD_TYPES = frozenset({"overloaded_error", "rate_limit_error"})
ADVICE = {
    403: "The key has no right to this model or feature.",
    404: "Check the model's name.",
}

PICTURE_REMOVED = (
    "A picture of this chat's history was removed, and the model may accept no changed history. "
    "Start a new chat."
)


@dataclass(frozen=True)
class _Request:
    body: bytes
    headers: dict[str, str]


class AnthropicModel:
    """One account at Anthropic, or any server that speaks its Messages protocol."""

    def __init__(
        self,
        pictures: PictureBytes,
        *,
        api_key: str,
        base_url: str | None = None,
        variable: str = PROVIDER.keys[0],
        slots: RequestSlots | None = None,
        retry_policy: RetryPolicy | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        drop_block: bool = True,
        effort: str | None = None,
    ) -> None:
        """Open no connection yet; ``variable`` contained the key.

        Without ``drop_block`` the provider refuses a request with a thinking block that does not
        fit its prefix, instead of dropping the block.
        """
        self._pictures = pictures
        self._account = ModelAccount(PROVIDER, api_key, base_url, variable)
        self._attempts = Attempts(self._account.host, retry_policy, slots, sleep)
        self._policy = self._attempts.policy
        self._drop_block = drop_block
        self._effort = effort
        self._client = anthropic.AsyncAnthropic(
            api_key=api_key,
            base_url=base_url,
            max_retries=0,
            # ``read_reply`` limits an attempt; only connecting has a limit of its own.
            timeout=httpx2.Timeout(self._policy.silence, connect=10.0),
            http_client=anthropic.DefaultAsyncHttpxClient(trust_env=not self._account.is_local),
        )

    async def close(self) -> None:
        """Close the connections that are kept open."""
        await self._client.close()

    async def reply(self, prompt: Prompt, on_text: Callable[[str], None]) -> ModelReply:
        """Ask once, with retries; see :class:`~deskhand.tools.agents.providers.port.Model`."""
        return await self._reply(prompt, on_text)

    async def compact(self, prompt: Prompt) -> Compacted:
        """Request a compaction of all messages of a prompt.

        Raises:
            ModelError: If there is none, or it is empty.
        """
        reply = await self._reply(prompt, lambda _: None, compact=True)
        blocks = tuple(block for block in reply.content if isinstance(block, Compaction))
        if not blocks:
            raise NoSummary("it is empty")
        return Compacted(blocks, reply.usage, "".join(str(b.data["content"]) for b in blocks))

    async def _reply(
        self, prompt: Prompt, on_text: Callable[[str], None], *, compact: bool = False
    ) -> ModelReply:
        facts = model_facts(prompt.model)
        drop_block = self._drop_block and facts.binding_controls
        # Once for all attempts, and for the messages of earlier requests not again.
        parts = await self._parts(prompt, facts)
        body = wire.encoded(
            prompt,
            parts,
            drop_block=drop_block,
            effort=PROVIDER.effort(prompt.effort, self._effort),
            compact=compact,
        )
        limits.check_request(facts, 0, len(body))
        headers = wire.headers(prompt, drop_block=drop_block, compact=compact)
        request = _Request(body, headers)
        try:
            reply = await self._attempts.run(prompt, lambda: self._attempt(request, facts, on_text))
            return replace(reply, request_bytes=len(body))
        except ModelRefused as error:
            if facts.bound and any(part.missing for part in parts):
                # The refusal is about a block of thinking, and would name no cause.
                raise ModelRefused(error.status, error.message, PICTURE_REMOVED) from error
            raise

    async def _parts(self, prompt: Prompt, facts: ModelFacts) -> list[wire.MessagePart]:
        """Return the parts of all messages; only those that were not sent before are converted."""
        history = history_of(prompt, facts)
        parts: list[wire.MessagePart] = history.parts
        for message in history.new:
            pictures = await load_pictures(message, self._pictures)
            part = wire.message_part(message, pictures, prompt.model)
            prompt.sent.add(message, part)
            parts.append(part)
        return parts

    async def _attempt(
        self, request: _Request, facts: ModelFacts, on_text: Callable[[str], None]
    ) -> ModelReply:
        try:
            return await read_reply(self._answer(request), StreamedReply(), self._policy, on_text)
        except anthropic.APIStatusError as error:
            raise _classified(error, facts, self._account) from error
        except FailedReply as error:
            raise _classified_failure(error) from error
        except (*FAILED_ATTEMPTS, anthropic.APIError) as error:
            raise failed_attempt(error) from error

    async def _answer(self, request: _Request) -> httpx2.Response:
        """Send a request; return the response when its head has come."""
        # ``messages.create`` would check and copy every block of the body, with each request again.
        answer: object = await self._client.post(
            "/v1/messages",
            cast_to=httpx2.Response,
            content=request.body,
            options={"headers": {"Content-Type": "application/json", **request.headers}},
            stream=True,
            stream_cls=anthropic.AsyncStream[object],
        )
        # The annotation of ``post`` knows only the SDK's own stream.
        return cast("httpx2.Response", answer)


def _classified(
    error: anthropic.APIStatusError, facts: ModelFacts, account: ModelAccount
) -> AttemptFailed | ModelError:
    """Return the error for a status: one that is retried, or a refusal."""
    text = error.api_message or error.message
    if error.status_code == UNAUTHORIZED:
        return KeyRefused(account.provider.title, account.variable, UNAUTHORIZED)
    if error.status_code == PAYMENT_REQUIRED or NO_CREDIT in text:
        return NoCredit(account.provider.title, account.variable)
    overloaded = error.status_code in OVERLOAD_STATUSES or error.type in OVERLOAD_TYPES
    if error.status_code in RETRIED_STATUSES or error.type in RETRIED_TYPES:
        after = retry_after(error.response)
        return AttemptFailed(text, overloaded=overloaded, retry_after=after)
    reached = limits.limit_of_refusal(error.status_code, text, facts)
    return reached or ModelRefused(error.status_code, text, ADVICE.get(error.status_code, ""))


def _classified_failure(error: FailedReply) -> AttemptFailed | ModelError:
    """Return the error for a failure within a stream, where only its type is known."""
    if error.kind in RETRIED_TYPES:
        return AttemptFailed(error.message, overloaded=error.kind in OVERLOAD_TYPES)
    return ModelRefused(OK, error.message)
