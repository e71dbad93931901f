"""Results of the browser toolset as values. Pure."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Tab:
    """A tab of the browser."""

    id: str
    title: str
    url: str
    active: bool = False
    dialog: str = ""
    """Kind of the dialog that waits for an answer, such as ``alert``; empty without one."""
    message: str = ""
    """Text of the dialog."""


@dataclass(frozen=True)
class BrowserResult:
    """Result of a member of the browser toolset."""

    text: str
    tabs: tuple[Tab, ...] = ()
    changes: tuple[Json, ...] = ()
    """Tabs opened and downloads, as the HTTP API has them in ``state_changes``."""
    picture: bytes = b""
    """The image file of ``screenshot`` and ``zoom``."""
    media_type: str = ""
    """Of the picture, such as ``image/png``; empty without one."""
    http_status: int | None = None
    """Of the document that ``navigate`` has opened; None if it was not read over HTTP."""


def browser_result(data: Json) -> BrowserResult:
    """Read the answer of the browser toolset."""
    state = data["browser_state"]
    changes = tuple(state.get("state_changes", ()))
    picture = base64.b64decode(data.get("screenshot_data", ""))
    return BrowserResult(
        data["text"],
        tuple(_tab(one) for one in state["tabs"]),
        changes,
        picture,
        data.get("screenshot_media_type", ""),
        data.get("http_status"),
    )


def _tab(data: Json) -> Tab:
    dialog = data.get("dialog") or {"type": "", "message": ""}
    active = data.get("active", False)
    return Tab(
        *(data["tab_id"], data["title"], data["url"], active),
        *(dialog["type"], dialog["message"]),
    )
