"""Which node a desktop starts on, and why it waits for one. Pure.

A node takes desktops if it answers, has joined Ray, has our version, is not drained, has no problem
with its room, and was not left out after failures. Of those with a free place, the desktop gets

1. the one that has its profile, if any node has it: the data of a profile are on one node;
2. one on which no start of this desktop has failed;
3. one with desktops of its working directory;
4. the one with the most free places.
"""

from collections import Counter
from collections.abc import Sequence

from .actions import StartDesktop, stray_subject
from .situation import PLACED, FailedStart, PlacedDesktop, PlacingSituation, RoomWait, SeenNode

SILENT = "it does not answer"
FAILED = "its starts have failed"
MOST_REASONS = 3
"""Nodes whose reasons are named to a desktop that waits."""
PAUSE_SECONDS = 3.0
"""Before another start on a node where one of this desktop has failed."""


def refusal(node: SeenNode, now: float, version: str) -> str:
    """Return why a node takes no new desktops; empty if it does."""
    # First, as it is kept in the node's row alone.
    if node.refused_until > now:
        return node.reason or FAILED
    answer = node.up
    if answer is None:
        return SILENT
    if answer.version != version:
        return f"it has the version {answer.version}, and the control plane {version}"
    if node.draining or answer.draining:
        return "it is drained"
    if node.left_out_until > now:
        return node.left_out_reason
    return answer.room_problem or ("" if node.in_ray else "it has not joined Ray")


class FreePlaces:
    """The free places of all nodes, while desktops are distributed to them."""

    def __init__(self, situation: PlacingSituation) -> None:
        self._situation = situation
        self._nodes = situation.nodes
        now, version = situation.now, situation.version
        self._refusals = {n.name: refusal(n, now, version) for n in self._nodes.values()}
        placed = [one for one in situation.desktops if one.state in PLACED]
        self._running: dict[str, list[SeenNode]] = {}
        taken = {name: set(n.up.desktops) if n.up else set() for name, n in self._nodes.items()}
        for name, ids in taken.items():
            for desktop_id in ids:
                self._running.setdefault(desktop_id, []).append(self._nodes[name])
        # What a node has besides the desktops that it should have takes places, too.
        for one in placed:
            taken.setdefault(one.node, set()).add(one.id)
        self._free = {
            name: node.up.places - len(taken[name]) if node.up else 0
            for name, node in self._nodes.items()
        }
        self._workdirs = Counter([(one.node, one.workdir) for one in placed if one.workdir])
        self._homes = {(one.node, one.profile) for one in placed if one.profile}
        self._homes |= {(n.name, one) for n in self._nodes.values() for one in n.profiles}

    def choose(
        self, desktop: PlacedDesktop, failed: Sequence[FailedStart], before: int
    ) -> StartDesktop | RoomWait:
        """Return the start of a desktop, whose place is taken then; the reason if it must wait.

        ``before`` are the desktops that wait longer.
        """
        if (found := self._running_on(desktop.id)) is not None:
            return self._taken(desktop, found, is_running=True)
        open_nodes = [n for n in self._nodes.values() if not self._refusals[n.name]]
        if desktop.profile:
            homes = [n for n in self._nodes.values() if (n.name, desktop.profile) in self._homes]
            if homes:
                open_nodes = [node for node in homes if not self._refusals[node.name]]
            elif any(n.answer is None and not n.is_down for n in self._nodes.values()):
                return RoomWait(f"the node of the profile {desktop.profile} is looked for")
        else:
            homes = []
        failures = Counter([one.node for one in failed])
        ranked = sorted(
            [node for node in open_nodes if self._free[node.name] > 0],
            key=lambda node: (
                failures[node.name],
                not self._workdirs[node.name, desktop.workdir],
                -self._free[node.name],
                node.name,
            ),
        )
        if not ranked:
            return self._of_profile(desktop.profile, homes[0]) if homes else self._no_room(before)
        found = ranked[0]
        if failures[found.name] and failed[-1].at + PAUSE_SECONDS > self._situation.now:
            return RoomWait(f"it is tried again on node {found.name}: {failed[-1].reason}")
        return self._taken(desktop, found)

    def _taken(
        self, desktop: PlacedDesktop, node: SeenNode, *, is_running: bool = False
    ) -> StartDesktop:
        # One that runs has its place already.
        self._free[node.name] -= not is_running
        if desktop.workdir:
            self._workdirs[node.name, desktop.workdir] += 1
        if desktop.profile:
            self._homes.add((node.name, desktop.profile))
        return StartDesktop(desktop.id, node.name, node.address, is_running)

    def _running_on(self, desktop_id: str) -> SeenNode | None:
        """Return the node on which a start has succeeded although it seemed to have failed."""
        for node in self._running.get(desktop_id, ()):
            if stray_subject(desktop_id, node.name) not in self._situation.busy:
                return node
        return None

    def _no_room(self, before: int) -> RoomWait:
        full = [node for node in self._nodes.values() if self._is_full(node)]
        refusing = [f"node {name} refuses: {why}" for name, why in self._refusals.items() if why]
        refusing = refusing[:MOST_REASONS]
        if refusing and not full:
            return RoomWait("; ".join(refusing))
        places = sum(node.up.places for node in full if node.up)
        free = sum(max(self._free[node.name], 0) for node in full)
        nodes = "1 node" if len(full) == 1 else f"{len(full)} nodes"
        room = f"no room: {nodes}, {free} of {places} places free; {before} before you"
        return RoomWait("; ".join([room, *refusing]), tuple([node.name for node in full]))

    def _is_full(self, node: SeenNode) -> bool:
        """Return whether a node takes a desktop as soon as another one ends there."""
        return node.up is not None and self._refusals[node.name] in ("", node.up.room_problem)

    def _of_profile(self, profile: str, home: SeenNode) -> RoomWait:
        why = self._refusals[home.name] or "it has no place free"
        reason = f"the profile {profile} is on node {home.name}, which refuses: {why}"
        return RoomWait(reason, (home.name,) if self._is_full(home) else ())
