"""Edits several files so that either all are changed or none. Blocking.

All edits are computed first, then all replacements are written, then all are committed. A failure
of the last step restores the files that were committed before it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from deskhand.desktop.files.editing.edits import edited
from deskhand.desktop.files.editing.unified_diff import unified

from .disk import Replacement, absolute, resolved, translated_errors
from .disk import replace as put_back
from .errors import BadPath, ChangedMeanwhile, FileError
from .reading import opened
from .requests import FileEdits
from .roots import EVERYWHERE, Roots


@dataclass(frozen=True)
class Edited:
    """Content of a file before and after its edits."""

    path: str
    before: bytes
    after: bytes

    def diff(self) -> str:
        """Return the change as text, without byte order mark.

        Bytes that are no UTF-8 become replacement characters.
        """
        return unified(self.path, _shown(self.before), _shown(self.after))


class BatchFailed(FileError):
    """Nothing was changed; the text lists every error."""

    def __init__(self, errors: Sequence[FileError]) -> None:
        super().__init__("\n".join(map(str, errors)))
        self.status = max(error.status for error in errors)


Opener = Callable[[Path, Roots], Replacement]

MOST_OPEN = 64
"""Replacements whose descriptors stay open, two or more each. A process usually has 1,024."""


def edit_all(
    files: Sequence[FileEdits], opener: Opener = Replacement, roots: Roots = EVERYWHERE
) -> list[Edited]:
    """Make all edits of all files.

    Raises:
        BatchFailed: If any edit cannot be made. No file is changed then.
    """
    results = _computed(files, roots)
    with ExitStack() as stack:
        with _as_batch():
            changes = [r for r in results if r.before != r.after]
            # All temporary files are written before the first rename: a full disk or a missing
            # permission shows while nothing has changed yet.
            prepared: list[tuple[Edited, Replacement]] = []
            for change in changes:
                replacement = _prepared(change, stack, opener, roots)
                if len(prepared) >= MOST_OPEN:
                    replacement.release()
                prepared.append((change, replacement))
            # The rename would silently discard what another process wrote since the read.
            for change, replacement in prepared:
                if replacement.digest() != sha256(change.before).hexdigest():
                    raise ChangedMeanwhile(change.path)
        done: list[Edited] = []
        try:
            for change, replacement in prepared:
                replacement.commit()
                done.append(change)
        except FileError as error:
            raise BatchFailed([error, *_roll_back(done, roots)]) from error
    return results


def _computed(files: Sequence[FileEdits], roots: Roots) -> list[Edited]:
    errors: list[FileError] = []
    merged: dict[Path, FileEdits] = {}
    for file in files:
        try:
            path = _checked(file)
        except FileError as error:
            errors.append(error)
            continue
        if path in merged:
            # A file that is listed twice is read once, so that its later edits apply to the result
            # of its earlier ones instead of replacing it.
            file = replace(merged[path], edits=merged[path].edits + file.edits)
        merged[path] = file
    errors.extend(_aliases(list(merged), roots))
    results = []
    for path, file in merged.items():
        try:
            results.append(_one(path, file, roots))
        except FileError as error:
            errors.append(error)
    if errors:
        raise BatchFailed(errors)
    return results


def _checked(file: FileEdits) -> Path:
    path = absolute(file.path, f"{file.label}.path")
    if not file.edits:
        raise BadPath(f"{file.label}: specify at least one edit for {file.path!r}")
    return path


def _aliases(paths: list[Path], roots: Roots) -> Iterator[FileError]:
    first: dict[Path, Path] = {}
    for path in paths:
        with suppress(FileError):
            other = first.setdefault(resolved(path, roots), path)
            if other != path:
                yield BadPath(f"{str(path)!r} aliases {str(other)!r}: name the file once")


def _one(path: Path, file: FileEdits, roots: Roots) -> Edited:
    with opened(path, roots) as stream, translated_errors(path):
        before = stream.read()
    # Bytes that are not UTF-8 survive the edit unchanged: surrogateescape is lossless in both
    # directions (PEP 383).
    text = before.decode("utf-8", "surrogateescape")
    after = edited(text, file.edits, file.path).encode("utf-8", "surrogateescape")
    return Edited(file.path, before, after)


def _prepared(change: Edited, stack: ExitStack, opener: Opener, roots: Roots) -> Replacement:
    replacement = stack.enter_context(opener(absolute(change.path), roots))
    replacement.write(change.after)
    return replacement


@contextmanager
def _as_batch() -> Iterator[None]:
    try:
        yield
    except FileError as error:
        raise BatchFailed([error]) from error


def _roll_back(done: Sequence[Edited], roots: Roots) -> Iterator[FileError]:
    for change in reversed(done):
        try:
            put_back(absolute(change.path), change.before, roots)
        except FileError as error:
            yield FileError(f"{change.path!r} could not be put back: {error}")


def _shown(data: bytes) -> str:
    return data.decode("utf-8-sig", "replace")
