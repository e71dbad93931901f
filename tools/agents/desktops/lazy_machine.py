"""A chat's machine that is resolved when a tool first needs it.

Many tools never reach a machine. Resolving it before each call would start the default desktop for
chats that never use one.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from .ports import DesktopMachine


class LazyMachine:
    """The machine of one tool call."""

    def __init__(self, find: Callable[[], Awaitable[DesktopMachine]], tool_call_id: str) -> None:
        self._find = find
        self._tool_call_id = tool_call_id

    def for_call(self, tool_call_id: str) -> "LazyMachine":
        """Return the same machine for a tool call of another id."""
        return LazyMachine(self._find, tool_call_id)

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
        """Send one request; see :class:`deskhand.tools.kit.support.spec.Machine`."""
        # Not kept between requests: the desktop of the chat may be another one by the next request.
        machine = (await self._find()).for_call(self._tool_call_id)
        return await machine.request(
            method, path, json=json, content=content, params=params, timeout=timeout
        )
