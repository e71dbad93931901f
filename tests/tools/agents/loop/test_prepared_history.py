from hypothesis import given
from hypothesis import strategies as st

from deskhand.tools.agents.loop.prepared_history import PreparedHistory, prepared
from deskhand.tools.conversation.conversation import Message, Text
from tests.tools.agents.loop.test_history import messages, steps


@given(messages, st.integers(0, 30), st.sampled_from([None, 1, 3]))
def test_a_history_that_grows_is_prepared_as_if_at_once(
    messages: list[Message], first: int, keep: int | None
) -> None:
    growing = PreparedHistory()
    for end in {min(first, len(messages)), len(messages)}:
        part = tuple(messages[:end])
        assert growing.prepared(part, keep=keep) == prepared(part, keep=keep)


def test_what_was_prepared_stays_the_same_object_until_its_pictures_go() -> None:
    growing, all_steps = PreparedHistory(), steps(12)
    ten, eleven, twelve = (
        growing.prepared(all_steps[: len(steps(count))], keep=3) for count in (10, 11, 12)
    )
    assert [one is two for one, two in zip(ten, eleven, strict=False)].count(False) == 8
    assert all(one is two for one, two in zip(eleven, twelve, strict=False))


def test_a_changed_history_is_prepared_anew() -> None:
    growing = PreparedHistory()
    growing.prepared(steps(3), keep=None)
    other = (Message("user", (Text("Other."),)), *steps(1)[1:])
    assert growing.prepared(other, keep=None) == other
