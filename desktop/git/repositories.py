"""Read working trees by asking git. Blocking."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Timer

from .errors import Unreadable
from .repository_state import LARGEST_DIFF, Repository, bounded, without_secret

SECONDS = 20.0
"""How long one question to git may take."""

PLAIN = ("-c", "core.fsmonitor=false", "-c", "safe.directory=*", "-c", "core.quotePath=false")
DIFF = ("diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames")


def root_of(path: str) -> str | None:
    """Return the working tree that a path lies in, links resolved; None if in none.

    The path itself need not exist (any more).
    """
    real = Path(os.path.realpath(path))
    for folder in (real, *real.parents):
        if is_repository(folder):
            return str(folder)
    return None


def is_repository(folder: Path) -> bool:
    """Whether a folder has a ``.git`` that leads somewhere: a worktree's is a file."""
    git = folder / ".git"
    try:
        if git.is_dir():
            return (git / "HEAD").exists()
        target = git.read_text().partition("gitdir:")[2].strip()
    except (OSError, UnicodeDecodeError):
        return False
    return bool(target) and (folder / target / "HEAD").exists()


class Git:
    """Asks the ``git`` that is installed; if none is, everything is unreadable."""

    def __init__(self, environment: Mapping[str, str], seconds: float = SECONDS) -> None:
        kept = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR")
        self._environment = {name: environment[name] for name in kept if name in environment} | {
            "LC_ALL": "C.UTF-8",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_LITERAL_PATHSPECS": "1",
        }
        self._seconds = seconds

    def read(self, root: str) -> Repository:
        """Return the state of the working tree at ``root``.

        Raises:
            Unreadable: If git is absent, or cannot tell for now.
        """
        branch = self._ask(root, "symbolic-ref", "--short", "-q", "HEAD", fails=True) or "HEAD"
        origin = self._ask(root, "config", "--get", "remote.origin.url", fails=True)
        base = self._ask(root, "rev-parse", "-q", "--verify", "HEAD", fails=True) or self._ask(
            root, "hash-object", "-t", "tree", os.devnull
        )
        with tempfile.TemporaryDirectory(prefix="deskhand-git-") as folder:
            # Untracked files are shown as additions; the index that this takes is a copy.
            index = Path(folder) / "index"
            own = root / Path(self._ask(root, "rev-parse", "--git-path", "index"))
            with suppress(OSError):
                _copy_index(own, index)
            self._add_untracked(root, index)
            diff, size = self._run(root, [*DIFF, base], {"GIT_INDEX_FILE": str(index)})
        text = diff.decode("utf-8", "replace")
        return Repository(root, branch, without_secret(origin), bounded(text, size))

    def _add_untracked(self, root: str, index: Path) -> None:
        use = {"GIT_INDEX_FILE": str(index)}
        listed, _ = self._run(root, ["ls-files", "--others", "--exclude-standard", "-z"], use)
        # A name that ends in a slash is another repository inside this one.
        names = [name for name in listed.split(b"\0") if name and not name.endswith(b"/")]
        if not names:
            return
        add = ["add", "-N", "--pathspec-from-file=-", "--pathspec-file-nul"]
        self._run(root, add, use, b"\0".join(names))

    def _ask(self, root: str, *question: str, fails: bool = False) -> str:
        try:
            answer, _ = self._run(root, question, {})
        except Unreadable:
            if not fails or not is_repository(Path(root)):
                raise
            return ""
        return answer.decode("utf-8", "replace").strip()

    def _run(
        self, root: str, arguments: Sequence[str], more: Mapping[str, str], given: bytes = b""
    ) -> tuple[bytes, int]:
        """Return the beginning of git's answer and the length of all of it."""
        with tempfile.TemporaryFile() as asked:
            asked.write(given)
            asked.seek(0)
            try:
                child = subprocess.Popen(
                    ["git", *PLAIN, "-C", root, *arguments],
                    stdin=asked,
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
    with own.open("rb") as source, target.open("wb") as copy:
        shutil.copyfileobj(source, copy)
        times = os.fstat(source.fileno())
    os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))


def _beginning(child: subprocess.Popen[bytes]) -> tuple[bytes, int]:
    kept = bytearray()
    size = 0
    assert child.stdout is not None  # noqa: S101 -- asked for by whoever started it
    while data := os.read(child.stdout.fileno(), 65_536):
        size += len(data)
        kept += data[: max(LARGEST_DIFF + 1 - len(kept), 0)]
    return bytes(kept), size
