import pytest

from deskhand.desktop.files.editing.indentation import level_of, translated, unit_of
from deskhand.desktop.files.editing.line_endings import lines_of


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("", None),
        ("a\nb\n", None),
        ("\ta\n\t\tb", "\t"),
        ("    a\n      b", "  "),
        ("\ta\n    b", None),
        ("\t a", None),
        ("   \n    a", "    "),
    ],
)
def test_the_unit_is_what_all_indents_are_made_of(text: str, unit: str | None) -> None:
    assert unit_of(lines_of(text)) == unit


def test_levels() -> None:
    assert level_of("", "  ") == 0
    assert level_of("    ", "  ") == 2
    assert level_of("   ", "  ") is None
    assert level_of(" \t", "  ") is None


def test_a_lead_is_written_in_the_unit_of_the_file() -> None:
    assert translated("        ", "    ", "\t", "    ", "\t") == "\t\t"
    assert translated("", "    ", "\t\t", "    ", "\t") == "\t"


def test_what_cannot_be_told_is_not_translated() -> None:
    assert translated("  ", "", "", None, "\t") is None
    assert translated("  ", "", "", "  ", None) is None
    assert translated("   ", "", "", "  ", "\t") is None
    assert translated("", "    ", "\t", "  ", "\t") is None
