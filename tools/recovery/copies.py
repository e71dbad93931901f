"""Copies of what dead desktops left, in a folder of the data directory. Everything blocks.

The copy of a recording is made under a temporary name and renamed when it is complete. It lies in a
folder of its own for each row, laid out like the recordings of a desktop, so that it can be
finished there.
"""

import hashlib
import os
import shutil
from io import BufferedReader
from pathlib import Path

from .ports import DesktopRemains, LeftRecording

PIECE = 1 << 20


class Copies:
    """The copies below one folder; ``key`` is the id of a row."""

    def __init__(self, root: Path, remains: DesktopRemains) -> None:
        self._root = root
        self._remains = remains

    def folder(self, key: str) -> Path:
        """Return the folder of recordings with the copy."""
        return self._root / key

    def make(self, key: str, left: LeftRecording) -> None:
        """Copy all files of a recording, in place of an earlier copy.

        Raises:
            OSError: If the disk is full, or a file cannot be read.
        """
        self.drop(key)
        draft = self._root / f".{key}"
        shutil.rmtree(draft, ignore_errors=True)
        target = draft / left.recording_id
        target.mkdir(mode=0o700, parents=True)
        for name in left.files:
            with self._opened(left, name) as source, (target / name).open("wb") as copy:
                shutil.copyfileobj(source, copy, PIECE)
                copy.flush()
                os.fsync(copy.fileno())
        draft.replace(self.folder(key))

    def same(self, key: str, left: LeftRecording) -> bool:
        """Return whether the copy has the bytes of the original."""
        copied = self.folder(key) / left.recording_id
        names = {path.name for path in copied.iterdir()} if copied.is_dir() else set()
        if names != set(left.files):
            return False
        for name in left.files:
            with self._opened(left, name) as source, (copied / name).open("rb") as copy:
                digests = [hashlib.file_digest(one, "sha256").digest() for one in (source, copy)]
            if digests[0] != digests[1]:
                return False
        return True

    def drop(self, key: str) -> None:
        """Remove a copy; one that is missing is no error."""
        shutil.rmtree(self.folder(key), ignore_errors=True)

    def _opened(self, left: LeftRecording, name: str) -> BufferedReader:
        return os.fdopen(self._remains.open(left, name), "rb")
