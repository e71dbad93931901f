from deskhand.desktop.client.browser_result import BrowserResult, Tab, browser_result


def test_a_member_of_the_browser_toolset_has_tabs_and_perhaps_a_picture() -> None:
    tab = {"tab_id": "t1", "title": "A", "url": "http://a/", "active": True}
    opened = {"type": "tab_opened", "tab_id": "t1"}
    body = {"text": "x", "browser_state": {"tabs": [tab], "state_changes": [opened]}}
    expected = Tab("t1", "A", "http://a/", active=True)
    found = browser_result(body)
    assert found == BrowserResult("x", (expected,), (opened,))
    pictured = {"text": "", "browser_state": {"tabs": []}, "screenshot_data": "UE5H"}
    assert browser_result(pictured).picture == b"PNG"
