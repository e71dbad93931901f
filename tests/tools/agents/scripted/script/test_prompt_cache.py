from deskhand.tools.agents.scripted.script.prompt_cache import (
    LEAST_TOKENS,
    LOOK_BACK,
    CacheEntries,
    InputTokens,
    PrefixEnd,
    accounted,
    picture_tokens,
    text_tokens,
)


def ends(count: int, *marks: int, each: int = 100) -> list[PrefixEnd]:
    return [PrefixEnd(bytes([n]), (n + 1) * each, n in marks) for n in range(count)]


def test_what_a_mark_writes_is_read_at_most_twenty_blocks_later() -> None:
    cache = CacheEntries()
    assert accounted(ends(20, 19), cache) == InputTokens(0, 0, 2000)
    near, far = 19 + LOOK_BACK - 1, 19 + LOOK_BACK
    assert accounted(ends(far + 2, near), cache) == InputTokens(200, 2000, 1900)
    forgotten = CacheEntries()
    accounted(ends(20, 19), forgotten)
    assert accounted(ends(far + 1, far), forgotten) == InputTokens(0, 0, 4000)


def test_a_request_does_not_read_its_own_entries() -> None:
    cache = CacheEntries()
    assert accounted(ends(20, 11, 19), cache) == InputTokens(0, 0, 2000)
    assert accounted(ends(20, 11), cache) == InputTokens(800, 1200, 0)


def test_short_prefixes_and_unmarked_ones_are_not_written() -> None:
    cache, short = CacheEntries(), LEAST_TOKENS // 100 - 1
    assert accounted(ends(10, short), cache) == InputTokens(1000)
    assert accounted(ends(20), cache) == InputTokens(2000)
    assert accounted(ends(20, short), cache).read == 0
    assert accounted([], cache).total == 0


def test_the_oldest_entries_are_forgotten() -> None:
    cache = CacheEntries(2)
    for name in (b"a", b"b", b"a", b"c"):
        cache.add(name)
    assert [name in cache for name in (b"a", b"b", b"c")] == [False, True, True]


def test_tokens_are_counted_from_texts_and_sizes() -> None:
    assert text_tokens({"text": "x" * 7, "data": "y" * 99, "n": 3, "l": ["ab", ("cd",)]}) == 3
    assert picture_tokens(1280, 720) == 1229
