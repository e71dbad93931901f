"""Fakes of the ports of the desktop package."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import numpy as np

from deskhand.desktop.accessibility.admitted_field import AdmittedField, FieldState
from deskhand.desktop.capture.frames import Damage, Frame, Pointer
from deskhand.desktop.errors import ForeignHost
from deskhand.desktop.geometry import Point, Region, Size
from deskhand.desktop.input.events import (
    ButtonPress,
    ButtonRelease,
    InputEvent,
    PointerMotion,
)
from deskhand.desktop.screenshots.options import PictureFormat

NATIVE = Size(1920, 1080)
SMALL = Size(64, 48)


def frame(size: Size = SMALL, counter: int = 0, *painted: Region) -> Frame:
    """A black frame with some regions in white."""
    pixels = np.zeros((size.height, size.width, 4), np.uint8)
    for region in painted:
        pixels[region.top : region.bottom, region.left : region.right] = 255
    pixels.flags.writeable = False
    return Frame(pixels, counter, 0.0)


def pointer(x: int = 3, y: int = 4, serial: int = 1) -> Pointer:
    return Pointer(Point(x, y), Point(0, 0), np.zeros((2, 2, 4), np.uint8), serial)


@dataclass
class FakeClock:
    """A clock that advances when a task sleeps."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


class FakeWatch:
    """Yields the pending damage of its screen at its time on the fake clock."""

    def __init__(self, screen: "FakeScreen") -> None:
        self._screen = screen
        self.closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def recent(self) -> tuple[Damage, ...]:
        return self._screen.recent

    async def next(self, timeout: float) -> Damage | None:
        await asyncio.sleep(0)
        clock, coming = self._screen.clock, self._screen.coming
        until = clock.now + timeout
        if coming and coming[0].time <= until:
            clock.now = max(clock.now, coming[0].time)
            damage = coming.popleft()
            self._screen.paint(*damage.regions)
            return damage
        if self._screen.early_timers:
            self._screen.early_timers -= 1
            until -= timeout / 2
        clock.now = until
        return None

    def close(self) -> None:
        self.closed = True


class FakeScreen:
    """A screen that a test paints."""

    def __init__(self, clock: FakeClock | None = None, size: Size = NATIVE) -> None:
        self.clock = clock or FakeClock()
        self.shown = frame(size)
        self.drawn = pointer()
        self.recent: tuple[Damage, ...] = ()
        self.coming: deque[Damage] = deque()
        self.watches: list[FakeWatch] = []
        self.broken: Exception | None = None
        self.early_timers = 0
        """Number of waits that end a little too early, as those of a coarse clock do."""

    @property
    def size(self) -> Size:
        height, width = self.shown.pixels.shape[:2]
        return Size(width, height)

    def paint(self, *regions: Region) -> None:
        """Turn the pixels of regions into the opposite."""
        pixels = self.shown.pixels.copy()
        for region in regions:
            pixels[region.top : region.bottom, region.left : region.right] ^= 255
        self.shown = Frame(pixels, self.shown.counter + 1, self.clock.now)

    def frame(self) -> Frame:
        if self.broken:
            raise self.broken
        return self.shown

    def pointer(self) -> Pointer:
        return self.drawn

    def watch(self) -> FakeWatch:
        if self.broken:
            raise self.broken
        self.watches.append(FakeWatch(self))
        return self.watches[-1]


@dataclass
class FakeInput:
    """An input device that records the events and the threads that performed them."""

    done: list[InputEvent] = field(default_factory=list)
    at: Point = field(default_factory=lambda: Point(10, 20))
    releases: int = 0
    threads: set[str] = field(default_factory=set)
    held: set[int] = field(default_factory=set)
    refuse: Callable[[InputEvent], Exception | None] = lambda event: None
    gate: threading.Event | None = None
    """If present, no event is performed before it is set."""
    begun: threading.Event = field(default_factory=threading.Event)

    async def busy(self) -> None:
        """Wait until ``perform`` has begun."""
        assert await asyncio.to_thread(self.begun.wait, 20)

    def perform(self, events: Sequence[InputEvent]) -> None:
        self.threads.add(threading.current_thread().name)
        self.begun.set()
        if self.gate is not None:
            assert self.gate.wait(20)
        for event in events:
            error = self.refuse(event)
            if error is not None:
                raise error
            match event:
                case PointerMotion(to):
                    self.at = to
                case ButtonPress(button):
                    self.held.add(button)
                case ButtonRelease(button):
                    self.held.discard(button)
                case _:
                    pass
            self.done.append(event)

    def release_all(self) -> None:
        self.threads.add(threading.current_thread().name)
        self.releases += 1
        self.held.clear()

    def position(self) -> Point:
        return self.at

    def holds_button(self) -> bool:
        return bool(self.held)


@dataclass(frozen=True)
class Rendered:
    """The options of one rendered picture."""

    counter: int
    size: Size
    region: Region | None
    pointer: Pointer | None
    format: PictureFormat
    quality: int


@dataclass
class FakePictures:
    """A renderer whose pictures are a description of their content."""

    asked: list[Rendered] = field(default_factory=list)

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
        rendered = Rendered(frame.counter, size, region, pointer, format, quality)
        self.asked.append(rendered)
        return f"{format} {size.width}x{size.height} of {frame.counter}".encode()


class FakeFields:
    """Fixed facts about the field with the keyboard focus."""

    def __init__(
        self,
        *,
        accessible: bool = True,
        password: bool = False,
        host: str = "",
        fillable: bool = False,
        moved_at: int = 0,
    ) -> None:
        self.accessible = accessible
        self.password = password
        self.host = host
        self.fillable = fillable
        self.filled: list[str] = []
        self.checked = 0
        self.moved_at = moved_at
        """Number of the check at which the focus has moved."""
        self.asked_since: list[float] = []

    def connected(self) -> bool:
        return self.accessible

    def password_since(self, at: float) -> bool:
        self.asked_since.append(at)
        return self.password

    def password_between(self, start: float, end: float) -> bool:
        assert start < end
        return self.password_since(start)

    def admit(self, hosts: Sequence[str]) -> AdmittedField:
        if hosts and self.host not in hosts:
            raise ForeignHost(hosts, self.host)
        return AdmittedField(("bus", "field"), self.host)

    def state(self, field: AdmittedField, typed_from: int | None = None) -> FieldState:
        self.checked += 1
        assert typed_from == (None if self.checked == 1 else self.checked - 1)
        return FieldState(self.moved_at != self.checked, self.checked)

    def is_password(self, field: AdmittedField) -> bool:
        return self.password

    def fill(self, field: AdmittedField, text: str) -> bool:
        if self.fillable:
            self.filled.append(text)
        return self.fillable
