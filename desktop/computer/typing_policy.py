"""Policy of typing: which text an agent may type, and which text must not be recorded."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Protocol

from deskhand.desktop.accessibility.admitted_field import AdmittedField, FieldState
from deskhand.desktop.accessibility.password_fields import TYPING, text_length
from deskhand.desktop.actions.catalog import Action, HoldKey, Key, KeyDown, Type
from deskhand.desktop.actions.requests import ActionRequest
from deskhand.desktop.errors import (
    ActionFailed,
    FocusMoved,
    ForeignHost,
    KeyboardGrabbed,
    UnfitField,
    UntypableText,
)
from deskhand.desktop.freeze.freezer import NoFreezer

from .outcomes import Outcome

UNTYPABLE = "the keyboard cannot type a character of the text"
MOST_UNCHECKED = 8
"""Characters after which the focus is checked again, at the latest."""
KEYBOARD_SECONDS = 5.0
"""Time for a grab of the keyboard to end, before a protected text is refused."""


class PasswordFields(Protocol):
    """Whether password fields have the keyboard; in production the `focus_tracker`."""

    def password_since(self, at: float) -> bool:
        """Return whether a password field had the keyboard at that time or later."""

    def admit(self, hosts: Sequence[str]) -> AdmittedField:
        """Return the field with the keyboard, in a page of one of these hosts; empty for any.

        Blocks for seconds at most.

        Raises:
            ForeignHost: If no such page has the keyboard, or if that cannot be determined.
        """

    def state(self, field: AdmittedField, typed_from: int | None = None) -> FieldState:
        """Return the state of an admitted field; ``typed_from`` is the length that has changed.

        Blocks for a second at most.
        """

    def fill(self, field: AdmittedField, text: str) -> bool:
        """Put a text into the field without keystrokes; return False if it does not take that.

        Blocks.
        """

    def is_password(self, field: AdmittedField) -> bool:
        """Return whether an admitted field is a password field.

        Blocks for a second at most.
        """


class NoPasswordFields:
    """Fields of a desktop without accessibility: none is known."""

    def password_since(self, at: float) -> bool:
        """Return that none had."""
        return False

    def admit(self, hosts: Sequence[str]) -> AdmittedField:
        """Return the unknown field; refuse hosts, as the page cannot be determined."""
        if hosts:
            raise ForeignHost(hosts, "")
        return AdmittedField()

    def state(self, field: AdmittedField, typed_from: int | None = None) -> FieldState:
        """Return that it has the keyboard."""
        return FieldState(has_focus=True)

    def fill(self, field: AdmittedField, text: str) -> bool:
        """Return that it cannot be filled."""
        return False

    def is_password(self, field: AdmittedField) -> bool:
        """Return that it is none."""
        return False


@dataclass(frozen=True)
class PageField:
    """A field of a page that may receive a text."""

    host: str
    entered: bool
    """True if it has the text; False if it takes that by keys only."""


class PageEntry(Protocol):
    """Enters texts into pages without keystrokes; ``desktop/pages/entry`` implements it."""

    async def enter(
        self, text: str | None, hosts: Sequence[str], *, any_field: bool
    ) -> PageField | None:
        """Enter a text into the field with the keyboard; without one, only check the field.

        Return None if no field of a page is known to have the keyboard.

        Raises:
            Withheld: If the field may not get the text, or has changed.
        """


class NoPageEntry:
    """Pages of a desktop without a browser."""

    async def enter(
        self, text: str | None, hosts: Sequence[str], *, any_field: bool
    ) -> PageField | None:
        """Return that no page is known."""
        return None


class AgentProcesses(Protocol):
    """The processes of the agent's user, except those that the service launched. Blocking."""

    def hold(self) -> object:
        """Stop them, until as many calls of ``release``."""

    def release(self) -> object:
        """Let them continue."""

    def may_type(self, wait: float = 0.0) -> bool:
        """Return whether no stopped process can get keys, after up to ``wait`` seconds."""


@asynccontextmanager
async def _held(processes: AgentProcesses) -> AsyncIterator[None]:
    """Hold the processes while the body runs; a cancelled caller does not leave them stopped."""
    loop = asyncio.get_running_loop()
    holding = loop.run_in_executor(None, processes.hold)
    try:
        await asyncio.shield(holding)
        yield
    finally:
        while not holding.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({holding})
        await asyncio.shield(loop.run_in_executor(None, processes.release))


