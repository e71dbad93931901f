"""Anthropic's models through the official SDK."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import anthropic
import httpx2

from tools.agents.conversation import Said
from tools.agents.providers import anthropic_wire as wire
from tools.agents.providers.errors import (
    ModelError,
    ModelOverloaded,
    ModelRefused,
    ModelUnavailable,
)
from tools.agents.providers.port import PictureBytes, Prompt, Reply, Usage

log = logging.getLogger(__name__)

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
RETRIED_STATUSES = frozenset({408, 429, *range(500, 600)})
RETRIED_TYPES = frozenset({"overloaded_error", "rate_limit_error", "api_error", "timeout_error"})
OVERLOAD_STATUSES = frozenset({429, 529})
OVERLOAD_TYPES = frozenset({"overloaded_error", "rate_limit_error"})
ADVICE = {
    401: "Check the API key.",
    403: "The key has no right to this model or feature.",
    404: "Check the model's name.",
    413: "The conversation is too large: start a new chat.",
}


@dataclass(frozen=True)
class Patience:
    """How long and how often to try. Times are seconds."""

    attempts: int = 25
    first_pause: float = 1.0
    longest_pause: float = 60.0
    first_chunk: float = 60.0
    """From sending the request to the first event of its answer."""
    silence: float = 600.0
    """Between two events of an answer."""

    def pause(self, failures: int) -> float:
        """How long to wait after that many failures in a row."""
        return float(min(self.first_pause * 2 ** (failures - 1), self.longest_pause))


class _Failure(Exception):
    """One attempt that may be made again."""

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
        patience: Patience | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._pictures = pictures
        self._patience = patience or Patience()
        self._sleep = sleep
        # A proxy from the environment would be asked for a server on this very machine.
        direct = base_url is not None and urlsplit(base_url).hostname in LOOPBACK
        self._client = anthropic.AsyncAnthropic(
            api_key=api_key,
            base_url=base_url,
            max_retries=0,
            timeout=httpx2.Timeout(self._patience.silence, connect=10.0),
            http_client=anthropic.DefaultAsyncHttpxClient(trust_env=not direct),
        )

    async def close(self) -> None:
        """Close kept connections."""
        await self._client.close()

    async def reply(self, prompt: Prompt, on_text: Callable[[str], None]) -> Reply:
        """Ask once, with retries; see :class:`~tools.agents.providers.port.Model`."""
        body = wire.request(prompt, await self._load(prompt))
        failures = 0
        while True:
            try:
                return await self._attempt(body, on_text)
            except _Failure as failure:
                failures += 1
                if failures >= self._patience.attempts:
                    kind = ModelOverloaded if failure.overloaded else ModelUnavailable
                    raise kind(failure.reason, failures) from failure
                pause = max(self._patience.pause(failures), failure.retry_after)
                log.warning("model attempt %d failed: %s", failures, failure.reason)
                await self._sleep(min(pause, self._patience.longest_pause))

    async def _load(self, prompt: Prompt) -> dict[str, bytes]:
        ids = wire.picture_ids(prompt.messages)
        return {file_id: await self._pictures.load(file_id) for file_id in ids}

    async def _attempt(self, body: dict[str, Any], on_text: Callable[[str], None]) -> Reply:
        try:
            return await self._stream(body, on_text)
        except TimeoutError as error:
            raise _Failure("the model took too long to answer") from error
        except anthropic.APIStatusError as error:
            raise _judged(error) from error
        except (anthropic.APIError, httpx2.TransportError) as error:
            raise _Failure(f"{type(error).__name__}: {error}") from error
        except (ValueError, RuntimeError) as error:
            # What the SDK raises for arguments that are no JSON and for events out of order.
            raise _Failure("the model's answer could not be read") from error

    async def _stream(self, body: dict[str, Any], on_text: Callable[[str], None]) -> Reply:
        complete = False
        said = ""
        async with asyncio.timeout(self._patience.first_chunk) as limit:
            async with self._client.messages.stream(**body) as stream:
                async for event in stream:
                    limit.reschedule(asyncio.get_running_loop().time() + self._patience.silence)
                    if event.type == "text":
                        said += event.text
                        on_text(said)
                    complete = complete or event.type == "message_stop"
                if not complete:
                    raise _Failure("the answer was cut off")
                return _reply(stream.current_message_snapshot)


def _reply(message: anthropic.types.Message) -> Reply:
    blocks = (wire.reply_block(block.to_dict()) for block in message.content)
    content: tuple[Said, ...] = tuple(b for b in blocks if b is not None)
    usage = Usage(
        message.usage.input_tokens,
        message.usage.output_tokens,
        message.usage.cache_read_input_tokens or 0,
        message.usage.cache_creation_input_tokens or 0,
    )
    return Reply(content, message.stop_reason or "end_turn", usage)


def _judged(error: anthropic.APIStatusError) -> _Failure | ModelError:
    """Tell what may be tried again from what may not.

    An error in the middle of a stream comes with status 200; its type tells.
    """
    said = error.api_message or error.message
    overloaded = error.status_code in OVERLOAD_STATUSES or error.type in OVERLOAD_TYPES
    if error.status_code in RETRIED_STATUSES or error.type in RETRIED_TYPES:
        return _Failure(said, overloaded, _retry_after(error.response))
    return ModelRefused(error.status_code, said, ADVICE.get(error.status_code, ""))


def _retry_after(response: httpx2.Response) -> float:
    given = response.headers.get("retry-after", "")
    return float(given) if given.isdigit() else 0.0
