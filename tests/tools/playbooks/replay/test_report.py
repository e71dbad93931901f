from deskhand.tools.playbooks.playbook import Check, Playbook, PlaybookStep
from deskhand.tools.playbooks.replay.report import finished, not_found, step_name, stopped, unmet

STEP = PlaybookStep("key", "Save the order", keys="ctrl+s")
PLAYBOOK = Playbook("order", (STEP, STEP), (Check("saved"),))


def test_a_step_is_named_by_number_action_and_intent() -> None:
    assert step_name(0, STEP) == "Step 1, key (Save the order)"
    assert step_name(1, PlaybookStep("key")) == "Step 2, key"
    assert step_name(-1, None) == "The start"


def test_a_mismatch_says_what_was_searched_and_seen() -> None:
    assert not_found("Step 1, click", 'button "Save"', 'button "Store"', ambiguous=False) == (
        "Step 1, click: the target is not on the screen."
        ' Searched for: button "Save". Seen: button "Store".'
    )
    assert "the target is ambiguous" in not_found("Step 1", "a", "b", ambiguous=True)


def test_unmet_conditions_are_reported_with_what_was_there() -> None:
    assert unmet("Check 1", ("text",), {"texts": ["Å"]}) == (
        'Check 1: not met in time: text. Seen: {"texts": ["Å"]}.'
    )


def test_a_report_counts_steps_and_checks() -> None:
    assert finished(PLAYBOOK) == "The replay of order performed 2 steps and passed 1 checks."
    assert finished(Playbook("order", (STEP,))) == "The replay of order performed 1 steps."
    assert stopped(PLAYBOOK, "Step 2: no.", 1) == (
        "The replay of order stopped after 1 of 2 steps. Step 2: no."
    )
