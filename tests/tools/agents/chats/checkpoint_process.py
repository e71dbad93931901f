"""A process that can be killed in the middle of a checkpoint: ``checkpoint_process FOLDER PLACE``.

``PLACE`` is ``asked`` for the time in which the provider summarizes, or ``stored`` for that after
the checkpoint. There the process writes the id of its chat, and waits.
"""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

from deskhand.tools.agents.providers.port import Compacted, ModelReply, Prompt, Usage
from deskhand.tools.conversation.conversation import Compaction, Text, ToolCall
from tests.tools.agents.chats.fakes import FakeDesktop, FakeMachines, open_chats

MODEL = "claude-opus-5-5"
CALLS = 40


class PausingModel:
    """Calls for 40 screenshots, summarizes, and ends; it waits at one place."""

    def __init__(self, place: str = "") -> None:
        self.place = place
        self.prompts: list[Prompt] = []
        self.compacted: list[Prompt] = []

    async def reply(self, prompt: Prompt, on_text: Callable[[str], None]) -> ModelReply:
        self.prompts.append(prompt)
        summarized = any(isinstance(b, Compaction) for m in prompt.messages for b in m.content)
        if summarized:
            await self._at("stored", prompt)
            return ModelReply((Text("Done."),), "end_turn", Usage(1, 1))
        calls = tuple(ToolCall(f"c{n}", "screenshot", {}, "computer") for n in range(CALLS))
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


async def main(folder: Path, place: str) -> None:
    model = PausingModel(place)
    machines = FakeMachines({"desktop-1": FakeDesktop()})
    async with open_chats(folder, {MODEL: model}, machines=machines) as opened:  # type: ignore[dict-item]
        await opened.chats.create(prompt="Go.", mode="computer_use", model=MODEL)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
