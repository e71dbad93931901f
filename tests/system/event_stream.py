"""Read the event stream of a desktop."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2

from tests.system.services import PATIENCE, Json, Service


@contextmanager
def event_stream(desktop: Service) -> Iterator[Iterator[Json]]:
    """Events from now on."""
    with desktop.http.stream("GET", "/api/v0/desktop/events") as stream:
        assert stream.status_code == 200
        yield _events(stream)


def next_of(events: Iterator[Json], kind: str) -> Json:
    """The data of the next event of a kind."""
    found: Json = next(event["data"] for event in events if event["kind"] == kind)
    return found


def _events(stream: httpx2.Response) -> Iterator[Json]:
    deadline = time.monotonic() + PATIENCE
    for line in stream.iter_lines():
        # Heartbeats never end, so the deadline ends the wait for an event that does not come.
        assert time.monotonic() < deadline, "no such event in time"
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))
