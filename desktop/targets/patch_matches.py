"""Result of the search for a patch, and its JSON. Pure, and without numpy: programs read it too."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deskhand.desktop.geometry import Point


@dataclass(frozen=True)
class PatchMatch:
    """A place of a frame that looks like a patch."""

    point: Point
    """The place of the patch's own point, in pixels of the frame."""
    score: float
    """Share of the edge pixels that agree, 0 to 1."""


@dataclass(frozen=True)
class PatchMatches:
    """Result of a search."""

    matches: tuple[PatchMatch, ...]
    """The best places, which do not overlap, the best one first."""
    unique: bool
    """True if the first is a match, and every other place is clearly worse."""

    def to_json(self) -> dict[str, Any]:
        """Return the result in the form of the HTTP API."""
        matches = [{"native_point": list(one.point), "score": one.score} for one in self.matches]
        return {"matches": matches, "unique": self.unique}


def patch_matches(body: Mapping[str, Any]) -> PatchMatches:
    """Return the result that is in an answer of the HTTP API.

    Raises:
        ValueError: If it has another form.
    """
    try:
        matches = tuple(
            PatchMatch(Point(*map(int, one["native_point"])), float(one["score"]))
            for one in body["matches"]
        )
        return PatchMatches(matches, bool(body["unique"]) and bool(matches))
    except (KeyError, TypeError) as error:
        raise ValueError(f"this is no result of a search: {error!r}") from error
