import pytest

from deskhand.desktop.files.editing.hints import hints, miscount
from deskhand.desktop.files.editing.line_endings import lines_of


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
    assert "12 at line 5 and 3 more." in said(text, "x==\n")
    assert "13 at" not in said(text, "x==\n")


def test_many_miscounts_are_shortened() -> None:
    text = "".join(f"{letter}-----\n" for letter in "abcde")
    old = "".join(f"{letter}--\n" for letter in "abcde")
    assert said(text, old).endswith("So it is with these and 2 more.")


def test_a_miscount_keeps_from_swapping() -> None:
    hint = said("a====\nnew text\n", "a==\n", "new text\n")
    assert "the file has 4 at line 1." in hint
    assert "swap" not in hint


def test_swapped_texts_are_found_with_patience() -> None:
    assert "appears at line 2" in said("a\nnew text  \n", "absent", "new text\n")
    assert "appears at line 2" in said("a\n   new text\n", "absent", "new text\n")
    assert "appears" not in said("a\n", "absent", "\n")


def test_the_closest_line_is_named() -> None:
    hint = said("a\n  def run(self):\n", "def run(slf):")
    assert hint == "Closest match: line 2, 'def run(self):'."


@pytest.mark.parametrize(
    ("text", "old", "hint"),
    [
        (
            "x\na\nb\nc\n",
            "a\nb\nz\n",
            "line 2 on, 2 of 3 lines are the same; line 4 is 'c', not 'z'.",
        ),
        ("a\nb\na\nc\n", "a\nc\nd\n", "line 3 on, 2 of 3 lines are the same; the file ends there."),
        ("a\nb\na\nb\n", "z\nb\n", "line 1 on, 1 of 2 lines are the same; line 1 is 'a', not 'z'."),
        ("a\r\nb\r\n", "a\nb\n", "line 1 on, 2 of 2 lines are the same; look at the line endings."),
    ],
)
def test_of_several_lines_the_closest_place_is_named(text: str, old: str, hint: str) -> None:
    assert said(text, old) == f"Closest match: from {hint}"


def test_it_says_when_nothing_is_similar() -> None:
    nothing = "None of its lines was found in the file."
    assert said("a\nb\n", "something else") == nothing
    assert said("", " \n") == nothing
    assert said("a\n\n", "something\n\nelse\n") == nothing
