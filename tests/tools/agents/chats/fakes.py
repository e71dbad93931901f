"""Fakes of the model and the desktops, and chats over them."""

import asyncio
import base64
import itertools
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from deskhand.desktop.network.egress import Egress
from deskhand.desktop.tool_calls.errors import CallRefused
from deskhand.desktop.tool_calls.generations import Generations
from deskhand.tools.agents.chats.chats import Chats
from deskhand.tools.agents.desktops.ports import ChatSettings, LostRecordings, RecordingSource
from deskhand.tools.agents.driving.driver import Driver
from deskhand.tools.agents.driving.port import TurnTasks
from deskhand.tools.agents.foreign_pictures.foreign_pictures import Pixels, StoredForeignPictures
from deskhand.tools.agents.providers.port import Model, ModelReply, Prompt, Role, Usage
from deskhand.tools.conversation.conversation import Text, ToolCall, ToolResult
from deskhand.tools.conversation.errors import BadChatRequest, NoModel
from deskhand.tools.conversation.run_recording import StayingRecording
from deskhand.tools.conversation.uploaded import FileUpload, UploadedFile
from deskhand.tools.kit.support.spec import (
    MachineRefused,
    MachineUnavailable,
    Tool,
    ToolContext,
    ToolOutcome,
    ToolSpec,
)
from deskhand.tools.secrets.store import SecretStore
from deskhand.tools.store.database import FaultTiming, Store
from deskhand.tools.store.faults.reserve import StoreReserve
from deskhand.tools.store.file_store import FileStore
from deskhand.tools.store.stored_files import StoredFiles
from tests.system.services import PATIENCE
from tests.tools.store.fakes import database

Json = dict[str, Any]
LIMIT = PATIENCE
"""How long a test waits for what must happen."""

Block = Text | ToolCall
_ids = itertools.count(1)


def call(tool: str, **arguments: Any) -> ToolCall:
    return ToolCall(f"call_{next(_ids)}", tool, arguments)


def act(action: str, **arguments: Any) -> ToolCall:
    return ToolCall(f"call_{next(_ids)}", action, arguments, "computer")


def report(summary: str, outcome: str = "done") -> ToolCall:
    return call("report", summary=summary, outcome=outcome)


@dataclass
class ScriptedModel:
    """Replies with one step after the other; a step may be a function that is awaited first."""

    script: list[list[Block] | Exception | Callable[[Prompt], Awaitable[list[Block]]]]
    prompts: list[Prompt] = field(default_factory=list)

    async def reply(self, prompt: Prompt, on_text: Callable[[str], None]) -> ModelReply:
        self.prompts.append(prompt)
        step = self.script.pop(0)
        if isinstance(step, Exception):
            raise step
        content = tuple(await step(prompt)) if callable(step) else tuple(step)
        for block in content:
            if isinstance(block, Text):
                on_text(block.text)
        wants_tool = any(isinstance(block, ToolCall) for block in content)
        return ModelReply(content, "tool_use" if wants_tool else "end_turn", Usage(10, 5))


class Hold:
    """A step of a script, or something else, that waits until the test releases it."""

    def __init__(self, *blocks: Block) -> None:
        self.reached = asyncio.Event()
        self.released = asyncio.Event()
        self._blocks = list(blocks)

    async def __call__(self, _: Prompt) -> list[Block]:
        await self.wait()
        return self._blocks

    async def wait(self) -> None:
        """Return when the test has released it."""
        self.reached.set()
        await self.released.wait()


@dataclass
class FakeModels:
    models: dict[str, Model] = field(default_factory=dict)

    def resolve(self, model: str | None, *, role: Role) -> tuple[str, Model]:
        name = model or role
        if name not in self.models:
            raise NoModel(f"there is no model {name}; set a key")
        return name, self.models[name]


