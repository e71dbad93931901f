"""Observes the screen: takes screenshots, and waits until the screen rests."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Container, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from deskhand.desktop.actions.catalog import Scroll
from deskhand.desktop.actions.plan import first_notches, in_notches
from deskhand.desktop.actions.requests import Observe
from deskhand.desktop.capture.diff import changes, scrolled_by
from deskhand.desktop.capture.frames import Damage, Frame, Pointer
from deskhand.desktop.capture.settle import Settle, SettleRule, Verdict
from deskhand.desktop.geometry import Point, Region, Size
from deskhand.desktop.screenshots.options import PictureFormat, View
from deskhand.desktop.windows.focused import Focused

from .outcomes import Observation, ScreenshotResult, etag, frame_id

T = TypeVar("T")

# Damage this soon after an unobserved action is most likely its effect, not an animation.
_EFFECT_SECONDS = 0.25
# Damage is remembered for this long; what moved before that must be seen moving again.
_JUST_BEFORE = 1.0
# A smooth scroll is a row of paints; on a busy machine they are far apart.
_SCROLLING = SettleRule(quiet=0.25, small_quiet=0.25, longest=2.0, grace=0.5)


class DamageWatch(Protocol):
    """Damage around one action; opened before acting, closed after the screenshot."""

    def recent(self) -> tuple[Damage, ...]:
        """Return the damage of the second before the watch was opened."""

    async def next(self, timeout: float) -> Damage | None:
        """Return the next damage since the watch was opened; ``None`` after ``timeout`` seconds."""

    def close(self) -> None:
        """Stop watching."""


class Screen(Protocol):
    """Frames of the display. Blocks as long as an X server that hangs; any thread may call."""

    @property
    def size(self) -> Size:
        """Native size."""

    def frame(self) -> Frame:
        """Return the newest frame."""

    def pointer(self) -> Pointer:
        """Return the pointer, which is not part of a frame."""

    def watch(self) -> DamageWatch:
        """Subscribe to damage from now on."""


class FocusSource(Protocol):
    """Windows of the display. Blocks for a moment, never raises; any thread may call."""

    def focused(self) -> Focused | None:
        """Return the window that has the keyboard focus, if there is one."""

    def nothing_focused(self) -> bool:
        """Return whether no program would get a key."""

    def margins(self) -> tuple[Region, ...]:
        """Return the regions of the screen that panels reserve."""


class NoFocusSource:
    """Windows of a display without a window manager: none."""

    def focused(self) -> Focused | None:
        """Return none."""
        return None

    def nothing_focused(self) -> bool:
        """Return that it is not known."""
        return False

    def margins(self) -> tuple[Region, ...]:
        """Return none."""
        return ()


class ScreenshotRenderer(Protocol):
    """Encodes frames. Blocking; called from one thread only."""

    def render(
        self,
        frame: Frame,
        *,
        size: Size,
        region: Region | None = None,
        pointer: Pointer | None = None,
        format: PictureFormat = "png",
        quality: int = 85,
    ) -> bytes:
        """Return ``region`` of the frame, or all of it, scaled to ``size`` and encoded."""


@dataclass
class Stages:
    """Durations of the stages of a request, in milliseconds."""

    clock: Callable[[], float]
    taken: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of the body to a stage."""
        began = self.clock()
        try:
            yield
        finally:
            self.taken[name] = self.taken.get(name, 0.0) + (self.clock() - began) * 1000


