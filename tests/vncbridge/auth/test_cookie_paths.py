"""What the cookie of a session opens without its page key."""

import pytest

from deskhand.vncbridge.auth.cookie_paths import shown_by_cookie


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/runs", "/runs/c1", "/desktops/d1", "/desktops/d1/recordings/r1", "/docs"),
        *("/api/v0/files/f1", "/api/v0/recordings/c1/steps.vtt", "/api/v0/runs/c1/sheet.png"),
        "/api/v0/desktops/d1/desktop/recordings/r1/video",
        "/api/v0/desktop/recordings/r1/thumbnail",
    ],
)
def test_pages_and_media_are_shown(path: str) -> None:
    assert shown_by_cookie(path)


@pytest.mark.parametrize(
    "path",
    [
        *("", "//", "/runs/", "/runs/c1/x", "/desktops/d1/x/r1", "/docs\n", "/metrics"),
        *("/api/v0/files", "/api/v0/files/f1/pin", "/api/v0/recordings/c1/stepsXvtt"),
        *("/api/v0/desktops/d1/desktop/screenshot", "/api/v0/tokens", "/new"),
    ],
)
def test_nothing_else_is_shown(path: str) -> None:
    assert not shown_by_cookie(path)
