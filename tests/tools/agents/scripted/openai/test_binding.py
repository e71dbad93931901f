from typing import Any

from deskhand.tools.agents.scripted.openai.binding import Prefix, removed
from deskhand.tools.agents.scripted.openai.protocol import read_request
from deskhand.tools.agents.scripted.script.picture_header import measure
from deskhand.tools.agents.scripted.script.request import Request

from .bodies import GO, REASONING, SAID, body

Json = dict[str, Any]


def request(*items: Json, model: str = "m") -> Request:
    return read_request({**body(*items), "model": model}, measure)


def sealed(*before: Json) -> Json:
    prefix = Prefix(request(*before))
    prefix.extend(before)
    return {**REASONING, "encrypted_content": prefix.seal}


def test_reasoning_fits_the_prefix_that_it_was_made_for() -> None:
    one = sealed(GO)
    marked = {
        **GO,
        "content": [{**GO["content"][0], "prompt_cache_breakpoint": {"mode": "explicit"}}],
    }
    for first in (GO, {**GO, "id": "msg_1"}, marked):
        assert list(removed(request(first, one, SAID, GO))) == []


def test_reasoning_after_another_prefix_or_of_another_model_is_removed() -> None:
    one = sealed(GO)
    other = {**GO, "content": "Went."}
    entry = {"type": "reasoning", "id": "rs", "action": "removed"}
    assert list(removed(request(other, one, SAID, GO))) == [{**entry, "reason": "prefix_mismatch"}]
    assert list(removed(request(GO, one, SAID, GO, model="n"))) == [
        {**entry, "reason": "model_mismatch"}
    ]
