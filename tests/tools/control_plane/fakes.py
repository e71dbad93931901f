"""Stand-ins for the rest of the program, and ways to talk to the real routes."""

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote
from uuid import UUID, uuid4

import httpx2
from fastapi import FastAPI

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.network.egress import Egress
from deskhand.recording.errors import RecordingError
from deskhand.tools.agents.chat_repository.events import ChatSubscription, EventHub
from deskhand.tools.control_plane.openapi.operations import OPERATIONS
from deskhand.tools.control_plane.pages import ErrorPageMiddleware, ErrorPages
from deskhand.tools.control_plane.ports import SheetCell
from deskhand.tools.control_plane.routes.status import ServiceFacts
from deskhand.tools.control_plane.run_video.cutter import VideoCutter
from deskhand.tools.control_plane.run_video.filmstrips import Filmstrips
from deskhand.tools.control_plane.service.app import create_app
from deskhand.tools.conversation.views import ChatView, FileView, MessageView, Page, StepView
from deskhand.tools.fleet.errors import ProfileTaken, UnknownDesktop
from deskhand.tools.kit.support.spec import Tool, ToolOutcome, ToolSpec
from deskhand.tools.live_updates.api import MOST_PAGES
from deskhand.tools.live_updates.api import router as live_router
from deskhand.tools.live_updates.connection import LiveSources
from deskhand.tools.live_updates.desktop_changes import DesktopChanges
from deskhand.tools.people.api import router as people_router
from deskhand.tools.people.people import People
from deskhand.tools.run_activities.activity import (
    Activity,
    control_sessions,
    in_order,
    without_texts,
)
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import BytesMissing, DiskLow, UnknownRow
from deskhand.tools.templates.errors import UnknownTemplate
from deskhand.vncbridge.auth.credentials import Credentials
from deskhand.vncbridge.auth.middleware import install_auth
from deskhand.vncbridge.auth.policy import AccessPolicy, Principal
from deskhand.vncbridge.http.add_routes import add_routes
from deskhand.vncbridge.server.server import Serving

Json = dict[str, Any]
TOKEN = "dh_test"
LIMIT = 20.0
SHA = "ab" * 32


def chat_view(**fields: Any) -> ChatView:
    """A chat at rest; ``fields`` replaces what a test is about."""
    chat_id = fields.pop("id", None) or str(uuid4())
    usual = ChatView(
        id=chat_id,
        title="Look",
        state="waiting",
        mode="general",
        model="scripted:demo",
        parent_id=None,
        root_id=chat_id,
        desktop_id=None,
        created_at=1.0,
        updated_at=2.0,
    )
    return replace(usual, **fields)


def file_view(**fields: Any) -> FileView:
    """A stored picture; ``fields`` replaces what a test is about."""
    usual = FileView(str(uuid4()), None, "attachment", "a.png", "image/png", 3, SHA, 1.0)
    return replace(usual, **fields)


def _page(chats: Sequence[ChatView], limit: int, cursor: str | None) -> Page:
    ids = [c.id for c in chats]
    start = ids.index(cursor) + 1 if cursor else 0
    some = chats[start : start + limit]
    more = some[-1].id if start + limit < len(chats) else None
    return Page(tuple(some), more)


class FakeActivities:
    """What people did, in memory; each is published as a change of its chat."""

    def __init__(self, hub: EventHub) -> None:
        self._hub = hub
        self.added: dict[str, list[Activity]] = {}
        self.asked: list[tuple[Any, ...]] = []

    async def add(self, chat_id: str, kind: str, by: str, text: str = "") -> None:
        known = self.added.setdefault(chat_id, [])
        known.append(Activity(str(len(known)), kind, by, text, 1.5 + len(known)))
        self._hub.publish("status", chat_id)

    async def of(
        self, chat_id: str, recorded: Iterable[Mapping[str, Any]], *, conversation: bool
    ) -> Sequence[Activity]:
        found = in_order([*self.added.get(chat_id, ()), *control_sessions(recorded)])
        return found if conversation else without_texts(found)

    def stop_after_step(self, chat_id: str) -> None:
        self.asked.append(("stop_after_step", chat_id))

    async def run_again(self, chat_id: str, prompt: str | None, owner: str) -> ChatView:
        self.asked.append(("run_again", chat_id, prompt, owner))
        return chat_view(title="Again")


