import pytest

from deskhand.tools.commands.output.table import (
    Column,
    cells,
    harmless,
    printable,
    shortened,
    table,
)

COLUMNS = (
    Column("ID"),
    Column("STEPS", optional=1, right=True),
    Column("MODEL", optional=2),
    Column("TITLE", flexible=True),
)
ID = "0b8b6f3c-9d0a-4b62-8c63-5c1f6c0e7d11"
ROWS = [[ID, "7", "scripted:tour", "Open the settings of the editor and choose another font"]]


@pytest.mark.parametrize("width", [60, 80, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert all(cells(line) <= width for line in table(COLUMNS, ROWS, width))


def test_a_narrow_table_leaves_out_what_is_optional_and_keeps_ids() -> None:
    assert table(COLUMNS, ROWS, 60) == [
        "ID                                    STEPS  TITLE",
        f"{ID}      7  Open the setti…",
    ]


def test_a_wide_table_has_everything() -> None:
    (_, row) = table(COLUMNS, ROWS, 200)
    assert row == f"{ID}      7  scripted:tour  {ROWS[0][3]}"
    assert table(COLUMNS, ROWS, None)[1] == row


def test_what_is_never_optional_stays_where_nothing_fits() -> None:
    assert table((Column("ID"), Column("TITLE", flexible=True)), [[ID, "long enough"]], 20) == [
        f"ID{' ' * 34}  TITLE",
        f"{ID}  long en…",
    ]


def test_without_rows_there_is_the_header() -> None:
    assert table((Column("ID"),), [], 80) == ["ID"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[2Jb", "a [2Jb"),
        ("two\nlines", "two lines"),
        ("left\u202eright", "left right"),
        ("plain", "plain"),
    ],
)
def test_texts_of_agents_do_not_control_the_terminal(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("text", "width", "result"),
    [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("漢字漢字", 5, "漢字…"), ("ab cd", 4, "ab…")],
)
def test_a_text_is_shortened_to_the_columns_that_it_takes(
    text: str, width: int, result: str
) -> None:
    assert shortened(text, width) == result


def test_a_mark_takes_no_column() -> None:
    assert cells("e\u0301") == 1


def test_a_report_keeps_its_lines() -> None:
    assert harmless("one\n\ttwo\x1b[2J") == "one\n\ttwo [2J"
