"""The operations of the helper on trees of files: status, directories, additions, removal."""

from typing import Any

from deskhand.desktop.files.disk import absolute
from deskhand.desktop.files.roots import Roots
from deskhand.desktop.files.tree.tree import make_directory, opened_for_append, remove, status

from .server import CallContext, Operation, OperationResult

Json = dict[str, Any]


class TreeOperations:
    """Operations on paths, confined to roots."""

    def __init__(self, roots: Roots) -> None:
        self._roots = roots

    def status(self, asked: Json, call: CallContext) -> OperationResult:
        """Return the kind and the size of a path."""
        return OperationResult(status(absolute(asked["path"]), self._roots))

    def make_directory(self, asked: Json, call: CallContext) -> OperationResult:
        """Create a directory with its parents."""
        make_directory(absolute(asked["path"]), self._roots)
        return OperationResult({})

    def append(self, asked: Json, call: CallContext) -> OperationResult:
        """Open a file for additions; the descriptor is of the file."""
        return OperationResult({}, (opened_for_append(absolute(asked["path"]), self._roots),))

    def remove(self, asked: Json, call: CallContext) -> OperationResult:
        """Remove a file or a directory."""
        remove(absolute(asked["path"]), self._roots, recursive=asked["recursive"])
        return OperationResult({})

    def by_name(self) -> dict[str, Operation]:
        """Return the operations by name."""
        return {
            "status": Operation(self.status),
            "make-directory": Operation(self.make_directory),
            "append": Operation(self.append),
            "remove": Operation(self.remove),
        }
