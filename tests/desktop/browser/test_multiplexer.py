from typing import Any

from deskhand.desktop.browser.multiplexer import (
    INVALID_REQUEST,
    SERVER_ERROR,
    Forwarding,
    PipeDelivery,
    PipeMultiplexer,
)
from deskhand.desktop.browser.pipe_messages import Message


def request(identifier: object, method: object, session: str = "", **params: Any) -> Message:
    found: Message = {"id": identifier, "method": method, "params": params}
    return found | ({"sessionId": session} if session else {})


def attached(session: str, target: str, parent: str = "") -> Message:
    params = {"sessionId": session, "targetInfo": {"targetId": target}}
    found: Message = {"method": "Target.attachedToTarget", "params": params}
    return found | ({"sessionId": parent} if parent else {})


def attach(pipe: PipeMultiplexer, client: int, session: str, target: str) -> list[PipeDelivery]:
    """Attach a session for a client, as Chromium does: the event precedes the answer."""
    sent = pipe.requested(client, request(7, "Target.attachToTarget", targetId=target)).browser
    assert sent is not None
    found = pipe.received(attached(session, target))
    return [*found, *pipe.received({"id": sent["id"], "result": {"sessionId": session}})]


def test_answers_go_to_the_client_that_asked_under_its_own_id() -> None:
    pipe = PipeMultiplexer()
    one, other = pipe.join(), pipe.join()
    first = pipe.requested(one, request(5, "Browser.getVersion")).browser
    second = pipe.requested(other, request(5, "Browser.getVersion")).browser
    assert first is not None
    assert second is not None
    assert first["id"] != second["id"]
    assert pipe.received({"id": second["id"], "result": {}}) == [
        PipeDelivery(other, {"id": 5, "result": {}})
    ]
    assert pipe.received({"id": first["id"], "error": {}}) == [
        PipeDelivery(one, {"id": 5, "error": {}})
    ]
    # An answer comes once.
    assert pipe.received({"id": first["id"], "result": {}}) == []


def test_a_session_belongs_to_the_client_that_attached_it() -> None:
    pipe = PipeMultiplexer()
    one, other = pipe.join(), pipe.join()
    deliveries = attach(pipe, one, "S", "T")
    assert [delivery.client for delivery in deliveries] == [one, one]
    event = {"method": "Page.loadEventFired", "sessionId": "S", "params": {}}
    assert pipe.received(event) == [PipeDelivery(one, event)]
    assert pipe.requested(one, request(8, "Page.enable", "S")).browser is not None
    refused = pipe.requested(other, request(8, "Page.enable", "S"))
    assert refused.browser is None
    assert refused.client is not None
    assert refused.client["error"]["code"] == SERVER_ERROR
    assert (refused.client["id"], refused.client["sessionId"]) == (8, "S")


def test_two_clients_attach_at_once() -> None:
    pipe = PipeMultiplexer()
    one, other = pipe.join(), pipe.join()
    pipe.requested(one, request(1, "Target.attachToTarget", targetId="A"))
    pipe.requested(other, request(1, "Target.attachToTarget", targetId="B"))
    second, first = attached("SB", "B"), attached("SA", "A")
    assert pipe.received(second) == [PipeDelivery(other, second)]
    assert pipe.received(first) == [PipeDelivery(one, first)]


def test_a_session_in_a_session_has_the_same_client() -> None:
    pipe = PipeMultiplexer()
    one = pipe.join()
    attach(pipe, one, "S", "T")
    inner = attached("F", "frame", "S")
    assert pipe.received(inner) == [PipeDelivery(one, inner)]
    event = {"method": "Page.loadEventFired", "sessionId": "F"}
    assert pipe.received(event) == [PipeDelivery(one, event)]


def test_sessions_that_the_browser_attaches_go_to_the_client_that_asked_for_them() -> None:
    pipe = PipeMultiplexer()
    one, other = pipe.join(), pipe.join()
    pipe.requested(other, request(1, "Target.setAutoAttach", autoAttach=True))
    found = attached("S", "T")
    assert pipe.received(found) == [PipeDelivery(other, found)]
    pipe.requested(other, request(2, "Target.setAutoAttach", autoAttach=False))
    assert pipe.received(attached("S2", "T2")) == []
    pipe.requested(one, request(1, "Target.setAutoAttach", autoAttach=True))
    pipe.leave(one)
    assert pipe.received(attached("S3", "T3")) == []


