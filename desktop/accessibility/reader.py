"""The widgets of all applications, asked over AT-SPI's own message bus."""

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jeepney import DBusAddress, Message, MessageType, Properties, new_method_call
from jeepney.io.blocking import DBusConnection

from deskhand.desktop.errors import NoAccessibility
from deskhand.desktop.geometry import Region

from .bus import ACCESSIBLE, COMPONENT, REGISTRY, REPLY_SERIAL, Address, next_message, widget_bus
from .tree import Node

_ROOT = (REGISTRY, "/org/a11y/atspi/accessible/root")
_SCREEN = 0
_AT_ONCE = 50
MOST_NODES = 3000
DEEPEST = 60
LONGEST_SECONDS = 5.0

_NOWHERE = Region(0, 0, 0, 0)

_NAME = re.compile(r":[\w-]+(\.[\w-]+)+|[A-Za-z_-][\w-]*(\.[A-Za-z_-][\w-]*)+", re.ASCII)
_PATH = re.compile(r"/|(/\w+)+", re.ASCII)
"""D-Bus specification, valid names: the bus hangs up on whoever uses others."""
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


def widgets(environment: Mapping[str, str]) -> tuple[tuple[Node, ...], bool]:
    """Return the tree of every application, and whether it is all of it. Blocks.

    ``environment`` is that of an application, with the address of the session's bus.

    Raises:
        NoAccessibility: If there is no such bus.
    """
    with widget_bus(environment) as bus:
        return widgets_on(bus)


def widgets_on(bus: DBusConnection) -> tuple[tuple[Node, ...], bool]:
    """Return the tree of every application on a bus, and whether it is all of it. Blocks.

    An application may say anything: what makes no sense is left out.

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
    """Asks for many objects at once."""

    def __init__(self, bus: DBusConnection, deadline: float) -> None:
        self._bus = bus
        self._deadline = deadline
        self._left = MOST_NODES
        self.complete = True

    def descend(self, level: Sequence[_Found]) -> list[_Found]:
        """Read the children of all of one level."""
        wanted = [(parent, address) for parent in level for address in parent.children]
        if len(wanted) > self._left:
            self.complete = False
        read = self.read([address for _, address in wanted[: self._left]])
        for (parent, _), found in zip(wanted, read, strict=False):
            parent.below.append(found)
        return read

    def read(self, addresses: Sequence[Address], top: bool = False) -> list[_Found]:
        """Read objects; one that does not answer is empty."""
        found: list[_Found] = []
        for start in range(0, len(addresses), _AT_ONCE):
            found += self._read(addresses[start : start + _AT_ONCE], top)
        self._left -= len(found)
        return found

    def _read(self, addresses: Sequence[Address], top: bool) -> list[_Found]:
        found = [_Found() for _ in addresses]
        waiting: dict[int, tuple[_Found, str]] = {}
        for one, address in zip(found, addresses, strict=True):
            for what, message in _questions(address):
                serial = next(self._bus.outgoing_serial)
                self._bus.send(message, serial=serial)
                waiting[serial] = (one, what)
        for serial, body in self._replies(waiting):
            one, what = waiting[serial]
            _note(one, what, body)
        for one in found:
            # What has no extent shows nothing, and nothing below it does.
            if not top and one.rectangle.is_empty:
                one.children = ()
        return found

    def _replies(self, waiting: Mapping[int, object]) -> Iterator[tuple[int, Any]]:
        missing = set(waiting)
        while missing:
            try:
                message = next_message(self._bus, max(0.0, self._deadline - time.monotonic()))
            except TimeoutError:
                self.complete = False
                return
            if message is None:
                # Nobody knows whose answer it was, which is waited for to the end.
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


def _note(found: _Found, what: str, body: Any) -> None:
    match what, body:
        case "name", ((_, str(name)),):
            found.name = name
        case "role", (str(role),):
            found.role = role
        case "states", ([int(low), int(high)],):
            found.states = low | high << 32
        case "children", (list(children),):
            found.children = [one for one in children if _is_address(one)]
        case "rectangle", ((int(left), int(top), int(width), int(height)),):
            found.rectangle = Region(left, top, left + width, top + height)


def _is_address(said: Any) -> bool:
    match said:
        case (str(name), str(path)):
            named = len(name) <= _LONGEST_NAME and _NAME.fullmatch(name)
            return bool(named and _PATH.fullmatch(path) and path != _RESERVED)
    return False
