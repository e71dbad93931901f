"""The requests that a browser makes with the cookie of its session alone. Pure.

A page sends its key with each call (`page_keys`). Without it there are two kinds of requests, and
no others, so that a new route is refused: addresses that a person opens, whose pages are code
without data, and the pictures and videos of elements, which get no more than a credential to view.
"""

import re

PAGES = (
    *("/", "/runs", "/runs/*", "/desktops/*", "/desktops/*/recordings/*"),
    *("/compare", "/system", "/try", "/docs"),
)
MEDIA = (
    "/api/v0/files/*",
    *(
        f"/api/v0/recordings/*/{name}"
        for name in ("video", "thumbnail", "clip", "filmstrip", "steps.vtt", "steps/*/picture")
    ),
    *(f"/api/v0/runs/*/{name}" for name in ("sheet.png", "trail.png")),
    *(f"/api/v0/desktops/*/desktop/recordings/*/{name}" for name in ("video", "thumbnail")),
    *(f"/api/v0/desktop/recordings/*/{name}" for name in ("video", "thumbnail")),
)
"""Whatever a page adds to them it has to request with its key."""


def _pattern(path: str) -> str:
    return re.escape(path).replace(r"\*", "[^/]+")


_SHOWN = re.compile("|".join(_pattern(path) for path in (*PAGES, *MEDIA)))


def shown_by_cookie(path: str) -> bool:
    """Return whether a session's cookie is enough to read a path."""
    return _SHOWN.fullmatch(path) is not None
