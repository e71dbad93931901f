"""Ports of the routes to the rest of the program."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Literal, Protocol

from websockets.asyncio.client import ClientConnection

from deskhand.desktop.client.http1.open_reply import OpenReply
from deskhand.desktop.network.egress import Egress
from deskhand.tools.conversation.chat_start import ChatStart
from deskhand.tools.conversation.restrictions import ChatRestrictions
from deskhand.tools.conversation.views import ChatView, FileView, MessageView, Page, StepView
from deskhand.tools.kit.support.spec import Tool, ToolOutcome, ToolSpec
from deskhand.tools.run_activities.activity import Activity

from .event_format import StreamEvent

Json = dict[str, Any]


class DesktopView(Protocol):
    """One desktop with the properties that the pages show."""

    @property
    def id(self) -> str:
        """Id that stays the same for the lifetime of the service."""

    @property
    def name(self) -> str:
        """Name for people."""

    @property
    def status(self) -> str:
        """``starting``, ``ready`` or ``lost``."""

    @property
    def chat_id(self) -> str | None:
        """The chat that works on the desktop."""

    @property
    def created_at(self) -> float:
        """Unix time of its start."""

    @property
    def live_url(self) -> str:
        """Address of the live view, relative to the control plane."""

    @property
    def level(self) -> str:
        """Isolation: ``shared``, ``user`` or ``container``."""

    @property
    def pid(self) -> int | None:
        """Process id of the service."""

    @property
    def has_display(self) -> bool:
        """False until the display of a desktop that was started without one is used."""

    @property
    def browser_warning(self) -> str:
        """Why the browser does not start, or has no sandbox; empty otherwise."""

    @property
    def missing_protections(self) -> Sequence[str]:
        """Protections that the desktop lacks, each with its reason."""

    @property
    def egress(self) -> Json | None:
        """The part of the network that it may reach."""

    @property
    def speak(self) -> Sequence[str]:
        """Dialects that are on."""

    @property
    def profile(self) -> str:
        """Name of the profile of its browser; empty for one that ends with it."""


class Service(Protocol):
    """The HTTP API of one desktop service."""

    def stream(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: AsyncGenerator[bytes, None] | None = None,
    ) -> AbstractAsyncContextManager[OpenReply]:
        """Send a request and return the response before its body was read; no read time-out.

        Raises ``DesktopUnavailable`` when the service cannot be reached.
        """

    def websocket(
        self, path: str, subprotocols: Sequence[str] = ()
    ) -> AbstractAsyncContextManager[ClientConnection]:
        """Open a WebSocket; raise ``DesktopUnavailable`` or ``DesktopRefused``."""


class Desktops(Protocol):
    """All desktops of this control plane."""

    async def list(self) -> Sequence[DesktopView]:
        """Return the desktops, newest first."""

    async def start(
        self,
        name: str | None,
        *,
        speak: tuple[str, ...] | None = None,
        template: str | None = None,
        profile: str | None = None,
        egress: Egress | None = None,
    ) -> DesktopView:
        """Start a desktop and return when it is ready; by default it has what is configured."""

    async def stop(self, desktop_id: str) -> None:
        """End a desktop with all that runs on it; raise ``UnknownDesktop``."""

    async def locate(self, desktop_id: str) -> None:
        """Ensure that a desktop which another control plane has just started is known here."""

    def client(self, desktop_id: str) -> Service:
        """Return the API of a desktop; raise ``UnknownDesktop``."""


class Events(Protocol):
    """A subscription to events."""

    async def __anext__(self) -> StreamEvent:
        """Return the next event; raise ``StopAsyncIteration`` when no more will come."""

    async def aclose(self) -> None:
        """Unsubscribe."""


class Activities(Protocol):
    """What people did in runs."""

    async def add(
        self, chat_id: str, kind: Literal["message", "answer", "stop"], by: str, text: str = ""
    ) -> None:
        """Add what the person ``by`` just did."""

    async def of(
        self, chat_id: str, recorded: Iterable[Mapping[str, Any]], *, conversation: bool
    ) -> Sequence[Activity]:
        """Return the activities of a chat, without texts unless ``conversation``."""

    def stop_after_step(self, chat_id: str) -> None:
        """Interrupt the turn of a chat when its running steps have ended."""

    async def run_again(self, chat_id: str, prompt: str | None, owner: str) -> ChatView:
        """Create and start a chat like another one, with another task if ``prompt`` is given."""


class Chats(Protocol):
    """The chats and their tools; ``deskhand.tools.agents.chats.chats.Chats`` implements it."""

    async def create(
        self,
        *,
        prompt: str | None,
        title: str | None,
        mode: str = "general",
        model: str | None = None,
        parent_id: str | None = None,
        owner: str | None = None,
        without_execute: bool = False,
        restrictions: ChatRestrictions | None = None,
        effort: str | None = None,
        start: ChatStart | None = None,
    ) -> ChatView:
        """Create a chat and start its first turn if there is a prompt."""

    async def list(
        self, *, parent: str | None, state: str | None, limit: int, cursor: str | None, by: str = ""
    ) -> Page:
        """Return a page of chats, newest first; with ``by`` those that the person may see."""

    async def recorded(self, limit: int, cursor: str | None, by: str = "") -> Page:
        """Return a page of the chats that have recordings, newest first."""

    async def get(self, chat_id: str) -> ChatView:
        """Return one chat."""

    async def messages(self, chat_id: str) -> Sequence[MessageView]:
        """Return the messages of a chat, oldest first."""

    async def steps(self, chat_id: str) -> Sequence[StepView]:
        """Return the tool calls of a chat, oldest first."""

    async def changed_turns(self, chat_id: str) -> Sequence[int]:
        """Return the numbers of the turns whose steps were changed after their end."""

    async def files(self, chat_id: str) -> Sequence[FileView]:
        """Return the files that are listed with a chat."""

    async def dropped_thinking(self) -> int:
        """Return how many thinking blocks providers have dropped from requests."""

    async def send(
        self, chat_id: str, message: str, interrupt: bool = False, *, after_step: bool = False
    ) -> Any:
        """Send a message to a chat: for its next turn, now, or after its current step."""

    @property
    def activities(self) -> Activities:
        """What people did in the chats."""

    async def interrupt(self, chat_id: str) -> Any:
        """Interrupt the turn of a chat."""

    async def answer(
        self, chat_id: str, answer: str, *, by: str, question: str | None = None
    ) -> Any:
        """Answer the question of a chat to a person, its open one or the one that is named.

        Raises ``QuestionClosed`` with the first answer if it has one.
        """

    async def release_desktop(self, desktop_id: str) -> None:
        """Stop the chats that work on a desktop and store their recordings."""

    async def stop_all(self, by: str = "") -> int:
        """Stop all turns; return how many there were."""

    async def archive(self, chat_id: str) -> Any:
        """Archive a chat."""

    async def unarchive(self, chat_id: str) -> Any:
        """Take a chat back that was archived."""

    async def rename(self, chat_id: str, title: str) -> Any:
        """Give a chat another title."""

    async def compact(self, chat_id: str) -> Any:
        """Begin a turn that makes a checkpoint."""

    async def clear(self, chat_id: str) -> Any:
        """Leave all messages so far out of the requests to the model."""

    async def delete(self, chat_id: str) -> Any:
        """Delete a chat with its children, files and recordings."""

    async def desktop_of(self, chat_id: str) -> str | None:
        """Return the id of a chat's desktop, None if it has none."""

    async def default_chat(self, token_name: str, owner: str) -> ChatView:
        """Return the chat for callers that name none."""

    def tool_specs(self) -> tuple[ToolSpec, ...]:
        """Return the tools that callers may use."""

    async def call_tool(
        self, tool: str | Tool, arguments: Json, caller_chat_id: str, tool_call_id: str
    ) -> ToolOutcome:
        """Call a tool, named or the caller's own; cancelling stops the wait only."""

    def events(self, chat_id: str | None, after: int | None = None) -> Events:
        """Subscribe to one chat or to all, from now on or after the event of an id."""


