"""Which targets an action asks for."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from deskhand.desktop.actions.requests import action_request
from deskhand.desktop.computer.computer import Computer
from deskhand.desktop.computer.target_source import Json, NoTargets, targets_of
from deskhand.desktop.geometry import Point, Size
from deskhand.desktop.tool_calls.caller import Caller
from tests.desktop.fakes import FakeClock, FakeInput, FakePictures, FakeScreen

SIZE = Size(1280, 720)


class Asked(NoTargets):
    async def targets(self, points: Sequence[Point]) -> list[Json | None]:
        return [{"point": tuple(one)} for one in points] or [{"focus": True}]


def asked(body: dict[str, Any], **observe: Any) -> list[Json | None] | None:
    request = action_request({**body, "observe": observe} if observe else body, SIZE)
    return asyncio.run(targets_of(request, Asked()))


CLICK = {"action": "left_click", "coordinate": [3, 4]}


@pytest.mark.parametrize("observe", [{}, {"screenshot": True}, {"targets": False}])
def test_a_request_without_targets_gets_none(observe: dict[str, Any]) -> None:
    assert asked(CLICK, **observe) is None


def test_a_click_has_its_point() -> None:
    assert asked(CLICK, targets=True) == [{"point": (3, 4)}]


def test_a_drag_has_its_ends() -> None:
    path = [[1, 2], [3, 4], [5, 6]]
    found = asked({"action": "left_click_drag", "path": path}, targets=True)
    assert found == [{"point": (1, 2)}, {"point": (5, 6)}]


@pytest.mark.parametrize("action", ["type", "key", "key_down", "hold_key"])
def test_keys_have_the_widget_with_the_focus(action: str) -> None:
    assert asked({"action": action, "text": "a"}, targets=True) == [{"focus": True}]


@pytest.mark.parametrize("action", ["left_mouse_down", "wait", "cursor_position"])
def test_other_actions_have_none(action: str) -> None:
    assert asked({"action": action}, targets=True) is None


def test_a_screen_without_widgets_knows_nothing() -> None:
    async def play() -> None:
        none = NoTargets()
        assert await none.targets([]) == [None]
        assert await none.targets([Point(1, 2), Point(3, 4)]) == [None, None]
        none.prefetch()
        none.close()

    asyncio.run(play())


class Reads(NoTargets):
    """Records when it is asked, beside the input events so far."""

    def __init__(self, device: FakeInput) -> None:
        self._device = device
        self.log: list[str] = []

    async def targets(self, points: Sequence[Point]) -> list[Json | None]:
        self.log.append(f"read after {len(self._device.done)} events")
        return [{"name": "Save"}]

    def prefetch(self) -> None:
        self.log.append(f"prefetch after {len(self._device.done)} events")


def test_the_target_is_read_before_the_action_and_the_screen_again_after_it() -> None:
    async def play() -> None:
        clock, device = FakeClock(), FakeInput()
        screen = FakeScreen(clock, SIZE)
        computer = Computer(
            *(screen, device, FakePictures(), lambda record: None),
            instance_id="one",
            clock=clock,
            sleep=clock.sleep,
        )
        async with computer:
            reads = computer.targets = Reads(device)
            caller = Caller("call-1", "chat-1")
            observe = {"targets": True, "screenshot": False}
            done = await computer.act(action_request({**CLICK, "observe": observe}, SIZE), caller)
            assert done.observation is not None
            assert done.observation.targets == [{"name": "Save"}]
            assert reads.log == ["read after 0 events", "prefetch after 3 events"]
            plain = action_request({**CLICK, "observe": {}}, SIZE)
            done = await computer.act(plain, Caller("call-2", "chat-1"))
            assert done.observation is not None
            assert done.observation.targets is None
            assert len(reads.log) == 2
            looked = action_request({"action": "screenshot"}, SIZE)
            await computer.act(looked, Caller("call-3", "chat-1"))
            assert reads.log[2:] == ["prefetch after 6 events"]

    asyncio.run(play())
