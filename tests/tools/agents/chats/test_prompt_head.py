import json

from deskhand.tools.agents.chats.prompt_head import PromptHead, head_from_json
from deskhand.tools.kit.support.spec import ToolSpec
from deskhand.tools.kit.support.untrusted import EXPLANATION


def test_a_head_is_read_back_as_it_was_written() -> None:
    schema = {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "integer"}}}
    head = PromptHead("Be good.", (ToolSpec("execute", "Runs ä.", schema),))
    read = head_from_json(json.loads(json.dumps(head.to_json())))
    assert read == head
    assert list(read.tools[0].schema["properties"]) == ["b", "a"]


def test_a_head_of_an_earlier_version_explains_no_marks() -> None:
    assert not PromptHead("Be good.", ()).explained_marks
    assert "agent" in PromptHead(f"Be good. {EXPLANATION}", ()).explained_marks
