from deskhand.desktop.client.browser_result import BrowserResult, Tab, browser_result


def test_a_member_of_the_browser_toolset_has_tabs_and_perhaps_a_picture() -> None:
    tab = {"tab_id": "t1", "title": "A", "url": "http://a/", "active": True}
    opened = {"type": "tab_opened", "tab_id": "t1"}
    body = {"text": "x", "browser_state": {"tabs": [tab], "state_changes": [opened]}}
    expected = Tab("t1", "A", "http://a/", active=True)
    found = browser_result(body)
    assert found == BrowserResult("x", (expected,), (opened,))
    pictured = {"text": "", "browser_state": {"tabs": []}, "screenshot_data": "UE5H"}
    pictured["screenshot_media_type"] = "image/png"
    assert browser_result(pictured) == BrowserResult("", picture=b"PNG", media_type="image/png")


def test_a_navigation_has_a_status_and_a_tab_its_dialog() -> None:
    tab = {"tab_id": "t1", "title": "A", "url": "http://a/"}
    tab_ = {**tab, "dialog": {"type": "alert", "message": "Hi"}}
    found = browser_result({"text": "", "http_status": 404, "browser_state": {"tabs": [tab_]}})
    assert found.http_status == 404
    assert found.tabs == (Tab("t1", "A", "http://a/", dialog="alert", message="Hi"),)
