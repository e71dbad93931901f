"""The agent's files, opened by the helper: the port of the file routes."""

import asyncio
import os
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from deskhand.desktop.agent_helper.wire.values import (
    condition_json,
    edits_json,
    lines_json,
    search_json,
)
from deskhand.desktop.files.disk import check_regular, translated_errors
from deskhand.desktop.files.errors import BadPath, FilesUnavailable, NoSpaceLeft
from deskhand.desktop.files.preconditions import Condition
from deskhand.desktop.files.requests import FileEdits, LinesQuery
from deskhand.desktop.files.search_query import SearchRequest
from deskhand.desktop.files.tree.tree import append

from .agent_helper import AgentHelper, HelperReply
from .errors import AgentHelperError
from .json_lines import JsonLines

Json = dict[str, Any]


class HelperFiles:
    """Files of the agent. All methods raise FileError."""

    def __init__(self, helper: AgentHelper, refusal: Callable[[], str] = lambda: "") -> None:
        """``refusal`` returns why no new content is accepted, or an empty text."""
        self._helper = helper
        self._refusal = refusal

    async def open(self, path: Path) -> BinaryIO:
        """Open a regular file for reading."""
        async with _translated():
            reply = await self._helper.call("read", path=str(path))
            return os.fdopen(_regular(reply, path), "rb")

    async def lines(self, query: LinesQuery) -> Json:
        """Return the answer with numbered lines."""
        return (await self._call("lines", **lines_json(query))).value

    async def listing(self, path: Path) -> Json:
        """Return the answer that lists a directory."""
        return (await self._call("listing", path=str(path))).value

    async def resolve(self, path: Path) -> str:
        """Return a path without symbolic links; parts that do not exist are kept."""
        return str((await self._call("resolve", path=str(path))).value.get("path"))

    async def search(self, request: SearchRequest) -> Json:
        """Return a page of matches. Cancelling ends the search."""
        return (await self._call("search", **search_json(request))).value

    async def watch(self, path: Path, *, recursive: bool) -> JsonLines:
        """Observe a tree from now on."""
        async with _translated():
            reply = await self._helper.call("watch", path=str(path), recursive=recursive)
            return JsonLines(reply.descriptor())

    async def write(self, path: Path, data: bytes, name: str, condition: Condition) -> None:
        """Replace a file by short content, if its present content meets the condition."""
        _check(self._refusal)
        content = b64encode(data).decode()
        facts = {"path": str(path), "name": name, "condition": condition_json(condition)}
        await self._call("write", content=content, **facts)

    async def replacement(self, path: Path) -> "HelperReplacement":
        """Open new content for a file."""
        _check(self._refusal)
        async with _translated():
            reply = await self._helper.call("replacement", path=str(path))
            return HelperReplacement(self._helper, path, reply, self._refusal)

    async def edit(self, files: Sequence[FileEdits], *, diff: bool) -> list[Json]:
        """Edit files, all or none; return the path of each, with its diff if requested."""
        _check(self._refusal)
        reply = await self._call("edit", files=edits_json(files), diff=diff)
        edited: list[Json] = reply.value["files"]
        return edited

    async def status(self, path: Path) -> Json:
        """Return the kind and the size of what a path leads to."""
        return (await self._call("status", path=str(path))).value

    async def make_directory(self, path: Path) -> None:
        """Create a directory with its parents; one that exists is no error."""
        await self._call("make-directory", path=str(path))

    async def append(self, path: Path, data: bytes) -> None:
        """Extend a file, or create it with this content."""
        _check(self._refusal)
        async with _translated():
            reply = await self._helper.call("append", path=str(path))
            file = os.fdopen(_regular(reply, path), "ab", buffering=0)

        def extend() -> None:
            # The thread closes the file: it continues when the caller is cancelled.
            with file:
                append(file, data, path)

        await asyncio.to_thread(extend)

    async def remove(self, path: Path, *, recursive: bool) -> None:
        """Remove a file, a link, or a directory: an empty one, unless ``recursive``."""
        await self._call("remove", path=str(path), recursive=recursive)

    async def _call(self, operation: str, **arguments: Any) -> HelperReply:
        async with _translated():
            return await self._helper.call(operation, **arguments)


class HelperReplacement:
    """New content for a file, written to a temporary file that the helper has opened."""

    def __init__(
        self, helper: AgentHelper, path: Path, reply: HelperReply, refusal: Callable[[], str]
    ) -> None:
        self._helper = helper
        self._path = path
        self._refusal = refusal
        self._resource = reply.resource
        self._committed = False
        self._file = os.fdopen(_regular(reply, path), "wb", buffering=0)

    def write(self, data: bytes) -> None:
        """Append to the new content. Blocks."""
        _check(self._refusal)
        with translated_errors(self._path):
            view = memoryview(data)
            while view:
                view = view[self._file.write(view) :]

    async def commit(self, name: str, condition: Condition) -> None:
        """Replace the file, if its present content meets the condition."""
        if self._resource is None or self._resource.lost:
            raise FilesUnavailable(
                f"{name!r} was not changed: the process that had opened it has ended."
            )
        facts = {"handle": self._resource.handle, "name": name}
        async with _translated():
            await self._helper.call("commit", condition=condition_json(condition), **facts)
        self._committed = True

    async def close(self) -> None:
        """Discard what was not committed; twice is fine."""
        self._file.close()
        resource, self._resource = self._resource, None
        if resource is None or resource.lost:
            return
        try:
            if not self._committed:
                # Awaited, so that the temporary file is gone before the caller gets its answer.
                with suppress(AgentHelperError):
                    await self._helper.call("discard", handle=resource.handle)
        finally:
            resource.release()


def _check(refusal: Callable[[], str]) -> None:
    if reason := refusal():
        raise NoSpaceLeft(reason)


def _regular(reply: HelperReply, path: Path) -> int:
    """Return the descriptor of a reply; a helper under attack may send one of a FIFO."""
    descriptor = reply.descriptor()
    try:
        check_regular(os.fstat(descriptor), path)
    except BadPath:
        os.close(descriptor)
        raise
    return descriptor


@asynccontextmanager
async def _translated() -> AsyncIterator[None]:
    try:
        yield
    except AgentHelperError as error:
        raise FilesUnavailable(str(error)) from error
