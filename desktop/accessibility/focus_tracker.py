"""Which widgets of applications get the keyboard, heard over AT-SPI while it happens.

Nobody is asked for anything before an application has the bus of the widgets started, and an
application that nobody uses says nothing: a desktop at rest costs a sleeping thread.
"""

import os
import select
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from types import TracebackType
from typing import Any, Self

from jeepney import DBusAddress, HeaderFields, Message, MessageType, message_bus, new_method_call
from jeepney.io.blocking import DBusConnection
from jeepney.wrappers import DBusErrorResponse

from deskhand.desktop.domains import belongs, host_of
from deskhand.desktop.errors import ForeignHost, NoAccessibility

from .bus import (
    NAME,
    NONSENSE,
    REGISTRY,
    REPLY_SERIAL,
    START_SECONDS,
    Address,
    next_message,
    session_bus,
    widget_bus,
)
from .password_fields import PasswordFocusHistory
from .web_page import page_of, role_question

_COVERED = "password text"
PATIENCE = 2.0
"""Seconds in which applications say what they were asked."""

_REGISTRY = DBusAddress("/org/a11y/atspi/registry", bus_name=REGISTRY, interface=REGISTRY)
_EVENTS = ("object:state-changed:focused", "window:activate", "window:deactivate")
_OBJECT, _WINDOW = "org.a11y.atspi.Event.Object", "org.a11y.atspi.Event.Window"
_SIGNALS = (
    f"type='signal',interface='{_OBJECT}',member='StateChanged',arg0='focused'",
    f"type='signal',interface='{_WINDOW}',member='Activate'",
    f"type='signal',interface='{_WINDOW}',member='Deactivate'",
    "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg2=''",
)
_STARTED = f"type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='{NAME}'"
_BUS = "org.freedesktop.DBus"
_LOST = (OSError, TimeoutError, DBusErrorResponse)


