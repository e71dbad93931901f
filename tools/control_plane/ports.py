"""What the routes need of the rest of the program."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol

import httpx2
from websockets.asyncio.client import ClientConnection

from deskhand.tools.conversation.views import ChatView, FileView, MessageView, Page, StepView
from deskhand.tools.kit.support.spec import ToolOutcome, ToolSpec

from .event_format import StreamEvent

Json = dict[str, Any]


class DesktopView(Protocol):
    """One desktop as the pages show it."""

    @property
    def id(self) -> str:
        """Stays the same while its service lives."""

    @property
    def name(self) -> str:
        """For people."""

    @property
    def status(self) -> str:
        """``starting``, ``ready`` or ``lost``."""

    @property
    def chat_id(self) -> str | None:
        """The chat that works on it."""

    @property
    def created_at(self) -> float:
        """Unix time."""

    @property
    def live_url(self) -> str:
        """The page to watch it, relative to the control plane."""

    @property
    def level(self) -> str:
        """How it is isolated: ``shared``, ``user`` or ``container``."""

    @property
    def pid(self) -> int | None:
        """Its service's process."""


class Service(Protocol):
    """The HTTP API of one desktop service."""

    def stream(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: AsyncIterator[bytes] | None = None,
    ) -> AbstractAsyncContextManager[httpx2.Response]:
        """Send a request and give the answer before its body was read; no read time-out.

        Raises ``DesktopUnavailable`` when the service cannot be reached.
        """

    def websocket(
        self, path: str, subprotocols: Sequence[str] = ()
    ) -> AbstractAsyncContextManager[ClientConnection]:
        """Open a WebSocket. Raises ``DesktopUnavailable`` and ``DesktopRefused``."""


class Desktops(Protocol):
    """All desktops of this control plane."""

    async def list(self) -> Sequence[DesktopView]:
        """Return them, newest first."""

    async def start(self, name: str | None) -> DesktopView:
        """Start one and return when it is ready."""

    async def stop(self, desktop_id: str) -> None:
        """End one with all that runs on it. Raises ``UnknownDesktop``."""

    def client(self, desktop_id: str) -> Service:
        """Return its API. Raises ``UnknownDesktop``."""


class Events(Protocol):
    """Somebody who listens."""

    async def __anext__(self) -> StreamEvent:
        """Return the next event; ``StopAsyncIteration`` when no more will come."""

    async def aclose(self) -> None:
        """Listen no more."""


class Chats(Protocol):
    """The chats and their tools; ``deskhand.tools.agents.chats.chats.Chats`` outside of tests."""

    async def create(
        self,
        *,
        prompt: str | None,
        title: str | None,
        mode: str = "general",
        model: str | None = None,
        parent_id: str | None = None,
    ) -> ChatView:
        """Make a chat and start its first turn if there is a prompt."""

    async def list(
        self, *, parent: str | None, state: str | None, limit: int, cursor: str | None
    ) -> Page:
        """Return some chats, newest first."""

    async def get(self, chat_id: str) -> ChatView:
        """Return one chat."""

    async def messages(self, chat_id: str) -> Sequence[MessageView]:
        """Return what was said, oldest first."""

    async def steps(self, chat_id: str) -> Sequence[StepView]:
        """Return its tool calls, oldest first."""

    async def files(self, chat_id: str) -> Sequence[FileView]:
        """Return the files that are listed with it."""

    async def send(self, chat_id: str, message: str, interrupt: bool = False) -> Any:
        """Say something to it."""

    async def interrupt(self, chat_id: str) -> Any:
        """Stop its turn."""

    async def answer(self, chat_id: str, answer: str) -> Any:
        """Answer what it asks a person."""

    async def release_desktop(self, desktop_id: str) -> None:
        """Stop the chats that work on a desktop; their recordings are stored."""

    async def stop_all(self) -> int:
        """Stop all turns; return how many there were."""

    async def archive(self, chat_id: str) -> Any:
        """Put it away."""

    async def delete(self, chat_id: str) -> Any:
        """Remove it with its children, files and recordings."""

    async def default_chat(self, token_name: str) -> ChatView:
        """Return the chat of callers that name none."""

    def tool_specs(self) -> tuple[ToolSpec, ...]:
        """Return the tools that callers may use."""

    async def call_tool(
        self, name: str, arguments: Json, caller_chat_id: str, tool_call_id: str
    ) -> ToolOutcome:
        """Use one; cancelling stops waiting, not what was started."""

    def events(self, chat_id: str | None, after: int | None = None) -> Events:
        """Return what happens to one chat or to all, from now on or after an event's id."""


class Files(Protocol):
    """The stored files."""

    async def get(self, file_id: str) -> FileView:
        """Return what is known of a file."""

    async def delete(self, file_id: str) -> None:
        """Remove a file."""

    async def pin(self, file_id: str, pinned: bool) -> FileView:
        """Keep a file whatever its age, or no more. Raises ``UnknownRow``."""

    def path(self, file_id: str) -> Path:
        """Return where its bytes are if they are on this disk."""

    def stream(self, file_id: str, start: int, end: int) -> AsyncIterator[bytes]:
        """Give bytes that are not. Raises ``BytesMissing`` and ``BucketUnavailable``."""

    def incoming(self) -> Path:
        """Return a new name on this disk, for a file that its user removes."""


class Editor(Protocol):
    """Cuts videos; the module ``deskhand.recording.video.clips`` outside of tests.

    All calls block, and raise ``RecordingError`` where a video cannot be read.
    """

    def cut(self, stretches: Sequence[tuple[Path, float, float]], target: Path) -> None:
        """Write stretches of videos, in seconds, one behind the other into a new one."""

    def still(self, video: Path, at: float) -> bytes:
        """Return a small JPEG of a moment."""
