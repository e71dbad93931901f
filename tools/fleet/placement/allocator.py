"""Allocation of the fleet's desktops to chats; errors of the fleet become those of chats."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from functools import partial

import psutil

from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.desktop.network.egress import Egress
from deskhand.tools.conversation.errors import BadChatRequest, NoDesktop
from deskhand.tools.fleet.errors import DesktopNotStarted, ProfileTaken, UnknownDesktop
from deskhand.tools.templates.errors import TemplateError

from .chat_desktop import ChatCaller, DesktopMachine
from .placement import Placement

MEMORY_OF_DESKTOP = 768 * 1024 * 1024
"""Bytes for one more desktop with a browser, beside what must stay free."""
ENDING_SECONDS = 15.0
"""Time that the keeper of a killed service has to end what it started."""


class DesktopAllocator:
    """Starts, finds and ends the desktops of chats."""

    def __init__(self, fleet: Placement) -> None:
        self._fleet = fleet

    async def acquire(
        self,
        chat_id: str,
        *,
        name: str,
        root_id: str,
        egress: Egress,
        display: bool = True,
        template: str | None = None,
        profile: str | None = None,
    ) -> str:
        """Start a desktop for a chat and return its id once it is ready.

        Its commands run in the working directory of the chat's root chat.

        Without ``display`` its X server and session start later, see ``show``.

        Raises:
            NoDesktop: If the start failed; the text is the reason.
        """
        try:
            started = await self._fleet.start(
                *(name, chat_id, egress),
                display=display,
                workdir=root_id,
                template=template,
                profile=profile,
            )
        except (DesktopNotStarted, ProfileTaken, TemplateError, OSError) as error:
            raise NoDesktop(str(error)) from error
        return started.id

    async def check_template(self, name: str) -> None:
        """Check that a template exists and can be read.

        Raises:
            BadChatRequest: If it does not; the text is the reason.
        """
        try:
            await asyncio.to_thread(self._fleet.templates.get, name)
        except TemplateError as error:
            raise BadChatRequest(str(error)) from error

    async def having(self, profile: str | None, template: str | None) -> str | None:
        """Return the id of the desktop that has the profile of a new one; None if none has it."""
        if profile is None and template is not None:
            with contextlib.suppress(TemplateError):
                recipe = await asyncio.to_thread(self._fleet.templates.get, template)
                profile = recipe.profile
        holder = self._fleet.profiles.holder(profile) if profile else None
        return None if holder is None else holder.id

    async def show(self, desktop_id: str) -> None:
        """Start the display of a desktop; return when it can be used.

        Raises:
            NoDesktop: If it could not be started; the text is the reason.
        """
        try:
            await self._fleet.show(desktop_id)
        except (DesktopRefused, DesktopUnavailable, TemplateError, UnknownDesktop) as error:
            raise NoDesktop(f"its display could not be started: {error}") from error

    def on_crowded(self, make_room: Callable[[frozenset[str], int], Awaitable[None]]) -> None:
        """Await ``make_room`` with desktops of which so many should end if they are at rest."""
        self._fleet.on_crowded = make_room

    def position(self, chat_id: str) -> int | None:
        """Return the position in the queue, from 1, of a chat whose desktop waits for room."""
        return self._fleet.position(chat_id)

    async def locate(self, desktop_id: str) -> None:
        """Ensure that a desktop which another control plane has just started is known here."""
        await self._fleet.locate(desktop_id)

    def on_wanted(self, show: Callable[[str], Awaitable[None]]) -> None:
        """Await ``show`` with the id of each desktop whose display is used for the first time."""
        self._fleet.on_use = show

    def has_memory(self) -> bool:
        """Return whether this machine has memory for one more desktop."""
        return bool(psutil.virtual_memory().available >= MEMORY_OF_DESKTOP)

    def has_display(self, desktop_id: str) -> bool:
        """Return whether the display of a desktop has been started."""
        return self._fleet.has_display(desktop_id)

    def chat_of(self, desktop_id: str) -> str | None:
        """Return the chat that a desktop was started for, ``None`` if a person started it."""
        return self._fleet.chat_of(desktop_id)

    def machine(
        self, desktop_id: str, chat_id: str, ancestors: tuple[str, ...], generation: int = 0
    ) -> DesktopMachine:
        """Return a chat's connection to a desktop; the address is looked up at each request."""
        caller = ChatCaller(chat_id, ancestors, generation)
        # A lookup that fails raises inside of the request, where it becomes ``NoMachine``.
        uploads = self._fleet.uploads
        put = None if uploads is None else partial(uploads.put, desktop_id)
        return DesktopMachine(lambda: self._fleet.client(desktop_id), caller, put=put)

    async def release(self, desktop_id: str) -> None:
        """End a desktop; one that has ended already is no error."""
        with contextlib.suppress(UnknownDesktop):
            await self._fleet.stop(desktop_id)

    async def forget(self, root_id: str) -> None:
        """Remove the working directory of a root chat whose desktops have ended."""
        await self._fleet.forget_workdir(root_id)

    async def in_use(self, desktop_id: str) -> bool:
        """Return whether a person views a desktop or is in control of it."""
        with contextlib.suppress(DesktopRefused, DesktopUnavailable, UnknownDesktop):
            status = await self._fleet.client(desktop_id).request("GET", "/api/v0/desktop")
            holder = (status.get("lease") or {}).get("holder") or {}
            return bool(status.get("watchers")) or holder.get("kind") == "person"
        return False

    async def lost(self, desktop_id: str) -> bool:
        """Return whether a desktop has ended; wait a little if its service does not answer."""
        if not self._fleet.known(desktop_id):
            return True
        try:
            await self._fleet.client(desktop_id).status()
        except (DesktopRefused, DesktopUnavailable, UnknownDesktop):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(ENDING_SECONDS):
                    await self._fleet.ended(desktop_id)
        return not self._fleet.known(desktop_id)

    def known(self, desktop_id: str) -> bool:
        """Return whether a desktop with this id runs."""
        return self._fleet.known(desktop_id)
