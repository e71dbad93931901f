"""Drives a command without a service: replies are given, calls are collected."""

import json
from collections.abc import Generator, Iterable
from typing import Any

from deskhand.desktop.dialects.cua.route_call import RouteCall
from deskhand.desktop.own_api.reply import Reply

JSON = {"content-type": "application/json"}


def reply(value: Any, status: int = 200) -> Reply:
    """Return an answer with a JSON body, or with bytes."""
    if isinstance(value, bytes):
        return Reply(status, {"content-type": "application/octet-stream"}, value)
    return Reply(status, JSON, json.dumps(value).encode())


DONE = reply({"output": "done"})
MISSING = reply({"message": "Not there."}, 404)
REFUSED = reply({"message": "No.", "detail": "never", "code": "c"}, 409)


def cursor(x: int = 5, y: int = 6) -> Reply:
    """Return the answer of an action that returns where the pointer is."""
    return reply({"native_point": [x, y]})


def driven(
    calls: Generator[RouteCall, Reply, Any], replies: Iterable[Reply]
) -> tuple[Any, list[RouteCall]]:
    """Run a command to its end; return its result, and the calls that it made."""
    made, given = list[RouteCall](), iter(replies)
    try:
        call = next(calls)
        while True:
            made.append(call)
            call = calls.send(next(given, DONE))
    except StopIteration as done:
        return done.value, made


def actions(calls: list[RouteCall]) -> list[dict[str, Any]]:
    """Return the bodies of actions, without their space."""
    bodies = [dict(call.json or {}) for call in calls]
    for call, body in zip(calls, bodies, strict=True):
        assert (call.method, call.path) == ("POST", "/api/v0/desktop/action")
        assert body.pop("coordinate_space") == "native"
    return bodies
