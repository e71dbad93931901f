"""What a step's action was aimed at: the widget in words, the point, and the pixels around it."""

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

Json = dict[str, Any]

_LONGEST_TEXT = 300
_LARGEST_PATCH = 40_000
_MOST_NEAR = 5
_EDGE = 100_000


@dataclass(frozen=True)
class StepTarget:
    """A place of the screen as it was just before an action; points are in native pixels."""

    role: str = ""
    """Empty, like the name, if no widget could be named."""
    name: str = ""
    near: tuple[str, ...] = ()
    """Texts beside the widget."""
    point: tuple[int, int] | None = None
    """``None`` for keys, which go to the widget with the focus."""
    screen: tuple[int, int] = (0, 0)
    """Width and height."""
    patch: bytes | None = None
    """PNG of the pixels around the point."""
    patch_point: tuple[int, int] | None = None
    """The point's position in the patch."""

    def masked(self, hide: Callable[[str], str]) -> "StepTarget":
        """Return the target without secret values.

        A patch next to a text that was masked is left out, because it may show the value.
        """
        hidden = replace(self, name=hide(self.name), near=tuple(map(hide, self.near)))
        return hidden if hidden == self else replace(hidden, patch=None, patch_point=None)


def step_targets(found: Sequence[Any] | None) -> tuple[StepTarget | None, ...]:
    """Read the targets in the answer of a desktop; ``None`` for each that is unknown.

    A desktop's answer is not trusted: what has another form is unknown, and long texts are cut.
    """
    return tuple(_target(one) for one in found or ())[:2]


def _target(body: Any) -> StepTarget | None:
    if not isinstance(body, Mapping):
        return None
    try:
        size = body["screen"]
        patch = base64.b64decode(body["patch"], validate=True) if body.get("patch") else None
        kept = patch is not None and len(patch) <= _LARGEST_PATCH
        return StepTarget(
            str(body.get("role", ""))[:_LONGEST_TEXT],
            str(body.get("name", ""))[:_LONGEST_TEXT],
            tuple(str(text)[:_LONGEST_TEXT] for text in body.get("near", ())[:_MOST_NEAR]),
            _point(body.get("native_point")),
            (_number(size["width"]), _number(size["height"])),
            patch if kept else None,
            _point(body.get("patch_point")) if kept else None,
        )
    except (KeyError, TypeError, ValueError, binascii.Error):
        return None


def _point(value: Any) -> tuple[int, int] | None:
    if value is None:
        return None
    x, y = value
    return _number(x), _number(y)


def _number(value: Any) -> int:
    if not isinstance(value, int) or not 0 <= value < _EDGE:
        raise ValueError(f"not a number of pixels: {value!r}")
    return value
