"""Scripted models that are served in a thread, for control planes that are processes."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from deskhand.tools.agents.scripted.server import ScriptedModelServer
from tests.system.services import PATIENCE


@contextmanager
def served(server: ScriptedModelServer, model: str) -> Iterator[dict[str, str]]:
    """Serve models, one of them by default; the value is the environment of a control plane."""
    started, ending = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with server:
            started.set()
            await ending.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    assert started.wait(PATIENCE)
    try:
        yield {
            "ANTHROPIC_API_KEY": server.api_key,
            "ANTHROPIC_BASE_URL": server.url,
            "DESKHAND_APPROVAL": "auto",
            "DESKHAND_MODEL": model,
        }
    finally:
        loop.call_soon_threadsafe(ending.set)
        thread.join()
        loop.close()
