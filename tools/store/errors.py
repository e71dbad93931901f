"""Errors of the store.

StoreError
├── StoreUnavailable   the database cannot be opened, migrated, read or written
│   └── DatabaseTooNew  a newer version of Deskhand has migrated the database
├── DiskLow            the disk has too little room for something new
├── BucketUnavailable  the bucket refuses or does not answer
├── BytesMissing       the bytes of a file are neither on the disk nor in the bucket
├── BadSecret          a secret cannot be stored under that name, or cannot be redacted
└── UnknownRow         no such chat, step or file
"""

from pathlib import Path


class StoreError(Exception):
    """Base of the store's errors."""


class StoreUnavailable(StoreError):
    """The database cannot be opened, migrated, read or written.

    ``may_pass`` if the cause may be gone at a later attempt: a lock, a full disk, an I/O error;
    ``by_disk`` if the cause is the disk.
    """

    def __init__(
        self, path: Path, reason: str, *, may_pass: bool = False, by_disk: bool = False
    ) -> None:
        super().__init__(path, reason)
        self.by_disk = by_disk
        self.path = path
        self.reason = reason
        self.may_pass = may_pass

    def __str__(self) -> str:
        return (
            f"the database {self.path} cannot be used: {self.reason}; "
            "check that its folder exists, is writable and has room, or choose another with "
            "--data-dir"
        )


class DatabaseTooNew(StoreUnavailable):
    """A newer version of Deskhand has migrated the database."""

    def __init__(self, path: Path, revision: str, known: str) -> None:
        super().__init__(path, f"it has the revision {revision}")
        self.known = known

    def __str__(self) -> str:
        return (
            f"the database {self.path} is of a newer Deskhand: {self.reason}, and this version"
            f" knows {self.known}; install the newer version again, or restore a backup"
        )


class DiskLow(StoreError):
    """The disk has too little room for something new; the text has the sizes."""


class BucketUnavailable(StoreError):
    """The bucket refuses or does not answer."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(url, reason)
        self.url = url
        self.reason = reason

    def __str__(self) -> str:
        return f"the store {self.url} cannot be used: {self.reason}"


class BytesMissing(StoreError):
    """The bytes of a file are neither on the disk nor in the bucket."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"the bytes of {self.name} are gone"


class BadSecret(StoreError):
    """A secret cannot be stored; the message gives the reason without the value."""


class UnknownRow(StoreError):
    """No such row."""

    def __init__(self, kind: str, row_id: str) -> None:
        super().__init__(kind, row_id)
        self.kind = kind
        self.row_id = row_id

    def __str__(self) -> str:
        return f"no {self.kind} has the id {self.row_id}"
