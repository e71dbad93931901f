import pytest

from deskhand.desktop.dialects.cua.route_call import RouteCall, action, succeeding
from deskhand.desktop.errors import DesktopRefused
from tests.desktop.dialects.cua.scripted_replies import DONE, REFUSED, driven


def test_a_call_returns_its_reply() -> None:
    calls = succeeding("PUT", "/x", json={"a": 1}, params={"b": "2"}, content=b"c")
    assert driven(calls, [DONE]) == (DONE, [RouteCall("PUT", "/x", {"a": 1}, {"b": "2"}, b"c")])


def test_an_error_status_is_raised() -> None:
    with pytest.raises(DesktopRefused, match="never"):
        driven(succeeding("GET", "/x"), [REFUSED])


def test_points_of_actions_are_native() -> None:
    body = {"action": "left_click", "coordinate_space": "native", "coordinate": [1, 2]}
    calls = driven(action("left_click", coordinate=[1, 2]), [DONE])[1]
    assert calls == [RouteCall("POST", "/api/v0/desktop/action", body)]
