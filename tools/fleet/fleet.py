"""Desktop services on this machine: start them, find them again, end them.

A desktop is a keeper process with a desktop service below it, in a session of its own. The fleet
starts it, waits for its ready message on standard output, and records it on disk (`registry`) with
pid, start time and boot id, which together identify a process. All that touches a desktop from
outside goes through the launcher (`launcher_client`); ends are awaited through pidfds
(pidfd_open(2)). A desktop that an earlier control plane started is found in the registry.

A service ends by itself after 15 minutes without a request, so that desktops end after a
crash of the control plane. While the control plane runs, its heartbeat keeps idle services alive.
"""

import asyncio
import contextlib
import logging
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.desktop.launch_port.launch_port import LaunchSpec
from deskhand.desktop.network.egress import Egress
from deskhand.tools.templates.library import TemplateLibrary
from deskhand.tools.templates.template import DesktopTemplate

from .desktop_info import DesktopInfo, info_of
from .errors import DesktopNotStarted, LauncherEnded, UnknownDesktop
from .first_uses import DISPLAY, FirstUses
from .fleet_profiles import FleetProfiles
from .launcher_client import LaunchedState, LauncherClient
from .new_entry import entry_of
from .registry import DesktopRegistry, RegisteredDesktop, exit_of, is_alive
from .remains import FleetRemains
from .service_process import (
    START_SECONDS,
    StartedService,
    client_of,
    end_service,
    responds,
    start_service,
)
from .sockets import SocketFolder
from .spawn_times import SpawnTimes
from .template_setup import launch_applications, write_files

log = logging.getLogger(__name__)
HEARTBEAT_SECONDS = 60.0


