"""URLs of the browser's pages."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from deskhand.desktop.browser.page_addresses import PageAddresses, TargetList

Json = dict[str, Any]


def created(target: str, url: str, kind: str = "page") -> Json:
    info = {"targetId": target, "type": kind, "url": url}
    return {"method": "Target.targetCreated", "params": {"targetInfo": info}}


def test_pages_come_change_and_go() -> None:
    targets = TargetList()
    assert targets.received(created("1", "about:blank"))
    assert targets.received(created("2", "http://a/"))
    changed = {**created("1", "http://b/"), "method": "Target.targetInfoChanged"}
    assert targets.received(changed)
    assert not targets.received(changed)
    assert list(targets.urls) == ["http://b/", "http://a/"]
    gone = {"method": "Target.targetDestroyed", "params": {"targetId": "1"}}
    assert targets.received(gone)
    assert not targets.received(gone)
    assert list(targets.urls) == ["http://a/"]


def test_other_targets_answers_and_malformed_events_change_nothing() -> None:
    targets = TargetList()
    for message in (
        created("1", "http://a/", "iframe"),
        {"id": 1, "result": {}},
        {"method": "Target.targetCreated", "params": None},
        {"method": "Target.targetCreated", "params": {"targetInfo": 3}},
    ):
        assert not targets.received(message)
    assert targets.urls == ()


def test_pages_that_existed_before_are_listed() -> None:
    targets = TargetList()
    listed = [
        {"targetId": "1", "type": "page", "url": "http://a/"},
        {"targetId": "2", "type": "iframe", "url": "http://b/"},
        {"targetId": "3", "type": "page", "url": "http://c/"},
    ]
    assert targets.received({"id": 2, "result": {"targetInfos": listed}})
    assert targets.urls == ("http://a/", "http://c/")
    assert not targets.received({"id": 2, "result": {"targetInfos": listed}})
    assert not targets.received({"id": 2, "error": {"code": -32000}})
    assert not targets.received({"id": 2, "result": {"targetInfos": 3}})


class FakeClient:
    def __init__(self) -> None:
        self.sent: list[Json] = []
        self.queue: asyncio.Queue[Json | None] = asyncio.Queue()

    def send(self, message: Json) -> None:
        self.sent.append(message)

    async def messages(self) -> AsyncIterator[Json]:
        while (message := await self.queue.get()) is not None:
            yield message

    def close(self) -> None:
        self.queue.put_nowait(None)


class FakePipe:
    def __init__(self) -> None:
        self.clients: list[FakeClient] = []

    def connect(self) -> FakeClient:
        self.clients.append(FakeClient())
        return self.clients[-1]


def test_the_pipe_of_a_browser_that_starts_later_is_joined_once() -> None:
    async def scenario() -> None:
        pipes: list[FakePipe | None] = []
        notified = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            pages = PageAddresses(
                lambda: pipes[-1] if pipes else None, group.create_task, notified.set
            )
            assert pages.urls() == ()
            first = FakePipe()
            pipes.append(first)
            assert pages.urls() == pages.urls() == ()
            (client,) = first.clients
            assert client.sent[0]["method"] == "Target.setDiscoverTargets"
            client.queue.put_nowait(created("1", "http://a/"))
            await notified.wait()
            assert pages.urls() == ("http://a/",)
            # An event without a change notifies no one.
            notified.clear()
            client.queue.put_nowait(created("1", "http://a/"))
            client.queue.put_nowait(created("2", "http://b/"))
            await notified.wait()
            assert pages.urls() == ("http://a/", "http://b/")
            # Another browser has other pages.
            pipes.append(FakePipe())
            assert pages.urls() == ()
            pipes.append(None)
            assert pages.urls() == ()
            pages.close()
            pages.close()

    asyncio.run(scenario())
