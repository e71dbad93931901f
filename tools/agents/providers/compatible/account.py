"""Models of any server that speaks OpenAI's chat completions, through the official SDK.

A request is retried (see :mod:`~deskhand.tools.agents.providers.attempts`) after network errors,
time-outs, incomplete replies, and the statuses in ``RETRIED_STATUSES``. Everything else is refused
at once: the same request would be refused again.
"""

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace

import openai

from deskhand.tools.agents.providers import limits
from deskhand.tools.agents.providers.accounts.failures import FAILED_ATTEMPTS, failed_attempt
from deskhand.tools.agents.providers.accounts.history import history_of, load_pictures
from deskhand.tools.agents.providers.attempts import AttemptFailed, Attempts, RetryPolicy
from deskhand.tools.agents.providers.errors import KeyRefused, ModelError, ModelRefused, NoCredit
from deskhand.tools.agents.providers.http_stream import read_reply, retry_after
from deskhand.tools.agents.providers.model_table import ModelFacts, model_facts, sent_name
from deskhand.tools.agents.providers.openai.connection import Connection, message_of
from deskhand.tools.agents.providers.port import ModelReply, PictureBytes, Prompt
from deskhand.tools.agents.providers.provider_table import PROVIDERS, ModelAccount
from deskhand.tools.agents.providers.reply_errors import FailedReply
from deskhand.tools.agents.providers.request_slots import RequestSlots

from . import wire
from .stream import CompletionStream

PROVIDER = PROVIDERS["compatible"]
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
        self._account = ModelAccount(PROVIDER, api_key or NO_KEY, base_url, variable)
        self._attempts = Attempts(self._account.host, retry_policy, slots, sleep)
        self._policy = self._attempts.policy
        self._connection = Connection(self._account, self._policy.silence)

    async def close(self) -> None:
        """Close the connections that are kept open."""
        await self._connection.close()

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
        history = history_of(prompt, facts)
        parts: list[wire.MessageJson] = history.parts
        for message in history.new:
            part = wire.message_json(message, await load_pictures(message, self._pictures))
            prompt.sent.add(message, part)
            parts.append(part)
        return parts

    async def _attempt(
        self,
        body: bytes,
        facts: ModelFacts,
        on_text: Callable[[str], None],
        tools: frozenset[str],
    ) -> ModelReply:
        reply = CompletionStream(tools=tools, nonce=uuid.uuid4().hex[:12])
        response = self._connection.stream("/chat/completions", body)
        try:
            return await read_reply(response, reply, self._policy, on_text)
        except openai.APIStatusError as error:
            after = retry_after(error.response)
            failure = _classified(
                error.status_code, error.code or "", message_of(error), facts, self._account, after
            )
            raise failure from error
        except FailedReply as error:
            # Within a stream most servers report overload, and few give a code.
            status = int(error.kind) if error.kind.isdigit() else UNAVAILABLE
            raise _classified(status, error.kind, error.message, facts, self._account) from error
        except (*FAILED_ATTEMPTS, openai.APIError) as error:
            raise failed_attempt(error) from error


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
