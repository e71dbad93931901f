import asyncio
from typing import Any

import pytest

from deskhand.tools.conversation.conversation import Image, Text, ToolCall, ToolResult
from deskhand.tools.kit.computer import ComputerOutcome, ComputerTool
from deskhand.tools.kit.support.human_control import HumanControlWaits
from deskhand.tools.kit.support.spec import MachineRefused, MachineUnavailable
from tests.tools.kit.fakes_computer import FakeDesktop, FakePictures, Json


class Desk:
    def __init__(self) -> None:
        self.desktop = FakeDesktop()
        self.pictures = FakePictures()
        self.tool = ComputerTool(self.desktop.machine, self.pictures)
        self.calls = 0

    def act(self, member: str, **arguments: Any) -> ComputerOutcome:
        self.calls += 1
        call = ToolCall(f"c{self.calls}", member, arguments, "computer")
        return asyncio.run(self.tool.act(call))


def text_of(outcome: ComputerOutcome) -> str:
    return " ".join(b.text for b in outcome.result.content if isinstance(b, Text))


def test_the_result_of_an_action_is_a_sentence_and_the_picture_after_it() -> None:
    desk = Desk()
    outcome = desk.act("left_click", coordinate=[640, 360])
    shot = Image("f1", "image/png", 1280, 720)
    assert outcome.result == ToolResult("c1", (Text("Clicked."), shot), toolset="computer")
    assert desk.pictures.saved == [b"png boot-1"]
    assert (outcome.point, outcome.native_point) == ((640, 360), (960, 540))
    assert outcome.timings == {"act_ms": 1.0}
    assert outcome.error is None


def test_the_call_runs_under_its_own_id() -> None:
    desk = Desk()
    desk.act("key", text="Return")
    ((call_id, payload),) = desk.desktop.sent
    assert (call_id, payload["action"]) == ("c1", "key")


def test_an_unchanged_screen_is_reported_as_text() -> None:
    desk = Desk()
    desk.act("screenshot")
    outcome = desk.act("left_click", coordinate=[1, 1])
    assert outcome.picture is None
    assert "exactly as in the last picture" in text_of(outcome)
    assert [p.get("since") or p.get("observe", {}).get("since") for _, p in desk.desktop.sent] == [
        None,
        "boot-1",
    ]


def test_a_screenshot_always_has_a_picture_which_is_stored_once() -> None:
    desk = Desk()
    first = desk.act("screenshot").picture
    assert desk.act("screenshot").picture == first == Image("f1", "image/png", 1280, 720)
    desk.desktop.frame = 2
    assert desk.act("screenshot").picture == Image("f2", "image/png", 1280, 720)
    assert len(desk.pictures.saved) == 2


def test_an_action_without_a_picture_is_answered_in_words() -> None:
    desk = Desk()
    window = {"id": "7", "title": "Mail"}
    desk.desktop.extra = {"changed_fraction": 0.123, "focused_after": window}
    call = ToolCall("c1", "left_click", {"coordinate": [1, 1]}, "computer")
    outcome = asyncio.run(desk.tool.act(call, picture=False))
    assert outcome.result.content == (
        Text('Clicked. 12 % of the screen changed. The window "Mail" has the keyboard.'),
    )
    assert desk.desktop.sent[0][1]["observe"]["screenshot"] is False
    shown = asyncio.run(desk.tool.act(ToolCall("c2", "screenshot", {}, "computer"), picture=False))
    assert shown.picture is not None


@pytest.mark.parametrize(
    ("fraction", "sentence"),
    [(0.0, "Nothing of the screen"), (0.004, "Less than 1 % of the screen"), (1.0, "100 % of the")],
)
def test_the_share_of_the_screen_that_changed_is_in_the_result(
    fraction: float, sentence: str
) -> None:
    desk = Desk()
    desk.desktop.extra = {"changed_fraction": fraction, "focused_after": None}
    text = text_of(desk.act("wait", duration=1))
    assert sentence in text
    assert text.endswith("No window has the keyboard.")


def test_a_picture_of_the_frame_already_seen_is_not_sent_to_the_model() -> None:
    desk = Desk()
    desk.act("screenshot")
    desk.desktop.extra = {"screenshot_data": "cG5n"}
    assert desk.act("wait", duration=1).picture is None
    assert len(desk.pictures.saved) == 1


