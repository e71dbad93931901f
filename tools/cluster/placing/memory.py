"""What a placer remembers while it leads, beside the rows: waits, failed starts, nodes left out.

The next one begins without it: a desktop may then wait longer, and be tried more often. Times are
those of the database, as of the newest read. Pure.
"""

from collections.abc import Iterable, Mapping

from .actions import stray_subject
from .failures import HUNG_SECONDS, MOST_HUNG_SECONDS
from .situation import WANTED, FailedStart, PlacedDesktop, StartHistory

ENDED_SECONDS = 60.0
"""For which an end on a node is remembered: newer answers of the node show it."""
LeftOut = tuple[float, str]
"""Until when a node gets no desktops, and why."""


class PlacerMemory:
    """What is remembered of desktops and nodes."""

    def __init__(self) -> None:
        self.now = 0.0
        self.history: dict[str, StartHistory] = {}
        """Of each desktop that waits."""
        self.left_out: dict[str, LeftOut] = {}
        self.ended: dict[str, float] = {}
        """When a node has ended a desktop, by `stray_subject`."""
        self._failures: dict[str, int] = {}
        self._hung: dict[str, int] = {}
        """How often in a row Ray has reserved no room on a node."""
        self._strays: set[str] = set()

    def clear(self) -> None:
        """Forget everything, as another placer may have led meanwhile."""
        for remembered in (self.history, self.left_out, self._failures, self._hung, self.ended):
            remembered.clear()
        self._strays.clear()

    def read(
        self, now: float, desktops: Iterable[PlacedDesktop], failures: Mapping[str, int]
    ) -> None:
        """Take in the rows: the time, the desktops, and the failures of the nodes."""
        self.now = now
        living = {one.id: one for one in desktops}
        for gone in self.history.keys() - living.keys():
            del self.history[gone]
        for one in living.values():
            if one.state == WANTED:
                self.history.setdefault(one.id, StartHistory(one.changed_at))
        for subject in [one for one, at in self.ended.items() if at < now - ENDED_SECONDS]:
            del self.ended[subject]
            self._strays.discard(subject)
        for node, count in failures.items():
            # Later failures are counted here: several starts of a node fail side by side.
            self._failures.setdefault(node, count)

    def forget(self, desktop_id: str) -> None:
        """Forget a desktop that waits no more."""
        self.history.pop(desktop_id, None)

    def desktop_ended(self, desktop_id: str, node: str, at: float) -> None:
        """Remember that a node has ended a desktop; its earlier answers still have it."""
        self.ended[stray_subject(desktop_id, node)] = at

    def is_new_stray(self, desktop_id: str, node: str) -> bool:
        """Return whether a node has not been seen before with a desktop that is not its own."""
        subject = stray_subject(desktop_id, node)
        is_new = subject not in self._strays
        self._strays.add(subject)
        return is_new

    def start_failed(self, desktop_id: str, node: str, reason: str) -> None:
        """Remember a failed start."""
        before = self.history.get(desktop_id) or StartHistory(self.now)
        failed = (*before.failed, FailedStart(node, reason, self.now))
        self.history[desktop_id] = StartHistory(before.since, failed)

    def leave_out(self, node: str, reason: str, seconds: float) -> None:
        """Give a node no desktops for so long."""
        self.left_out[node] = (self.now + seconds, reason)

    def ray_hung(self, node: str, reason: str) -> None:
        """Leave a node out on which Ray has reserved no room: shortly, as Ray may have been slow.

        Several that fail side by side count once.
        """
        if self.left_out.get(node, (0.0, ""))[0] > self.now:
            return
        times = self._hung.get(node, 0)
        self._hung[node] = times + 1
        self.leave_out(node, reason, min(HUNG_SECONDS * 2**times, MOST_HUNG_SECONDS))

    def ray_reserved(self, node: str) -> None:
        """Forget that Ray has hung on a node."""
        self._hung.pop(node, None)

    def failures(self, node: str) -> int:
        """Return how many starts of a node have failed in a row."""
        return self._failures.get(node, 0)

    def node_failed(self, node: str, count: int) -> None:
        """Remember how many starts of a node have failed in a row."""
        self._failures[node] = count

    def node_succeeded(self, node: str) -> bool:
        """Forget the failures of a node; return whether it had any."""
        had = self.failures(node) > 0
        self._failures[node] = 0
        return had
