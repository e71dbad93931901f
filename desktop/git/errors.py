"""Errors of repositories and credentials.

GitError
├── Unreadable          temporary: the last reported state stays
└── InvalidCredential   wrong request
"""


class GitError(Exception):
    """Base class of this package's errors."""


class Unreadable(GitError):
    """Git is not installed, or failed."""

    def __init__(self, root: str, reason: str) -> None:
        super().__init__(root, reason)
        self.root = root
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.root!r} cannot be read: {self.reason}"


class InvalidCredential(GitError):
    """The credential is refused; the text states the reason without the credential."""
