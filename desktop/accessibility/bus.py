"""Connections to the AT-SPI bus, a separate D-Bus daemon that applications export widgets on."""

import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from typing import Any

from jeepney import (
    DBusAddress,
    Message,
    MessageFlag,
    MessageType,
    Properties,
    message_bus,
    new_method_call,
)
from jeepney.io.blocking import DBusConnection, open_dbus_connection
from jeepney.low_level import Parser
from jeepney.wrappers import DBusErrorResponse

from deskhand.desktop.errors import NoAccessibility
from deskhand.desktop.isolation.bus_config import READER

from .message_splitter import MessageSplitter

NAME = "org.a11y.Bus"
"""Service on the session bus; D-Bus activation of this name starts the AT-SPI bus."""
START_SECONDS = 5.0
"""Time for at-spi-bus-launcher to start and answer."""

_PLACE = {"object_path": "/org/a11y/bus", "bus_name": NAME}

NONSENSE = (IndexError, TypeError, ValueError)
"""Errors of unpacking a message whose signature is not the one of the AT-SPI interface."""


class ShortMessages(Parser):  # type: ignore[misc]
    """A parser that leaves out long messages, which any client of a bus may send."""

    def __init__(self, other: Parser) -> None:
        """Continue with what another parser has buffered."""
        super().__init__()
        self.splitter = MessageSplitter()
        if other.buf.bytes_buffered:
            self.add_data(other.buf.read(other.buf.bytes_buffered))

    def add_data(self, data: bytes, fds: Iterable[Any] = ()) -> None:
        """Buffer the messages that are complete with these bytes."""
        for message in self.splitter.add(data):
            if message.whole:
                super().add_data(message.data)
        self.fds.extend(fds)


ConnectBus = Callable[[str], socket.socket]
"""Connects to the bus of an address and authenticates; blocks, raises OSError.

A daemon refuses users other than its own, so a service of another user has to be given the socket.
"""


def session_bus(
    environment: Mapping[str, str], connect: ConnectBus | None = None
) -> DBusConnection:
    """Connect to the session bus; without ``connect`` as the present user.

    Raises:
        NoAccessibility: If there is none, or it does not answer.
    """
    session = environment.get("DBUS_SESSION_BUS_ADDRESS")
    if not session:
        raise NoAccessibility("this desktop has no message bus")
    return _connected(session, connect)


@contextmanager
def widget_bus(
    environment: Mapping[str, str], connect: ConnectBus | None = None
) -> Iterator[DBusConnection]:
    """Connect to the AT-SPI bus while the body runs; D-Bus activation starts it if necessary.

    Raises:
        NoAccessibility: If there is none, or it does not answer.
    """
    with closing(session_bus(environment, connect)) as session:
        address = _address(session)
    with closing(_connected(address, connect)) as connection:
        # A place in the queue for the name suffices, and a bus without its rule may refuse it.
        request = message_bus.RequestName(READER)
        request.header.flags = MessageFlag.no_reply_expected
        try:
            connection.send(request)
        except OSError as error:
            raise NoAccessibility(f"the message bus was lost: {error}") from error
        yield connection


def next_message(bus: DBusConnection, timeout: float) -> Message | None:
    """Return the next message; None for one that cannot be parsed.

    Raises:
        TimeoutError: If none arrives in time.
        OSError: If the bus is lost.
    """
    try:
        return bus.receive(timeout=timeout)
    except NONSENSE:
        # jeepney has removed the message from its buffer but keeps its size for the next one.
        bus.parser.next_msg_size = None
        return None


def _connected(address: str, connect: ConnectBus | None) -> DBusConnection:
    try:
        if connect is None:
            connection = open_dbus_connection(address, auth_timeout=START_SECONDS)
        else:
            with ExitStack() as on_failure:
                connection = DBusConnection(on_failure.enter_context(connect(address)))
                on_failure.pop_all()
        connection.parser = ShortMessages(connection.parser)
        return connection
    except (OSError, TimeoutError) as error:
        raise NoAccessibility(f"the message bus does not answer: {error}") from error


def _address(session: DBusConnection) -> str:
    status = DBusAddress(**_PLACE, interface="org.a11y.Status")
    query = new_method_call(DBusAddress(**_PLACE, interface=NAME), "GetAddress")
    try:
        reply = session.send_and_get_reply(query, timeout=START_SECONDS)
        if reply.header.message_type is MessageType.error:
            raise DBusErrorResponse(reply)
        # Toolkits watch IsEnabled: applications that start while it is set export their widgets.
        enable = Properties(status).set("IsEnabled", "b", True)
        session.send_and_get_reply(enable, timeout=START_SECONDS)
    except DBusErrorResponse as error:
        raise NoAccessibility(f"{error.name}; is the package at-spi2-core installed?") from error
    except (OSError, TimeoutError) as error:
        raise NoAccessibility(f"the message bus does not answer: {error}") from error
    return str(reply.body[0])
