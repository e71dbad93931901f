import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from deskhand.tools.agents.driving.turn_tasks import Turns
from deskhand.tools.store.errors import StaleDriver


@dataclass
class FakeWorker:
    """Logs its calls, and does what the test has set."""

    log: list[str] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    follow: list[bool] = field(default_factory=list)
    on_finish: Callable[[], None] | None = None
    failures: list[Exception] = field(default_factory=list)
    failed: asyncio.Event = field(default_factory=asyncio.Event)
    between: asyncio.Event = field(default_factory=asyncio.Event)
    run_failure: Exception | None = None
    """What to raise in place of a cancellation."""
    delay: float = 0.0
    attempts: list[int] = field(default_factory=list)

    def delay_after(self, attempts: int) -> float:
        self.attempts.append(attempts)
        return self.delay

    async def run(self, chat_id: str) -> str:
        self.log.append(f"run {chat_id}")
        self.begun.set()
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            if self.run_failure is not None:
                raise self.run_failure from None
            raise
        return "done"

    async def finish(self, chat_id: str, ended: str | None) -> bool:
        await asyncio.sleep(0)
        self.log.append(f"finish {chat_id} {ended}")
        if self.failures:
            self.failed.set()
            raise self.failures.pop()
        if self.on_finish is not None:
            act, self.on_finish = self.on_finish, None
            act()
        return self.follow.pop(0) if self.follow else False

    async def requeue(self, chat_id: str) -> None:
        self.log.append(f"requeue {chat_id}")

    def abandon(self, chat_id: str) -> None:
        self.log.append(f"abandon {chat_id}")

    async def between_replies(self, chat_id: str) -> None:
        await self.between.wait()


def _run(scenario: Callable[[FakeWorker, Turns[str]], object]) -> list[str]:
    async def main() -> list[str]:
        worker = FakeWorker()
        turns: Turns[str] = Turns(worker, worker.delay_after)
        async with asyncio.timeout(20):
            await scenario(worker, turns)  # type: ignore[misc]
            await turns.close()
        attempts = ", ".join(map(str, worker.attempts))
        return [*worker.log, *([f"attempts {attempts}"] if attempts else [])]

    return asyncio.run(main())


def test_a_turn_is_run_and_finished() -> None:
    async def scenario(worker: FakeWorker, turns: Turns[str]) -> None:
        worker.gate.set()
        turns.start("a")
        await turns.over("a")
        await turns.over("a")

    assert _run(scenario) == ["run a", "finish a done"]


def test_another_turn_follows_when_finish_returns_true() -> None:
    async def scenario(worker: FakeWorker, turns: Turns[str]) -> None:
        worker.gate.set()
        worker.follow = [True, False]
        turns.start("a")
        await turns.over("a")

    assert _run(scenario) == ["run a", "finish a done"] * 2


def test_a_start_while_the_last_turn_is_finished_is_not_lost() -> None:
    async def scenario(worker: FakeWorker, turns: Turns[str]) -> None:
        worker.gate.set()
        worker.on_finish = lambda: turns.start("a")
        turns.start("a")
        await turns.over("a")

    assert _run(scenario) == ["run a", "finish a done"] * 2


def test_interrupting_cancels_the_run_and_finishes_the_turn() -> None:
    async def scenario(worker: FakeWorker, turns: Turns[str]) -> None:
        turns.start("a")
        await worker.begun.wait()
        turns.interrupt("a")
        turns.interrupt("nobody")
        await turns.over("a")

    assert _run(scenario) == ["run a", "finish a None"]


def test_closing_puts_back_what_goes_on_and_starts_nothing_more() -> None:
    async def scenario(worker: FakeWorker, turns: Turns[str]) -> None:
        turns.start("a")
        await worker.begun.wait()
        await turns.close()
        turns.start("b")
        await turns.close()

    assert _run(scenario) == ["run a", "requeue a"]


def test_a_turn_that_ended_before_the_close_is_finished() -> None:
    async def scenario(worker: FakeWorker, turns: Turns[str]) -> None:
        worker.gate.set()
        worker.follow = [True]
        turns.start("a")
        await worker.begun.wait()
        await turns.close()

    assert _run(scenario) == ["run a", "finish a done"]


