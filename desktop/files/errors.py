"""Errors of the file core.

FileError (500)
├── BadPath           unusable path: 400
├── MissingFile       404
├── Forbidden         403
├── ReadOnly          on a file system that is mounted read-only: 403
├── OutsideRoots      not in one of the permitted trees: 403
├── EditError         a text to replace was not found, or is ambiguous: 400
├── Unwatchable       inotify refuses to watch it: 403
├── TooManyWatches    repeat later: 429
├── LostUpdate        the file's content fails the request's condition: 412
├── ChangedMeanwhile  another process wrote to it between reading and writing: 409
├── TooMuchContent    more than is taken at once: 413
├── NoSpaceLeft       the disk is full, or almost: 507
└── FilesUnavailable  the process that opens files ended, or does not run: 503
"""


class FileError(Exception):
    """A file operation failed. The text is one sentence for the caller."""

    status = 500


class BadPath(FileError):
    """The path cannot be used for this."""

    status = 400


class MissingFile(FileError):
    """The path does not exist."""

    status = 404

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path!r} does not exist: no such file or directory"


class Forbidden(FileError):
    """The system's permissions do not allow it."""

    status = 403

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path!r}: permission denied"


class ReadOnly(FileError):
    """The file system is mounted read-only."""

    status = 403


class OutsideRoots(FileError):
    """The path leads outside of the permitted trees."""

    status = 403

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path!r} is outside of the directories that may be used"


class EditError(FileError):
    """The text to replace was not found, or is ambiguous."""

    status = 400


class LostUpdate(FileError):
    """The file's content fails the condition of the request."""

    status = 412


class ChangedMeanwhile(FileError):
    """Another process wrote to a file while it was being edited."""

    status = 409

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path!r} was changed by somebody else meanwhile: read it again"


class Unwatchable(FileError):
    """The kernel does not report changes there."""

    status = 403


class TooManyWatches(FileError):
    """The limit of watched trees is reached."""

    status = 429

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.most = most

    def __str__(self) -> str:
        return f"At most {self.most} trees can be watched at once."


class TooMuchContent(FileError):
    """The body is longer than one request may append."""

    status = 413


class NoSpaceLeft(FileError):
    """The disk, or a quota, has no room for new content."""

    status = 507


class FilesUnavailable(FileError):
    """The process that opens files ended during the call, or does not run."""

    status = 503
