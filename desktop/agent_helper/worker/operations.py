"""The operations of the helper: everything that opens a path of the agent.

They run with the agent's user, so the kernel decides what a link or a path of /proc may lead to.
Big data is not copied through the socket: the service receives a descriptor of the open file.
"""

import os
import shutil
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from deskhand.desktop.agent_helper.errors import OperationFailed
from deskhand.desktop.agent_helper.wire.values import condition_of, edits_of, lines_of, search_of
from deskhand.desktop.events.downloads import DownloadsFolder
from deskhand.desktop.files.disk import Replacement, absolute, existing, resolved
from deskhand.desktop.files.edit_batch import edit_all
from deskhand.desktop.files.preconditions import ALWAYS
from deskhand.desktop.files.reading import listing, numbered_lines, opened, printable
from deskhand.desktop.files.roots import Roots
from deskhand.desktop.files.search_engine import search
from deskhand.desktop.files.watched_tree import WatchedTree
from deskhand.desktop.git.repositories import Git, working_trees
from deskhand.desktop.processes.output_file import open_output, replace_exit

from .bus_connection import authenticated
from .change_pipe import change_pipe
from .server import CallContext, Operation, OperationResult
from .tcp_connection import connected
from .tree_operations import TreeOperations

Json = dict[str, Any]


class FileOperations:
    """Operations of the file core, confined to roots."""

    def __init__(self, roots: Roots) -> None:
        self._roots = roots

    def read(self, asked: Json, call: CallContext) -> OperationResult:
        """Open a regular file for reading."""
        with opened(absolute(asked["path"]), self._roots) as file:
            return OperationResult({}, (os.dup(file.fileno()),))

    def lines(self, asked: Json, call: CallContext) -> OperationResult:
        """Return numbered lines of a file."""
        return OperationResult(numbered_lines(lines_of(asked), self._roots))

    def listing(self, asked: Json, call: CallContext) -> OperationResult:
        """List a directory."""
        return OperationResult(listing(Path(asked["path"]), self._roots))

    def resolve(self, asked: Json, call: CallContext) -> OperationResult:
        """Follow all links of a path."""
        real = resolved(Path(asked["path"]), self._roots)
        return OperationResult({"path": printable(str(real))})

    def kind(self, asked: Json, call: CallContext) -> OperationResult:
        """Return if a path can be read, and if it is a directory."""
        path = Path(asked["path"])
        # An embedded NUL is a ValueError of access(2)'s wrapper, and no path.
        readable = "\0" not in asked["path"] and os.access(path, os.R_OK)
        return OperationResult({"readable": readable, "is_dir": readable and path.is_dir()})

    def search(self, asked: Json, call: CallContext) -> OperationResult:
        """Search a tree; cancelling kills the process that searches."""
        request = search_of(asked)
        path = absolute(request.path)
        real = existing(path, self._roots)
        request = replace(request, path=printable(str(path)))
        # With roots only the fallback is safe, as it checks each file after opening it.
        program = None if self._roots.paths else shutil.which("rg")
        found = search(request, str(real), program=program, started=call.on_cancel)
        return OperationResult(found)

    def watch(self, asked: Json, call: CallContext) -> OperationResult:
        """Observe a tree; the descriptor is of a pipe with lines of changes."""
        path = absolute(asked["path"])
        tree = WatchedTree(path, self._roots, recursive=asked["recursive"])
        return OperationResult({}, (change_pipe(tree),))

    def replacement(self, asked: Json, call: CallContext) -> OperationResult:
        """Open a replacement of a file; the descriptor is of its temporary file."""
        new = Replacement(absolute(asked["path"]), self._roots)
        new.__enter__()
        return OperationResult({}, (new.duplicate(),), new)

    def commit(self, asked: Json, call: CallContext) -> OperationResult:
        """Put a replacement in the place of its file, if that meets the condition."""
        new = call.resource(asked["handle"])
        if not isinstance(new, Replacement):
            raise OperationFailed("this is no replacement")
        _commit(new, asked)
        return OperationResult({})

    def discard(self, asked: Json, call: CallContext) -> OperationResult:
        """Remove the temporary file of a replacement."""
        call.resource(asked["handle"]).__exit__(None, None, None)
        return OperationResult({})

    def write(self, asked: Json, call: CallContext) -> OperationResult:
        """Replace a file by short content."""
        with Replacement(absolute(asked["path"]), self._roots) as new:
            new.write(b64decode(asked["content"]))
            _commit(new, asked)
        return OperationResult({})

    def edit(self, asked: Json, call: CallContext) -> OperationResult:
        """Edit files, all or none; return the paths, and the changes if requested."""
        results = edit_all(edits_of(asked["files"]), roots=self._roots)
        shown = ({"diff": one.diff()} if asked["diff"] else {} for one in results)
        files = [{"path": one.path} | more for one, more in zip(results, shown, strict=True)]
        return OperationResult({"files": files})


