"""The tools of the desktop of this service, over the service's own routes."""

import asyncio
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from deskhand.desktop.errors import DesktopUnavailable
from deskhand.desktop.mcp.ports import McpCaller
from deskhand.desktop.mcp.selection import selection_of
from deskhand.desktop.own_api.own_api import ApiCaller, OwnApi

from .desktop_calls import DesktopCalls
from .seen_screens import SeenScreens


class OwnDesktop:
    """Implements ``DesktopRequests`` with the credential of one request."""

    def __init__(self, caller: ApiCaller) -> None:
        self._caller = caller

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
        """Send one request; raises ``DesktopRefused`` or ``DesktopUnavailable``."""
        try:
            async with asyncio.timeout(timeout):
                return await self._caller.request(
                    method, path, json=json, content=content, params=params
                )
        except TimeoutError:
            raise DesktopUnavailable(f"no answer within {timeout:g} s") from None


class OwnDesktopCallers:
    """Makes the caller of each request to ``/mcp`` of one service."""

    def __init__(self, api: OwnApi) -> None:
        self._api = api
        self._seen = SeenScreens()

    def __call__(self, request: Request) -> McpCaller:
        """Return the caller of a request; raises ``BadMcpOption``."""
        selection = selection_of(request.query_params)
        caller = self._api.for_request(request.scope)
        principal = request.state.principal
        key = f"{principal.name}\n{principal.token_id}\n{caller.chat_id}"
        calls = DesktopCalls(
            OwnDesktop(caller),
            *(self._seen, key, selection),
            link=lambda path: f"{request.url.scheme}://{request.url.netloc}{path}",
            step=caller.step,
        )
        return McpCaller(key, calls)