@dataclass(frozen=True)
class TypingPolicy:
    """Restricts a text to one field, and redacts a text that a password field received."""

    fields: PasswordFields = field(default_factory=NoPasswordFields)
    processes: AgentProcesses = field(default_factory=NoFreezer)
    window: Callable[[], object] = lambda: None
    """Returns the window with the keyboard focus. Blocks for a moment."""
    pages: PageEntry = field(default_factory=NoPageEntry)

    async def perform(
        self,
        action: Action,
        send: Callable[[Action], Awaitable[None]],
        check: Callable[[], None] = lambda: None,
    ) -> str:
        """Perform an action by ``send``, but type a protected text only into the field of now.

        Return the host of the page that received a protected text; empty otherwise. ``check`` is
        called before a text is entered without ``send``: it raises if a person is in control.

        The processes of the agent are stopped meanwhile: they could imitate a field, or read one.

        Raises:
            ForeignHost: If the text belongs to hosts that do not have the keyboard.
            UnfitField: If it does, and another field than one of a sign-in has the keyboard.
            FieldTooShort: If the field does not take the whole text; nothing was typed.
            FocusMoved: If the focus moved; the rest of the text was withheld.
            KeyboardGrabbed: If another program would get the keys, while processes are stopped.
        """
        if not isinstance(action, Type) or not action.protected:
            if isinstance(action, HoldKey | Key | KeyDown | Type) and not self.processes.may_type():
                raise KeyboardGrabbed
            await send(action)
            return ""
        async with _held(self.processes):
            # Asks applications over D-Bus, which may take seconds.
            admitted = await asyncio.to_thread(self.fields.admit, action.hosts)
            check()
            # A field would take a line break as text, where a person would press Return.
            text = action.text if action.text.isprintable() else None
            if await self._entered_in_page(action, admitted, text):
                return admitted.host
            if text is not None and await asyncio.to_thread(self.fields.fill, admitted, text):
                return admitted.host
            await self._send_checked(action, admitted, send)
            return admitted.host

    async def _entered_in_page(
        self, action: Type, admitted: AdmittedField, text: str | None
    ) -> bool:
        """Return True if a page has the text; raise if its field may not have it."""
        hosts = action.hosts or ((admitted.host,) if admitted.host else ())
        if not hosts:
            return False
        any_field = action.any_field or not action.hosts
        found = await self.pages.enter(text, hosts, any_field=any_field)
        if found is not None:
            return found.entered
        # Of a browser that is not the service's own, only the role of a field is known.
        if any_field or await asyncio.to_thread(self.fields.is_password, admitted):
            return False
        raise UnfitField("", hosts)

    async def _send_checked(
        self,
        action: Type,
        admitted: AdmittedField,
        send: Callable[[Action], Awaitable[None]],
    ) -> None:
        typed, total = 0, len(action.keysyms)
        window = await asyncio.to_thread(self.window)
        length: int | None = None
        for size in sizes(total):
            state = await asyncio.to_thread(self.fields.state, admitted, length if typed else None)
            if not state.has_focus or await asyncio.to_thread(self.window) != window:
                raise FocusMoved
            if not await asyncio.to_thread(self.processes.may_type, KEYBOARD_SECONDS):
                raise KeyboardGrabbed
            try:
                await send(replace(action, keysyms=action.keysyms[typed : typed + size]))
            except UntypableText:
                # Its text has characters of the value, which an agent must not read.
                raise ActionFailed(UNTYPABLE, "") from None
            typed, length = typed + size, state.length

    def with_redacted_text(self, request: ActionRequest, outcome: Outcome, since: float) -> Outcome:
        """Return the outcome with a count in place of a text that a password field received."""
        text = request.text
        if not text or request.name not in TYPING or not self.fields.password_since(since):
            return outcome
        return replace(outcome, redacted_text=text_length(request.name, text))


def sizes(total: int) -> list[int]:
    """Return how many characters of a protected text are typed between two checks.

    The first one is typed alone, and then a quarter of the text at most: a page that takes the
    focus after a check receives no more.
    """
    if total == 0:
        return []
    most = max(1, min(MOST_UNCHECKED, total // 4))
    whole, rest = divmod(total - 1, most)
    return [1, *[most] * whole, *([rest] if rest else [])]
