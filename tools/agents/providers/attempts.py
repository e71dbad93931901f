"""Attempts of one request, with pauses between them.

The retries of the SDKs are switched off: they end before a provider's overload does, and are
silent. An adapter raises :class:`AttemptFailed` where the same request may succeed later (network
errors, time-outs, incomplete replies, overload), and a :class:`ModelError` where it would be
refused again. Pauses grow exponentially and are at least ``Retry-After``
(https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3).

A host that cannot be reached at all, by an account that has never had an answer and for a
conversation without a reply, is given up soon: the first run of a newcomer without network must
not wait for minutes.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from .errors import HostUnreachable, ModelOverloaded, ModelUnavailable
from .port import ModelReply, Prompt
from .request_slots import RequestSlots

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RetryPolicy:
    """Number of attempts, pauses and time-outs. Times are seconds."""

    attempts: int = 25
    first_attempts: int = 3
    """Attempts to reach a host that has never answered, for a conversation without a reply."""
    first_pause: float = 1.0
    longest_pause: float = 60.0
    first_chunk: float = 60.0
    """Time-out from sending the request to the first event of its answer."""
    silence: float = 600.0
    """Time-out between two events of an answer; thinking may take minutes."""

    def pause(self, failures: int) -> float:
        """Return how long to wait after that many failures in a row."""
        return float(min(self.first_pause * 2 ** (failures - 1), self.longest_pause))


class AttemptFailed(Exception):
    """Failure of one attempt, after which another may be made."""

    def __init__(
        self,
        reason: str,
        *,
        overloaded: bool = False,
        unreachable: bool = False,
        retry_after: float = 0.0,
    ) -> None:
        super().__init__(reason, overloaded, unreachable, retry_after)
        self.reason = reason
        self.overloaded = overloaded
        self.unreachable = unreachable
        """True if no connection to the host was made."""
        self.retry_after = retry_after


class Attempts:
    """Repeats the requests of one account."""

    def __init__(
        self,
        host: str,
        policy: RetryPolicy | None = None,
        slots: RequestSlots | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Send requests to ``host``, at most as many at once as there are slots."""
        self._clock = clock
        self.policy = policy or RetryPolicy()
        self._host = host
        self._slots = slots or RequestSlots()
        self._sleep = sleep
        self._answered = False

    async def run(self, prompt: Prompt, attempt: Callable[[], Awaitable[ModelReply]]) -> ModelReply:
        """Call ``attempt`` until it returns a reply; add to that the times of all attempts.

        Raises:
            ModelUnavailable: If all attempts failed.
        """
        failures = 0
        began, queued = self._clock(), 0.0
        while True:
            asked = self._clock()
            try:
                async with self._slots.slot(prompt.conversation):
                    queued += self._clock() - asked
                    reply = await attempt()
                self._answered = True
                total = self._clock() - began - queued
                return replace(reply, times=replace(reply.times, queued=queued, total=total))
            except AttemptFailed as failure:
                failures += 1
                self._answered = self._answered or not failure.unreachable
                if failures >= self._most(prompt, failure):
                    raise self._error(failure, failures) from failure
                pause = max(self.policy.pause(failures), failure.retry_after)
                # A command without network ends with one sentence about it.
                level = logging.INFO if failure.unreachable else logging.WARNING
                log.log(level, "model attempt %d failed: %s", failures, failure.reason)
                # ``Retry-After`` is limited too: a long one must not keep a turn waiting for hours.
                await self._sleep(min(pause, self.policy.longest_pause))

    def _most(self, prompt: Prompt, failure: AttemptFailed) -> int:
        begun = any(message.role == "assistant" for message in prompt.messages)
        if failure.unreachable and not self._answered and not begun:
            return min(self.policy.first_attempts, self.policy.attempts)
        return self.policy.attempts

    def _error(self, failure: AttemptFailed, failures: int) -> ModelUnavailable:
        if failure.unreachable:
            return HostUnreachable(self._host, failure.reason, failures)
        kind = ModelOverloaded if failure.overloaded else ModelUnavailable
        return kind(failure.reason, failures)
