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
