from pathlib import Path, PurePath
from typing import Any

from deskhand.desktop.dialects.osworld import api
from deskhand.desktop.dialects.osworld.api import FIELDS, router

READ = ("screenshot", "accessibility", "terminal", "platform", "cursor_position")
CHANGED = (
    *("screen_size", "window_size", "execute", "run_python", "run_bash_script", "file"),
    *("wallpaper", "desktop_path", "list_directory", "start_recording", "end_recording"),
)
SET_UP = (
    *("execute", "execute_with_verification", "launch", "open_file", "upload", "download_file"),
    *("activate_window", "close_window", "change_wallpaper"),
)
"""The routes of OSWorld's own server that its clients use."""
LONGEST = 150


def test_each_route_of_the_original_server_is_served() -> None:
    own_api: Any = None
    routes: Any = router(own_api, PurePath("/programs"), lan=False).routes
    base = "/api/v0/desktop/as/osworld"
    served = {(method, route.path) for route in routes for method in route.methods}
    assert served == {
        *(("GET", f"{base}/{name}") for name in READ),
        *(("POST", f"{base}/{name}") for name in CHANGED),
        *(("POST", f"{base}/setup/{name}") for name in SET_UP),
    }


def test_the_fields_of_bodies_are_those_of_routes() -> None:
    posted = {*(f"/{name}" for name in CHANGED), *(f"/setup/{name}" for name in SET_UP)}
    assert FIELDS.keys() <= posted


def test_the_router_is_short() -> None:
    # Translation is in pure modules, work in our own routes.
    assert len(Path(api.__file__).read_text().splitlines()) <= LONGEST
