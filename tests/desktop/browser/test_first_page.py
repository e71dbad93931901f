"""The first page of a browser: when it shows a document."""

from typing import Any

from deskhand.desktop.browser.first_page import FirstPage

Json = dict[str, Any]


def created(kind: str = "page") -> Json:
    return {
        "method": "Target.targetCreated",
        "params": {"targetInfo": {"targetId": "T", "type": kind}},
    }


def attached(session: str = "S") -> Json:
    return {"id": 2, "result": {"sessionId": session}}


def tree(url: str, session: str = "S") -> Json:
    return {"id": 4, "result": {"frameTree": {"frame": {"url": url}}}, "sessionId": session}


def navigated(session: str = "S", **frame: str) -> Json:
    return {"method": "Page.frameNavigated", "params": {"frame": frame}, "sessionId": session}


def watched() -> FirstPage:
    page = FirstPage()
    assert page.begin()["method"] == "Target.setDiscoverTargets"
    (attach,) = page.received(created())
    assert attach["params"] == {"targetId": "T", "flatten": True}
    methods = [request["method"] for request in page.received(attached())]
    assert methods == ["Page.enable", "Page.getFrameTree"]
    return page


def test_a_page_with_a_document_is_shown_at_once() -> None:
    page = watched()
    page.received(tree("chrome://new-tab-page/"))
    assert page.shown


def test_a_page_with_the_empty_document_is_shown_after_its_navigation() -> None:
    page = watched()
    page.received(tree(""))
    page.received(navigated(parentId="other"))
    page.received(navigated("another session"))
    assert not page.shown
    page.received(navigated(id="F"))
    assert page.shown


def test_other_targets_and_further_pages_are_not_watched() -> None:
    page = FirstPage()
    assert page.received(created("browser_ui")) == ()
    assert page.received(created())
    assert page.received(created()) == ()


def test_after_a_page_that_has_closed_the_next_one_is_watched() -> None:
    page = FirstPage()
    assert page.received(created())
    assert page.received({"id": 2, "error": {"message": "No target"}}) == ()
    assert page.received(created())


def test_malformed_messages_change_nothing() -> None:
    page = watched()
    for odd in ({"id": 4, "result": 3, "sessionId": "S"}, {"method": 3}, {"id": 1, "result": {}}):
        assert page.received(odd) == ()
    assert not page.shown
