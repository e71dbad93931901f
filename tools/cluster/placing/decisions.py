"""What the placer does next. Pure.

States of a desktop's row: ``wanted`` -> ``starting`` -> ``ready`` -> ``ending`` -> ``ended``, or
``refused``, or ``lost``. Rules:

- A desktop whose action has not ended gets no other one, so it is never started twice. A start that
  another placer has begun is continued: a node starts a desktop once, however often it is asked.
- A node that does not answer keeps its desktops until it is down. Then they are lost, and those
  that were starting there are wanted again.
- A desktop that is ready is lost if its node answers and does not have it. The answer must be newer
  than the state.
- A node that has a desktop which belongs elsewhere, or is over, ends it. Its answer must be newer
  than the last end of that desktop there.
- The oldest desktop that is wanted is placed first, on the node that `selection` finds. It waits
  with a reason, and is refused after three failed starts, or after ten minutes.
- Reservations follow the rows, also those of a Ray that has lost them all.
"""

from collections.abc import Iterator

from .actions import (
    Action,
    EndDesktop,
    EndStray,
    ExplainWait,
    FinishEnd,
    ForgetNode,
    LoseDesktop,
    MarkNode,
    ReaddressDesktop,
    RefuseDesktop,
    ReleaseRoom,
    RequeueDesktop,
    ReserveRoom,
    StartDesktop,
    resumed,
    stray_subject,
)
from .selection import FreePlaces, refusal
from .situation import (
    ENDING,
    READY,
    SILENT_SECONDS,
    STARTING,
    WANTED,
    PlacedDesktop,
    PlacingSituation,
    RoomWait,
    SeenNode,
    StartHistory,
)

MOST_STARTS = 3
"""Attempts at one desktop."""
WAIT_SECONDS = 600.0
"""For which a desktop waits for room."""
MARGIN_SECONDS = 1.0
"""By which an answer must be newer than the state of a row: their times are of two clocks."""
SAME_MOMENT = 0.6
"""Part of the time after which a node is down, within which nodes become silent whose connection
with this placer is cut."""
FORGET_SECONDS = 86_400.0
"""After which a node is forgotten that is gone."""


def decide(situation: PlacingSituation) -> tuple[Action, ...]:
    """Return what is to be done now; actions that have not ended are left alone."""
    found = (
        *_placed(situation),
        *_strays(situation),
        *_reservations(situation),
        *_waiting(situation),
        *_nodes(situation),
    )
    return tuple([one for one in found if one.subject not in situation.busy])


def is_cut_off(situation: PlacingSituation) -> bool:
    """Return whether this placer, rather than all nodes at once, seems to have lost its network.

    Another placer leads then. If it reaches no node either, it finds none that has answered it.
    """
    nodes = [one for one in situation.nodes.values() if one.answer is not None]
    silences = [one.silent_seconds / one.down_seconds for one in nodes]
    # As soon as the first one is down: its desktops would be lost before the last one is.
    if len(nodes) < 2 or not any(one.is_down for one in nodes):
        return False
    return max(silences) - min(silences) < SAME_MOMENT


def _placed(situation: PlacingSituation) -> Iterator[Action]:
    for desktop in situation.desktops:
        node = situation.nodes.get(desktop.node)
        match desktop.state:
            case state if state == STARTING:
                yield from _starting(desktop, node)
            case state if state == READY:
                yield from _ready(desktop, node)
            case state if state == ENDING:
                yield from _ending(desktop, node)


def _starting(desktop: PlacedDesktop, node: SeenNode | None) -> Iterator[Action]:
    if node is None or node.is_down:
        yield RequeueDesktop(desktop.id, desktop.generation, _gone(desktop, node))
    elif node.up is not None:
        yield resumed(desktop, node)


