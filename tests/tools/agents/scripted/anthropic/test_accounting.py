from typing import Any

import pytest

from deskhand.tools.agents.scripted.anthropic.accounting import account, marked
from deskhand.tools.agents.scripted.anthropic.protocol import read_request
from deskhand.tools.agents.scripted.script.prompt_cache import CacheEntries, InputTokens
from deskhand.tools.agents.scripted.script.request import InvalidRequest, Measured

Json = dict[str, Any]
MARK = {"cache_control": {"type": "ephemeral"}}
PICTURE = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
WINDOW = 1_000_000
"""Tokens of the context window of claude-opus-5-5."""


def text(words: str, **more: Any) -> Json:
    return {"type": "text", "text": words, **more}


def counted(*messages: list[Json], cache: CacheEntries, model: str = "m", **more: Any) -> Any:
    roles = ("user", "assistant")
    body = {
        "model": model,
        "max_tokens": 9,
        "messages": [{"role": roles[n % 2], "content": one} for n, one in enumerate(messages)],
        **more,
    }
    request = read_request(body, lambda _: Measured("image/png", 1280, 720))
    return account(request, cache)


def test_texts_and_pictures_are_counted() -> None:
    picture = {"type": "image", "source": PICTURE}
    got = counted([text("x" * 400), picture], cache=CacheEntries())
    # The source names its type and its media type.
    assert got == InputTokens(100 + 3 + 1229)


def test_the_end_of_a_request_is_read_by_the_next_although_its_mark_moved() -> None:
    cache, long = CacheEntries(), "x" * 8000
    assert counted([text(long, **MARK)], cache=cache) == InputTokens(0, 0, 2000)
    messages = [text(long)], [text("y" * 40)], [text("z" * 400, **MARK)]
    assert counted(*messages, cache=cache) == InputTokens(0, 2000, 110)
    assert counted(*messages, cache=cache, model="other").read == 0


def test_system_and_tools_come_first() -> None:
    cache = CacheEntries()
    tools = [{"name": "run", "description": "d" * 4000, "input_schema": {"type": "object"}}]
    for system in ([text("s" * 400, **MARK)], "s" * 400):
        got = counted([text("x" * 40)], cache=cache, system=system, tools=tools)
        assert got.total == 1000 + 1 + 100 + 10
    got = counted([text("y")], cache=cache, system=[text("s" * 400, **MARK)], tools=tools)
    assert (got.read, got.plain) == (1101, 1)


def test_a_mark_within_a_result_is_one_of_its_block() -> None:
    assert marked({"type": "tool_result", "content": [text("x", **MARK)]})
    assert not marked({"type": "tool_result", "content": "words"})


def test_pictures_in_results_are_counted() -> None:
    call = {"type": "tool_use", "id": "a", "name": "run", "input": {}}
    result = {
        "type": "tool_result",
        "tool_use_id": "a",
        "content": [{"type": "image", "source": PICTURE}],
    }
    tools = [{"name": "run", "input_schema": {"type": "object"}}]
    got = counted([text("x" * 4)], [call], [result], cache=CacheEntries(), tools=tools)
    assert got.plain == 1 + 1 + 1 + 3 + 1229


def test_a_request_beyond_the_window_is_refused_as_by_the_provider() -> None:
    cache = CacheEntries()
    fits = [text("x" * 4 * WINDOW)]
    assert counted(fits, cache=cache, model="claude-opus-5-5").plain == WINDOW
    with pytest.raises(InvalidRequest, match="prompt is too long: 1000001 tokens > 1000000 max"):
        counted([*fits, text("y")], cache=cache, model="claude-opus-5-5")
