import pytest

from tools.files.endings import lines_of
from tools.files.hints import hints, miscount


def said(text: str, old: str, new: str = "unused\n") -> str:
    return hints(text, lines_of(text), lines_of(old), new)


@pytest.mark.parametrize(
    ("wanted", "actual", "difference"),
    [
        ("a==b", "a====b", ("=", 2, 4)),
        ("a====b", "a==b", ("=", 4, 2)),
        ("", "--", ("-", 0, 2)),
        ("ab", "a", None),
        ("same", "same", None),
        ("a==b", "c==b", None),
        ("a==b", "a==b!!", ("!", 0, 2)),
        ("a", "abc", None),
    ],
)
def test_a_miscount_is_one_run_of_another_length(
    wanted: str, actual: str, difference: tuple[str, int, int] | None
) -> None:
    assert miscount(wanted, actual) == difference


def test_many_places_are_shortened() -> None:
    text = "".join(f"x{'=' * number}\n" for number in range(8, 16))
    assert "and" not in said(text, "x==\n").split("13 at")[0]
    assert "12 at line 5." in said(text, "x==\n")


def test_many_miscounts_are_shortened() -> None:
    text = "".join(f"{letter}-----\n" for letter in "abcde")
    old = "".join(f"{letter}--\n" for letter in "abcde")
    assert said(text, old).endswith("And 2 more such lines.")


def test_the_miscount_comes_before_the_swap() -> None:
    hint = said("a====\nnew text\n", "a==\n", "new text\n")
    assert hint.index("the file has") < hint.index("appears at line 2")


def test_swapped_texts_are_found_with_patience() -> None:
    assert "appears at line 2" in said("a\nnew text  \n", "absent", "new text\n")
    assert "appears at line 2" in said("a\n   new text\n", "absent", "new text\n")
    assert "appears" not in said("a\n", "absent", "\n")


def test_the_closest_line_is_named() -> None:
    assert "closest is line 2: 'def run(self):'" in said("a\n  def run(self):\n", "def run(slf):")


def test_it_says_when_nothing_is_similar() -> None:
    assert said("a\nb\n", "something else") == "No line is similar to it."
    assert said("", " \n") == "No line is similar to it."