class Observer:
    """One screen and its screenshots, read in a thread of its own."""

    def __init__(
        self,
        screen: Screen,
        renderer: ScreenshotRenderer,
        boot: str,
        clock: Callable[[], float] = time.monotonic,
        windows: FocusSource | None = None,
    ) -> None:
        self._windows = windows or NoFocusSource()
        self._screen = screen
        self._renderer = renderer
        self._boot = boot
        self._clock = clock
        self._pointed: tuple[Point, int] | None = None
        self._moves = 0
        self._effect_until = -math.inf
        self._moving: tuple[float, tuple[Region, ...]] = (-math.inf, ())
        # One thread: the renderer reuses its buffers and bands from one screenshot to the next.
        self._thread = ThreadPoolExecutor(1, "observer")

    @property
    def size(self) -> Size:
        """Native size of the screen."""
        return self._screen.size

    def close(self) -> None:
        """End the thread; twice is fine."""
        self._thread.shutdown(wait=False)

    def note_action(self) -> None:
        """Record that an unobserved action has just been performed."""
        self._effect_until = self._clock() + _EFFECT_SECONDS

    async def frame_id(self) -> str:
        """Return the name of what the screen shows now."""
        return await self._run(lambda: self._name(self._screen.frame(), self._screen.pointer()))

    async def frame(self) -> tuple[Frame, Focused | None]:
        """Return what the screen shows now, and the window that has the keyboard."""
        return await self._run(lambda: (self._screen.frame(), self._windows.focused()))

    async def nothing_focused(self) -> bool:
        """Return whether no program would get a key."""
        return await self._run(self._windows.nothing_focused)

    async def picture(
        self, wanted: View, stages: Stages, known: Container[str] = ()
    ) -> ScreenshotResult:
        """Take a screenshot, without its bytes if its ETag is one of ``known``."""
        return await self._run(lambda: self._screenshot(wanted, stages, known))

    async def watched(
        self,
        act: Callable[[], Awaitable[T]],
        observe: Observe,
        wanted: View,
        stages: Stages,
        *,
        clicks: bool = False,
    ) -> tuple[T, Observation]:
        """Act, wait until the screen rests, and return the result with the observation.

        ``clicks`` if the action ends with a click at the pointer.
        """
        async with self._watching() as watch:
            before, named, window, margins = await self._run(self._state_before)
            # Damage before that moment is the effect of an earlier action, not an animation that
            # the settle rule may ignore.
            recent = [damage for damage in watch.recent() if damage.time >= self._effect_until]
            result = await act()
            with stages.stage("settle"):
                # Without settling the verdict is immediate, and the damage until now still gives
                # the changed regions.
                rule = observe.settle or SettleRule(grace=0.0, longest=0.0)
                clicked = (await self._run(self._screen.pointer)).position if clicks else None
                settle = Settle(rule, self._clock(), recent, self._animated(), margins, clicked)
                verdict = await self._settled(settle, watch)
        self._effect_until = now = self._clock()
        self._moving = (now, settle.moving_at(now))
        # The changed regions are computed even where the caller wants no screenshot.
        picture = wanted if observe.screenshot else None
        seen = await self._run(lambda: self._compare(before, settle.regions, picture, stages))
        return result, replace(
            seen,
            settled=verdict if observe.settle else None,
            focused_before=window,
            frame_before=named,
        )

    async def begun_scroll(
        self, scroll: Scroll, turn: Callable[[Scroll], Awaitable[None]]
    ) -> Scroll:
        """Return a scroll in notches; of one in pixels, what is left after the first notch.

        Programs scroll by different distances for a notch, so the first one is measured; ``turn``
        performs it. With a modifier the wheel seldom scrolls: Control changes the size of a page.
        """
        if not scroll.in_pixels or scroll.modifiers:
            return in_notches(scroll)
        moved = dict.fromkeys(("right", "down"), 0)
        firsts = first_notches(scroll)
        for first in firsts:
            moved["right" if first.right else "down"] = await self._scrolled(first, turn)
        whole = in_notches(scroll, **moved)
        for first in firsts:
            whole = replace(whole, right=whole.right - first.right, down=whole.down - first.down)
        return whole

    async def _scrolled(self, notch: Scroll, turn: Callable[[Scroll], Awaitable[None]]) -> int:
        """Turn the wheel by a notch, and return the distance in pixels; 0 if unknown."""
        async with self._watching() as watch:
            before = await self._run(self._screen.frame)
            await turn(notch)
            settle = Settle(_SCROLLING, self._clock())
            await self._settled(settle, watch)
        after = await self._run(self._screen.frame)
        # Back by a distance is the same as forth from the later frame to the earlier one.
        pair = (before, after) if notch.right + notch.down > 0 else (after, before)
        return await self._run(lambda: scrolled_by(*pair, notch.at, sideways=notch.right != 0))

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[tuple[DamageWatch, Frame]]:
        """Subscribe to damage while the body runs; yield it with what the screen shows before."""
        async with self._watching() as watch:
            yield watch, await self._run(self._screen.frame)

    async def changed_in(self, before: Frame, region: Region) -> bool:
        """Return True if a region does not show what it showed in an earlier frame."""
        found = await self._run(lambda: changes(before, self._screen.frame(), (region,)))
        return found.fraction > 0

    @asynccontextmanager
    async def _watching(self) -> AsyncIterator[DamageWatch]:
        """Subscribe to damage in the thread: a display that hangs must not block the event loop."""
        opening = self._thread.submit(self._screen.watch)
        try:
            watch = await asyncio.wrap_future(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(_close)
            raise
        try:
            yield watch
        finally:
            # A subscription that stays open keeps collecting damage.
            await asyncio.shield(self._run(watch.close))

    def _state_before(self) -> tuple[Frame, str, Focused | None, tuple[Region, ...]]:
        frame = self._screen.frame()
        named = self._name(frame, self._screen.pointer())
        return frame, named, self._windows.focused(), self._windows.margins()

    def _animated(self) -> tuple[Region, ...]:
        """Return what moved by itself when the last observation ended, if that was just before."""
        when, regions = self._moving
        return regions if self._clock() - when < _JUST_BEFORE else ()

    async def _settled(self, settle: Settle, watch: DamageWatch) -> Verdict:
        asked = False
        while True:
            damage = await watch.next(0.0 if asked else settle.remaining(self._clock()))
            if damage is not None:
                settle.painted(damage)
                asked = False
            now = self._clock()
            # Damage that is queued but not taken yet must not pass for rest, so the loop asks for
            # a verdict only when the queue is empty, or when time is over.
            if damage is not None and not settle.overdue(now):
                continue
            verdict = settle.verdict(now)
            if verdict is not None and (asked or settle.overdue(now)):
                return verdict
            # On a busy machine damage may wait in the connection: reading the frame drains it.
            if verdict is not None:
                await self._run(self._screen.frame)
            asked = verdict is not None

    def _compare(
        self, before: Frame, painted: Sequence[Region], wanted: View | None, stages: Stages
    ) -> Observation:
        with stages.stage("capture"):
            frame = self._screen.frame()
            # Only painted regions are compared: damage is a superset of what changed.
            changed = changes(before, frame, painted)
        result = self._screenshot(wanted, stages, frame=frame) if wanted else None
        shown = result.frame_id if result else self._name(frame, self._screen.pointer())
        return Observation(shown, None, changed, result, focused_after=self._windows.focused())

    def _screenshot(
        self,
        wanted: View,
        stages: Stages,
        known: Container[str] = (),
        frame: Frame | None = None,
    ) -> ScreenshotResult:
        with stages.stage("capture"):
            frame = frame or self._screen.frame()
            pointer = self._screen.pointer()
        shown = self._name(frame, pointer)
        # The pointer is part of the ETag only where it is drawn.
        drawn = pointer if wanted.options.cursor else None
        tag = etag(shown, wanted, drawn)
        data = None
        # Encoding is the expensive stage: it is skipped when the caller has these bytes.
        if tag not in known and wanted.options.since != shown:
            with stages.stage("encode"):
                data = self._renderer.render(
                    frame,
                    size=wanted.size,
                    region=wanted.region,
                    pointer=drawn,
                    format=wanted.options.format,
                    quality=wanted.options.quality,
                )
        return ScreenshotResult(
            shown, tag, wanted.options.format, wanted.size, self.size, data, dict(stages.taken)
        )

    def _name(self, frame: Frame, pointer: Pointer) -> str:
        # The serial changes with the pointer's shape.
        pointed = (pointer.position, pointer.serial)
        if pointed != self._pointed:
            self._moves += self._pointed is not None
            self._pointed = pointed
        return frame_id(self._boot, frame, self._moves)

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _close(opened: Future[DamageWatch]) -> None:
    if not opened.cancelled() and opened.exception() is None:
        opened.result().close()
