import pytest

from deskhand.tools.recovery.states import (
    OWNERLESS_SECONDS,
    Action,
    LeftState,
    after,
    next_action,
)


def test_an_owned_recording_goes_through_all_states() -> None:
    seen = [LeftState.LEFT]
    while (action := next_action(seen[-1], owned=True, age=0.0)) is not Action.NOTHING:
        seen.append(after(action, succeeded=True))
    assert seen == ["left", "copied", "verified", "stored", "removed"]


def test_a_copy_that_differs_is_made_again() -> None:
    assert after(Action.VERIFY, succeeded=False) is LeftState.LEFT


@pytest.mark.parametrize("action", [Action.COPY, Action.STORE])
def test_what_cannot_be_stored_is_removed(action: Action) -> None:
    assert after(action, succeeded=False) is LeftState.REMOVED


@pytest.mark.parametrize("state", ["left", "copied", "verified"])
def test_a_recording_without_owner_is_removed_after_a_day(state: str) -> None:
    early = next_action(LeftState(state), owned=False, age=OWNERLESS_SECONDS - 1)
    late = next_action(LeftState(state), owned=False, age=OWNERLESS_SECONDS)
    assert (early, late) == (Action.NOTHING, Action.REMOVE)


def test_a_stored_recording_is_removed_even_if_its_chat_is_deleted_now() -> None:
    assert next_action(LeftState.STORED, owned=False, age=0.0) is Action.REMOVE
