"""Why a file operation is refused.

FileError (500)
├── BadPath           the caller's fault: 400
├── MissingFile       404
├── Forbidden         403
├── EditError         a text to replace cannot be placed: 400
└── LostUpdate        somebody changed the file meanwhile: 412
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


class EditError(FileError):
    """The text to replace is not where it is said to be."""

    status = 400


class LostUpdate(FileError):
    """The file is not the one that the caller has read."""

    status = 412
