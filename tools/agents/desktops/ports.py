"""Ports of the chats: the desktops, the models and the settings that they use."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from deskhand.desktop.network.egress import Egress, EgressPolicy
from deskhand.tools.agents.providers.port import Model, Role
from deskhand.tools.conversation.run_recording import FetchedRecording, StayingRecording
from deskhand.tools.conversation.uploaded import FileUpload
from deskhand.tools.kit.support.spec import Machine


class DesktopMachine(Machine, Protocol):
    """One chat's access to its desktop service."""

    def for_call(self, tool_call_id: str) -> "DesktopMachine":
        """Return the same machine with the id of a tool call in its requests."""

    async def download(self, path: str, to: Path) -> int:
        """Stream the body of a response into a file and return its length in bytes."""

    def uploader(self, path: str) -> FileUpload | None:
        """Return what puts the body of a response to a signed address, past this control plane.

        None if the host of the desktop cannot do this.
        """


class DesktopSource(Protocol):
    """The desktops of this control plane."""

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
        """Start a desktop for a chat and return its id when it is ready.

        Its commands run in the working directory of the chat's root chat.

        Without ``display`` its X server and session start later, see ``show``.
        """

    async def check_template(self, name: str) -> None:
        """Check that a template exists and can be read.

        Raises:
            BadChatRequest: If it does not; the text is the reason.
        """

    async def having(self, profile: str | None, template: str | None) -> str | None:
        """Return the id of the desktop that has the profile of a new one; None if none has it."""

    async def show(self, desktop_id: str) -> None:
        """Start the display of a desktop; return when it can be used.

        Raises:
            NoDesktop: If it could not be started.
        """

    def on_wanted(self, show: Callable[[str], Awaitable[None]]) -> None:
        """Await ``show`` with the id of each desktop whose display is used for the first time."""

    def on_crowded(self, make_room: Callable[[frozenset[str], int], Awaitable[None]]) -> None:
        """Await ``make_room`` with desktops of which so many should end if they are at rest."""

    def position(self, chat_id: str) -> int | None:
        """Return the position in the queue, from 1, of a chat whose desktop waits for room."""

    async def locate(self, desktop_id: str) -> None:
        """Ensure that a desktop which another control plane has just started is known here."""

    def has_display(self, desktop_id: str) -> bool:
        """Return whether the display of a desktop has been started."""

    def has_memory(self) -> bool:
        """Return whether there is memory for one more desktop."""

    def chat_of(self, desktop_id: str) -> str | None:
        """Return the chat that a desktop was started for, ``None`` if a person started it."""

    def machine(
        self, desktop_id: str, chat_id: str, ancestors: tuple[str, ...], generation: int = 0
    ) -> DesktopMachine:
        """Return a chat's access to a desktop; the address is looked up at each call.

        The desktop refuses requests under a ``generation`` that is not the chat's newest one.
        """

    async def release(self, desktop_id: str) -> None:
        """End a desktop; ending it twice is fine."""

    async def forget(self, root_id: str) -> None:
        """Remove the working directory of a root chat whose desktops have ended."""

    async def lost(self, desktop_id: str) -> bool:
        """Return whether a desktop has ended, also if its service has only just ended."""

    def known(self, desktop_id: str) -> bool:
        """Return whether a desktop with this id runs."""

    async def in_use(self, desktop_id: str) -> bool:
        """Return whether a person watches a desktop or controls it."""


class RecordingSource(Protocol):
    """The recordings on desktops that run."""

    async def fetch(
        self, chat_id: str, desktop_id: str, staying: StayingRecording
    ) -> FetchedRecording:
        """Copy the files of a recording that has ended, and list them with the chat."""

    async def clear(self, chat_id: str, desktop_id: str, staying: StayingRecording) -> None:
        """Remove the recording from its desktop; one that cannot be removed stays."""


class LostRecordings(Protocol):
    """The recordings that are stored with their chats later: their desktops were lost, or the disk
    was full."""

    on_stored: Callable[[str], Awaitable[None]]
    """Awaited with a chat's id when a recording was stored with it."""

    def use(self, source: RecordingSource) -> None:
        """Copy recordings from desktops that run with ``source``."""

    async def settle(
        self, chat_id: str, desktop_ids: Sequence[str], seconds: float
    ) -> Literal["stored", "pending", "none"]:
        """Wait until the recordings of a chat on its lost desktops are stored, at most so long.

        Return the result for the last of these desktops.
        """

    async def leave(self, chat_id: str, desktop_id: str, staying: StayingRecording | None) -> None:
        """Record that a chat's recording stayed on a desktop, to be stored later.

        Without ``staying`` it is stored when the desktop has ended.

        Raises:
            StoreError: If the record cannot be written.
        """


class Models(Protocol):
    """The models that are available."""

    def resolve(self, model: str | None, *, role: Role) -> tuple[str, Model]:
        """Return the full name of a model and the model; ``None`` selects the default one.

        Raises:
            NoModel: If the model is not available; the message says what to do.
        """


@dataclass(frozen=True)
class ChatSettings:
    """Limits and addresses of the chats."""

    base_url: str = ""
    """Prefix of the addresses for people, such as ``http://127.0.0.1:7777``."""
    # Each queued message becomes a turn of its own, so that a long queue is hours of work.
    queue_limit: int = 20
    # For waits that name no time; the parent gets the progress and can wait again.
    wait_seconds: float = 300.0
    desktops: int = 8
    """Most own desktops of computer-use chats at once; more wait in a queue."""
    desktop_rest_seconds: float = 30 * 60.0
    """Time for which a chat at rest keeps a desktop of its own that no person uses."""
    recording_seconds: float = 90.0
    """Time for which the end of a turn may wait for its recording to be stored."""
    closing_seconds: float = 3.0
    action_seconds: float = 5.0
    """For an action that runs at the end of the program; afterwards it is cut off."""
    """The same limit when the whole program ends; the service manager must not lose patience."""
    question_seconds: float = 24 * 3600.0
    """Time in which an approval must be answered."""
    question_place_seconds: float = 15 * 60.0
    """Time for which a chat that waits for an answer keeps its place among the desktops."""
    approval: str = "auto"
    """Mode of approvals of chats that name none; empty for the one that fits the model."""
    trust_mcp_servers: bool = False
    """Start the servers of ``.mcp.json`` without a person's approval."""
    egress: EgressPolicy = field(default_factory=EgressPolicy)
    """The part of the network that desktops may reach."""

    context: bool = False
    """Read the context of every chat, also of one that needs no desktop."""

    def live_url(self, desktop_id: str | None) -> str | None:
        """Return the address at which a person can watch a desktop."""
        return None if desktop_id is None else f"{self.base_url}/desktops/{desktop_id}"

    def run_url(self, chat_id: str) -> str:
        """Return the address of the page that shows a chat's work."""
        return f"{self.base_url}/runs/{chat_id}"


Now = Callable[[], float]
"""Wall clock: Unix time in seconds."""
