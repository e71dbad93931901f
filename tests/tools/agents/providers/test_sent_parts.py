from deskhand.tools.agents.providers.sent_parts import SentParts, unchanged
from deskhand.tools.conversation.conversation import Message, Text


def message(text: str) -> Message:
    return Message("user", (Text(text),))


ONE, TWO, THREE = map(message, ("1", "2", "3"))


def test_parts_are_known_up_to_the_first_other_message() -> None:
    sent = SentParts()
    assert sent.known((ONE, TWO)) == []
    sent.add(ONE, "one")
    sent.add(TWO, "two")
    assert sent.known((ONE, TWO, THREE)) == ["one", "two"]
    assert sent.known((ONE, THREE)) == ["one"]
    # The rest was forgotten.
    assert sent.known((ONE, TWO)) == ["one"]


def test_an_equal_message_is_another_one() -> None:
    sent = SentParts()
    sent.add(ONE, "one")
    assert sent.known((message("1"),)) == []


def test_nothing_is_known_after_the_end_of_the_turn() -> None:
    sent = SentParts()
    sent.add(ONE, "one")
    sent.clear()
    assert sent.known((ONE,)) == []


def test_the_unchanged_beginning_is_counted() -> None:
    assert unchanged((ONE, TWO), (ONE, TWO, THREE)) == 2
    assert unchanged((ONE, TWO, THREE), (ONE,)) == 1
    assert unchanged((), (ONE,)) == 0
