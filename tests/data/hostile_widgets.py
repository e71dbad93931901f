"""A program that answers over AT-SPI with as much as a message may contain.

Usage: python3 hostile_widgets.py LIBRARY WHAT. LIBRARY is a zip file with jeepney, and WHAT is the
part of a widget that is long: names, roles or lists of children; or focus, for signals of focused
widgets whose paths are long.
"""

import os
import sys

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
ROOT = "/org/a11y/atspi/accessible/root"
WIDGETS = 60
LONG = 10 << 20
SIGNALS = 500
LONG_PATH = f"/{'x' * (1 << 19)}/{SIGNALS}"
CHILDREN = 3_000

_, _, what = sys.argv


def answer(call: Message, own_name: str) -> Message:
    """Return the answer of a widget."""
    path = str(call.header.fields.get(HeaderFields.path))
    match call.header.fields.get(HeaderFields.member):
        case "GetRoleName":
            role = "x" * LONG if what == "roles" and path != ROOT else "button"
            return new_method_return(call, "s", (role,))
        case "GetState":
            return new_method_return(call, "au", ([1, 0],))
        case "GetExtents":
            return new_method_return(call, "(iiii)", ((0, 0, 300, 300),))
        case "GetChildren":
            children = [(own_name, f"/widget/{at}") for at in range(WIDGETS)]
            if path != ROOT:
                number = CHILDREN if what == "children" else 0
                children = [(own_name, f"{path}/{'c' * 200}/{at}") for at in range(number)]
            return new_method_return(call, "a(so)", (children,))
        case "Get":
            name = "x" * LONG if what == "names" and path != ROOT else "hostile"
            return new_method_return(call, "v", (("s", name),))
    return new_error(call, "org.freedesktop.DBus.Error.UnknownMethod")


session = open_dbus_connection(os.environ["DBUS_SESSION_BUS_ADDRESS"])
launcher = DBusAddress("/org/a11y/bus", bus_name="org.a11y.Bus", interface="org.a11y.Bus")
found = session.send_and_get_reply(new_method_call(launcher, "GetAddress")).body[0]
bus = open_dbus_connection(found)
registry = DBusAddress(
    f"/{ATSPI.replace('.', '/')}/registry", bus_name=f"{ATSPI}.Registry", interface=ATSPI
)
bus.send_and_get_reply(Properties(registry).get("version"))
if what == "focus":
    source = DBusAddress(LONG_PATH, interface=f"{ATSPI}.Event.Object")
    body = ("focused", 1, 0, ("i", 0), (bus.unique_name, ROOT))
    focused = new_signal(source, "StateChanged", "siiv(so)", body).serialise(1)
    for at in range(SIGNALS):
        bus.sock.sendall(focused.replace(b"/%d" % SIGNALS, b"/%03d" % at))
else:
    socket = DBusAddress(ROOT, bus_name=f"{ATSPI}.Registry", interface=f"{ATSPI}.Socket")
    bus.send(new_method_call(socket, "Embed", "(so)", ((bus.unique_name, ROOT),)))
print("ready", flush=True)
while True:
    received = bus.receive()
    if received.header.message_type is MessageType.method_call and what != "focus":
        bus.send(answer(received, str(bus.unique_name)))
