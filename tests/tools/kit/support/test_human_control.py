import asyncio
from typing import Any

import pytest

from deskhand.tools.kit.support.human_control import (
    EACH_WAIT,
    LEASE,
    HumanControlWait,
    HumanControlWaits,
    report_after,
)
from deskhand.tools.kit.support.spec import Json, MachineRefused
from tests.tools.kit.machine import FakeMachine

ANN = {"name": "Ann", "seconds": 42.4, "keys": 3, "clicks": 1, "private": False}


def lease(kind: str, last: Json | None = None, revision: int = 1) -> Json:
    return {"revision": revision, "holder": {"kind": kind}, "last": last}


def machine(*answers: Any) -> FakeMachine:
    made = FakeMachine()
    made.answer(LEASE, *answers)
    return made


def missed(waits: HumanControlWaits, *answers: Any) -> HumanControlWait | None:
    return asyncio.run(waits.missed(machine(*answers)))[0]


@pytest.mark.parametrize(
    ("wait", "sentence"),
    [
        (
            HumanControlWait("Ann", 42.4, 3, 1, False),
            "Ann was in control of this desktop for 42 s (3 keys and 1 click), and gave it back.",
        ),
        (
            HumanControlWait("Bob", 0.6, 1, 0, True, ("Opened Xterm.", "Closed Mail.")),
            "Bob was in control of this desktop for 1 s, in private (1 key and 0 clicks),"
            " and gave it back. Opened Xterm. Closed Mail.",
        ),
    ],
)
def test_a_persons_time_is_reported_in_numbers_and_windows(
    wait: HumanControlWait, sentence: str
) -> None:
    assert str(wait) == sentence


def test_a_session_that_ended_meanwhile_is_returned_once() -> None:
    waits = HumanControlWaits()
    windows = ["Opened Xterm."]
    found = missed(waits, lease("nobody", {**ANN, "windows": windows}))
    assert found == HumanControlWait("Ann", 42.4, 3, 1, False, ("Opened Xterm.",))
    assert missed(waits, lease("nobody", {**ANN, "windows": windows})) is None
    assert missed(waits, lease("nobody", {**ANN, "seconds": 2.0})) is not None
    assert waits.seconds == pytest.approx(44.4)


def test_where_no_person_was_in_control_nothing_was_missed() -> None:
    waits = HumanControlWaits()
    assert missed(waits, lease("nobody")) is None
    assert missed(waits, MachineRefused(404, "Not Found")) is None
    assert waits.seconds == 0.0


@pytest.mark.parametrize("kind", ["person", "chat"])
def test_a_session_that_goes_on_is_known(kind: str) -> None:
    assert asyncio.run(HumanControlWaits().missed(machine(lease(kind)))) == (None, kind == "person")


def test_while_no_person_is_in_control_there_is_no_wait() -> None:
    at = machine(lease("chat"))
    assert asyncio.run(HumanControlWaits().awaited(at)) is None
    assert len(at.asked) == 1


def test_a_session_that_ended_before_the_wait_is_returned_once() -> None:
    waits = HumanControlWaits()
    at = machine(lease("chat", ANN))
    assert asyncio.run(waits.awaited(at)) == HumanControlWait("Ann", 42.4, 3, 1, False)
    assert asyncio.run(waits.awaited(machine(lease("chat", ANN)))) is None


def test_a_wait_lasts_until_control_is_given_back() -> None:
    at = machine(
        lease("person", revision=1), lease("person", revision=2), lease("nobody", ANN, revision=3)
    )
    found = asyncio.run(HumanControlWaits().awaited(at))
    assert found == HumanControlWait("Ann", 42.4, 3, 1, False)
    assert [asked.params for asked in at.asked] == [
        {},
        {"revision": "1", "wait": f"{EACH_WAIT:g}"},
        {"revision": "2", "wait": f"{EACH_WAIT:g}"},
    ]


def test_a_tool_that_shows_no_screen_leaves_the_session_unreported() -> None:
    waits = HumanControlWaits()
    at = machine(lease("person"), lease("nobody", ANN))
    assert asyncio.run(report_after(waits.ended, at)).startswith("Ann was in control")
    assert asyncio.run(report_after(waits.awaited, at)).startswith("Ann was in control")
    assert asyncio.run(report_after(waits.awaited, at)) == ""
    assert asyncio.run(report_after(waits.ended, machine(lease("nobody")))) == ""


def test_a_session_that_another_process_has_reported_is_not_reported_again() -> None:
    one, other = HumanControlWaits(), HumanControlWaits()
    assert missed(one, lease("nobody", ANN)) is not None
    other.restore(one.unstored())
    assert one.unstored() is None
    assert other.unstored() is None
    assert missed(other, lease("nobody", ANN)) is None
    assert missed(other, lease("nobody", {**ANN, "windows": ["Opened Xterm."]})) is not None


def test_a_report_that_was_lost_with_its_result_is_made_again() -> None:
    waits = HumanControlWaits()
    for _ in range(2):
        assert missed(waits, lease("nobody", ANN)) is not None
        waits.take_back()
    assert waits.unstored() is None
    assert waits.seconds == 42.4
    assert missed(waits, lease("nobody", ANN)) is not None
    assert waits.unstored() is not None
    waits.take_back()
    assert missed(waits, lease("nobody", ANN)) is None
