"""Public client of a control plane: runs of agents, desktops, files, tokens and secrets.

It needs neither an X server nor a model. ``client_sync`` is the same without ``await``, generated
from this file by ``scripts/make_sync_client.py``.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.client.local_service import LocalService
from deskhand.desktop.server_trust.server_trust import ServerTrust
from deskhand.tools.control_plane.settings import load

from .collections import DesktopCollection, FileCollection, SecretCollection, TokenCollection
from .errors import NoControlPlane, RunNotStarted
from .local_plane import plane_command
from .plane_transport import PlaneTransport
from .run import Run
from .run_events import RunEvents
from .running_plane import default_data_dir, plane_address, plane_token, plane_trust
from .values import RunStatus, run_status

Json = dict[str, Any]

CONFIG_FILE = Path("deskhand.toml")
# The first call of a new control plane may load the modules of a model's provider.
_SPAWN_SECONDS = 60.0


class Client:
    """One control plane, made by :meth:`connect` or :meth:`launch` and used in ``async with``.

    Every method raises :class:`DesktopRefused` when the control plane answers with an error
    status, and :class:`DesktopUnavailable` when it cannot be reached.
    """

    def __init__(
        self, transport: PlaneTransport, *, service: LocalService | None, address: str, token: str
    ) -> None:
        self._transport = transport
        self._service = service
        self._address, self._token = address, token
        self._trust: ServerTrust | None = None
        self.desktops = DesktopCollection(transport)
        self.files = FileCollection(transport)
        self.tokens = TokenCollection(transport)
        self.secrets = SecretCollection(transport)

    @classmethod
    def connect(
        cls,
        url: str | None = None,
        token: str | None = None,
        *,
        data_dir: Path | str | None = None,
        ca_file: Path | str | None = None,
    ) -> Self:
        """Return the control plane at ``url``, by default the one that runs on this machine.

        It is found as by the command line: ``DESKHAND_URL`` and ``DESKHAND_TOKEN`` precede the
        data directory, which is named by ``data_dir``, ``DESKHAND_DATA_DIR`` or ``deskhand.toml``.
        ``ca_file`` is a private certificate authority for ``https://``, by default that of
        ``DESKHAND_CA_FILE``.

        Raises:
            NoControlPlane: If none runs, or its token is not readable.
        """
        text = CONFIG_FILE.read_text() if CONFIG_FILE.is_file() else ""
        flags = {"data_dir": data_dir}
        folder = load(flags, os.environ, text, default_data_dir()).data_dir
        address = plane_address(folder, url, os.environ)
        if address is None:
            raise NoControlPlane(f"no control plane runs with the data directory {folder}")
        secret = token or plane_token(folder, os.environ)
        found = cls(PlaneTransport(), service=None, address=address, token=secret)
        found._trust = (
            plane_trust(folder, address, os.environ)
            if ca_file is None
            else ServerTrust(str(ca_file))
        )
        return found

    @classmethod
    def launch(
        cls,
        *arguments: str,
        data_dir: Path | str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Self:
        """Return a new control plane, which starts and ends with the ``async with`` block.

        ``arguments`` are those of ``deskhand up``, such as ``"--model", "scripted:tour"``;
        ``environment`` replaces that of this process.
        """
        command = plane_command(data_dir, arguments)
        service = LocalService(command, environment, name="control plane")
        return cls(PlaneTransport(), service=service, address="", token="")

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def open(self) -> Self:
        """Connect, as ``async with`` does; to be followed by `close`."""
        address, token = self._address, self._token
        try:
            if self._service is not None:
                address, token = await asyncio.to_thread(self._service.open)
            self._transport.address, self._transport.token = address, token
            self._transport.client = await DesktopClient(address, token, self._trust).__aenter__()
        except BaseException:
            await self.close()
            raise
        return self

    async def close(self) -> None:
        """Disconnect, and end a control plane that was launched here; twice is fine."""
        client, self._transport.client = self._transport.client, None
        try:
            if client is not None:
                await client.close()
        finally:
            if self._service is not None:
                await asyncio.to_thread(self._service.close)

    async def run(
        self,
        prompt: str,
        *,
        model: str | None = None,
        budget: Mapping[str, float] | None = None,
        title: str | None = None,
        desktop: str | None = None,
        template: str | None = None,
        files: Sequence[Any] | None = None,
        **more: Any,
    ) -> Run:
        """Start an agent on a task and return at once.

        ``budget`` limits ``steps``, ``minutes``, ``tokens`` and ``usd``; ``desktop`` is the id of
        a running one, by default a desktop of its own. ``files`` are in its directory before the
        first step. ``more`` are further arguments of the tool ``spawn_computer_use_agent``.

        Raises:
            RunNotStarted: If the task is not accepted.
        """
        given = {
            **{"prompt": prompt, "model": model, "title": title, "desktop": desktop},
            **{"template": template, "budget": dict(budget) if budget else None},
            **{"files": None if files is None else [*files], **more},
        }
        order = {name: value for name, value in given.items() if value is not None}
        path = "/tools/spawn_computer_use_agent"
        answer = await self._transport.request("POST", path, json=order, timeout=_SPAWN_SECONDS)
        if "error" in answer:
            raise RunNotStarted(str(answer["error"]))
        return Run(self._transport, str(answer["result"]["chat_id"]))

    def get(self, run_id: str) -> Run:
        """Return a run by its id, without a request."""
        return Run(self._transport, run_id)

    async def runs(self, search: str = "", *, limit: int = 24) -> tuple[RunStatus, ...]:
        """Return the newest runs, of those with the words of ``search`` in title, task or report.

        At most 100.
        """
        wanted = {"q": search, "limit": str(limit)}
        found = await self._transport.request("GET", "/runs", params=wanted)
        return tuple(map(run_status, found["chats"]))

    def events(self, since: str = "") -> RunEvents:
        """Return the stream of the events of all runs, used in ``async with``."""
        return RunEvents(self._transport, "", since)

    async def status(self) -> Json:
        """Return version, model and limits of the control plane, as the HTTP API has them."""
        found: Json = await self._transport.request("GET", "/status")
        return found
