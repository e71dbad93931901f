from collections.abc import Callable
from typing import Any

import pytest

from deskhand.desktop.dialects.cua import window_commands as windows
from deskhand.desktop.dialects.cua.errors import FailedCommand
from deskhand.desktop.dialects.cua.route_call import RouteCall
from tests.desktop.dialects.cua.scripted_replies import driven, reply

WINDOWS = "/api/v0/desktop/windows"
GEOMETRY = {"x": 1, "y": 2, "width": 3, "height": 4}
ONE = {"id": 7, "title": "Notes", "class": "Editor", "focused": False, "native_geometry": GEOMETRY}
TWO = {**ONE, "id": 8, "title": "Shell", "class": "XTerm", "focused": True}
LISTED, NONE = reply({"windows": [ONE, TWO]}), reply({"windows": []})


@pytest.mark.parametrize(
    ("command", "params", "fields"),
    [
        (windows.current, {}, {"window_id": 8}),
        (windows.active_title, {}, {"result": "Shell"}),
        (windows.of_application, {"app": "xterm"}, {"windows": [8]}),
        (windows.of_application, {"app": "note"}, {"windows": [7]}),
        (windows.name, {"window_id": 7}, {"name": "Notes"}),
        (windows.name, {"window_id": "0x8"}, {"name": "Shell"}),
        (windows.size, {"window_id": 7}, {"width": 3, "height": 4}),
        (windows.position, {"window_id": 7}, {"x": 1, "y": 2}),
    ],
)
def test_windows_are_described(
    command: Callable[[Any], Any], params: Any, fields: dict[str, Any]
) -> None:
    found, calls = driven(command(params), [LISTED])
    assert found == fields
    assert calls == [RouteCall("GET", WINDOWS, params={"coordinate_space": "native"})]


def test_windows_are_arranged() -> None:
    native = {"coordinate_space": "native"}
    sized = windows.placed("width", "height")({"window_id": 7, "width": 9, "height": 8})
    body = {**native, "width": 9, "height": 8}
    assert driven(sized, []) == ({}, [RouteCall("POST", f"{WINDOWS}/7/move", body)])
    focused = windows.changed("focus")({"window_id": "7"})
    assert driven(focused, []) == ({}, [RouteCall("POST", f"{WINDOWS}/7/focus", native)])


def test_a_window_that_is_not_there_is_refused() -> None:
    for calls in [
        windows.current({}),
        windows.name({"window_id": 7}),
        windows.name({"window_id": "x"}),
    ]:
        with pytest.raises(FailedCommand):
            driven(calls, [NONE])
    assert driven(windows.active_title({}), [NONE])[0] == {"result": ""}
    with pytest.raises(FailedCommand, match="no window 9"):
        driven(windows.name({"window_id": 9}), [LISTED])