def _ready(desktop: PlacedDesktop, node: SeenNode | None) -> Iterator[Action]:
    if node is None or node.is_down:
        yield LoseDesktop(desktop.id, desktop.generation, _gone(desktop, node))
    elif node.up is not None and desktop.id in node.up.desktops:
        if desktop.address != node.address:
            yield ReaddressDesktop(desktop.id, node.name, node.address)
    elif node.up is not None and node.asked_at > desktop.changed_at + MARGIN_SECONDS:
        reason = f"the desktop has ended by itself on node {node.name}"
        yield LoseDesktop(desktop.id, desktop.generation, reason)


def _ending(desktop: PlacedDesktop, node: SeenNode | None) -> Iterator[Action]:
    # A node that is down ends its desktop when it is back: the row is over then.
    if node is None or node.is_down:
        yield FinishEnd(desktop.id)
    elif node.up is not None:
        yield EndDesktop(desktop.id, node.name, node.address)


def _gone(desktop: PlacedDesktop, node: SeenNode | None) -> str:
    seconds = SILENT_SECONDS if node is None else node.down_seconds
    return f"node {desktop.node} has not answered for {seconds:.0f} s"


def _strays(situation: PlacingSituation) -> Iterator[Action]:
    known = {one.id: one for one in situation.desktops}
    for node in situation.nodes.values():
        for desktop_id in sorted(node.up.desktops) if node.up is not None else ():
            if desktop_id in situation.busy or _belongs(known.get(desktop_id), node):
                continue
            ended_at = situation.ended.get(stray_subject(desktop_id, node.name))
            if ended_at is None or node.asked_at > ended_at + MARGIN_SECONDS:
                yield EndStray(desktop_id, node.name, node.address)


def _belongs(desktop: PlacedDesktop | None, node: SeenNode) -> bool:
    # One that is wanted is started where it runs already.
    return desktop is not None and (desktop.state == WANTED or desktop.node == node.name)


def _reservations(situation: PlacingSituation) -> Iterator[Action]:
    held = situation.reservations
    if held is None:
        return
    known = {one.id: one for one in situation.desktops}
    yield from (ReleaseRoom(one) for one in sorted(held) if one not in known)
    for desktop in situation.desktops:
        node = situation.nodes.get(desktop.node)
        # A start reserves its room itself.
        if desktop.state != READY or node is None or held.get(desktop.id) == node.name:
            continue
        if node.in_ray and node.left_out_until <= situation.now:
            yield ReserveRoom(desktop.id, node.name)


def _waiting(situation: PlacingSituation) -> Iterator[Action]:
    free = FreePlaces(situation)
    before = 0
    for desktop in situation.desktops:
        if desktop.state != WANTED or desktop.id in situation.busy or _is_ended(desktop, situation):
            continue
        history = situation.history.get(desktop.id) or StartHistory(desktop.changed_at)
        if len(history.failed) >= MOST_STARTS:
            yield RefuseDesktop(desktop.id, history.failed[-1].reason)
            continue
        found = _without_ray(situation) or free.choose(desktop, history.failed, before)
        if isinstance(found, StartDesktop):
            yield found
            continue
        if situation.now - history.since >= WAIT_SECONDS:
            yield RefuseDesktop(desktop.id, found.reason)
            continue
        before += 1
        if found != desktop.wait:
            yield ExplainWait(desktop.id, found)


def _without_ray(situation: PlacingSituation) -> RoomWait | None:
    return RoomWait(situation.rooms_problem) if situation.rooms_problem else None


def _is_ended(desktop: PlacedDesktop, situation: PlacingSituation) -> bool:
    """Return whether a node is just ending what an earlier attempt has left."""
    return any(stray_subject(desktop.id, name) in situation.busy for name in situation.nodes)


def _nodes(situation: PlacingSituation) -> Iterator[Action]:
    used = {one.node for one in situation.desktops}
    for node in situation.nodes.values():
        away = node.is_down and not node.in_ray and node.name not in used
        if away and situation.now - node.seen_at > FORGET_SECONDS:
            yield ForgetNode(node.name)
            continue
        reason = refusal(node, situation.now, situation.version)
        # A node has a row from its first answer on.
        if node.seen_at and reason != node.reason:
            yield MarkNode(node.name, reason)
