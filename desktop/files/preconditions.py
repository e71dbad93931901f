"""Conditions of a write, as HTTP has them: RFC 9110, sections 13.1.1 and 13.1.2."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from .errors import LostUpdate
from .requests import BadFileRequest

_TAG = re.compile(r'(?:W/)?"?([^",\s]+)"?')


@dataclass(frozen=True)
class Condition:
    """Which content the file must have, or must not have, for it to be replaced."""

    only: frozenset[str] | None = None
    """Hashes, ``*`` for any content; None: whatever it has, even none."""
    never: frozenset[str] = frozenset()

    def check(self, path: str, digest: str | None) -> None:
        """Raise LostUpdate unless the file's ``digest`` (None: no file) is as wanted."""
        if self.only is not None and not _has(self.only, digest):
            said = "does not exist" if digest is None else "has other content"
            raise LostUpdate(f"{path!r} {said} than If-Match says: read it again")
        if _has(self.never, digest):
            raise LostUpdate(f"{path!r} exists with what If-None-Match excludes")


ALWAYS = Condition()


def condition_of(headers: Mapping[str, str]) -> Condition:
    """Return what ``If-Match`` and ``If-None-Match`` ask for.

    Raises:
        BadRequest: If one of them is no list of hashes.
    """
    only = headers.get("if-match")
    never = headers.get("if-none-match")
    return Condition(
        None if only is None else _hashes("If-Match", only),
        frozenset() if never is None else _hashes("If-None-Match", never),
    )


def tag(digest: str) -> str:
    """Return a content's hash as an ``ETag`` has it."""
    return f'"{digest}"'


def _has(wanted: frozenset[str], digest: str | None) -> bool:
    return digest is not None and ("*" in wanted or digest in wanted)


def _hashes(name: str, value: str) -> frozenset[str]:
    parts = [_TAG.fullmatch(part.strip()) for part in value.split(",")]
    if not all(parts):
        raise BadFileRequest(f"{name} must be a list of content hashes.", repr(value))
    return frozenset(part[1].removeprefix("sha256:").lower() for part in parts if part)
