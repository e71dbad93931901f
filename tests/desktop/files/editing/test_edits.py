import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.files.editing.edits import Edit, edited
from deskhand.desktop.files.errors import EditError

texts = st.text(alphabet="ab \t\r\n", max_size=30)


def one(text: str, old: str, new: str, everywhere: bool = False) -> str:
    return edited(text, [Edit(old, new, everywhere, "edits[3]")], "/f")


def test_edits_apply_one_after_the_other() -> None:
    assert edited("one\n", [Edit("one", "two"), Edit("two", "three")], "/f") == "three\n"


def test_everything_else_stays_byte_for_byte() -> None:
    assert one("a \r\nb\n\tc", "b", "B") == "a \r\nB\n\tc"


@pytest.mark.parametrize(
    ("old", "said"),
    [
        ("", "must not be empty"),
        ("zzz", "not found"),
        ("a", r"matches 6 occurrences \(line 1, 2, 3, 4, 5, \.\.\.\)"),
    ],
)
def test_a_refusal_names_the_edit_and_the_path(old: str, said: str) -> None:
    with pytest.raises(EditError, match=said) as refused:
        one("a\n" * 6, old, "b")
    assert str(refused.value).startswith("edits[3] of /f: ")


def test_ambiguity_names_all_of_a_few_lines() -> None:
    with pytest.raises(EditError, match=r"\(line 1, 3\)"):
        one("\ta\nb\n\ta\n", "  a\n", "c\n")


def test_everywhere_reaches_patient_matches_too() -> None:
    assert one("\ta\nb\n\ta\n", "  a\n", "  c\n", everywhere=True) == "\tc\nb\n\tc\n"


def test_a_wish_to_convert_endings_is_taken_literally() -> None:
    assert one("x\r\ny\r\n", "x\r\n", "X\n") == "X\ny\r\n"
    with pytest.raises(EditError):
        one("x\ny\n", "x\r\n", "X\n")


def test_mixed_endings_of_a_replacement_are_kept() -> None:
    assert one("x", "x", "a\r\nb\nc") == "a\r\nb\nc"


@pytest.mark.parametrize(
    ("text", "old", "new", "after"),
    [
        # A kept line keeps its ending.
        ("a\r\nb\nc\r\nd\r\n", "a\nb\nc\n", "a\nB\nc\n", "a\r\nB\nc\r\nd\r\n"),
        ("a\nb\r\nc\nd\n", "a\r\nb\r\nc\r\n", "a\r\nb\r\nC\r\n", "a\nb\r\nC\nd\n"),
        ("a\r\nb\nc\r\n", "a\nb\nc\n", "a\nc\n", "a\r\nc\r\n"),
        # Inside of a change, too.
        (
            "1\nb\r\nc\n2\r\n3\n",
            "1\nb\nc\n2\n",
            "one\nx\nb\nc\ntwo\n",
            "one\nx\nb\r\nc\ntwo\r\n3\n",
        ),
        # A new line has the ending of the line that it replaces, or of the line before it.
        ("a\r\nb\r\nc\nd\r\n", "c", "c\nx", "a\r\nb\r\nc\nx\nd\r\n"),
        ("a\nb\nc\r\nd\n", "c\n", "C\nx\n", "a\nb\nC\r\nx\r\nd\n"),
        ("a\nb\nc\r\nd", "d", "d\nx", "a\nb\nc\r\nd\r\nx"),
        ("a\r\nb\nc\n", "b\nc\n", "x\nb\nc\n", "a\r\nx\nb\nc\n"),
        # After a tolerant match.
        (
            "\ta\r\n\tb\n\tc\r\n",
            "  a\n  b\n  c\n",
            "  a\n  x\n  b\n  c\n",
            "\ta\r\n\tx\r\n\tb\n\tc\r\n",
        ),
        ("z\n\ta\r\n\tb\nc\n", "  a\n  b\n", "  x\n  a\n  b\n", "z\n\tx\r\n\ta\r\n\tb\nc\n"),
    ],
)
def test_each_line_of_mixed_endings_keeps_its_own(
    text: str, old: str, new: str, after: str
) -> None:
    assert one(text, old, new) == after


@given(
    st.lists(st.sampled_from(["a", "b", "c", "\td", ""]), min_size=1, max_size=8),
    st.lists(st.sampled_from(["\n", "\r\n"]), min_size=8, max_size=8),
    st.integers(0, 8),
)
def test_an_insertion_changes_no_other_ending(
    lines: list[str], ends: list[str], place: int
) -> None:
    ended = [line + end for line, end in zip(lines, ends, strict=False)]
    place = min(place, len(lines))
    old = "".join(f"{line}\n" for line in lines)
    new = "".join(f"{line}\n" for line in [*lines[:place], "NEW", *lines[place:]])
    after = one("".join(ended), old, new).split("NEW")
    assert after[0] == "".join(ended[:place])
    assert after[1] in [end + "".join(ended[place:]) for end in ends]


@pytest.mark.parametrize("everywhere", [False, True])
def test_each_place_has_its_own_endings(everywhere: bool) -> None:
    text = "a\r\nb\r\n-\na\nb\n" if everywhere else "-\na\r\nb\r\n-\n"
    assert one(text, "a\nb", "a\nx\nb", everywhere) == text.replace("a\r\n", "a\r\nx\r\n").replace(
        "a\n", "a\nx\n"
    )


@pytest.mark.parametrize(
    ("old", "new", "after"),
    [
        ("one\n", "ONE\n", "\ufeffONE\ntwo\n"),
        ("\ufeffone\n", "\ufeffONE\n", "\ufeffONE\ntwo\n"),
        ("\ufeffone\n", "ONE\n", "\ufeffONE\ntwo\n"),
        ("  one\n", "  zero\n  one\n", "\ufeffzero\none\ntwo\n"),
        ("one\ntwo\n", "", "\ufeff"),
    ],
)
def test_a_byte_order_mark_belongs_to_the_file(old: str, new: str, after: str) -> None:
    assert one("\ufeffone\ntwo\n", old, new) == after


def test_an_edit_of_the_byte_order_mark_alone_is_refused() -> None:
    with pytest.raises(EditError, match="must not be empty"):
        one("\ufeffone\n", "\ufeff", "")
    assert one("a\ufeffb", "\ufeff", "") == "ab"


def test_typographic_punctuation_of_the_file_is_found_and_kept_elsewhere() -> None:
    text = "say \u201chi\u201d\nand \u201cbye\u201d\n"
    assert (
        one(text, 'say "hi"\nand "bye"\n', 'say "hi"\nand bye\n') == "say \u201chi\u201d\nand bye\n"
    )


@given(texts, texts, texts)
def test_an_exact_single_match_is_replaced_as_by_hand(before: str, old: str, after: str) -> None:
    old = f"<{old}>".replace("\r", "")
    text = (before + old + after).replace("\r", "")
    assert one(text, old, "NEW") == text.replace(old, "NEW")


@given(texts, texts)
def test_an_edit_that_changes_nothing_changes_nothing(before: str, after: str) -> None:
    text = f"{before}<here>{after}"
    assert one(text, "<here>", "<here>") == text


@given(st.lists(st.sampled_from(["a", "b", "  c", "\td", ""]), min_size=1, max_size=6))
def test_a_patient_match_of_a_whole_text_finds_it(lines: list[str]) -> None:
    text = "".join(f"\t{line}\n" for line in lines)
    old = "".join(f"{line} \n" for line in lines)
    if old.strip():
        assert one(text, old, old) == text
