"""State of repositories, and the messages to a watcher about their changes."""

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
        """Return the JSON of the repository."""
        return {
            "repo_root": self.repo_root,
            "branch": self.branch,
            "remote_origin": self.remote_origin,
            "unified_diff": self.unified_diff,
        }


GONE = None
"""In place of the state of a directory that is no repository any more."""


class Known:
    """State that one watcher has received."""

    def __init__(self) -> None:
        self._sent: dict[str, Repository] = {}

    @property
    def roots(self) -> list[str]:
        """Repositories that the watcher knows."""
        return list(self._sent)

    def diff(self, found: Mapping[str, Repository | None]) -> list[Json]:
        """Return the changes against a scan; repositories missing from it count as unchanged."""
        changes = []
        for root, repository in found.items():
            previous = self._sent.get(root)
            if repository is GONE:
                if previous is not None:
                    del self._sent[root]
                    changes.append(_removed(previous))
            elif repository != previous:
                self._sent[root] = repository
                changes.append(repository.to_json())
        return changes


def messages(changes: list[Json], scanned_at: str, largest: int = LARGEST_MESSAGE) -> list[str]:
    """Return the changes as messages below the size limit."""
    pages: list[list[Json]] = []
    remaining = 0
    for item in changes:
        size = len(json.dumps(item)) + 2
        if not pages or size > remaining:
            pages.append([])
            # 200 bytes are more than the fields around the list need, and the 2 of `size` are the
            # separator.
            remaining = largest - 200
        pages[-1].append(item)
        remaining -= size
    return [
        json.dumps({"type": "changes", "scanned_at": scanned_at, "repositories": page})
        for page in pages
    ]


def bounded(diff: str, size: int) -> str:
    """Return the diff, or a sentence in place of one that is too long to send.

    ``size`` is the length of the complete diff in bytes, of which ``diff`` may be the beginning.
    """
    if size > LARGEST_DIFF or len(json.dumps(diff)) > LARGEST_DIFF:
        return f"The diff is too large to show: {size} bytes, at most {LARGEST_DIFF} are sent."
    return diff


def without_secret(url: str) -> str:
    """Return a remote's URL without its userinfo (RFC 3986, 3.2.1)."""
    return _SECRET.sub(r"\1", url)


def _removed(previous: Repository) -> Json:
    return {
        "repo_root": previous.repo_root,
        "branch": previous.branch,
        "remote_origin": previous.remote_origin,
        "unified_diff": "",
        "removed": True,
    }
