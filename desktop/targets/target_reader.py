"""Reads what an action is aimed at, before the action changes the screen.

Reading the widgets of all applications takes 20 to 200 ms, and an action must not wait for that. So
the reader reads them *after* an action, when the screen rests and the model thinks, and keeps them
with the frame of that moment. Before the next action it compares the pixels around the point in
that frame and in the present one. If they are equal, so is the widget, and the action waits for
nothing else. Otherwise, and before the first action, the action waits for a new read, at most
`LONGEST_SECONDS`; then its target is unknown.

Nothing is read while a person is in control in private, and what was read before is discarded.
Pixels of fields whose content is typed are left out of patches, as they may show a secret.
"""

import asyncio
import base64
import logging
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from deskhand.desktop.capture.frames import Frame
from deskhand.desktop.errors import DesktopError
from deskhand.desktop.geometry import Point, Region
from deskhand.desktop.lease.access import AccessControl

from .identity import WidgetIdentity, identity_at, identity_with_focus
from .patch_png import patch_png
from .patch_search import PixelPatch, cut, has_structure
from .widgets import ActiveWindow, ShownWidget, widgets_of

log = logging.getLogger(__name__)
Json = dict[str, Any]

LONGEST_SECONDS = 0.5
"""Time for which an action waits for its target."""
_CARET_PIXELS = 80
"""Pixels that may differ in an unchanged place: a caret that blinks."""
_AROUND = 24
_MOST_IGNORED = 0.4
"""Share of a patch that may be typed content."""


class ShownEntries(Protocol):
    """The widgets of all applications. Blocking."""

    def entries(self) -> Sequence[Json]:
        """Return the roots of the compact tree.

        Raises:
            NoAccessibility: If AT-SPI is not available.
        """


@dataclass(frozen=True)
class ScreenMoment:
    """What the screen shows at one moment."""

    frame: Frame
    window: ActiveWindow | None


@dataclass(frozen=True)
class _Read:
    state: ScreenMoment
    """Of the moment just before the read."""
    widgets: tuple[ShownWidget, ...]


class TargetReader:
    """Reads targets of actions on one screen; ``close`` it in the end."""

    def __init__(
        self,
        widgets: ShownEntries,
        state: Callable[[], Awaitable[ScreenMoment]],
        access: AccessControl,
        longest: float = LONGEST_SECONDS,
    ) -> None:
        """Take the sources, and the seconds for which an action waits."""
        self._widgets = widgets
        self._longest = longest
        self._state = state
        self._access = access
        self._last: asyncio.Task[_Read | None] | None = None
        self._thread = ThreadPoolExecutor(1, "targets")

    def close(self) -> None:
        """End the thread, after the read that is going on; twice is fine."""
        self._thread.shutdown(wait=False)

    def prefetch(self) -> None:
        """Begin to read what the screen shows now, for the next action."""
        # Reads of a slow application must not queue up behind one another.
        if self._last is None or self._last.done():
            self._last = asyncio.create_task(self._read())

    async def targets(self, points: Sequence[Point]) -> list[Json | None]:
        """Return what is at points, or without points what has the keyboard.

        Points are in native pixels. The result is ``None`` where it is unknown. Takes
        `LONGEST_SECONDS` at most.
        """
        unknown: list[Json | None] = [None] * max(1, len(points))
        try:
            async with asyncio.timeout(self._longest):
                now = await self._state()
                read = await self._current(now, points)
                if read is None:
                    return unknown
                found = await asyncio.wrap_future(
                    self._thread.submit(
                        lambda: [_target(read, now, one) for one in points or (None,)]
                    )
                )
        except TimeoutError:
            return unknown
        except Exception:
            # An action is more important than the description of its target.
            log.exception("the target of an action could not be read")
            return unknown
        # A person may have taken control in privacy mode during the read.
        self._access.check_view()
        return found

    async def _current(self, now: ScreenMoment, points: Sequence[Point]) -> _Read | None:
        """Return the newest read if it is valid for the points, or read again."""
        if self._last is not None:
            # Shielded: a timeout ends the wait of this action, not the read.
            last = await asyncio.shield(self._last)
            if last is not None and all(_is_same(last, now, one) for one in points or (None,)):
                return last
        self.prefetch()
        assert self._last is not None  # noqa: S101 - prefetch has set it
        return await asyncio.shield(self._last)

    async def _read(self) -> _Read | None:
        try:
            self._access.check_view()
            state = await self._state()
            widgets = await asyncio.wrap_future(self._thread.submit(self._entries))
            self._access.check_view()
        except (DesktopError, RuntimeError, ValueError):
            # There is no display, a person is in private, the service ends, or the tree is wrong.
            return None
        return _Read(state, widgets)

    def _entries(self) -> tuple[ShownWidget, ...]:
        return widgets_of(self._widgets.entries())


def _target(read: _Read, now: ScreenMoment, point: Point | None) -> Json | None:
    height, width = now.frame.pixels.shape[:2]
    screen: Json = {"screen": {"width": width, "height": height}}
    if point is None:
        identity = identity_with_focus(read.widgets, now.window)
        return None if identity is None else _described(identity) | screen
    identity = identity_at(read.widgets, point, now.window)
    found: Json = {} if identity is None else _described(identity)
    found |= {"native_point": list(point), **screen}
    patch, at = _patch(now.frame, point, read.widgets)
    # A border around typed content alone is that of any field.
    is_mostly_typed = patch.ignored is not None and patch.ignored.mean() > _MOST_IGNORED
    if has_structure(patch) and not is_mostly_typed:
        found["patch"] = base64.b64encode(patch_png(patch)).decode()
        found["patch_point"] = list(at)
    return found


def _described(identity: WidgetIdentity) -> Json:
    return {**identity.to_json(), "source": "accessibility"}


def _patch(frame: Frame, point: Point, widgets: Sequence[ShownWidget]) -> tuple[PixelPatch, Point]:
    pixels, at = cut(frame.pixels, point)
    height, width = pixels.shape[:2]
    left, top = point.x - at.x, point.y - at.y
    ignored = np.zeros((height, width), bool)
    for one in widgets:
        if one.holds_text:
            box = one.region
            rows = slice(max(box.top - top, 0), max(box.bottom - top, 0))
            ignored[rows, max(box.left - left, 0) : max(box.right - left, 0)] = True
    return PixelPatch(pixels, ignored), at


def _is_same(read: _Read, now: ScreenMoment, point: Point | None) -> bool:
    """Return True if the screen shows at a point what it showed when the widgets were read."""
    if read.state.window != now.window:
        return False
    before, after = read.state.frame, now.frame
    if before.pixels.shape != after.pixels.shape:
        return False
    region = _checked_region(read, now, point)
    if region is None or (before.counter, before.instance) == (after.counter, after.instance):
        return region is not None
    rows, columns = slice(region.top, region.bottom), slice(region.left, region.right)
    differs = (before.pixels[rows, columns, :3] != after.pixels[rows, columns, :3]).any(axis=2)
    return int(np.count_nonzero(differs)) <= _CARET_PIXELS


def _checked_region(read: _Read, now: ScreenMoment, point: Point | None) -> Region | None:
    height, width = now.frame.pixels.shape[:2]
    if point is None:
        identity = identity_with_focus(read.widgets, now.window)
        region = None if identity is None else identity.region
    else:
        region = Region(point.x - _AROUND, point.y - _AROUND, point.x + _AROUND, point.y + _AROUND)
    return None if region is None else region.intersection(Region(0, 0, width, height))
