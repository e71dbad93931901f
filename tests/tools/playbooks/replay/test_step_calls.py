import pytest

from deskhand.tools.playbooks.playbook import (
    Action,
    Check,
    FileCheck,
    PlaybookStep,
    RegionCheck,
    StepWait,
    Target,
)
from deskhand.tools.playbooks.replay.step_calls import (
    PlannedCall,
    calls_of,
    computer_call,
    filled_check,
    filled_step,
    opening,
    seeking,
    starting,
)

AT, END, MIDDLE = (3, 4), (5, 6), (640, 360)
BUTTON = Target("button", "Save")
CLICK = computer_call("left_click", coordinate=[3, 4])
ALL = computer_call("key", text="ctrl+a")


def _calls(step: PlaybookStep) -> tuple[PlannedCall, ...]:
    return calls_of(
        step, AT if step.target is not None else None, END if step.to is not None else None, MIDDLE
    )


@pytest.mark.parametrize(
    ("action", "name"),
    [
        ("click", "left_click"),
        ("double_click", "double_click"),
        ("triple_click", "triple_click"),
        ("right_click", "right_click"),
        ("middle_click", "middle_click"),
    ],
)
def test_a_click_is_at_the_target(action: Action, name: str) -> None:
    step = PlaybookStep(action, target=BUTTON, holding="ctrl")
    assert _calls(step) == (computer_call(name, coordinate=[3, 4], text="ctrl"),)


@pytest.mark.parametrize(
    ("step", "calls"),
    [
        (
            PlaybookStep("type", target=BUTTON, text="a"),
            (CLICK, ALL, computer_call("type", text="a")),
        ),
        (
            PlaybookStep("type", target=BUTTON, text="a", replace=False),
            (CLICK, computer_call("key", text="ctrl+End"), computer_call("type", text="a")),
        ),
        (PlaybookStep("type", text="a"), (computer_call("type", text="a"),)),
        (PlaybookStep("type", text="a", replace=True), (ALL, computer_call("type", text="a"))),
        (
            PlaybookStep("type", target=BUTTON, text=""),
            (CLICK, ALL, computer_call("key", text="BackSpace")),
        ),
        (PlaybookStep("type", text=""), ()),
        (
            PlaybookStep("type_secret", target=BUTTON, secret="pin"),
            (CLICK, ALL, PlannedCall("type_secret", {"name": "pin"})),
        ),
        (PlaybookStep("type_secret", secret="pin"), (PlannedCall("type_secret", {"name": "pin"}),)),
        (PlaybookStep("key", keys="ctrl+s"), (computer_call("key", text="ctrl+s"),)),
        (
            PlaybookStep("key", target=BUTTON, keys="ctrl+s"),
            (CLICK, computer_call("key", text="ctrl+s")),
        ),
        (PlaybookStep("hover", target=BUTTON), (computer_call("mouse_move", coordinate=[3, 4]),)),
        (
            PlaybookStep("drag", target=BUTTON, to=BUTTON),
            (computer_call("left_click_drag", start_coordinate=[3, 4], coordinate=[5, 6]),),
        ),
        (
            PlaybookStep("scroll", direction="up", amount=2),
            (
                computer_call(
                    "scroll", coordinate=[640, 360], scroll_direction="up", scroll_amount=2
                ),
            ),
        ),
        (PlaybookStep("open_url", url="http://a"), (opening("http://a"),)),
        (
            PlaybookStep("execute", command="ls"),
            (PlannedCall("execute", {"command": "ls", "timeout": "120s"}),),
        ),
        (PlaybookStep("wait", wait=StepWait("a")), ()),
    ],
)
def test_each_action_has_its_calls(step: PlaybookStep, calls: tuple[PlannedCall, ...]) -> None:
    assert _calls(step) == calls


def test_an_address_is_quoted_for_the_shell() -> None:
    assert opening("http://a/?b=1&c='").arguments["command"] == (
        """xdg-open 'http://a/?b=1&c='"'"''"""
    )


def test_an_application_starts_in_the_background() -> None:
    assert starting("mousepad") == PlannedCall(
        "execute", {"command": "mousepad", "run_in_background": True}
    )


def test_seeking_scrolls_at_a_point() -> None:
    assert seeking((1, 2), "down", 5).arguments == {
        "coordinate": [1, 2],
        "scroll_direction": "down",
        "scroll_amount": 5,
    }


def test_parameters_are_filled_in_everywhere() -> None:
    target = Target("button", "{a}", ("{a} near",))
    step = PlaybookStep(
        *("drag", "{a} intent", target, target, "{a} text"),
        keys="{a}",
        url="{a} url",
        command="{a} command",
        wait=StepWait("{a} text", "{a} window", "{a} url", "{a} file"),
    )
    wanted = Target("button", "b", ("b near",))
    assert filled_step(step, {"a": "b"}) == PlaybookStep(
        *("drag", "b intent", wanted, wanted, "b text"),
        keys="b",
        url="b url",
        command="b command",
        wait=StepWait("b text", "b window", "b url", "b file"),
    )
    assert filled_step(PlaybookStep("key", keys="a"), {}) == PlaybookStep("key", keys="a")


def test_parameters_of_checks_are_filled_in() -> None:
    values = {"a": "b"}
    assert filled_check(Check("{a}"), values) == Check("b")
    file = Check(file=FileCheck("{a}.csv", "{a}"))
    assert filled_check(file, values) == Check(file=FileCheck("b.csv", "b"))
    assert filled_check(Check(file=FileCheck("{a}")), values) == Check(file=FileCheck("b"))
    region = Check(region=RegionCheck((1, 2, 3, 4), "0" * 16))
    assert filled_check(region, values) == region