class FakeChats:
    """Chats in memory; ``asked`` keeps what was asked of them."""

    def __init__(self) -> None:
        self.known: dict[str, ChatView] = {}
        self.hub = EventHub()
        self.listening: list[ChatSubscription] = []
        self.followed = asyncio.Event()
        """Set when the first subscription to the events of a single chat begins."""
        self.asked: list[tuple[Any, ...]] = []
        self.steps_of: dict[str, tuple[StepView, ...]] = {}
        self.files_of: dict[str, tuple[FileView, ...]] = {}
        self.messages_of: dict[str, tuple[MessageView, ...]] = {}
        self.activities = FakeActivities(self.hub)
        self.outcome: ToolOutcome | Exception = ToolOutcome({"ok": True})
        self.failure: Exception | None = None
        self.held = asyncio.Event()
        self.held.set()
        self.calling = asyncio.Event()
        self.cancelled = asyncio.Event()

    def add(self, **fields: Any) -> ChatView:
        """Put a chat in; the newest is listed first."""
        chat = chat_view(**fields)
        self.known = {chat.id: chat, **self.known}
        return chat

    async def desktop_of(self, chat_id: str) -> str | None:
        chat = self.known.get(chat_id)
        return None if chat is None else chat.desktop_id

    async def changed_turns(self, chat_id: str) -> Sequence[int]:
        return (2,)

    async def dropped_thinking(self) -> int:
        return 0

    async def create(self, **wanted: Any) -> ChatView:
        self.asked.append(("create", wanted))
        self._maybe_fail()
        return self.add(title=wanted["title"] or "New Chat", mode=wanted["mode"])

    async def list(
        self, *, parent: str | None, state: str | None, limit: int, cursor: str | None, by: str = ""
    ) -> Page:
        self.asked.append(("list", parent, state, limit, cursor))
        chats = [c for c in self.known.values() if state in (None, c.state)]
        return _page(chats, limit, cursor)

    async def recorded(self, limit: int, cursor: str | None, by: str = "") -> Page:
        return _page([c for c in self.known.values() if c.recording_file_ids], limit, cursor)

    async def get(self, chat_id: str) -> ChatView:
        if chat_id not in self.known:
            raise UnknownRow("chat", chat_id)
        return self.known[chat_id]

    async def messages(self, chat_id: str) -> Sequence[MessageView]:
        return self.messages_of.get(chat_id, ())

    async def steps(self, chat_id: str) -> Sequence[StepView]:
        return self.steps_of.get(chat_id, ())

    async def files(self, chat_id: str) -> Sequence[FileView]:
        return self.files_of.get(chat_id, ())

    async def send(
        self, chat_id: str, message: str, interrupt: bool = False, *, after_step: bool = False
    ) -> None:
        named = ("after_step",) if after_step else ()
        await self._act("send", chat_id, message, interrupt, *named)

    async def interrupt(self, chat_id: str) -> None:
        await self._act("interrupt", chat_id)

    async def answer(
        self, chat_id: str, answer: str, *, by: str, question: str | None = None
    ) -> None:
        named = () if question is None else (question,)
        await self._act("answer", chat_id, answer, *named)

    async def release_desktop(self, desktop_id: str) -> None:
        self.asked.append(("vacate", desktop_id))

    async def stop_all(self, by: str = "") -> int:
        self.asked.append(("stop_all",))
        return len(self.known)

    async def archive(self, chat_id: str) -> None:
        await self._act("archive", chat_id)

    async def unarchive(self, chat_id: str) -> None:
        await self._act("unarchive", chat_id)

    async def rename(self, chat_id: str, title: str) -> None:
        await self._act("rename", chat_id, title)

    async def compact(self, chat_id: str) -> None:
        await self._act("compact", chat_id)

    async def clear(self, chat_id: str) -> None:
        await self._act("clear", chat_id)

    async def delete(self, chat_id: str) -> None:
        await self._act("delete", chat_id)

    async def default_chat(self, token_name: str, owner: str) -> ChatView:
        self.asked.append(("default_chat", token_name))
        return self.known.get(DEFAULT_CHAT) or self.add(id=DEFAULT_CHAT)

    def tool_specs(self) -> tuple[ToolSpec, ...]:
        return (
            ToolSpec("execute", "Run a command.", {"type": "object"}),
            ToolSpec("wait_agent", "Wait for a subagent.", {"type": "object"}),
        )

    async def call_tool(
        self, tool: str | Tool, arguments: Json, caller_chat_id: str, tool_call_id: str
    ) -> ToolOutcome:
        self.asked.append((tool, arguments, caller_chat_id, tool_call_id))
        self.calling.set()
        try:
            await self.held.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome

    def events(self, chat_id: str | None, after: int | None = None) -> ChatSubscription:
        subscription = self.hub.subscribe(chat_id, after)
        self.listening.append(subscription)
        if chat_id is not None:
            self.followed.set()
        return subscription

    async def _act(self, *asked: Any) -> None:
        self.asked.append(asked)
        await self.get(asked[1])
        self._maybe_fail()

    def _maybe_fail(self) -> None:
        if self.failure is not None:
            raise self.failure