class Files(Protocol):
    """The stored files."""

    async def get(self, file_id: str) -> FileView:
        """Return the view of a file."""

    async def existing(self, file_ids: Sequence[str]) -> Mapping[str, FileView]:
        """Return the views of those of the files that exist, by their ids."""

    async def pictures(self, chat_id: str) -> Sequence[FileView]:
        """Return the pictures that were made of the recordings of a chat."""

    async def keep_picture(
        self, chat_id: str, data: bytes, name: str, media_type: str, tag: str
    ) -> FileView:
        """Store a picture that was made of the recordings of a chat, under a tag."""

    async def delete(self, file_id: str) -> None:
        """Remove a file."""

    async def pin(self, file_id: str, pinned: bool) -> FileView:
        """Exempt a file from retention, or not any more; raise ``UnknownRow``."""

    def path(self, file_id: str) -> Path:
        """Return the path of a file's bytes on this disk; they may be elsewhere."""

    def stream(self, file_id: str, start: int, end: int) -> AsyncIterator[bytes]:
        """Yield bytes that are elsewhere; raise ``BytesMissing`` or ``BucketUnavailable``."""

    def incoming(self) -> Path:
        """Return a new path on this disk for a file that the caller removes."""


SheetCell = tuple[Path, float, str, tuple[float, float] | None, bool]
"""A video, seconds of it, the caption, where a click was, and whether the step failed."""


class Editor(Protocol):
    """Cuts videos; ``deskhand.tools.decoder.decoder.Decoder`` outside of tests.

    All calls block, and raise ``RecordingError`` where a video cannot be read, ``NotDecodable``
    where that takes too much time or memory.
    """

    def cut(self, stretches: Sequence[tuple[Path, float, float]], target: Path) -> None:
        """Write stretches of videos, in seconds, one behind the other into a new one."""

    def still(self, video: Path, at: float) -> bytes:
        """Return a small JPEG of a moment."""

    def sprite(
        self,
        moments: Sequence[tuple[Path, float]],
        *,
        columns: int,
        tile: tuple[int, int],
        exact: bool,
    ) -> bytes:
        """Return a JPEG with a small frame of each moment; without ``exact`` a keyframe before."""

    def animate(
        self,
        stretches: Sequence[tuple[Path, float, float]],
        kind: str,
        width: int,
        most_bytes: int,
    ) -> bytes:
        """Return stretches of videos, one behind the other, as a ``gif`` or ``webp``."""

    def sheet(self, cells: Sequence[SheetCell], columns: int) -> bytes:
        """Return a contact sheet, PNG."""

    def crops(
        self, moments: Sequence[tuple[Path, float, tuple[float, float] | None]]
    ) -> list[bytes]:
        """Return a small JPEG of each moment, around a point of the video."""

    def trail(
        self, video: Path, at: float, points: Sequence[tuple[float, float, str, bool]]
    ) -> bytes:
        """Return a moment with numbered clicks, PNG; a point has True where its step failed."""
