"""``multipart/mixed`` bodies (RFC 2046) made of files: of known length, never wholly in memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

CHUNK = 1 << 20


@dataclass(frozen=True)
class BodyPart:
    """One file in a body."""

    media_type: str
    path: Path
    size: int


@dataclass(frozen=True)
class MultipartBody:
    """A body of several files. The boundary must not occur in any of them."""

    parts: Sequence[BodyPart]
    boundary: str

    @property
    def media_type(self) -> str:
        """Value of the header ``Content-Type``."""
        return f'multipart/mixed; boundary="{self.boundary}"'

    @property
    def length(self) -> int:
        """Bytes in the whole body."""
        # The 2 bytes are the line break after each content, which belongs to the next boundary
        # (RFC 2046 section 5.1.1).
        heads = sum(len(self._head(piece)) + piece.size + 2 for piece in self.parts)
        return heads + len(self._tail())

    def chunks(self) -> Iterator[bytes]:
        """Yield the body. Blocks while it reads."""
        for piece in self.parts:
            yield self._head(piece)
            yield from _content(piece)
            yield b"\r\n"
        yield self._tail()

    def _head(self, piece: BodyPart) -> bytes:
        lines = (
            f"--{self.boundary}",
            f"Content-Type: {piece.media_type}",
            f"Content-Length: {piece.size}",
        )
        return "".join(f"{line}\r\n" for line in (*lines, "")).encode()

    def _tail(self) -> bytes:
        return f"--{self.boundary}--\r\n".encode()


def body_part(media_type: str, path: Path) -> BodyPart:
    """Return a file with its present size: bytes that are appended later are not sent."""
    return BodyPart(media_type, path, path.stat().st_size)


def _content(piece: BodyPart) -> Iterator[bytes]:
    left = piece.size
    with piece.path.open("rb") as file:
        while left and (chunk := file.read(min(CHUNK, left))):
            left -= len(chunk)
            yield chunk