DEFAULT_CHAT = str(UUID(int=1))


class FakeFiles:
    """Stored files below a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.known: dict[str, FileView] = {}
        self.elsewhere: dict[str, bytes] = {}
        self.full = False

    def add(self, data: bytes | None = b"png", **fields: Any) -> FileView:
        """Put a file in; without data its bytes are lost."""
        file = file_view(**fields)
        self.known[file.id] = file
        if data is not None:
            self.path(file.id).write_bytes(data)
        return file

    async def get(self, file_id: str) -> FileView:
        if file_id not in self.known:
            raise UnknownRow("file", file_id)
        return self.known[file_id]

    async def existing(self, file_ids: Sequence[str]) -> dict[str, FileView]:
        return {name: self.known[name] for name in file_ids if name in self.known}

    async def pictures(self, chat_id: str) -> list[FileView]:
        return [f for f in self.known.values() if (f.chat_id, f.kind) == (chat_id, "picture")]

    async def keep_picture(
        self, chat_id: str, data: bytes, name: str, media_type: str, tag: str
    ) -> FileView:
        if self.full:
            raise DiskLow("The disk is almost full.")
        facts: Json = {"kind": "picture", "name": name, "media_type": media_type}
        return self.add(data, chat_id=chat_id, size=len(data), metadata={"tag": tag}, **facts)

    async def delete(self, file_id: str) -> None:
        await self.get(file_id)
        del self.known[file_id]

    async def pin(self, file_id: str, pinned: bool) -> FileView:
        found = await self.get(file_id)
        self.known[file_id] = replace(found, metadata={**found.metadata, "pinned": pinned})
        return self.known[file_id]

    def path(self, file_id: str) -> Path:
        return self.folder / file_id

    async def stream(self, file_id: str, start: int, end: int) -> AsyncIterator[bytes]:
        if file_id not in self.elsewhere:
            raise BytesMissing(file_id)
        for at in range(start, end):
            yield self.elsewhere[file_id][at : at + 1]

    def incoming(self) -> Path:
        return self.folder / f"incoming-{uuid4()}"


@dataclass
class FakeEditor:
    """Writes what it was asked for in the place of videos."""

    failure: RecordingError | None = None
    made: int = 0
    """Number of pictures."""

    def cut(self, stretches: Sequence[tuple[Path, float, float]], target: Path) -> None:
        self._maybe_fail()
        words = [f"{path.read_text()} {start:g}-{end:g}" for path, start, end in stretches]
        target.write_text(", ".join(words))

    def still(self, video: Path, at: float) -> bytes:
        self._maybe_fail()
        return f"{video.read_text()} at {at:g}".encode()

    def sprite(
        self,
        moments: Sequence[tuple[Path, float]],
        *,
        columns: int,
        tile: tuple[int, int],
        exact: bool,
    ) -> bytes:
        self._maybe_fail()
        words = [f"{path.read_text(errors='replace')} {at:g}" for path, at in moments]
        kind = "exact" if exact else "keys"
        return f"{kind} {columns} {tile[0]}x{tile[1]}: {', '.join(words)}".encode()

    def animate(
        self,
        stretches: Sequence[tuple[Path, float, float]],
        kind: str,
        width: int,
        most_bytes: int,
    ) -> bytes:
        self._maybe_fail()
        self.made += 1
        words = [f"{path.read_text()} {start:g}-{end:g}" for path, start, end in stretches]
        return f"{kind} {width} {', '.join(words)}".encode()

    def crops(
        self, moments: Sequence[tuple[Path, float, tuple[float, float] | None]]
    ) -> list[bytes]:
        self._maybe_fail()
        self.made += 1
        return [f"{path.read_text()} {at:g}".encode() for path, at, _ in moments]

    def trail(
        self, video: Path, at: float, points: Sequence[tuple[float, float, str, bool]]
    ) -> bytes:
        self._maybe_fail()
        self.made += 1
        return f"{video.read_text()} {at:g} {[*points]}".encode()

    def sheet(self, cells: Sequence[SheetCell], columns: int) -> bytes:
        self._maybe_fail()
        self.made += 1
        words = [f"{path.read_text()} {at:g} {rest}" for path, at, *rest in cells]
        return f"{columns} {', '.join(words)}".encode()

    def _maybe_fail(self) -> None:
        if self.failure is not None:
            raise self.failure


@dataclass(frozen=True)
class FakeDesktop:
    id: str = "d1"
    name: str = "First"
    status: str = "ready"
    chat_id: str | None = None
    created_at: float = 1.0
    live_url: str = "desktops/d1"
    level: str = "shared"
    pid: int | None = 42
    browser_warning: str = ""
    missing_protections: tuple[str, ...] = ()
    has_display: bool = True
    egress: Json | None = None
    speak: tuple[str, ...] = ()
    profile: str = ""


@dataclass
class FakeDesktops:
    """Desktops by id, some with a service that answers."""

    known: dict[str, FakeDesktop] = field(default_factory=dict)
    services: dict[str, DesktopClient] = field(default_factory=dict)
    failure: Exception | None = None

    async def list(self) -> Sequence[FakeDesktop]:
        return tuple(self.known.values())

    async def start(
        self,
        name: str | None,
        *,
        speak: tuple[str, ...] | None = None,
        template: str | None = None,
        profile: str | None = None,
        egress: Egress | None = None,
    ) -> FakeDesktop:
        if profile == "taken":
            raise ProfileTaken(profile, "d1", "Desktop 1")
        if template is not None:
            raise UnknownTemplate(template, ("office",))
        if self.failure is not None:
            raise self.failure
        spoken = ("osworld",) if speak is None else speak
        made = FakeDesktop(
            *("d9", name or "Desktop 9"),
            live_url="desktops/d9",
            egress=None if egress is None else egress.to_json(),
            speak=spoken,
            profile=profile or "",
        )
        self.known[made.id] = made
        return made

    async def stop(self, desktop_id: str) -> None:
        if desktop_id not in self.known:
            raise UnknownDesktop(desktop_id)
        del self.known[desktop_id]

    async def locate(self, desktop_id: str) -> None: ...

    def client(self, desktop_id: str) -> DesktopClient:
        if desktop_id not in self.services:
            raise UnknownDesktop(desktop_id)
        return self.services[desktop_id]


@dataclass
class ControlPlaneFixture:
    """The control plane's application with its stand-ins."""

    app: FastAPI
    chats: FakeChats
    desktops: FakeDesktops
    files: FakeFiles
    editor: FakeEditor
    closing: asyncio.Event

    def client(self) -> httpx2.AsyncClient:
        """Return a client that knows the token; no server runs."""
        return httpx2.AsyncClient(
            transport=httpx2.ASGITransport(self.app),
            base_url="http://localhost",
            headers={"Authorization": f"Bearer {TOKEN}"},
            timeout=LIMIT,
        )

    async def ask(
        self,
        raw_path: str,
        method: str = "GET",
        *,
        kind: str = "http",
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, Json]:
        """Send a path that an HTTP client would tidy up first; return status and JSON body."""
        path, _, query = raw_path.partition("?")
        given = {"host": "localhost", "authorization": f"Bearer {TOKEN}", **(headers or {})}
        scope = {
            "type": kind,
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http" if kind == "http" else "ws",
            "path": unquote(path),
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(k.lower().encode(), v.encode()) for k, v in given.items()],
            "subprotocols": [],
            "extensions": {"websocket.http.response": {}},
            "state": {},
        }
        return await exchange(self.app, scope)


