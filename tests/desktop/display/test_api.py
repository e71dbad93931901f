import asyncio
from collections.abc import Awaitable, Callable

import httpx2
from fastapi import FastAPI, Request

from deskhand.desktop.display.api import START_SECONDS, router
from deskhand.desktop.errors import DisplayNotReady

PATH = "/api/v0/desktop/display"
LIMIT = 20.0


class FakeDisplay:
    def __init__(self) -> None:
        self.state = "absent"
        self.used = asyncio.Event()
        self.failure: Exception | None = None
        self.next_start_s: float | None = None
        self.starts = 0

    def start(self) -> None:
        self.starts += 1

    async def wait_wanted(self, timeout: float) -> None:
        if timeout:
            await self.used.wait()

    async def wait_ready(self, timeout: float = START_SECONDS) -> None:
        if self.failure is not None:
            raise self.failure
        self.state = "running"


class Bench:
    def __init__(self) -> None:
        self.display = FakeDisplay()
        self.closing = asyncio.Event()
        self.started: list[str] = []
        app = FastAPI()
        app.include_router(
            router(self.display, may_start, lambda: self.started.append("!"), self.closing)
        )
        transport = httpx2.ASGITransport(app)
        self.client = httpx2.AsyncClient(transport=transport, base_url="http://localhost")


def may_start(request: Request) -> bool:
    return "refused" not in request.headers


def run(scenario: Callable[[Bench], Awaitable[None]]) -> None:
    async def main() -> None:
        bench = Bench()
        async with asyncio.timeout(LIMIT), bench.client:
            await scenario(bench)

    asyncio.run(main())


def test_the_first_use_is_answered_to_those_who_wait() -> None:
    async def scenario(bench: Bench) -> None:
        assert (await bench.client.get(PATH)).json() == {"state": "absent"}
        waiting = asyncio.create_task(bench.client.get(PATH, params={"wanted_within_s": "30"}))
        await asyncio.sleep(0)
        bench.display.state = "wanted"
        bench.display.used.set()
        assert (await waiting).json() == {"state": "wanted"}
        too_long = await bench.client.get(PATH, params={"wanted_within_s": "61"})
        assert too_long.status_code == 422

    run(scenario)


def test_a_wait_ends_with_the_service() -> None:
    async def scenario(bench: Bench) -> None:
        waiting = asyncio.create_task(bench.client.get(PATH, params={"wanted_within_s": "30"}))
        await asyncio.sleep(0)
        bench.closing.set()
        assert (await waiting).json() == {"state": "absent"}

    run(scenario)


def test_a_start_is_answered_when_the_display_runs() -> None:
    async def scenario(bench: Bench) -> None:
        assert (await bench.client.post(PATH)).json() == {"state": "running"}
        assert (bench.display.starts, bench.started) == (1, ["!"])

    run(scenario)


def test_only_an_administrator_starts_a_display() -> None:
    async def scenario(bench: Bench) -> None:
        assert (await bench.client.post(PATH, headers={"refused": "1"})).status_code == 403
        assert bench.display.starts == 0

    run(scenario)


def test_a_display_that_does_not_start_is_reported() -> None:
    async def scenario(bench: Bench) -> None:
        bench.display.failure = DisplayNotReady("of this desktop", 50.0, "no screens found")
        answer = await bench.client.post(PATH)
        assert answer.status_code == 503
        assert "no screens found" in str(answer.json()["detail"])
        assert bench.started == []

    run(scenario)
