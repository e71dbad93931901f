"""Events about complete downloads, which the helper observes."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from .agent_helper import AgentHelper
from .errors import AgentHelperError
from .json_lines import JsonLines

Json = dict[str, Any]

logger = logging.getLogger(__name__)

RETRY_SECONDS = 0.5
"""Pause after the end of a helper, so that one that ends at once causes no busy loop."""


class DownloadEvents:
    """Publishes an event for each complete file in a folder; use as ``async with``.

    A helper that ends is followed by the next one. A folder that cannot be observed is logged.
    """

    def __init__(
        self, helper: AgentHelper, folder: Path, publish: Callable[[str, Json], object]
    ) -> None:
        self._helper = helper
        self._folder = folder
        self._publish = publish
        self._task: asyncio.Task[None] | None = None
        self._tried = asyncio.Event()

    async def __aenter__(self) -> Self:
        """Observe the folder from now on, if that is possible."""
        self._task = asyncio.create_task(self._run())
        await self._tried.wait()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            try:
                try:
                    reply = await self._helper.call("downloads", folder=str(self._folder))
                finally:
                    self._tried.set()
                await self._publish_all(JsonLines(reply.descriptor()))
            except OSError as error:
                logger.warning("downloads are not reported: %s", error.strerror)
                return
            except AgentHelperError as error:
                logger.info("downloads are not reported for the moment: %s", error)
            await asyncio.sleep(RETRY_SECONDS)

    async def _publish_all(self, lines: JsonLines) -> None:
        try:
            while (download := await lines.next()) is not None:
                self._publish_one(download)
        finally:
            lines.close()

    def _publish_one(self, download: Json) -> None:
        match download:
            case {"path": str(path), "name": str(name), "size": int(size)}:
                data = {"path": path, "name": name, "size": size}
                self._publish("download_finished", data)
