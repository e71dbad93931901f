"""Why a file operation is refused.

FileError (500)
├── BadPath           the caller's fault: 400
├── MissingFile       404
├── Forbidden         403
├── OutsideRoots      not in a tree that may be used: 403
├── EditError         a text to replace cannot be placed: 400
├── Unwatchable       the system tells nothing of it: 403
├── TooManyWatches    come back later: 429
├── LostUpdate        the file is not the one that the caller means: 412
└── ChangedMeanwhile  somebody wrote to it between our reading and writing: 409
"""


class FileError(Exception):
    """Something went wrong with a file. Its text is one sentence for the caller."""

    status = 500


class BadPath(FileError):
    """The path cannot be used for this."""

    status = 400


class MissingFile(FileError):
    """There is nothing at the path."""

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


class OutsideRoots(FileError):
    """The path leads out of the trees that this service works in."""

    status = 403

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path!r} is outside of the directories that may be used"


class EditError(FileError):
    """The text to replace is not where it is said to be."""

    status = 400


class LostUpdate(FileError):
    """The file is not the one that the caller has read."""

    status = 412


class ChangedMeanwhile(FileError):
    """Somebody else wrote to a file while it was being edited."""

    status = 409

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path!r} was changed by somebody else meanwhile: read it again"


class Unwatchable(FileError):
    """The system does not tell of changes there."""

    status = 403


class TooManyWatches(FileError):
    """As many trees as may be are watched."""

    status = 429

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.most = most

    def __str__(self) -> str:
        return f"At most {self.most} trees can be watched at once."
