"""Errors of the store.

StoreError
├── StoreUnavailable   the database cannot be opened, migrated, read or written
│   └── DatabaseTooNew  a newer version of Deskhand has migrated the database
├── DiskLow            the disk has too little room for something new
├── BucketUnavailable  the bucket refuses or does not answer
├── BytesMissing       the bytes of a file are neither on the disk nor in the bucket
├── BadPack            an object of the bucket is no pack of pictures
├── BadSecret          a secret cannot be stored under that name, or cannot be redacted
└── UnknownRow         no such chat, step or file
"""

from pathlib import Path

FILE_ADVICE = (
    "check that its folder exists, is writable and has room, or choose another with --data-dir"
)


class StoreError(Exception):
    """Base of the store's errors."""


class StoreUnavailable(StoreError):
    """The database cannot be opened, migrated, read or written.

    ``place`` is the path of the database, or its URL without a password. ``may_pass`` if the cause
    may be gone at a later attempt: a lock, a full disk, an I/O error, a lost connection;
    ``by_disk`` if the cause is the disk.
    """

    def __init__(
        self,
        place: Path | str,
        reason: str,
        *,
        may_pass: bool = False,
        by_disk: bool = False,
        advice: str = FILE_ADVICE,
    ) -> None:
        super().__init__(place, reason)
        self.by_disk = by_disk
        self.place = place
        self.reason = reason
        self.advice = advice
        self.may_pass = may_pass

    def __str__(self) -> str:
        return f"the database {self.place} cannot be used: {self.reason}; {self.advice}"


class DatabaseTooNew(StoreUnavailable):
    """A newer version of Deskhand has migrated the database."""

    def __init__(self, place: Path | str, revision: str, known: str) -> None:
        super().__init__(place, f"it has the revision {revision}")
        self.known = known

    def __str__(self) -> str:
        return (
            f"the database {self.place} is of a newer Deskhand: {self.reason}, and this version"
            f" knows {self.known}; install the newer version again, or restore a backup"
        )


class DatabaseInUse(StoreUnavailable):
    """Another control plane uses the database; ``reason`` names it."""

    def __init__(self, place: str, holder: str) -> None:
        super().__init__(place, holder)

    def __str__(self) -> str:
        return (
            f"the database {self.place} is used by another control plane"
            f" ({self.reason or 'unknown'}); end that one, or give another DESKHAND_DATABASE"
        )


class StaleDriver(StoreError):
    """Another control plane drives the chat: the turn that writes has been taken over."""

    def __init__(self, chat_id: str, generation: int, newest: int) -> None:
        super().__init__(chat_id, generation, newest)
        self.chat_id = chat_id
        self.generation = generation
        self.newest = newest

    def __str__(self) -> str:
        return (
            f"chat {self.chat_id} is driven under the generation {self.newest}, and no longer"
            f" under {self.generation}"
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


class BytesElsewhere(StoreError):
    """The bytes of a file are on the disk of another control plane, and not in the bucket yet."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"the bytes of {self.name} wait to be moved to the bucket: ask again later"


class BytesMissing(StoreError):
    """The bytes of a file are neither on the disk nor in the bucket."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"the bytes of {self.name} are gone"


class BadPack(StoreError):
    """An object of the bucket, or a file for it, is no pack of pictures; the text says why."""


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
