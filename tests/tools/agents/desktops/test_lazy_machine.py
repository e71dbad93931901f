import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from deskhand.tools.agents.desktops.lazy_machine import LazyMachine
from deskhand.tools.kit.support.spec import NoMachine


@dataclass
class FakeDesktopMachine:
    """Records its requests, each with the tool call that it is marked with."""

    requests: list[tuple[Any, ...]] = field(default_factory=list)
    call_id: str = ""

    def for_call(self, tool_call_id: str) -> "FakeDesktopMachine":
        return FakeDesktopMachine(self.requests, tool_call_id)

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
        self.requests.append((self.call_id, method, path, json, content, params, timeout))
        return {"request": len(self.requests)}

    async def download(self, path: str, to: Path) -> int:
        raise AssertionError("a tool call downloads nothing")

    def uploader(self, path: str) -> None:
        raise AssertionError("a tool call uploads nothing")


def test_the_desktop_is_found_only_when_the_tool_sends_a_request() -> None:
    found: list[FakeDesktopMachine] = []

    async def find() -> FakeDesktopMachine:
        found.append(FakeDesktopMachine())
        return found[-1]

    machine = LazyMachine(find, "call-1")
    assert found == []
    answer = asyncio.run(
        machine.request(
            "POST", "/api/v0/x", json={"a": 1}, content=b"b", params={"c": "d"}, timeout=9.0
        )
    )
    assert answer == {"request": 1}
    assert found[0].requests == [("call-1", "POST", "/api/v0/x", {"a": 1}, b"b", {"c": "d"}, 9.0)]


def test_the_desktop_is_found_anew_for_each_request() -> None:
    old, new = FakeDesktopMachine(), FakeDesktopMachine()
    places = [old, new]

    async def find() -> FakeDesktopMachine:
        return places.pop(0)

    async def scenario() -> None:
        machine = LazyMachine(find, "call-1")
        await machine.request("GET", "/api/v0/a")
        await machine.request("GET", "/api/v0/b")

    asyncio.run(scenario())
    assert [one[2] for one in old.requests] == ["/api/v0/a"]
    assert [one[2] for one in new.requests] == ["/api/v0/b"]


def test_a_chat_without_a_desktop_fails_at_the_request() -> None:
    async def find() -> FakeDesktopMachine:
        raise NoMachine("no desktop is free")

    with pytest.raises(NoMachine, match="no desktop is free"):
        asyncio.run(LazyMachine(find, "call-1").request("GET", "/api/v0/a"))


def test_another_tool_call_has_the_same_machine_and_its_own_id() -> None:
    desktop = FakeDesktopMachine()

    async def find() -> FakeDesktopMachine:
        return desktop

    other = LazyMachine(find, "call-1").for_call("call-2")
    asyncio.run(other.request("GET", "/api/v0/x"))
    assert [request[0] for request in desktop.requests] == ["call-2"]
