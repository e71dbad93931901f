"""A process that can be killed in the middle of a checkpoint.

Its arguments are ``FOLDER PLACE MODEL``. ``PLACE`` is ``asked`` for the time in which the summary
is made, or ``stored`` for that after the checkpoint. There the process writes the id of its chat,
and waits.
"""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from deskhand.tools.agents.checkpoints.own_summary import SUMMARY, SUMMARY_REQUEST
from deskhand.tools.agents.checkpoints.policy import LARGEST_BODY
from deskhand.tools.agents.providers.port import Compacted, ModelReply, Prompt, Usage
from deskhand.tools.conversation.conversation import Block, Compaction, Text, ToolCall
from tests.tools.agents.chats.fakes import FakeDesktop, FakeMachines, open_chats

CALLS = 40


class PausingModel:
    """Calls for 40 screenshots, summarizes, and ends; it waits at one place."""

    def __init__(self, place: str = "") -> None:
        self.place = place
        self.prompts: list[Prompt] = []
        self.compacted: list[Prompt] = []

    async def reply(self, prompt: Prompt, on_text: Callable[[str], None]) -> ModelReply:
        self.prompts.append(prompt)
        if is_summary(prompt.messages[0].content[0]):
            await self._at("stored", prompt)
            return ModelReply((Text("Done."),), "end_turn", Usage(1, 1))
        at = len(prompt.messages)
        calls = tuple(ToolCall(f"c{at}-{n}", "screenshot", {}, "computer") for n in range(CALLS))
        return ModelReply(calls, "tool_use", Usage(1, 1))

    async def compact(self, prompt: Prompt) -> Compacted:
        self.compacted.append(prompt)
        await self._at("asked", prompt)
        block = Compaction({"type": "compaction", "content": "All.", "signature": "s"})
        return Compacted((block,), Usage(1, 1), "All.")

    async def _at(self, place: str, prompt: Prompt) -> None:
        if place == self.place:
            sys.stdout.write(f"{prompt.conversation}\n")
            sys.stdout.flush()
            await asyncio.Event().wait()


class SummaryWriter:
    """Does the same for a provider that has no means to summarize."""

    def __init__(self, place: str = "") -> None:
        self._other = PausingModel(place)
        self.prompts = self._other.prompts
        self.compacted = self._other.compacted

    async def reply(self, prompt: Prompt, on_text: Callable[[str], None]) -> ModelReply:
        newest = prompt.messages[-1].content[-1]
        if isinstance(newest, Text) and newest.text.startswith(SUMMARY_REQUEST):
            made = await self._other.compact(prompt)
            return ModelReply((Text(made.text),), "end_turn", made.usage)
        return await self._other.reply(prompt, on_text)


class LargeRequests(SummaryWriter):
    """Gets few pictures, so that the size of a request is what makes a checkpoint due.

    A new process learns that size with its first reply.
    """

    async def reply(self, prompt: Prompt, on_text: Callable[[str], None]) -> ModelReply:
        made = await super().reply(prompt, on_text)
        return replace(made, request_bytes=LARGEST_BODY)


MODELS: dict[str, type[PausingModel | SummaryWriter]] = {
    "claude-opus-5-5": PausingModel,
    "gpt-6.2-sol": PausingModel,
    "gemini-3.5-flash": SummaryWriter,
    "compatible:local": LargeRequests,
}
"""A model of each provider."""


def is_summary(block: Block) -> bool:
    """Return True if a block takes the place of older messages."""
    written = isinstance(block, Text) and block.text.startswith(SUMMARY)
    return written or isinstance(block, Compaction)


async def main(folder: Path, place: str, name: str) -> None:
    model = MODELS[name](place)
    machines = FakeMachines({"desktop-1": FakeDesktop()})
    async with open_chats(folder, {name: model}, machines=machines) as opened:  # type: ignore[dict-item]
        await opened.chats.create(prompt="Go.", mode="computer_use", model=name)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:]))
