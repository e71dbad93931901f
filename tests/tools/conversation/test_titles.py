import pytest

from deskhand.tools.conversation.titles import chat_title, step_title, withheld


@pytest.mark.parametrize(
    ("title", "prompt", "expected"),
    [
        (None, None, "New Chat"),
        ("  ", " \n ", "New Chat"),
        (" Mine ", "something else", "Mine"),
        ("", "one two three four five six", "one two three four five six"),
        (None, "one  two\nthree four five six seven", "one two three four five six..."),
        ("x" * 100, None, "x" * 80),
        (None, "日本語" * 40, ("日本語" * 40)[:80]),
    ],
)
def test_a_chat_is_titled_as_requested_or_by_its_first_words(
    title: str | None, prompt: str | None, expected: str
) -> None:
    assert chat_title(title, prompt) == expected


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("execute", {"command": "ls\n  -la"}, "execute: ls -la"),
        ("screenshot", {}, "screenshot"),
        ("left_click", {"coordinate": [3, 4]}, "left_click: 3, 4"),
        ("type", {"text": "Ada\n"}, "type: Ada"),
        ("spawn", {"prompt": "p", "title": "t"}, "spawn: t"),
        ("read_file", {"path": " ", "offset": 3}, "read_file"),
        ("request_human", {"reason": "Sign in."}, "request_human: Sign in."),
        ("execute", {"command": "y" * 100}, "execute: " + "y" * 70 + "…"),
        ("execute", {"command": "y" * 71}, "execute: " + "y" * 71),
    ],
)
def test_a_step_is_titled_by_its_most_specific_argument(
    tool: str, arguments: dict[str, object], expected: str
) -> None:
    assert step_title(tool, arguments) == expected


@pytest.mark.parametrize(
    ("action", "arguments", "expected"),
    [
        ("type", {"text": "hunter2", "x": 1}, {"text": "7 characters", "x": 1}),
        ("type", {"text": "h"}, {"text": "1 character"}),
        ("type", {"text": 7}, {"text": 7}),
        ("key", {"text": "Return"}, {"text": "Return"}),
        ("left_click", {"coordinate": [1, 2]}, {"coordinate": [1, 2]}),
    ],
)
def test_only_the_length_of_a_typed_text_is_published_before_its_field_is_known(
    action: str, arguments: dict[str, object], expected: dict[str, object]
) -> None:
    assert withheld(action, arguments) == expected
