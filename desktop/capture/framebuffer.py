"""Framebuffer: pixels and pointer of one X display, captured after damage.

The X server reports damage in two steps (DAMAGE extension, level NonEmpty). It sends one
``DamageNotify`` when the accumulated region becomes non-empty. ``DamageSubtract`` then moves the
region into an XFIXES region, which ``FetchRegion`` reads, and arms the notification again. So a
program that paints a thousand times between two reads causes one event.

    idle --DamageNotify--> notified --collect--> pending regions --refresh--> new frame

``_drain`` reads events that xcffib has queued; ``_collect`` fetches the region, records it in the
history and publishes it; ``_refresh`` captures the damaged rows if anything is pending. Damage is
collected by the thread; pixels are captured only when a consumer requests a frame.

Invariants: all requests run under one lock; the screen is captured at most once for each change;
without damage and subscriptions the thread sleeps in ``select``. Once a request has failed, the
display is lost for good: every later call raises DisplayGone, and a new display needs a new object.

The core protocol reports no motion of the pointer above windows of other clients, so the thread
polls the position, but only while there are frame subscriptions.
"""

import os
import select
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
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

# `Settle` finds the regions that were restless just before an action in this history.
_HISTORY_SECONDS = 1.0
# Intervals at which the thread polls the pointer: while it moves, and while it rests.
_POINTER_SECONDS = 0.1
_POINTER_REST_SECONDS = 0.5
_POINTER_RESTS_AFTER = 2.0
# Pause between two collections: a program may paint without pause, the thread must not follow it.
_CALM_SECONDS = 0.004