@dataclass
class FakeDesktop:
    """A desktop service with a recorder, as the chats use it."""

    requests: list[tuple[str, str, Json]] = field(default_factory=list)
    headers: list[str | None] = field(default_factory=list)
    params: list[dict[str, str]] = field(default_factory=list)
    recording: str | None = None
    recorded: dict[str, Json] = field(default_factory=dict)
    refuses: dict[str, Exception] = field(default_factory=dict)
    """What to raise, by the end of a path."""
    acted: asyncio.Event = field(default_factory=asyncio.Event)
    frames: int = 0
    screen: bytes | None = None
    """What a screenshot shows."""
    told_text: str | None = None
    """Text that the desktop reports in place of one that went into a password field."""
    loses_steps: bool = False
    """True if the recorder does not keep the steps that it is sent."""
    video_size: int | None = None
    """Size that the recorder reports for its videos; by default the real one."""
    lease: Json = field(default_factory=lambda: {"holder": {"kind": "nobody"}, "last": None})
    """The newest control session of a person."""
    on_action: Callable[[], Awaitable[None]] | None = None
    before: dict[str, Callable[[], Awaitable[None]]] = field(default_factory=dict)
    """What to await first, by the end of a path."""
    changing: dict[str, list[Json | Exception]] = field(default_factory=dict)
    """Answers by whole paths, of which the last one stays."""
    answers: dict[str, Any] = field(default_factory=dict)
    """Answers by whole paths; other paths have the answers of a desktop."""
    put: Callable[[str, str], Awaitable[UploadedFile | None]] | None = None
    """What its host puts to an address, by the path; by default the host cannot."""

    async def request(self, method: str, path: str, body: Json, call_id: str | None) -> Any:
        self.requests.append((method, path, body))
        self.headers.append(call_id)
        if path in self.changing:
            left = self.changing[path]
            found = left.pop(0) if len(left) > 1 else left[0]
            if isinstance(found, Exception):
                raise found
            return found
        if path in self.answers:
            return self.answers[path]
        return await self._answer(path, body, call_id)

    async def _answer(self, path: str, body: Json, call_id: str | None) -> Any:
        self._refuse(path)
        for end, wait in self.before.items():
            if path.endswith(end):
                await wait()
        match path.removeprefix("/api/v0/desktop/").split("/"):
            case ["recording", "start"]:
                return self._start(body["recording_id"])
            case ["recording", "stop"]:
                return self._stop(body["recording_id"])
            case ["recordings", recording_id]:
                return self.recorded[recording_id]
            case ["recordings", recording_id, "steps"]:
                self._add_step(recording_id, body)
                return b""
            case ["action"]:
                return await self._act(body, call_id or "")
            case ["lease"]:
                return self.lease
            case ["screenshot"]:
                return self.screen or {}
        return {"echo": body}

    def _refuse(self, path: str) -> None:
        for end, error in self.refuses.items():
            if path.endswith(end):
                raise error

    def downloaded(self, path: str) -> bytes:
        self._refuse(path)
        return self._content(path)

    def _content(self, path: str) -> bytes:
        return b"jpeg" if path.endswith("thumbnail") else f"mp4 of {path}".encode()

    def posted(self, end: str) -> list[Json]:
        return [body for _, path, body in self.requests if path.endswith(end)]

    def _add_step(self, recording_id: str, body: Json) -> None:
        if not self.loses_steps:
            self.recorded[recording_id]["steps"].append(_step(body))

    def _start(self, recording_id: str) -> Json:
        if self.recording is None:
            self.recording = recording_id
            self.recorded[recording_id] = {
                "id": recording_id,
                "started_at": 1_800_000_000.0,
                "end_reason": None,
                "complete": False,
                "parts": [],
                "steps": [],
            }
        return {"message": "Recording started."}

    def _stop(self, recording_id: str) -> Json:
        if recording_id not in self.recorded:
            raise MachineRefused(404, "Recording not found.")
        self.recording = None
        video = self._content(f"/api/v0/desktop/recordings/{recording_id}/video?part=1")
        size = self.video_size or len(video)
        part = {"index": 1, "bytes": size, "video_start": 0.0, "end_reason": "completed"}
        stopped = {"end_reason": "completed", "complete": True, "take": 1, "parts": [part]}
        self.recorded[recording_id] |= stopped
        return self.recorded[recording_id]

    async def _act(self, body: Json, call_id: str) -> Json:
        self.acted.set()
        if self.on_action is not None:
            await self.on_action()
        self.frames += 1
        for metadata in self.recorded.values():
            metadata["steps"].append(_step({"tool_call_id": call_id}))
        shown = body.get("observe", {}).get("screenshot", True)
        picture = {"screenshot_data": base64.b64encode(b"png").decode()} if shown else {}
        return {
            "output": f"{body['action']} action performed",
            **picture,
            "screenshot_media_type": "image/png",
            "screenshot_width": 1280,
            "screenshot_height": 720,
            "frame_id": f"frame-{self.frames}",
            "point": [10, 20],
            "native_point": [15, 30],
            "changed_fraction": 0.5,
            "timings": {"act_ms": 1.0},
            **({"told_text": self.told_text} if self.told_text else {}),
        }


