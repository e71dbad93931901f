"""Google's models through the official SDK.

A request is retried (see :mod:`~deskhand.tools.agents.providers.attempts`) after network errors,
time-outs, incomplete replies, malformed function calls, and the statuses in ``RETRIED_STATUSES``.
Everything else is refused at once: the same request would be refused again.
"""

import asyncio
import re
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import httpx2
from google import genai
from google.genai import errors, types

from deskhand.tools.agents.providers import limits
from deskhand.tools.agents.providers.accounts.failures import (
    FAILED_ATTEMPTS,
    UNREADABLE,
    failed_attempt,
)
from deskhand.tools.agents.providers.accounts.history import history_of, load_pictures
from deskhand.tools.agents.providers.attempts import AttemptFailed, Attempts, RetryPolicy
from deskhand.tools.agents.providers.errors import KeyRefused, ModelError, ModelRefused, NoCredit
from deskhand.tools.agents.providers.http_stream import read_reply
from deskhand.tools.agents.providers.model_table import ModelFacts, model_facts, sent_name
from deskhand.tools.agents.providers.port import ModelReply, PictureBytes, Prompt
from deskhand.tools.agents.providers.provider_table import PROVIDERS, ModelAccount
from deskhand.tools.agents.providers.reply_errors import FailedReply
from deskhand.tools.agents.providers.request_slots import RequestSlots

from . import wire
from .functions import Size
from .stream import FailedAnswer, StreamedAnswer

Json = dict[str, Any]

PROVIDER = PROVIDERS["gemini"]
OLD_TOOL = "computer_use_preview"
"""The computer tool of models with the functions of the previews."""
OK, UNAUTHORIZED, PAYMENT_REQUIRED, TOO_MANY, UNAVAILABLE = 200, 401, 402, 429, 503
RETRIED_STATUSES = frozenset({408, 429, *range(500, 600)})
INVALID_KEY = ("API_KEY_INVALID", "API key not valid", "API key expired")
"""Parts of a refusal with status 400 that is about the key."""
NO_CREDIT = ("credits are depleted", "billing is not enabled", "billing account")
"""Parts of a refusal with status 400, 403 or 429 that is about payment."""
TOO_LONG = re.compile(r"input token count.*exceeds the maximum", re.IGNORECASE | re.DOTALL)
TOO_LARGE = re.compile(r"payload size exceeds the limit", re.IGNORECASE)
ADVICE = {
    403: "The key has no right to this model or feature.",
    404: "Check the model's name.",
}


@dataclass(frozen=True)
class _Request:
    model: str
    contents: list[Json]
    configuration: Json
    size: Size
    tools: frozenset[str]


class _Answered(Exception):
    """The head of a successful response has come; its body is still to be read."""

    def __init__(self, response: httpx2.Response) -> None:
        super().__init__(response)
        self.response = response


class _Client(httpx2.AsyncClient):
    """Takes a response from the SDK, to read its body with our own time-outs and to its end.

    The SDK's own stream leaves its generators to the garbage collector after an error.
    """

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        response = await super().send(request, **options)
        if response.is_success:
            raise _Answered(response)
        return response