def test_a_session_that_ended_is_forgotten() -> None:
    pipe = PipeMultiplexer()
    one = pipe.join()
    attach(pipe, one, "S", "T")
    ended = {"method": "Target.detachedFromTarget", "params": {"sessionId": "S"}}
    assert pipe.received(ended) == [PipeDelivery(one, ended)]
    assert pipe.received(ended) == []
    assert pipe.received({"method": "Page.x", "sessionId": "S"}) == []


def test_events_of_the_browser_go_to_those_who_asked_for_their_domain() -> None:
    pipe = PipeMultiplexer()
    one, _ = pipe.join(), pipe.join()
    pipe.requested(one, request(1, "Target.setDiscoverTargets", discover=True))
    pipe.requested(one, request(2, "Storage.enable"))
    created = {"method": "Target.targetCreated", "params": {}}
    assert pipe.received(created) == [PipeDelivery(one, created)]
    stored = {"method": "Storage.changed"}
    assert pipe.received(stored) == [PipeDelivery(one, stored)]
    assert pipe.received({"method": "Browser.downloadProgress", "params": None}) == []


def test_a_paused_client_gets_errors_and_no_events() -> None:
    pipe = PipeMultiplexer()
    one = pipe.join()
    attach(pipe, one, "S", "T")
    pipe.pause(one, "A person has control.")
    refused = pipe.requested(one, request(3, "Page.captureScreenshot", "S"))
    error = {"code": SERVER_ERROR, "message": "A person has control."}
    assert refused == Forwarding(client={"id": 3, "error": error, "sessionId": "S"})
    assert pipe.received({"method": "Page.screencastFrame", "sessionId": "S"}) == []
    pipe.pause(one, "")
    assert pipe.requested(one, request(4, "Page.captureScreenshot", "S")).browser is not None
    pipe.pause(99, "No client.")


def test_no_client_closes_the_browser() -> None:
    pipe = PipeMultiplexer()
    refused = pipe.requested(pipe.join(), request(1, "Browser.close"))
    assert refused.browser is None
    assert refused.client is not None


def test_what_is_no_request_is_answered_with_an_error() -> None:
    pipe = PipeMultiplexer()
    one = pipe.join()
    for wrong in (request("1", "Page.enable"), request(True, "Page.enable"), request(1, None)):
        found = pipe.requested(one, wrong).client
        assert found is not None
        assert found["error"]["code"] == INVALID_REQUEST
    odd = {"id": 1, "method": "Target.attachToTarget", "params": 3}
    assert pipe.requested(one, odd).browser is not None
    assert pipe.received({"method": "Target.attachedToTarget", "params": {"targetInfo": 1}}) == [
        PipeDelivery(one, {"method": "Target.attachedToTarget", "params": {"targetInfo": 1}})
    ]


def test_a_client_that_leaves_takes_its_sessions_along() -> None:
    pipe = PipeMultiplexer()
    one, other = pipe.join(), pipe.join()
    attach(pipe, one, "S", "T")
    attach(pipe, other, "O", "T")
    pending = pipe.requested(one, request(9, "Browser.getVersion")).browser
    unanswered = pipe.requested(other, request(9, "Browser.getVersion")).browser
    assert pending is not None
    assert unanswered is not None
    (detach,) = pipe.leave(one)
    assert detach["method"] == "Target.detachFromTarget"
    assert detach["params"] == {"sessionId": "S"}
    assert pipe.received({"id": detach["id"], "result": {}}) == []
    assert pipe.received({"id": pending["id"], "result": {}}) == []
    assert pipe.requested(one, request(1, "Browser.getVersion")) == Forwarding()
    assert pipe.received({"id": unanswered["id"], "result": 1})[0].client == other
    assert pipe.leave(one) == []
