from deskhand.desktop.mcp.advice import instructions, prompt
from deskhand.desktop.mcp.tool import GROUPS

LONGEST = 1_500
"""One host cuts instructions at 2 KB."""


def test_all_instructions_together_keep_the_limit() -> None:
    text = instructions(GROUPS, chats=True)
    assert len(text) <= LONGEST
    assert "argument chat" in text


def test_only_offered_groups_are_explained() -> None:
    text = instructions(("shell",))
    assert "execute" in text
    assert "computer_look" not in text
    assert "argument chat" not in text


def test_the_prompt_has_the_task() -> None:
    assert prompt(" Buy milk. ").startswith("Do this on the desktop: Buy milk.\n")
    assert "report what is there" in prompt(" ")
