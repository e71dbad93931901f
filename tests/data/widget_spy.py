"""A program that listens to the widgets of others, reads them and acts on them, over AT-SPI.

Usage: python3 widget_spy.py LIBRARY MODE ... LIBRARY is a zip file with jeepney. It owns the name
in the variable READER, if it is set. The modes are:

* listen FILE: subscribes to every event of every application, prints "ready", and, when there is a
  file of that name, the texts that it has heard as JSON;
* tree: prints all widgets as JSON, each with bus name, path, role, name and text;
* call NAME PATH INTERFACE MEMBER SIGNATURE ARGUMENTS: prints the answer as JSON.
"""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, sys.argv[1])

from jeepney import (
    DBusAddress,
    HeaderFields,
    MessageType,
    Properties,
    message_bus,
    new_method_call,
)
from jeepney.io.blocking import DBusConnection, open_dbus_connection
from jeepney.wrappers import unwrap_msg

ATSPI = "org.a11y.atspi"
REGISTRY = f"{ATSPI}.Registry"
ROOT = "/org/a11y/atspi/accessible/root"
EVENTS = ("object:", "window:", "document:", "focus:", "terminal:", "mouse:")
MOST = 500


def connected() -> DBusConnection:
    """Return a connection to the AT-SPI bus."""
    session = open_dbus_connection(os.environ["DBUS_SESSION_BUS_ADDRESS"])
    launcher = DBusAddress("/org/a11y/bus", bus_name="org.a11y.Bus", interface="org.a11y.Bus")
    found = session.send_and_get_reply(new_method_call(launcher, "GetAddress")).body[0]
    bus = open_dbus_connection(found)
    if os.environ.get("READER"):
        unwrap_msg(bus.send_and_get_reply(message_bus.RequestName(os.environ["READER"])))
    return bus


def texts(value: Any) -> Iterator[str]:
    """Return all texts in the body of a message."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from texts(list(value.items()))
    elif isinstance(value, list | tuple):
        for one in value:
            yield from texts(one)


def listen(bus: DBusConnection, end: Path) -> list[str]:
    """Return the texts of all signals of applications until a file exists."""
    place = DBusAddress("/org/a11y/atspi/registry", bus_name=REGISTRY, interface=REGISTRY)
    for event in EVENTS:
        unwrap_msg(bus.send_and_get_reply(new_method_call(place, "RegisterEvent", "s", (event,))))
    for rule in ("type='signal'", "type='signal',eavesdrop='true'", "eavesdrop='true'"):
        bus.send(message_bus.AddMatch(rule))
    bus.send_and_get_reply(message_bus.GetId())
    (registry,) = unwrap_msg(bus.send_and_get_reply(message_bus.GetNameOwner(REGISTRY)))
    print("ready", flush=True)
    heard: list[str] = []
    last = -1
    while True:
        with suppress(TimeoutError):
            got = bus.receive(timeout=0.05)
            fields = got.header.fields
            if fields.get(HeaderFields.reply_serial) == last:
                return heard
            if fields.get(HeaderFields.sender) not in (registry, message_bus.bus_name):
                heard += texts(got.body)
            continue
        if last < 0 and end.exists():
            # What the bus has sent before comes before the answer.
            last = next(bus.outgoing_serial)
            bus.send(message_bus.GetId(), serial=last)


def asked(bus: DBusConnection, address: list[str], of: str, member: str, *body: Any) -> Any:
    """Return the body of an answer; empty for an error."""
    place = DBusAddress(address[1], bus_name=address[0], interface=f"{ATSPI}.{of}")
    reply = bus.send_and_get_reply(new_method_call(place, member, *body), timeout=10)
    return () if reply.header.message_type is MessageType.error else reply.body


def tree(bus: DBusConnection) -> list[list[str]]:
    """Return the widgets of all applications."""
    found: list[list[str]] = []
    waiting = [[REGISTRY, ROOT]]
    while waiting and len(found) < MOST:
        address = list(waiting.pop(0))
        waiting += [
            list(one) for one in (asked(bus, address, "Accessible", "GetChildren") or [[]])[0]
        ]
        place = DBusAddress(address[1], bus_name=address[0], interface=f"{ATSPI}.Accessible")
        named = bus.send_and_get_reply(Properties(place).get("Name"), timeout=10)
        name = "" if named.header.message_type is MessageType.error else named.body[0][1]
        role, text = (
            "".join(asked(bus, address, *call))
            for call in (("Accessible", "GetRoleName"), ("Text", "GetText", "ii", (0, -1)))
        )
        found.append([*address, role, name, text])
    return found


def call(bus: DBusConnection, *words: str) -> list[Any]:
    """Return the kind of the answer, the name of an error, and the body."""
    name, path, of, member, types, arguments = words
    place = DBusAddress(path, bus_name=name, interface=of)
    body = tuple(tuple(one) if isinstance(one, list) else one for one in json.loads(arguments))
    reply = bus.send_and_get_reply(new_method_call(place, member, types, body), timeout=10)
    error = reply.header.fields.get(HeaderFields.error_name)
    return [reply.header.message_type.name, error, reply.body]


mode, *rest = sys.argv[2:]
if mode == "listen":
    print(json.dumps(listen(connected(), Path(rest[0]))))
else:
    print(json.dumps(tree(connected()) if mode == "tree" else call(connected(), *rest)))
