import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from deskhand.desktop.errors import HeldByChat, HumanInControl, NotInControl
from deskhand.desktop.freeze.freezer import NoFreezer
from deskhand.desktop.freeze.report import StopReport
from deskhand.desktop.lease.handover import LeaseEffects, activity_summary
from deskhand.desktop.lease.lease import IDLE_CHAT, ControlSession, Person
from deskhand.desktop.lease.ports import ProcessFreezer
from deskhand.desktop.lease.privacy import PrivacyMode
from deskhand.desktop.lease.runtime import MOST_WINDOWS, LeaseRuntime

ANN = Person("Ann", "a")
LIMIT = 20.0


class Grabbed(NoFreezer):
    """Programs that are stopped, of which one has grabbed the keyboard."""

    def may_type(self, wait: float = 0.0) -> bool:
        return False


def test_no_keys_pass_in_private_while_a_stopped_program_could_get_them() -> None:
    runtime = LeaseRuntime(freezer=Grabbed())
    assert runtime.may_type()
    runtime.take(ANN, private=False, take_over_on_timeout=False, force=False)
    assert runtime.may_type()
    runtime.take(ANN, private=True, take_over_on_timeout=False, force=False)
    assert not runtime.may_type()
    assert not runtime.state()["stopped"]["keys_pass"]


class Scene:
    """A lease, a clock that stands still, and what its changes did, in order."""

    def __init__(self, freezer: ProcessFreezer | None = None) -> None:
        self.now = 100.0
        self.did: list[Any] = []
        self.privacy = PrivacyMode(lambda: self.now)
        self.leasing = LeaseRuntime(lambda: self.now, freezer)
        self.effects = LeaseEffects(
            privacy=self.privacy,
            selections=lambda: None,
            release_input=lambda: self.did.append("release input"),
            update_viewers=lambda: self.did.append("update viewers"),
            publish=lambda kind, data: self.did.append((kind, data["holder"]["kind"])),
            record=lambda session: self.did.append(("record", session.name)),
            note_activity=lambda who: self.did.append(f"note activity of {who}"),
        )

    def take(self, person: Person = ANN, *, private: bool = True, force: bool = False) -> bool:
        return self.leasing.take(person, private=private, take_over_on_timeout=True, force=force)

    def play(self, scenario: Callable[["Scene"], Awaitable[None]]) -> list[Any]:
        async def run() -> None:
            async with asyncio.timeout(LIMIT):
                with self.leasing.running(self.effects):
                    await scenario(self)

        asyncio.run(run())
        return self.did


def test_taking_control_releases_input_hides_the_screen_and_publishes() -> None:
    async def scenario(scene: Scene) -> None:
        assert scene.take()
        assert scene.privacy.active
        assert scene.leasing.private
        assert scene.leasing.may_see("a")
        assert not scene.leasing.may_see("b")

    assert Scene().play(scenario) == [
        "release input",
        "update viewers",
        ("lease_changed", "person"),
    ]


def test_giving_control_back_records_releases_input_and_publishes() -> None:
    async def scenario(scene: Scene) -> None:
        scene.take()
        scene.did.clear()
        scene.now += 42.0
        scene.leasing.release("a")
        assert not scene.privacy.active
        assert scene.privacy.last_seconds == 42.0

    wanted = [("record", "Ann"), "release input", "update viewers", ("lease_changed", "nobody")]
    assert Scene().play(scenario) == wanted


def test_a_chat_that_thinks_for_long_does_not_lose_what_it_holds() -> None:
    async def scenario(scene: Scene) -> None:
        with scene.leasing.acting("one"):
            pass
        scene.now += IDLE_CHAT + 1
        scene.did.clear()
        with scene.leasing.acting("one"):
            pass
        assert "release input" not in scene.did
        scene.now += IDLE_CHAT + 1
        with scene.leasing.acting("two"):
            pass
        assert "release input" in scene.did

    Scene().play(scenario)


