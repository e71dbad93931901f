from typing import Any

import pytest

from deskhand.tools.agents.scripted.openai.compaction import compacted, read_compaction
from deskhand.tools.agents.scripted.script.player import PlayedTurn
from deskhand.tools.agents.scripted.script.request import InvalidRequest, Request

Json = dict[str, Any]

ASKED = {"type": "message", "role": "user", "content": "Go."}
SAID = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "Yes.", "annotations": []}],
}
TURN = PlayedTurn(({"type": "compaction", "content": "All.", "signature": ""},), "compaction", 0)


def read(**more: object) -> Request:
    return read_compaction({"model": "m", "input": [ASKED, SAID], **more}, lambda _: None)


def test_an_answer_has_the_messages_of_the_user_and_one_item() -> None:
    request = read(instructions="Be good.")
    answer = compacted(TURN, request, "1")
    item = {"type": "compaction", "id": "cmp_1", "encrypted_content": "All."}
    assert answer["output"] == [ASKED, item]
    assert answer["object"] == "response.compaction"
    assert request.summarize
    again = {"model": "m", "input": [*answer["output"], {**ASKED, "content": "Go on."}]}
    assert len(read_compaction(again, lambda _: None).messages) == 3


def test_other_parameters_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="tools"):
        read(tools=[])
    with pytest.raises(InvalidRequest, match="request"):
        read_compaction([], lambda _: None)
