"""The table of the given cases leaves none out."""

from pathlib import Path

import pytest

from tests.given import AREAS, CASES, NOT_YET, OURS

ROOT = Path(__file__).parents[1]


def test_each_area_is_played_by_one_file() -> None:
    listed = [area for areas in AREAS.values() for area in areas]
    assert sorted(listed) == sorted({case["area"] for case in CASES.values()})


@pytest.mark.parametrize("file", [file for file in AREAS if file])
def test_a_file_names_the_areas_that_it_plays(file: str) -> None:
    source = (ROOT / file).read_text()
    for area in AREAS[file]:
        left = [n for n, case in CASES.items() if case["area"] == area and n not in NOT_YET]
        assert not left or f'"{area}"' in source or all(name in source for name in left)


def test_what_is_not_played_has_a_reason() -> None:
    assert NOT_YET.keys() <= CASES.keys()
    assert all(NOT_YET.values())
    unplayed = {name for name, case in CASES.items() if case["area"] in AREAS[""]}
    assert unplayed <= NOT_YET.keys()


def test_where_we_differ_is_played_and_has_a_reason() -> None:
    assert OURS.keys() <= CASES.keys() - NOT_YET.keys()
    assert all(reason for reason, _ in OURS.values())