def test_a_waiting_call_returns_at_a_change() -> None:
    async def scenario(scene: Scene) -> None:
        revision = scene.leasing.revision
        waiting = asyncio.create_task(scene.leasing.changed(revision, LIMIT))
        await asyncio.sleep(0)
        scene.take()
        await waiting
        assert scene.leasing.revision != revision
        await scene.leasing.changed(scene.leasing.revision, 0.01)

    Scene().play(scenario)


def test_control_ends_at_the_deadline_without_a_call() -> None:
    async def scenario(scene: Scene) -> None:
        scene.leasing.joined("a")
        scene.take()
        revision = scene.leasing.revision
        # The clock reads a moment before the end, so the timer is due at once.
        scene.leasing.parted("a")
        scene.now += 14.99
        scene.leasing.joined("b")
        scene.now += 0.02
        await scene.leasing.changed(revision, LIMIT)
        assert scene.leasing.state()["holder"] == {"kind": "nobody"}
        assert scene.leasing.state()["last"]["reason"] == "left"

    Scene().play(scenario)


def test_input_that_is_not_private_is_activity() -> None:
    async def scenario(scene: Scene) -> None:
        scene.take(private=False)
        scene.did.clear()
        scene.leasing.used("a", keys=2, clicks=1)
        assert scene.did == ["note activity of human"]
        scene.take(private=True)
        scene.did.clear()
        scene.leasing.used("a", keys=1, clicks=0)
        assert scene.did == []
        scene.leasing.release("a")
        last = scene.leasing.state()["last"]
        assert (last["keys"], last["clicks"]) == (3, 1)

    Scene().play(scenario)


def test_a_program_takes_free_control_by_acting() -> None:
    async def scenario(scene: Scene) -> None:
        assert scene.leasing.begins("p", "vnc")
        assert scene.leasing.holds_control("p")
        assert not scene.leasing.begins("q", "vnc")
        assert scene.leasing.begins("p", "vnc")

    Scene().play(scenario)


def test_the_state_names_the_holder_and_the_pending_request() -> None:
    async def scenario(scene: Scene) -> None:
        scene.take()
        scene.now += 2.0
        assert not scene.take(Person("Bob", "b"))
        state = scene.leasing.state()
        assert state["holder"] == {"kind": "person", "name": "Ann", "since_s": 2.0}
        assert state["asked"] == {"name": "Bob", "left_s": 10.0}
        scene.leasing.renew("a")
        assert scene.leasing.state()["asked"] is None
        scene.leasing.end()
        scene.leasing.check_act("one")
        assert scene.leasing.state()["holder"] == {"kind": "chat", "chat_id": "one"}
        scene.leasing.release_chat("one")
        assert scene.leasing.state()["holder"] == {"kind": "nobody"}

    Scene().play(scenario)


def test_windows_of_a_session_are_listed_by_their_class() -> None:
    async def scenario(scene: Scene) -> None:
        scene.leasing.noticed("window_opened", {"class": "Before"})
        scene.take()
        scene.leasing.noticed("window_opened", {"class": "Chromium", "title": "Secret"})
        scene.leasing.noticed("window_focused", {"class": "XTerm"})
        scene.leasing.noticed("window_closed", {"class": ""})
        scene.leasing.release("a")
        scene.leasing.noticed("window_opened", {"class": "After"})
        windows = scene.leasing.state()["last"]["windows"]
        assert windows == ["Opened Chromium.", "Closed a window."]

    Scene().play(scenario)


def test_of_very_many_windows_the_newest_are_listed() -> None:
    async def scenario(scene: Scene) -> None:
        scene.take()
        for number in range(MOST_WINDOWS + 1):
            scene.leasing.noticed("window_opened", {"class": str(number)})
        scene.leasing.release("a")
        windows = scene.leasing.state()["last"]["windows"]
        assert (len(windows), windows[-1]) == (MOST_WINDOWS, f"Opened {MOST_WINDOWS}.")

    Scene().play(scenario)


