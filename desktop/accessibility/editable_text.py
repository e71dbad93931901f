"""Text of fields over AT-SPI: its length, and filling a field with one call.

Without keystrokes there is no focus to steal: the application puts the text into the widget that
the call names. GTK has this interface, Chromium 156 has not.
"""

from typing import Any

from jeepney import DBusAddress, Message, MessageType, Properties, new_method_call
from jeepney.io.blocking import DBusConnection
from jeepney.wrappers import DBusErrorResponse

from .interfaces import ACCESSIBLE, Address

EDITABLE_TEXT, TEXT = "org.a11y.atspi.EditableText", "org.a11y.atspi.Text"
_REPLY_SECONDS = 2.0


def fill(bus: DBusConnection, widget: Address, text: str) -> bool:
    """Put a text into a field that is empty; return False if it does not take that.

    Raises:
        TimeoutError: If its application does not answer.
        OSError: If the bus is lost.
    """
    try:
        if EDITABLE_TEXT not in _interfaces(bus, widget) or length(bus, widget) != 0:
            return False
        (accepted,) = _answer(bus, _call(widget, EDITABLE_TEXT, "SetTextContents", "s", (text,)))
    except DBusErrorResponse:
        return False
    return bool(accepted)


def length(bus: DBusConnection, widget: Address) -> int | None:
    """Return the number of characters of a field; ``None`` if it does not report that.

    Raises the same as `fill`.
    """
    name, path = widget
    address = DBusAddress(path, bus_name=name, interface=TEXT)
    try:
        ((_, count),) = _answer(bus, Properties(address).get("CharacterCount"))
    except DBusErrorResponse:
        return None
    return int(count)


def _interfaces(bus: DBusConnection, widget: Address) -> list[str]:
    (names,) = _answer(bus, _call(widget, ACCESSIBLE, "GetInterfaces"))
    return [str(name) for name in names]


def _call(widget: Address, interface: str, method: str, *arguments: Any) -> Message:
    name, path = widget
    address = DBusAddress(path, bus_name=name, interface=interface)
    return new_method_call(address, method, *arguments)


def _answer(bus: DBusConnection, question: Message) -> Any:
    reply = bus.send_and_get_reply(question, timeout=_REPLY_SECONDS)
    if reply.header.message_type is MessageType.error:
        raise DBusErrorResponse(reply)
    return reply.body
