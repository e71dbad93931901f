"""What an action is aimed at: the port that reads it, and the points that are asked for."""

from collections.abc import Sequence
from typing import Any, Protocol

from deskhand.desktop.actions.catalog import HoldKey, Key, KeyDown, Type
from deskhand.desktop.actions.points import points_of
from deskhand.desktop.actions.requests import ActionRequest
from deskhand.desktop.geometry import Point

Json = dict[str, Any]


class TargetSource(Protocol):
    """Describes what is at points of the screen."""

    async def targets(self, points: Sequence[Point]) -> list[Json | None]:
        """Return what is at points, or without points what has the keyboard; ``None`` if unknown.

        Delays the action for half a second at most.
        """

    def prefetch(self) -> None:
        """Begin to read what the screen shows now, for the next action."""

    def close(self) -> None:
        """End the threads; twice is fine."""


class NoTargets:
    """Describes nothing, for a screen without widgets."""

    async def targets(self, points: Sequence[Point]) -> list[Json | None]:
        """Return that it is unknown."""
        return [None] * max(1, len(points))

    def prefetch(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


async def targets_of(request: ActionRequest, source: TargetSource) -> list[Json | None] | None:
    """Return what an action is aimed at; ``None`` if its request does not ask for it.

    A drag has two targets, where it begins and where it ends; keys have the widget with the focus.
    """
    if request.observe is None or not request.observe.targets:
        return None
    points = points_of(request.action)
    if not points and not isinstance(request.action, Key | Type | KeyDown | HoldKey):
        return None
    return await source.targets(points if len(points) < 2 else (points[0], points[-1]))