def test_after_a_zoom_the_whole_screen_is_shown_again() -> None:
    desk = Desk()
    desk.act("screenshot")
    assert desk.act("zoom", region=[0, 0, 10, 10]).picture is not None
    assert desk.act("wait", duration=1).picture is not None


def test_a_click_without_a_point_goes_where_the_pointer_is() -> None:
    desk = Desk()
    outcome = desk.act("left_click")
    assert [call_id for call_id, _ in desk.desktop.sent] == ["c1.pointer", "c1"]
    assert desk.desktop.sent[1][1]["coordinate"] == [7, 8]
    assert outcome.point == (7, 8)


def test_the_position_of_the_pointer_is_text_without_a_picture() -> None:
    outcome = Desk().act("cursor_position")
    assert outcome.result.content == (Text("X=7,Y=8"),)


def test_a_clamped_point_and_an_unsettled_screen_are_reported() -> None:
    desk = Desk()
    desk.desktop.extra = {"clamped": True, "point": [1279, 719], "settled": "ceiling"}
    message = text_of(desk.act("left_click", coordinate=[5000, 5000]))
    assert "(1279, 719) was used" in message
    assert "still moving" in message


def test_the_hint_of_a_window_is_reported() -> None:
    desk = Desk()
    desk.desktop.extra = {"focused_after": {"id": 5, "title": "Open File", "hint": "Click Open."}}
    message = text_of(desk.act("left_click", coordinate=[5, 5]))
    assert 'The window "Open File" has the keyboard. Click Open.' in message


def test_a_text_that_no_window_received_is_reported() -> None:
    desk = Desk()
    desk.desktop.extra = {"nothing_focused": True}
    assert "The text went nowhere" in text_of(desk.act("type", text="lost"))


def test_the_timeout_includes_the_duration_of_the_action() -> None:
    desk = Desk()
    desk.act("wait", duration=60)
    desk.act("screenshot")
    assert desk.desktop.timeouts[0] == desk.desktop.timeouts[1] + 60


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (MachineRefused(409, "A person has control.", "Wait."), "A person has control. Wait."),
        (MachineRefused(503, "No display.", "It starts."), "No display. It starts."),
        (MachineUnavailable("gone"), "The desktop cannot be reached: gone"),
    ],
)
def test_a_refusal_of_the_desktop_is_an_error_result(error: Exception, text: str) -> None:
    desk = Desk()
    desk.desktop.error = error
    outcome = desk.act("left_click", coordinate=[1, 1])
    assert outcome.result == ToolResult("c1", (Text(text),), is_error=True, toolset="computer")
    assert outcome.error == text


def test_bad_input_never_reaches_the_desktop() -> None:
    desk = Desk()
    outcome = desk.act("left_click", coordinate="the button")
    assert outcome.result.is_error
    assert desk.desktop.sent == []


def test_call_returns_the_result_for_the_model() -> None:
    desk = Desk()
    call = ToolCall("c1", "dance", {}, "computer")
    assert asyncio.run(desk.tool.call(call)).is_error


def lease(kind: str, **last: Any) -> Json:
    turn = {"name": "Ann", "seconds": 42.4, "keys": 3, "clicks": 1, "private": True} | last
    holder = {"kind": kind, "name": "Ann"}
    return {"revision": 7, "holder": holder, "last": None if kind == "person" else turn}


FREE: Json = {"revision": 6, "holder": {"kind": "nobody"}, "last": None}


def taken_over(desktop: FakeDesktop, **last: Any) -> None:
    """Have a person take control before the first action, who releases it while the tool waits."""
    desktop.error = MachineRefused(409, "Another client controls this desktop.")
    desktop.leases = [FREE, *(lease("person", **last) for _ in range(2)), lease("nobody", **last)]


def test_a_call_is_sent_once_a_person_has_released_control() -> None:
    desktop = FakeDesktop()
    tool = ComputerTool(desktop.machine, FakePictures())
    asyncio.run(tool.act(ToolCall("c0", "screenshot", {}, toolset="computer")))
    taken_over(desktop)
    done = asyncio.run(tool.act(ToolCall("c1", "left_click", {"coordinate": [5, 6]}, "computer")))
    message = [block.text for block in done.result.content if isinstance(block, Text)]
    assert not done.result.is_error
    assert message[0] == (
        "Ann was in control of this desktop for 42 s, in private (3 keys and 1 click),"
        " and gave it back."
    )
    assert [payload["action"] for _, payload in desktop.sent[1:]] == [
        *("left_click", "screenshot", "left_click")
    ]


