from deskhand.desktop.freeze.keyboard_guard import SETTLED, Grab, KeyboardGuard

FREE: tuple[Grab, ...] = ("none",)


def after(*found: Grab, guard: KeyboardGuard | None = None) -> KeyboardGuard:
    guard = guard or KeyboardGuard()
    for one in found:
        guard.checked(one)
    return guard


def test_keys_wait_for_the_first_check_without_a_grab() -> None:
    assert not KeyboardGuard().open
    assert not after("grabbed").open
    assert not after("unknown").open
    assert after("grabbed", "unknown", "none").open


def test_what_cannot_be_told_counts_as_grabbed() -> None:
    guard = after(*FREE * SETTLED)
    assert guard.settled
    assert not after("unknown", guard=guard).open
    # What a grab of the server delayed is processed now.
    assert not after("grabbed", guard=guard).open
    assert after("none", guard=guard).open


def test_a_grab_after_all_requests_of_stopped_programs_is_one_of_the_persons_own_menu() -> None:
    soon = after(*FREE * (SETTLED - 1), "grabbed")
    assert not soon.open
    later = after("none", "grabbed", "grabbed", guard=soon)
    assert later.open


def test_a_program_that_is_stopped_later_may_have_grabbed_the_keyboard() -> None:
    guard = after(*FREE * SETTLED)
    guard.stopped_more()
    assert guard.open
    assert not after("grabbed", guard=guard).open
