import asyncio
from collections.abc import Mapping
from typing import Any, cast

import pytest

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopRefused
from deskhand.tools.fleet.chat_desktop import KEPT, DesktopMachine, InstanceTracker
from deskhand.tools.kit.support.spec import MachineRefused

ACTION = "/api/v0/desktop/action"


class FakeService:
    """A desktop service that keeps what it was told, and acts for its own instance only."""

    def __init__(self) -> None:
        self.instance = "first"
        self.headers: list[Mapping[str, str]] = []

    async def request(
        self, method: str, path: str, *, headers: Mapping[str, str], **_: Any
    ) -> dict[str, Any]:
        self.headers.append(headers)
        if headers.get("Deskhand-Instance", self.instance) != self.instance:
            raise DesktopRefused(409, "Nobody knows.", "", "outcome_unknown")
        return {"instance_id": self.instance} if path == ACTION else {}

    @property
    def told(self) -> str | None:
        """The instance that the newest request named."""
        return self.headers[-1].get("Deskhand-Instance")


@pytest.fixture
def service() -> FakeService:
    return FakeService()


@pytest.fixture
def machine(service: FakeService) -> DesktopMachine:
    return DesktopMachine(lambda: cast(DesktopClient, service), "chat")


def post(machine: DesktopMachine, call_id: str, path: str = ACTION) -> None:
    asyncio.run(machine.for_call(call_id).request("POST", path, json={}))


def test_a_step_is_not_done_by_another_instance_than_the_step_before(
    machine: DesktopMachine, service: FakeService
) -> None:
    post(machine, "functions.computer:3.pointer")
    assert service.told is None
    post(machine, "functions.computer:3")
    assert service.told == "first"
    service.instance = "second"
    with pytest.raises(MachineRefused) as refused:
        post(machine, "functions.computer:3")
    assert refused.value.code == "outcome_unknown"


def test_the_next_call_is_free_to_meet_another_instance(
    machine: DesktopMachine, service: FakeService
) -> None:
    post(machine, "functions.computer:3")
    service.instance = "second"
    post(machine, "functions.computer:4")
    assert service.told is None


def test_requests_that_name_no_instance_teach_none(
    machine: DesktopMachine, service: FakeService
) -> None:
    post(machine, "toolu_1", "/api/v0/processes/start")
    post(machine, "toolu_1")
    assert service.told is None
    asyncio.run(machine.request("POST", ACTION, json={}))
    assert set(service.headers[-1]) == {"Deskhand-Chat-Id"}


def test_the_first_sight_counts_and_old_calls_are_forgotten() -> None:
    instances = InstanceTracker()
    for number in range(KEPT + 1):
        instances.record(f"call{number}", "first")
        instances.record(f"call{number}.look", "second")
    assert instances.of("call0") is None
    assert instances.of("call1") == "first"
    assert instances.of(f"call{KEPT}.look") == "first"
