"""A scripted server with an adapter of it, shared by the tests of all adapters."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from deskhand.tools.agents.providers.port import ModelReply, Prompt, ProviderAccount
from deskhand.tools.agents.scripted.script.script import read_script
from deskhand.tools.agents.scripted.server import ScriptedModelServer
from deskhand.tools.conversation.conversation import Message
from deskhand.tools.kit.support.spec import ToolSpec
from tests.tools.agents.loop.fakes import MemoryPictures, encoded, screen, user

from .adapters import TestedAdapter

SPEC = ToolSpec("execute", "Runs a command.", {"type": "object"})


class Setting:
    """A scripted server, an adapter of it, and the pauses that it wanted to make."""

    def __init__(self, adapter: TestedAdapter, server: ScriptedModelServer) -> None:
        self.adapter = adapter
        self.server = server
        self.pauses: list[float] = []
        self.texts: list[str] = []
        self.pictures = MemoryPictures(f1=_blank_screen())
        self._opened: list[ProviderAccount] = []
        self.model = self.client()

    def client(self, *, api_key: str | None = None, **policy: Any) -> ProviderAccount:
        """Return one more adapter of the server."""
        opened = self.adapter.open(
            self.server, self.pictures, api_key=api_key, sleep=self._pause, **policy
        )
        self._opened.append(opened)
        return opened

    async def ask(
        self,
        *messages: Message,
        client: ProviderAccount | None = None,
        script: str = "test",
        model: str | None = None,
    ) -> ModelReply:
        """Request the next reply of a script, or of a model by its name."""
        model = model or self.adapter.model(script)
        prompt = Prompt("Be good.", messages or (user("Go."),), (SPEC,), True, model)
        return await (client or self.model).reply(prompt, self.texts.append)

    async def close(self) -> None:
        """Close the connections of all adapters."""
        for opened in self._opened:
            await opened.close()

    async def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)


@cache
def _blank_screen() -> bytes:
    return encoded(screen())


@asynccontextmanager
async def playing(adapter: TestedAdapter, *steps: dict[str, Any]) -> AsyncIterator[Setting]:
    """Start a server that plays the steps as the script ``test``."""
    script = read_script("test", {"steps": list(steps)})
    async with ScriptedModelServer([script]) as server:
        setting = Setting(adapter, server)
        try:
            yield setting
        finally:
            await setting.close()


def run(scenario: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a scenario in an event loop of its own."""
    asyncio.run(scenario())
