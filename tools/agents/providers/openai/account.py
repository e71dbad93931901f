"""OpenAI's models through the official SDK.

A request is retried (see :mod:`~deskhand.tools.agents.providers.attempts`) after network errors,
time-outs, incomplete replies, and the statuses and error codes in ``RETRIED_STATUSES`` and
``RETRIED_CODES``. Everything else is a :class:`ModelRefused` at once: the same request would be
refused again.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import cast
from urllib.parse import urlsplit

import httpx2
import openai

from deskhand.tools.agents.providers import limits
from deskhand.tools.agents.providers.attempts import AttemptFailed, Attempts, RetryPolicy
from deskhand.tools.agents.providers.errors import (
    KeyRefused,
    ModelError,
    ModelRefused,
    NoCredit,
    NoSummary,
)
from deskhand.tools.agents.providers.http_stream import read_reply, retry_after
from deskhand.tools.agents.providers.merged_messages import merged, picture_count, picture_ids
from deskhand.tools.agents.providers.model_table import ModelFacts, model_facts
from deskhand.tools.agents.providers.port import Compacted, ModelReply, PictureBytes, Prompt
from deskhand.tools.agents.providers.provider_table import PROVIDERS, ModelAccount
from deskhand.tools.agents.providers.reply_errors import FailedReply, UnreadableReply
from deskhand.tools.agents.providers.request_slots import RequestSlots
from deskhand.tools.conversation.conversation import Compaction, Message

from . import wire
from .stream import ResponseStream, compaction_of

log = logging.getLogger(__name__)

PROVIDER = PROVIDERS["openai"]
OK, UNAUTHORIZED, TOO_MANY = 200, 401, 429
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
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
        # Without this, a proxy from the environment would be asked for a server on this machine.
        direct = base_url is not None and urlsplit(base_url).hostname in LOOPBACK
        self._client = openai.AsyncOpenAI(
            api_key=api_key,
            base_url=base_url,
            max_retries=0,
            # ``read_reply`` limits an attempt; only connecting has a limit of its own.
            timeout=httpx2.Timeout(self._policy.silence, connect=10.0),
            http_client=openai.DefaultAsyncHttpxClient(trust_env=not direct),
        )

    async def close(self) -> None:
        """Close the connections that are kept open."""
        await self._client.close()

    async def reply(self, prompt: Prompt, on_text: Callable[[str], None]) -> ModelReply:
        """Ask once, with retries; see :class:`~deskhand.tools.agents.providers.port.Model`."""
        facts = model_facts(prompt.model)
        # Once for all attempts, and for the messages of earlier requests not again.
        body = wire.encoded(prompt, await self._parts(prompt, facts), facts, self._effort)
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
        messages = merged(prompt.messages)
        parts: list[wire.SentMessage] = prompt.sent.known(messages)
        new = messages[len(parts) :]
        # Before the pictures are read: hundreds of them are tens of megabytes.
        pictures = sum(part.pictures for part in parts) + picture_count(new)
        limits.check_request(facts, pictures, 0)
        marked = facts.cache == "breakpoints"
        # A request may be repeated, after which nothing is new.
        for message, after in zip(new, [*new[1:], None][: len(new)], strict=True):
            before = parts[-1] if parts else None
            loaded = await self._load(message)
            parts.append(wire.sent_message(message, loaded, before, after, marked=marked))
            prompt.sent.add(message, parts[-1])
        return parts

    async def _load(self, message: Message) -> dict[str, bytes]:
        """Return the pictures of a message, without those that a person has removed."""
        found: dict[str, bytes] = {}
        for file_id in picture_ids((message,)):
            try:
                found[file_id] = await self._pictures.load(file_id)
            except FileNotFoundError:
                log.warning("the picture %s of the history was removed", file_id)
        return found

    async def _attempt(
        self, body: bytes, facts: ModelFacts, on_text: Callable[[str], None]
    ) -> ModelReply:
        answer = read_reply(self._answer(body), ResponseStream(), self._policy, on_text)
        return await self._classified(answer, facts)

    async def _classified(self, answer: Awaitable[ModelReply], facts: ModelFacts) -> ModelReply:
        try:
            return await answer
        except TimeoutError as error:
            raise AttemptFailed("the model took too long to answer") from error
        except openai.APIStatusError as error:
            raise _classified(error, facts, self._account) from error
        except FailedReply as error:
            raise _classified_failure(error, facts, self._account) from error
        except UnreadableReply as error:
            raise AttemptFailed("the model's answer could not be read") from error
        except (openai.APIError, httpx2.RequestError) as error:
            unreachable = isinstance(error.__cause__, httpx2.ConnectError | httpx2.ProxyError)
            reason = f"{type(error).__name__}: {error}"
            raise AttemptFailed(reason, unreachable=unreachable) from error

    async def _compaction(self, body: bytes) -> ModelReply:
        """Send a request for a compaction; its answer comes as a whole."""
        answer = await self._client.post(
            "/responses/compact",
            cast_to=httpx2.Response,
            content=body,
            options={"headers": {"Content-Type": "application/json"}},
        )
        return compaction_of(answer.content)

    async def _answer(self, body: bytes) -> httpx2.Response:
        """Send a request; return the response when its head has come."""
        # ``responses.create`` would check and copy every item of the body, with each request again.
        answer: object = await self._client.post(
            "/responses",
            cast_to=httpx2.Response,
            content=body,
            options={"headers": {"Content-Type": "application/json"}},
            stream=True,
            stream_cls=openai.AsyncStream[object],
        )
        # The annotation of ``post`` knows only the SDK's own stream.
        return cast("httpx2.Response", answer)


def _classified(
    error: openai.APIStatusError, facts: ModelFacts, account: ModelAccount
) -> AttemptFailed | ModelError:
    """Return the error for a status: one that is retried, or a refusal."""
    status, code, text = error.status_code, error.code or "", _message(error)
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


def _message(error: openai.APIStatusError) -> str:
    body = error.body
    given = body.get("message") if isinstance(body, dict) else None
    return str(given or error.message)


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
