"""Results of searches as JSON."""

from typing import Any

import pytest

from deskhand.desktop.geometry import Point
from deskhand.desktop.targets.patch_matches import PatchMatch, PatchMatches, patch_matches


def test_a_result_survives() -> None:
    found = PatchMatches((PatchMatch(Point(3, 4), 0.97),), True)
    assert patch_matches(found.to_json()) == found


def test_without_a_match_none_is_unique() -> None:
    assert patch_matches({"matches": [], "unique": True}) == PatchMatches((), False)


@pytest.mark.parametrize(
    "body", [{}, {"matches": 3, "unique": True}, {"matches": [{"native_point": [1], "score": 1}]}]
)
def test_anything_else_is_no_result(body: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no "):
        patch_matches(body)
