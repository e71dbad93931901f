"""The pixels and the pointer of one display, read when the server says that they changed."""

import os
import select
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import xcffib
import xcffib.damage
import xcffib.xfixes

from deskhand.desktop.errors import DisplayGone
from deskhand.desktop.geometry import Point, Region, Size, whole
from deskhand.desktop.x11.connection import LOST, connect, has_extension, screen_of

from .frames import Damage, Frame, Pointer
from .grabber import Grabber, pixels_of
from .snapshots import Snapshots, merged
from .subscriptions import DamageSubscription, FrameSubscription

_HISTORY_SECONDS = 1.0
# How often the pointer is looked at, which nothing reports: while it moves, and while it rests.
_POINTER_SECONDS = 0.1
_POINTER_REST_SECONDS = 0.5
_POINTER_RESTS_AFTER = 2.0
# A program that paints without pause would otherwise make us ask the server without pause.
_CALM_SECONDS = 0.004


class Framebuffer:
    """Reads the screen for everybody: at most once for each change, never while nothing changes.

    All methods may be called from any thread; a thread of its own listens to the server. Where
    a method raises DisplayGone, the display stays gone. Frames carry ``life``, and are counted
    from ``counter`` on.
    """

    def __init__(self, display: str, xauthority: Path, *, life: str = "", counter: int = 0) -> None:
        self._display = display
        self._life = life
        self._first = counter
        self._xauthority = xauthority
        self._lock = threading.RLock()
        self._thread = threading.Thread(target=self._listen, name="x-events", daemon=True)
        self._watches: set[DamageSubscription] = set()
        self._feeds: set[FrameSubscription] = set()
        self._history: deque[Damage] = deque()
        self._pending: list[Region] = []
        self._notified = False
        self._gone = False
        self._closing = False
        self._glancing = False
        self._shown = (Point(0, 0), 0)
        self._pointer_moved = 0.0
        self._cursor: Pointer | None = None
        self._connection: Any = None
        self._grabber: Grabber | None = None
        self._wake_read, self._wake_write = -1, -1

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def size(self) -> Size:
        """Native size of the screen."""
        return self._size

    @property
    def shared_memory(self) -> bool:
        """Whether the server lends its pixels."""
        return self._grabber is not None and self._grabber.shares_memory

    @property
    def counter(self) -> int:
        """Of the newest frame."""
        return self._snapshots.counter

    def open(self) -> None:
        """Connect and grab the first frame.

        Raises:
            DisplayGone: If there is no such display.
        """
        self._connection = connect(self._display, self._xauthority)
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)
        try:
            with self._requests():
                self._prepare()
        except BaseException:
            self.close()
            raise
        self._thread.start()

    def close(self) -> None:
        """Disconnect; watches and feeds end as if the display were lost. Twice is fine."""
        with self._lock:
            if self._connection is None or self._closing:
                return
            self._closing = True
            self._wake()
        if self._thread.ident is not None:
            self._thread.join()
        with self._lock:
            self._lose()
            self._connection.disconnect()
            if self._grabber is not None:
                self._grabber.close()
            os.close(self._wake_read)
            os.close(self._wake_write)

    def frame(self) -> Frame:
        """The newest pixels; asks the server, and grabs only the rows that were painted.

        Raises:
            DisplayGone: When the server or the connection is lost.
        """
        with self._requests():
            self._refresh()
            return self._frame

    def pointer(self) -> Pointer:
        """Where the pointer is now, and how it looks.

        Raises:
            DisplayGone: When the server or the connection is lost.
        """
        with self._requests():
            return self._look_at_pointer()

    def watch(self) -> DamageSubscription:
        """Listen to damage from now on.

        Raises:
            DisplayGone: When the server or the connection is lost.
        """
        with self._requests():
            self._collect()
            recent = tuple(self._history)
            watch = DamageSubscription(recent, self._display, self._forget_watch)
            self._watches.add(watch)
            return watch

    def subscribe(self) -> FrameSubscription:
        """Get new frames, in a thread of the caller's."""
        with self._lock:
            feed = FrameSubscription(self.frame, self.pointer, whole(self._size), self._forget_feed)
            self._feeds.add(feed)
            self._wake()
            return feed

    def glance(self) -> None:
        """Look at the pointer soon: called after input of our own, which damage does not tell."""
        if self._feeds:
            with self._lock:
                self._glancing = True
                self._wake()

    def _prepare(self) -> None:
        screen = screen_of(self._connection)
        self._root = screen.root
        self._size = Size(screen.width_in_pixels, screen.height_in_pixels)
        self._snapshots = Snapshots(self._size, self._first)
        self._grabber = Grabber(self._connection, self._size)
        self._grabber.share_memory()
        self._ask_for_damage()
        self._pending = [whole(self._size)]
        self._frame = self._framed(time.monotonic())
        self._refresh()

    def _forget_watch(self, watch: DamageSubscription) -> None:
        with self._lock:
            self._watches.discard(watch)

    def _forget_feed(self, feed: FrameSubscription) -> None:
        with self._lock:
            self._feeds.discard(feed)

    @contextmanager
    def _requests(self) -> Iterator[None]:
        with self._lock:
            if self._gone or self._closing:
                raise DisplayGone(self._display)
            try:
                yield
                self._drain()
            except LOST as error:
                self._lose()
                raise DisplayGone(self._display, "connection lost") from error
            except xcffib.XcffibException as error:
                # Only a screen of another size refuses what we ask: not the one we opened.
                self._lose()
                raise DisplayGone(self._display, repr(error)) from error
            if self._notified and threading.current_thread() is not self._thread:
                # This reply's reader took the event off the socket: the thread cannot see it.
                self._wake()

    def _lose(self) -> None:
        self._gone = True
        for watch in tuple(self._watches):
            watch.lose()
        for feed in tuple(self._feeds):
            feed.painted()

    def _wake(self) -> None:
        with suppress(BlockingIOError):
            os.write(self._wake_write, b"!")

    def _ask_for_damage(self) -> None:
        for name in (b"DAMAGE", b"XFIXES"):
            if not has_extension(self._connection, name):
                raise DisplayGone(self._display, f"it lacks the extension {name.decode()}")
        self._fixes = self._connection(xcffib.xfixes.key)
        self._damages = self._connection(xcffib.damage.key)
        self._fixes.QueryVersion(5, 0).reply()
        self._damages.QueryVersion(1, 1).reply()
        self._damage = self._connection.generate_id()
        self._region = self._connection.generate_id()
        self._fixes.CreateRegion(self._region, 0, [])
        self._damages.Create(self._damage, self._root, xcffib.damage.ReportLevel.NonEmpty)
        # Born non-empty: it would never report anything without this.
        self._damages.Subtract(self._damage, 0, 0)
        self._fixes.SelectCursorInput(self._root, xcffib.xfixes.CursorNotifyMask.DisplayCursor)

    def _drain(self) -> None:
        while (event := self._connection.poll_for_event()) is not None:
            if isinstance(event, xcffib.damage.NotifyEvent):
                self._notified = True
            elif isinstance(event, xcffib.xfixes.CursorNotifyEvent):
                self._cursor = None
                self._glancing = True

    def _collect(self) -> None:
        """Ask what was painted since the last time, and tell it to those who watch."""
        self._drain()
        self._notified = False
        self._damages.Subtract(self._damage, 0, self._region)
        found = self._fixes.FetchRegion(self._region).reply().rectangles
        regions = merged([Region(r.x, r.y, r.x + r.width, r.y + r.height) for r in found])
        now = time.monotonic()
        while self._history and self._history[0].time < now - _HISTORY_SECONDS:
            self._history.popleft()
        if not regions:
            return
        self._pending.extend(regions)
        damage = Damage(now, regions)
        self._history.append(damage)
        for watch in self._watches:
            watch.put(damage)
        for feed in self._feeds:
            feed.painted()

    def _refresh(self) -> None:
        self._collect()
        if not self._pending or self._grabber is None:
            return
        now = time.monotonic()
        damage = merged(self._pending)
        self._grabber.grab(self._snapshots.rows(damage))
        self._pending.clear()
        changed = self._snapshots.update(self._grabber.pixels, damage)
        if changed:
            self._frame = self._framed(now)
            for feed in self._feeds:
                feed.changed(self._frame.counter, changed)

    def _framed(self, now: float) -> Frame:
        made = self._snapshots
        return Frame(made.pixels, made.counter, now, self._life, made.changed_at)

    def _look_at_pointer(self) -> Pointer:
        where = self._connection.core.QueryPointer(self._root).reply()
        self._drain()
        position = Point(where.root_x, where.root_y)
        known = self._cursor
        if known is None:
            cursor = self._fixes.GetCursorImage().reply()
            image = pixels_of(cursor.cursor_image.raw, max(1, cursor.width))
            image.flags.writeable = False
            spot = Point(cursor.xhot, cursor.yhot)
            known = Pointer(position, spot, image, cursor.cursor_serial)
        else:
            known = Pointer(position, known.hot_spot, known.image, known.serial)
        self._cursor = known
        return known

    def _listen(self) -> None:
        with suppress(DisplayGone):
            polled = calm_until = 0.0
            while not self._closing:
                now = time.monotonic()
                resting = now > self._pointer_moved + _POINTER_RESTS_AFTER
                pause = _POINTER_REST_SECONDS if resting else _POINTER_SECONDS
                waits = [polled + pause - now] if self._feeds else []
                sources = [self._wake_read]
                if now < calm_until:
                    waits.append(calm_until - now)
                elif not self._notified:
                    sources.append(self._connection.get_file_descriptor())
                else:
                    waits.append(0.0)
                timeout = max(0.0, min(waits)) if waits else None
                if self._wake_read in select.select(sources, [], [], timeout)[0]:
                    os.read(self._wake_read, 4096)
                if self._closing:
                    return
                with self._requests():
                    now = time.monotonic()
                    self._drain()
                    if self._notified and now >= calm_until:
                        self._collect()
                        calm_until = now + _CALM_SECONDS
                    if self._feeds and (self._glancing or now >= polled + pause):
                        polled = now
                        self._compare_pointer()

    def _compare_pointer(self) -> None:
        self._glancing = False
        pointer = self._look_at_pointer()
        if self._shown != (pointer.position, pointer.serial):
            self._shown = (pointer.position, pointer.serial)
            self._pointer_moved = time.monotonic()
            for feed in self._feeds:
                feed.moved()
