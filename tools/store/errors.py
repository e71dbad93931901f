"""What the store may raise.

StoreError
├── StoreUnavailable   the database cannot be opened or brought up to date
└── UnknownRow         no such chat, step or file
"""

from pathlib import Path


class StoreError(Exception):
    """Base of the store's errors."""


class StoreUnavailable(StoreError):
    """The database cannot be opened or brought up to date."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"the database {self.path} cannot be opened: {self.reason}; "
            "check that its folder exists and is writable, or choose another with --data-dir"
        )


class UnknownRow(StoreError):
    """No such row."""

    def __init__(self, kind: str, row_id: str) -> None:
        super().__init__(kind, row_id)
        self.kind = kind
        self.row_id = row_id

    def __str__(self) -> str:
        return f"no {self.kind} has the id {self.row_id}"
