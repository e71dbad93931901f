from deskhand.tools.playbooks.form.form import read_playbook
from deskhand.tools.playbooks.form.writing import write_playbook, write_step, write_target
from deskhand.tools.playbooks.playbook import Playbook, PlaybookStep, StepWait, Target
from tests.tools.playbooks.form.test_form import PLAYBOOK


def test_a_written_playbook_is_read_as_an_equal_one() -> None:
    assert read_playbook(write_playbook(PLAYBOOK)) == PLAYBOOK


def test_texts_that_look_like_other_values_stay_texts() -> None:
    texts = (
        "yes",
        "0042",
        "a: b",
        "# c",
        "{{x}}",
        "",
        "line\nline",
        "\t",
        "Ünïcode \u2028",
        "null",
    )
    playbook = Playbook("a", tuple(PlaybookStep("type", text=text) for text in texts))
    assert read_playbook(write_playbook(playbook)) == playbook


def test_only_what_differs_from_the_defaults_is_written() -> None:
    one = PlaybookStep(
        "click", "Save", Target("button", "Save", point=(3, 4)), wait=StepWait(quiet_ms=100)
    )
    assert write_playbook(Playbook("a", (one,))) == (
        "name: a\n"
        "version: 1\n"
        "screen: {width: 1280, height: 720}\n"
        "steps:\n"
        "  - intent: Save\n"
        "    action: click\n"
        "    target: {role: button, name: Save, point: [3, 4]}\n"
        "    wait: {quiet_ms: 100}\n"
    )


def test_a_step_is_written_for_people() -> None:
    assert write_step(PlaybookStep("key", keys="ctrl+s")) == "- action: key\n  keys: ctrl+s\n"


def test_a_target_is_written_on_one_line() -> None:
    target = Target("button", "Save " * 40, point=(3, 4))
    assert write_target(target) == f"{{role: button, name: '{'Save ' * 40}', point: [3, 4]}}"
