from typing import Any

import pytest

from deskhand.desktop.events.bus import DesktopEvent, EventBus
from deskhand.desktop.lease.handover import WindowEventPublisher

DATA = {"id": 7, "title": "a letter"}


class Control:
    """A lease with a person in control, in private or not."""

    def __init__(self, *, private: bool) -> None:
        self._private = private
        self.seen: list[tuple[str, dict[str, Any]]] = []

    @property
    def private(self) -> bool:
        return self._private

    def noticed(self, kind: str, data: dict[str, Any]) -> None:
        self.seen.append((kind, data))


@pytest.mark.parametrize(
    ("private", "data", "published"),
    [
        (False, DATA, DATA),
        (True, DATA, {"id": 7, "title": ""}),
        (True, {"id": 7}, {"id": 7}),
        (True, None, {}),
    ],
)
def test_titles_are_not_published_in_private(
    private: bool, data: dict[str, Any] | None, published: dict[str, Any]
) -> None:
    control = Control(private=private)
    event = WindowEventPublisher(control, EventBus("boot").publish)("window_opened", data)
    assert isinstance(event, DesktopEvent)
    assert (event.kind, event.data) == ("window_opened", published)
    assert control.seen == [("window_opened", data or {})]
