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


@dataclass(frozen=True)
class BrowserResult:
    """Result of a member of the browser toolset."""

    text: str
    tabs: tuple[Tab, ...] = ()
    changes: tuple[Json, ...] = ()
    """Tabs opened and downloads, as the HTTP API has them in ``state_changes``."""
    picture: bytes = b""
    """The image file of ``screenshot`` and ``zoom``."""


def browser_result(data: Json) -> BrowserResult:
    """Read the answer of the browser toolset."""
    state = data["browser_state"]
    tabs = (
        Tab(one["tab_id"], one["title"], one["url"], one.get("active", False))
        for one in state["tabs"]
    )
    changes = tuple(state.get("state_changes", ()))
    picture = base64.b64decode(data.get("screenshot_data", ""))
    return BrowserResult(data["text"], tuple(tabs), changes, picture)
