from typing import Any

import pytest

from deskhand.tools.agents.scripted.gemini.accounting import account
from deskhand.tools.agents.scripted.script.prompt_cache import CacheEntries
from deskhand.tools.agents.scripted.script.request import (
    InvalidRequest,
    Measured,
    Request,
    SeenPicture,
)

Json = dict[str, Any]
LONG = "word " * 4000
SEEN = SeenPicture(b"", Measured("image/png", 1280, 720))


def request(*texts: str, pictures: int = 0, model: str = "m") -> Request:
    picture: Json = {"inlineData": {"mimeType": "image/png", "data": "QQ=="}}
    contents: list[Json] = [{"role": "user", "parts": [{"text": text}]} for text in texts]
    contents[-1]["parts"] += [picture] * pictures
    seen = (SEEN,) * pictures
    return Request(model, True, (), frozenset(), True, seen, items=tuple(contents))


def test_a_later_request_reads_what_it_begins_with() -> None:
    entries = CacheEntries()
    first = account(request(LONG), entries)
    assert (first.plain, first.read, first.written) == (5000, 0, 0)
    second = account(request(LONG, "more"), entries)
    assert (second.plain, second.read) == (1, 5000)
    other = account(request("Other " + LONG), entries)
    assert other.read == 0


def test_a_short_prefix_is_no_entry() -> None:
    entries = CacheEntries()
    assert account(request("Go."), entries) == account(request("Go."), entries)


def test_pictures_count() -> None:
    assert account(request("Go.", pictures=2), CacheEntries()).plain == 1 + 2 * 1229


def test_a_text_that_looks_like_a_picture_is_none() -> None:
    text = '"inlineData": {'
    assert account(request(text), CacheEntries()).plain == 4


def test_a_request_beyond_the_window_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="input token count"):
        account(request(LONG * 220, model="gemini-3.5-flash"), CacheEntries())
