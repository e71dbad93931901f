"""Looks at the screen: takes pictures, and waits until it rests."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Container, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from deskhand.desktop.actions.requests import Observe
from deskhand.desktop.capture.diff import changes
from deskhand.desktop.capture.frames import Damage, Frame, Pointer
from deskhand.desktop.capture.settle import Settle, SettleRule, Verdict
from deskhand.desktop.geometry import Point, Region, Size
from deskhand.desktop.screenshots.options import PictureFormat, View
from deskhand.desktop.windows.focused import Focused

from .outcomes import Observation, ScreenshotResult, etag, frame_id

T = TypeVar("T")

# Paints this soon after an action nobody watched are most likely its effect, not an animation.
_STIRS_SECONDS = 0.25
# Damages are remembered for so long; what was seen moving before that must be seen again.
_JUST_BEFORE = 1.0


class DamageWatch(Protocol):
    """What was painted around one action; opened before acting, closed after looking."""

    def recent(self) -> tuple[Damage, ...]:
        """Damages of the second before the watch was opened."""

    async def next(self, timeout: float) -> Damage | None:
        """The next damage since the watch was opened; ``None`` after ``timeout`` seconds."""

    def close(self) -> None:
        """Stop watching."""


class Screen(Protocol):
    """What is seen. Blocks, for as long as the server hangs if it does; any thread may call."""

    @property
    def size(self) -> Size:
        """Native size."""

    def frame(self) -> Frame:
        """The newest pixels."""

    def pointer(self) -> Pointer:
        """The mouse pointer, which is not part of a frame."""

    def watch(self) -> DamageWatch:
        """Watch what is painted from now on."""


class FocusSource(Protocol):
    """What is known of windows. Blocks for a moment, never raises; any thread may call."""

    def focused(self) -> Focused | None:
        """The window that has the keyboard, if there is one."""

    def margins(self) -> tuple[Region, ...]:
        """The parts of the screen that belong to panels."""


class NoFocusSource:
    """Where nobody knows of windows."""

    def focused(self) -> Focused | None:
        """None is known."""
        return None

    def margins(self) -> tuple[Region, ...]:
        """None are known."""
        return ()


class ScreenshotRenderer(Protocol):
    """What turns frames into files. Blocking; called from one thread only."""

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
        """Return the picture of ``region``, the whole screen if none, scaled to ``size``."""


@dataclass
class Stages:
    """How long each stage of a request took, in milliseconds."""

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
    """One screen and its pictures, read in a thread of their own."""

    def __init__(
        self,
        screen: Screen,
        pictures: ScreenshotRenderer,
        boot: str,
        clock: Callable[[], float] = time.monotonic,
        windows: FocusSource | None = None,
    ) -> None:
        self._windows = windows or NoFocusSource()
        self._screen = screen
        self._pictures = pictures
        self._boot = boot
        self._clock = clock
        self._pointed: tuple[Point, int] | None = None
        self._moves = 0
        self._stirred = -math.inf
        self._moving: tuple[float, tuple[Region, ...]] = (-math.inf, ())
        self._thread = ThreadPoolExecutor(1, "eyes")

    @property
    def size(self) -> Size:
        """Native size of the screen."""
        return self._screen.size

    def close(self) -> None:
        """End the thread; twice is fine."""
        self._thread.shutdown(wait=False)

    def stirred(self) -> None:
        """Take note that something was just done to the screen."""
        self._stirred = self._clock() + _STIRS_SECONDS

    async def frame_id(self) -> str:
        """Name of what the screen shows now."""
        return await self._see(lambda: self._name(self._screen.frame(), self._screen.pointer()))

    async def picture(
        self, wanted: View, stages: Stages, known: Container[str] = ()
    ) -> ScreenshotResult:
        """Take a picture, unless its ETag is one that the caller has."""
        return await self._see(lambda: self._shoot(wanted, stages, known))

    async def watched(
        self,
        act: Callable[[], Awaitable[T]],
        observe: Observe,
        wanted: View,
        stages: Stages,
        *,
        clicks: bool = False,
    ) -> tuple[T, Observation]:
        """Act, wait until the screen rests, and say what became of it.

        ``clicks``: acting ends with a click at the pointer.
        """
        async with self._watching() as watch:
            before, named, window, margins = await self._see(self._look)
            recent = [damage for damage in watch.recent() if damage.time >= self._stirred]
            result = await act()
            with stages.stage("settle"):
                rule = observe.settle or SettleRule(grace=0.0, longest=0.0)
                clicked = (await self._see(self._screen.pointer)).position if clicks else None
                settle = Settle(rule, self._clock(), recent, self._known(), margins, clicked)
                verdict = await self._settled(settle, watch)
        self._stirred = now = self._clock()
        self._moving = (now, settle.moving_at(now))
        picture = wanted if observe.screenshot else None
        seen = await self._see(lambda: self._compare(before, settle.regions, picture, stages))
        return result, replace(
            seen,
            settled=verdict if observe.settle else None,
            focused_before=window,
            frame_before=named,
        )

    @asynccontextmanager
    async def _watching(self) -> AsyncIterator[DamageWatch]:
        """Open a watch, and close it, where a display that hangs holds nobody else up."""
        opening = self._thread.submit(self._screen.watch)
        try:
            watch = await asyncio.wrap_future(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(_close)
            raise
        try:
            yield watch
        finally:
            await asyncio.shield(self._see(watch.close))

    def _look(self) -> tuple[Frame, str, Focused | None, tuple[Region, ...]]:
        frame = self._screen.frame()
        named = self._name(frame, self._screen.pointer())
        return frame, named, self._windows.focused(), self._windows.margins()

    def _known(self) -> tuple[Region, ...]:
        """What moved by itself at the end of the last look, when that was just before."""
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
            # What has been painted but not been taken yet must not pass for rest, so a verdict
            # is asked for only when there is no more, or no more time.
            if damage is not None and not settle.overdue(now):
                continue
            verdict = settle.verdict(now)
            if verdict is not None and (asked or settle.overdue(now)):
                return verdict
            # On a busy machine paints may be waiting to be read: asking for the frame reads them.
            if verdict is not None:
                await self._see(self._screen.frame)
            asked = verdict is not None

    def _compare(
        self, before: Frame, painted: Sequence[Region], wanted: View | None, stages: Stages
    ) -> Observation:
        with stages.stage("capture"):
            frame = self._screen.frame()
            changed = changes(before, frame, painted)
        shot = self._shoot(wanted, stages, frame=frame) if wanted else None
        shown = shot.frame_id if shot else self._name(frame, self._screen.pointer())
        return Observation(shown, None, changed, shot, focused_after=self._windows.focused())

    def _shoot(
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
        drawn = pointer if wanted.options.cursor else None
        tag = etag(shown, wanted, drawn)
        data = None
        if tag not in known and wanted.options.since != shown:
            with stages.stage("encode"):
                data = self._pictures.render(
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
        pointed = (pointer.position, pointer.serial)
        if pointed != self._pointed:
            self._moves += self._pointed is not None
            self._pointed = pointed
        return frame_id(self._boot, frame, self._moves)

    async def _see(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _close(opened: Future[DamageWatch]) -> None:
    if not opened.cancelled() and opened.exception() is None:
        opened.result().close()
