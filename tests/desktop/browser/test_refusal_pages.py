"""The client that explains refused addresses, with a browser that the test plays."""

from typing import Any

import pytest

from deskhand.desktop.browser.pipe_messages import Message
from deskhand.desktop.browser.refusal_pages import MOST_PAGES, RefusalPages

REFUSED = "https://evil.test/"
PAGE = "A1"


def refusal(address: str) -> tuple[str, ...]:
    return ("Not allowed", address) if "evil" in address else ()


def started(most_pages: int = MOST_PAGES) -> RefusalPages:
    pages = RefusalPages(refusal, most_pages)
    (attach,) = pages.begin()
    assert attach == {"id": 1, "method": "Target.attachToBrowserTarget", "params": {}}
    (discover,) = pages.received({"id": 1, "result": {"sessionId": "root"}})
    assert discover["method"] == "Target.setDiscoverTargets"
    assert discover["sessionId"] == "root"
    assert pages.received({"id": discover["id"], "result": {}, "sessionId": "root"}) == []
    return pages


def changed(address: str, *, attached: bool = False, page: str = PAGE, **more: Any) -> Message:
    info = {"targetId": page, "type": "page", "url": address, "attached": attached, **more}
    return {"method": "Target.targetInfoChanged", "params": {"targetInfo": info}}


def gone(session: str) -> Message:
    return {"method": "Target.detachedFromTarget", "params": {"sessionId": session}}


def explained(pages: RefusalPages, event: Message, session: str = "s1") -> Message:
    """Play the browser until the script runs in the page; return its request."""
    (attach,) = pages.received(event)
    assert attach["params"] == {"targetId": PAGE, "flatten": True}
    # The event of the own session comes before the answer.
    assert pages.received(changed(event["params"]["targetInfo"]["url"], attached=True)) == []
    (run,) = pages.received({"id": attach["id"], "result": {"sessionId": session}})
    assert (run["method"], run["sessionId"]) == ("Runtime.evaluate", session)
    return run


def ended(
    pages: RefusalPages, run: Message, address: str = REFUSED, **answer: Any
) -> list[Message]:
    """Play the end of the script and of the session; return the requests after it."""
    (detach,) = pages.received({"id": run["id"], **(answer or {"result": {}})})
    assert detach["method"] == "Target.detachFromTarget"
    assert detach["params"] == {"sessionId": run["sessionId"]}
    found = pages.received(gone(run["sessionId"]))
    return [*found, *pages.received(changed(address))]


def test_a_refused_address_gets_the_text_as_json() -> None:
    pages = started()
    created = changed('https://evil.test/?</script>"')
    created["method"] = "Target.targetCreated"
    run = explained(pages, created)
    expression = run["params"]["expression"]
    assert expression.endswith('(["Not allowed", "https://evil.test/?</script>\\""])')
    assert run["params"]["awaitPromise"] is True
    assert ended(pages, run, 'https://evil.test/?</script>"') == []


def test_other_pages_are_left_alone() -> None:
    pages = started()
    assert pages.received(changed("https://good.test/")) == []
    assert pages.received(changed(REFUSED, type="service_worker")) == []


def test_a_page_that_is_loaded_again_is_explained_again() -> None:
    pages = started()
    assert ended(pages, explained(pages, changed(REFUSED))) == []
    run = explained(pages, changed(REFUSED), "s2")
    assert ended(pages, run, error={"message": "gone"}) == []


def test_another_refused_address_in_the_meantime_is_explained_afterwards() -> None:
    pages = started()
    run = explained(pages, changed(REFUSED))
    assert pages.received(changed("https://evil.test/2", attached=True)) == []
    pages.received({"id": run["id"], "error": {"message": "navigated"}})
    (again,) = pages.received(gone("s1"))
    assert again["method"] == "Target.attachToTarget"


def test_an_allowed_address_in_the_meantime_ends_it() -> None:
    pages = started()
    run = explained(pages, changed(REFUSED))
    assert pages.received(changed("https://good.test/", attached=True)) == []
    assert ended(pages, run, "https://good.test/") == []


def test_a_page_that_cannot_be_attached_is_left_and_the_next_load_is_tried() -> None:
    pages = started()
    (attach,) = pages.received(changed(REFUSED))
    assert pages.received({"id": attach["id"], "error": {"message": "no such target"}}) == []
    assert pages.received(changed(REFUSED)) != []


def test_a_page_that_closes_is_forgotten() -> None:
    pages = started()
    run = explained(pages, changed(REFUSED))
    closed = {"method": "Target.targetDestroyed", "params": {"targetId": PAGE}}
    assert pages.received(gone("s1")) == []
    assert pages.received(closed) == []
    assert pages.received({"id": run["id"], "result": {}}) == []
    assert pages.received(closed) == []
    explained(pages, changed(REFUSED), "s2")


def test_the_end_of_another_session_changes_nothing() -> None:
    pages = started()
    explained(pages, changed(REFUSED))
    assert pages.received(gone("of another page")) == []


def test_at_most_so_many_pages_are_watched() -> None:
    pages = started(most_pages=1)
    assert pages.received(changed("https://good.test/")) == []
    assert pages.received(changed(REFUSED, page="B2")) == []
    assert pages.received(changed(REFUSED)) != []


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"id": "x", "result": 1},
        {"id": 99, "result": {}},
        {"method": "Target.targetCreated", "params": 3},
        {"method": "Target.targetInfoChanged", "params": {"targetInfo": []}},
        {"method": "Target.detachedFromTarget"},
        {"method": 7},
    ],
)
def test_messages_of_other_shapes_are_ignored(message: Message) -> None:
    assert started().received(message) == []


def test_without_a_session_of_the_browser_pages_are_asked_for_directly() -> None:
    pages = RefusalPages(refusal)
    pages.begin()
    (discover,) = pages.received({"id": 1, "error": {"message": "unknown"}})
    assert "sessionId" not in discover
