"""URL of the web page that contains a widget, read over AT-SPI."""

from typing import Any

from jeepney import (
    DBusAddress,
    Message,
    MessageType,
    Properties,
    message_bus,
    new_method_call,
)
from jeepney.io.blocking import DBusConnection
from jeepney.wrappers import DBusErrorResponse

from .interfaces import ACCESSIBLE, DOCUMENT, Address

_DOCUMENTS = ("document web", "document frame")
_WINDOWS = ("frame", "dialog", "window")
# Bits of the state set, as in atspi-constants.h.
_ACTIVE, _FOCUSED = 1, 12
# Document attributes: Chromium has the first, Firefox the second.
_ADDRESSES = ("URI", "DocURL")
# Limits the walk to the window, as a broken application may report a cycle of parents.
_DEEPEST = 200
_REPLY_SECONDS = 1.0


def page_of(bus: DBusConnection, widget: Address) -> str | None:
    """Return the URL of the page that contains a widget; "" for a widget outside of pages.

    ``None`` if the widget has not the keyboard focus, or its window is not active.

    Blocks for some milliseconds.

    Raises:
        TimeoutError: If its application does not answer.
        OSError: If the bus is lost.
    """
    try:
        return _page(bus, widget)
    except DBusErrorResponse:
        # The widget was destroyed between two queries.
        return None


def process_of(bus: DBusConnection, name: str) -> int | None:
    """Return the pid of the process behind a bus name, ``None`` if it has ended.

    Raises:
        TimeoutError: If the bus does not answer.
        OSError: If the bus is lost.
    """
    try:
        (pid,) = _answer(bus, message_bus.GetConnectionUnixProcessID(name))
    except DBusErrorResponse:
        return None
    return int(pid)


def role_question(widget: Address) -> Message:
    """Return the message that asks a widget for the name of its role."""
    return new_method_call(_accessible(widget), "GetRoleName")


def role_of(bus: DBusConnection, widget: Address) -> str:
    """Return the name of a widget's role; raises as `page_of`, and if the widget is gone."""
    (role,) = _answer(bus, role_question(widget))
    return str(role)


def _page(bus: DBusConnection, widget: Address) -> str | None:
    if not _has(bus, widget, _FOCUSED):
        return None
    address: str | None = None
    at = widget
    for _ in range(_DEEPEST):
        (role,) = _answer(bus, role_question(at))
        # The innermost document counts: a frame of another host within a page receives the keys
        # itself.
        if role in _DOCUMENTS and address is None:
            address = _address(bus, at)
        if role in _WINDOWS:
            return (address or "") if _has(bus, at, _ACTIVE) else None
        ((_, (name, path)),) = _answer(bus, Properties(_accessible(at)).get("Parent"))
        at = (name, path)
    return None


def _address(bus: DBusConnection, document: Address) -> str:
    name, path = document
    place = DBusAddress(path, bus_name=name, interface=DOCUMENT)
    for attribute in _ADDRESSES:
        ask = new_method_call(place, "GetAttributeValue", "s", (attribute,))
        (found,) = _answer(bus, ask)
        if found:
            return str(found)
    return ""


def _has(bus: DBusConnection, widget: Address, state: int) -> bool:
    ((low, high),) = _answer(bus, new_method_call(_accessible(widget), "GetState"))
    return bool((low | high << 32) >> state & 1)


def _answer(bus: DBusConnection, question: Message) -> Any:
    reply = bus.send_and_get_reply(question, timeout=_REPLY_SECONDS)
    if reply.header.message_type is MessageType.error:
        raise DBusErrorResponse(reply)
    return reply.body


def _accessible(widget: Address) -> DBusAddress:
    name, path = widget
    return DBusAddress(path, bus_name=name, interface=ACCESSIBLE)
