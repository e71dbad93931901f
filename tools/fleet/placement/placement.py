"""What a control plane needs of its desktops, wherever they run.

Two classes implement it: `deskhand.tools.fleet.fleet.Fleet` for the desktops of this machine, and
`ClusterFleet` (`deskhand.tools.cluster.desktops`) for those of nodes. The composition of the
control plane chooses one of them; nothing else distinguishes them.
"""

from collections.abc import Awaitable, Callable, Hashable
from typing import Protocol

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.network.egress import Egress
from deskhand.desktop.profiles.profile_folder import StoredProfile
from deskhand.tools.conversation.uploaded import UploadedFile
from deskhand.tools.fleet.desktop_info import DesktopInfo
from deskhand.tools.fleet.spawn_times import SpawnTimes
from deskhand.tools.recovery.ports import DesktopRemains
from deskhand.tools.templates.library import TemplateLibrary


class NamedHolder(Protocol):
    """The desktop that has a profile."""

    @property
    def id(self) -> str:
        """Id of the desktop."""

    @property
    def name(self) -> str:
        """Name for people."""


class PlacedProfiles(Protocol):
    """The named profiles of browsers."""

    def holder(self, name: str) -> NamedHolder | None:
        """Return the desktop that has a profile, None if none has it."""

    async def all(self) -> tuple[StoredProfile, ...]:
        """Return the profiles, in the order of their names."""

    async def remove(self, name: str) -> None:
        """Remove a profile; raise ``UnknownProfile`` or ``ProfileTaken``."""


class PlacedUploads(Protocol):
    """Uploads of files of desktops by the hosts that these run on."""

    async def put(self, desktop_id: str, path: str, put_url: str) -> UploadedFile | None:
        """Put what a desktop answers to a path to a signed address; None if this has failed."""


class Placement(Protocol):
    """The desktops of a control plane."""

    on_end: Callable[[str], None]
    """Called with the id of a desktop that has ended for any reason."""
    on_start: Callable[[str], None]
    """Called with the id of each desktop that was started or found again."""
    on_use: Callable[[str], Awaitable[None]]
    """Awaited with the id of a desktop whose display is used for the first time."""
    on_crowded: Callable[[frozenset[str], int], Awaitable[None]]
    """Awaited with desktops of which so many should end if they are at rest: others need room."""

    @property
    def templates(self) -> TemplateLibrary:
        """The templates of desktops."""

    @property
    def spawns(self) -> SpawnTimes:
        """Durations of the starts of desktops."""

    @property
    def profiles(self) -> PlacedProfiles:
        """The profiles of browsers."""

    @property
    def remains(self) -> DesktopRemains:
        """The recordings that dead desktops left."""

    @property
    def uploads(self) -> PlacedUploads | None:
        """The uploads of other hosts; None if the desktops run on this one."""

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
    ) -> DesktopInfo:
        """Start a desktop and return it once it is ready; cancelling ends it.

        Raises:
            TemplateError: If there is no such template, or its file is wrong.
            ProfileTaken: If another desktop has the profile.
            DesktopNotStarted: With the reason.
        """

    def position(self, chat_id: str) -> int | None:
        """Return the position in the queue, from 1, of a chat whose desktop waits for room."""

    async def locate(self, desktop_id: str) -> None:
        """Ensure that a desktop which another control plane has just started is known here."""

    def client(self, desktop_id: str) -> DesktopClient:
        """Return the client of a desktop; raise ``UnknownDesktop`` if none has this id."""

    def known(self, desktop_id: str) -> bool:
        """Return whether a desktop with this id runs."""

    def has_display(self, desktop_id: str) -> bool:
        """Return whether the display of a desktop has been started."""

    def chat_of(self, desktop_id: str) -> str | None:
        """Return the chat that a desktop was started for, None if there is none."""

    async def list(self) -> tuple[DesktopInfo, ...]:
        """Return all desktops, newest first."""

    def states(self) -> Hashable:
        """Return a value that differs when `list` does."""

    async def show(self, desktop_id: str) -> None:
        """Start the display of a desktop that has none; return when it can be used."""

    async def stop(self, desktop_id: str) -> None:
        """End a desktop after it has finished its recordings; raise ``UnknownDesktop``."""

    async def ended(self, desktop_id: str) -> None:
        """Return when no process of a desktop can write a recording any more."""

    async def forget_workdir(self, name: str) -> None:
        """Remove a working directory whose desktops have ended."""
