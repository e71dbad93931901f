"""One chat's way to its computer: the desktop service's HTTP API with the chat's headers."""

import json as jsonlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.tools.kit.support.spec import MachineRefused, MachineUnavailable, NoMachine

from .errors import UnknownDesktop

KEPT = 32
"""Calls whose first sight of a service is remembered; a chat has few under way at a time."""


class InstanceTracker:
    """Which instance of the service each tool call saw first.

    The steps of a call have ids of their own, which begin with the call's and a dot.
    """

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    def of(self, call_id: str) -> str | None:
        """Return the instance that the call, or a step of it, saw first."""
        return next((seen for known, seen in self._first.items() if _kin(known, call_id)), None)

    def note(self, call_id: str, instance: str) -> None:
        """Remember it, unless the call has seen one before."""
        if self.of(call_id) is not None:
            return
        self._first[call_id] = instance
        if len(self._first) > KEPT:
            del self._first[next(iter(self._first))]


class DesktopMachine:
    """The computer of a chat; its address is looked up at each call, so that it may restart.

    A call that has seen one instance of the service tells the next, which then refuses what
    was meant for another screen.
    """

    def __init__(
        self,
        client: Callable[[], DesktopClient],
        chat_id: str,
        ancestors: tuple[str, ...] = (),
        tool_call_id: str | None = None,
        sightings: InstanceTracker | None = None,
    ) -> None:
        self._client = client
        self._chat_id = chat_id
        self._ancestors = ancestors
        self._tool_call_id = tool_call_id
        self._sightings = sightings or InstanceTracker()

    def for_call(self, tool_call_id: str) -> "DesktopMachine":
        """Return the same computer, its requests marked with a tool call's id."""
        return DesktopMachine(
            self._client, self._chat_id, self._ancestors, tool_call_id, self._sightings
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
            MachineRefused: The service said no.
            MachineUnavailable: It cannot be reached.
        """
        try:
            answer = await self._client().request(
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
        if self._tool_call_id and isinstance(answer, dict) and "instance_id" in answer:
            self._sightings.note(self._tool_call_id, str(answer["instance_id"]))
        return answer

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

    def _headers(self) -> dict[str, str]:
        headers = {"Deskhand-Chat-Id": self._chat_id}
        if self._ancestors:
            headers["Deskhand-Ancestor-Chat-Ids"] = jsonlib.dumps(list(self._ancestors))
        if self._tool_call_id:
            headers["Deskhand-Tool-Call-Id"] = self._tool_call_id
            instance = self._sightings.of(self._tool_call_id)
            if instance is not None:
                headers["Deskhand-Instance"] = instance
        return headers


def _kin(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}.") or other.startswith(f"{one}.")
