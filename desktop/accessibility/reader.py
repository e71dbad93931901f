"""Reads the widgets of all applications over the AT-SPI bus.

The tree is read breadth first, with up to 50 objects in flight: an application answers one message
at a time, so that asking for one object after the other would take a round trip for each.
"""

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jeepney import DBusAddress, Message, MessageType, Properties, new_method_call
from jeepney.io.blocking import DBusConnection

from deskhand.desktop.errors import NoAccessibility
from deskhand.desktop.geometry import Region

from .bus import (
    ACCESSIBLE,
    COMPONENT,
    REGISTRY,
    REPLY_SERIAL,
    Address,
    ConnectBus,
    next_message,
    widget_bus,
)
from .roles import current_name
from .tree import Node

_ROOT = (REGISTRY, "/org/a11y/atspi/accessible/root")
# ATSPI_COORD_TYPE_SCREEN of atspi-constants.h.
_SCREEN = 0
_AT_ONCE = 50
MOST_NODES = 3000
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


def widgets_on(bus: DBusConnection) -> tuple[tuple[Node, ...], bool]:
    """Return the tree of every application on a bus, and True if the trees are complete. Blocks.

    Malformed answers of an application are skipped.

    Raises:
        NoAccessibility: If the bus is lost.
    """
    reader = _Reader(bus, time.monotonic() + LONGEST_SECONDS)
    try:
        roots = reader.read([_ROOT], top=True)
        level = roots[0].below = reader.read(roots[0].children, top=True)
        for _ in range(DEEPEST):
            level = reader.descend(level)
            if not level:
                break
    except OSError as error:
        raise NoAccessibility(f"the message bus was lost: {error}") from error
    return tuple(found.node() for found in roots[0].below), reader.complete and not level


class _Reader:
    """Reads objects in batches until the deadline, `MOST_NODES` at most."""

    def __init__(self, bus: DBusConnection, deadline: float) -> None:
        self._bus = bus
        self._deadline = deadline
        self._remaining = MOST_NODES
        self.complete = True

    def descend(self, level: Sequence[_Found]) -> list[_Found]:
        """Read the children of all objects of one level."""
        wanted = [(parent, address) for parent in level for address in parent.children]
        if len(wanted) > self._remaining:
            self.complete = False
        read = self.read([address for _, address in wanted[: self._remaining]])
        # `read` is shorter than `wanted` where the limit was reached.
        for (parent, _), found in zip(wanted, read, strict=False):
            parent.below.append(found)
        return read

    def read(self, addresses: Sequence[Address], top: bool = False) -> list[_Found]:
        """Read objects; one that does not answer is empty."""
        found: list[_Found] = []
        for start in range(0, len(addresses), _AT_ONCE):
            found += self._read(addresses[start : start + _AT_ONCE], top)
        self._remaining -= len(found)
        return found

    def _read(self, addresses: Sequence[Address], top: bool) -> list[_Found]:
        found = [_Found() for _ in addresses]
        pending: dict[int, tuple[_Found, str]] = {}
        for found_one, address in zip(found, addresses, strict=True):
            for attribute, message in _questions(address):
                serial = next(self._bus.outgoing_serial)
                self._bus.send(message, serial=serial)
                pending[serial] = (found_one, attribute)
        for serial, body in self._replies(pending):
            found_one, attribute = pending[serial]
            _set_field(found_one, attribute, body)
        for found_one in found:
            # An object without extent is invisible, and so are its descendants.
            if not top and found_one.rectangle.is_empty:
                found_one.children = ()
        return found

    def _replies(self, pending: Mapping[int, object]) -> Iterator[tuple[int, Any]]:
        missing = set(pending)
        while missing:
            try:
                message = next_message(self._bus, max(0.0, self._deadline - time.monotonic()))
            except TimeoutError:
                self.complete = False
                return
            if message is None:
                # An unparsable message carries no reply serial: the deadline ends its query.
                continue
            serial = message.header.fields.get(REPLY_SERIAL)
            if serial in missing:
                missing.discard(serial)
                if message.header.message_type is MessageType.method_return:
                    yield serial, message.body


def _questions(address: Address) -> Iterable[tuple[str, Message]]:
    name, path = address
    accessible = DBusAddress(path, bus_name=name, interface=ACCESSIBLE)
    component = DBusAddress(path, bus_name=name, interface=COMPONENT)
    yield "name", Properties(accessible).get("Name")
    yield "role", new_method_call(accessible, "GetRoleName")
    yield "states", new_method_call(accessible, "GetState")
    yield "children", new_method_call(accessible, "GetChildren")
    yield "rectangle", new_method_call(component, "GetExtents", "u", (_SCREEN,))


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
