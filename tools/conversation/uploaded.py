"""A file that a desktop's host has put to an address which this control plane has signed."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class UploadedFile:
    """Size and digest of the bytes, as the host reports them."""

    size: int
    sha256: str


FileUpload = Callable[[str], Awaitable[UploadedFile | None]]
"""Puts one file to an address, and returns what it has put; None if this is not possible."""
