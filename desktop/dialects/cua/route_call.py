"""Calls of our own routes that a command consists of. Pure.

A command is a generator: it yields `RouteCall` values, receives the `Reply` of each, and returns
the fields of its answer. So commands have no I/O; the router makes the calls.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

from deskhand.desktop.own_api.reply import Reply

Json = dict[str, Any]

DESKTOP = "/api/v0/desktop"


@dataclass(frozen=True)
class RouteCall:
    """A request to one of our own routes."""

    method: str
    path: str
    json: Json | None = None
    params: Mapping[str, str] | None = None
    content: bytes | None = None


Calls = Generator[RouteCall, Reply, Json]
"""A command under way; it returns the fields of its answer."""

Single = Generator[RouteCall, Reply, Reply]
"""One call under way."""


def succeeding(
    method: str,
    path: str,
    *,
    json: Json | None = None,
    params: Mapping[str, str] | None = None,
    content: bytes | None = None,
) -> Single:
    """Make one call and return its reply.

    Raises:
        DesktopRefused: If the reply has an error status.
    """
    reply = yield RouteCall(method, path, json, params, content)
    if reply.status >= 400:
        raise reply.refusal()
    return reply


def action(name: str, **fields: Any) -> Single:
    """Perform one action; its points are native pixels."""
    body = {"action": name, "coordinate_space": "native", **fields}
    return (yield from succeeding("POST", f"{DESKTOP}/action", json=body))