async def exchange(app: FastAPI, scope: dict[str, Any]) -> tuple[int, Json]:
    """Run one request without a body; the client stays until it is answered."""
    socket_opens: Json = {"type": "websocket.connect"}
    request: Json = {"type": "http.request", "body": b"", "more_body": False}
    messages = [socket_opens if scope["type"] == "websocket" else request]
    answered, status, body = asyncio.Event(), 0, b""

    async def receive() -> dict[str, Any]:
        if messages:
            return messages.pop()
        await answered.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        nonlocal status, body
        status = message.get("status", status)
        body += message.get("body", b"")

    async with asyncio.timeout(LIMIT):
        await app(scope, receive, send)
    return status, json.loads(body or b"null")


def control_plane(tmp_path: Path, **changes: Any) -> ControlPlaneFixture:
    """Return an application behind its real border; ``scopes`` are those of its clients."""
    chats, desktops, files = FakeChats(), FakeDesktops(), FakeFiles(tmp_path)
    editor = FakeEditor()
    closing = changes.pop("closing", None) or asyncio.Event()
    scopes = changes.pop("scopes", ("admin",))
    protections = changes.pop("protections", ())
    about = ServiceFacts("1.2.3", "scripted:demo", False, tmp_path, protections=protections)

    async def owners(kind: str, name: str) -> frozenset[str]:
        if kind == "chat":
            return frozenset({name})
        return frozenset(filter(None, [(await files.get(name)).chat_id]))

    changes_of_desktops = DesktopChanges(lambda: frozenset(desktops.known))
    live = LiveSources("plane", chats, desktops, changes_of_desktops, owners)
    most = changes.pop("most_pages", MOST_PAGES)
    pages = [live_router(live, closing, most), *changes.pop("pages", ())]
    app = create_app(
        chats=chats,
        desktops=desktops,
        files=files,
        filmstrips=Filmstrips(chats, files, VideoCutter(files, lambda: editor)),
        about=lambda: about,
        disk=lambda: {"free_bytes": 5, "low": False},
        closing=closing,
        pages=pages,
        **changes,
    )
    credentials = Credentials("0123456789ab", time.time)
    credentials.accept_token(TOKEN, Principal("admin", scopes))
    # Nobody is added: the store is not used.
    people = People(cast(Store, None), time.time)
    add_routes(app, people_router(people, credentials, lambda: ""))
    install_auth(
        *(app, AccessPolicy(), credentials),
        kin=owners,
        operations=lambda: OPERATIONS,
        error_pages=ErrorPages(),
    )
    app.add_middleware(ErrorPageMiddleware, pages=ErrorPages())
    return ControlPlaneFixture(app, chats, desktops, files, editor, closing)


@contextlib.asynccontextmanager
async def serving(app: Any, bound: socket.socket) -> AsyncIterator[Serving]:
    """Serve an application on a bound socket, with the server that the program uses."""
    ready = asyncio.Event()
    server = Serving(app, ready=ready.set)
    server.config.lifespan = "off"
    task = asyncio.create_task(server.serve(sockets=[bound]))
    try:
        async with asyncio.timeout(LIMIT):
            await ready.wait()
        yield server
    finally:
        server.ask_to_end()
        await task
        bound.close()


def local_socket() -> tuple[socket.socket, str]:
    """Return a socket on a free port, and its address as a URL without the scheme."""
    bound = socket.create_server(("127.0.0.1", 0))
    return bound, f"127.0.0.1:{bound.getsockname()[1]}"


def unix_socket(path: Path) -> socket.socket:
    """Return a listening unix socket."""
    bound = socket.socket(socket.AF_UNIX)
    bound.bind(str(path))
    return bound
