from dataclasses import replace

from deskhand.tools.agents.providers.append_only import first_change
from deskhand.tools.agents.providers.port import Prompt
from deskhand.tools.conversation.conversation import Message, Text
from deskhand.tools.kit.support.spec import ToolSpec

GO = Message("user", (Text("Go."),))
YES = Message("assistant", (Text("Yes."),))
SPEC = ToolSpec("execute", "Runs.", {"type": "object"})
BEFORE = Prompt("Be good.", (GO, YES), (SPEC,), True, "m")


def test_new_messages_at_the_end_continue_a_prompt() -> None:
    assert first_change(BEFORE, BEFORE) is None
    assert first_change(BEFORE, replace(BEFORE, messages=(GO, YES, GO))) is None


def test_a_message_may_grow_at_its_end() -> None:
    grown = Message("assistant", (*YES.content, Text("And no.")))
    assert first_change(BEFORE, replace(BEFORE, messages=(GO, grown))) is None


def test_the_first_difference_is_named() -> None:
    other = ToolSpec("type_secret", "Types.", {"type": "object"})
    assert first_change(BEFORE, replace(BEFORE, system="Be quick.")) == "system"
    assert first_change(BEFORE, replace(BEFORE, tools=(SPEC, other))) == "tools"
    assert first_change(BEFORE, replace(BEFORE, computer=False)) == "tools"
    changed = replace(BEFORE, messages=(GO, Message("assistant", (Text("No."),))))
    assert first_change(BEFORE, changed) == "block 1 of the messages"
    assert first_change(BEFORE, replace(BEFORE, messages=(GO,))) == "block 1 of the messages"
    moved = replace(BEFORE, messages=(GO, Message("user", YES.content)))
    assert first_change(BEFORE, moved) == "block 1 of the messages"
