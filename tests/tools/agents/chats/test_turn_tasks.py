import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from deskhand.tools.agents.chats.turn_tasks import Turns


@dataclass
class FakeWorker:
    """Logs its calls, and does what the test has set."""

    log: list[str] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    follow: list[bool] = field(default_factory=list)
    on_finish: Callable[[], None] | None = None
    failure: Exception | None = None

    async def run(self, chat_id: str) -> str:
        self.log.append(f"run {chat_id}")
        self.begun.set()
        await self.gate.wait()
        return "done"

    async def finish(self, chat_id: str, ended: str | None) -> bool:
        await asyncio.sleep(0)
        self.log.append(f"finish {chat_id} {ended}")
        if self.failure is not None:
            raise self.failure
        if self.on_finish is not None:
            act, self.on_finish = self.on_finish, None
            act()
        return self.follow.pop(0) if self.follow else False

    async def requeue(self, chat_id: str) -> None:
        self.log.append(f"requeue {chat_id}")


def _run(scenario: Callable[[FakeWorker, Turns[str]], object]) -> list[str]:
    async def main() -> list[str]:
        worker = FakeWorker()
        turns: Turns[str] = Turns(worker)
        async with asyncio.timeout(20):
            await scenario(worker, turns)  # type: ignore[misc]
            await turns.close()
        return worker.log

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


def test_a_turn_whose_finish_fails_leaves_no_task() -> None:
    async def scenario(worker: FakeWorker, turns: Turns[str]) -> None:
        worker.gate.set()
        worker.failure = OSError("disk full")
        turns.start("a")
        await turns.over("a")
        worker.failure = None
        turns.start("a")
        await turns.over("a")

    assert _run(scenario) == ["run a", "finish a done"] * 2


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
