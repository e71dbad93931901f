"""The control plane that a process on standard input and output works with.

It is sought or started at the first call that needs it, once for calls at the same time, and sought
again when it has gone. The start goes on when the call that began it is cancelled.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopError, DesktopRefused, DesktopUnavailable
from deskhand.desktop.server_trust.server_trust import ServerTrust

from .plane_process import PlaneNotStarted
from .relay import ConnectedPlane

log = logging.getLogger(__name__)
CHAT_TITLE = "MCP"
CHECK_SECONDS = 2.0


@dataclass(frozen=True)
class PlaneAddress:
    """Where a control plane listens, and its token."""

    url: str
    token: str
    trust: ServerTrust | None = None
    """For ``https://``; by default what the environment names."""


class OwnPlane(Protocol):
    """A control plane that is started here."""

    async def start(self) -> dict[str, Any]:
        """Return ``url`` and ``token``; raise ``PlaneNotStarted``."""

    async def close(self) -> None:
        """End it; twice is fine."""


class StdioPlane:
    """Finds or starts a control plane, and keeps this process's chat there."""

    def __init__(
        self, find: Callable[[], PlaneAddress | None], make_process: Callable[[], OwnPlane]
    ) -> None:
        """``find`` returns the address of a running control plane, None if there is none."""
        self._find = find
        self._make_process = make_process
        self._process: OwnPlane | None = None
        self._connecting: asyncio.Task[ConnectedPlane] | None = None

    async def __call__(self) -> ConnectedPlane:
        """Return the control plane.

        Raises:
            DesktopUnavailable: If there is none and none could be started.
        """
        if self._connecting is None or _failed(self._connecting):
            self._connecting = asyncio.create_task(self._connected(), name="connect")
        return await asyncio.shield(self._connecting)

    async def check(self) -> None:
        """After a request without an answer: forget a control plane that has gone.

        The next call seeks another one.
        """
        connecting = self._connecting
        if connecting is None or not connecting.done() or _failed(connecting):
            return
        try:
            await connecting.result().client.request("GET", "/healthz", timeout=CHECK_SECONDS)
        except DesktopError:
            if self._connecting is connecting:
                self._connecting = None
            await connecting.result().client.close()

    async def close(self) -> None:
        """End the chat and, if it was started here, the control plane; twice is fine."""
        connecting, self._connecting = self._connecting, None
        if connecting is not None:
            if not connecting.done():
                connecting.cancel()
            await asyncio.gather(connecting, return_exceptions=True)
            if not _failed(connecting):
                await self._end_chat(connecting.result())
        process, self._process = self._process, None
        if process is not None:
            await process.close()

    async def _connected(self) -> ConnectedPlane:
        address = self._find() or await self._started()
        client = DesktopClient(address.url, address.token, address.trust)
        try:
            chat = await client.request("POST", "/api/v0/chats", json={"title": CHAT_TITLE})
        except DesktopRefused as error:
            await client.close()
            raise DesktopUnavailable(f"{address.url} is no control plane: {error}") from error
        except BaseException:
            await client.close()
            raise
        return ConnectedPlane(client, str(chat["id"]))

    async def _started(self) -> PlaneAddress:
        if self._process is not None:
            await self._process.close()
        self._process = self._make_process()
        try:
            ready = await self._process.start()
        except PlaneNotStarted as error:
            # Another process may have started one on the same data at the same time.
            found = self._find()
            if found is None:
                raise DesktopUnavailable(str(error)) from error
            return found
        return PlaneAddress(str(ready["url"]), str(ready["token"]))

    async def _end_chat(self, plane: ConnectedPlane) -> None:
        try:
            # With the chat its desktop is given back.
            await plane.client.request("POST", f"/api/v0/chats/{plane.chat_id}/archive")
        except DesktopError as error:
            log.warning("the chat of this process stays open: %s", error)
        finally:
            await plane.client.close()


def _failed(task: "asyncio.Task[ConnectedPlane]") -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)
