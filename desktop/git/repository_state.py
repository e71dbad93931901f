"""What a watcher is told about repositories: what changed since it was last told."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LARGEST_DIFF = 3 * 1024 * 1024
LARGEST_MESSAGE = 4 * 1024 * 1024
"""Bytes of JSON."""

Json = dict[str, Any]

_SECRET = re.compile(r"^([a-z+]+://)[^/@]*@", re.IGNORECASE)


@dataclass(frozen=True)
class Repository:
    """The state of a working tree."""

    repo_root: str
    branch: str
    remote_origin: str
    unified_diff: str

    def to_json(self) -> Json:
        """Return it as it goes over the wire."""
        return {
            "repo_root": self.repo_root,
            "branch": self.branch,
            "remote_origin": self.remote_origin,
            "unified_diff": self.unified_diff,
        }


GONE = None
"""Instead of a repository: it is one no more."""


class Known:
    """What one watcher has been told."""

    def __init__(self) -> None:
        self._told: dict[str, Repository] = {}

    @property
    def roots(self) -> list[str]:
        """The repositories that were told of and not taken back."""
        return list(self._told)

    def news(self, found: Mapping[str, Repository | None]) -> list[Json]:
        """Return what to tell of a scan, by root; what it could not read is not in it."""
        told = []
        for root, repository in found.items():
            before = self._told.get(root)
            if repository is GONE:
                if before is not None:
                    del self._told[root]
                    told.append(_removed(before))
            elif repository != before:
                self._told[root] = repository
                told.append(repository.to_json())
        return told


def messages(news: list[Json], scanned_at: str, largest: int = LARGEST_MESSAGE) -> list[str]:
    """Return the changes as messages, several where one would be too long."""
    pages: list[list[Json]] = []
    room = 0
    for item in news:
        size = len(json.dumps(item)) + 2
        if not pages or size > room:
            pages.append([])
            room = largest - 200
        pages[-1].append(item)
        room -= size
    return [
        json.dumps({"type": "changes", "scanned_at": scanned_at, "repositories": page})
        for page in pages
    ]


def bounded(diff: str, size: int) -> str:
    """Return the diff, or a sentence instead of one that is too long to send.

    ``size`` is its whole length in bytes, of which ``diff`` may be the beginning.
    """
    if size > LARGEST_DIFF or len(json.dumps(diff)) > LARGEST_DIFF:
        return f"The diff is too large to show: {size} bytes, at most {LARGEST_DIFF} are sent."
    return diff


def without_secret(url: str) -> str:
    """Return a remote's address without the name and password that may stand in it."""
    return _SECRET.sub(r"\1", url)


def _removed(before: Repository) -> Json:
    return {
        "repo_root": before.repo_root,
        "branch": before.branch,
        "remote_origin": before.remote_origin,
        "unified_diff": "",
        "removed": True,
    }
