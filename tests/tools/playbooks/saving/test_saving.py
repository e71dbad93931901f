from typing import Any

import pytest

from deskhand.tools.conversation.step_target import StepTarget
from deskhand.tools.playbooks.errors import NotReplayable
from deskhand.tools.playbooks.form.form import read_playbook
from deskhand.tools.playbooks.form.writing import write_playbook
from deskhand.tools.playbooks.playbook import (
    Check,
    Parameter,
    Playbook,
    PlaybookStep,
    Start,
    StepWait,
    Target,
)
from deskhand.tools.playbooks.saving.recorded_run import RecordedRun, RecordedStep, RunEnd
from deskhand.tools.playbooks.saving.saving import SavedRun, saved_run

AT: dict[str, Any] = {"coordinate": [3, 4]}
SIZE = (1024, 768)
BUTTON = StepTarget("button", "Save", ("Orders",), (3, 4), SIZE, b"png")
ENTRY = StepTarget("entry", "Customer", (), (5, 6), SIZE)
FOCUSED = StepTarget("entry", "Customer", (), None, SIZE)
SAVE = Target("button", "Save", ("Orders",), "accessibility", (3, 4), "patches/1.png")
CUSTOMER = Target("entry", "Customer", (), "accessibility", (5, 6))


def _act(name: str, target: StepTarget | None = None, /, **arguments: Any) -> RecordedStep:
    changed = bool(arguments.pop("changed", False))
    to = arguments.pop("to", None)
    return RecordedStep(1, name, arguments, True, target=target, to=to, changed=changed)


def _tool(name: str, /, **arguments: Any) -> RecordedStep:
    return RecordedStep(2, name, arguments, False)


def _saved(*steps: RecordedStep, report: str = "", shown: tuple[str, ...] = ()) -> SavedRun:
    found = saved_run(RecordedRun(steps, report, RunEnd(shown)), "order")
    assert read_playbook(write_playbook(found.playbook)) == found.playbook
    return found


def _steps(*steps: RecordedStep) -> tuple[PlaybookStep, ...]:
    return _saved(*steps).playbook.steps


def test_a_click_has_its_target_and_picture() -> None:
    found = _saved(_act("left_click", BUTTON, coordinate=[3, 4], text="ctrl"))
    assert found.playbook.steps == (PlaybookStep("click", target=SAVE, holding="ctrl"),)
    assert found.playbook.screen == SIZE
    assert found.patches == {"patches/1.png": b"png"}


def test_without_a_target_the_point_is_kept() -> None:
    point = Target(point=(3, 4))
    assert _steps(_act("double_click", coordinate=[3, 4])) == (
        PlaybookStep("double_click", target=point),
    )
    assert _steps(_act("mouse_move", coordinate=[3, 4])) == (PlaybookStep("hover", target=point),)
    nothing = StepTarget()
    assert _steps(_act("left_click", nothing, coordinate=[3, 4]))[0].target == point
    picture = StepTarget(point=(3, 4), screen=SIZE, patch=b"png")
    assert _steps(_act("right_click", picture, coordinate=[3, 4]))[0].target == Target(
        point=(3, 4), patch="patches/1.png"
    )


def test_typing_after_a_click_on_its_field_is_one_step() -> None:
    click = _act("left_click", ENTRY, coordinate=[5, 6])
    every = _act("key", text="ctrl+a")
    text = _act("type", FOCUSED, text="Ada")
    append = PlaybookStep("type", target=CUSTOMER, text="{customer}", replace=False)
    replaced = PlaybookStep("type", target=CUSTOMER, text="{customer}")
    assert _steps(click, text) == (append,)
    assert _steps(click, every, text) == (replaced,)
    assert _steps(_act("triple_click", ENTRY, coordinate=[5, 6]), text) == (replaced,)
    assert _steps(click, _act("type", text="Ada")) == (append,)
    assert _saved(click, text).playbook.parameters == {"customer": Parameter("Ada")}


def test_typing_into_another_field_than_the_clicked_one_is_a_step_of_its_own() -> None:
    click = _act("left_click", BUTTON, coordinate=[3, 4])
    focused = Target("entry", "Customer", (), "accessibility")
    found = _steps(click, _act("type", FOCUSED, text="Ada"))
    assert found[1] == PlaybookStep("type", target=focused, text="{customer}", replace=False)
    found = _steps(_act("left_click", coordinate=[3, 4]), _act("type", text="Ada"))
    assert [one.action for one in found] == ["click", "type"]
    assert found[1] == PlaybookStep("type", text="{text}")
    assert _steps(_act("key", text="ctrl+a"), _act("type", text="Ada")) == (
        PlaybookStep("type", text="{text}", replace=True),
    )


def test_a_password_is_never_kept() -> None:
    field = StepTarget("password text", "Password", (), (5, 6), SIZE)
    found = _saved(_act("type", field, text="9 characters"))
    assert found.playbook.parameters == {"password": Parameter()}


def test_secrets_stay_names() -> None:
    field = StepTarget("password text", "Password", (), (5, 6), SIZE)
    click, typed = _act("left_click", field, coordinate=[5, 6]), _tool("type_secret", name="pin")
    found = _saved(click, typed, typed).playbook
    assert found.secrets == ("pin",)
    assert found.steps[0] == PlaybookStep(
        "type_secret",
        target=Target("password text", "Password", (), "accessibility", (5, 6)),
        secret="pin",
        replace=False,
    )


