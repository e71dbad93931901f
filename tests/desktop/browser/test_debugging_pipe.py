"""The owner of the pipe, with a browser that the test plays on the other ends."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from deskhand.desktop.browser.debugging_pipe import MOST_WAITING, BrowserPipes, DebuggingPipe
from deskhand.desktop.browser.pipe_messages import Message, PipeReader, framed

LIMIT = 20.0


class PlayedBrowser:
    """The browser's ends of a pipe."""

    def __init__(self, requests: int, answers: int) -> None:
        self._requests = requests
        self.answers = answers
        self._reader = PipeReader()
        self._received: list[Message] = []

    async def request(self) -> Message:
        while not self._received:
            data = await asyncio.to_thread(os.read, self._requests, 65_536)
            assert data
            self._received += self._reader.feed(data)
        return self._received.pop(0)

    def close(self) -> None:
        os.close(self._requests)
        os.close(self.answers)

    def send(self, **message: Any) -> None:
        os.write(self.answers, framed(message))


def play(scenario: Callable[[DebuggingPipe, PlayedBrowser], Awaitable[None]]) -> None:
    async def scene() -> None:
        pipe = DebuggingPipe()
        ends = pipe.open()
        try:
            async with asyncio.timeout(LIMIT):
                with pipe:
                    await scenario(pipe, PlayedBrowser(ends.requests, ends.answers))
        finally:
            ends.close()
        assert pipe.closed

    asyncio.run(scene())


def test_clients_share_the_pipe() -> None:
    async def scenario(pipe: DebuggingPipe, browser: PlayedBrowser) -> None:
        clients = [pipe.connect(), pipe.connect()]
        for number, client in enumerate(clients):
            client.send({"id": 1, "method": f"Test.n{number}"})
        for _ in clients:
            asked = await browser.request()
            browser.send(id=asked["id"], result={"of": asked["method"]})
        for number, client in enumerate(clients):
            answer = await anext(client.messages())
            assert answer == {"id": 1, "result": {"of": f"Test.n{number}"}}

    play(scenario)


def test_a_request_that_is_longer_than_the_pipe_arrives_whole() -> None:
    async def scenario(pipe: DebuggingPipe, browser: PlayedBrowser) -> None:
        text = "x" * 1_000_000
        client = pipe.connect()
        client.send({"id": 1, "method": "Test.long", "params": {"text": text}})
        client.send({"id": 2, "method": "Test.next"})
        assert (await browser.request())["params"]["text"] == text
        assert (await browser.request())["method"] == "Test.next"

    play(scenario)


def test_the_end_of_the_browser_ends_all_clients() -> None:
    async def scenario(pipe: DebuggingPipe, browser: PlayedBrowser) -> None:
        client = pipe.connect()
        os.dup2(os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC), browser.answers)
        assert [message async for message in client.messages()] == []
        assert pipe.closed
        assert [message async for message in pipe.connect().messages()] == []
        client.send({"id": 1, "method": "Test.late"})

    play(scenario)


def test_bytes_that_are_no_messages_end_the_pipe() -> None:
    async def scenario(pipe: DebuggingPipe, browser: PlayedBrowser) -> None:
        client = pipe.connect()
        os.write(browser.answers, b"what?\0")
        assert [message async for message in client.messages()] == []
        assert pipe.closed

    play(scenario)


def test_a_client_that_does_not_read_is_disconnected() -> None:
    async def scenario(pipe: DebuggingPipe, browser: PlayedBrowser) -> None:
        slow, quick = pipe.connect(), pipe.connect()
        slow.send({"id": 1, "method": "Target.setDiscoverTargets", "params": {"discover": True}})
        await browser.request()
        for number in range(MOST_WAITING + 1):
            # In a thread, because the pipe may be full until the loop reads it.
            await asyncio.to_thread(browser.send, method="Target.targetCreated", n=number)
        found = 0
        quick.send({"id": 1, "method": "Test.last"})
        asked = await browser.request()
        browser.send(id=asked["id"], result={})
        assert await anext(quick.messages()) == {"id": 1, "result": {}}
        async for _ in slow.messages():
            found += 1
        assert found == MOST_WAITING + 1
        slow.close()

    play(scenario)


def test_the_pipe_of_the_browser_that_runs_is_the_first_one() -> None:
    async def scene() -> None:
        pipes = BrowserPipes()
        assert pipes.current is None
        with pipes.handed_over() as (requests, answers):
            browser = PlayedBrowser(os.dup(requests), os.dup(answers))
        first = pipes.current
        assert first is not None
        # A second start hands its page over and ends.
        with pipes.handed_over():
            pass
        assert pipes.current is first
        client = first.connect()
        client.send({"id": 1, "method": "Test.asked"})
        assert (await browser.request())["method"] == "Test.asked"
        pipes.close()
        assert pipes.current is None
        browser.close()

    asyncio.run(asyncio.wait_for(scene(), LIMIT))


def test_a_start_that_fails_leaves_no_pipe() -> None:
    async def scene() -> None:
        pipes = BrowserPipes()
        with pytest.raises(OSError, match="no such program"), pipes.handed_over():
            raise OSError("no such program")
        assert pipes.current is None

    asyncio.run(scene())


def test_a_paused_client_is_refused() -> None:
    async def scenario(pipe: DebuggingPipe, browser: PlayedBrowser) -> None:
        client = pipe.connect()
        client.pause("A person has control.")
        client.send({"id": 4, "method": "Page.captureScreenshot"})
        answer = await anext(client.messages())
        assert answer["error"]["message"] == "A person has control."
        client.pause("")
        client.send({"id": 5, "method": "Page.captureScreenshot"})
        assert (await browser.request())["method"] == "Page.captureScreenshot"

    play(scenario)


class Greeter:
    """A responder that answers each event with a request."""

    def begin(self) -> list[Message]:
        return [{"id": 1, "method": "Test.enable"}]

    def received(self, message: Message) -> list[Message]:
        return [{"id": 2, "method": "Test.greet"}] if "method" in message else []


def test_a_responder_of_each_pipe_answers_what_the_browser_sends() -> None:
    async def scene() -> None:
        pipes = BrowserPipes(lambda: [Greeter()])
        with pipes.handed_over() as ends:
            browser = PlayedBrowser(*map(os.dup, ends))
        assert (await browser.request())["method"] == "Test.enable"
        browser.send(id=1, result={})
        browser.send(method="Test.event", params={})
        assert (await browser.request())["method"] == "Test.greet"
        pipe = pipes.current
        assert pipe is not None
        # Other clients share the pipe with it.
        pipe.connect().send({"id": 1, "method": "Test.other"})
        assert (await browser.request())["method"] == "Test.other"
        pipes.close()
        browser.close()

    asyncio.run(asyncio.wait_for(scene(), LIMIT))
