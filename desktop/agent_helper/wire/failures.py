"""Errors of operations, as JSON and back. A helper under attack may send anything as an error."""

from collections.abc import Mapping
from typing import Any

from deskhand.desktop.agent_helper.errors import OperationFailed
from deskhand.desktop.files.errors import FileError
from deskhand.desktop.files.requests import BadFileRequest
from deskhand.desktop.git.errors import Unreadable

Json = dict[str, Any]

_LONGEST = 65_536
"""Characters of one text of an error."""


class RefusedByHelper(FileError):
    """An error of the file core that the helper raised, with its text and status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def failure_json(error: Exception) -> Json:
    """Return the JSON of an error."""
    match error:
        case BadFileRequest():
            facts = {"message": str(error), "detail": error.detail, "fields": error.fields}
            return {"kind": "request", **facts}
        case FileError():
            return {"kind": "file", "message": str(error), "status": error.status}
        case Unreadable():
            return {"kind": "git", "root": error.root, "reason": error.reason}
        case OSError(errno=int(number)):
            text = error.strerror or ""
            return {"kind": "os", "number": number, "text": text, "path": _path(error)}
        case OSError():
            return {"kind": "os", "number": 0, "text": str(error), "path": ""}
        case _:
            return {"kind": "other", "message": f"{type(error).__name__}: {error}"}


def failure_of(body: Mapping[str, Any]) -> Exception:
    """Return the error of a JSON; `OperationFailed` for one that is not understood."""
    match body:
        case {"kind": "request", "message": str(message), "detail": str(detail)}:
            return BadFileRequest(message[:_LONGEST], detail[:_LONGEST], _texts(body.get("fields")))
        case {"kind": "file", "message": str(message), "status": int(status)}:
            if 400 <= status < 600:
                return RefusedByHelper(message[:_LONGEST], status)
        case {"kind": "git", "root": str(root), "reason": str(reason)}:
            return Unreadable(root[:_LONGEST], reason[:_LONGEST])
        case {"kind": "os", "number": int(number), "text": str(text), "path": str(path)}:
            facts = [number, text[:_LONGEST], *([path[:_LONGEST]] if path else [])]
            return OSError(*facts) if number else OSError(text[:_LONGEST])
        case {"kind": "other", "message": str(message)}:
            return OperationFailed(message[:_LONGEST])
    return OperationFailed("the helper sent an error that is not understood")


def _path(error: OSError) -> str:
    return error.filename if isinstance(error.filename, str) else ""


def _texts(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {str(name): str(text)[:_LONGEST] for name, text in value.items()}
