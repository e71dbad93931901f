"""Refusals of the own routes as OSWorld's clients read errors. Pure."""

from typing import Any

from deskhand.desktop.errors import DesktopRefused


def fields_of(error: DesktopRefused) -> dict[str, Any]:
    """Return the body of the answer; a refused lease reads ``human_in_control: ...``."""
    if error.status == 404 and "file" in str(error).lower():
        return {"status": "error", "message": str(error), "error": "File not found"}
    text = f"{error.code}: {error.detail}" if error.code and error.detail else str(error)
    return {"status": "error", "message": text, "error": text}