class FocusTracker:
    """Knows whether the keyboard was in a password field; a context manager with one thread.

    ``environment`` gives that of an application, with the address of the session's bus. What it
    does not hear of it does not know: applications without AT-SPI, and what had the keyboard
    before it listened.
    """

    def __init__(
        self,
        environment: Callable[[], Mapping[str, str]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._environment = environment
        self._clock = clock
        self._stays = PasswordFocusHistory()
        self._asked: dict[int, Address] = {}
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="fields", daemon=True)
        self._wake_read, self._wake_write = -1, -1
        self._hears, self._deaf, self._closing = False, False, False

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def open(self) -> None:
        """Listen from now on."""
        self._wake_read, self._wake_write = os.pipe()
        self._thread.start()

    def close(self) -> None:
        """End; twice is fine."""
        if self._wake_write < 0:
            return
        self._closing = True
        os.write(self._wake_write, b"!")
        self._thread.join()
        os.close(self._wake_read)
        os.close(self._wake_write)
        self._wake_read, self._wake_write = -1, -1

    def hear(self) -> bool:
        """Whether applications can be heard; a bus that was lost is tried again."""
        if self._deaf and self._wake_write >= 0:
            os.write(self._wake_write, b"!")
        return self._hears

    def password_since(self, at: float) -> bool:
        """Whether a password field had the keyboard at that time or later.

        Widgets that have not said yet what they are count too.
        """
        with self._changed:
            return not self._stays.known or self._stays.password_between(at, self._clock())

    def judged(self, start: float, end: float) -> bool:
        """Whether one had it between two times, once all widgets have said what they are.

        Blocks for `PATIENCE` seconds at most.
        """
        with self._changed:
            known = self._changed.wait_for(lambda: self._stays.known, PATIENCE)
            return not known or self._stays.password_between(start, end)

    def admit(self, hosts: Sequence[str]) -> None:
        """Let a text be typed. Blocks for some seconds at most.

        Raises:
            ForeignHost: If the page that has the keyboard is of none of these hosts, or there is
                none, or it cannot be told.
        """
        deadline = self._clock() + PATIENCE
        while True:
            with self._changed:
                widgets = self._stays.widgets
            host = self._host(widgets)
            if belongs(host, hosts):
                return
            with self._changed:
                # A click may be on its way to the application.
                left = deadline - self._clock()
                if not self._changed.wait_for(lambda: widgets != self._stays.widgets, left):  # noqa: B023
                    raise ForeignHost(hosts, host)

    def _host(self, widgets: Sequence[Address]) -> str:
        pages: list[str] = []
        with suppress(NoAccessibility, *_LOST, *NONSENSE), widget_bus(self._environment()) as bus:
            pages = [page for widget in widgets if (page := page_of(bus, widget))]
        return host_of(pages[0]) if len(pages) == 1 else ""

    def _run(self) -> None:
        while not self._closing:
            with suppress(NoAccessibility, *_LOST, *NONSENSE):
                self._listen()
            self._hears = False
            with self._changed:
                self._stays = PasswordFocusHistory()
                self._asked.clear()
                self._changed.notify_all()
            if not self._closing:
                self._deaf = True
                select.select([self._wake_read], [], [])
                os.read(self._wake_read, 64)
                self._deaf = False

    def _listen(self) -> None:
        environment = self._environment()
        with closing(session_bus(environment)) as session:
            if not self._started(session):
                return
        with widget_bus(environment) as bus:
            for event in _EVENTS:
                _ask(bus, new_method_call(_REGISTRY, "RegisterEvent", "s", (event,)))
            for rule in _SIGNALS:
                # Whoever awaits an answer hears nothing else meanwhile.
                bus.send(message_bus.AddMatch(rule))
            self._hears = True
            for message in self._messages(bus):
                with suppress(*NONSENSE):
                    self._heed(bus, message)

    def _started(self, session: DBusConnection) -> bool:
        """Wait until there is a bus of the widgets; whether there is one before the end."""
        _ask(session, message_bus.AddMatch(_STARTED))
        if _ask(session, message_bus.NameHasOwner(NAME))[0]:
            return True
        messages = self._messages(session)
        return any(_is(message, "NameOwnerChanged") and message.body[2] for message in messages)

    def _messages(self, bus: DBusConnection) -> Iterator[Message]:
        while not self._closing:
            with suppress(TimeoutError):
                while True:
                    message = next_message(bus, 0)
                    if message is not None:
                        yield message
            if self._wake_read in select.select([bus.sock, self._wake_read], [], [])[0]:
                os.read(self._wake_read, 64)

    def _heed(self, bus: DBusConnection, message: Message) -> None:
        fields, body = message.header.fields, message.body
        app, widget = str(fields.get(HeaderFields.sender)), str(fields.get(HeaderFields.path))
        asked: Address | None = None
        with self._changed:
            stays, now = self._stays, self._clock()
            if message.header.message_type is not MessageType.signal:
                self._described(fields.get(REPLY_SERIAL), body)
            elif _is(message, "StateChanged") and body[1]:
                stays.focused(app, widget, now)
                asked = app, widget
            elif _is(message, "StateChanged"):
                stays.blurred(app, widget, now)
            elif _is(message, "Activate"):
                again = stays.activated(app, now)
                asked = (app, again) if again else None
            elif _is(message, "Deactivate"):
                stays.deactivated(app, now)
            elif _is(message, "NameOwnerChanged") and app == _BUS:
                stays.gone(str(body[0]), now)
            self._changed.notify_all()
        if asked:
            serial = next(bus.outgoing_serial)
            self._asked[serial] = asked
            bus.send(role_question(asked), serial=serial)

    def _described(self, serial: Any, body: Any) -> None:
        asked = self._asked.pop(serial, None)
        if asked is not None:
            # What went away meanwhile answers with an error, which is no password field either.
            self._stays.described(*asked, body == (_COVERED,))


def _ask(bus: DBusConnection, question: Message) -> Any:
    reply = bus.send_and_get_reply(question, timeout=START_SECONDS)
    if reply.header.message_type is MessageType.error:
        raise DBusErrorResponse(reply)
    return reply.body


def _is(message: Message, member: str) -> bool:
    return bool(message.header.fields.get(HeaderFields.member) == member)
