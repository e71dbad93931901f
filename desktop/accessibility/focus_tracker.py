"""Tracks over AT-SPI which widget has the keyboard focus, and remembers password fields.

One thread owns the D-Bus connection and passes through these states:

* *no bus*: until an application has the AT-SPI bus started, the thread sleeps on a NameOwnerChanged
  signal of the session bus. The tracker never starts the AT-SPI bus itself.
* *connected*: the thread receives focus and window events. For each widget that gets the focus it
  sends GetRoleName, without waiting: the answer arrives as a message like any other. Until then
  the widget is *unknown*, and callers treat an unknown widget as a password field.
* *waiting*: the bus was lost. All knowledge is dropped, and the next call of ``connected`` wakes
  the thread for another attempt.

A signal may arrive after the keys that an application received; callers therefore ask for
intervals of time (``password_between``) and not for the present state. Idle applications send no
events, so an idle desktop costs a sleeping thread. Source: AT-SPI2 core interfaces,
https://gnome.pages.gitlab.gnome.org/at-spi2-core/devel-docs/.
"""

import os
import select
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, suppress
from types import TracebackType
from typing import Any, Self

from jeepney import DBusAddress, HeaderFields, Message, MessageType, message_bus, new_method_call
from jeepney.io.blocking import DBusConnection
from jeepney.wrappers import DBusErrorResponse

from deskhand.desktop.domains import belongs, host_of
from deskhand.desktop.errors import ForeignHost, NoAccessibility

from .admitted_field import AdmittedField, FieldState
from .bus import (
    NAME,
    NONSENSE,
    START_SECONDS,
    ConnectBus,
    next_message,
    session_bus,
    widget_bus,
)
from .editable_text import fill
from .editable_text import length as text_length
from .focused_field import FocusedField, described
from .interfaces import LONGEST_ADDRESS, REGISTRY, REPLY_SERIAL, Address
from .password_fields import REMEMBERED, PasswordFocusHistory
from .web_page import page_of, process_of, role_of, role_question

_MASKED_ROLE = "password text"
REPLY_SECONDS = 2.0
"""Time in which an application must answer GetRoleName."""

EFFECT_SECONDS = 0.5
"""Time in which a field must show what was typed into it."""
EFFECT_PAUSE = 0.01

_REGISTRY = DBusAddress("/org/a11y/atspi/registry", bus_name=REGISTRY, interface=REGISTRY)
_EVENTS = ("object:state-changed:focused", "window:activate", "window:deactivate")
_OBJECT, _WINDOW = "org.a11y.atspi.Event.Object", "org.a11y.atspi.Event.Window"
_SIGNALS = (
    f"type='signal',interface='{_OBJECT}',member='StateChanged',arg0='focused'",
    f"type='signal',interface='{_WINDOW}',member='Activate'",
    f"type='signal',interface='{_WINDOW}',member='Deactivate'",
    "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg2=''",
)
_BUS_STARTED = (
    f"type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='{NAME}'"
)
_BUS = "org.freedesktop.DBus"
_LOST = (OSError, TimeoutError, DBusErrorResponse)


