from typing import Any

import pytest

from deskhand.tools.agents.scripted.openai.accounting import account, accounted
from deskhand.tools.agents.scripted.openai.protocol import read_request
from deskhand.tools.agents.scripted.script.picture_header import measure
from deskhand.tools.agents.scripted.script.prompt_cache import CacheEntries, InputTokens, PrefixEnd
from deskhand.tools.agents.scripted.script.request import InvalidRequest, Request

from .bodies import COMPUTER, COMPUTER_OUTPUT, FUNCTION, FUNCTION_OUTPUT, body

Json = dict[str, Any]
EXPLICIT = {"mode": "explicit"}


def said(words: str, *, marked: bool = False) -> Json:
    part: Json = {"type": "input_text", "text": words}
    if marked:
        part["prompt_cache_breakpoint"] = {"mode": "explicit"}
    return {"type": "message", "role": "user", "content": [part]}


def request(*items: Json, model: str = "m", explicit: bool = True) -> Request:
    options = {"prompt_cache_options": EXPLICIT} if explicit else {}
    return read_request({**body(*items, **options), "model": model, "tools": []}, measure)


def test_a_prefix_is_written_at_a_breakpoint_and_found_without_the_breakpoint_of_others() -> None:
    entries = CacheEntries()
    long = said("x" * 8000, marked=True)
    first = account(request(long), entries)
    assert first == InputTokens(0, 0, 2000)
    second = account(request(long, said("y" * 80, marked=True)), entries)
    assert second == InputTokens(0, 2000, 20)
    # Another model has a cache of its own.
    assert account(request(long, model="other"), entries).read == 0


def test_only_breakpoints_count_in_the_explicit_mode_and_the_end_too_in_the_other() -> None:
    entries = CacheEntries()
    plain = said("x" * 8000)
    assert account(request(plain), entries) == InputTokens(2000)
    assert account(request(plain, explicit=False), entries) == InputTokens(0, 0, 2000)
    assert account(request(plain, explicit=False), entries) == InputTokens(0, 2000, 0)


def test_a_short_prefix_is_not_written() -> None:
    assert account(request(said("x" * 400, marked=True)), CacheEntries()) == InputTokens(100)


def test_the_newest_four_are_written_and_the_newest_eighty_are_found() -> None:
    ends = [PrefixEnd(bytes([i]), 2000 + i, True) for i in range(90)]
    entries = CacheEntries()
    accounted(ends[:6], entries, explicit=True)
    assert [bytes([i]) in entries for i in range(6)] == [False, False, True, True, True, True]
    entries = CacheEntries()
    entries.add(ends[5].digest)
    assert accounted(ends[:85], entries, explicit=True).read == 2005
    entries = CacheEntries()
    entries.add(ends[5].digest)
    assert accounted(ends[:86], entries, explicit=True).read == 0


def test_pictures_and_calls_have_tokens() -> None:
    items = said("Go."), FUNCTION, FUNCTION_OUTPUT, COMPUTER, COMPUTER_OUTPUT, said("On.")
    whole = read_request(body(*items), measure)
    assert account(whole, CacheEntries()).total > 5


def test_a_request_above_the_window_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="context_length_exceeded: 8200 tokens > 8192"):
        account(request(said("x" * 32800), model="computer-use-preview"), CacheEntries())
