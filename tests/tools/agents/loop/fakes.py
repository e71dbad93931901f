"""Stand-ins for what the loop and the model adapters are given."""

import asyncio
import io
from collections.abc import Awaitable, Callable, Iterable

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from deskhand.tools.agents.checkpoints.checkpoint import Checkpoint, checkpoint_from_json
from deskhand.tools.agents.loop.report import Report
from deskhand.tools.agents.providers.port import ModelReply, Prompt, RequestFigures, Usage
from deskhand.tools.conversation.conversation import Message, Text, ToolCall, ToolResult
from deskhand.tools.kit.support.spec import ToolSpec

WHITE = (255, 255, 255)


def screen(
    *patches: tuple[tuple[int, int, int, int], tuple[int, int, int]],
    size: tuple[int, int] = (1280, 720),
    background: tuple[int, int, int] = WHITE,
) -> NDArray[np.uint8]:
    """A picture with rectangles (x0, y0, x1, y1), half open, in colours."""
    pixels = np.full((size[1], size[0], 3), background, dtype=np.uint8)
    for (x0, y0, x1, y1), rgb in patches:
        pixels[y0:y1, x0:x1] = rgb
    return pixels


def encoded(pixels: NDArray[np.uint8], form: str = "png") -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, form)
    return buffer.getvalue()


class MemoryPictures:
    """Pictures by file id."""

    def __init__(self, **pictures: bytes) -> None:
        self.pictures = pictures
        self.loaded: list[str] = []

    async def load(self, file_id: str) -> bytes:
        self.loaded.append(file_id)
        if file_id not in self.pictures:
            raise FileNotFoundError(file_id)
        return self.pictures[file_id]


class MemoryTranscript:
    """A chat in a list."""

    def __init__(self, *messages: Message) -> None:
        self.kept = list(messages)
        self.usages: list[Usage] = []
        self.checkpoints: list[Checkpoint] = []
        self.begun: list[str] = []
        self.ended: list[str] = []

    async def messages(self) -> tuple[Message, ...]:
        return tuple(self.kept)

    async def append(
        self, message: Message, usage: Usage | None = None, report: Report | None = None
    ) -> None:
        self.kept.append(message)
        if usage is not None:
            self.usages.append(usage)

    async def checkpoint(self) -> Checkpoint | None:
        return self.checkpoints[-1] if self.checkpoints else None

    async def take_messages(self) -> None:
        pass

    async def begin_checkpoint(self, reason: str) -> str:
        self.begun.append(reason)
        return f"step-{len(self.begun)}"

    async def end_checkpoint(
        self, step_id: str, made: Checkpoint | None, text: str, usage: Usage
    ) -> None:
        assert step_id == f"step-{len(self.begun)}"
        self.ended.append(text)
        if made is not None:
            self.checkpoints.append(checkpoint_from_json(made.to_json()))


def user(*texts: str) -> Message:
    return Message("user", tuple(Text(text) for text in texts))


class ToolboxOf:
    """Answers every call with what a function returns for it."""

    def __init__(
        self,
        answer: Callable[[ToolCall], Awaitable[ToolResult]] | None = None,
        *,
        specs: Iterable[str] = ("execute",),
        computer: bool = True,
    ) -> None:
        self.answer = answer or succeeded
        self.specs = tuple(ToolSpec(name, f"Does {name}.", {"type": "object"}) for name in specs)
        self.current_specs = self.specs
        self.computer = computer
        self.people_seconds = 0.0
        self.called: list[ToolCall] = []
        self.pictures: list[bool] = []
        """Whether each call was to have a picture."""
        self.requests: list[RequestFigures | None] = []

    async def call(
        self, call: ToolCall, *, picture: bool = True, request: RequestFigures | None = None
    ) -> ToolResult:
        self.called.append(call)
        self.pictures.append(picture)
        self.requests.append(request)
        return await self.answer(call)


async def succeeded(call: ToolCall) -> ToolResult:
    return ToolResult(call.id, (Text("ok"),), toolset=call.toolset)


class ModelOf:
    """Gives replies in order; an exception in their place is raised, an event is waited for."""

    def __init__(
        self, *replies: ModelReply | Exception | asyncio.Event, says: str = "Half a sen"
    ) -> None:
        self._replies = list(replies)
        self._says = says
        self.prompts: list[Prompt] = []
        self.asked = asyncio.Event()

    async def reply(self, prompt: Prompt, on_text: Callable[[str], None]) -> ModelReply:
        self.prompts.append(prompt)
        self.asked.set()
        reply = self._replies.pop(0)
        if isinstance(reply, asyncio.Event):
            on_text(self._says)
            await reply.wait()
            raise AssertionError("the event was never meant to come")
        if isinstance(reply, Exception):
            raise reply
        return reply


def reply(
    *content: Text | ToolCall, stop_reason: str = "", usage: Usage | None = None
) -> ModelReply:
    calls = any(isinstance(block, ToolCall) for block in content)
    usual = "tool_use" if calls else "end_turn"
    return ModelReply(tuple(content), stop_reason or usual, usage or Usage(10, 5))
