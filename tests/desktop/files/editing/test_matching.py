import pytest

from deskhand.desktop.files.editing.line_endings import lines_of
from deskhand.desktop.files.editing.matching import (
    PASSES,
    exact,
    folded,
    trimmed,
    windows,
    without_trail,
)


def test_exact_places_do_not_overlap() -> None:
    assert exact("aaaa", "aa", any_ending=True) == [(0, 2), (2, 4)]


def test_one_ending_stands_for_the_other() -> None:
    assert exact("a\r\nb\n", "a\nb", any_ending=True) == [(0, 4)]
    assert exact("a\nb\n", "a\r\nb\r\n", any_ending=True) == [(0, 4)]
    assert exact("a\r\nb", "a\nb", any_ending=False) == []
    assert exact("a.b*", ".b*", any_ending=False) == [(1, 4)]


@pytest.mark.parametrize(
    ("given", "searched", "key"),
    [
        ("a  \n", "a\n", without_trail),
        ("\ta\n", "  a \n", trimmed),
        ("say \u201chi\u201d \u2013 it\u2019s\u00a0ok\n", 'say "hi" - it\'s ok', folded),
    ],
)
def test_each_pass_forgives_what_the_ones_before_do_not(
    given: str, searched: str, key: object
) -> None:
    lines, search = lines_of(given), lines_of(searched)
    finding = [one for one in PASSES if windows(lines, search, one)]
    assert finding[0] is key


def test_windows_do_not_overlap() -> None:
    lines = lines_of("x\nx\nx\ny\n")
    assert windows(lines, lines_of("x\nx\n"), trimmed) == [0]
    assert windows(lines, lines_of("x\n"), trimmed) == [0, 1, 2]
    assert windows(lines, lines_of("y\nz\n"), trimmed) == []


def test_blank_lines_alone_stand_nowhere() -> None:
    assert windows(lines_of("\n\n"), lines_of(" \n"), trimmed) == []
    assert windows(lines_of("\n\n"), [], trimmed) == []
