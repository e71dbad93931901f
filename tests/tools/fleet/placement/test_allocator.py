import asyncio
from typing import Any, cast

import pytest

from deskhand.desktop.errors import DesktopUnavailable
from deskhand.tools.fleet.errors import UnknownDesktop
from deskhand.tools.fleet.fleet import Fleet
from deskhand.tools.fleet.placement.allocator import DesktopAllocator


class FakeFleet:
    """A fleet of one desktop, of which only the status is asked."""

    def __init__(self, status: dict[str, Any] | Exception) -> None:
        self._status = status

    async def locate(self, desktop_id: str) -> None: ...

    def client(self, desktop_id: str) -> "FakeFleet":
        if desktop_id != "d1":
            raise UnknownDesktop(desktop_id)
        return self

    async def request(self, method: str, path: str) -> dict[str, Any]:
        assert (method, path) == ("GET", "/api/v0/desktop")
        if isinstance(self._status, Exception):
            raise self._status
        return self._status


def in_use(status: dict[str, Any] | Exception, desktop_id: str = "d1") -> bool:
    return asyncio.run(DesktopAllocator(cast(Fleet, FakeFleet(status))).in_use(desktop_id))


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"watchers": 0}, False),
        ({"watchers": 2}, True),
        ({"watchers": 0, "lease": {"holder": {"kind": "person"}}}, True),
        ({"watchers": 0, "lease": {"holder": {"kind": "nobody"}}}, False),
        (DesktopUnavailable("no answer"), False),
    ],
)
def test_a_desktop_is_in_use_while_a_person_views_or_controls_it(
    status: dict[str, Any] | Exception, expected: bool
) -> None:
    assert in_use(status) is expected


def test_a_desktop_that_has_ended_is_not_in_use() -> None:
    assert in_use({"watchers": 1}, "d2") is False
