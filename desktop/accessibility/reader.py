"""Reads the widgets of all applications over the AT-SPI bus.

What applications answer is limited before it is kept, and `Cut` names what was left out.

The tree is read breadth first, and the next calls are sent while the replies to earlier ones are
on their way: an application answers one message at a time, so that asking for one object after
the other would take a round trip for each, and the application would wait for us in between.
`org.a11y.atspi.Cache` is no shorter way: Chromium's answer contains no widget of its pages.
"""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import Any

from jeepney.io.blocking import DBusConnection

from deskhand.desktop.errors import NoAccessibility
from deskhand.desktop.geometry import Region

from .bus import ConnectBus, widget_bus
from .call_stream import CallStream
from .interfaces import LONGEST_ADDRESS, REGISTRY, Address
from .roles import current_name
from .tree import LONGEST_NAME, Node
from .widget_calls import FIELDS

_ROOT = (REGISTRY, "/org/a11y/atspi/accessible/root")
_AT_ONCE = 60
"""Objects in flight; their calls are sent without waiting and fit into the buffer of a socket."""
MOST_NODES = 10_000
DEEPEST = 60
LONGEST_SECONDS = 5.0
MOST_BYTES = 64 * 1024 * 1024
"""Bytes of all answers; 10,000 widgets of a browser take 10 MiB."""
_MOST_ADDRESSES = 4 * MOST_NODES
"""Children that are kept of all widgets: those of invisible ones are listed, and never read."""

_NOWHERE = Region(0, 0, 0, 0)

_NAME = re.compile(r":[\w-]+(\.[\w-]+)+|[A-Za-z_-][\w-]*(\.[A-Za-z_-][\w-]*)+", re.ASCII)
_PATH = re.compile(r"/|(/\w+)+", re.ASCII)
"""Valid bus names and object paths (D-Bus specification): the bus disconnects a client that sends
any others, and applications may report anything as the address of a child."""
_RESERVED = "/org/freedesktop/DBus/Local"


class Cut(StrEnum):
    """What the limits left out."""

    BYTES = "bytes"
    """All after `MOST_BYTES`, or the part of a widget whose answer was too long."""
    CHILDREN = "children"
    DEPTH = "depth"
    NAMES = "names"
    """The ends of names, which leave the tree complete."""
    TIME = "time"
    """All after `LONGEST_SECONDS`."""
    WIDGETS = "widgets"
    """All after `MOST_NODES`."""


@dataclass
class _Found:
    role: str = ""
    name: str = ""
    rectangle: Region = _NOWHERE
    states: int = 0
    children: Sequence[Address] = ()
    below: list["_Found"] = field(default_factory=list)

    def node(self) -> Node:
        children = tuple(child.node() for child in self.below)
        return Node(self.role, self.name, self.rectangle, self.states, children)


def widgets(
    environment: Mapping[str, str], connect: ConnectBus | None = None
) -> tuple[tuple[Node, ...], frozenset[Cut]]:
    """Return the tree of every application, and what was left out. Blocks.

    ``environment`` is that of an application, with the address of the session bus.

    Raises:
        NoAccessibility: If there is no such bus.
    """
    with widget_bus(environment, connect) as bus:
        return widgets_on(bus)


def widgets_on(
    bus: DBusConnection,
    longest: float = LONGEST_SECONDS,
    most: int = MOST_NODES,
    most_bytes: int = MOST_BYTES,
) -> tuple[tuple[Node, ...], frozenset[Cut]]:
    """Return the tree of every application on a bus, and what was left out. Blocks.

    After ``longest`` seconds, ``most`` widgets or ``most_bytes`` the rest of the trees is left out.
    Malformed answers of an application are skipped.

    Raises:
        NoAccessibility: If the bus is lost.
    """
    reader = _Reader(CallStream(bus), time.monotonic() + longest, most, most_bytes)
    try:
        roots = reader.read([_ROOT], top=True)
        level = reader.descend(roots, top=True)
        for _ in range(DEEPEST):
            level = reader.descend(level)
            if not level:
                break
    except OSError as error:
        raise NoAccessibility(f"the message bus was lost: {error}") from error
    if any(found.children for found in level):
        reader.cut.add(Cut.DEPTH)
    return tuple(found.node() for found in roots[0].below), frozenset(reader.cut)


