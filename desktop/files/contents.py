"""Contents of files, streamed to a response and from the body of a request."""

import asyncio
import mimetypes
import os
from contextlib import AsyncExitStack, ExitStack
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Protocol
from urllib.parse import quote

from deskhand.vncbridge.http.file_response import SAFE, SpanResponse
from deskhand.vncbridge.http.ranges import Span

from .disk import CHUNK, absolute, translated_errors
from .errors import FileError
from .preconditions import ALWAYS, Condition, tag
from .reading import MOST_HASHED, chunks

OCTETS = "application/octet-stream"
# Types without scripts. HTML and SVG could run some in this service's origin, so a browser has to
# download them.
INLINE = ("image/png", "image/jpeg", "image/webp", "video/mp4", "text/vtt", "text/plain")


class FileReplacement(Protocol):
    """New content for a file, which takes its place by ``commit``."""

    def write(self, data: bytes) -> None:
        """Append to the new content. Blocks.

        Raises:
            FileError: If it cannot be written.
        """

    async def commit(self, name: str, condition: Condition) -> None:
        """Replace the file, if its present content meets the condition.

        Raises:
            LostUpdate: If it does not; the text has ``name`` in it.
        """

    async def close(self) -> None:
        """Discard what was not committed; twice is fine."""


class FileWriter(Protocol):
    """Writes files of the agent. The methods raise FileError."""

    async def write(self, path: Path, data: bytes, name: str, condition: Condition) -> None:
        """Replace a file by short content, if its present content meets the condition."""

    async def replacement(self, path: Path) -> FileReplacement:
        """Open new content for a file."""


SHORT = 65_536
"""Bytes of content that is written by one call of `FileWriter`."""


def file_response(file: BinaryIO, path: Path, offset: int, limit: int) -> SpanResponse:
    """Return a response that streams a range of an open file; 0 as ``limit`` is to its end.

    Blocks. The response closes the file; an error does so, too.
    """
    with ExitStack() as stack, translated_errors(path):
        stack.enter_context(file)
        size = os.fstat(file.fileno()).st_size
        length = max(size - offset, 0)
        if limit:
            length = min(length, limit)
        # The hash covers the whole file, also for a range: a later write with If-Match replaces all
        # of it. `SpanResponse` seeks to the range, so the position after hashing does not matter.
        etag = _etag(file, size)
        keep_open = stack.pop_all()
    kind = content_type(path.name)
    disposition = "inline" if kind in INLINE else "attachment"
    headers = SAFE | {"Content-Length": str(length), "Content-Disposition": disposition} | etag
    start = min(offset, size)
    return SpanResponse(file, Span(start, start + length), 200, headers, kind, keep_open, CHUNK)


def content_type(name: str) -> str:
    """Return the media type for a file's suffix."""
    # Quoted: names are read as URLs, and some would be taken for "data:text/plain,".
    kind, encoding = mimetypes.guess_type(quote(name))
    # `guess_type` returns the type of the decompressed content, but the response is compressed.
    if encoding:
        return "application/gzip" if encoding == "gzip" else OCTETS
    return kind or OCTETS


def _etag(file: BinaryIO, size: int) -> dict[str, str]:
    """Return the ETag header for ``If-Match``; none for a file that takes long to hash."""
    if size > MOST_HASHED:
        return {}
    content = sha256()
    for chunk in chunks(file):
        content.update(chunk)
    return {"ETag": tag(content.hexdigest())}


class Incoming:
    """Receives a body in chunks; errors are raised by ``commit``, after the whole body.

    Only the complete body identifies a repeated tool call, which gets its earlier answer even if
    the disk is full now. Used by one task; ``stack`` removes an uncommitted file.
    """

    def __init__(
        self,
        name: str,
        stack: AsyncExitStack,
        files: FileWriter,
        condition: Condition = ALWAYS,
    ) -> None:
        self._name = name
        self._files = files
        self._condition = condition
        self._content = sha256()
        self._stack = stack
        # NUL, which no path contains, separates name and body. The condition is part of the call,
        # too: with another one the same body is another request.
        self._hash = sha256(name.encode("utf-8", "surrogateescape") + b"\0")
        self._hash.update(repr(condition).encode())
        self._waiting = bytearray()
        self._size = 0
        self._file: FileReplacement | None = None
        self._failure: FileError | None = None

    async def take(self, data: bytes) -> None:
        """Process the next chunk."""
        self._hash.update(data)
        self._content.update(data)
        self._size += len(data)
        self._waiting += data
        if len(self._waiting) >= CHUNK:
            await self._flush()

    def digest(self) -> str:
        """Return a hash of the file name and the body so far."""
        return self._hash.hexdigest()

    @property
    def content(self) -> str:
        """SHA-256 of the body so far."""
        return self._content.hexdigest()

    async def commit(self) -> int:
        """Replace the file's content by the body; return its size in bytes.

        Raises:
            LostUpdate: If the file's content fails the request's condition.
        """
        if self._size <= SHORT:
            path, data = absolute(self._name), bytes(self._waiting)
            await self._files.write(path, data, self._name, self._condition)
            return self._size
        await self._flush()
        if self._failure is not None or self._file is None:
            raise self._failure or FileError(f"{self._name!r} could not be opened")
        await self._file.commit(self._name, self._condition)
        return self._size

    async def _flush(self) -> None:
        if self._failure is None:
            try:
                if self._file is None:
                    self._file = await self._files.replacement(absolute(self._name))
                    self._stack.push_async_callback(self._file.close)
                await asyncio.to_thread(self._file.write, bytes(self._waiting))
            except FileError as error:
                self._failure = error
        self._waiting.clear()
