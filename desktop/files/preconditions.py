"""Preconditions of a write: If-Match and If-None-Match (RFC 9110, sections 13.1.1 and 13.1.2)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from .errors import LostUpdate
from .requests import BadFileRequest

_TAG = re.compile(r'(?:W/)?"?([^",\s]+)"?')


@dataclass(frozen=True)
class Condition:
    """Content hashes that a file must have, or must not have, to be replaced."""

    only: frozenset[str] | None = None
    """Permitted hashes, ``*`` for any content; None also permits a missing file."""
    never: frozenset[str] = frozenset()

    def check(self, path: str, digest: str | None) -> None:
        """Raise LostUpdate unless the file's ``digest`` (None: no file) meets the condition."""
        # A missing file fails every If-Match, also `*`, and meets every If-None-Match: `*` there
        # permits only the creation of a file.
        if self.only is not None and not _has(self.only, digest):
            state = "does not exist" if digest is None else "has other content"
            raise LostUpdate(f"{path!r} {state} than If-Match says: read it again")
        if _has(self.never, digest):
            raise LostUpdate(f"{path!r} exists with what If-None-Match excludes")


ALWAYS = Condition()


def condition_of(headers: Mapping[str, str]) -> Condition:
    """Return the condition in ``If-Match`` and ``If-None-Match``.

    Raises:
        BadFileRequest: If one of them is not a list of hashes.
    """
    only = headers.get("if-match")
    never = headers.get("if-none-match")
    return Condition(
        None if only is None else _hashes("If-Match", only),
        frozenset() if never is None else _hashes("If-None-Match", never),
    )


def tag(digest: str) -> str:
    """Return the ``ETag`` for a content's hash."""
    return f'"{digest}"'


def _has(expected: frozenset[str], digest: str | None) -> bool:
    return digest is not None and ("*" in expected or digest in expected)


def _hashes(name: str, value: str) -> frozenset[str]:
    parts = [_TAG.fullmatch(part.strip()) for part in value.split(",")]
    if not all(parts):
        raise BadFileRequest(f"{name} must be a list of content hashes.", repr(value))
    return frozenset(part[1].removeprefix("sha256:").lower() for part in parts if part)
