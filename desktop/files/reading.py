"""Reads files, and answers the routes that only read. All functions block."""

import mmap
import os
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

from .disk import CHUNK, absolute, check_regular, entries, translated_errors
from .errors import BadPath
from .lines import Bounds, Excerpt, LineReader, is_binary
from .requests import LinesQuery
from .roots import EVERYWHERE, Roots, descriptor_path

Json = dict[str, Any]

MOST_HASHED = 16 * 1024 * 1024
"""Bytes of the largest file that gets an ETag; larger ones can be written conditionally too."""
MOST_GENERATED = 64 * 1_048_576
"""Bytes of the largest content that is read from the kernel, such as a file of /proc."""


@contextmanager
def opened(path: Path, roots: Roots = EVERYWHERE) -> Iterator[BinaryIO]:
    """Open a regular file for reading."""
    with translated_errors(path), roots.held(path) as held:
        # Checked before the open: opening a FIFO blocks, and opening a device may have effects.
        check_regular(os.fstat(held), path)
        # An O_PATH descriptor cannot be read (open(2)); opening it through /proc reopens the same
        # inode, whatever the path leads to by now.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
        file: BinaryIO = os.fdopen(os.open(descriptor_path(held), flags), "rb")
        if _is_generated(os.fstat(held)):
            with file:
                file = _snapshot(file, path)
    with file:
        yield file


def chunks(file: BinaryIO) -> Iterator[bytes]:
    """Yield the rest of a file in pieces."""
    while data := file.read(CHUNK):
        yield data


def numbered_lines(query: LinesQuery, roots: Roots = EVERYWHERE) -> Json:
    """Return the requested lines, or an error about the file."""
    path = absolute(query.path)
    with opened(path, roots) as file, translated_errors(path):
        size = os.fstat(file.fileno()).st_size
        if size > query.max_file_size and not (query.ranged or query.partial):
            return no_lines(
                f"file size {size} bytes exceeds the maximum of {query.max_file_size} bytes: "
                "use offset and limit to read a range of lines",
                size,
            )
        reader = LineReader(query.offset, query.limit or 1 << 62, query.bounds)
        content = sha256()
        for number, chunk in enumerate(chunks(file)):
            if size <= MOST_HASHED:
                content.update(chunk)
            if number == 0 and is_binary(chunk):
                return no_lines(f"{query.path!r} is a binary file, {size} bytes", size)
            reader.feed(chunk if number else chunk.removeprefix(BOM_UTF8))
    found = reader.finish()
    problem = _range_problem(query, found)
    if problem:
        return no_lines(problem, size, found.total_lines)
    answer: Json = {
        "success": True,
        "file_size": size,
        "total_lines": found.total_lines,
        "lines_read": found.lines,
        "content": found.content,
    }
    if size <= MOST_HASHED:
        answer["sha256"] = content.hexdigest()
    if found.next_line is not None:
        answer["next_line"] = found.next_line
        answer["note"] = (
            f"Not all fits in one answer: continue at line {found.next_line} "
            f"of {found.total_lines} (offset={found.next_line})."
        )
    return answer


def _range_problem(query: LinesQuery, found: Excerpt) -> str | None:
    if 0 < found.total_lines < query.offset:
        return f"offset {query.offset} is beyond the end: the file has {found.total_lines} lines"
    if query.partial:
        return None
    bounds: Bounds = query.bounds
    if found.full == "bytes" or len(found.content.encode()) > bounds.content_bytes:
        return (
            f"the answer would exceed {bounds.content_bytes} bytes: "
            "use a smaller limit, and offset to go on"
        )
    if query.limit and found.full == "lines":
        return f"the answer would exceed {bounds.lines} lines: use a smaller limit"
    return None


def no_lines(error: str, size: int = 0, total: int = 0) -> Json:
    """Return the answer with an error in place of lines."""
    return {
        "success": False,
        "file_size": size,
        "total_lines": total,
        "lines_read": 0,
        "content": "",
        "error": error,
    }


def listing(path: Path, roots: Roots = EVERYWHERE) -> Json:
    """Return the answer that lists a directory."""
    return {
        "absolute_path": [printable(part) for part in path.parts[1:]],
        "absolute_path_string": printable(str(path)),
        "contents": [
            {
                "name": printable(entry.name),
                "absolute_path_string": printable(str(entry.path)),
                "is_dir": entry.is_dir,
            }
            for entry in entries(path, roots)
        ],
    }


def printable(name: str) -> str:
    """Replace bytes of a name that are not valid UTF-8, for JSON."""
    return os.fsencode(name).decode("utf-8", "replace")


def _is_generated(found: os.stat_result) -> bool:
    """Return if the kernel may generate the content: its files have a size of 0 or of a page."""
    return found.st_blocks == 0 and found.st_size in (0, mmap.PAGESIZE)


def _snapshot(file: BinaryIO, path: Path) -> BinaryIO:
    """Return a file in memory with the content of one whose size is not that of its content."""
    copy = os.fdopen(os.memfd_create("content", os.MFD_CLOEXEC), "w+b")
    with ExitStack() as on_failure:
        on_failure.callback(copy.close)
        size = 0
        try:
            while data := os.read(file.fileno(), CHUNK):
                size += len(data)
                if size > MOST_GENERATED:
                    raise BadPath(
                        f"{str(path)!r}: of the kernel's files, at most {MOST_GENERATED} bytes "
                        "are read"
                    )
                copy.write(data)
        except BlockingIOError as error:
            raise BadPath(f"{str(path)!r}: reading it would block") from error
        copy.seek(0)
        on_failure.pop_all()
    return copy
