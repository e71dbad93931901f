"""Models of any server that speaks OpenAI's chat completions, through the official SDK.

A request is retried (see :mod:`~deskhand.tools.agents.providers.attempts`) after network errors,
time-outs, incomplete replies, and the statuses in ``RETRIED_STATUSES``. Everything else is refused
at once: the same request would be refused again.
"""

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import cast
from urllib.parse import urlsplit

import httpx2
import openai

from deskhand.tools.agents.providers import limits
from deskhand.tools.agents.providers.attempts import AttemptFailed, Attempts, RetryPolicy
from deskhand.tools.agents.providers.errors import KeyRefused, ModelError, ModelRefused, NoCredit
from deskhand.tools.agents.providers.http_stream import read_reply, retry_after
from deskhand.tools.agents.providers.merged_messages import merged, picture_count, picture_ids
from deskhand.tools.agents.providers.model_table import ModelFacts, model_facts, sent_name
from deskhand.tools.agents.providers.port import ModelReply, PictureBytes, Prompt
from deskhand.tools.agents.providers.provider_table import PROVIDERS, ModelAccount
from deskhand.tools.agents.providers.reply_errors import FailedReply, UnreadableReply
from deskhand.tools.agents.providers.request_slots import RequestSlots
from deskhand.tools.conversation.conversation import Message

from . import wire
from .stream import CompletionStream

log = logging.getLogger(__name__)

PROVIDER = PROVIDERS["compatible"]
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
OK, UNAUTHORIZED, PAYMENT_REQUIRED, TOO_MANY, UNAVAILABLE = 200, 401, 402, 429, 503
RETRIED_STATUSES = frozenset({408, 409, 429, *range(500, 600)})
PAYMENT_CODES = frozenset({"insufficient_quota", "insufficient_credits"})
WINDOW_CODE = "context_length_exceeded"
NO_KEY = "none"
"""Sent in place of a key: the SDK demands one, and many servers need none."""
ADVICE = {
    403: "The key has no right to this model or feature.",
    404: "Check the model's name, and that the address ends as in http://localhost:8000/v1.",
}


class CompatibleModel:
    """One server that speaks chat completions."""

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
    ) -> None:
        """Open no connection yet; ``variable`` contained the key."""
        self._pictures = pictures
        self._account = ModelAccount(PROVIDER, api_key, base_url, variable)
        self._attempts = Attempts(self._account.host, retry_policy, slots, sleep)
        self._policy = self._attempts.policy
        # Without this, a proxy from the environment would be asked for a server on this machine.
        direct = base_url is not None and urlsplit(base_url).hostname in LOOPBACK
        self._client = openai.AsyncOpenAI(
            api_key=api_key or NO_KEY,
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
        model = sent_name(prompt.model)
        # Once for all attempts, and for the messages of earlier requests not again.
        body = wire.encoded(prompt, model, await self._parts(prompt, facts))
        limits.check_request(facts, 0, len(body))
        tools = frozenset(spec.name for spec in prompt.tools)
        reply = await self._attempts.run(prompt, lambda: self._attempt(body, facts, on_text, tools))
        return replace(reply, request_bytes=len(body))

    async def _parts(self, prompt: Prompt, facts: ModelFacts) -> list[wire.MessageJson]:
        """Return the parts of all messages; only those that were not sent before are converted."""
        messages = merged(prompt.messages)
        parts: list[wire.MessageJson] = prompt.sent.known(messages)
        new = messages[len(parts) :]
        # Before the pictures are read: hundreds of them are tens of megabytes.
        limits.check_request(facts, sum(part.pictures for part in parts) + picture_count(new), 0)
        for message in new:
            part = wire.message_json(message, await self._load(message))
            prompt.sent.add(message, part)
            parts.append(part)
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
        self,
        body: bytes,
        facts: ModelFacts,
        on_text: Callable[[str], None],
        tools: frozenset[str],
    ) -> ModelReply:
        reply = CompletionStream(tools=tools, nonce=uuid.uuid4().hex[:12])
        try:
            return await read_reply(self._answer(body), reply, self._policy, on_text)
        except TimeoutError as error:
            raise AttemptFailed("the model took too long to answer") from error
        except openai.APIStatusError as error:
            after = retry_after(error.response)
            failure = _classified(
                error.status_code, error.code or "", _message(error), facts, self._account, after
            )
            raise failure from error
        except FailedReply as error:
            # Within a stream most servers report overload, and few give a code.
            status = int(error.kind) if error.kind.isdigit() else UNAVAILABLE
            raise _classified(status, error.kind, error.message, facts, self._account) from error
        except UnreadableReply as error:
            raise AttemptFailed("the model's answer could not be read") from error
        except (openai.APIError, httpx2.RequestError) as error:
            unreachable = isinstance(error.__cause__, httpx2.ConnectError | httpx2.ProxyError)
            reason = f"{type(error).__name__}: {error}"
            raise AttemptFailed(reason, unreachable=unreachable) from error

    async def _answer(self, body: bytes) -> httpx2.Response:
        """Send a request; return the response when its head has come."""
        # The SDK's method for this would check and copy every message, with each request again.
        answer: object = await self._client.post(
            "/chat/completions",
            cast_to=httpx2.Response,
            content=body,
            options={"headers": {"Content-Type": "application/json"}},
            stream=True,
            stream_cls=openai.AsyncStream[object],
        )
        # The annotation of ``post`` knows only the SDK's own stream.
        return cast("httpx2.Response", answer)


def _classified(
    status: int,
    code: str,
    text: str,
    facts: ModelFacts,
    account: ModelAccount,
    after: float = 0.0,
) -> AttemptFailed | ModelError:
    """Return the error for a status: one that is retried, or a refusal."""
    if status == UNAUTHORIZED:
        return KeyRefused(account.provider.title, account.variable, status)
    if status == PAYMENT_REQUIRED or code in PAYMENT_CODES:
        return NoCredit(account.provider.title, account.variable)
    if code == WINDOW_CODE:
        return limits.window_exceeded(facts)
    if status in RETRIED_STATUSES:
        overloaded = status in (TOO_MANY, UNAVAILABLE)
        return AttemptFailed(text, overloaded=overloaded, retry_after=after)
    reached = limits.limit_of_refusal(status, text, facts)
    return reached or ModelRefused(status, text, ADVICE.get(status, ""))


def _message(error: openai.APIStatusError) -> str:
    body = error.body
    given = body.get("message") if isinstance(body, dict) else None
    return str(given or error.message)