class Fleet:
    """The desktops of one control plane.

    ``root`` is the folder of their directories, ``sockets`` that of their sockets. ``live_url``
    returns the address of a desktop's live view for its id. ``egress`` and ``speak`` are those
    of desktops for which none are given.
    """

    def __init__(
        self,
        entries: DesktopRegistry,
        launcher: LauncherClient,
        root: Path,
        sockets: SocketFolder,
        logs: Path,
        live_url: Callable[[str], str],
        egress: Egress | None = None,
        speak: tuple[str, ...] = (),
        templates: TemplateLibrary | None = None,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
    ) -> None:
        self._heartbeat_seconds = heartbeat_seconds
        self._entries = entries
        self._launcher = launcher
        self._root = root
        self._logs = logs
        self._sockets = sockets
        self._live_url = live_url
        self._egress = egress or Egress()
        self._speak = speak
        self.templates = templates or TemplateLibrary(root / "templates")
        self._known: dict[str, RegisteredDesktop] = {}
        self.profiles = FleetProfiles(launcher, self._known.values)
        self._clients: dict[str, DesktopClient] = {}
        self._outputs: dict[str, asyncio.ReadTransport] = {}
        self.remains = FleetRemains(entries, sockets, launcher)
        self.uploads = None
        self._watches: dict[str, asyncio.Task[None]] = {}
        self._first_uses = FirstUses(
            *(self.client, lambda one: self.known(one) and not self.has_display(one)),
            keeps_alive=lambda: self.keeps_alive(),
        )
        self.on_use: Callable[[str], Awaitable[None]] = self.show
        self._first_uses.on_use = lambda desktop_id: self.on_use(desktop_id)
        self.on_end: Callable[[str], None] = lambda _: None
        self.on_start: Callable[[str], None] = lambda _: None
        self.on_crowded: Callable[[frozenset[str], int], Awaitable[None]] = _release_none
        self.keeps_alive: Callable[[], bool] = lambda: True
        """While it returns False, desktops without requests end after their time."""
        self._heart: asyncio.Task[None] | None = None
        self.spawns = SpawnTimes()

    async def open(self) -> tuple[str, ...]:
        """Adopt every desktop that an earlier control plane left; return their ids.

        One that runs and does not answer, as one of another version may not, is ended.
        """
        self._entries.prepare()
        self._logs.mkdir(mode=0o700, parents=True, exist_ok=True)
        left = await asyncio.to_thread(self._launcher.list)
        entries = list(self._entries.all())
        # A keeper may be alive while its service is ending, so an answer is required as well.
        answers = await asyncio.gather(*map(responds, entries))
        for entry, has_answered in zip(entries, answers, strict=True):
            if has_answered:
                self._known[entry.id] = entry
                self._watch(entry)
            elif entry.id not in left:
                await self._forget(entry.id)
        for desktop_id, one in left.items():
            # No entry: its control plane was killed while it started this desktop, or its entry is
            # that of another version.
            if desktop_id not in self._known:
                await self._end_unknown(desktop_id, one)
        self._heart = asyncio.create_task(self._beat(), name="fleet heartbeat")
        return tuple(self._known)

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
        """Start a desktop and return it once it is ready; ``desktop_id`` is its id, if not new.

        Without ``display`` its X server and session start with ``show``.
        ``workdir`` is the name of the working directory that it shares with others. ``speak`` are
        its dialects, by default those of all new desktops. ``template`` is the name of a template,
        ``profile`` that of the profile of its browser, which goes before that of the template.

        Raises:
            TemplateError: If there is no such template, or its file is wrong.
            ProfileTaken: If another desktop has the profile.
            DesktopNotStarted: With the last line of the service's log, or another reason.
        """
        desktop_id = desktop_id or secrets.token_hex(4)
        token = secrets.token_urlsafe(32)
        spoken = self._speak if speak is None else speak
        recipe = await asyncio.to_thread(self.templates.get, template) if template else None
        options = () if recipe is None else recipe.options
        kept = profile or ("" if recipe is None else recipe.profile)
        if kept:
            self.profiles.check_free(kept)
        given = egress or self._egress, display, workdir, spoken, options, kept
        spec = LaunchSpec(desktop_id, *given)
        begun = time.monotonic()
        try:
            token_file = self._entries.write_token(desktop_id, token)
            started = await self._launch(spec, token)
            entry = entry_of(
                *(spec, started),
                token_file=token_file,
                folder=self._root / desktop_id,
                name=name,
                chat_id=chat_id,
                template=template or "",
            )
            await self._save(entry)
        except BaseException as error:
            # A start that is cancelled by its caller has not failed.
            if isinstance(error, Exception):
                self.spawns = self.spawns.refused()
            # A cancelled start must not leave its token on disk.
            self._entries.remove(desktop_id)
            self._sockets.remove(desktop_id)
            if isinstance(error, OSError):
                raise DesktopNotStarted(str(error)) from error
            raise
        self.spawns = self.spawns.succeeded(time.monotonic() - begun)
        self._known[desktop_id] = entry
        self._outputs[desktop_id] = started.output
        self._watch(entry)
        if recipe is not None:
            await self._set_up(entry, recipe)
        return self._info(entry)

    async def _set_up(self, entry: RegisteredDesktop, recipe: DesktopTemplate) -> None:
        try:
            await write_files(self.client(entry.id), recipe)
            if entry.has_display:
                await launch_applications(self.client(entry.id), recipe)
        except (DesktopRefused, DesktopUnavailable) as error:
            await self.stop(entry.id)
            raise DesktopNotStarted(f"template {recipe.name}: {error}") from error

    async def _save(self, entry: RegisteredDesktop) -> None:
        try:
            self._entries.save(entry)
        except OSError:
            # The next control plane would not know the desktop.
            await self._abandon(entry.id)
            raise

    async def _launch(self, spec: LaunchSpec, token: str) -> StartedService:
        file = self._logs / f"desktop-{spec.desktop_id}.log"
        # The desktop's user must not reach the name of the socket: it could rename it, bind its
        # own, and receive the token.
        with self._sockets.bound(spec.desktop_id) as listening:
            try:
                return await start_service(self._launcher, spec, file, listening.fileno(), token)
            except BaseException:
                await self._abandon(spec.desktop_id)
                raise

    async def _abandon(self, desktop_id: str) -> None:
        """End a desktop that was not ready; there may be none."""
        with contextlib.suppress(OSError):
            found = (await asyncio.to_thread(self._launcher.list)).get(desktop_id)
            if found is not None:
                await end_service(self._launcher, desktop_id, found.pid)
                await asyncio.to_thread(self.remains.remove_vacant, desktop_id)

    async def _end_unknown(self, desktop_id: str, left: LaunchedState) -> None:
        if left.state == "runs":
            log.warning("desktop %s does not answer this version and ends", desktop_id)
            await end_service(self._launcher, desktop_id, left.pid)
        await self._forget(desktop_id)

    async def show(self, desktop_id: str) -> None:
        """Start the display of a desktop that has none; return when it can be used.

        Then the applications of its template are launched.

        Raises:
            UnknownDesktop: If no desktop has this id.
            DesktopRefused, DesktopUnavailable: If it does not start, or an application of its
                template does not.
            TemplateError: If the template cannot be read any more.
        """
        client = self.client(desktop_id)
        await client.request("POST", DISPLAY, timeout=START_SECONDS)
        entry = self._known.get(desktop_id)
        if entry is not None and not entry.has_display:
            self._known[desktop_id] = entry = replace(entry, has_display=True)
            self._entries.save(entry)
            if entry.template:
                recipe = await asyncio.to_thread(self.templates.get, entry.template)
                await launch_applications(client, recipe)

    def has_display(self, desktop_id: str) -> bool:
        """Return whether the display of a desktop has been started."""
        entry = self._known.get(desktop_id)
        return entry is not None and entry.has_display

    def template_of(self, desktop_id: str) -> str:
        """Return the name of the template of a desktop; empty if it has none."""
        return self._known[desktop_id].template if desktop_id in self._known else ""

    def chat_of(self, desktop_id: str) -> str | None:
        """Return the chat that a desktop was started for, ``None`` if there is none."""
        entry = self._known.get(desktop_id)
        return None if entry is None else entry.chat_id

    def client(self, desktop_id: str) -> DesktopClient:
        """Return the client of a desktop.

        Raises:
            UnknownDesktop: If no desktop has this id.
        """
        if desktop_id not in self._known:
            raise UnknownDesktop(desktop_id)
        if desktop_id not in self._clients:
            try:
                self._clients[desktop_id] = client_of(self._known[desktop_id])
            except FileNotFoundError:
                # The token of a dead desktop is removed with its last recording.
                raise UnknownDesktop(desktop_id) from None
        return self._clients[desktop_id]

    def position(self, chat_id: str) -> int | None:
        """Return None: a desktop here is started at once, or refused."""

    async def locate(self, desktop_id: str) -> None:
        """Do nothing: nothing else starts desktops here."""

    def known(self, desktop_id: str) -> bool:
        """Return whether a desktop with this id runs."""
        return desktop_id in self._known and is_alive(self._known[desktop_id])

    async def list(self) -> tuple[DesktopInfo, ...]:
        """Return all desktops, newest first; one that has died is returned once more, as lost."""
        found = tuple(
            self._info(e) for e in sorted(self._known.values(), key=lambda e: -e.created_at)
        )
        for info in found:
            entry = self._known.get(info.id)
            # A concurrent ``list`` may have dropped the entry during an await.
            if info.status == "lost" and entry is not None:
                await self._drop(entry)
        return found

    def states(self) -> frozenset[tuple[str, bool, bool]]:
        """Return id, life and display of each desktop; another value means that `list` differs."""
        return frozenset((e.id, is_alive(e), e.has_display) for e in self._known.values())

    def _info(self, entry: RegisteredDesktop) -> DesktopInfo:
        return info_of(entry, self._live_url(entry.id))

    async def stop(self, desktop_id: str) -> None:
        """End a desktop, after it has finished its recordings.

        Raises:
            UnknownDesktop: If no desktop has this id.
        """
        if desktop_id not in self._known:
            raise UnknownDesktop(desktop_id)
        entry = self._known[desktop_id]
        self._first_uses.forget(desktop_id)
        if is_alive(entry):
            await end_service(self._launcher, desktop_id, entry.pid)
        await self._drop(entry)

    async def _drop(self, entry: RegisteredDesktop) -> None:
        self._known.pop(entry.id, None)
        output = self._outputs.pop(entry.id, None)
        if output is not None:
            output.close()
        client = self._clients.pop(entry.id, None)
        if client is not None:
            await client.close()
        await self._forget(entry.id)

    async def _forget(self, desktop_id: str) -> None:
        # A desktop that left recordings keeps its entry until they are recovered.
        if not await asyncio.to_thread(self.remains.remove_vacant, desktop_id):
            self.on_end(desktop_id)

    def _watch(self, entry: RegisteredDesktop) -> None:
        self.on_start(entry.id)

        async def watch() -> None:
            await self.ended(entry.id)
            self._watches.pop(entry.id, None)
            self.on_end(entry.id)

        self._watches[entry.id] = asyncio.create_task(watch(), name=f"watch {entry.id}")
        if not entry.has_display:
            self._first_uses.watch(entry.id)

    async def ended(self, desktop_id: str) -> None:
        """Return when no process of a desktop can write a recording any more."""
        entry = self._known.get(desktop_id) or self._entries.get(desktop_id)
        if entry is None:
            return
        while is_alive(entry):
            with contextlib.suppress(ProcessLookupError):
                await exit_of(entry.pid)
        await self.remains.released(desktop_id)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._heartbeat_seconds)
            # The set of desktops may change during the requests, so the loop runs over a copy.
            for desktop_id in list(self._known) if self.keeps_alive() else ():
                with contextlib.suppress(DesktopRefused, DesktopUnavailable, UnknownDesktop):
                    await self.client(desktop_id).status()

    async def forget_workdir(self, name: str) -> None:
        """Remove a working directory whose desktops have ended."""
        await asyncio.to_thread(self._launcher.remove_workdir, name)

    async def close(self, *, keep: bool = False) -> None:
        """End every desktop, or with ``keep`` leave them to the next control plane."""
        if self._heart is not None:
            self._heart.cancel()
            await asyncio.gather(self._heart, return_exceptions=True)
        await self._first_uses.close()
        watches = list(self._watches.values())
        for watch in watches:
            watch.cancel()
        await asyncio.gather(*watches, return_exceptions=True)
        if not keep:
            # Without the launcher, desktops end by themselves.
            with contextlib.suppress(LauncherEnded):
                await asyncio.gather(*(self.stop(i) for i in list(self._known)))
        for client in self._clients.values():
            await client.close()
        self._clients.clear()


async def _release_none(desktop_ids: frozenset[str], most: int) -> None: ...
