"""Reads the widgets of all applications over the AT-SPI bus.

The tree is read breadth first, and the next calls are sent while the replies to earlier ones are
on their way: an application answers one message at a time, so that asking for one object after
the other would take a round trip for each, and the application would wait for us in between.
`org.a11y.atspi.Cache` is no shorter way: Chromium's answer contains no widget of its pages.
"""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from jeepney.io.blocking import DBusConnection

from deskhand.desktop.errors import NoAccessibility
from deskhand.desktop.geometry import Region

from .bus import ConnectBus, widget_bus
from .call_stream import CallStream
from .interfaces import REGISTRY, Address
from .roles import current_name
from .tree import Node
from .widget_calls import FIELDS

_ROOT = (REGISTRY, "/org/a11y/atspi/accessible/root")
_AT_ONCE = 60
"""Objects in flight; their calls are sent without waiting and fit into the buffer of a socket."""
MOST_NODES = 10_000
DEEPEST = 60
LONGEST_SECONDS = 5.0

_NOWHERE = Region(0, 0, 0, 0)

_NAME = re.compile(r":[\w-]+(\.[\w-]+)+|[A-Za-z_-][\w-]*(\.[A-Za-z_-][\w-]*)+", re.ASCII)
_PATH = re.compile(r"/|(/\w+)+", re.ASCII)
"""Valid bus names and object paths (D-Bus specification): the bus disconnects a client that sends
any others, and applications may report anything as the address of a child."""
_LONGEST_NAME = 255
_RESERVED = "/org/freedesktop/DBus/Local"


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
) -> tuple[tuple[Node, ...], bool]:
    """Return the tree of every application, and True if the trees are complete. Blocks.

    ``environment`` is that of an application, with the address of the session bus.

    Raises:
        NoAccessibility: If there is no such bus.
    """
    with widget_bus(environment, connect) as bus:
        return widgets_on(bus)


def widgets_on(
    bus: DBusConnection, longest: float = LONGEST_SECONDS, most: int = MOST_NODES
) -> tuple[tuple[Node, ...], bool]:
    """Return the tree of every application on a bus, and True if the trees are complete. Blocks.

    After ``longest`` seconds or ``most`` widgets the rest of the trees is left out. Malformed
    answers of an application are skipped.

    Raises:
        NoAccessibility: If the bus is lost.
    """
    reader = _Reader(CallStream(bus), time.monotonic() + longest, most)
    try:
        roots = reader.read([_ROOT], top=True)
        level = reader.descend(roots, top=True)
        for _ in range(DEEPEST):
            level = reader.descend(level)
            if not level:
                break
    except OSError as error:
        raise NoAccessibility(f"the message bus was lost: {error}") from error
    return tuple(found.node() for found in roots[0].below), reader.complete and not level


class _Reader:
    """Reads objects until the deadline, ``most`` of them."""

    def __init__(self, calls: CallStream, deadline: float, most: int) -> None:
        self._calls = calls
        self._deadline = deadline
        self._remaining = most
        self.complete = True

    def descend(self, level: Sequence[_Found], top: bool = False) -> list[_Found]:
        """Read the children of all objects of one level."""
        wanted = [(parent, address) for parent in level for address in parent.children]
        if len(wanted) > self._remaining:
            self.complete = False
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
            self.complete = False
        for found_one in found:
            # An object without extent is invisible, and so are its descendants.
            if not top and found_one.rectangle.is_empty:
                found_one.children = ()
        return found

    def _fill(self, found: Sequence[_Found], addresses: Sequence[Address]) -> None:
        waiting = zip(found, addresses, strict=True)
        pending: dict[int, tuple[_Found, str]] = {}
        most = _AT_ONCE * len(FIELDS)
        while True:
            if len(pending) <= most // 2:
                more = list(islice(waiting, _AT_ONCE // 2))
                self._send(more, pending)
            if not pending:
                return
            for serial, body in self._calls.replies(self._left()):
                found_one, attribute = pending.pop(serial, (_Found(), ""))
                _set_field(found_one, attribute, body)

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
            found.name = name
        case "role", (str(role),):
            found.role = current_name(role)
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
            named = len(name) <= _LONGEST_NAME and _NAME.fullmatch(name)
            return bool(named and _PATH.fullmatch(path) and path != _RESERVED)
    return False
