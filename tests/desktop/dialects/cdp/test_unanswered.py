from typing import Any

from deskhand.desktop.dialects.cdp import unanswered
from deskhand.desktop.dialects.cdp.unanswered import UnansweredScreenshots

PAGE = {"sessionId": "s1"}


def shot(number: Any, **more: Any) -> dict[str, Any]:
    return {"id": number, "method": "Page.captureScreenshot", **more}


def test_a_screenshot_fails_when_its_time_is_over() -> None:
    open_ones = UnansweredScreenshots(20.0)
    assert open_ones.due is None
    assert open_ones.asked(shot(1), 5.0)
    assert open_ones.asked(shot(2, **PAGE), 7.0)
    assert open_ones.due == 25.0
    assert open_ones.late(24.9) == []
    assert open_ones.late(25.0) == [{"id": 1}]
    assert open_ones.late(27.0) == [{"id": 2, **PAGE}]
    assert open_ones.due is None


def test_an_answer_in_time_passes_and_a_late_one_does_not() -> None:
    open_ones = UnansweredScreenshots(20.0)
    open_ones.asked(shot(1), 0.0)
    open_ones.asked(shot(1, **PAGE), 0.0)
    assert open_ones.passes({"id": 1, "result": {}})
    assert open_ones.late(20.0) == [{"id": 1, **PAGE}]
    assert open_ones.passes({"method": "Page.loadEventFired"})
    assert open_ones.passes({"id": 7, "result": {}})
    assert not open_ones.passes({"id": 1, "result": {}, **PAGE})
    assert open_ones.passes({"id": 1, "result": {}, **PAGE})


def test_an_id_that_is_used_again_is_answered() -> None:
    open_ones = UnansweredScreenshots(20.0)
    open_ones.asked(shot(1), 0.0)
    open_ones.late(20.0)
    open_ones.asked(shot(1), 21.0)
    assert open_ones.passes({"id": 1, "result": {}})


def test_other_requests_are_not_watched() -> None:
    open_ones = UnansweredScreenshots(20.0)
    for request in ({"id": 1, "method": "Page.navigate"}, shot(None), shot("1"), shot(True)):
        assert not open_ones.asked(request, 0.0)
    assert open_ones.due is None


def test_screenshots_fail_with_the_end_of_their_session() -> None:
    open_ones = UnansweredScreenshots(20.0)
    for more in ({}, PAGE, {"sessionId": "s2"}):
        open_ones.asked(shot(1, **more), 0.0)
    detached = {"method": "Target.detachedFromTarget", "params": {"sessionId": "s1"}}
    assert open_ones.ended({"method": "Page.loadEventFired", "params": {"sessionId": "s1"}}) == []
    assert open_ones.ended({"method": "Target.detachedFromTarget"}) == []
    assert open_ones.ended(detached) == [{"id": 1, **PAGE}]
    assert open_ones.ended(detached) == []


def test_few_failed_requests_are_kept() -> None:
    open_ones = UnansweredScreenshots(1.0)
    for number in range(unanswered.MOST_FAILED + 1):
        open_ones.asked(shot(number), 0.0)
    open_ones.late(1.0)
    assert open_ones.passes({"id": 0})
    assert not open_ones.passes({"id": 1})
