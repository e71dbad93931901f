from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from deskhand.desktop.actions.requests import action_request, batch_request
from deskhand.desktop.geometry import Size
from deskhand.desktop.lease.access import UnrestrictedAccess, acting, control_key, is_read_only

NATIVE = Size(1920, 1080)
WAIT = {"action": "wait", "duration": 1}
CLICK = {"action": "left_click", "coordinate": [1, 2]}


@pytest.mark.parametrize("name", ["screenshot", "cursor_position", "wait"])
def test_an_action_without_input_is_read_only(name: str) -> None:
    assert is_read_only(action_request({"action": name}, NATIVE))


def test_an_action_with_input_is_not_read_only() -> None:
    assert not is_read_only(action_request(CLICK, NATIVE))


@pytest.mark.parametrize(("actions", "expected"), [([WAIT, WAIT], True), ([WAIT, CLICK], False)])
def test_a_batch_is_read_only_if_all_its_actions_are(actions: list[Any], expected: bool) -> None:
    assert is_read_only(batch_request({"actions": actions}, NATIVE)) is expected


def test_a_page_is_identified_by_its_viewer_id_and_a_program_by_its_name() -> None:
    assert control_key("Ann", "v1") == control_key(None, "v1") == "viewer:v1"
    assert control_key("Ann", None) == "name:Ann"
    assert control_key(None, None) == "name:"
    assert control_key("v1", None) != control_key(None, "v1")


def test_without_restriction_every_agent_acts_and_no_viewer_holds_control() -> None:
    access = UnrestrictedAccess()
    with access.acting("one"), access.acting("two"):
        access.check_act("three")
        access.check_view()
    assert not access.holds_control("viewer:v1")


class ControlledAccess(UnrestrictedAccess):
    """Access with viewer "v1" in control; records which chats held the right to act."""

    def __init__(self) -> None:
        self.chats: list[str] = []

    @contextmanager
    def acting(self, chat: str) -> Iterator[None]:
        self.chats.append(chat)
        yield

    def holds_control(self, key: str) -> bool:
        return key == "viewer:v1"


def test_a_viewer_in_control_acts_without_the_right_of_agents() -> None:
    access = ControlledAccess()
    with acting(access, "v1", "one"):
        assert not access.chats


@pytest.mark.parametrize("viewer", [None, "v2"])
def test_everyone_else_holds_the_right_to_act(viewer: str | None) -> None:
    access = ControlledAccess()
    with acting(access, viewer, "one"):
        assert access.chats == ["one"]
