"""Why a repository cannot be told about, or a credential not be kept.

GitError
├── Unreadable          for now: what was told of it before stays
└── InvalidCredential   the caller's fault
"""


class GitError(Exception):
    """Base of what this package raises."""


class Unreadable(GitError):
    """Git is absent, or cannot tell for now."""

    def __init__(self, root: str, reason: str) -> None:
        super().__init__(root, reason)
        self.root = root
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.root!r} cannot be read: {self.reason}"


class InvalidCredential(GitError):
    """It cannot be kept; the text says why, never what it is."""
