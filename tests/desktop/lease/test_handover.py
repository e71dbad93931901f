from typing import Any

import pytest

from deskhand.desktop.events.bus import DesktopEvent, EventBus
from deskhand.desktop.lease.handover import LeaseEffects, WindowEventPublisher
from deskhand.desktop.lease.privacy import PrivacyMode

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


class Held:
    """Selections that note whether the screen was hidden at each call."""

    def __init__(self, privacy: PrivacyMode) -> None:
        self._privacy = privacy
        self.noted: list[tuple[str, bool]] = []

    def begin(self) -> None:
        self.noted.append(("begin", self._privacy.active))

    def end(self) -> None:
        self.noted.append(("end", self._privacy.active))


@pytest.mark.parametrize("started", [True, False])
def test_selections_are_brought_back_while_the_screen_is_hidden(*, started: bool) -> None:
    privacy = PrivacyMode()
    held = Held(privacy)
    effects = LeaseEffects(
        privacy=privacy,
        selections=lambda: held if started else None,
        release_input=lambda: None,
        update_viewers=lambda: None,
        publish=lambda kind, data: None,
        record=lambda session: None,
        note_activity=lambda who: None,
    )
    effects.privacy_changed(True)
    effects.privacy_changed(False)
    assert held.noted == ([("begin", True), ("end", True)] if started else [])
    assert not privacy.active