class FocusTracker:
    """Answers if the keyboard focus was in a password field; a context manager with one thread.

    ``environment`` returns that of an application, with the address of the session bus.
    ``is_browser`` returns if a process may show pages, by its pid; any program can imitate one.
    Focus in applications without AT-SPI, and focus before the connection was made, is not known.
    """

    def __init__(
        self,
        environment: Callable[[], Mapping[str, str]],
        clock: Callable[[], float] = time.monotonic,
        connect: ConnectBus | None = None,
        is_browser: Callable[[int], bool] = lambda _: True,
    ) -> None:
        self._connect = connect
        self._is_browser = is_browser
        self._environment = environment
        self._clock = clock
        self._history = PasswordFocusHistory()
        self._role_queries: dict[int, Address] = {}
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="fields", daemon=True)
        self._wake = -1
        self._connected, self._waiting, self._closing = False, False, False

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
        """Start the thread."""
        self._wake = os.eventfd(0)
        self._thread.start()

    def close(self) -> None:
        """End the thread; twice is fine."""
        if self._wake < 0:
            return
        self._closing = True
        os.eventfd_write(self._wake, 1)
        self._thread.join()
        os.close(self._wake)
        self._wake = -1

    def connected(self) -> bool:
        """Return True while connected; after a loss of the bus, start another attempt."""
        if self._waiting and self._wake >= 0:
            os.eventfd_write(self._wake, 1)
        return self._connected

    def password_since(self, at: float) -> bool:
        """Return True if a password field had the keyboard at that time or later.

        Widgets of unknown role count as password fields.
        """
        with self._changed:
            return not self._history.known or self._history.password_between(at, self._clock())

    def password_between(self, start: float, end: float) -> bool:
        """Return True if one had it between two times, once the roles of all widgets are known.

        Blocks for `REPLY_SECONDS` seconds at most; roles still unknown then count as passwords.
        """
        with self._changed:
            known = self._changed.wait_for(lambda: self._history.known, REPLY_SECONDS)
            return not known or self._history.password_between(start, end)

    def admit(self, hosts: Sequence[str]) -> AdmittedField:
        """Return the field with the keyboard focus, in a page of one of these hosts.

        Without hosts any field is admitted, also one that is not known. Blocks for `REPLY_SECONDS`
        seconds at most.

        Raises:
            ForeignHost: If it is of another host, or if no single page can be determined.
        """
        deadline = self._clock() + REPLY_SECONDS
        while True:
            with self._changed:
                widgets = self._history.widgets
            # The page is read without the lock: the query blocks, and the thread needs the lock
            # meanwhile.
            field = self._focused(widgets)
            if not hosts or belongs(field.host, hosts):
                return field
            with self._changed:
                # The application may not have processed a click before this text yet.
                left = deadline - self._clock()
                if not self._changed.wait_for(lambda: widgets != self._history.widgets, left):  # noqa: B023
                    raise ForeignHost(hosts, field.host)

    def focused_field(self) -> FocusedField | None:
        """Return the field with the keyboard; None if no application reports a single one.

        Blocks for `REPLY_SECONDS` seconds at most.
        """
        now = self._clock()
        password = self.password_between(now, now)
        with self._changed:
            widgets = self._history.widgets
        field = self._focused(widgets)
        if field.widget is None:
            return FocusedField(password=True) if password else None
        with (
            suppress(NoAccessibility, *_LOST, *NONSENSE),
            self._widget_bus() as bus,
        ):
            return described(bus, field.widget, field.host, password=password)
        return FocusedField(password, host=field.host)

    def state(self, field: AdmittedField, typed_from: int | None = None) -> FieldState:
        """Return the state of an admitted field.

        ``typed_from`` is its length before the keystrokes of a moment ago. Applications report a
        changed focus with a delay, but in order: where the field has received the keystrokes, it
        is known whether these have moved the focus. Blocks for `EFFECT_SECONDS` at most.
        """
        length: int | None = None
        deadline = self._clock() + EFFECT_SECONDS
        with (
            suppress(NoAccessibility, *_LOST, *NONSENSE),
            self._widget_bus() as bus,
        ):
            while field.widget is not None:
                length = text_length(bus, field.widget)
                is_late = self._clock() >= deadline
                if typed_from is None or length is None or length != typed_from or is_late:
                    break
                time.sleep(EFFECT_PAUSE)
        with self._changed:
            widgets = self._history.widgets
        return FieldState(self._focused(widgets) == field, length)

    def fill(self, field: AdmittedField, text: str) -> bool:
        """Put a text into a field without keystrokes; return False if it does not take that."""
        if field.widget is None:
            return False
        with (
            suppress(NoAccessibility, *_LOST, *NONSENSE),
            self._widget_bus() as bus,
        ):
            return fill(bus, field.widget, text)
        return False

    def is_password(self, field: AdmittedField) -> bool:
        """Return True if an admitted field is a password field. Blocks for a second at most."""
        with (
            suppress(NoAccessibility, *_LOST, *NONSENSE),
            self._widget_bus() as bus,
        ):
            return field.widget is not None and role_of(bus, field.widget) == _MASKED_ROLE
        return False

    def _widget_bus(self) -> AbstractContextManager[DBusConnection]:
        return widget_bus(self._environment(), self._connect)

    def _focused(self, widgets: Sequence[Address]) -> AdmittedField:
        found: list[tuple[Address, str]] = []
        with (
            suppress(NoAccessibility, *_LOST, *NONSENSE),
            self._widget_bus() as bus,
        ):
            asked = [(widget, self._page(bus, widget)) for widget in widgets]
            found = [(widget, page) for widget, page in asked if page is not None]
        # With two focused widgets it is not known which of them receives the keys, so neither is
        # trusted; a page precedes the window around it.
        found = [one for one in found if one[1]] or found
        if len(found) != 1:
            return AdmittedField()
        ((widget, page),) = found
        return AdmittedField(widget, host_of(page))

    def _page(self, bus: DBusConnection, widget: Address) -> str | None:
        page = page_of(bus, widget)
        if not page:
            return page
        pid = process_of(bus, widget[0])
        return page if pid is not None and self._is_browser(pid) else ""

    def _run(self) -> None:
        while not self._closing:
            with suppress(NoAccessibility, *_LOST, *NONSENSE):
                self._listen()
            self._connected = False
            with self._changed:
                self._history = PasswordFocusHistory()
                self._role_queries.clear()
                self._changed.notify_all()
            if not self._closing:
                self._waiting = True
                select.select([self._wake], [], [])
                os.eventfd_read(self._wake)
                self._waiting = False

    def _listen(self) -> None:
        environment = self._environment()
        with closing(session_bus(environment, self._connect)) as session:
            if not self._bus_started(session):
                return
        with widget_bus(environment, self._connect) as bus:
            for event in _EVENTS:
                _call(bus, new_method_call(_REGISTRY, "RegisterEvent", "s", (event,)))
            for rule in _SIGNALS:
                # Awaiting the reply would discard all signals that arrive before it.
                bus.send(message_bus.AddMatch(rule))
            self._connected = True
            for message in self._messages(bus):
                with suppress(*NONSENSE):
                    self._handle(bus, message)

    def _bus_started(self, session: DBusConnection) -> bool:
        """Wait for an owner of the AT-SPI bus name; return False if closed before."""
        # The match precedes the query, so that a start between the two is not missed.
        _call(session, message_bus.AddMatch(_BUS_STARTED))
        if _call(session, message_bus.NameHasOwner(NAME))[0]:
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
            # Messages that jeepney has buffered do not make the socket readable, hence the loop
            # above first.
            if self._wake in select.select([bus.sock, self._wake], [], [])[0]:
                os.eventfd_read(self._wake)

    def _handle(self, bus: DBusConnection, message: Message) -> None:
        fields, body = message.header.fields, message.body
        app, widget = str(fields.get(HeaderFields.sender)), str(fields.get(HeaderFields.path))
        if len(widget) > LONGEST_ADDRESS:
            return
        query: Address | None = None
        with self._changed:
            history, now = self._history, self._clock()
            if message.header.message_type is not MessageType.signal:
                self._role_received(fields.get(REPLY_SERIAL), body)
            elif _is(message, "StateChanged") and body[1]:
                history.focused(app, widget, now)
                query = app, widget
            elif _is(message, "StateChanged"):
                history.blurred(app, widget, now)
            elif _is(message, "Activate"):
                widget_again = history.activated(app, now)
                query = (app, widget_again) if widget_again else None
            elif _is(message, "Deactivate"):
                history.deactivated(app, now)
            # Any client can send a signal of this name; only that of the bus daemon counts.
            elif _is(message, "NameOwnerChanged") and app == _BUS:
                history.gone(str(body[0]), now)
            self._changed.notify_all()
        if query:
            serial = next(bus.outgoing_serial)
            self._role_queries[serial] = query
            if len(self._role_queries) > REMEMBERED:
                del self._role_queries[next(iter(self._role_queries))]
            bus.send(role_question(query), serial=serial)

    def _role_received(self, serial: Any, body: Any) -> None:
        query = self._role_queries.pop(serial, None)
        if query is not None:
            # A widget that was destroyed meanwhile answers with an error, which counts as no
            # password field either.
            self._history.described(*query, body == (_MASKED_ROLE,))


def _call(bus: DBusConnection, question: Message) -> Any:
    reply = bus.send_and_get_reply(question, timeout=START_SECONDS)
    if reply.header.message_type is MessageType.error:
        raise DBusErrorResponse(reply)
    return reply.body


def _is(message: Message, member: str) -> bool:
    return bool(message.header.fields.get(HeaderFields.member) == member)
