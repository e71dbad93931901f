"""OpenAI's models through the official SDK.

A request is retried (see :mod:`~deskhand.tools.agents.providers.attempts`) after network errors,
time-outs, incomplete replies, and the statuses and error codes in ``RETRIED_STATUSES`` and
``RETRIED_CODES``. Everything else is a :class:`ModelRefused` at once: the same request would be
refused again.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import openai

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
from .connection import Connection, message_of
from .stream import ResponseStream, compaction_of

PROVIDER = PROVIDERS["openai"]
OK, UNAUTHORIZED, TOO_MANY = 200, 401, 429
# https://platform.openai.com/docs/guides/error-codes
RETRIED_STATUSES = frozenset({408, 409, 429, *range(500, 600)})
# Codes beside statuses: an error inside of a stream has a code only.
OVERLOAD_CODES = frozenset({"rate_limit_exceeded", "server_is_overloaded", "slow_down"})
RETRIED_CODES = frozenset({"server_error", "internal_error", *OVERLOAD_CODES})
PAYMENT_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
WINDOW_CODE = "context_length_exceeded"
ADVICE = {
    403: "The key has no right to this model or feature.",
    404: "Check the model's name.",
}


class OpenAiModel:
    """One account at OpenAI, or any server that speaks its Responses protocol."""

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
        effort: str | None = None,
    ) -> None:
        """Open no connection yet; ``variable`` contained the key."""
        self._pictures = pictures
        self._effort = effort
        self._account = ModelAccount(PROVIDER, api_key, base_url, variable)
        self._attempts = Attempts(self._account.host, retry_policy, slots, sleep)
        self._policy = self._attempts.policy
        self._connection = Connection(self._account, self._policy.silence)

    async def close(self) -> None:
        """Close the connections that are kept open."""
        await self._connection.close()

    async def reply(self, prompt: Prompt, on_text: Callable[[str], None]) -> ModelReply:
        """Ask once, with retries; see :class:`~deskhand.tools.agents.providers.port.Model`."""
        facts = model_facts(prompt.model)
        # Once for all attempts, and for the messages of earlier requests not again.
        effort = PROVIDER.effort(prompt.effort, self._effort)
        body = wire.encoded(prompt, await self._parts(prompt, facts), facts, effort)
        limits.check_request(facts, 0, len(body))
        reply = await self._attempts.run(prompt, lambda: self._attempt(body, facts, on_text))
        return replace(reply, request_bytes=len(body))

    async def compact(self, prompt: Prompt) -> Compacted:
        """Request a compaction of all messages of a prompt.

        Raises:
            ModelError: If there is none, or it is empty.
        """
        facts = model_facts(prompt.model)
        body = wire.compaction_body(prompt, await self._parts(prompt, facts))
        limits.check_request(facts, 0, len(body))
        reply = await self._attempts.run(
            prompt, lambda: self._classified(self._compaction(body), facts)
        )
        blocks = tuple(block for block in reply.content if isinstance(block, Compaction))
        if not any(block.data.get("encrypted_content") for block in blocks):
            raise NoSummary("it is empty")
        return Compacted(blocks, reply.usage)

    async def _parts(self, prompt: Prompt, facts: ModelFacts) -> list[wire.SentMessage]:
        """Return the parts of all messages; only those that were not sent before are converted."""
        history = history_of(prompt, facts)
        parts: list[wire.SentMessage] = history.parts
        new = history.new
        marked = facts.cache == "breakpoints"
        # A request may be repeated, after which nothing is new.
        for message, after in zip(new, [*new[1:], None][: len(new)], strict=True):
            before = parts[-1] if parts else None
            loaded = await load_pictures(message, self._pictures)
            parts.append(wire.sent_message(message, loaded, before, after, marked=marked))
            prompt.sent.add(message, parts[-1])
        return parts

    async def _attempt(
        self, body: bytes, facts: ModelFacts, on_text: Callable[[str], None]
    ) -> ModelReply:
        response = self._connection.stream("/responses", body)
        answer = read_reply(response, ResponseStream(), self._policy, on_text)
        return await self._classified(answer, facts)

    async def _compaction(self, body: bytes) -> ModelReply:
        return compaction_of(await self._connection.post("/responses/compact", body))

    async def _classified(self, answer: Awaitable[ModelReply], facts: ModelFacts) -> ModelReply:
        try:
            return await answer
        except openai.APIStatusError as error:
            raise _classified(error, facts, self._account) from error
        except FailedReply as error:
            raise _classified_failure(error, facts, self._account) from error
        except (*FAILED_ATTEMPTS, openai.APIError) as error:
            raise failed_attempt(error) from error


def _classified(
    error: openai.APIStatusError, facts: ModelFacts, account: ModelAccount
) -> AttemptFailed | ModelError:
    """Return the error for a status: one that is retried, or a refusal."""
    status, code, text = error.status_code, error.code or "", message_of(error)
    if status == UNAUTHORIZED:
        return KeyRefused(account.provider.title, account.variable, status)
    if code in PAYMENT_CODES or error.type in PAYMENT_CODES:
        return NoCredit(account.provider.title, account.variable)
    if code == WINDOW_CODE:
        return limits.window_exceeded(facts)
    if status in RETRIED_STATUSES or code in RETRIED_CODES:
        overloaded = status == TOO_MANY or code in OVERLOAD_CODES
        after = retry_after(error.response)
        return AttemptFailed(text, overloaded=overloaded, retry_after=after)
    reached = limits.limit_of_refusal(status, text, facts)
    return reached or ModelRefused(status, text, ADVICE.get(status, ""))


def _classified_failure(
    error: FailedReply, facts: ModelFacts, account: ModelAccount
) -> AttemptFailed | ModelError:
    """Return the error for a failure within a stream, where only its code is known."""
    if error.kind in RETRIED_CODES:
        return AttemptFailed(error.message, overloaded=error.kind in OVERLOAD_CODES)
    if error.kind in PAYMENT_CODES:
        return NoCredit(account.provider.title, account.variable)
    if error.kind == WINDOW_CODE:
        return limits.window_exceeded(facts)
    return ModelRefused(OK, error.message)