class GeminiModel:
    """One account at Google, or any server that speaks its Gemini protocol."""

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
        self._http = _Client(
            trust_env=not self._account.is_local,
            # ``read_reply`` limits an attempt; only connecting has a limit of its own.
            timeout=httpx2.Timeout(self._policy.silence, connect=10.0),
        )
        self._client = genai.Client(
            api_key=api_key,
            enterprise=False,
            http_options=types.HttpOptions(
                base_url=base_url,
                timeout=int(self._policy.silence * 1000),
                retry_options=types.HttpRetryOptions(attempts=1),
                httpx_async_client=self._http,
            ),
        )

    async def close(self) -> None:
        """Close the connections that are kept open."""
        await self._client.aio.aclose()
        self._client.close()
        await self._http.aclose()

    async def reply(self, prompt: Prompt, on_text: Callable[[str], None]) -> ModelReply:
        """Ask once, with retries; see :class:`~deskhand.tools.agents.providers.port.Model`."""
        facts = model_facts(prompt.model)
        # Once for all attempts, and for the messages of earlier requests not again.
        parts = await self._parts(prompt, facts)
        old = facts.computer == OLD_TOOL
        # The previews have no levels of thinking.
        effort = None if old else PROVIDER.effort(prompt.effort, self._effort)
        configuration = wire.configuration(prompt, old=old, effort=effort)
        size = sum(part.size for part in parts) + wire.size(configuration)
        limits.check_request(facts, 0, size)
        request = _Request(
            sent_name(prompt.model),
            [content for part in parts for content in part.contents],
            configuration,
            wire.screen_size(prompt.messages),
            frozenset(spec.name for spec in prompt.tools),
        )
        reply = await self._attempts.run(prompt, lambda: self._attempt(request, facts, on_text))
        return replace(reply, request_bytes=size)

    async def _parts(self, prompt: Prompt, facts: ModelFacts) -> list[wire.MessageContents]:
        """Return the contents of all messages; only those not sent before are converted."""
        history = history_of(prompt, facts)
        parts: list[wire.MessageContents] = history.parts
        for message in history.new:
            awaited = parts[-1].awaited if parts else ()
            size = wire.screen_size(history.messages[: len(parts)])
            loaded = await load_pictures(message, self._pictures)
            # A signature covers what precedes it, removed pictures included.
            valid = not any(one.missing for one in parts)
            part = wire.contents_of(message, loaded, awaited, size, valid=valid)
            prompt.sent.add(message, part)
            parts.append(part)
        return parts

    async def _attempt(
        self, request: _Request, facts: ModelFacts, on_text: Callable[[str], None]
    ) -> ModelReply:
        nonce = uuid.uuid4().hex[:12]
        reply = StreamedAnswer(request.size, tools=request.tools, nonce=nonce)
        try:
            return await read_reply(self._answer(request), reply, self._policy, on_text)
        except FailedAnswer as error:
            if error.again:
                raise AttemptFailed(error.message) from error
            raise ModelRefused(OK, error.message) from error
        except FailedReply as error:
            status = int(error.kind) if error.kind.isdigit() else OK
            raise _classified(status, error.message, {}, facts, self._account) from error
        except errors.APIError as error:
            text = error.message or str(error)
            raise _classified(error.code, text, error.details, facts, self._account) from error
        except errors.UnknownApiResponseError as error:
            raise AttemptFailed(UNREADABLE) from error
        except FAILED_ATTEMPTS as error:
            raise failed_attempt(error) from error

    async def _answer(self, request: _Request) -> httpx2.Response:
        """Send a request; return the response when its head has come."""
        try:
            chunks = await self._client.aio.models.generate_content_stream(
                model=request.model,
                contents=cast(Any, request.contents),
                config=cast(Any, request.configuration),
            )
            async for _ in chunks:
                pass
        except _Answered as answered:
            return answered.response
        raise errors.UnknownApiResponseError("there is no response")


def _classified(
    status: int, text: str, details: object, facts: ModelFacts, account: ModelAccount
) -> AttemptFailed | ModelError:
    """Return the error for a status: one that is retried, or a refusal."""
    whole = f"{text} {details}"
    if status == UNAUTHORIZED or any(part in whole for part in INVALID_KEY):
        return KeyRefused(account.provider.title, account.variable, status)
    if status == PAYMENT_REQUIRED or any(part in whole for part in NO_CREDIT):
        return NoCredit(account.provider.title, account.variable)
    if TOO_LONG.search(text):
        return limits.window_exceeded(facts)
    if status in RETRIED_STATUSES:
        overloaded = status in (TOO_MANY, UNAVAILABLE)
        # ``retryDelay`` is in the details of an overload, as "34s".
        delay = re.search(r"'retryDelay': '(\d+)", whole)
        return AttemptFailed(
            text, overloaded=overloaded, retry_after=float(delay[1]) if delay else 0.0
        )
    too_large = limits.TOO_LARGE if TOO_LARGE.search(text) else status
    reached = limits.limit_of_refusal(too_large, text, facts)
    return reached or ModelRefused(status, text, ADVICE.get(status, ""))
