import pytest

from deskhand.desktop.dialects.cdp.guard import acts, refusal, shows_screen, with_downloads


@pytest.mark.parametrize(
    "method",
    ["Browser.close", "Browser.crash", "Target.setRemoteLocations", "SystemInfo.getInfo"],
)
def test_requests_that_concern_the_whole_browser_are_refused(method: str) -> None:
    assert refusal(method, {}, ())


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        ("Page.navigate", {"url": "file:///etc/passwd"}),
        ("Page.navigate", {"url": " FILE:///data/../etc/passwd"}),
        ("Target.createTarget", {"url": "file:///data%2f..%2fetc"}),
        ("DOM.setFileInputFiles", {"files": ["/data/a", "/etc/passwd"]}),
    ],
)
def test_files_are_read_in_the_permitted_trees_only(
    method: str, parameters: dict[str, object]
) -> None:
    assert "outside" in refusal(method, parameters, ("/data",))
    assert not refusal(method, parameters, ())


@pytest.mark.parametrize(
    "parameters",
    [{"url": "file:///data/a"}, {"files": ["/data/a"]}, {"url": "https://a/"}, {"url": 7}, {}],
)
def test_other_requests_pass(parameters: dict[str, object]) -> None:
    assert not refusal("Page.navigate", parameters, ("/data",))


@pytest.mark.parametrize(
    ("method", "does"),
    [
        ("Input.dispatchMouseEvent", True),
        ("Page.navigate", True),
        ("Runtime.evaluate", True),
        ("Nonsense", True),
        ("DOM.getDocument", False),
        ("Page.enable", False),
        ("Page.captureScreenshot", False),
        ("Target.setAutoAttach", False),
        ("Target.closeTarget", True),
    ],
)
def test_requests_that_are_not_known_to_read_act(method: str, does: bool) -> None:
    assert acts(method) == does


def test_pictures_of_pages_show_the_screen() -> None:
    assert shows_screen("Page.captureScreenshot")
    assert not shows_screen("Page.enable")


def test_downloads_go_to_the_folder_of_the_desktop() -> None:
    asked = {"behavior": "allowAndName", "downloadPath": "/tmp/x", "eventsEnabled": True}
    changed = with_downloads("Browser.setDownloadBehavior", asked, "/home/Downloads")
    assert changed == {
        "behavior": "allow",
        "downloadPath": "/home/Downloads",
        "eventsEnabled": True,
    }


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        ("Browser.setDownloadBehavior", {"behavior": "deny"}),
        ("Page.navigate", {"behavior": "allow"}),
    ],
)
def test_other_parameters_stay(method: str, parameters: dict[str, object]) -> None:
    assert with_downloads(method, parameters, "/d") == parameters
