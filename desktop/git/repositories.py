"""Reads the state of working trees with git commands. Blocking."""

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import BinaryIO

from .errors import Unreadable
from .repository_state import LARGEST_DIFF, Repository, bounded, without_secret

SECONDS = 20.0
"""Timeout of one git command."""
LONGEST_LINK = 8_192
"""Bytes that are read of a file ``.git``, which contains one path."""

# Options against programs named in a repository's own configuration: core.fsmonitor here,
# external diff drivers and textconv filters below.
PLAIN = ("-c", "core.fsmonitor=false", "-c", "safe.directory=*", "-c", "core.quotePath=false")
DIFF = ("diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames")


def root_of(path: str) -> str | None:
    """Return the working tree that contains a path, with links resolved; None if there is none.

    The path itself need not exist.
    """
    real = Path(os.path.realpath(path))
    for folder in (real, *real.parents):
        if is_repository(folder):
            return str(folder)
    return None


def is_repository(folder: Path) -> bool:
    """Return True if a folder has a valid ``.git``, which is a file in a linked worktree."""
    git = folder / ".git"
    try:
        if git.is_dir():
            return (git / "HEAD").exists()
        with _regular(git) as file:
            text = file.read(LONGEST_LINK).decode()
    except (OSError, UnicodeDecodeError):
        return False
    target = text.partition("gitdir:")[2].strip()
    return bool(target) and (folder / target / "HEAD").exists()


def working_trees(paths: Sequence[str], known: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return which known working trees are gone, and those that are known or contain a path."""
    roots = dict.fromkeys([root for path in paths if (root := root_of(path))])
    gone = [root for root in known if not is_repository(Path(root))]
    return gone, [root for root in dict.fromkeys([*known, *roots]) if root not in gone]


def _regular(path: Path) -> BinaryIO:
    """Open a regular file; raises OSError for a FIFO, which would block, and for others."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path} is not a file")
    return os.fdopen(descriptor, "rb")


class Git:
    """Runs the installed ``git``; without one, every repository is unreadable."""

    def __init__(self, environment: Mapping[str, str], seconds: float = SECONDS) -> None:
        inherited = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR")
        self._environment = {
            name: environment[name] for name in inherited if name in environment
        } | {
            "LC_ALL": "C.UTF-8",
            # A scan must not hold index.lock against a git command of the chat.
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_LITERAL_PATHSPECS": "1",
        }
        self._seconds = seconds

    def read(self, root: str) -> Repository:
        """Return the state of the working tree at ``root``.

        Raises:
            Unreadable: If git is not installed, or fails.
        """
        branch = self._query(root, "symbolic-ref", "--short", "-q", "HEAD", fails=True) or "HEAD"
        origin = self._query(root, "config", "--get", "remote.origin.url", fails=True)
        # Without a commit there is no HEAD to compare with; the empty tree takes its place.
        base = self._query(root, "rev-parse", "-q", "--verify", "HEAD", fails=True) or self._query(
            root, "hash-object", "-t", "tree", os.devnull
        )
        with tempfile.TemporaryDirectory(prefix="deskhand-git-") as folder:
            # `git diff` shows untracked files only after `git add -N`, hence a copy of the index.
            index = Path(folder) / "index"
            own = root / Path(self._query(root, "rev-parse", "--git-path", "index"))
            # A repository in which nothing was ever added has no index yet.
            with suppress(OSError):
                _copy_index(own, index)
            self._add_untracked(root, index)
            diff, size = self._run(root, [*DIFF, base], {"GIT_INDEX_FILE": str(index)})
        text = diff.decode("utf-8", "replace")
        return Repository(root, branch, without_secret(origin), bounded(text, size))

    def _add_untracked(self, root: str, index: Path) -> None:
        use = {"GIT_INDEX_FILE": str(index)}
        listed, _ = self._run(root, ["ls-files", "--others", "--exclude-standard", "-z"], use)
        # A name with a trailing slash is a nested repository.
        names = [name for name in listed.split(b"\0") if name and not name.endswith(b"/")]
        if not names:
            return
        add = ["add", "-N", "--pathspec-from-file=-", "--pathspec-file-nul"]
        self._run(root, add, use, b"\0".join(names))

    def _query(self, root: str, *arguments: str, fails: bool = False) -> str:
        try:
            answer, _ = self._run(root, arguments, {})
        except Unreadable:
            # A failure means "none" only while the repository exists; else the state is not known.
            if not fails or not is_repository(Path(root)):
                raise
            return ""
        return answer.decode("utf-8", "replace").strip()

    def _run(
        self, root: str, arguments: Sequence[str], more: Mapping[str, str], data: bytes = b""
    ) -> tuple[bytes, int]:
        """Return the beginning of git's output and the length of all of it."""
        # A file and not a pipe: writing to git while it writes to us could block both.
        with tempfile.TemporaryFile() as stdin:
            stdin.write(data)
            stdin.seek(0)
            try:
                child = subprocess.Popen(
                    ["git", *PLAIN, "-C", root, *arguments],
                    stdin=stdin,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env={**self._environment, **more},
                )
            except OSError as error:
                raise Unreadable(root, str(error)) from error
        timer = Timer(self._seconds, child.kill)
        timer.start()
        try:
            with child:
                answer, size = _beginning(child)
        finally:
            timer.cancel()
        if child.returncode:
            raise Unreadable(root, f"git {arguments[0]} ended with {child.returncode}")
        return answer, size


def _copy_index(own: Path, target: Path) -> None:
    """Copy an index with its time: what was changed since then git compares by content.

    A file that is changed to one of the same size right after it was added has the time and
    size that the index holds (git's Documentation/technical/racy-git).
    """
    with _regular(own) as source, target.open("wb") as copy:
        shutil.copyfileobj(source, copy)
        times = os.fstat(source.fileno())
    os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))


def _beginning(child: subprocess.Popen[bytes]) -> tuple[bytes, int]:
    beginning = bytearray()
    size = 0
    assert child.stdout is not None  # noqa: S101 -- stdout is a pipe
    # Read to the end for the size; git would also die of SIGPIPE, which counts as failure.
    while data := os.read(child.stdout.fileno(), 65_536):
        size += len(data)
        beginning += data[: max(LARGEST_DIFF + 1 - len(beginning), 0)]
    return bytes(beginning), size
