"""Searches a tree without ripgrep, in a child, as ``re`` may backtrack exponentially."""

import json
import os
import re
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from .search_query import Globs, Match, SearchRequest, shown

# As `--max-filesize=50M` in `search_query.ripgrep_arguments`.
LARGEST_FILE = 50 * 1024 * 1024
BINARY_CHECK = 8_192
LONGEST_READ = 1_048_576
"""Bytes of one line that are searched."""


def scan(request: SearchRequest, base: str, out: int) -> None:
    """Write matches below ``base`` to the descriptor ``out``, as JSON lines."""
    globs, expression = Globs(request.globs), request.expression()
    left = request.needed
    for path in _files(Path(base)):
        named = path.relative_to(base) if path != Path(base) else Path(path.name)
        if not globs.want(str(named)):
            continue
        for match in _found(path, Path(base), request, expression):
            shown_path = os.fsencode(match.path).decode("utf-8", "replace")
            line = json.dumps([shown_path, match.line, match.column, match.text])
            # Unbuffered: matches found before a timeout kills this process are kept.
            os.write(out, line.encode() + b"\n")
            left -= 1
            if not left:
                return


def _files(base: Path) -> Iterator[Path]:
    if not base.is_dir():
        yield base
        return
    repository = any(_mode(folder / ".git") for folder in (base, *base.parents))
    listed = _listed_by_git(base) if repository else None
    yield from listed or []
    waiting = [base] if listed is None else []
    while waiting:
        path = waiting.pop()
        if not stat.S_ISDIR(_mode(path)):
            yield path
            continue
        listed = _listed_by_git(path) if path != base and _mode(path / ".git") else None
        if listed is not None:
            yield from listed
        else:
            waiting.extend(_entries(path))


def _mode(path: Path) -> int:
    """Return the mode of a file or link; 0 if there is none, or if permissions hide it."""
    # Links are not followed, as they may form loops or lead out of the tree.
    try:
        return path.lstat().st_mode
    except OSError:
        return 0


def _entries(folder: Path) -> list[Path]:
    """Return the paths in a folder in reverse order."""
    try:
        entries = sorted(folder.iterdir(), key=os.fsencode, reverse=True)
    except OSError:
        return []
    return [entry for entry in entries if entry.name != ".git"]


def _listed_by_git(base: Path) -> list[Path] | None:
    """Return the files that git does not ignore; None outside of repositories or without git."""
    # Git refuses repositories of other users unless safe.directory (git-config(1)) permits them.
    # `core.fsmonitor` may name a program, which a foreign repository must not get executed.
    command = ["git", "-c", "safe.directory=*", "-c", "core.fsmonitor=false", "-C", str(base)]
    try:
        done = subprocess.run(
            [*command, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except OSError:
        return None
    if done.returncode:
        return None
    # A set, because `--cached` lists a file with merge conflicts once per stage.
    return [base / os.fsdecode(name) for name in sorted(set(done.stdout.split(b"\0"))) if name]


def _found(
    path: Path, base: Path, request: SearchRequest, expression: re.Pattern[str]
) -> Iterator[Match]:
    if not request.pattern:
        if stat.S_ISREG(_mode(path)):
            yield Match(str(path))
        return
    file = _opened(path, base)
    if file is not None:
        with file:
            yield from _matches(str(path), file, expression)


def _matches(path: str, file: BinaryIO, expression: re.Pattern[str]) -> Iterator[Match]:
    if b"\0" in file.read(BINARY_CHECK):
        return
    file.seek(0)
    number = 0
    while data := file.readline(LONGEST_READ):
        number += 1
        # ripgrep removes the mark of a file, too (BOM sniffing, `--encoding` in rg(1)).
        text = data.decode("utf-8-sig" if number == 1 else "utf-8", "replace")
        found = expression.search(text.rstrip("\r\n"))
        if found:
            yield Match(path, number, found.start() + 1, shown(text))
        while data and not data.endswith(b"\n"):
            data = file.readline(LONGEST_READ)


def _opened(path: Path, base: Path) -> BinaryIO | None:
    """Open a file and check by its descriptor that it is below ``base``, even after a race."""
    try:
        # O_NONBLOCK: opening a FIFO would wait for a writer. O_NOFOLLOW covers only the last
        # component; `real` below covers the directories.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return None
    found = os.fstat(descriptor)
    real = Path(f"/proc/self/fd/{descriptor}").readlink()
    regular = stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST_FILE
    if not regular or not real.is_relative_to(base):
        os.close(descriptor)
        return None
    return os.fdopen(descriptor, "rb")
