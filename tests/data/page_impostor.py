"""A program that passes itself off as the page of a site with a focused field, over AT-SPI.

Usage: python3 page_impostor.py LIBRARY FILE ADDRESS. LIBRARY is a zip file with jeepney, which
Debian has as the package python3-jeepney. What is put into the field is written to FILE.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])

from jeepney import (
    DBusAddress,
    HeaderFields,
    Message,
    MessageType,
    Properties,
    new_error,
    new_method_call,
    new_method_return,
    new_signal,
)
from jeepney.io.blocking import open_dbus_connection

ATSPI = "org.a11y.atspi"
FIELD, DOCUMENT, WINDOW = "/field", "/document", "/window"
ROLES = {FIELD: "text", DOCUMENT: "document web", WINDOW: "frame"}
PARENTS = {FIELD: DOCUMENT, DOCUMENT: WINDOW, WINDOW: WINDOW}
# Bits of the state set: active and focused.
STATES = 1 << 1 | 1 << 12

_, _, file, address = sys.argv


def answer(call: Message, own_name: str) -> Message:
    """Return the answer of a widget."""
    fields = call.header.fields
    path = str(fields.get(HeaderFields.path))
    match fields.get(HeaderFields.member):
        case "GetRoleName":
            return new_method_return(call, "s", (ROLES[path],))
        case "GetState":
            return new_method_return(call, "au", ([STATES, 0],))
        case "GetAttributeValue":
            return new_method_return(call, "s", (address,))
        case "GetInterfaces":
            return new_method_return(call, "as", ([f"{ATSPI}.EditableText"],))
        case "Get" if call.body[1] == "Parent":
            return new_method_return(call, "v", (("(so)", (own_name, PARENTS[path])),))
        case "Get":
            return new_method_return(call, "v", (("i", 0),))
        case "SetTextContents":
            Path(file).write_text(call.body[0])
            return new_method_return(call, "b", (True,))
    return new_error(call, "org.freedesktop.DBus.Error.UnknownMethod")


session = open_dbus_connection(os.environ["DBUS_SESSION_BUS_ADDRESS"])
launcher = DBusAddress("/org/a11y/bus", bus_name="org.a11y.Bus", interface="org.a11y.Bus")
found = session.send_and_get_reply(new_method_call(launcher, "GetAddress")).body[0]
bus = open_dbus_connection(found)
registry = DBusAddress(
    f"/{ATSPI.replace('.', '/')}/registry", bus_name=f"{ATSPI}.Registry", interface=ATSPI
)
# Answered when the registry runs, which forwards nothing: signals go to everyone on the bus.
bus.send_and_get_reply(Properties(registry).get("version"))
source = DBusAddress(FIELD, interface=f"{ATSPI}.Event.Object")
focused = ("focused", 1, 0, ("i", 0), (bus.unique_name, WINDOW))
bus.send(new_signal(source, "StateChanged", "siiv(so)", focused))
while True:
    received = bus.receive()
    if received.header.message_type is MessageType.method_call:
        bus.send(answer(received, str(bus.unique_name)))
