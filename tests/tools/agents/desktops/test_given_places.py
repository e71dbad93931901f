import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import pytest

from deskhand.tools.agents.desktops.given_places import PAUSE, PAUSE_SECONDS, GivenPlaces
from deskhand.tools.kit.support.spec import Machine, MachineUnavailable
from tests.tools.agents.chats.fakes import LIMIT


class Bench:
    """Places, and a machine, which note what is asked of them."""

    def __init__(self, desktop: str | None = "d") -> None:
        self.desktop = desktop
        self.did: list[Any] = []
        self.working: list[bool | Exception] = [False]
        self.failure: Exception | None = None
        self.changed = asyncio.Condition()

    def held(self, chat_id: str) -> str | None:
        return self.desktop

    def give_back(self, chat_id: str) -> None:
        self.did.append("give back")

    def keep(self, chat_id: str) -> None:
        self.did.append("keep")

    async def take_again(self, chat_id: str) -> None:
        self.did.append("take again")

    async def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        params: Mapping[str, str] | None = None,
        timeout: float = 30.0,
    ) -> Any:
        assert (method, path) == ("POST", PAUSE)
        if self.failure is not None:
            raise self.failure
        self.did.append(json["seconds"])

    async def machine(self, _: str) -> Machine:
        return self

    async def works(self, chat_id: str, desktop_id: str) -> bool:
        async with self.changed:
            self.changed.notify_all()
        found = self.working.pop(0) if len(self.working) > 1 else self.working[0]
        if isinstance(found, Exception):
            raise found
        return found

    async def until(self, *done: Any) -> None:
        async with asyncio.timeout(LIMIT), self.changed:
            await self.changed.wait_for(lambda: self.did[: len(done)] == list(done))

    @property
    def given(self) -> GivenPlaces:
        return GivenPlaces([self], self.machine, self.works, 0.0, seconds=0.0)


def test_the_desktop_pauses_until_the_chat_has_a_place_again() -> None:
    async def scenario() -> None:
        bench = Bench()
        async with bench.given.given_back("c"):
            await bench.until("give back", PAUSE_SECONDS, "give back", PAUSE_SECONDS)
        assert bench.did[-3:] == ["take again", "keep", 0.0]

    asyncio.run(scenario())


def test_a_desktop_on_which_another_chat_works_keeps_its_place() -> None:
    async def scenario() -> None:
        bench = Bench()
        bench.working = [False, True]
        async with bench.given.given_back("c"):
            await bench.until("give back", PAUSE_SECONDS, "keep", "keep")

    asyncio.run(scenario())


def test_a_chat_without_a_desktop_gives_nothing_back() -> None:
    async def scenario() -> None:
        bench = Bench(desktop=None)
        async with bench.given.given_back("c"):
            pass
        assert bench.did == []

    asyncio.run(scenario())


@pytest.mark.parametrize("failing", ["machine", "works"])
def test_what_fails_does_not_end_the_wait(failing: str, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        bench = Bench()
        if failing == "machine":
            bench.failure = MachineUnavailable("it has ended")
        else:
            bench.working = [OSError("no database")]
        caplog.set_level(logging.WARNING)
        async with bench.given.given_back("c"), asyncio.timeout(LIMIT), bench.changed:
            await bench.changed.wait()
        assert "keep" in bench.did
        assert "pause" in caplog.text

    asyncio.run(scenario())


def test_a_body_that_is_cut_off_does_not_queue() -> None:
    async def scenario() -> None:
        bench = Bench()

        async def body() -> None:
            async with bench.given.given_back("c"):
                await bench.until("give back", PAUSE_SECONDS)
                raise KeyError

        with pytest.raises(KeyError):
            await body()
        assert bench.did[-2:] == ["keep", 0.0]
        assert "take again" not in bench.did

    asyncio.run(scenario())
