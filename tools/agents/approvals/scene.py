"""The desktop of a chat as the gate sees it: what has the keyboard, and a picture for people."""

import logging
from collections.abc import Awaitable, Callable
from typing import Protocol

from deskhand.tools.conversation.conversation import Image
from deskhand.tools.kit.support.spec import Machine, MachineRefused, MachineUnavailable
from deskhand.tools.kit.support.workdir_path import CONTEXT

from .places import NOT_KNOWN, Places, places_of
from .risk_rules import FocusFacts, focus_facts

log = logging.getLogger(__name__)

FOCUS = "/api/v0/desktop/focus"
FOCUS_SECONDS = 5.0
OCCUPIED = 409


class Glances(Protocol):
    """The computer tool of the chat."""

    async def glance(self) -> Image | None:
        """Store a small picture of the screen; None if viewing is not permitted now."""


class ControlWaits(Protocol):
    """Waits for people who control the desktop."""

    async def ended(self, machine: Machine) -> object:
        """Return when no person is in control."""


class DesktopScene:
    """Implements `CallScene` with the machine of a chat."""

    def __init__(
        self,
        machine: Callable[[], Awaitable[Machine]],
        computer: Glances | None,
        control_waits: ControlWaits | None,
        commit: Callable[[], Awaitable[None]],
    ) -> None:
        """Take the desktop, and ``commit``, which writes the row of a new picture."""
        self._machine = machine
        self._commit = commit
        self._computer = computer
        self._control_waits = control_waits

    async def focus(self) -> FocusFacts:
        """Return what has the keyboard, once no person is in control of the desktop."""
        try:
            machine = await self._machine()
            try:
                return focus_facts(await machine.request("GET", FOCUS, timeout=FOCUS_SECONDS))
            except MachineRefused as error:
                if error.status != OCCUPIED or self._control_waits is None:
                    raise
                await self._control_waits.ended(machine)
                return focus_facts(await machine.request("GET", FOCUS, timeout=FOCUS_SECONDS))
        except (MachineRefused, MachineUnavailable) as error:
            log.warning("it is not known what has the keyboard: %s", error)
            return FocusFacts(known=False)

    async def places(self) -> Places:
        """Return the directories of the desktop, which is started for them if it has not been."""
        try:
            machine = await self._machine()
            params = {"parts": "false"}
            return places_of(
                await machine.request("GET", CONTEXT, params=params, timeout=FOCUS_SECONDS)
            )
        except (MachineRefused, MachineUnavailable) as error:
            log.warning("it is not known what ends with the desktop: %s", error)
            return NOT_KNOWN

    async def picture(self) -> str | None:
        """Store a small picture of the screen for people; return its file id."""
        shown = None if self._computer is None else await self._computer.glance()
        if shown is None:
            return None
        # People are asked at once, and see the picture then.
        await self._commit()
        return shown.file_id
