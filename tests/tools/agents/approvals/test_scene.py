import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from deskhand.tools.agents.approvals.places import NOT_KNOWN, Places
from deskhand.tools.agents.approvals.risk_rules import FocusFacts
from deskhand.tools.agents.approvals.scene import DesktopScene
from deskhand.tools.conversation.conversation import Image
from deskhand.tools.kit.support.spec import Machine, MachineRefused, MachineUnavailable

PASSWORD = {"window": None, "field": {"password": True}}
KNOWN = FocusFacts(password=True, field="  ")
UNKNOWN = FocusFacts(known=False)
OCCUPIED = MachineRefused(409, "a person is in control")


@dataclass
class FakeMachine:
    """Answers with one after the other."""

    answers: list[Any]

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
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


@dataclass
class FakeWaits:
    """Counts the waits for a person."""

    waited: list[Machine] = field(default_factory=list)

    async def ended(self, machine: Machine) -> object:
        self.waited.append(machine)
        return None


@dataclass
class FakeComputer:
    shown: Image | None

    async def glance(self) -> Image | None:
        return self.shown


async def no_commit() -> None:
    """Commit nothing: no picture is stored."""


def scene(answers: list[Any], waits: FakeWaits | None) -> DesktopScene:
    async def machine() -> Machine:
        return FakeMachine(answers)

    return DesktopScene(machine, None, waits, no_commit)


@pytest.mark.parametrize(
    ("answers", "found", "waited"),
    [
        ([PASSWORD], KNOWN, 0),
        ([OCCUPIED, PASSWORD], KNOWN, 1),
        ([OCCUPIED, OCCUPIED], UNKNOWN, 1),
        ([MachineRefused(503, "no")], UNKNOWN, 0),
        ([MachineUnavailable("gone")], UNKNOWN, 0),
    ],
)
def test_the_focus_is_read_once_no_person_is_in_control(
    answers: list[Any], found: FocusFacts, waited: int
) -> None:
    waits = FakeWaits()
    assert asyncio.run(scene(list(answers), waits).focus()) == found
    assert len(waits.waited) == waited


def test_without_waits_the_focus_of_a_person_is_not_known() -> None:
    assert asyncio.run(scene([OCCUPIED], None).focus()) == UNKNOWN


def test_the_picture_is_that_of_the_computer_and_is_committed() -> None:
    async def machine() -> Machine:
        return FakeMachine([])

    def picture(computer: FakeComputer | None) -> tuple[str | None, int]:
        commits = []

        async def commit() -> None:
            commits.append(1)

        found = asyncio.run(DesktopScene(machine, computer, None, commit).picture())
        return found, len(commits)

    assert picture(FakeComputer(Image("f1", "image/jpeg", 1, 1))) == ("f1", 1)
    assert picture(FakeComputer(None)) == (None, 0)
    assert picture(None) == (None, 0)


@pytest.mark.parametrize(
    ("answer", "places"),
    [
        ({"working_dir": "/w", "home": "/h", "lasting_dirs": []}, Places("/w", "/h", ())),
        (MachineRefused(404, "no"), NOT_KNOWN),
        (MachineUnavailable("it has ended"), NOT_KNOWN),
    ],
)
def test_the_desktop_tells_its_places(answer: Any, places: Places) -> None:
    machine = FakeMachine([answer])

    async def found() -> Machine:
        return machine

    scene = DesktopScene(found, None, None, no_commit)
    assert asyncio.run(scene.places()) == places