class _Reader:
    """Reads objects until the deadline, ``most`` of them in ``most_bytes``."""

    def __init__(self, calls: CallStream, deadline: float, most: int, most_bytes: int) -> None:
        self._calls = calls
        self._deadline = deadline
        self._remaining = most
        self._most_bytes = most_bytes
        self._addresses = _MOST_ADDRESSES
        self.cut: set[Cut] = set()

    def descend(self, level: Sequence[_Found], top: bool = False) -> list[_Found]:
        """Read the children of all objects of one level."""
        wanted = [(parent, address) for parent in level for address in parent.children]
        if len(wanted) > self._remaining:
            self.cut.add(Cut.WIDGETS)
        read = self.read([address for _, address in wanted[: self._remaining]], top)
        # `read` is shorter than `wanted` where the limit was reached.
        for (parent, _), found in zip(wanted, read, strict=False):
            parent.below.append(found)
        return read

    def read(self, addresses: Sequence[Address], top: bool = False) -> list[_Found]:
        """Read objects; one that does not answer is empty."""
        found = [_Found() for _ in addresses]
        self._remaining -= len(found)
        try:
            self._fill(found, addresses)
        except TimeoutError:
            self.cut.add(Cut.TIME)
        if self._calls.shortened:
            self.cut.add(Cut.BYTES)
        for found_one in found:
            # An object without extent is invisible, and so are its descendants.
            if not top and found_one.rectangle.is_empty:
                found_one.children = ()
        return found

    def _fill(self, found: Sequence[_Found], addresses: Sequence[Address]) -> None:
        waiting = zip(found, addresses, strict=True)
        pending: dict[int, tuple[_Found, str]] = {}
        most = _AT_ONCE * len(FIELDS)
        while self._calls.received <= self._most_bytes:
            if len(pending) <= most // 2:
                more = list(islice(waiting, _AT_ONCE // 2))
                self._send(more, pending)
            if not pending:
                return
            for serial, body in self._calls.replies(self._left()):
                found_one, attribute = pending.pop(serial, (_Found(), ""))
                _set_field(found_one, attribute, body)
                self._limit(found_one, attribute)
        self.cut.add(Cut.BYTES)

    def _limit(self, found: _Found, attribute: str) -> None:
        if attribute == "name":
            if len(found.name) > LONGEST_NAME:
                self.cut.add(Cut.NAMES)
            found.name = found.name[:LONGEST_NAME]
        elif attribute == "children":
            if len(found.children) > self._addresses:
                self.cut.add(Cut.CHILDREN)
            # One more than may be read, so that `descend` finds it missing.
            found.children = found.children[: min(self._remaining + 1, self._addresses)]
            self._addresses -= len(found.children)

    def _send(
        self, more: Sequence[tuple[_Found, Address]], pending: dict[int, tuple[_Found, str]]
    ) -> None:
        if more:
            serials = self._calls.send([address for _, address in more], self._left())
            for (found_one, _), first in zip(more, serials, strict=True):
                pending |= {first + at: (found_one, name) for at, name in enumerate(FIELDS)}

    def _left(self) -> float:
        return self._deadline - time.monotonic()


def _set_field(found: _Found, attribute: str, body: Any) -> None:
    match attribute, body:
        case "name", ((_, str(name)),):
            found.name = name.strip()
        case "role", (str(role),):
            found.role = current_name(role[:LONGEST_NAME])
        case "states", ([int(low), int(high)],):
            # AT-SPI sends the state set as two words of 32 bits.
            found.states = low | high << 32
        case "children", (list(children),):
            found.children = [child for child in children if _is_address(child)]
        case "rectangle", ((int(left), int(top), int(width), int(height)),):
            found.rectangle = Region(left, top, left + width, top + height)


def _is_address(value: Any) -> bool:
    match value:
        case (str(name), str(path)):
            if max(len(name), len(path)) > LONGEST_ADDRESS or path == _RESERVED:
                return False
            return bool(_NAME.fullmatch(name) and _PATH.fullmatch(path))
    return False
