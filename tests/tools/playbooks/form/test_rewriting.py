from dataclasses import replace

import pytest

from deskhand.tools.playbooks.form.form import read_playbook
from deskhand.tools.playbooks.form.rewriting import with_target
from deskhand.tools.playbooks.form.writing import write_playbook
from deskhand.tools.playbooks.playbook import Playbook, Target

NEW = Target("button", "Send: it, off", ("Orders #2",), "accessibility", (3, 4))
LINE = (
    "{role: button, name: 'Send: it, off', near: ['Orders #2'], source: accessibility,"
    " point: [3, 4]}"
)


def _healed(text: str, number: int = 0, part: str = "target") -> Playbook:
    playbook = read_playbook(text)
    step = playbook.steps[number]
    new = replace(step, target=NEW) if part == "target" else replace(step, to=NEW)
    steps = (*playbook.steps[:number], new, *playbook.steps[number + 1 :])
    return replace(playbook, steps=steps)


HEAD = "# Mine.\nversion: 1   # the form\nname: order\nsteps:\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "- action: click # first\n  target: {role: button, name: Save}  # green\n# end\n",
            f"- action: click # first\n  target: {LINE}  # green\n# end\n",
            id="flow",
        ),
        pytest.param(
            "- target:   # why\n    role: button\n    # the green one\n    name: Save # really\n"
            "  # after\n  action: click",
            f"- target: {LINE} # really\n  # why\n  # the green one\n  # after\n  action: click",
            id="block",
        ),
        pytest.param(
            "- {action: click, target: {role: button, # why\n  name: Save}, intent: go} # x\n",
            f"- {{action: click, target: {LINE}, intent: go}} # x\n                  # why\n",
            id="flow in flow",
        ),
        pytest.param(
            "- action: click\n  target:\n    name: Save\n    near:\n    - a\n    - b",
            f"- action: click\n  target: {LINE}",
            id="block at the end",
        ),
        pytest.param(
            '- action: click\n  "target" : {name: "#1"}\n',
            f'- action: click\n  "target": {LINE}\n',
            id="quoted",
        ),
    ],
)
def test_only_the_target_is_rewritten(before: str, after: str) -> None:
    assert with_target(HEAD + before, _healed(HEAD + before), 0, "target") == HEAD + after


def test_the_end_of_a_drag_is_rewritten() -> None:
    text = HEAD + "- action: drag\n  target: {name: a}\n  to: {name: b} # there\n"
    found = with_target(text, _healed(text, 0, "to"), 0, "to")
    assert found == HEAD + f"- action: drag\n  target: {{name: a}}\n  to: {LINE} # there\n"


@pytest.mark.parametrize(
    "steps",
    [
        "- action: click\n  target: &save {name: Save}\n- {action: hover, target: *save}\n",
        "- &one\n  action: click\n  target: {name: Save}\n- *one\n",
    ],
)
def test_a_target_with_aliases_is_written_with_the_whole_playbook(steps: str) -> None:
    healed = _healed(HEAD + steps)
    assert with_target(HEAD + steps, healed, 0, "target") == write_playbook(healed)


def test_a_text_that_was_edited_meanwhile_is_written_anew() -> None:
    text = HEAD + "- action: click\n  target: {name: Save}\n"
    healed = _healed(text)
    for edited in ("", HEAD + "- {action: key, keys: a}", HEAD + "[]", text.replace("order", "a")):
        assert with_target(edited, healed, 0, "target") == write_playbook(healed)


def test_a_part_that_is_not_there_is_written_with_the_whole_playbook() -> None:
    playbook = read_playbook(HEAD + "- {action: key, keys: a}")
    assert with_target("", playbook, 0, "target") == write_playbook(playbook)
