"""Commands of files. Pure; ``~`` and relative paths are below the agent's home.

All of them use the file routes; no command starts a process.
"""

import base64
from typing import Any

from .arguments import Params, flag, text, whole
from .errors import FailedCommand
from .route_call import Calls, RouteCall, succeeding
from .shell_commands import absolute

READ, WRITE, LIST = "/api/v0/read-file", "/api/v0/write-file", "/api/v0/list-directory"
APPEND, STATUS = "/api/v0/append-file", "/api/v0/file-status"
MAKE, REMOVE = "/api/v0/make-directory", "/api/v0/remove-path"
_NOT_THERE = (400, 404)
"""Statuses for a path that is missing, or something else."""


def file_exists(params: Params) -> Calls:
    """Return whether a path is a file."""
    query = {"path": (yield from _path(params)), "limit": "1"}
    return {"exists": (yield from _found(RouteCall("GET", READ, params=query)))}


def directory_exists(params: Params) -> Calls:
    """Return whether a path is a directory."""
    query = {"path": (yield from _path(params))}
    return {"exists": (yield from _found(RouteCall("POST", LIST, params=query)))}


def list_dir(params: Params) -> Calls:
    """Return the names in a directory."""
    query = {"path": (yield from _path(params))}
    reply = yield from succeeding("POST", LIST, params=query)
    return {"files": [one["name"] for one in reply.json()["contents"]]}


def read_text(params: Params) -> Calls:
    """Return the text of a file."""
    content = yield from _content(params)
    return {"content": content.decode("utf-8", "replace")}


def read_bytes(params: Params) -> Calls:
    """Return the bytes of a file, or a range of them."""
    offset = whole(params, "offset", 0)
    length = None if params.get("length") is None else whole(params, "length")
    if offset < 0 or (length is not None and length < 0):
        raise FailedCommand("offset and length must not be negative")
    if length == 0:
        return {"content_b64": ""}
    limit = {} if length is None else {"limit": str(length)}
    content = yield from _content(params, offset=str(offset), **limit)
    return {"content_b64": base64.b64encode(content).decode()}


def write_text(params: Params) -> Calls:
    """Replace a file by a text."""
    content = text(params, "content").encode()
    query = {"path": (yield from _path(params))}
    yield from succeeding("POST", WRITE, params=query, content=content)
    return {}


def write_bytes(params: Params) -> Calls:
    """Replace a file by bytes, or append them."""
    encoded = text(params, "content_b64")
    try:
        content = base64.b64decode(encoded, validate=True)
    except ValueError as error:
        raise FailedCommand("content_b64 must be base64") from error
    route = APPEND if flag(params, "append") else WRITE
    query = {"path": (yield from _path(params))}
    yield from succeeding("POST", route, params=query, content=content)
    return {}


def file_size(params: Params) -> Calls:
    """Return the number of bytes of a file."""
    query = {"path": (yield from _path(params))}
    reply = yield from succeeding("GET", STATUS, params=query)
    return {"size": reply.json()["bytes"]}


def create_dir(params: Params) -> Calls:
    """Create a directory with its parents."""
    query = {"path": (yield from _path(params))}
    yield from succeeding("POST", MAKE, params=query)
    return {}


def delete_dir(params: Params) -> Calls:
    """Remove a directory with all that is in it."""
    query = {"path": (yield from _path(params)), "recursive": "true"}
    yield from succeeding("POST", REMOVE, params=query)
    return {}


def delete_file(params: Params) -> Calls:
    """Remove a file."""
    query = {"path": (yield from _path(params))}
    if (yield from directory_exists(params))["exists"]:
        raise FailedCommand("path is a directory")
    yield from succeeding("POST", REMOVE, params=query)
    return {}


def _path(params: Params) -> Any:
    path = text(params, "path")
    if not path:
        raise FailedCommand("path must not be empty")
    return (yield from absolute(path))


def _found(call: RouteCall) -> Any:
    reply = yield call
    if reply.status >= 400 and reply.status not in _NOT_THERE:
        raise reply.refusal()
    return reply.status < 400


def _content(params: Params, **query: str) -> Any:
    named = {"path": (yield from _path(params)), **query}
    reply = yield from succeeding("GET", READ, params=named)
    return reply.body
