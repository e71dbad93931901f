"""A chat's connection to its desktop service: the HTTP API with the headers of the chat.

A desktop service may be restarted within a call. Each service has an instance id, which it returns
with the state of the screen. The first instance id that a call receives is sent with all its later
requests (``Deskhand-Instance``), and a service with another id refuses them: their coordinates were
meant for a screen that no longer exists.
"""

import json as jsonlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.tools.conversation.uploaded import FileUpload, UploadedFile
from deskhand.tools.fleet.errors import UnknownDesktop
from deskhand.tools.kit.support.spec import MachineRefused, MachineUnavailable, NoMachine

Put = Callable[[str, str], Awaitable[UploadedFile | None]]
"""Puts what the desktop answers to a path to a signed address."""

KEPT = 32
"""Most calls whose instance is remembered; a chat runs few calls at a time."""


class InstanceTracker:
    """The first instance of the service for each tool call.

    The requests of a call have ids of their own: the id of the call, a dot and a suffix.
    """

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    def of(self, call_id: str) -> str | None:
        """Return the first instance of the call, or ``None``."""
        return next(
            (seen for known, seen in self._first.items() if _same_call(known, call_id)), None
        )

    def record(self, call_id: str, instance: str) -> None:
        """Record the instance, unless the call has one already."""
        if self.of(call_id) is not None:
            return
        self._first[call_id] = instance
        if len(self._first) > KEPT:
            # Dicts keep the order of insertion, so the first key is the oldest call.
            del self._first[next(iter(self._first))]


@dataclass(frozen=True)
class ChatCaller:
    """The chat for which requests are sent; ``generation`` 0 if they are not fenced."""

    chat_id: str
    ancestors: tuple[str, ...] = ()
    generation: int = 0

    def headers(self) -> dict[str, str]:
        """Return the headers of each of its requests."""
        headers = {"Deskhand-Chat-Id": self.chat_id}
        if self.ancestors:
            headers["Deskhand-Ancestor-Chat-Ids"] = jsonlib.dumps(list(self.ancestors))
        if self.generation > 0:
            headers["Deskhand-Generation"] = str(self.generation)
        return headers


class DesktopMachine:
    """The computer of a chat.

    ``client`` looks up the address for each request, so that the desktop service may restart.
    ``put`` uploads a file from the desktop's host, if that is another one.
    """

    def __init__(
        self,
        client: Callable[[], DesktopClient],
        caller: ChatCaller,
        tool_call_id: str | None = None,
        instances: InstanceTracker | None = None,
        *,
        put: Put | None = None,
    ) -> None:
        self._client = client
        self._caller = caller
        self._tool_call_id = tool_call_id
        self._instances = instances or InstanceTracker()
        self._put = put

    def for_call(self, tool_call_id: str) -> "DesktopMachine":
        """Return the same computer; its requests carry the id of a tool call."""
        return DesktopMachine(
            self._client, self._caller, tool_call_id, self._instances, put=self._put
        )

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
        """Send one request and return its JSON body; ``bytes`` if it is not JSON.

        Raises:
            MachineRefused: If the service returned an error.
            MachineUnavailable: If there was no response.
        """
        try:
            response = await self._client().request(
                method,
                path,
                json=json,
                content=content,
                params=params,
                headers=self._headers(),
                timeout=timeout,
            )
        except DesktopRefused as error:
            raise MachineRefused(error.status, error.message, error.detail, error.code) from error
        except UnknownDesktop as error:
            raise NoMachine(str(error)) from error
        except DesktopUnavailable as error:
            raise MachineUnavailable(str(error)) from error
        if self._tool_call_id and isinstance(response, dict) and "instance_id" in response:
            self._instances.record(self._tool_call_id, str(response["instance_id"]))
        return response

    async def download(self, path: str, to: Path) -> int:
        """Stream a response's body into a file and return its length in bytes."""
        try:
            return await self._client().download(path, to)
        except DesktopRefused as error:
            raise MachineRefused(error.status, error.message, error.detail, error.code) from error
        except UnknownDesktop as error:
            raise NoMachine(str(error)) from error
        except DesktopUnavailable as error:
            raise MachineUnavailable(str(error)) from error

    def uploader(self, path: str) -> FileUpload | None:
        """Return what puts a response's body to a signed address; None if the host cannot."""
        return None if self._put is None else partial(self._put, path)

    def _headers(self) -> dict[str, str]:
        headers = self._caller.headers()
        if self._tool_call_id:
            headers["Deskhand-Tool-Call-Id"] = self._tool_call_id
            instance = self._instances.of(self._tool_call_id)
            if instance is not None:
                headers["Deskhand-Instance"] = instance
        return headers


def _same_call(one: str, other: str) -> bool:
    # Both directions: a request may come before or after the one that carries the plain id.
    return one == other or one.startswith(f"{other}.") or other.startswith(f"{one}.")