class Framebuffer:
    """Pixels and pointer of one display, shared by all consumers.

    All methods may be called from any thread; an internal thread reads the events of the server.
    After a DisplayGone every later call raises it again. Frames have the name ``instance``, and
    are counted from ``counter`` on.
    """

    def __init__(
        self, display: str, xauthority: Path, *, instance: str = "", counter: int = 0
    ) -> None:
        self._display = display
        self._instance = instance
        self._first = counter
        self._xauthority = xauthority
        self._lock = threading.RLock()
        self._thread = threading.Thread(target=self._listen, name="x-events", daemon=True)
        self._damage_subscriptions: set[DamageSubscription] = set()
        self._frame_subscriptions: set[FrameSubscription] = set()
        self._history: deque[Damage] = deque()
        self._pending: list[Region] = []
        self._notified = False
        self._gone = False
        self._closing = False
        self._pointer_check_due = False
        self._reported_pointer = (Point(0, 0), 0)
        self._pointer_moved = 0.0
        self._cursor: Pointer | None = None
        self._connection: Any = None
        self._grabber: Grabber | None = None
        self._frame: Frame
        self._wake = -1
        self.used_at = time.monotonic()
        """Monotonic time of the last request for a frame."""

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
        """True if pixels arrive through shared memory."""
        return self._grabber is not None and self._grabber.shares_memory

    @property
    def counter(self) -> int:
        """Counter of the newest frame."""
        return self._snapshots.counter

    def open(self) -> None:
        """Connect and capture the first frame.

        Raises:
            DisplayGone: If there is no such display.
        """
        self._connection = connect(self._display, self._xauthority)
        self._wake = os.eventfd(0)
        try:
            with self._requests():
                self._prepare()
        except BaseException:
            self.close()
            raise
        self._thread.start()

    def close(self) -> None:
        """Disconnect; subscriptions end as if the display were lost. Idempotent."""
        with self._lock:
            if self._connection is None or self._closing:
                return
            self._closing = True
            os.eventfd_write(self._wake, 1)
        if self._thread.ident is not None:
            self._thread.join()
        with self._lock:
            self._lose()
            self._connection.disconnect()
            if self._grabber is not None:
                self._grabber.close()
            os.close(self._wake)

    def frame(self) -> Frame:
        """Return the newest pixels; capture only the rows with damage.

        Raises:
            DisplayGone: When the server or the connection is lost.
        """
        self.used_at = time.monotonic()
        with self._requests():
            self._refresh()
            return self._frame

    def release(self) -> None:
        """Free the snapshots until the next frame: the grabber has the same pixels."""
        with self._lock:
            if not self._gone and not self._closing:
                self._snapshots.release()
                self._frame = replace(self._frame, pixels=self._snapshots.pixels)

    def pointer(self) -> Pointer:
        """Return the current position and image of the pointer.

        Raises:
            DisplayGone: When the server or the connection is lost.
        """
        with self._requests():
            return self._query_pointer()

    def watch(self) -> DamageSubscription:
        """Subscribe to damage from now on.

        Raises:
            DisplayGone: When the server or the connection is lost.
        """
        with self._requests():
            # Damage from before this call belongs to the history, not to the new subscription.
            self._collect()
            recent = tuple(self._history)
            subscription = DamageSubscription(
                recent, self._display, self._forget_damage_subscription
            )
            self._damage_subscriptions.add(subscription)
            return subscription

    def subscribe(self) -> FrameSubscription:
        """Subscribe to new frames, for a thread of the caller."""
        with self._lock:
            subscription = FrameSubscription(
                self.frame, self.pointer, whole(self._size), self._forget_frame_subscription
            )
            self._frame_subscriptions.add(subscription)
            os.eventfd_write(self._wake, 1)
            return subscription

    def check_pointer_soon(self) -> None:
        """Poll the pointer soon; called after our own input, which may cause no damage."""
        if self._frame_subscriptions:
            with self._lock:
                self._pointer_check_due = True
                os.eventfd_write(self._wake, 1)

    def _prepare(self) -> None:
        screen = screen_of(self._connection)
        self._root = screen.root
        self._size = Size(screen.width_in_pixels, screen.height_in_pixels)
        self._snapshots = Snapshots(self._size, self._first)
        self._grabber = Grabber(self._connection, self._size)
        self._grabber.share_memory()
        self._ask_for_damage()
        # The first frame is the whole screen, so damage until now is of no interest.
        now = time.monotonic()
        self._collect()
        self._pending.clear()
        self._grabber.grab([(0, self._size.height)])
        self._snapshots.restore(self._grabber.pixels)
        self._frame = self._framed(now)

    def _forget_damage_subscription(self, subscription: DamageSubscription) -> None:
        with self._lock:
            self._damage_subscriptions.discard(subscription)

    def _forget_frame_subscription(self, subscription: FrameSubscription) -> None:
        with self._lock:
            self._frame_subscriptions.discard(subscription)

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
                # A valid request fails only if the screen was resized, so this display is gone.
                self._lose()
                raise DisplayGone(self._display, repr(error)) from error
            if self._notified and threading.current_thread() is not self._thread:
                # Reading the reply also read the event from the socket into xcffib's queue, so
                # the thread's `select` does not see it.
                os.eventfd_write(self._wake, 1)

    def _lose(self) -> None:
        self._gone = True
        for listener in tuple(self._damage_subscriptions):
            listener.lose()
        for subscription in tuple(self._frame_subscriptions):
            subscription.painted()

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
        # A new damage object is non-empty; without this it would never send a notification.
        self._damages.Subtract(self._damage, 0, 0)
        self._fixes.SelectCursorInput(self._root, xcffib.xfixes.CursorNotifyMask.DisplayCursor)

    def _drain(self) -> None:
        while (event := self._connection.poll_for_event()) is not None:
            if isinstance(event, xcffib.damage.NotifyEvent):
                self._notified = True
            elif isinstance(event, xcffib.xfixes.CursorNotifyEvent):
                self._cursor = None
                self._pointer_check_due = True

    def _collect(self) -> None:
        """Fetch the damage since the last call and publish it to the subscriptions."""
        self._drain()
        # The flag is cleared first: damage during the two requests sets it again.
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
        for listener in self._damage_subscriptions:
            listener.put(damage)
        for subscription in self._frame_subscriptions:
            subscription.painted(damage)

    def _refresh(self) -> None:
        self._collect()
        if self._grabber is None:
            return
        if not len(self._frame.pixels):
            # Before the grabber gets other pixels.
            self._snapshots.restore(self._grabber.pixels)
            self._frame = replace(self._frame, pixels=self._snapshots.pixels)
        if not self._pending:
            return
        now = time.monotonic()
        damage = merged(self._pending)
        self._grabber.grab(self._snapshots.rows(damage))
        # `_pending` is cleared after the rows were read: a failed capture keeps them pending.
        self._pending.clear()
        changed = self._snapshots.update(self._grabber.pixels, damage)
        if changed:
            self._frame = self._framed(now)
        for subscription in self._frame_subscriptions:
            if changed:
                subscription.changed(self._frame.counter, changed)
            else:
                subscription.unchanged()

    def _framed(self, now: float) -> Frame:
        snapshots = self._snapshots
        return Frame(snapshots.pixels, snapshots.counter, now, self._instance, snapshots.changed_at)

    def _query_pointer(self) -> Pointer:
        reply = self._connection.core.QueryPointer(self._root).reply()
        self._drain()
        position = Point(reply.root_x, reply.root_y)
        # The position is new in every reply; the image is fetched again only after a CursorNotify.
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
                waits = [polled + pause - now] if self._frame_subscriptions else []
                sources = [self._wake]
                if now < calm_until:
                    # Events wait in the socket, which is not watched, until the pause ends.
                    waits.append(calm_until - now)
                elif not self._notified:
                    sources.append(self._connection.get_file_descriptor())
                else:
                    waits.append(0.0)
                timeout = max(0.0, min(waits)) if waits else None
                if self._wake in select.select(sources, [], [], timeout)[0]:
                    os.eventfd_read(self._wake)
                if self._closing:
                    return
                with self._requests():
                    now = time.monotonic()
                    self._drain()
                    if self._notified and now >= calm_until:
                        self._collect()
                        calm_until = now + _CALM_SECONDS
                    if self._frame_subscriptions and (
                        self._pointer_check_due or now >= polled + pause
                    ):
                        polled = now
                        self._compare_pointer()

    def _compare_pointer(self) -> None:
        self._pointer_check_due = False
        pointer = self._query_pointer()
        if self._reported_pointer != (pointer.position, pointer.serial):
            self._reported_pointer = (pointer.position, pointer.serial)
            self._pointer_moved = time.monotonic()
            for subscription in self._frame_subscriptions:
                subscription.moved()
