import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest

from deskhand.desktop.actions.catalog import ActionRecord
from deskhand.desktop.actions.points import ActionPoint
from deskhand.desktop.actions.requests import (
    ActionRequest,
    BatchRequest,
    action_request,
    batch_request,
    picture_of,
)
from deskhand.desktop.capture.frames import Damage, Frame
from deskhand.desktop.computer.computer import Computer
from deskhand.desktop.computer.outcomes import Outcome
from deskhand.desktop.errors import ActionFailed, DisplayGone, QueueFull, UntypableText
from deskhand.desktop.geometry import Point, Region
from deskhand.desktop.input.events import (
    AwaitDrop,
    ButtonPress,
    ButtonRelease,
    InputEvent,
    KeyPress,
    PointerMotion,
    Tap,
)
from deskhand.desktop.tool_calls.caller import Caller
from tests.desktop.fakes import NATIVE, FakeClock, FakeInput, FakePictures, FakeScreen

LIMIT = 20
SPOT = Region(0, 0, 30, 30)
CALLER = Caller("call-1", "chat-1")
CLICK: dict[str, Any] = {"action": "left_click", "coordinate": [0, 0]}


class FakeDesktop:
    """A computer over fakes."""

    def __init__(self, queue: int = 32) -> None:
        self.clock = FakeClock()
        self.screen = FakeScreen(self.clock)
        self.input = FakeInput()
        self.pictures = FakePictures()
        self.records: list[ActionRecord] = []
        self.sleep: Callable[[float], Awaitable[None]] = self.clock.sleep
        self.computer = Computer(
            self.screen,
            self.input,
            self.pictures,
            self.records.append,
            instance_id="instance",
            boot="boot",
            queue=queue,
            clock=self.clock,
            sleep=lambda seconds: self.sleep(seconds),
        )

    async def act(self, action: str, **fields: Any) -> Outcome:
        return await self.computer.act(asked(action, **fields), CALLER)


@asynccontextmanager
async def fake_desktop(queue: int = 32) -> AsyncIterator[FakeDesktop]:
    made = FakeDesktop(queue)
    async with made.computer:
        yield made


def asked(action: str, **fields: Any) -> ActionRequest:
    return action_request({"action": action, **fields}, NATIVE)


def batch(*actions: dict[str, Any], **fields: Any) -> BatchRequest:
    return batch_request({"actions": list(actions), **fields}, NATIVE)