def test_other_actions_have_their_steps() -> None:
    found = _steps(
        _act("left_click_drag", BUTTON, start_coordinate=[3, 4], coordinate=[5, 6], to=ENTRY),
        _act("left_click_drag", start_coordinate=[3, 4], coordinate=[5, 6], text="shift"),
        _act("key", text="Down", repeat=2),
        _act("back_click"),
        _act("scroll", scroll_direction="up", scroll_amount=0.5),
        _act("scroll", scroll_x=-170, scroll_y=30),
        _act("screenshot"),
        _tool("read_file", path="x"),
        _tool("execute", command="make {x}"),
        _tool("execute", command="mousepad", run_in_background=True),
        _tool("execute", command="xterm &", run_in_background=True),
    )
    assert found == (
        PlaybookStep("drag", target=SAVE, to=CUSTOMER),
        PlaybookStep("drag", target=Target(point=(3, 4)), to=Target(point=(5, 6)), holding="shift"),
        PlaybookStep("key", keys="Down Down"),
        PlaybookStep("key", keys="alt+Left"),
        PlaybookStep("scroll", direction="up", amount=1),
        PlaybookStep("scroll", direction="left", amount=2),
        PlaybookStep("execute", command="make {{x}}"),
        PlaybookStep("execute", command="mousepad &"),
        PlaybookStep("execute", command="xterm &"),
    )


def test_scrolling_to_a_target_is_left_out() -> None:
    scroll = _act("scroll", scroll_direction="down", scroll_amount=5)
    assert _steps(scroll, scroll, _act("left_click", BUTTON, **AT)) == (
        PlaybookStep("click", target=SAVE),
    )
    assert len(_steps(scroll, _act("left_click", **AT))) == 2


def test_an_address_that_is_opened_first_is_the_start() -> None:
    click = _act("left_click", BUTTON, **AT)
    for command in ("browser 'http://a/?b=1&c=2' &", "xdg-open 'http://a/?b=1&c=2'"):
        found = _saved(_tool("execute", command=command), click).playbook
        assert found.start == Start("http://a/?b=1&c=2")
        assert len(found.steps) == 1
    found = _saved(click, _tool("execute", command="/usr/bin/browser http://a/")).playbook
    assert found.steps[1] == PlaybookStep("open_url", url="http://a/")


def test_a_wait_belongs_to_the_step_before_it() -> None:
    click, wait = _act("left_click", BUTTON, **AT), _tool("wait_for", text="Saved", url=None)
    found = _saved(click, wait, _tool("wait_for", window="Orders", timeout_seconds=5)).playbook
    assert found.steps[0].wait == StepWait("Saved")
    assert found.steps[1] == PlaybookStep("wait", wait=StepWait(window="Orders", timeout_seconds=5))
    process = _steps(click, _tool("wait_for", process="p1", changed_region=None))
    assert process[0].wait == StepWait(quiet_ms=300)
    region = _steps(_tool("wait_for", changed_region=[1, 2, 3, 4]))
    assert region[0].wait == StepWait(changed_region=(1, 2, 3, 4))


def test_a_step_before_one_without_target_waits_for_rest() -> None:
    click = _act("left_click", BUTTON, **AT, changed=True)
    found = _steps(click, _act("key", text="Return"), click)
    assert [one.wait for one in found] == [StepWait(quiet_ms=300), None, None]


def test_a_pause_is_kept_before_a_step_without_target() -> None:
    start, pause = _tool("execute", command="xterm &"), _act("wait", duration=1)
    found = _steps(pause, start, pause, _act("key", text="Return"))
    assert found[0].wait == StepWait(seconds=1, quiet_ms=300)
    assert _steps(start, pause, _act("left_click", BUTTON, **AT))[0].wait is None


def test_the_last_awaited_text_is_the_check() -> None:
    typed = _act("type", ENTRY, text="Ada")
    assert _saved(typed, _tool("wait_for", text="Saved for Ada")).playbook.check == (
        Check("Saved for {customer}"),
    )
    assert _saved(typed, _tool("wait_for", url="/done")).playbook.check == (Check(url="/done"),)


def test_a_shown_text_that_the_report_names_is_the_check() -> None:
    typed = _act("type", ENTRY, text="Ada")
    shown = ("Ord", "Order", "Order saved for Ada", "Help")
    found = _saved(typed, report="It says: order saved for ada.", shown=shown)
    assert found.playbook.check == (Check("Order saved for {customer}"),)
    assert _saved(typed, shown=shown).playbook.check == ()


@pytest.mark.parametrize(
    ("step", "error"),
    [
        (_act("hold_key", text="a", duration=1), "step 1 of the run is a call of hold_key"),
        (_act("left_click"), "step 1 of the run is a call of left_click"),
        (_act("left_click_drag", path=[]), "step 1 of the run is a call of left_click_drag"),
        (_tool("write_file", path="a"), "step 2 of the run is a call of write_file"),
        (_act("screenshot"), "the run has no action that can be replayed"),
    ],
)
def test_what_a_playbook_cannot_do_is_an_error(step: RecordedStep, error: str) -> None:
    with pytest.raises(NotReplayable, match=error):
        _saved(step)


def test_a_run_that_only_opens_a_page_has_that_step() -> None:
    assert _steps(_tool("execute", command="xdg-open http://a/")) == (
        PlaybookStep("open_url", url="http://a/"),
    )


def test_description_and_intents_are_kept() -> None:
    step = RecordedStep(1, "key", {"text": "a"}, True, "Press {a}")
    found = saved_run(RecordedRun((step,)), "order", "Orders").playbook
    assert found == Playbook(
        "order", (PlaybookStep("key", "Press {{a}}", keys="a"),), description="Orders"
    )
