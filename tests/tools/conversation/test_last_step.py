from deskhand.tools.conversation.last_step import LONGEST, last_step


def test_arguments_that_a_line_can_name_are_kept() -> None:
    arguments = {
        "coordinate": [3, 4.5],
        "text": "a" * (LONGEST + 1),
        "clear": True,
        "edits": [{"old": "a"}],
        "path": [1, 2, 3, 4, 5],
        "where": {"a": 1},
        "none": None,
    }
    assert last_step("computer", "left_click", "left_click: 3, 4.5", arguments) == {
        "tool": "computer",
        "action": "left_click",
        "title": "left_click: 3, 4.5",
        "arguments": {"coordinate": [3, 4.5], "text": "a" * LONGEST, "clear": True},
    }
