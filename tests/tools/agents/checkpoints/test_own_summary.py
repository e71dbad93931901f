from deskhand.tools.agents.checkpoints.own_summary import (
    LONGEST_TEXT,
    MOST_REPLIES,
    digest,
    summary_message,
)
from deskhand.tools.conversation.conversation import Message, Text, Thinking, ToolCall


def test_a_summary_is_a_message_of_the_user() -> None:
    message = summary_message("All done.")
    (block,) = message.content
    assert message.role == "user"
    assert isinstance(block, Text)
    assert block.text.endswith("All done.")


def test_a_digest_has_all_wishes_and_the_newest_words_and_calls() -> None:
    said = [Message("assistant", (Text(f"Word {n}."),)) for n in range(MOST_REPLIES)]
    call = ToolCall("c", "execute", {"command": "ls"})
    history = [
        Message("user", (Text("First wish."),)),
        *said,
        Message("assistant", (Thinking({}), call)),
        Message("user", (Text("x" * LONGEST_TEXT + "y"),)),
    ]
    made = digest(history)
    assert "First wish." in made
    assert "Called execute {'command': 'ls'}" in made
    assert "Word 1." in made
    assert "Word 0." not in made
    assert "x [\u2026]" in made
    assert "xy" not in made