def _commit(new: Replacement, asked: Json) -> None:
    condition = condition_of(asked["condition"])
    # Directly before the rename, so that little time is left for another process to write.
    if condition != ALWAYS:
        condition.check(asked["name"], new.digest())
    new.commit()


class GitOperations:
    """Operations on repositories, which may run programs that a repository names."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._git = Git(environment)

    def roots(self, asked: Json, call: CallContext) -> OperationResult:
        """Return the working trees that contain paths, and the known ones that are gone."""
        gone, found = working_trees(asked["paths"], asked["known"])
        return OperationResult({"gone": gone, "found": found})

    def read(self, asked: Json, call: CallContext) -> OperationResult:
        """Return the state of a working tree."""
        return OperationResult(asdict(self._git.read(asked["root"])))


def _downloads(asked: Json, call: CallContext) -> OperationResult:
    """Observe the downloads folder; the descriptor is of a pipe with lines."""
    return OperationResult({}, (change_pipe(DownloadsFolder(Path(asked["folder"]))),))


def _open_output(asked: Json, call: CallContext) -> OperationResult:
    """Open a file for a copy of output."""
    return OperationResult({}, (open_output(Path(asked["path"])),))


def _write_exit(asked: Json, call: CallContext) -> OperationResult:
    """Write the file about a process's exit."""
    replace_exit(Path(asked["path"]), asked["fields"])
    return OperationResult({})


def _connect_bus(asked: Json, call: CallContext) -> OperationResult:
    """Connect to a message bus; the descriptor is of the socket."""
    return OperationResult({}, (authenticated(asked["address"]).detach(),))


def _connect(asked: Json, call: CallContext) -> OperationResult:
    """Connect to a host and port; the descriptor is of the socket."""
    return OperationResult({}, (connected(asked["host"], asked["port"]).detach(),))


def operations(roots: Roots, environment: Mapping[str, str]) -> dict[str, Operation]:
    """Return the operations by name."""
    files, git = FileOperations(roots), GitOperations(environment)
    return {
        "read": Operation(files.read),
        "lines": Operation(files.lines),
        "listing": Operation(files.listing),
        "resolve": Operation(files.resolve),
        "kind": Operation(files.kind),
        "search": Operation(files.search, "search"),
        "watch": Operation(files.watch, "watch"),
        "replacement": Operation(files.replacement),
        "commit": Operation(files.commit),
        "discard": Operation(files.discard),
        "write": Operation(files.write),
        "edit": Operation(files.edit),
        **TreeOperations(roots).by_name(),
        "git.roots": Operation(git.roots, "git"),
        "git.read": Operation(git.read, "git"),
        "downloads": Operation(_downloads, "watch"),
        "output": Operation(_open_output),
        "exit": Operation(_write_exit),
        "bus": Operation(_connect_bus),
        "connect": Operation(_connect, "network"),
    }