def test_refusals_pass_through() -> None:
    async def scenario(scene: Scene) -> None:
        scene.leasing.check_view()
        scene.leasing.check_act("one")
        with pytest.raises(HeldByChat):
            scene.leasing.check_act("two")
        scene.take()
        with pytest.raises(HumanInControl):
            scene.leasing.check_view()
        with pytest.raises(NotInControl):
            scene.leasing.release("b")

    Scene().play(scenario)


def test_outside_of_running_changes_have_no_effect() -> None:
    scene = Scene()
    scene.take()
    assert scene.did == []


@pytest.mark.parametrize(
    ("keys", "clicks", "words"), [(0, 2, "0 keys and 2 clicks"), (1, 1, "1 key and 1 click")]
)
def test_the_activity_summary_counts_keys_and_clicks(keys: int, clicks: int, words: str) -> None:
    assert (
        activity_summary(ControlSession("Ann", 0.0, 1.0, keys, clicks, True, "released")) == words
    )


def test_a_program_acts_like_a_chat_and_not_while_a_person_is_in_control() -> None:
    async def scenario(scene: Scene) -> None:
        assert scene.leasing.agent_acts("vnc-agent:1")
        assert scene.leasing.agent_holds("vnc-agent:1")
        assert not scene.leasing.agent_acts("vnc-agent:2")
        scene.leasing.agent_parted("vnc-agent:1")
        assert scene.leasing.agent_acts("vnc-agent:2")
        assert scene.take()
        assert not scene.leasing.agent_holds("vnc-agent:2")
        assert not scene.leasing.agent_acts("vnc-agent:2")

    assert Scene().play(scenario).count("note activity of agent") == 2


class FakeFreezer:
    """Notes its holds."""

    def __init__(self) -> None:
        self.holders: list[bool] = []

    @property
    def held(self) -> bool:
        return bool(self.holders)

    def hold(self, *, guards_keyboard: bool = True) -> None:
        self.holders.append(guards_keyboard)

    def release(self, *, guards_keyboard: bool = True) -> StopReport:
        report = self.report()
        self.holders.remove(guards_keyboard)
        return report

    def report(self) -> StopReport:
        return StopReport(3, (), 5.0) if self.held else StopReport()

    def may_type(self) -> bool:
        return True


def test_a_pause_stops_the_processes_until_they_are_needed() -> None:
    freezer = FakeFreezer()
    scene = Scene(freezer)

    async def scenario(scene: Scene) -> None:
        leasing = scene.leasing
        leasing.pause(60.0)
        assert freezer.held
        leasing.check_view()
        assert freezer.held
        with leasing.acting("one"):
            assert not freezer.held
        leasing.pause(60.0)
        leasing.end_pause()
        leasing.end_pause()
        assert not freezer.held
        leasing.pause(60.0)
        leasing.take(ANN, private=False, take_over_on_timeout=True, force=False)
        assert not freezer.held
        scene.now += 30.0
        leasing.release("a")
        # What a pause stopped was not stopped by the person's session.
        assert leasing.state()["last"]["stopped"]["count"] == 0
        assert freezer.held
        scene.take()
        assert freezer.holders == [True]
        leasing.pause(0.0)
        assert freezer.holders == [True]
        leasing.release("a")
        assert leasing.state()["last"]["stopped"]["count"] == 3
        assert not freezer.held
        leasing.pause(60.0)
        scene.now += 60.0
        assert not leasing.paused

    scene.play(scenario)
    assert not freezer.held


def test_a_pause_does_not_outlast_the_service() -> None:
    freezer = FakeFreezer()

    async def scenario(scene: Scene) -> None:
        scene.leasing.pause(60.0)
        assert freezer.held

    Scene(freezer).play(scenario)
    assert not freezer.held
