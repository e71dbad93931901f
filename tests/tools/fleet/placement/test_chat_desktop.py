import asyncio
from collections.abc import Mapping
from typing import Any, cast

import pytest

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopRefused
from deskhand.tools.conversation.uploaded import UploadedFile
from deskhand.tools.fleet.placement.chat_desktop import (
    KEPT,
    ChatCaller,
    DesktopMachine,
    InstanceTracker,
)
from deskhand.tools.kit.support.spec import MachineRefused

UPLOADED = UploadedFile(4, "0" * 64)
ACTION = "/api/v0/desktop/action"


class FakeService:
    """A desktop service that records headers, and refuses requests for another instance."""

    def __init__(self) -> None:
        self.instance = "first"
        self.headers: list[Mapping[str, str]] = []

    async def request(
        self, method: str, path: str, *, headers: Mapping[str, str], **_: Any
    ) -> dict[str, Any]:
        self.headers.append(headers)
        if headers.get("Deskhand-Instance", self.instance) != self.instance:
            raise DesktopRefused(409, "The outcome is unknown.", "", "outcome_unknown")
        return {"instance_id": self.instance} if path == ACTION else {}

    @property
    def named_instance(self) -> str | None:
        """The instance that the newest request named."""
        return self.headers[-1].get("Deskhand-Instance")


@pytest.fixture
def service() -> FakeService:
    return FakeService()


@pytest.fixture
def machine(service: FakeService) -> DesktopMachine:
    return DesktopMachine(lambda: cast(DesktopClient, service), ChatCaller("chat"))


def post(machine: DesktopMachine, call_id: str, path: str = ACTION) -> None:
    asyncio.run(machine.for_call(call_id).request("POST", path, json={}))


def test_a_request_of_a_call_is_refused_by_another_instance(
    machine: DesktopMachine, service: FakeService
) -> None:
    post(machine, "functions.computer:3.pointer")
    assert service.named_instance is None
    post(machine, "functions.computer:3")
    assert service.named_instance == "first"
    service.instance = "second"
    with pytest.raises(MachineRefused) as refused:
        post(machine, "functions.computer:3")
    assert refused.value.code == "outcome_unknown"


def test_the_next_call_may_use_another_instance(
    machine: DesktopMachine, service: FakeService
) -> None:
    post(machine, "functions.computer:3")
    service.instance = "second"
    post(machine, "functions.computer:4")
    assert service.named_instance is None


def test_responses_without_an_instance_record_none(
    machine: DesktopMachine, service: FakeService
) -> None:
    post(machine, "toolu_1", "/api/v0/processes/start")
    post(machine, "toolu_1")
    assert service.named_instance is None
    asyncio.run(machine.request("POST", ACTION, json={}))
    assert set(service.headers[-1]) == {"Deskhand-Chat-Id"}


def test_the_first_instance_is_kept_and_old_calls_are_dropped() -> None:
    instances = InstanceTracker()
    for number in range(KEPT + 1):
        instances.record(f"call{number}", "first")
        instances.record(f"call{number}.look", "second")
    assert instances.of("call0") is None
    assert instances.of("call1") == "first"
    assert instances.of(f"call{KEPT}.look") == "first"


def test_the_host_of_a_desktop_uploads_only_if_it_is_another_one(
    machine: DesktopMachine, service: FakeService
) -> None:
    asked: list[tuple[str, str]] = []

    async def put(path: str, put_url: str) -> UploadedFile:
        asked.append((path, put_url))
        return UPLOADED

    assert machine.uploader("/api/v0/file") is None
    client = cast(DesktopClient, service)
    remote = DesktopMachine(lambda: client, ChatCaller("chat"), put=put).for_call("c")
    upload = remote.uploader("/api/v0/file")
    assert upload is not None

    async def scenario() -> None:
        assert await upload("http://bucket/key") == UPLOADED

    asyncio.run(scenario())
    assert asked == [("/api/v0/file", "http://bucket/key")]
