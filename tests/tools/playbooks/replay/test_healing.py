from typing import Any

import pytest

from deskhand.tools.conversation.conversation import Image, Message, Text, ToolCall, ToolResult
from deskhand.tools.playbooks.playbook import Playbook, PlaybookStep, Target
from deskhand.tools.playbooks.replay.healing import (
    CHOOSE,
    BrokenStep,
    chosen_target,
    difference,
    healed_playbook,
    healed_steps,
    healed_texts,
    healing_prompt,
    newest_picture,
    with_picture,
)

STEP = PlaybookStep("click", "Save the order", Target("button", "Save {customer}", patch="a.png"))
PLAYBOOK = Playbook("order", (PlaybookStep("key", keys="a"), STEP))
PICTURE = Image("f", "image/png", 1280, 720)
BROKEN = BrokenStep(1, "target", STEP, 'button "Save Ada"', 'button "Store Ada" [e1] 3,4', PICTURE)


def _chosen(arguments: dict[str, Any]) -> Target | None:
    return chosen_target((Text("Here."), ToolCall("c", CHOOSE.name, arguments)))


def test_the_model_gets_purpose_search_and_screen() -> None:
    prompt = healing_prompt(BROKEN, "claude-opus-5", "chat")
    text, picture = prompt.messages[0].content
    assert isinstance(text, Text)
    for part in ("Save the order", "click", 'button "Save Ada"', 'button "Store Ada" [e1] 3,4'):
        assert part in text.text
    assert picture == PICTURE
    assert prompt.tools == (CHOOSE,)
    plain = BrokenStep(0, "target", PlaybookStep("hover"), "x", "y")
    assert len(healing_prompt(plain, "m", "c").messages[0].content) == 1


def test_the_reply_names_a_widget_or_none() -> None:
    assert _chosen({"role": "button", "name": "Store", "near": ["Orders", ""]}) == Target(
        "button", "Store", ("Orders",)
    )
    assert _chosen({"name": "Store", "near": "Orders"}) == Target("", "Store", ("Orders",))
    assert _chosen({"near": ["Orders"], "role": None}) is None
    clicked = ToolCall("c", "left_click", {"coordinate": [3, 4]}, "computer")
    assert chosen_target((clicked,)) == Target(point=(3, 4))
    looked = ToolCall("c", "screenshot", {}, "computer")
    assert chosen_target((looked,)) is None
    assert chosen_target((Text("None."), ToolCall("c", "other", {}))) is None


def test_a_call_with_a_mistake_names_no_widget() -> None:
    assert _chosen({"role": "button", "nam": "Store"}) is None
    assert _chosen({"role": "button", "name": 5}) is None
    clicked = ToolCall("c", "left_click", {"coordinate": [3, 4], "at": "end"}, "computer")
    assert chosen_target((clicked,)) is None


def test_the_new_target_replaces_the_old_one_with_its_parameters() -> None:
    found = Target("button", "Store {x} Ada", ("for Ada",))
    values = {"customer": "Ada", "other": "Store"}
    after = healed_playbook(PLAYBOOK, BROKEN, found, (3, 4), values)
    wanted = Target(
        "button", "Store {{x}} {customer}", ("for {customer}",), "accessibility", (3, 4)
    )
    assert after.steps[1].target == wanted
    assert after.steps[0] == PLAYBOOK.steps[0]
    shown = difference(PLAYBOOK, after, 1)
    assert shown.startswith("Healed step 2:\n")
    assert "-   target: {role: button, name: 'Save {customer}', patch: a.png}" in shown


def test_a_place_without_a_widget_is_a_point() -> None:
    after = healed_playbook(PLAYBOOK, BROKEN, Target(point=(9, 9)), (3, 4), {"customer": "Ada"})
    assert after.steps[1].target == Target(point=(3, 4))


def test_the_end_of_a_drag_is_healed_too() -> None:
    step = PlaybookStep("drag", target=Target("icon", "A"))
    playbook = Playbook("drags", (step,))
    after = healed_playbook(
        playbook, BrokenStep(0, "to", step, "", ""), Target("icon", "C"), (1, 2), {}
    )
    assert after.steps[0].target == Target("icon", "A")
    assert after.steps[0].to == Target("icon", "C", (), "accessibility", (1, 2))


@pytest.mark.parametrize("messages", [[], [Message("user", (Text("Replay"), PICTURE))]])
def test_without_results_there_is_no_picture(messages: list[Message]) -> None:
    assert newest_picture(messages) is None


def test_the_newest_picture_of_the_results_is_used() -> None:
    older = Message("user", (ToolResult("a", (Image("e", "image/png", 1, 1),)),))
    newer = Message("user", (ToolResult("b", (Text("x"), PICTURE)), ToolResult("c", (Text("y"),))))
    assert newest_picture([older, newer]) == PICTURE


def test_the_differences_that_were_shown_are_reported() -> None:
    messages = [
        Message("user", (Text("Healed by me"),)),
        Message("assistant", (Text("Healed step 1:\n- a"), Text("Save"))),
    ]
    assert healed_texts(messages) == ("Healed step 1:\n- a",)


def test_healed_steps_are_those_that_were_shown() -> None:
    shown = (Text("Healed step 2:\n- a\n+ b"), Text("Healed step 12:\n+ c"), Text("Healed all"))
    assert healed_steps((Message("assistant", shown),)) == {1, 11}


def test_a_healed_target_gets_one_picture() -> None:
    drag = PlaybookStep("drag", "", Target("button"), Target("list"))
    playbook = Playbook("order", (PlaybookStep("key", keys="a"), drag))
    pictured = with_picture(playbook, 1, "to")
    assert pictured is not None
    after, file = pictured
    assert file == "patches/healed-2-to.png"
    assert after.steps[1].to == Target("list", patch=file)
    assert after.steps[1].target == Target("button")
    pictured = with_picture(after, 1, "target")
    assert pictured is not None
    assert pictured[0].steps[1].target == Target("button", patch="patches/healed-2.png")
    assert with_picture(after, 1, "to") is None
    assert with_picture(playbook, 0, "target") is None