def run(scenario: Coroutine[Any, Any, None]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(LIMIT):
            await scenario

    asyncio.run(limited())


CORNER = Point(1279, 719)


def refuse_scrolling(event: InputEvent) -> Exception | None:
    return UntypableText("語") if event == ButtonPress(5) else None


def test_a_click_lands_where_the_model_meant() -> None:
    async def scenario() -> None:
        async with fake_desktop() as d:
            outcome = await d.act("left_click", coordinate=[853, 402])
            assert d.input.done == [
                PointerMotion(Point(1280, 603)),
                ButtonPress(1),
                ButtonRelease(1),
            ]
            assert outcome.output == "left_click action performed"
            assert outcome.point == ActionPoint(Point(853, 402), Point(1280, 603), Point(853, 402))
            assert not outcome.clamped
            assert outcome.frame_id == "boot-0"

    run(scenario())


def test_a_point_just_outside_is_clamped_and_reported_as_clamped() -> None:
    async def scenario() -> None:
        async with fake_desktop() as d:
            outcome = await d.act("left_click", coordinate=[1281, -2])
            assert outcome.point == ActionPoint(Point(1279, 0), Point(1919, 0), Point(1279, 0))
            assert outcome.clamped
            dragged = await d.act("left_click_drag", path=[[1280, 0], [5, 5]], duration=0)
            assert dragged.point is not None
            assert dragged.point.requested == Point(5, 5)
            assert dragged.clamped

    run(scenario())


def test_input_is_sent_from_one_thread() -> None:
    async def scenario() -> None:
        async with fake_desktop() as d:
            for _ in range(3):
                await d.act("key", text="a")
            await d.computer.release_all()
            assert d.input.threads == {"input_0"}

    run(scenario())


def test_every_action_is_recorded() -> None:
    async def scenario() -> None:
        async with fake_desktop() as d:
            began = d.clock.now
            await d.act("type", text="hi", delay_ms=500)
            await d.act("left_click", coordinate=[1919, 1079], coordinate_space="native")
            typed, clicked = d.records
            assert (typed.tool_call_id, typed.chat_id) == ("call-1", "chat-1")
            assert (typed.action, typed.text) == ("type", "hi")
            assert (typed.started, typed.ended) == (began, began + 1.0)
            assert (typed.model_point, typed.native_point) == (None, None)
            assert typed.changed_fraction is None
            assert typed.error is None
            assert typed.timings == {"act": 1000.0}
            assert clicked.model_point == Point(1279, 719)
            assert clicked.native_point == Point(1919, 1079)
            assert d.computer.last_activity == clicked.ended

    run(scenario())


def test_the_pointer_is_reported_in_the_pixels_of_the_request() -> None:
    async def scenario() -> None:
        async with fake_desktop() as d:
            d.input.at = Point(1919, 1079)
            model = await d.act("cursor_position")
            assert model.output == "x=1279,y=719"
            assert model.point == ActionPoint(CORNER, Point(1919, 1079), CORNER)
            native = await d.act("cursor_position", coordinate_space="native")
            assert native.output == "x=1919,y=1079"
            scaled = await d.act("cursor_position", scaled_width=640, scaled_height=360)
            assert scaled.output == "x=639,y=359"

    run(scenario())


def test_a_smooth_move_begins_at_the_pointer() -> None:
    async def scenario() -> None:
        async with fake_desktop() as d:
            d.input.at = Point(1919, 0)
            await d.act("mouse_move", coordinate=[1279, 719], duration=0.5)
            moves = [event.to for event in d.input.done if isinstance(event, PointerMotion)]
            assert len(moves) == 30
            assert all(point.x == 1919 for point in moves)

    run(scenario())


def test_a_held_pointer_moves_in_steps_from_where_it_is() -> None:
    async def scenario() -> None:
        async with fake_desktop() as d:
            d.input.at = Point(1919, 0)
            await d.act("left_mouse_down")
            await d.act("mouse_move", coordinate=[1279, 719])
            await d.act("left_mouse_up")
            moves = [event.to for event in d.input.done if isinstance(event, PointerMotion)]
            assert (len(moves), moves[-1]) == (8, Point(1919, 1079))
            assert {point.x for point in moves} == {1919}
            assert d.input.done[-2:] == [AwaitDrop(), ButtonRelease(1)]

    run(scenario())


LINES = np.random.default_rng(3).integers(0, 255, (2000, 1920, 4), np.uint8)


class ScrolledPage:
    """A page on the screen of a fake desktop that scrolls ``notch`` pixels with the wheel."""

    def __init__(self, d: FakeDesktop, notch: int) -> None:
        self._d, self._notch = d, notch
        self.top = 500
        self._show()
        d.input.refuse = self._turn

    def _turn(self, event: InputEvent) -> None:
        if isinstance(event, ButtonPress) and event.button in (4, 5):
            self.top += self._notch if event.button == 5 else -self._notch
            self._show()

    def _show(self) -> None:
        shown = LINES[self.top : self.top + NATIVE.height]
        self._d.screen.shown = Frame(shown, self._d.screen.shown.counter + 1, self._d.clock.now)


@pytest.mark.parametrize(("asked", "notches"), [(400, 7), (-57, -1), (10, 1), (0, 0)])
def test_a_scroll_by_pixels_is_measured_at_its_first_notch(asked: int, notches: int) -> None:
    async def scenario() -> None:
        async with fake_desktop() as d:
            page = ScrolledPage(d, 57)
            await d.act("scroll", coordinate=[960, 540], coordinate_space="native", scroll_y=asked)
            assert page.top == 500 + 57 * notches
            assert all(watch.closed for watch in d.screen.watches)

    run(scenario())


def test_a_wheel_with_a_modifier_is_not_measured() -> None:
    async def scenario() -> None:
        async with fake_desktop() as d:
            page = ScrolledPage(d, 57)
            at = {"coordinate": [960, 540], "coordinate_space": "native"}
            await d.act("scroll", **at, scroll_y=400, text="ctrl")
            assert page.top == 500 + 57 * 3
            assert d.screen.watches == []

    run(scenario())


def test_a_screenshot_has_the_size_of_its_space() -> None:
    async def scenario() -> None:
        async with fake_desktop() as d:
            shot = (await d.act("screenshot")).screenshot
            assert shot is not None
            assert shot.data == b"png 1280x720 of 0"
            zoomed = await d.act("zoom", region=[0, 0, 100, 100], format="jpeg", quality=5)
            assert zoomed.output == "zoom"
            asked_for = d.pictures.asked[-1]
            assert asked_for.region == Region(0, 0, 150, 150)
            assert (asked_for.size, asked_for.format, asked_for.quality) == ((720, 720), "jpeg", 5)

    run(scenario())


def test_acting_and_observing_is_one_call() -> None:
    async def scenario() -> None:
        async with fake_desktop() as d:
            d.screen.coming.append(Damage(d.clock.now + 0.02, (SPOT,)))
            outcome = await d.act("left_click", coordinate=[1, 1], observe={"format": "webp"})
            seen = outcome.observation
            assert seen is not None
            assert seen.settled == "quiet"
            assert seen.changes.regions == (SPOT,)
            assert seen.screenshot is not None
            assert seen.screenshot.data == b"webp 1280x720 of 1"
            (record,) = d.records
            assert record.changed_fraction == seen.changes.fraction > 0
            assert record.frames == (seen.frame_before, seen.frame_id)
            assert seen.frame_before != seen.frame_id
            assert set(record.timings) == {"act", "settle", "capture", "encode"}

    run(scenario())


def test_an_observed_screenshot_is_taken_when_the_screen_rests() -> None:
    async def scenario() -> None:
        async with fake_desktop() as d:
            d.screen.coming.append(Damage(d.clock.now + 0.02, (SPOT,)))
            outcome = await d.act("zoom", region=[0, 0, 640, 360], observe=True)
            assert outcome.screenshot is None
            assert outcome.observation is not None
            (rendered,) = d.pictures.asked
            assert rendered.counter == 1
            assert rendered.region == Region(0, 0, 960, 540)

    run(scenario())


def test_a_batch_is_performed_in_order_and_observed_once() -> None:
    async def scenario() -> None:
        async with fake_desktop() as d:
            outcome = await d.computer.batch(
                batch(
                    CLICK, {"action": "key", "text": "a"}, {"action": "screenshot"}, observe=True
                ),
                CALLER,
            )
            assert d.input.done[-1] == Tap(ord("a"))
            assert outcome.skipped == 0
            assert len(outcome.results) == 3
            assert outcome.observation is not None
            assert len(d.pictures.asked) == 2
            assert [record.action for record in d.records] == ["left_click", "key", "screenshot"]

    run(scenario())


def test_a_batch_stops_at_the_first_error_with_a_picture_all_the_same() -> None:
    async def scenario() -> None:
        async with fake_desktop() as d:
            d.input.refuse = refuse_scrolling
            scroll = {"action": "scroll", "coordinate": [5, 5]}
            outcome = await d.computer.batch(
                batch(CLICK, scroll, CLICK, CLICK, observe=True), CALLER
            )
            assert outcome.skipped == 2
            assert isinstance(outcome.results[0], Outcome)
            failed = outcome.results[1]
            assert isinstance(failed, ActionFailed)
            assert failed.message == "Scroll failed."
            assert outcome.observation is not None
            assert d.input.releases == 1
            assert [record.error is None for record in d.records] == [True, False]

    run(scenario())


def test_a_batch_need_not_be_observed() -> None:
    async def scenario() -> None:
        async with fake_desktop() as d:
            outcome = await d.computer.batch(batch(CLICK), CALLER)
            assert outcome.observation is None
            assert outcome.frame_id == "boot-0"
            assert d.screen.watches == []

    run(scenario())


def test_a_failure_releases_all_input_and_names_the_action() -> None:
    async def scenario() -> None:
        async with fake_desktop() as d:
            d.input.refuse = refuse_scrolling
            with pytest.raises(ActionFailed) as caught:
                await d.act("scroll", coordinate=[5, 5], text="ctrl")
            assert caught.value.message == "Scroll failed."
            assert "語" in caught.value.detail
            assert d.input.releases == 1
            assert d.records[0].error == str(caught.value)
            assert (await d.act("key", text="a")).output == "key action performed"

    run(scenario())


def test_an_error_of_the_display_names_the_action() -> None:
    async def scenario() -> None:
        async with fake_desktop() as d:
            d.input.refuse = lambda _: ActionFailed("Refused.", "bad value")
            with pytest.raises(ActionFailed) as caught:
                await d.act("key", text="a")
            assert caught.value.message == "Key press failed."
            assert "bad value" in caught.value.detail

    run(scenario())


def test_a_lost_display_is_an_error_of_its_own() -> None:
    async def scenario() -> None:
        async with fake_desktop() as d:
            d.input.refuse = lambda _: DisplayGone(":7")
            with pytest.raises(DisplayGone):
                await d.act("key", text="a")
            assert d.records[0].error == "display :7 is gone"

    run(scenario())


def test_cancelling_a_held_key_releases_it() -> None:
    async def scenario() -> None:
        async with fake_desktop() as d:
            waits = asyncio.Event()

            async def sleep(_: float) -> None:
                waits.set()
                await asyncio.Event().wait()

            d.sleep = sleep
            holding = asyncio.create_task(d.act("hold_key", text="a", duration=100))
            await waits.wait()
            assert d.input.done == [KeyPress(ord("a"))]
            holding.cancel()
            with pytest.raises(asyncio.CancelledError):
                await holding
            assert d.input.releases == 1
            assert d.records[0].error == "cancelled"

    run(scenario())


def test_cancelling_waits_for_the_event_under_way_before_the_release() -> None:
    async def scenario() -> None:
        async with fake_desktop() as d:
            d.input.gate = threading.Event()
            typing = asyncio.create_task(d.act("type", text="a" * 600))
            await d.input.busy()
            typing.cancel()
            await asyncio.sleep(0)
            d.input.gate.set()
            with pytest.raises(asyncio.CancelledError):
                await typing
            assert len(d.input.done) == 80
            assert d.input.releases == 1

    run(scenario())


def test_actions_are_done_in_order_of_arrival() -> None:
    async def scenario() -> None:
        async with fake_desktop() as d:
            d.input.gate = threading.Event()
            waiting = [asyncio.create_task(d.act("key", text=letter)) for letter in "abcdef"]
            await d.input.busy()
            d.input.gate.set()
            await asyncio.gather(*waiting)
            assert d.input.done == [Tap(ord(letter)) for letter in "abcdef"]

    run(scenario())


def test_a_full_queue_refuses_and_a_cancelled_action_frees_its_place() -> None:
    async def scenario() -> None:
        async with fake_desktop(queue=2) as d:
            d.input.gate = threading.Event()
            tasks = [asyncio.create_task(d.act("key", text=letter)) for letter in "abc"]
            await d.input.busy()
            with pytest.raises(QueueFull):
                await d.act("key", text="d")
            tasks[1].cancel()
            await asyncio.sleep(0)
            tasks.append(asyncio.create_task(d.act("key", text="e")))
            await asyncio.sleep(0)
            d.input.gate.set()
            await asyncio.gather(*tasks, return_exceptions=True)
            assert d.input.done == [Tap(ord(letter)) for letter in "ace"]

    run(scenario())


def test_a_picture_does_not_wait_for_actions() -> None:
    async def scenario() -> None:
        async with fake_desktop() as d:
            d.input.gate = threading.Event()
            acting = asyncio.create_task(d.act("key", text="a"))
            await d.input.busy()
            wanted = picture_of(asked("screenshot"), NATIVE)
            shot = await d.computer.picture(wanted)
            assert shot.data == b"png 1280x720 of 0"
            assert (await d.computer.picture(wanted, frozenset({shot.etag}))).data is None
            d.input.gate.set()
            await acting

    run(scenario())


def test_closing_releases_all_input_and_may_be_repeated() -> None:
    async def scenario() -> None:
        made = FakeDesktop()

        async def body() -> None:
            async with made.computer:
                await made.act("key_down", text="shift")
                raise ValueError("body")

        with pytest.raises(ValueError, match="body"):
            await body()
        assert made.input.releases == 1
        await made.computer.close()
        assert made.input.releases == 1

    run(scenario())
