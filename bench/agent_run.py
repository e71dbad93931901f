"""A run of our loop on the trace of the cost figures, with the real loop and requests."""

import asyncio
import json
from collections.abc import Callable

from bench.agent_trace import TRACE, Bill, picture, reply_to
from deskhand.tools.agents.checkpoints.checkpoint import Checkpoint
from deskhand.tools.agents.loop.report import Report
from deskhand.tools.agents.loop.turn import LoopSettings, run_turn
from deskhand.tools.agents.providers.anthropic import wire
from deskhand.tools.agents.providers.merged_messages import merged
from deskhand.tools.agents.providers.port import (
    Compacted,
    ModelReply,
    Prompt,
    RequestFigures,
    Usage,
)
from deskhand.tools.agents.scripted.anthropic.binding import signed
from deskhand.tools.agents.scripted.script.request import Request
from deskhand.tools.conversation.conversation import (
    Compaction,
    Image,
    Message,
    Text,
    ToolCall,
    ToolResult,
)
from deskhand.tools.kit.support.spec import ToolSpec

BOUND = "claude-opus-5-5"
UNBOUND = "claude-opus-4-8"


class TraceModel:
    """Answers with the replies of the trace, and counts each request."""

    def __init__(self, steps: int) -> None:
        self.bill = Bill()
        self._steps = steps
        self._replies = 0

    async def reply(self, prompt: Prompt, on_text: Callable[[str], None]) -> ModelReply:
        """Return the next reply of the trace, and text after the last one."""
        number, request = self._replies, self._counted(prompt, compact=False)
        self._replies += 1
        if number == self._steps:
            return ModelReply((Text("Done."),), "end_turn", Usage())
        blocks = map(wire.reply_block, reply_to(request, number))
        read = tuple(block for block in blocks if block is not None)
        return ModelReply(read, "tool_use", Usage(1, 1))

    async def compact(self, prompt: Prompt) -> Compacted:
        """Return the summary of the trace."""
        request = self._counted(prompt, compact=True)
        self.bill.summarized(TRACE["summary"])
        empty = {"type": "compaction", "content": TRACE["summary"], "signature": ""}
        (block,) = signed(request, [empty])
        return Compacted((Compaction(block),), Usage(1, 1), TRACE["summary"])

    def _counted(self, prompt: Prompt, *, compact: bool) -> Request:
        messages = merged(prompt.messages)
        parts = prompt.sent.known(messages)
        for message in messages[len(parts) :]:
            pictures = {one: picture(int(one)) for one in wire_ids(message)}
            parts.append(wire.message_part(message, pictures))
            prompt.sent.add(message, parts[-1])
        body = wire.encoded(prompt, parts, drop_block=prompt.model == BOUND, compact=compact)
        # Our tools are left out, as those of the others: the system prompt of the trace stands for
        # both.
        frame = json.loads(body)
        frame["tools"] = frame["tools"][:1]
        return self.bill.add(json.dumps(frame).encode())


def wire_ids(message: Message) -> list[str]:
    """Return the file ids of the pictures in a message."""
    results = [b for b in message.content if isinstance(b, ToolResult)]
    return [b.file_id for result in results for b in result.content if isinstance(b, Image)]


class TraceTools:
    """Answers the calls of the trace."""

    specs: tuple[ToolSpec, ...] = ()
    current_specs: tuple[ToolSpec, ...] = ()
    computer = True
    people_seconds = 0.0

    async def call(
        self, call: ToolCall, *, picture: bool = True, request: RequestFigures | None = None
    ) -> ToolResult:
        """Return the result of a step."""
        number = int(call.id.rpartition("_")[2])
        shown = Image(str(number), "image/png", 1280, 720)
        words = Text(TRACE["steps"][number]["result"])
        return ToolResult(call.id, (words, shown), toolset=call.toolset)


class TraceTranscript:
    """The messages of the run, in memory."""

    def __init__(self) -> None:
        self.checkpoints: list[Checkpoint] = []
        self._messages: tuple[Message, ...] = (Message("user", (Text(TRACE["prompt"]),)),)

    async def messages(self) -> tuple[Message, ...]:
        """Return all messages."""
        return self._messages

    async def append(
        self, message: Message, usage: Usage | None = None, report: Report | None = None
    ) -> None:
        """Add a message."""
        self._messages = (*self._messages, message)

    async def checkpoint(self) -> Checkpoint | None:
        """Return the newest checkpoint."""
        return self.checkpoints[-1] if self.checkpoints else None

    async def take_messages(self) -> None:
        pass

    async def begin_checkpoint(self, reason: str) -> str:
        """Begin a checkpoint."""
        return reason

    async def end_checkpoint(
        self, step_id: str, made: Checkpoint | None, text: str, usage: Usage
    ) -> None:
        """Add the checkpoint."""
        assert made is not None, text
        self.checkpoints.append(made)


def played(steps: int, model: str = BOUND) -> Bill:
    """Return the bill of a run of our loop."""
    trace, transcript = TraceModel(steps), TraceTranscript()
    settings = LoopSettings(model, TRACE["system"], report=False)
    end = asyncio.run(run_turn(transcript, trace, TraceTools(), settings, lambda: 0.0))
    assert (end.error, end.steps) == (None, steps)
    return trace.bill