def _step(body: Json) -> Json:
    return {"video_start": 1.0, "video_end": 2.0, "chat_id": "", **body}


@dataclass
class FakeMachine:
    desktop: FakeDesktop | None
    call_id: str | None = None
    fence: Callable[[], None] = lambda: None

    def for_call(self, tool_call_id: str) -> "FakeMachine":
        return replace(self, call_id=tool_call_id)

    async def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        params: Mapping[str, str] | None = None,
        timeout: float = 30.0,
    ) -> Any:
        if self.desktop is None:
            raise MachineUnavailable("gone")
        self.fence()
        self.desktop.params.append(dict(params or {}))
        return await self.desktop.request(method, path, json or {}, self.call_id)

    async def download(self, path: str, to: Path) -> int:
        if self.desktop is None:
            raise MachineUnavailable("gone")
        return await asyncio.to_thread(to.write_bytes, self.desktop.downloaded(path))

    def uploader(self, path: str) -> FileUpload | None:
        put = None if self.desktop is None else self.desktop.put
        return None if put is None else partial(put, path)


@dataclass
class FakeMachines:
    desktops: dict[str, FakeDesktop] = field(default_factory=dict)
    failure: Exception | None = None
    acquired: list[str] = field(default_factory=list)
    egress: dict[str, Egress] = field(default_factory=dict)
    released: list[str] = field(default_factory=list)
    asked: list[tuple[str, str, tuple[str, ...]]] = field(default_factory=list)
    watched: set[str] = field(default_factory=set)
    roots: list[str] = field(default_factory=list)
    """The root chat of each chat that acquired one."""
    forgotten: list[str] = field(default_factory=list)
    templates: list[str | None] = field(default_factory=list)
    """The template of each desktop that was requested."""
    profiles: dict[str, str] = field(default_factory=dict)
    """The desktop that got each profile last."""
    plain: set[str] = field(default_factory=set)
    """Desktops without a display."""
    memory: bool = True
    """Whether there is memory for one more desktop."""
    chats: dict[str, str] = field(default_factory=dict)
    """The chat of each desktop that was acquired."""
    generations: Generations = field(default_factory=Generations)
    """What the services of the desktops know of the control planes that drive the chats."""
    refused: list[int] = field(default_factory=list)
    """The generations of refused requests."""
    next_start: Callable[[], Awaitable[None]] | None = None
    """Awaited by the next start."""
    used: Callable[[str], Awaitable[None]] = field(init=False)
    """What the first use of a display is reported to."""

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
        self.templates.append(template)
        if self.failure is not None:
            raise self.failure
        desktop_id = f"desktop-{len(self.acquired) + 1}"
        if profile is not None:
            self.profiles[profile] = desktop_id
        self.acquired.append(chat_id)
        self.roots.append(root_id)
        self.chats[desktop_id] = chat_id
        self.egress[chat_id] = egress
        self.desktops.setdefault(desktop_id, FakeDesktop())
        if not display:
            self.plain.add(desktop_id)
        if self.next_start is not None:
            waits, self.next_start = self.next_start, None
            await waits()
        return desktop_id

    def has_memory(self) -> bool:
        return self.memory

    async def check_template(self, name: str) -> None:
        if name != "office":
            raise BadChatRequest(f"no template has the name {name!r}")

    async def having(self, profile: str | None, template: str | None) -> str | None:
        held = self.profiles.get(profile or "")
        return held if held is not None and self.known(held) else None

    async def forget(self, root_id: str) -> None:
        self.forgotten.append(root_id)

    async def show(self, desktop_id: str) -> None:
        if self.failure is not None:
            raise self.failure
        self.plain.discard(desktop_id)

    def on_crowded(self, make_room: Callable[[frozenset[str], int], Awaitable[None]]) -> None:
        self.make_room = make_room

    def position(self, chat_id: str) -> int | None:
        return None

    async def locate(self, desktop_id: str) -> None: ...

    def on_wanted(self, show: Callable[[str], Awaitable[None]]) -> None:
        self.used = show

    def has_display(self, desktop_id: str) -> bool:
        return desktop_id in self.desktops and desktop_id not in self.plain

    def chat_of(self, desktop_id: str) -> str | None:
        return self.chats.get(desktop_id)

    def machine(
        self, desktop_id: str, chat_id: str, ancestors: tuple[str, ...], generation: int = 0
    ) -> FakeMachine:
        self.asked.append((desktop_id, chat_id, ancestors))

        def fence() -> None:
            try:
                self.generations.admit(chat_id, max(0, generation))
            except CallRefused as error:
                self.refused.append(generation)
                raise MachineRefused(409, str(error), "", error.code) from error

        return FakeMachine(self.desktops.get(desktop_id), fence=fence)

    async def release(self, desktop_id: str) -> None:
        self.released.append(desktop_id)
        self.desktops.pop(desktop_id, None)

    def known(self, desktop_id: str) -> bool:
        return desktop_id in self.desktops

    async def lost(self, desktop_id: str) -> bool:
        return desktop_id not in self.desktops

    async def in_use(self, desktop_id: str) -> bool:
        return desktop_id in self.watched