def test_a_call_is_not_sent_to_a_screen_that_a_person_changed() -> None:
    desktop = FakeDesktop()
    tool = ComputerTool(desktop.machine, FakePictures())
    asyncio.run(tool.act(ToolCall("c0", "screenshot", {}, toolset="computer")))
    taken_over(desktop, private=False, windows=["Opened Xterm."])
    desktop.frame = 2
    done = asyncio.run(tool.act(ToolCall("c1", "left_click", {"coordinate": [5, 6]}, "computer")))
    assert done.result.is_error
    assert done.result.content == (
        Text(
            "Not done: Ann was in control of this desktop for 42 s (3 keys and 1 click), and gave"
            " it back. Opened Xterm. The screen as you last saw it, then as it is now:"
        ),
        Image("f1", "image/png", 1280, 720),
        Image("f2", "image/png", 1280, 720),
    )
    assert done.picture == Image("f2", "image/png", 1280, 720)
    assert [payload["action"] for _, payload in desktop.sent[1:]] == ["left_click", "screenshot"]
    assert tool.people_seconds == 42.4


def test_before_the_first_picture_there_is_only_the_screen_as_it_is_now() -> None:
    desktop = FakeDesktop()
    tool = ComputerTool(desktop.machine, FakePictures())
    taken_over(desktop, private=False)
    done = asyncio.run(tool.act(ToolCall("c1", "left_click", {"coordinate": [5, 6]}, "computer")))
    assert text_of(done).endswith("and gave it back. This is the screen now.")
    assert sum(isinstance(block, Image) for block in done.result.content) == 1


def test_what_a_person_left_in_private_is_not_shown_unasked() -> None:
    desktop = FakeDesktop()
    pictures = FakePictures()
    tool = ComputerTool(desktop.machine, pictures)
    asyncio.run(tool.act(ToolCall("c0", "screenshot", {}, toolset="computer")))
    taken_over(desktop)
    desktop.frame = 2
    done = asyncio.run(tool.act(ToolCall("c1", "left_click", {"coordinate": [5, 6]}, "computer")))
    assert done.result.is_error
    assert done.picture is None
    assert text_of(done).endswith("The screen has changed: take a screenshot before you go on.")
    assert pictures.saved == [b"png boot-1"]
    asked = asyncio.run(tool.act(ToolCall("c2", "screenshot", {}, toolset="computer")))
    assert asked.picture == Image("f2", "image/png", 1280, 720)


def test_a_control_session_is_reported_once_across_tools() -> None:
    desktop, handbacks = FakeDesktop(), HumanControlWaits()
    desktop.leases = [lease("nobody"), lease("nobody"), lease("nobody", seconds=3.0)]
    for expected in (42.4, 0.0, 3.0):
        tool = ComputerTool(desktop.machine, FakePictures(), handbacks)
        done = asyncio.run(tool.act(ToolCall("c1", "screenshot", {}, toolset="computer")))
        assert ("Ann" in text_of(done)) == bool(expected)
        assert tool.people_seconds == pytest.approx(expected)


@pytest.mark.parametrize("error", [MachineRefused(400, "No.", ""), MachineUnavailable("gone")])
def test_a_control_session_that_a_failed_call_does_not_report_is_reported_by_the_next(
    error: Exception,
) -> None:
    desktop = FakeDesktop()
    tool = ComputerTool(desktop.machine, FakePictures())
    desktop.leases = [lease("nobody"), lease("nobody")]
    desktop.error = error
    failed = asyncio.run(tool.act(ToolCall("c1", "screenshot", {}, toolset="computer")))
    assert failed.error
    assert "Ann" not in failed.error
    desktop.error = None
    done = asyncio.run(tool.act(ToolCall("c2", "screenshot", {}, toolset="computer")))
    assert text_of(done).startswith("Ann was in control")


