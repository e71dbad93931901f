from typing import Any
from xml.etree import ElementTree

from deskhand.desktop.dialects.osworld.accessibility_xml import DEEPEST, WIDEST, xml_of

NS = "{https://accessibility.ubuntu.example.org/ns/"


def test_widgets_have_names_states_and_places() -> None:
    button = {
        "role": "push button",
        "name": 'A "b" <c> & \x00d',
        "rectangle": [10, 20, 110, 50],
        "states": ["focused"],
    }
    off = {"role": "1st", "name": "x", "states": ["disabled"]}
    tree = [{"role": "application", "name": "editor", "children": [button, off]}]
    root = ElementTree.fromstring(xml_of(tree))
    assert root.tag == "desktop-frame"
    (application,) = root
    assert (application.tag, application.get("name")) == ("application", "editor")
    found, disabled = application
    assert (found.tag, found.get("name")) == ("push-button", 'A "b" <c> & d')
    assert found.get(f"{NS}component}}screencoord") == "(10, 20)"
    assert found.get(f"{NS}component}}size") == "(100, 30)"
    states = {name.partition("}")[2] for name in found.attrib if name.startswith(f"{NS}state")}
    assert states == {"focused", "enabled", "sensitive", "showing", "visible"}
    assert disabled.tag == "role-1st"
    assert f"{NS}state}}enabled" not in disabled.attrib


def test_labels_have_their_text_and_nameless_roles_a_name() -> None:
    tree = [{"role": "label", "name": "a < b"}, {"role": "?!"}, {"role": "text", "name": ""}]
    label, unknown, empty = ElementTree.fromstring(xml_of(tree))
    assert (label.text, unknown.tag, empty.text) == ("a < b", "unknown", None)


def test_depth_and_width_are_limited() -> None:
    deep: dict[str, Any] = {"role": "end"}
    for _ in range(80):
        deep = {"role": "panel", "children": [deep]}
    assert xml_of([deep]).count("<panel") == DEEPEST
    wide = [{"role": "label"}] * (WIDEST + 5)
    assert len(ElementTree.fromstring(xml_of([{"role": "list", "children": wide}]))[0]) == WIDEST
    assert len(ElementTree.fromstring(xml_of(wide))) == WIDEST