class FakeLostRecordings:
    """Notes the recordings that stayed on a desktop; lost desktops left none."""

    def __init__(self) -> None:
        self.left: list[tuple[str, str]] = []
        self.takes: list[StayingRecording | None] = []
        self.source: RecordingSource | None = None
        self.on_stored: Callable[[str], Awaitable[None]] = self._published

    def use(self, source: RecordingSource) -> None:
        self.source = source

    async def _published(self, chat_id: str) -> None:
        raise AssertionError(chat_id)

    async def settle(
        self, chat_id: str, desktop_ids: Sequence[str], seconds: float
    ) -> Literal["stored", "pending", "none"]:
        return "none"

    async def leave(self, chat_id: str, desktop_id: str, staying: StayingRecording | None) -> None:
        self.left.append((chat_id, desktop_id))
        self.takes.append(staying)


class EchoTool:
    """Asks the machine to repeat the arguments."""

    spec = ToolSpec("echo", "Repeat.", {"type": "object"})

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        return ToolOutcome(await context.machine.request("POST", "/api/v0/echo", json=arguments))


class BrokenTool:
    """Fails with an unexpected exception."""

    spec = ToolSpec("broken", "Fail.", {"type": "object"})

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        raise RuntimeError("a wheel came off")


class StuckTool:
    """Never answers."""

    spec = ToolSpec("stuck", "Wait.", {"type": "object"})

    def __init__(self) -> None:
        self.called = asyncio.Event()
        self.calls = 0

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        self.calls += 1
        self.called.set()
        await asyncio.Event().wait()
        return ToolOutcome()


class StoppableTool(StuckTool):
    """Never answers, and returns the outcome of a call that was interrupted."""

    spec = ToolSpec("stoppable", "Wait.", {"type": "object"})

    async def interrupted(self, arguments: Json, context: ToolContext) -> ToolOutcome | None:
        return ToolOutcome({"stopped": arguments}) if arguments else None