def test_a_conflict_without_a_person_in_control_is_an_error() -> None:
    desktop = FakeDesktop()
    desktop.error = MachineRefused(409, "Held.", "by chat x")
    tool = ComputerTool(desktop.machine, FakePictures())
    done = asyncio.run(tool.act(ToolCall("c1", "left_click", {"coordinate": [5, 6]}, "computer")))
    assert done.error == "Held. by chat x"


def test_a_control_session_between_two_calls_is_reported_once_by_the_second() -> None:
    desktop = FakeDesktop()
    tool = ComputerTool(desktop.machine, FakePictures())
    asyncio.run(tool.act(ToolCall("c0", "screenshot", {}, toolset="computer")))
    desktop.leases = [lease("nobody"), lease("nobody")]
    reported = asyncio.run(tool.act(ToolCall("c1", "screenshot", {}, toolset="computer")))
    assert text_of(reported).startswith("Ann was in control")
    again = asyncio.run(tool.act(ToolCall("c2", "screenshot", {}, toolset="computer")))
    assert "Ann" not in text_of(again)


def test_an_action_is_not_sent_while_a_person_is_in_control() -> None:
    desktop = FakeDesktop()
    tool = ComputerTool(desktop.machine, FakePictures())
    asyncio.run(tool.act(ToolCall("c0", "screenshot", {}, toolset="computer")))
    desktop.frame = 2
    desktop.leases = [lease("person"), lease("person"), lease("nobody")]
    done = asyncio.run(tool.act(ToolCall("c1", "left_click", {"coordinate": [5, 6]}, "computer")))
    assert text_of(done).startswith("Not done: Ann was in control")
    assert [payload["action"] for _, payload in desktop.sent[1:]] == ["screenshot"]


def test_a_control_session_that_ends_as_a_picture_is_taken_is_reported() -> None:
    desktop = FakeDesktop()
    tool = ComputerTool(desktop.machine, FakePictures())
    desktop.leases = [lease("person"), lease("nobody")]
    done = asyncio.run(tool.act(ToolCall("c1", "screenshot", {}, toolset="computer")))
    assert text_of(done).startswith("Ann was in control")
    assert done.picture is not None


def test_a_control_session_that_ended_before_the_wait_is_no_error() -> None:
    desktop = FakeDesktop()
    tool = ComputerTool(desktop.machine, FakePictures())
    desktop.error = MachineRefused(409, "Held.")
    desktop.leases = [FREE, lease("nobody")]
    done = asyncio.run(tool.act(ToolCall("c1", "screenshot", {}, toolset="computer")))
    assert not done.result.is_error
    assert text_of(done).startswith("Ann was in control")


def test_a_desktop_without_a_lease_is_used_without_waiting() -> None:
    desktop = FakeDesktop()
    desktop.lease_error = MachineRefused(404, "Not Found")
    tool = ComputerTool(desktop.machine, FakePictures())
    done = asyncio.run(tool.act(ToolCall("c0", "screenshot", {}, toolset="computer")))
    assert not done.result.is_error


def test_a_glance_keeps_a_small_picture_and_changes_nothing_for_the_model() -> None:
    desk = Desk()
    desk.act("screenshot")
    shown = asyncio.run(desk.tool.glance())
    assert shown == Image("f2", "image/jpeg", 640, 360)
    assert desk.desktop.glances == [
        {"scaled_width": "640", "scaled_height": "360", "format": "jpeg"}
    ]
    assert "exactly" in text_of(desk.act("wait", duration=1))
    desk.desktop.small = b"jpeg 2"
    assert asyncio.run(desk.tool.glance()) == Image("f3", "image/jpeg", 640, 360)
    assert asyncio.run(desk.tool.glance()) == Image("f3", "image/jpeg", 640, 360)
    assert desk.pictures.saved == [b"png boot-1", b"jpeg 1", b"jpeg 2"]


@pytest.mark.parametrize(
    "answer",
    [MachineRefused(409, "A person is in control."), MachineUnavailable("gone"), {"echo": "x"}],
)
def test_a_glance_is_empty_where_viewing_is_not_permitted(
    answer: Exception | dict[str, str],
) -> None:
    desk = Desk()
    desk.desktop.small = answer
    assert asyncio.run(desk.tool.glance()) is None
    assert desk.pictures.saved == []
