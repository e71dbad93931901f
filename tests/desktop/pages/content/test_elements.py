"""Role, name, value and states of elements."""

import pytest

from deskhand.desktop.pages.content.elements import (
    CLICKABLE,
    HIDDEN_VALUE,
    name_of,
    role_of,
    states_of,
    value_of,
)
from deskhand.desktop.pages.content.snapshot import SnapshotNode


def node(tag: str, clickable: bool = False, value: str = "", **attributes: str) -> SnapshotNode:
    named = {name.replace("_", "-"): text for name, text in attributes.items()}
    return SnapshotNode(0, tag, 1, attributes=named, clickable=clickable, value=value)


@pytest.mark.parametrize(
    ("element", "role"),
    [
        (node("div"), ""),
        (node("div", role="tab"), "tab"),
        (node("h2", role="presentation"), "heading"),
        (node("a"), ""),
        (node("a", href="/"), "link"),
        (node("input"), "textbox"),
        (node("input", type="hidden"), ""),
        (node("input", type="CHECKBOX"), "checkbox"),
        (node("select"), "combobox"),
        (node("select", multiple=""), "listbox"),
        (node("select", size="4"), "listbox"),
        (node("svg"), ""),
        (node("svg", aria_label="Close"), "image"),
        (node("div", contenteditable="true"), "textbox"),
        (node("div", clickable=True), CLICKABLE),
        (node("body", clickable=True), ""),
        (node("div", tabindex="0"), CLICKABLE),
        (node("div", tabindex="-1"), ""),
    ],
)
def test_the_role_comes_from_tag_and_attributes(element: SnapshotNode, role: str) -> None:
    assert role_of(element) == role


SUBMIT = SnapshotNode(0, "input", 1, attributes={"type": "submit", "value": "Go"})


@pytest.mark.parametrize(
    ("element", "role", "name"),
    [
        (node("button", aria_labelledby="a b"), "button", "<a> <b>"),
        (node("button", aria_label="Send "), "button", "Send"),
        (node("button"), "button", "content"),
        (SUBMIT, "button", "Go"),
        (node("input", type="submit"), "button", "Submit"),
        (node("input"), "textbox", "label"),
        (node("div", title="t"), "group", "t"),
        (node("div"), "group", ""),
    ],
)
def test_the_name_comes_from_the_first_source_that_has_one(
    element: SnapshotNode, role: str, name: str
) -> None:
    assert name_of(element, role, "content", "label", lambda one: f"<{one}>") == name


def test_values_of_passwords_are_not_read() -> None:
    assert value_of(node("input", type="password", value="secret"), "textbox", "") == HIDDEN_VALUE
    assert value_of(node("input", type="Password"), "textbox", "") == ""
    assert value_of(node("input", value="Ada"), "textbox", "") == "Ada"
    assert value_of(node("input", type="checkbox", value="on"), "checkbox", "") == ""
    assert value_of(node("select"), "combobox", "Red") == "Red"
    assert value_of(node("div", aria_valuetext="half"), "slider", "") == "half"


def test_states_are_those_that_differ() -> None:
    found = node("input", disabled="", type="password", aria_invalid="true")
    assert states_of(found, "textbox") == ("disabled", "password")
    found = node("div", aria_checked="mixed", aria_pressed="true", aria_expanded="false")
    assert states_of(found, "checkbox") == ("checked=mixed", "pressed", "collapsed")
    found = node("option", aria_expanded="true")
    found.selected = found.checked = True
    assert states_of(found, "option") == ("checked", "selected", "expanded")
