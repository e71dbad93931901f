import pytest

from deskhand.desktop.tool_calls.errors import CallRefused, MalformedCall
from deskhand.desktop.tool_calls.generations import MOST_CHATS, Generations, generation_of


def test_a_request_without_a_generation_is_not_fenced() -> None:
    assert generation_of({}) == generation_of({"deskhand-generation": " "}) == 0
    generations = Generations({"a": 7})
    generations.admit("a", 0)
    generations.admit("a", 7)


@pytest.mark.parametrize("prefix", ["deskhand", "coder"])
def test_the_generation_is_a_header(prefix: str) -> None:
    assert generation_of({f"{prefix}-generation": "12"}) == 12


@pytest.mark.parametrize("text", ["-1", "1.5", "x", "٣", "9" * 19])
def test_another_text_is_malformed(text: str) -> None:
    with pytest.raises(MalformedCall, match="whole number"):
        generation_of({"deskhand-generation": text})


def test_a_lower_generation_than_the_highest_of_the_chat_is_refused() -> None:
    generations = Generations()
    generations.admit("a", 3)
    generations.admit("b", 1)
    with pytest.raises(CallRefused) as caught:
        generations.admit("a", 2)
    assert caught.value.code == "stale_driver"
    assert "generation 2, and the chat is at 3" in str(caught.value)
    generations.admit("a", 3)
    generations.admit("a", 4)
    with pytest.raises(CallRefused):
        generations.admit("a", 3)


def test_the_highest_of_all_journals_counts() -> None:
    generations = Generations({"a": 2, "b": 5}, {"a": 4})
    for chat, highest in (("a", 4), ("b", 5)):
        generations.admit(chat, highest)
        with pytest.raises(CallRefused):
            generations.admit(chat, highest - 1)


def test_the_chat_that_was_not_heard_of_for_longest_is_forgotten_first() -> None:
    generations = Generations()
    generations.admit("old", 9)
    generations.admit("used", 9)
    for number in range(MOST_CHATS - 2):
        generations.admit(f"{number}", 1)
    generations.admit("used", 9)
    generations.admit("new", 1)
    generations.admit("old", 1)
    with pytest.raises(CallRefused):
        generations.admit("used", 8)
