import asyncio
from collections.abc import Awaitable, Callable

from deskhand.vncbridge.auth.one_time import MOST, OneTimeSecret, OwnOneTimeSecrets
from deskhand.vncbridge.auth.policy import Principal

ANN = Principal("Ann", ("desktop:d1:view",), ("token:t1",))
TICKET, CODE = OneTimeSecret("ticket", 30.0, ANN), OneTimeSecret("code", 600.0, ANN)


def play(work: Callable[[OwnOneTimeSecrets, list[float]], Awaitable[None]]) -> None:
    now = [0.0]
    asyncio.run(_awaited(work(OwnOneTimeSecrets(lambda: now[0]), now)))


async def _awaited(work: Awaitable[None]) -> None:
    await work


def test_a_secret_is_taken_once_and_only_as_what_it_is() -> None:
    async def work(secrets: OwnOneTimeSecrets, _: list[float]) -> None:
        await secrets.add("a", TICKET)
        assert await secrets.take("code", "a") is None
        assert await secrets.take("ticket", "a") == TICKET
        assert await secrets.take("ticket", "a") is None

    play(work)


def test_a_secret_ends() -> None:
    async def work(secrets: OwnOneTimeSecrets, now: list[float]) -> None:
        await secrets.add("a", TICKET)
        await secrets.add("b", CODE)
        now[0] = 30.0
        assert await secrets.take("ticket", "a") is None
        await secrets.add("c", CODE)
        assert await secrets.take("code", "b") == CODE

    play(work)


def test_they_are_bounded_by_kind_and_the_oldest_goes_first() -> None:
    async def work(secrets: OwnOneTimeSecrets, _: list[float]) -> None:
        await secrets.add("code", CODE)
        for number in range(MOST + 1):
            await secrets.add(f"{number}", TICKET)
        assert await secrets.take("ticket", "0") is None
        assert await secrets.take("ticket", "1") == TICKET
        assert await secrets.take("code", "code") == CODE

    play(work)


def test_a_ticket_ends_with_its_credential() -> None:
    async def work(secrets: OwnOneTimeSecrets, _: list[float]) -> None:
        await secrets.add("a", TICKET)
        await secrets.end("token:t2")
        await secrets.add("b", TICKET)
        assert await secrets.take("ticket", "b") == TICKET
        await secrets.end("token:t1")
        assert await secrets.take("ticket", "a") is None

    play(work)
