"""Background tasks of the control plane, each of which ends with the exit stack."""

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from typing import Any


def start_task(stack: AsyncExitStack, work: Coroutine[Any, Any, None], name: str) -> None:
    """Run ``work`` until the stack closes, which cancels it and waits for its end."""
    stack.push_async_callback(_ended, asyncio.create_task(work, name=name))


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