def test_a_turn_whose_finish_fails_is_finished_later_and_not_run_again() -> None:
    async def scenario(worker: FakeWorker, turns: Turns[str]) -> None:
        worker.gate.set()
        worker.failures = [OSError("disk full"), OSError("disk full")]
        turns.start("a")
        await turns.over("a")
        assert turns.chat_ids == set()

    assert _run(scenario) == ["run a", *["finish a done"] * 3, "attempts 1, 2"]


def test_closing_ends_the_retries_after_one_more_attempt() -> None:
    async def scenario(worker: FakeWorker, turns: Turns[str]) -> None:
        worker.gate.set()
        worker.failures = [OSError("disk full")] * 5
        worker.delay = 3600.0
        turns.start("a")
        await worker.failed.wait()
        assert turns.chat_ids == {"a"}
        await turns.close()

    assert _run(scenario) == ["run a", *["finish a done"] * 2, "attempts 1"]


def test_a_run_that_cannot_store_its_work_at_the_close_is_requeued() -> None:
    async def scenario(worker: FakeWorker, turns: Turns[str]) -> None:
        worker.run_failure = OSError("disk full")
        turns.start("a")
        await worker.begun.wait()
        await turns.close()

    assert _run(scenario) == ["run a", "requeue a"]


def test_a_chat_that_works_is_not_started_again_by_ensuring_it() -> None:
    async def scenario(worker: FakeWorker, turns: Turns[str]) -> None:
        turns.ensure("a")
        await worker.begun.wait()
        turns.ensure("a")
        worker.gate.set()
        await turns.over("a")

    assert _run(scenario) == ["run a", "finish a done"]


def test_chats_work_at_the_same_time() -> None:
    async def scenario(worker: FakeWorker, turns: Turns[str]) -> None:
        turns.start("a")
        turns.start("b")
        turns.start("a")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        worker.gate.set()
        await turns.over("a")
        await turns.over("b")

    log = _run(scenario)
    assert log[:2] == ["run a", "run b"]


def test_a_turn_that_was_taken_over_ends_without_a_further_write() -> None:
    async def scenario(worker: FakeWorker, turns: Turns[str]) -> None:
        worker.run_failure = StaleDriver("c", 1, 2)
        turns.start("c")
        await worker.begun.wait()
        turns.interrupt("c")
        await turns.over("c")

    assert _run(scenario) == ["run c", "abandon c"]


def test_a_turn_that_is_taken_over_at_its_end_is_not_finished_again() -> None:
    async def scenario(worker: FakeWorker, turns: Turns[str]) -> None:
        worker.gate.set()
        worker.failures = [StaleDriver("c", 1, 2)]
        turns.start("c")
        await turns.over("c")

    assert _run(scenario) == ["run c", "finish c done", "abandon c"]


def test_an_action_ends_before_a_close_cuts_the_run_off() -> None:
    async def scenario(worker: FakeWorker, turns: Turns[str]) -> None:
        turns.start("a")
        await worker.begun.wait()
        closing = asyncio.create_task(turns.close(20.0))
        await asyncio.sleep(0)
        worker.log.append("acted")
        worker.between.set()
        await closing

    assert _run(scenario) == ["run a", "acted", "requeue a"]


def test_an_action_that_takes_too_long_is_cut_off() -> None:
    async def scenario(worker: FakeWorker, turns: Turns[str]) -> None:
        turns.start("a")
        await worker.begun.wait()
        await turns.close(0.01)

    assert _run(scenario) == ["run a", "requeue a"]


def test_a_run_is_interrupted_once() -> None:
    async def scenario(worker: FakeWorker, turns: Turns[str]) -> None:
        turns.start("a")
        await worker.begun.wait()
        turns.interrupt("a")
        turns.interrupt("a")
        await turns.over("a")

    assert _run(scenario) == ["run a", "finish a None"]


def test_nothing_is_fenced_by_a_control_plane_that_is_alone() -> None:
    async def scenario(_: FakeWorker, turns: Turns[str]) -> None:
        assert turns.generation_of("a") == 0

    assert _run(scenario) == []
