"""Copies of output that callers ask for: the helper opens the files, the service writes to them."""

import errno
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from deskhand.desktop.processes.output_file import check_regular

from .agent_helper import AgentHelper
from .errors import AgentHelperError


class HelperOutputs:
    """Opens files of the agent for copies of output."""

    def __init__(self, helper: AgentHelper, refusal: Callable[[], str] = lambda: "") -> None:
        """``refusal`` returns why no new content is accepted, or an empty text."""
        self._helper = helper
        self._refusal = refusal

    async def open(self, path: Path) -> int:
        """Open a file for appending; return its descriptor.

        Raises:
            OSError: If it cannot be opened, or is no regular file.
        """
        if reason := self._refusal():
            raise OSError(errno.ENOSPC, reason)
        try:
            descriptor = (await self._helper.call("output", path=str(path))).descriptor()
        except AgentHelperError as error:
            raise OSError(str(error)) from error
        try:
            check_regular(descriptor, path)
        except OSError:
            os.close(descriptor)
            raise
        return descriptor

    async def write_exit(self, path: Path, fields: Mapping[str, object]) -> None:
        """Write the file about a process's exit.

        Raises:
            OSError: If that fails.
        """
        try:
            await self._helper.call("exit", path=str(path), fields=dict(fields))
        except AgentHelperError as error:
            raise OSError(str(error)) from error
