"""The desktops that control planes order from a node.

An order names the id of its desktop, so that a repeated one is the same: a desktop that runs is
returned, one that is starting is awaited. A control plane that leaves does not end the start, which
its next order awaits.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, Protocol

from deskhand.desktop.errors import DesktopRefused
from deskhand.desktop.network.egress import Egress, from_json
from deskhand.tools.fleet.desktop_info import DesktopInfo
from deskhand.tools.fleet.desktop_order import DesktopOrder
from deskhand.tools.fleet.errors import BadOrder, DesktopNotStarted, UnknownDesktop
from deskhand.tools.templates.library import TemplateLibrary

from .errors import NodeFull
from .forwarding import ForwardingClient

log = logging.getLogger(__name__)

Json = dict[str, Any]
_ID = re.compile("[0-9a-f]{8}")
ENDING = "the node is ending"


class NodeFleet(Protocol):
    """The fleet of a node, as far as its gate uses it."""

    templates: TemplateLibrary

    async def start(
        self,
        name: str | None = None,
        chat_id: str | None = None,
        egress: Egress | None = None,
        *,
        display: bool = True,
        workdir: str = "",
        speak: tuple[str, ...] | None = None,
        template: str | None = None,
        profile: str | None = None,
        desktop_id: str = "",
    ) -> DesktopInfo:
        """Start a desktop and return it once it is ready."""

    async def stop(self, desktop_id: str) -> None:
        """End a desktop."""

    async def show(self, desktop_id: str) -> None:
        """Start the display of a desktop."""

    async def list(self) -> Sequence[DesktopInfo]:
        """Return all desktops."""

    def known(self, desktop_id: str) -> bool:
        """Return whether a desktop with this id runs."""

    def template_of(self, desktop_id: str) -> str:
        """Return the name of the template of a desktop."""

    def client(self, desktop_id: str) -> ForwardingClient:
        """Return the client of a desktop."""


class NodeDesktops:
    """Starts, lists and ends them; ``problem`` returns why there is no room for a further one.

    Its arguments are the numbers of desktops that run and that are starting.
    """

    def __init__(self, fleet: NodeFleet, problem: Callable[[int, int], str]) -> None:
        self._fleet = fleet
        self._problem = problem
        self._starting: dict[str, asyncio.Task[DesktopInfo]] = {}
        self.draining = False
        """True if it takes no new desktops."""
        self.failures = 0
        """Starts that have failed."""

    def drain(self) -> None:
        """Take no further orders."""
        self.draining = True

    async def close(self) -> None:
        """Take no further orders, and cancel the starts."""
        self.drain()
        tasks = tuple(self._starting.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def starting(self) -> int:
        """Number of desktops that are starting."""
        return len(self._starting)

    async def all(self) -> list[Json]:
        """Return the desktops that run."""
        return [self._json(one) for one in await self._running()]

    async def room_problem(self) -> str:
        """Return why there is no room for a further desktop; empty if there is."""
        running = await self._ready()
        return ENDING if self.draining else self._problem(running, self.starting)

    async def start(self, order: DesktopOrder) -> Json:
        """Return the ordered desktop when it is ready.

        Raises:
            NodeFull: If the node takes no further one.
            BadOrder, InvalidEgress, TemplateError: If the order is wrong.
            ProfileTaken: If another desktop has the profile.
            DesktopNotStarted: With the reason.
        """
        if not _ID.fullmatch(order.id):
            raise BadOrder(f"{order.id[:100]!r} is no id of a desktop: eight digits of base 16")
        if order.id not in self._starting:
            if self._fleet.known(order.id):
                return await self._one(order.id)
            running = await self._ready()
            # No await from here to the task: two orders must not get one place.
            if order.id not in self._starting:
                self._check_room(running)
                self._begin(order)
        return self._json(await self._awaited(order.id))

    async def stop(self, desktop_id: str) -> None:
        """End a desktop, also one that is starting.

        Raises:
            UnknownDesktop: If there is none with this id.
        """
        starting = self._starting.get(desktop_id)
        if starting is not None:
            starting.cancel()
            await asyncio.gather(starting, return_exceptions=True)
            if not self._fleet.known(desktop_id):
                return
        await self._fleet.stop(desktop_id)

    async def stop_all(self) -> int:
        """End every desktop and return how many there were."""
        found = {*self._starting, *(one.id for one in await self._fleet.list())}
        ended = await asyncio.gather(*map(self.stop, found), return_exceptions=True)
        for failure in ended:
            # One that has ended meanwhile is unknown.
            if isinstance(failure, Exception) and not isinstance(failure, UnknownDesktop):
                log.error("a desktop did not end", exc_info=failure)
        return len(found)

    async def show(self, desktop_id: str) -> Json:
        """Start the display of a desktop and return the desktop; raises as ``Fleet.show``."""
        try:
            await self._fleet.show(desktop_id)
        except DesktopRefused as error:
            raise DesktopNotStarted(f"its display: {error}") from error
        return await self._one(desktop_id)

    def _check_room(self, running: int) -> None:
        problem = ENDING if self.draining else self._problem(running, self.starting)
        if problem:
            raise NodeFull(problem)

    def _begin(self, order: DesktopOrder) -> None:
        task = asyncio.create_task(self._start(order), name=f"start {order.id}")
        self._starting[order.id] = task

        def ended(_: asyncio.Task[DesktopInfo]) -> None:
            del self._starting[order.id]
            # The control plane may have left, and its order is the only other reader of the error.
            if not task.cancelled() and task.exception() is not None:
                self.failures += 1
                log.warning("desktop %s is not started: %s", order.id, task.exception())

        task.add_done_callback(ended)

    async def _start(self, order: DesktopOrder) -> DesktopInfo:
        try:
            egress = None if order.egress is None else from_json(order.egress)
        except (KeyError, TypeError, AttributeError) as error:
            raise BadOrder(f"egress: {error!r}") from error
        if order.template and order.recipe:
            await asyncio.to_thread(self._fleet.templates.put, order.template, order.recipe)
        return await self._fleet.start(
            *(order.name, order.chat_id, egress),
            display=order.display,
            workdir=order.workdir,
            speak=order.speak,
            template=order.template or None,
            profile=order.profile or None,
            desktop_id=order.id,
        )

    async def _awaited(self, desktop_id: str) -> DesktopInfo:
        task = self._starting[desktop_id]
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.cancelled():
                raise
            raise DesktopNotStarted("it was ended while it started") from None

    async def _running(self) -> Sequence[DesktopInfo]:
        return [one for one in await self._fleet.list() if one.status == "ready"]

    async def _ready(self) -> int:
        # One whose template is being set up is known to the fleet and still starting.
        return len([one for one in await self._running() if one.id not in self._starting])

    async def _one(self, desktop_id: str) -> Json:
        for info in await self._running():
            if info.id == desktop_id:
                return self._json(info)
        raise UnknownDesktop(desktop_id)

    def _json(self, info: DesktopInfo) -> Json:
        return asdict(info) | {"template": self._fleet.template_of(info.id)}
