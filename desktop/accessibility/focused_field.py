"""The field with the keyboard as its application describes it over AT-SPI."""

from dataclasses import asdict, dataclass
from typing import Any

from jeepney import DBusAddress, Message, MessageType, Properties, new_method_call
from jeepney.io.blocking import DBusConnection
from jeepney.wrappers import DBusErrorResponse

from .interfaces import ACCESSIBLE, Address

_HINTS = ("id", "class", "placeholder-text", "text-input-type", "html-input-name", "autocomplete")
"""Object attributes by which pages say what a field is for."""
LONGEST = 300
_REPLY_SECONDS = 1.0


@dataclass(frozen=True)
class FocusedField:
    """A field with the keyboard; texts are those of its application, and may be wrong."""

    password: bool
    """True also where its role is not known yet."""
    name: str = ""
    description: str = ""
    hints: str = ""
    """Identifier, class and placeholder of a field in a page."""
    host: str = ""
    """Host of the page; empty outside of web pages."""

    def to_json(self) -> dict[str, Any]:
        """Return the field in the form of the HTTP API."""
        return asdict(self)


def described(bus: DBusConnection, widget: Address, host: str, *, password: bool) -> FocusedField:
    """Return a widget with its name, description and hints.

    Raises:
        TimeoutError: If its application does not answer.
        OSError: If the bus is lost.
    """
    name, path = widget
    place = DBusAddress(path, bus_name=name, interface=ACCESSIBLE)
    try:
        (_, title) = _answer(bus, Properties(place).get("Name"))[0]
        (_, words) = _answer(bus, Properties(place).get("Description"))[0]
        (attributes,) = _answer(bus, new_method_call(place, "GetAttributes"))
    except DBusErrorResponse:
        # The widget was destroyed between two queries.
        return FocusedField(password, host=host)
    hints = " ".join(str(attributes[one]) for one in _HINTS if attributes.get(one))
    return FocusedField(password, str(title)[:LONGEST], str(words)[:LONGEST], hints[:LONGEST], host)


def _answer(bus: DBusConnection, question: Message) -> Any:
    reply = bus.send_and_get_reply(question, timeout=_REPLY_SECONDS)
    if reply.header.message_type is MessageType.error:
        raise DBusErrorResponse(reply)
    return reply.body
