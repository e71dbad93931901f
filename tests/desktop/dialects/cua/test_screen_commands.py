import base64

import pytest

from deskhand.desktop.dialects.cua import screen_commands as screen
from deskhand.desktop.dialects.cua.errors import FailedCommand
from deskhand.desktop.dialects.cua.route_call import RouteCall
from tests.desktop.dialects.cua.scripted_replies import driven, reply

DESKTOP = "/api/v0/desktop"
STATUS = reply({"version": "1.2", "size": {"width": 3, "height": 4}})


def test_facts_of_the_desktop_are_returned() -> None:
    version = {"protocol": 1, "package": "1.2"}
    assert driven(screen.version({}), [STATUS])[0] == version
    size = {"size": {"width": 3, "height": 4}}
    assert driven(screen.screen_size({}), [STATUS])[0] == size
    assert driven(screen.desktop_environment({}), [])[0] == {"environment": "openbox"}
    assert driven(screen.environment({}), [])[0] == {"result": "linux"}
    tree = {"applications": ["x"]}
    assert driven(screen.accessibility_tree({}), [reply(tree)])[0] == {"tree": tree}


def test_a_screenshot_has_native_size() -> None:
    params = {"format": "JPG", "quality": 200}
    fields, calls = driven(screen.screenshot(params), [reply(b"image")])
    assert fields == {"image_data": base64.b64encode(b"image").decode(), "format": "jpeg"}
    query = {"format": "jpeg", "quality": "100", "coordinate_space": "native"}
    assert calls == [RouteCall("GET", f"{DESKTOP}/screenshot", params=query)]
    with pytest.raises(FailedCommand, match="png or jpeg"):
        driven(screen.screenshot({"format": "bmp"}), [])


def test_the_clipboard_is_read_and_written() -> None:
    fields, _ = driven(screen.clipboard({}), [reply("Grüße".encode())])
    assert fields == {"content": "Grüße"}
    assert driven(screen.set_clipboard({"text": "a"}), [])[1] == [
        RouteCall("PUT", f"{DESKTOP}/clipboard", {"text": "a"})
    ]


def test_a_command_that_no_desktop_has_is_refused() -> None:
    with pytest.raises(FailedCommand, match="not available"):
        driven(screen.unavailable({}), [])
