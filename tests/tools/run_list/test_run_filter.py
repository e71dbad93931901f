import pytest

from deskhand.tools.run_list.run_filter import pattern_of, words_of


def test_a_search_has_each_word_once_and_ten_at_most() -> None:
    assert words_of("  order \t lamps order ") == ("order", "lamps")
    assert words_of(" ".join(str(n) for n in range(12))) == tuple(str(n) for n in range(10))
    assert words_of(" \n") == ()


@pytest.mark.parametrize(
    ("word", "pattern"),
    [("lamp", "%lamp%"), ("100%", r"%100\%%"), ("a_b", r"%a\_b%"), ("c:\\d", r"%c:\\d%")],
)
def test_special_characters_of_like_stand_for_themselves(word: str, pattern: str) -> None:
    assert pattern_of(word) == pattern
