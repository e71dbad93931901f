import asyncio
from dataclasses import replace

import pytest

from deskhand.tools.agents.providers.attempts import AttemptFailed, Attempts, RetryPolicy
from deskhand.tools.agents.providers.errors import (
    HostUnreachable,
    ModelOverloaded,
    ModelUnavailable,
)
from deskhand.tools.agents.providers.port import ModelReply, Prompt, RequestTimes, Usage
from deskhand.tools.agents.providers.request_slots import RequestSlots
from deskhand.tools.conversation.conversation import Message, Text

REPLY = ModelReply((Text("x"),), "end_turn", Usage())
FIRST = Prompt("", (Message("user", (Text("Go."),)),), (), False, "m")
LATER = Prompt("", (*FIRST.messages, Message("assistant", (Text("x"),))), (), False, "m")
BROKEN = AttemptFailed("broken")
UNREACHABLE = AttemptFailed("no route", unreachable=True)


class Account:
    """An account whose requests fail as the test wants; records the pauses."""

    def __init__(self, **policy: int) -> None:
        self.pauses: list[float] = []
        self.slots = RequestSlots(1)
        self.held_in_pauses: list[int] = []
        self._attempts = Attempts("host", RetryPolicy(**policy), self.slots, self._pause)

    def ask(self, *failures: AttemptFailed, prompt: Prompt = FIRST) -> ModelReply:
        left = list(failures)

        async def attempt() -> ModelReply:
            assert self.slots.held == 1
            if left:
                raise left.pop(0)
            return REPLY

        return asyncio.run(self._attempts.run(prompt, attempt))

    async def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.held_in_pauses.append(self.slots.held)


def test_pauses_double_up_to_the_longest_and_hold_no_slot() -> None:
    account = Account()
    assert account.ask(*[BROKEN] * 8) == REPLY
    assert account.pauses == [1, 2, 4, 8, 16, 32, 60, 60]
    assert set(account.held_in_pauses) == {0}


def test_a_pause_is_as_long_as_the_provider_wants_but_not_for_hours() -> None:
    account = Account()
    account.ask(AttemptFailed("busy", retry_after=7.0), AttemptFailed("busy", retry_after=7200))
    assert account.pauses == [7.0, 60.0]


@pytest.mark.parametrize(
    ("failure", "kind"),
    [(BROKEN, "model_unavailable"), (AttemptFailed("busy", overloaded=True), "model_overloaded")],
)
def test_the_last_attempt_ends_the_request(failure: AttemptFailed, kind: str) -> None:
    account = Account(attempts=3)
    with pytest.raises(ModelUnavailable) as caught:
        account.ask(*[failure] * 3)
    assert (caught.value.kind, caught.value.attempts) == (kind, 3)
    assert account.pauses == [1, 2]
    assert isinstance(caught.value, ModelOverloaded) == failure.overloaded


def test_a_host_that_never_answered_is_given_up_soon_in_a_first_run() -> None:
    account = Account()
    with pytest.raises(HostUnreachable, match="host cannot be reached: check the network"):
        account.ask(*[UNREACHABLE] * 9)
    assert account.pauses == [1, 2]


def test_a_conversation_that_has_begun_waits_for_its_host() -> None:
    account = Account()
    assert account.ask(*[UNREACHABLE] * 9, prompt=LATER) == REPLY


@pytest.mark.parametrize("earlier", [(), (BROKEN,)])
def test_an_account_that_was_answered_waits_for_its_host(
    earlier: tuple[AttemptFailed, ...],
) -> None:
    account = Account()
    account.ask(*earlier)
    assert account.ask(*[UNREACHABLE] * 9) == REPLY


def test_a_reply_has_the_times_of_its_wait_and_of_all_attempts() -> None:
    ticks = iter((0.0, 0.0, 0.5, 10.0, 10.25, 12.0))
    attempts = Attempts("host", slots=RequestSlots(), sleep=nothing, clock=lambda: next(ticks))
    left = [BROKEN]

    async def attempt() -> ModelReply:
        if left:
            raise left.pop()
        return replace(REPLY, times=RequestTimes(first_byte=0.1))

    reply = asyncio.run(attempts.run(FIRST, attempt))
    assert reply.times == RequestTimes(queued=0.75, first_byte=0.1, total=11.25)


async def nothing(_: float) -> None:
    """Pause for no time."""
