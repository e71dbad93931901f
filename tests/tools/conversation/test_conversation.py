import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.tools.conversation.conversation import (
    Block,
    Compaction,
    Image,
    Message,
    SafetyCheck,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    message_from_json,
    message_to_json,
)

toolsets = st.sampled_from([None, "computer"])
texts = st.builds(Text, st.text())
pictures = st.builds(Image, st.text(), st.just("image/png"), st.integers(1), st.integers(1))
calls = st.builds(
    ToolCall,
    st.text(),
    st.text(),
    st.dictionaries(st.text(), st.one_of(st.integers(), st.text(), st.lists(st.integers()))),
    toolsets,
    st.lists(st.builds(SafetyCheck, st.text(), st.text(), st.text()), max_size=2).map(tuple),
    st.text(),
)
contents = st.lists(st.one_of(texts, pictures)).map(tuple)
results = st.builds(ToolResult, st.text(), contents, st.booleans(), toolsets, st.booleans())
thoughts = st.builds(Thinking, st.dictionaries(st.text(), st.text()))
summaries = st.builds(Compaction, st.dictionaries(st.text(), st.text()))
blocks: st.SearchStrategy[Block] = st.one_of(texts, pictures, calls, results, thoughts, summaries)
messages = st.builds(Message, st.sampled_from(["user", "assistant"]), st.lists(blocks).map(tuple))


@given(messages)
def test_a_message_comes_back_from_json_as_it_was(message: Message) -> None:
    written = json.dumps(message_to_json(message))
    assert message_from_json(json.loads(written)) == message


def test_a_block_of_an_unknown_type_is_an_error() -> None:
    with pytest.raises(ValueError, match="'song'"):
        message_from_json({"role": "user", "content": [{"type": "song"}]})


def test_a_block_without_checks_has_the_form_of_earlier_versions() -> None:
    blocks = (ToolCall("1", "click", {}), ToolResult("1", ()))
    first, second = message_to_json(Message("user", blocks))["content"]
    assert set(first) == {"type", "id", "name", "arguments", "toolset"}
    assert set(second) == {"type", "call_id", "content", "is_error", "toolset"}