@dataclass
class OpenChats:
    """All chats over one data directory."""

    chats: Chats
    store: Store
    files: StoredFiles
    models: FakeModels
    machines: FakeMachines
    settings: ChatSettings

    async def tool(self, name: str, caller: str, call_id: str = "", **arguments: Any) -> Json:
        """Call a tool and return its value; an error fails the test."""
        outcome = await self.try_tool(name, caller, call_id, **arguments)
        assert not outcome.is_error, outcome.error
        return outcome.value

    async def try_tool(
        self, name: str, caller: str, call_id: str = "", **arguments: Any
    ) -> ToolOutcome:
        async with asyncio.timeout(LIMIT):
            return await self.chats.call_tool(
                name, arguments, caller, call_id or f"http_{next(_ids)}"
            )

    async def error(self, name: str, caller: str, **arguments: Any) -> str:
        """Call a tool that must fail, and return the error."""
        outcome = await self.try_tool(name, caller, **arguments)
        assert outcome.error is not None, outcome.value
        return outcome.error

    async def caller(self) -> str:
        return (await self.chats.default_chat("test")).id

    async def asked(self, chat_id: str, question: str) -> Json:
        """Return when the chat has asked a question; return it."""
        async with asyncio.timeout(LIMIT):
            with self.chats.events(chat_id) as news:
                while True:
                    shown = (await self.chats.get(chat_id)).requires_action
                    if shown is not None and question in shown["question"]:
                        return shown
                    await anext(news)

    async def until(self, chat_id: str, *states: str) -> None:
        """Return when the chat is in one of these states."""
        async with asyncio.timeout(LIMIT):
            with self.chats.events(chat_id) as news:
                while (await self.chats.get(chat_id)).state not in states:
                    await anext(news)


@asynccontextmanager
async def open_chats(
    folder: Path,
    models: dict[str, ScriptedModel] | None = None,
    *,
    machines: FakeMachines | None = None,
    settings: ChatSettings | None = None,
    tools: tuple[Tool, ...] = (),
    keep_recordings: bool = False,
    now: Callable[[], float] | None = None,
    closing: float = LIMIT,
    secret_store: SecretStore | None = None,
    timing: FaultTiming | None = None,
    monotonic: Callable[[], float] = time.monotonic,
    lost_recordings: LostRecordings | None = None,
    pixels: Pixels | None = None,
    is_owner: Callable[[str], bool] = lambda _: True,
    drive: Callable[[Store], Driver] | None = None,
    stored: Callable[[Store], StoredFiles] | None = None,
    reserve: StoreReserve | None = None,
) -> AsyncIterator[OpenChats]:
    """Open the chats of a data directory, resume them, and close them at the end."""
    clock = itertools.count(1_800_000_000)
    fake_models = FakeModels(dict(models or {}))
    fake_machines = machines or FakeMachines()
    settings = settings or ChatSettings("http://plane", closing_seconds=closing, action_seconds=0.0)
    read = now or (lambda: float(next(clock)))
    async with await Store.open(database(folder / "deskhand.db"), timing, reserve) as store:
        files = StoredFiles(store, FileStore(folder / "files"), read)
        if stored is not None:
            files = stored(store)
        shown = None if pixels is None else StoredForeignPictures(files, pixels, read)
        tools = (EchoTool(), BrokenTool(), *tools)
        driver = None if drive is None else drive(store)
        if driver is not None:
            await driver.open()
        chats = Chats(
            store,
            files,
            fake_models,
            fake_machines,
            tools,
            settings,
            secret_store=secret_store,
            lost_recordings=lost_recordings,
            pictures=shown,
            is_owner=is_owner,
            drive=driver.drive if driver else None,
            now=read,
            clock=monotonic,
        )
        await chats.resume()
        try:
            yield OpenChats(chats, store, files, fake_models, fake_machines, settings)
        finally:
            async with asyncio.timeout(LIMIT):
                await chats.close(keep_recordings=keep_recordings)


def result_text(result: ToolResult) -> str:
    """Return the text of a result."""
    return " ".join(block.text for block in result.content if isinstance(block, Text))


@asynccontextmanager
async def after_a_kill(
    before: OpenChats,
    models: dict[str, ScriptedModel],
    tools: Sequence[Tool] = (),
    *,
    drive: Callable[[TurnTasks], TurnTasks] | None = None,
) -> AsyncIterator[OpenChats]:
    """Open the chats a second time, as a program does whose forerunner was killed.

    The forerunner hangs for ever, so that it changes nothing any more.
    """
    fake = FakeModels(dict(models))
    chats = Chats(
        before.store, before.files, fake, before.machines, tools, before.settings, drive=drive
    )
    await chats.resume()
    try:
        yield OpenChats(chats, before.store, before.files, fake, before.machines, before.settings)
    finally:
        async with asyncio.timeout(LIMIT):
            await chats.close()
