"""Streams a request's body into a replacement of a file."""

import asyncio
from contextlib import ExitStack
from hashlib import sha256

from .disk import CHUNK, Replacement, absolute
from .errors import FileError
from .preconditions import ALWAYS, Condition
from .roots import EVERYWHERE, Roots


class Incoming:
    """Receives a body in chunks; errors are raised by ``commit``, after the whole body.

    Only the complete body identifies a repeated tool call, which gets its earlier answer even if
    the disk is full now. Used by one task; ``stack`` removes an uncommitted file.
    """

    def __init__(
        self,
        name: str,
        stack: ExitStack,
        roots: Roots = EVERYWHERE,
        condition: Condition = ALWAYS,
    ) -> None:
        self._name = name
        self._roots = roots
        self._condition = condition
        self._content = sha256()
        self._stack = stack
        # NUL, which no path contains, separates name and body. The condition is part of the call,
        # too: with another one the same body is another request.
        self._hash = sha256(name.encode("utf-8", "surrogateescape") + b"\0")
        self._hash.update(repr(condition).encode())
        self._waiting = bytearray()
        self._size = 0
        self._file: Replacement | None = None
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
        await self._flush()
        if self._failure is not None or self._file is None:
            raise self._failure or FileError(f"{self._name!r} could not be opened")
        await asyncio.to_thread(self._commit, self._file)
        return self._size

    def _commit(self, file: Replacement) -> None:
        # Directly before the rename, so that little time is left for another process to write.
        if self._condition != ALWAYS:
            self._condition.check(self._name, file.digest())
        file.commit()

    async def _flush(self) -> None:
        if self._failure is None:
            try:
                if self._file is None:
                    new = Replacement(absolute(self._name), self._roots)
                    self._file = await asyncio.to_thread(self._stack.enter_context, new)
                await asyncio.to_thread(self._file.write, bytes(self._waiting))
            except FileError as error:
                self._failure = error
        self._waiting.clear()
